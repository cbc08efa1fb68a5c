// @generated from format/plasma.fbs by `cargo xtask codegen`; change the schema, not this file.
//
// Vectors of `string` in the schema are vectors of byte vectors here. The two have the same bytes
// but for a final zero that nobody reads; object ids and payloads are not UTF-8.

#![allow(
    unsafe_code,
    missing_docs,
    dead_code,
    deprecated,
    unreachable_pub,
    unused_imports,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    clippy::multiple_unsafe_ops_per_block,
    clippy::host_endian_bytes,
    clippy::big_endian_bytes,
    reason = "written by the schema compiler"
)]

extern crate alloc;

#[deprecated(
    since = "2.0.0",
    note = "Use associated constants instead. This will no longer be generated in 2021."
)]
pub const ENUM_MIN_PLASMA_ERROR: i32 = 0;
#[deprecated(
    since = "2.0.0",
    note = "Use associated constants instead. This will no longer be generated in 2021."
)]
pub const ENUM_MAX_PLASMA_ERROR: i32 = 5;
#[deprecated(
    since = "2.0.0",
    note = "Use associated constants instead. This will no longer be generated in 2021."
)]
#[allow(non_camel_case_types)]
pub const ENUM_VALUES_PLASMA_ERROR: [PlasmaError; 6] = [
    PlasmaError::OK,
    PlasmaError::ObjectExists,
    PlasmaError::ObjectNotFound,
    PlasmaError::OutOfMemory,
    PlasmaError::ObjectNotSealed,
    PlasmaError::ObjectInUse,
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct PlasmaError(pub i32);
#[allow(non_upper_case_globals)]
impl PlasmaError {
    pub const OK: Self = Self(0);
    pub const ObjectExists: Self = Self(1);
    pub const ObjectNotFound: Self = Self(2);
    pub const OutOfMemory: Self = Self(3);
    pub const ObjectNotSealed: Self = Self(4);
    pub const ObjectInUse: Self = Self(5);

    pub const ENUM_MIN: i32 = 0;
    pub const ENUM_MAX: i32 = 5;
    pub const ENUM_VALUES: &'static [Self] = &[
        Self::OK,
        Self::ObjectExists,
        Self::ObjectNotFound,
        Self::OutOfMemory,
        Self::ObjectNotSealed,
        Self::ObjectInUse,
    ];
    /// Returns the variant's name or "" if unknown.
    pub fn variant_name(self) -> Option<&'static str> {
        match self {
            Self::OK => Some("OK"),
            Self::ObjectExists => Some("ObjectExists"),
            Self::ObjectNotFound => Some("ObjectNotFound"),
            Self::OutOfMemory => Some("OutOfMemory"),
            Self::ObjectNotSealed => Some("ObjectNotSealed"),
            Self::ObjectInUse => Some("ObjectInUse"),
            _ => None,
        }
    }
}
impl ::core::fmt::Debug for PlasmaError {
    fn fmt(&self, f: &mut ::core::fmt::Formatter) -> ::core::fmt::Result {
        if let Some(name) = self.variant_name() {
            f.write_str(name)
        } else {
            f.write_fmt(format_args!("<UNKNOWN {:?}>", self.0))
        }
    }
}
impl<'a> ::flatbuffers::Follow<'a> for PlasmaError {
    type Inner = Self;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        let b = unsafe { ::flatbuffers::read_scalar_at::<i32>(buf, loc) };
        Self(b)
    }
}

impl ::flatbuffers::Push for PlasmaError {
    type Output = PlasmaError;
    #[inline]
    unsafe fn push(&self, dst: &mut [u8], _written_len: usize) {
        unsafe { ::flatbuffers::emplace_scalar::<i32>(dst, self.0) };
    }
}

impl ::flatbuffers::EndianScalar for PlasmaError {
    type Scalar = i32;
    #[inline]
    fn to_little_endian(self) -> i32 {
        self.0.to_le()
    }
    #[inline]
    #[allow(clippy::wrong_self_convention)]
    fn from_little_endian(v: i32) -> Self {
        let b = i32::from_le(v);
        Self(b)
    }
}

impl<'a> ::flatbuffers::Verifiable for PlasmaError {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        i32::run_verifier(v, pos)
    }
}

impl ::flatbuffers::SimpleToVerifyInSlice for PlasmaError {}
// struct ObjectSpec, aligned to 8
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq)]
pub struct ObjectSpec(pub [u8; 48]);
impl Default for ObjectSpec {
    fn default() -> Self {
        Self([0; 48])
    }
}
impl ::core::fmt::Debug for ObjectSpec {
    fn fmt(&self, f: &mut ::core::fmt::Formatter) -> ::core::fmt::Result {
        f.debug_struct("ObjectSpec")
            .field("segment_index", &self.segment_index())
            .field("data_offset", &self.data_offset())
            .field("data_size", &self.data_size())
            .field("metadata_offset", &self.metadata_offset())
            .field("metadata_size", &self.metadata_size())
            .field("device_num", &self.device_num())
            .finish()
    }
}

impl ::flatbuffers::SimpleToVerifyInSlice for ObjectSpec {}
impl<'a> ::flatbuffers::Follow<'a> for ObjectSpec {
    type Inner = &'a ObjectSpec;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        unsafe { <&'a ObjectSpec>::follow(buf, loc) }
    }
}
impl<'a> ::flatbuffers::Follow<'a> for &'a ObjectSpec {
    type Inner = &'a ObjectSpec;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        unsafe { ::flatbuffers::follow_cast_ref::<ObjectSpec>(buf, loc) }
    }
}
impl<'b> ::flatbuffers::Push for ObjectSpec {
    type Output = ObjectSpec;
    #[inline]
    unsafe fn push(&self, dst: &mut [u8], _written_len: usize) {
        let src = unsafe {
            ::core::slice::from_raw_parts(
                self as *const ObjectSpec as *const u8,
                <Self as ::flatbuffers::Push>::size(),
            )
        };
        dst.copy_from_slice(src);
    }
    #[inline]
    fn alignment() -> ::flatbuffers::PushAlignment {
        ::flatbuffers::PushAlignment::new(8)
    }
}

impl<'a> ::flatbuffers::Verifiable for ObjectSpec {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.in_buffer::<Self>(pos)
    }
}

impl<'a> ObjectSpec {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        segment_index: i32,
        data_offset: u64,
        data_size: u64,
        metadata_offset: u64,
        metadata_size: u64,
        device_num: i32,
    ) -> Self {
        let mut s = Self([0; 48]);
        s.set_segment_index(segment_index);
        s.set_data_offset(data_offset);
        s.set_data_size(data_size);
        s.set_metadata_offset(metadata_offset);
        s.set_metadata_size(metadata_size);
        s.set_device_num(device_num);
        s
    }

    pub fn segment_index(&self) -> i32 {
        let mut mem =
            ::core::mem::MaybeUninit::<<i32 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[0..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<i32 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_segment_index(&mut self, x: i32) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[0..].as_mut_ptr(),
                ::core::mem::size_of::<<i32 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }

    pub fn data_offset(&self) -> u64 {
        let mut mem =
            ::core::mem::MaybeUninit::<<u64 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[8..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_data_offset(&mut self, x: u64) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[8..].as_mut_ptr(),
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }

    pub fn data_size(&self) -> u64 {
        let mut mem =
            ::core::mem::MaybeUninit::<<u64 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[16..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_data_size(&mut self, x: u64) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[16..].as_mut_ptr(),
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }

    pub fn metadata_offset(&self) -> u64 {
        let mut mem =
            ::core::mem::MaybeUninit::<<u64 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[24..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_metadata_offset(&mut self, x: u64) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[24..].as_mut_ptr(),
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }

    pub fn metadata_size(&self) -> u64 {
        let mut mem =
            ::core::mem::MaybeUninit::<<u64 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[32..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_metadata_size(&mut self, x: u64) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[32..].as_mut_ptr(),
                ::core::mem::size_of::<<u64 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }

    pub fn device_num(&self) -> i32 {
        let mut mem =
            ::core::mem::MaybeUninit::<<i32 as ::flatbuffers::EndianScalar>::Scalar>::uninit();
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        ::flatbuffers::EndianScalar::from_little_endian(unsafe {
            ::core::ptr::copy_nonoverlapping(
                self.0[40..].as_ptr(),
                mem.as_mut_ptr() as *mut u8,
                ::core::mem::size_of::<<i32 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
            mem.assume_init()
        })
    }

    pub fn set_device_num(&mut self, x: i32) {
        let x_le = ::flatbuffers::EndianScalar::to_little_endian(x);
        // Safety:
        // Created from a valid Table for this object
        // Which contains a valid value in this slot
        unsafe {
            ::core::ptr::copy_nonoverlapping(
                &x_le as *const _ as *const u8,
                self.0[40..].as_mut_ptr(),
                ::core::mem::size_of::<<i32 as ::flatbuffers::EndianScalar>::Scalar>(),
            );
        }
    }
}

pub enum CudaHandleOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CudaHandle<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CudaHandle<'a> {
    type Inner = CudaHandle<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CudaHandle<'a> {
    pub const VT_HANDLE: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CudaHandle { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CudaHandleArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<CudaHandle<'bldr>> {
        let mut builder = CudaHandleBuilder::new(_fbb);
        if let Some(x) = args.handle {
            builder.add_handle(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn handle(&self) -> Option<::flatbuffers::Vector<'a, u8>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                CudaHandle::VT_HANDLE,
                None,
            )
        }
    }
}

impl ::flatbuffers::Verifiable for CudaHandle<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "handle",
                Self::VT_HANDLE,
                false,
            )?
            .finish();
        Ok(())
    }
}
pub struct CudaHandleArgs<'a> {
    pub handle: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for CudaHandleArgs<'a> {
    #[inline]
    fn default() -> Self {
        CudaHandleArgs { handle: None }
    }
}

pub struct CudaHandleBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CudaHandleBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_handle(&mut self, handle: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(CudaHandle::VT_HANDLE, handle);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CudaHandleBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CudaHandleBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CudaHandle<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CudaHandle<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CudaHandle");
        ds.field("handle", &self.handle());
        ds.finish()
    }
}
pub enum CreateRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateRequest<'a> {
    type Inner = CreateRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_EVICT_IF_FULL: ::flatbuffers::VOffsetT = 6;
    pub const VT_DATA_SIZE: ::flatbuffers::VOffsetT = 8;
    pub const VT_METADATA_SIZE: ::flatbuffers::VOffsetT = 10;
    pub const VT_DEVICE_NUM: ::flatbuffers::VOffsetT = 12;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<CreateRequest<'bldr>> {
        let mut builder = CreateRequestBuilder::new(_fbb);
        builder.add_metadata_size(args.metadata_size);
        builder.add_data_size(args.data_size);
        builder.add_device_num(args.device_num);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.add_evict_if_full(args.evict_if_full);
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn evict_if_full(&self) -> bool {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<bool>(CreateRequest::VT_EVICT_IF_FULL, Some(false)).unwrap() }
    }
    #[inline]
    pub fn data_size(&self) -> u64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<u64>(CreateRequest::VT_DATA_SIZE, Some(0)).unwrap() }
    }
    #[inline]
    pub fn metadata_size(&self) -> u64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<u64>(CreateRequest::VT_METADATA_SIZE, Some(0)).unwrap() }
    }
    #[inline]
    pub fn device_num(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(CreateRequest::VT_DEVICE_NUM, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for CreateRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<bool>("evict_if_full", Self::VT_EVICT_IF_FULL, false)?
            .visit_field::<u64>("data_size", Self::VT_DATA_SIZE, false)?
            .visit_field::<u64>("metadata_size", Self::VT_METADATA_SIZE, false)?
            .visit_field::<i32>("device_num", Self::VT_DEVICE_NUM, false)?
            .finish();
        Ok(())
    }
}
pub struct CreateRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub evict_if_full: bool,
    pub data_size: u64,
    pub metadata_size: u64,
    pub device_num: i32,
}
impl<'a> Default for CreateRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        CreateRequestArgs {
            object_id: None, // required field
            evict_if_full: false,
            data_size: 0,
            metadata_size: 0,
            device_num: 0,
        }
    }
}

pub struct CreateRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateRequest::VT_OBJECT_ID,
            object_id,
        );
    }
    #[inline]
    pub fn add_evict_if_full(&mut self, evict_if_full: bool) {
        self.fbb_.push_slot::<bool>(CreateRequest::VT_EVICT_IF_FULL, evict_if_full, false);
    }
    #[inline]
    pub fn add_data_size(&mut self, data_size: u64) {
        self.fbb_.push_slot::<u64>(CreateRequest::VT_DATA_SIZE, data_size, 0);
    }
    #[inline]
    pub fn add_metadata_size(&mut self, metadata_size: u64) {
        self.fbb_.push_slot::<u64>(CreateRequest::VT_METADATA_SIZE, metadata_size, 0);
    }
    #[inline]
    pub fn add_device_num(&mut self, device_num: i32) {
        self.fbb_.push_slot::<i32>(CreateRequest::VT_DEVICE_NUM, device_num, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, CreateRequest::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateRequest");
        ds.field("object_id", &self.object_id());
        ds.field("evict_if_full", &self.evict_if_full());
        ds.field("data_size", &self.data_size());
        ds.field("metadata_size", &self.metadata_size());
        ds.field("device_num", &self.device_num());
        ds.finish()
    }
}
pub enum CreateAndSealRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateAndSealRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateAndSealRequest<'a> {
    type Inner = CreateAndSealRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateAndSealRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_EVICT_IF_FULL: ::flatbuffers::VOffsetT = 6;
    pub const VT_DATA: ::flatbuffers::VOffsetT = 8;
    pub const VT_METADATA: ::flatbuffers::VOffsetT = 10;
    pub const VT_DIGEST: ::flatbuffers::VOffsetT = 12;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateAndSealRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateAndSealRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<CreateAndSealRequest<'bldr>> {
        let mut builder = CreateAndSealRequestBuilder::new(_fbb);
        if let Some(x) = args.digest {
            builder.add_digest(x);
        }
        if let Some(x) = args.metadata {
            builder.add_metadata(x);
        }
        if let Some(x) = args.data {
            builder.add_data(x);
        }
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.add_evict_if_full(args.evict_if_full);
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateAndSealRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn evict_if_full(&self) -> bool {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<bool>(CreateAndSealRequest::VT_EVICT_IF_FULL, Some(false)).unwrap()
        }
    }
    #[inline]
    pub fn data(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateAndSealRequest::VT_DATA,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn metadata(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateAndSealRequest::VT_METADATA,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn digest(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateAndSealRequest::VT_DIGEST,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for CreateAndSealRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<bool>("evict_if_full", Self::VT_EVICT_IF_FULL, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "data",
                Self::VT_DATA,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "metadata",
                Self::VT_METADATA,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "digest",
                Self::VT_DIGEST,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct CreateAndSealRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub evict_if_full: bool,
    pub data: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub metadata: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub digest: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for CreateAndSealRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        CreateAndSealRequestArgs {
            object_id: None, // required field
            evict_if_full: false,
            data: None,     // required field
            metadata: None, // required field
            digest: None,   // required field
        }
    }
}

pub struct CreateAndSealRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateAndSealRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealRequest::VT_OBJECT_ID,
            object_id,
        );
    }
    #[inline]
    pub fn add_evict_if_full(&mut self, evict_if_full: bool) {
        self.fbb_.push_slot::<bool>(CreateAndSealRequest::VT_EVICT_IF_FULL, evict_if_full, false);
    }
    #[inline]
    pub fn add_data(&mut self, data: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(CreateAndSealRequest::VT_DATA, data);
    }
    #[inline]
    pub fn add_metadata(
        &mut self,
        metadata: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealRequest::VT_METADATA,
            metadata,
        );
    }
    #[inline]
    pub fn add_digest(&mut self, digest: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealRequest::VT_DIGEST,
            digest,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateAndSealRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateAndSealRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateAndSealRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, CreateAndSealRequest::VT_OBJECT_ID, "object_id");
        self.fbb_.required(o, CreateAndSealRequest::VT_DATA, "data");
        self.fbb_.required(o, CreateAndSealRequest::VT_METADATA, "metadata");
        self.fbb_.required(o, CreateAndSealRequest::VT_DIGEST, "digest");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateAndSealRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateAndSealRequest");
        ds.field("object_id", &self.object_id());
        ds.field("evict_if_full", &self.evict_if_full());
        ds.field("data", &self.data());
        ds.field("metadata", &self.metadata());
        ds.field("digest", &self.digest());
        ds.finish()
    }
}
pub enum CreateAndSealBatchRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateAndSealBatchRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateAndSealBatchRequest<'a> {
    type Inner = CreateAndSealBatchRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateAndSealBatchRequest<'a> {
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 4;
    pub const VT_EVICT_IF_FULL: ::flatbuffers::VOffsetT = 6;
    pub const VT_DATA: ::flatbuffers::VOffsetT = 8;
    pub const VT_METADATA: ::flatbuffers::VOffsetT = 10;
    pub const VT_DIGEST: ::flatbuffers::VOffsetT = 12;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateAndSealBatchRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateAndSealBatchRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<CreateAndSealBatchRequest<'bldr>> {
        let mut builder = CreateAndSealBatchRequestBuilder::new(_fbb);
        if let Some(x) = args.digest {
            builder.add_digest(x);
        }
        if let Some(x) = args.metadata {
            builder.add_metadata(x);
        }
        if let Some(x) = args.data {
            builder.add_data(x);
        }
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.add_evict_if_full(args.evict_if_full);
        builder.finish()
    }

    #[inline]
    pub fn object_ids(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(CreateAndSealBatchRequest::VT_OBJECT_IDS, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn evict_if_full(&self) -> bool {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<bool>(CreateAndSealBatchRequest::VT_EVICT_IF_FULL, Some(false)).unwrap()
        }
    }
    #[inline]
    pub fn data(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(CreateAndSealBatchRequest::VT_DATA, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn metadata(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(CreateAndSealBatchRequest::VT_METADATA, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn digest(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(CreateAndSealBatchRequest::VT_DIGEST, None)
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for CreateAndSealBatchRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, true)?
            .visit_field::<bool>("evict_if_full", Self::VT_EVICT_IF_FULL, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("data", Self::VT_DATA, true)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("metadata", Self::VT_METADATA, true)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("digest", Self::VT_DIGEST, true)?
            .finish();
        Ok(())
    }
}
pub struct CreateAndSealBatchRequestArgs<'a> {
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub evict_if_full: bool,
    pub data: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub metadata: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub digest: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
}
impl<'a> Default for CreateAndSealBatchRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        CreateAndSealBatchRequestArgs {
            object_ids: None, // required field
            evict_if_full: false,
            data: None,     // required field
            metadata: None, // required field
            digest: None,   // required field
        }
    }
}

pub struct CreateAndSealBatchRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateAndSealBatchRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealBatchRequest::VT_OBJECT_IDS,
            object_ids,
        );
    }
    #[inline]
    pub fn add_evict_if_full(&mut self, evict_if_full: bool) {
        self.fbb_.push_slot::<bool>(
            CreateAndSealBatchRequest::VT_EVICT_IF_FULL,
            evict_if_full,
            false,
        );
    }
    #[inline]
    pub fn add_data(
        &mut self,
        data: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealBatchRequest::VT_DATA,
            data,
        );
    }
    #[inline]
    pub fn add_metadata(
        &mut self,
        metadata: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealBatchRequest::VT_METADATA,
            metadata,
        );
    }
    #[inline]
    pub fn add_digest(
        &mut self,
        digest: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            CreateAndSealBatchRequest::VT_DIGEST,
            digest,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateAndSealBatchRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateAndSealBatchRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateAndSealBatchRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, CreateAndSealBatchRequest::VT_OBJECT_IDS, "object_ids");
        self.fbb_.required(o, CreateAndSealBatchRequest::VT_DATA, "data");
        self.fbb_.required(o, CreateAndSealBatchRequest::VT_METADATA, "metadata");
        self.fbb_.required(o, CreateAndSealBatchRequest::VT_DIGEST, "digest");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateAndSealBatchRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateAndSealBatchRequest");
        ds.field("object_ids", &self.object_ids());
        ds.field("evict_if_full", &self.evict_if_full());
        ds.field("data", &self.data());
        ds.field("metadata", &self.metadata());
        ds.field("digest", &self.digest());
        ds.finish()
    }
}
pub enum AbortRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct AbortRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for AbortRequest<'a> {
    type Inner = AbortRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> AbortRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        AbortRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args AbortRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<AbortRequest<'bldr>> {
        let mut builder = AbortRequestBuilder::new(_fbb);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    AbortRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for AbortRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct AbortRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for AbortRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        AbortRequestArgs {
      object_id: None, // required field
    }
    }
}

pub struct AbortRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> AbortRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(AbortRequest::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> AbortRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        AbortRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<AbortRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, AbortRequest::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for AbortRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("AbortRequest");
        ds.field("object_id", &self.object_id());
        ds.finish()
    }
}
pub enum SealRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct SealRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for SealRequest<'a> {
    type Inner = SealRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> SealRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_DIGEST: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        SealRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args SealRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<SealRequest<'bldr>> {
        let mut builder = SealRequestBuilder::new(_fbb);
        if let Some(x) = args.digest {
            builder.add_digest(x);
        }
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    SealRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn digest(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    SealRequest::VT_DIGEST,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for SealRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "digest",
                Self::VT_DIGEST,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct SealRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub digest: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for SealRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        SealRequestArgs {
            object_id: None, // required field
            digest: None,    // required field
        }
    }
}

pub struct SealRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> SealRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(SealRequest::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn add_digest(&mut self, digest: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(SealRequest::VT_DIGEST, digest);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> SealRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        SealRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<SealRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, SealRequest::VT_OBJECT_ID, "object_id");
        self.fbb_.required(o, SealRequest::VT_DIGEST, "digest");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for SealRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("SealRequest");
        ds.field("object_id", &self.object_id());
        ds.field("digest", &self.digest());
        ds.finish()
    }
}
pub enum GetRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct GetRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for GetRequest<'a> {
    type Inner = GetRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> GetRequest<'a> {
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 4;
    pub const VT_TIMEOUT_MS: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        GetRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args GetRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<GetRequest<'bldr>> {
        let mut builder = GetRequestBuilder::new(_fbb);
        builder.add_timeout_ms(args.timeout_ms);
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_ids(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(GetRequest::VT_OBJECT_IDS, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn timeout_ms(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(GetRequest::VT_TIMEOUT_MS, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for GetRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, true)?
            .visit_field::<i64>("timeout_ms", Self::VT_TIMEOUT_MS, false)?
            .finish();
        Ok(())
    }
}
pub struct GetRequestArgs<'a> {
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub timeout_ms: i64,
}
impl<'a> Default for GetRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        GetRequestArgs {
            object_ids: None, // required field
            timeout_ms: 0,
        }
    }
}

pub struct GetRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> GetRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(GetRequest::VT_OBJECT_IDS, object_ids);
    }
    #[inline]
    pub fn add_timeout_ms(&mut self, timeout_ms: i64) {
        self.fbb_.push_slot::<i64>(GetRequest::VT_TIMEOUT_MS, timeout_ms, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> GetRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        GetRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<GetRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, GetRequest::VT_OBJECT_IDS, "object_ids");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for GetRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("GetRequest");
        ds.field("object_ids", &self.object_ids());
        ds.field("timeout_ms", &self.timeout_ms());
        ds.finish()
    }
}
pub enum ReleaseRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ReleaseRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ReleaseRequest<'a> {
    type Inner = ReleaseRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ReleaseRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ReleaseRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ReleaseRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<ReleaseRequest<'bldr>> {
        let mut builder = ReleaseRequestBuilder::new(_fbb);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    ReleaseRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for ReleaseRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct ReleaseRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for ReleaseRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        ReleaseRequestArgs {
      object_id: None, // required field
    }
    }
}

pub struct ReleaseRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ReleaseRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            ReleaseRequest::VT_OBJECT_ID,
            object_id,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ReleaseRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ReleaseRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ReleaseRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, ReleaseRequest::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ReleaseRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ReleaseRequest");
        ds.field("object_id", &self.object_id());
        ds.finish()
    }
}
pub enum DeleteRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct DeleteRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for DeleteRequest<'a> {
    type Inner = DeleteRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> DeleteRequest<'a> {
    pub const VT_COUNT: ::flatbuffers::VOffsetT = 4;
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        DeleteRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args DeleteRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<DeleteRequest<'bldr>> {
        let mut builder = DeleteRequestBuilder::new(_fbb);
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.add_count(args.count);
        builder.finish()
    }

    #[inline]
    pub fn count(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(DeleteRequest::VT_COUNT, Some(0)).unwrap() }
    }
    #[inline]
    pub fn object_ids(
        &self,
    ) -> Option<
        ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>,
    > {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    'a,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                >,
            >>(DeleteRequest::VT_OBJECT_IDS, None)
        }
    }
}

impl ::flatbuffers::Verifiable for DeleteRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<i32>("count", Self::VT_COUNT, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, false)?
            .finish();
        Ok(())
    }
}
pub struct DeleteRequestArgs<'a> {
    pub count: i32,
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
}
impl<'a> Default for DeleteRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        DeleteRequestArgs { count: 0, object_ids: None }
    }
}

pub struct DeleteRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> DeleteRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_count(&mut self, count: i32) {
        self.fbb_.push_slot::<i32>(DeleteRequest::VT_COUNT, count, 0);
    }
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            DeleteRequest::VT_OBJECT_IDS,
            object_ids,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> DeleteRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        DeleteRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<DeleteRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for DeleteRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("DeleteRequest");
        ds.field("count", &self.count());
        ds.field("object_ids", &self.object_ids());
        ds.finish()
    }
}
pub enum ContainsRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ContainsRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ContainsRequest<'a> {
    type Inner = ContainsRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ContainsRequest<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ContainsRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ContainsRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<ContainsRequest<'bldr>> {
        let mut builder = ContainsRequestBuilder::new(_fbb);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    ContainsRequest::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for ContainsRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct ContainsRequestArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for ContainsRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        ContainsRequestArgs {
      object_id: None, // required field
    }
    }
}

pub struct ContainsRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ContainsRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            ContainsRequest::VT_OBJECT_ID,
            object_id,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ContainsRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ContainsRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ContainsRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, ContainsRequest::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ContainsRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ContainsRequest");
        ds.field("object_id", &self.object_id());
        ds.finish()
    }
}
pub enum EvictRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct EvictRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for EvictRequest<'a> {
    type Inner = EvictRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> EvictRequest<'a> {
    pub const VT_NUM_BYTES: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        EvictRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args EvictRequestArgs,
    ) -> ::flatbuffers::WIPOffset<EvictRequest<'bldr>> {
        let mut builder = EvictRequestBuilder::new(_fbb);
        builder.add_num_bytes(args.num_bytes);
        builder.finish()
    }

    #[inline]
    pub fn num_bytes(&self) -> u64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<u64>(EvictRequest::VT_NUM_BYTES, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for EvictRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.visit_field::<u64>("num_bytes", Self::VT_NUM_BYTES, false)?.finish();
        Ok(())
    }
}
pub struct EvictRequestArgs {
    pub num_bytes: u64,
}
impl<'a> Default for EvictRequestArgs {
    #[inline]
    fn default() -> Self {
        EvictRequestArgs { num_bytes: 0 }
    }
}

pub struct EvictRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> EvictRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_num_bytes(&mut self, num_bytes: u64) {
        self.fbb_.push_slot::<u64>(EvictRequest::VT_NUM_BYTES, num_bytes, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> EvictRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        EvictRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<EvictRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for EvictRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("EvictRequest");
        ds.field("num_bytes", &self.num_bytes());
        ds.finish()
    }
}
pub enum SetOptionsRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct SetOptionsRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for SetOptionsRequest<'a> {
    type Inner = SetOptionsRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> SetOptionsRequest<'a> {
    pub const VT_CLIENT_NAME: ::flatbuffers::VOffsetT = 4;
    pub const VT_OUTPUT_MEMORY_QUOTA: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        SetOptionsRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args SetOptionsRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<SetOptionsRequest<'bldr>> {
        let mut builder = SetOptionsRequestBuilder::new(_fbb);
        builder.add_output_memory_quota(args.output_memory_quota);
        if let Some(x) = args.client_name {
            builder.add_client_name(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn client_name(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    SetOptionsRequest::VT_CLIENT_NAME,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn output_memory_quota(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(SetOptionsRequest::VT_OUTPUT_MEMORY_QUOTA, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for SetOptionsRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "client_name",
                Self::VT_CLIENT_NAME,
                true,
            )?
            .visit_field::<i64>("output_memory_quota", Self::VT_OUTPUT_MEMORY_QUOTA, false)?
            .finish();
        Ok(())
    }
}
pub struct SetOptionsRequestArgs<'a> {
    pub client_name: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub output_memory_quota: i64,
}
impl<'a> Default for SetOptionsRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        SetOptionsRequestArgs {
            client_name: None, // required field
            output_memory_quota: 0,
        }
    }
}

pub struct SetOptionsRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> SetOptionsRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_client_name(
        &mut self,
        client_name: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            SetOptionsRequest::VT_CLIENT_NAME,
            client_name,
        );
    }
    #[inline]
    pub fn add_output_memory_quota(&mut self, output_memory_quota: i64) {
        self.fbb_.push_slot::<i64>(
            SetOptionsRequest::VT_OUTPUT_MEMORY_QUOTA,
            output_memory_quota,
            0,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> SetOptionsRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        SetOptionsRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<SetOptionsRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, SetOptionsRequest::VT_CLIENT_NAME, "client_name");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for SetOptionsRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("SetOptionsRequest");
        ds.field("client_name", &self.client_name());
        ds.field("output_memory_quota", &self.output_memory_quota());
        ds.finish()
    }
}
pub enum RefreshLruRequestOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct RefreshLruRequest<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for RefreshLruRequest<'a> {
    type Inner = RefreshLruRequest<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> RefreshLruRequest<'a> {
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        RefreshLruRequest { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args RefreshLruRequestArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<RefreshLruRequest<'bldr>> {
        let mut builder = RefreshLruRequestBuilder::new(_fbb);
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_ids(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(RefreshLruRequest::VT_OBJECT_IDS, None)
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for RefreshLruRequest<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, true)?
            .finish();
        Ok(())
    }
}
pub struct RefreshLruRequestArgs<'a> {
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
}
impl<'a> Default for RefreshLruRequestArgs<'a> {
    #[inline]
    fn default() -> Self {
        RefreshLruRequestArgs {
      object_ids: None, // required field
    }
    }
}

pub struct RefreshLruRequestBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> RefreshLruRequestBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            RefreshLruRequest::VT_OBJECT_IDS,
            object_ids,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> RefreshLruRequestBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        RefreshLruRequestBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<RefreshLruRequest<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, RefreshLruRequest::VT_OBJECT_IDS, "object_ids");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for RefreshLruRequest<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("RefreshLruRequest");
        ds.field("object_ids", &self.object_ids());
        ds.finish()
    }
}
pub enum CreateReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateReply<'a> {
    type Inner = CreateReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateReply<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_PLASMA_OBJECT: ::flatbuffers::VOffsetT = 6;
    pub const VT_ERROR: ::flatbuffers::VOffsetT = 8;
    pub const VT_STORE_FD: ::flatbuffers::VOffsetT = 10;
    pub const VT_MMAP_SIZE: ::flatbuffers::VOffsetT = 12;
    pub const VT_IPC_HANDLE: ::flatbuffers::VOffsetT = 14;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<CreateReply<'bldr>> {
        let mut builder = CreateReplyBuilder::new(_fbb);
        builder.add_mmap_size(args.mmap_size);
        if let Some(x) = args.ipc_handle {
            builder.add_ipc_handle(x);
        }
        builder.add_store_fd(args.store_fd);
        builder.add_error(args.error);
        if let Some(x) = args.plasma_object {
            builder.add_plasma_object(x);
        }
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    CreateReply::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn plasma_object(&self) -> &'a ObjectSpec {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<ObjectSpec>(CreateReply::VT_PLASMA_OBJECT, None).unwrap() }
    }
    #[inline]
    pub fn error(&self) -> PlasmaError {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<PlasmaError>(CreateReply::VT_ERROR, Some(PlasmaError::OK)).unwrap()
        }
    }
    #[inline]
    pub fn store_fd(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(CreateReply::VT_STORE_FD, Some(0)).unwrap() }
    }
    #[inline]
    pub fn mmap_size(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(CreateReply::VT_MMAP_SIZE, Some(0)).unwrap() }
    }
    #[inline]
    pub fn ipc_handle(&self) -> Option<CudaHandle<'a>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<CudaHandle>>(CreateReply::VT_IPC_HANDLE, None)
        }
    }
}

impl ::flatbuffers::Verifiable for CreateReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<ObjectSpec>("plasma_object", Self::VT_PLASMA_OBJECT, true)?
            .visit_field::<PlasmaError>("error", Self::VT_ERROR, false)?
            .visit_field::<i32>("store_fd", Self::VT_STORE_FD, false)?
            .visit_field::<i64>("mmap_size", Self::VT_MMAP_SIZE, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<CudaHandle>>(
                "ipc_handle",
                Self::VT_IPC_HANDLE,
                false,
            )?
            .finish();
        Ok(())
    }
}
pub struct CreateReplyArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub plasma_object: Option<&'a ObjectSpec>,
    pub error: PlasmaError,
    pub store_fd: i32,
    pub mmap_size: i64,
    pub ipc_handle: Option<::flatbuffers::WIPOffset<CudaHandle<'a>>>,
}
impl<'a> Default for CreateReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        CreateReplyArgs {
            object_id: None,     // required field
            plasma_object: None, // required field
            error: PlasmaError::OK,
            store_fd: 0,
            mmap_size: 0,
            ipc_handle: None,
        }
    }
}

pub struct CreateReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(CreateReply::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn add_plasma_object(&mut self, plasma_object: &ObjectSpec) {
        self.fbb_.push_slot_always::<&ObjectSpec>(CreateReply::VT_PLASMA_OBJECT, plasma_object);
    }
    #[inline]
    pub fn add_error(&mut self, error: PlasmaError) {
        self.fbb_.push_slot::<PlasmaError>(CreateReply::VT_ERROR, error, PlasmaError::OK);
    }
    #[inline]
    pub fn add_store_fd(&mut self, store_fd: i32) {
        self.fbb_.push_slot::<i32>(CreateReply::VT_STORE_FD, store_fd, 0);
    }
    #[inline]
    pub fn add_mmap_size(&mut self, mmap_size: i64) {
        self.fbb_.push_slot::<i64>(CreateReply::VT_MMAP_SIZE, mmap_size, 0);
    }
    #[inline]
    pub fn add_ipc_handle(&mut self, ipc_handle: ::flatbuffers::WIPOffset<CudaHandle<'b>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<CudaHandle>>(
            CreateReply::VT_IPC_HANDLE,
            ipc_handle,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, CreateReply::VT_OBJECT_ID, "object_id");
        self.fbb_.required(o, CreateReply::VT_PLASMA_OBJECT, "plasma_object");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateReply");
        ds.field("object_id", &self.object_id());
        ds.field("plasma_object", &self.plasma_object());
        ds.field("error", &self.error());
        ds.field("store_fd", &self.store_fd());
        ds.field("mmap_size", &self.mmap_size());
        ds.field("ipc_handle", &self.ipc_handle());
        ds.finish()
    }
}
pub enum CreateAndSealReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateAndSealReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateAndSealReply<'a> {
    type Inner = CreateAndSealReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateAndSealReply<'a> {
    pub const VT_ERROR: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateAndSealReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateAndSealReplyArgs,
    ) -> ::flatbuffers::WIPOffset<CreateAndSealReply<'bldr>> {
        let mut builder = CreateAndSealReplyBuilder::new(_fbb);
        builder.add_error(args.error);
        builder.finish()
    }

    #[inline]
    pub fn error(&self) -> PlasmaError {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<PlasmaError>(CreateAndSealReply::VT_ERROR, Some(PlasmaError::OK))
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for CreateAndSealReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.visit_field::<PlasmaError>("error", Self::VT_ERROR, false)?.finish();
        Ok(())
    }
}
pub struct CreateAndSealReplyArgs {
    pub error: PlasmaError,
}
impl<'a> Default for CreateAndSealReplyArgs {
    #[inline]
    fn default() -> Self {
        CreateAndSealReplyArgs { error: PlasmaError::OK }
    }
}

pub struct CreateAndSealReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateAndSealReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_error(&mut self, error: PlasmaError) {
        self.fbb_.push_slot::<PlasmaError>(CreateAndSealReply::VT_ERROR, error, PlasmaError::OK);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateAndSealReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateAndSealReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateAndSealReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateAndSealReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateAndSealReply");
        ds.field("error", &self.error());
        ds.finish()
    }
}
pub enum CreateAndSealBatchReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct CreateAndSealBatchReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for CreateAndSealBatchReply<'a> {
    type Inner = CreateAndSealBatchReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> CreateAndSealBatchReply<'a> {
    pub const VT_ERROR: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        CreateAndSealBatchReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args CreateAndSealBatchReplyArgs,
    ) -> ::flatbuffers::WIPOffset<CreateAndSealBatchReply<'bldr>> {
        let mut builder = CreateAndSealBatchReplyBuilder::new(_fbb);
        builder.add_error(args.error);
        builder.finish()
    }

    #[inline]
    pub fn error(&self) -> PlasmaError {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<PlasmaError>(CreateAndSealBatchReply::VT_ERROR, Some(PlasmaError::OK))
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for CreateAndSealBatchReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.visit_field::<PlasmaError>("error", Self::VT_ERROR, false)?.finish();
        Ok(())
    }
}
pub struct CreateAndSealBatchReplyArgs {
    pub error: PlasmaError,
}
impl<'a> Default for CreateAndSealBatchReplyArgs {
    #[inline]
    fn default() -> Self {
        CreateAndSealBatchReplyArgs { error: PlasmaError::OK }
    }
}

pub struct CreateAndSealBatchReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> CreateAndSealBatchReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_error(&mut self, error: PlasmaError) {
        self.fbb_.push_slot::<PlasmaError>(
            CreateAndSealBatchReply::VT_ERROR,
            error,
            PlasmaError::OK,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> CreateAndSealBatchReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        CreateAndSealBatchReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<CreateAndSealBatchReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for CreateAndSealBatchReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("CreateAndSealBatchReply");
        ds.field("error", &self.error());
        ds.finish()
    }
}
pub enum AbortReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct AbortReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for AbortReply<'a> {
    type Inner = AbortReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> AbortReply<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        AbortReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args AbortReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<AbortReply<'bldr>> {
        let mut builder = AbortReplyBuilder::new(_fbb);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    AbortReply::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for AbortReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct AbortReplyArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for AbortReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        AbortReplyArgs {
      object_id: None, // required field
    }
    }
}

pub struct AbortReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> AbortReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(AbortReply::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> AbortReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        AbortReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<AbortReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, AbortReply::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for AbortReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("AbortReply");
        ds.field("object_id", &self.object_id());
        ds.finish()
    }
}
pub enum SealReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct SealReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for SealReply<'a> {
    type Inner = SealReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> SealReply<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_ERROR: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        SealReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args SealReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<SealReply<'bldr>> {
        let mut builder = SealReplyBuilder::new(_fbb);
        builder.add_error(args.error);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    SealReply::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn error(&self) -> PlasmaError {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<PlasmaError>(SealReply::VT_ERROR, Some(PlasmaError::OK)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for SealReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<PlasmaError>("error", Self::VT_ERROR, false)?
            .finish();
        Ok(())
    }
}
pub struct SealReplyArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub error: PlasmaError,
}
impl<'a> Default for SealReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        SealReplyArgs {
            object_id: None, // required field
            error: PlasmaError::OK,
        }
    }
}

pub struct SealReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> SealReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(SealReply::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn add_error(&mut self, error: PlasmaError) {
        self.fbb_.push_slot::<PlasmaError>(SealReply::VT_ERROR, error, PlasmaError::OK);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> SealReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        SealReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<SealReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, SealReply::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for SealReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("SealReply");
        ds.field("object_id", &self.object_id());
        ds.field("error", &self.error());
        ds.finish()
    }
}
pub enum GetReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct GetReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for GetReply<'a> {
    type Inner = GetReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> GetReply<'a> {
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 4;
    pub const VT_PLASMA_OBJECTS: ::flatbuffers::VOffsetT = 6;
    pub const VT_STORE_FDS: ::flatbuffers::VOffsetT = 8;
    pub const VT_MMAP_SIZES: ::flatbuffers::VOffsetT = 10;
    pub const VT_HANDLES: ::flatbuffers::VOffsetT = 12;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        GetReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args GetReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<GetReply<'bldr>> {
        let mut builder = GetReplyBuilder::new(_fbb);
        if let Some(x) = args.handles {
            builder.add_handles(x);
        }
        if let Some(x) = args.mmap_sizes {
            builder.add_mmap_sizes(x);
        }
        if let Some(x) = args.store_fds {
            builder.add_store_fds(x);
        }
        if let Some(x) = args.plasma_objects {
            builder.add_plasma_objects(x);
        }
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_ids(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(GetReply::VT_OBJECT_IDS, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn plasma_objects(&self) -> ::flatbuffers::Vector<'a, ObjectSpec> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, ObjectSpec>>>(
                    GetReply::VT_PLASMA_OBJECTS,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn store_fds(&self) -> ::flatbuffers::Vector<'a, i32> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, i32>>>(
                    GetReply::VT_STORE_FDS,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn mmap_sizes(&self) -> ::flatbuffers::Vector<'a, i64> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, i64>>>(
                    GetReply::VT_MMAP_SIZES,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn handles(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<CudaHandle<'a>>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<CudaHandle>>,
                >>(GetReply::VT_HANDLES, None)
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for GetReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, true)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, ObjectSpec>>>(
                "plasma_objects",
                Self::VT_PLASMA_OBJECTS,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, i32>>>(
                "store_fds",
                Self::VT_STORE_FDS,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, i64>>>(
                "mmap_sizes",
                Self::VT_MMAP_SIZES,
                true,
            )?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<'_, ::flatbuffers::ForwardsUOffset<CudaHandle>>,
            >>("handles", Self::VT_HANDLES, true)?
            .finish();
        Ok(())
    }
}
pub struct GetReplyArgs<'a> {
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub plasma_objects: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, ObjectSpec>>>,
    pub store_fds: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, i32>>>,
    pub mmap_sizes: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, i64>>>,
    pub handles: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<CudaHandle<'a>>>,
        >,
    >,
}
impl<'a> Default for GetReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        GetReplyArgs {
            object_ids: None,     // required field
            plasma_objects: None, // required field
            store_fds: None,      // required field
            mmap_sizes: None,     // required field
            handles: None,        // required field
        }
    }
}

pub struct GetReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> GetReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(GetReply::VT_OBJECT_IDS, object_ids);
    }
    #[inline]
    pub fn add_plasma_objects(
        &mut self,
        plasma_objects: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, ObjectSpec>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            GetReply::VT_PLASMA_OBJECTS,
            plasma_objects,
        );
    }
    #[inline]
    pub fn add_store_fds(
        &mut self,
        store_fds: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, i32>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(GetReply::VT_STORE_FDS, store_fds);
    }
    #[inline]
    pub fn add_mmap_sizes(
        &mut self,
        mmap_sizes: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, i64>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(GetReply::VT_MMAP_SIZES, mmap_sizes);
    }
    #[inline]
    pub fn add_handles(
        &mut self,
        handles: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'b, ::flatbuffers::ForwardsUOffset<CudaHandle<'b>>>,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(GetReply::VT_HANDLES, handles);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> GetReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        GetReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<GetReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, GetReply::VT_OBJECT_IDS, "object_ids");
        self.fbb_.required(o, GetReply::VT_PLASMA_OBJECTS, "plasma_objects");
        self.fbb_.required(o, GetReply::VT_STORE_FDS, "store_fds");
        self.fbb_.required(o, GetReply::VT_MMAP_SIZES, "mmap_sizes");
        self.fbb_.required(o, GetReply::VT_HANDLES, "handles");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for GetReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("GetReply");
        ds.field("object_ids", &self.object_ids());
        ds.field("plasma_objects", &self.plasma_objects());
        ds.field("store_fds", &self.store_fds());
        ds.field("mmap_sizes", &self.mmap_sizes());
        ds.field("handles", &self.handles());
        ds.finish()
    }
}
pub enum DeleteReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct DeleteReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for DeleteReply<'a> {
    type Inner = DeleteReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> DeleteReply<'a> {
    pub const VT_COUNT: ::flatbuffers::VOffsetT = 4;
    pub const VT_OBJECT_IDS: ::flatbuffers::VOffsetT = 6;
    pub const VT_ERRORS: ::flatbuffers::VOffsetT = 8;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        DeleteReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args DeleteReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<DeleteReply<'bldr>> {
        let mut builder = DeleteReplyBuilder::new(_fbb);
        if let Some(x) = args.errors {
            builder.add_errors(x);
        }
        if let Some(x) = args.object_ids {
            builder.add_object_ids(x);
        }
        builder.add_count(args.count);
        builder.finish()
    }

    #[inline]
    pub fn count(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(DeleteReply::VT_COUNT, Some(0)).unwrap() }
    }
    #[inline]
    pub fn object_ids(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>
    {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<
                        'a,
                        ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
                    >,
                >>(DeleteReply::VT_OBJECT_IDS, None)
                .unwrap()
        }
    }
    #[inline]
    pub fn errors(&self) -> ::flatbuffers::Vector<'a, i32> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, i32>>>(
                    DeleteReply::VT_ERRORS,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for DeleteReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<i32>("count", Self::VT_COUNT, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<
                    '_,
                    ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>,
                >,
            >>("object_ids", Self::VT_OBJECT_IDS, true)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, i32>>>(
                "errors",
                Self::VT_ERRORS,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct DeleteReplyArgs<'a> {
    pub count: i32,
    pub object_ids: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'a,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>,
            >,
        >,
    >,
    pub errors: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, i32>>>,
}
impl<'a> Default for DeleteReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        DeleteReplyArgs {
            count: 0,
            object_ids: None, // required field
            errors: None,     // required field
        }
    }
}

pub struct DeleteReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> DeleteReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_count(&mut self, count: i32) {
        self.fbb_.push_slot::<i32>(DeleteReply::VT_COUNT, count, 0);
    }
    #[inline]
    pub fn add_object_ids(
        &mut self,
        object_ids: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<
                'b,
                ::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'b, u8>>,
            >,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            DeleteReply::VT_OBJECT_IDS,
            object_ids,
        );
    }
    #[inline]
    pub fn add_errors(&mut self, errors: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, i32>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(DeleteReply::VT_ERRORS, errors);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> DeleteReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        DeleteReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<DeleteReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, DeleteReply::VT_OBJECT_IDS, "object_ids");
        self.fbb_.required(o, DeleteReply::VT_ERRORS, "errors");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for DeleteReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("DeleteReply");
        ds.field("count", &self.count());
        ds.field("object_ids", &self.object_ids());
        ds.field("errors", &self.errors());
        ds.finish()
    }
}
pub enum ContainsReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ContainsReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ContainsReply<'a> {
    type Inner = ContainsReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ContainsReply<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_HAS_OBJECT: ::flatbuffers::VOffsetT = 6;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ContainsReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ContainsReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<ContainsReply<'bldr>> {
        let mut builder = ContainsReplyBuilder::new(_fbb);
        builder.add_has_object(args.has_object);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    ContainsReply::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn has_object(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(ContainsReply::VT_HAS_OBJECT, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for ContainsReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<i32>("has_object", Self::VT_HAS_OBJECT, false)?
            .finish();
        Ok(())
    }
}
pub struct ContainsReplyArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub has_object: i32,
}
impl<'a> Default for ContainsReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        ContainsReplyArgs {
            object_id: None, // required field
            has_object: 0,
        }
    }
}

pub struct ContainsReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ContainsReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            ContainsReply::VT_OBJECT_ID,
            object_id,
        );
    }
    #[inline]
    pub fn add_has_object(&mut self, has_object: i32) {
        self.fbb_.push_slot::<i32>(ContainsReply::VT_HAS_OBJECT, has_object, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ContainsReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ContainsReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ContainsReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, ContainsReply::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ContainsReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ContainsReply");
        ds.field("object_id", &self.object_id());
        ds.field("has_object", &self.has_object());
        ds.finish()
    }
}
pub enum ListReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ListReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ListReply<'a> {
    type Inner = ListReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ListReply<'a> {
    pub const VT_OBJECTS: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ListReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ListReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<ListReply<'bldr>> {
        let mut builder = ListReplyBuilder::new(_fbb);
        if let Some(x) = args.objects {
            builder.add_objects(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn objects(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo<'a>>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo>>,
                >>(ListReply::VT_OBJECTS, None)
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for ListReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<'_, ::flatbuffers::ForwardsUOffset<ObjectInfo>>,
            >>("objects", Self::VT_OBJECTS, true)?
            .finish();
        Ok(())
    }
}
pub struct ListReplyArgs<'a> {
    pub objects: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo<'a>>>,
        >,
    >,
}
impl<'a> Default for ListReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        ListReplyArgs {
      objects: None, // required field
    }
    }
}

pub struct ListReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ListReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_objects(
        &mut self,
        objects: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'b, ::flatbuffers::ForwardsUOffset<ObjectInfo<'b>>>,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(ListReply::VT_OBJECTS, objects);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ListReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ListReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ListReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, ListReply::VT_OBJECTS, "objects");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ListReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ListReply");
        ds.field("objects", &self.objects());
        ds.finish()
    }
}
pub enum ConnectReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ConnectReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ConnectReply<'a> {
    type Inner = ConnectReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ConnectReply<'a> {
    pub const VT_MEMORY_CAPACITY: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ConnectReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ConnectReplyArgs,
    ) -> ::flatbuffers::WIPOffset<ConnectReply<'bldr>> {
        let mut builder = ConnectReplyBuilder::new(_fbb);
        builder.add_memory_capacity(args.memory_capacity);
        builder.finish()
    }

    #[inline]
    pub fn memory_capacity(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(ConnectReply::VT_MEMORY_CAPACITY, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for ConnectReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<i64>("memory_capacity", Self::VT_MEMORY_CAPACITY, false)?
            .finish();
        Ok(())
    }
}
pub struct ConnectReplyArgs {
    pub memory_capacity: i64,
}
impl<'a> Default for ConnectReplyArgs {
    #[inline]
    fn default() -> Self {
        ConnectReplyArgs { memory_capacity: 0 }
    }
}

pub struct ConnectReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ConnectReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_memory_capacity(&mut self, memory_capacity: i64) {
        self.fbb_.push_slot::<i64>(ConnectReply::VT_MEMORY_CAPACITY, memory_capacity, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ConnectReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ConnectReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ConnectReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ConnectReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ConnectReply");
        ds.field("memory_capacity", &self.memory_capacity());
        ds.finish()
    }
}
pub enum EvictReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct EvictReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for EvictReply<'a> {
    type Inner = EvictReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> EvictReply<'a> {
    pub const VT_NUM_BYTES: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        EvictReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args EvictReplyArgs,
    ) -> ::flatbuffers::WIPOffset<EvictReply<'bldr>> {
        let mut builder = EvictReplyBuilder::new(_fbb);
        builder.add_num_bytes(args.num_bytes);
        builder.finish()
    }

    #[inline]
    pub fn num_bytes(&self) -> u64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<u64>(EvictReply::VT_NUM_BYTES, Some(0)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for EvictReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.visit_field::<u64>("num_bytes", Self::VT_NUM_BYTES, false)?.finish();
        Ok(())
    }
}
pub struct EvictReplyArgs {
    pub num_bytes: u64,
}
impl<'a> Default for EvictReplyArgs {
    #[inline]
    fn default() -> Self {
        EvictReplyArgs { num_bytes: 0 }
    }
}

pub struct EvictReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> EvictReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_num_bytes(&mut self, num_bytes: u64) {
        self.fbb_.push_slot::<u64>(EvictReply::VT_NUM_BYTES, num_bytes, 0);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> EvictReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        EvictReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<EvictReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for EvictReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("EvictReply");
        ds.field("num_bytes", &self.num_bytes());
        ds.finish()
    }
}
pub enum SetOptionsReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct SetOptionsReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for SetOptionsReply<'a> {
    type Inner = SetOptionsReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> SetOptionsReply<'a> {
    pub const VT_ERROR: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        SetOptionsReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args SetOptionsReplyArgs,
    ) -> ::flatbuffers::WIPOffset<SetOptionsReply<'bldr>> {
        let mut builder = SetOptionsReplyBuilder::new(_fbb);
        builder.add_error(args.error);
        builder.finish()
    }

    #[inline]
    pub fn error(&self) -> PlasmaError {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<PlasmaError>(SetOptionsReply::VT_ERROR, Some(PlasmaError::OK)).unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for SetOptionsReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.visit_field::<PlasmaError>("error", Self::VT_ERROR, false)?.finish();
        Ok(())
    }
}
pub struct SetOptionsReplyArgs {
    pub error: PlasmaError,
}
impl<'a> Default for SetOptionsReplyArgs {
    #[inline]
    fn default() -> Self {
        SetOptionsReplyArgs { error: PlasmaError::OK }
    }
}

pub struct SetOptionsReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> SetOptionsReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_error(&mut self, error: PlasmaError) {
        self.fbb_.push_slot::<PlasmaError>(SetOptionsReply::VT_ERROR, error, PlasmaError::OK);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> SetOptionsReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        SetOptionsReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<SetOptionsReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for SetOptionsReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("SetOptionsReply");
        ds.field("error", &self.error());
        ds.finish()
    }
}
pub enum GetDebugStringReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct GetDebugStringReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for GetDebugStringReply<'a> {
    type Inner = GetDebugStringReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> GetDebugStringReply<'a> {
    pub const VT_DEBUG_STRING: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        GetDebugStringReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args GetDebugStringReplyArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<GetDebugStringReply<'bldr>> {
        let mut builder = GetDebugStringReplyBuilder::new(_fbb);
        if let Some(x) = args.debug_string {
            builder.add_debug_string(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn debug_string(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    GetDebugStringReply::VT_DEBUG_STRING,
                    None,
                )
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for GetDebugStringReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "debug_string",
                Self::VT_DEBUG_STRING,
                true,
            )?
            .finish();
        Ok(())
    }
}
pub struct GetDebugStringReplyArgs<'a> {
    pub debug_string: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
}
impl<'a> Default for GetDebugStringReplyArgs<'a> {
    #[inline]
    fn default() -> Self {
        GetDebugStringReplyArgs {
      debug_string: None, // required field
    }
    }
}

pub struct GetDebugStringReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> GetDebugStringReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_debug_string(
        &mut self,
        debug_string: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            GetDebugStringReply::VT_DEBUG_STRING,
            debug_string,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> GetDebugStringReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        GetDebugStringReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<GetDebugStringReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, GetDebugStringReply::VT_DEBUG_STRING, "debug_string");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for GetDebugStringReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("GetDebugStringReply");
        ds.field("debug_string", &self.debug_string());
        ds.finish()
    }
}
pub enum RefreshLruReplyOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct RefreshLruReply<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for RefreshLruReply<'a> {
    type Inner = RefreshLruReply<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> RefreshLruReply<'a> {
    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        RefreshLruReply { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        _args: &'args RefreshLruReplyArgs,
    ) -> ::flatbuffers::WIPOffset<RefreshLruReply<'bldr>> {
        let mut builder = RefreshLruReplyBuilder::new(_fbb);
        builder.finish()
    }
}

impl ::flatbuffers::Verifiable for RefreshLruReply<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?.finish();
        Ok(())
    }
}
pub struct RefreshLruReplyArgs {}
impl<'a> Default for RefreshLruReplyArgs {
    #[inline]
    fn default() -> Self {
        RefreshLruReplyArgs {}
    }
}

pub struct RefreshLruReplyBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> RefreshLruReplyBuilder<'a, 'b, A> {
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> RefreshLruReplyBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        RefreshLruReplyBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<RefreshLruReply<'a>> {
        let o = self.fbb_.end_table(self.start_);
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for RefreshLruReply<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("RefreshLruReply");
        ds.finish()
    }
}
pub enum ObjectInfoOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct ObjectInfo<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for ObjectInfo<'a> {
    type Inner = ObjectInfo<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> ObjectInfo<'a> {
    pub const VT_OBJECT_ID: ::flatbuffers::VOffsetT = 4;
    pub const VT_DATA_SIZE: ::flatbuffers::VOffsetT = 6;
    pub const VT_METADATA_SIZE: ::flatbuffers::VOffsetT = 8;
    pub const VT_REF_COUNT: ::flatbuffers::VOffsetT = 10;
    pub const VT_CREATE_TIME: ::flatbuffers::VOffsetT = 12;
    pub const VT_CONSTRUCT_DURATION: ::flatbuffers::VOffsetT = 14;
    pub const VT_DIGEST: ::flatbuffers::VOffsetT = 16;
    pub const VT_IS_DELETION: ::flatbuffers::VOffsetT = 18;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        ObjectInfo { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args ObjectInfoArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<ObjectInfo<'bldr>> {
        let mut builder = ObjectInfoBuilder::new(_fbb);
        builder.add_construct_duration(args.construct_duration);
        builder.add_create_time(args.create_time);
        builder.add_metadata_size(args.metadata_size);
        builder.add_data_size(args.data_size);
        if let Some(x) = args.digest {
            builder.add_digest(x);
        }
        builder.add_ref_count(args.ref_count);
        if let Some(x) = args.object_id {
            builder.add_object_id(x);
        }
        builder.add_is_deletion(args.is_deletion);
        builder.finish()
    }

    #[inline]
    pub fn object_id(&self) -> ::flatbuffers::Vector<'a, u8> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                    ObjectInfo::VT_OBJECT_ID,
                    None,
                )
                .unwrap()
        }
    }
    #[inline]
    pub fn data_size(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(ObjectInfo::VT_DATA_SIZE, Some(0)).unwrap() }
    }
    #[inline]
    pub fn metadata_size(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(ObjectInfo::VT_METADATA_SIZE, Some(0)).unwrap() }
    }
    #[inline]
    pub fn ref_count(&self) -> i32 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i32>(ObjectInfo::VT_REF_COUNT, Some(0)).unwrap() }
    }
    #[inline]
    pub fn create_time(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(ObjectInfo::VT_CREATE_TIME, Some(0)).unwrap() }
    }
    #[inline]
    pub fn construct_duration(&self) -> i64 {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<i64>(ObjectInfo::VT_CONSTRUCT_DURATION, Some(0)).unwrap() }
    }
    #[inline]
    pub fn digest(&self) -> Option<::flatbuffers::Vector<'a, u8>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab.get::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'a, u8>>>(
                ObjectInfo::VT_DIGEST,
                None,
            )
        }
    }
    #[inline]
    pub fn is_deletion(&self) -> bool {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe { self._tab.get::<bool>(ObjectInfo::VT_IS_DELETION, Some(false)).unwrap() }
    }
}

impl ::flatbuffers::Verifiable for ObjectInfo<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "object_id",
                Self::VT_OBJECT_ID,
                true,
            )?
            .visit_field::<i64>("data_size", Self::VT_DATA_SIZE, false)?
            .visit_field::<i64>("metadata_size", Self::VT_METADATA_SIZE, false)?
            .visit_field::<i32>("ref_count", Self::VT_REF_COUNT, false)?
            .visit_field::<i64>("create_time", Self::VT_CREATE_TIME, false)?
            .visit_field::<i64>("construct_duration", Self::VT_CONSTRUCT_DURATION, false)?
            .visit_field::<::flatbuffers::ForwardsUOffset<::flatbuffers::Vector<'_, u8>>>(
                "digest",
                Self::VT_DIGEST,
                false,
            )?
            .visit_field::<bool>("is_deletion", Self::VT_IS_DELETION, false)?
            .finish();
        Ok(())
    }
}
pub struct ObjectInfoArgs<'a> {
    pub object_id: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub data_size: i64,
    pub metadata_size: i64,
    pub ref_count: i32,
    pub create_time: i64,
    pub construct_duration: i64,
    pub digest: Option<::flatbuffers::WIPOffset<::flatbuffers::Vector<'a, u8>>>,
    pub is_deletion: bool,
}
impl<'a> Default for ObjectInfoArgs<'a> {
    #[inline]
    fn default() -> Self {
        ObjectInfoArgs {
            object_id: None, // required field
            data_size: 0,
            metadata_size: 0,
            ref_count: 0,
            create_time: 0,
            construct_duration: 0,
            digest: None,
            is_deletion: false,
        }
    }
}

pub struct ObjectInfoBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> ObjectInfoBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_id(
        &mut self,
        object_id: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>,
    ) {
        self.fbb_
            .push_slot_always::<::flatbuffers::WIPOffset<_>>(ObjectInfo::VT_OBJECT_ID, object_id);
    }
    #[inline]
    pub fn add_data_size(&mut self, data_size: i64) {
        self.fbb_.push_slot::<i64>(ObjectInfo::VT_DATA_SIZE, data_size, 0);
    }
    #[inline]
    pub fn add_metadata_size(&mut self, metadata_size: i64) {
        self.fbb_.push_slot::<i64>(ObjectInfo::VT_METADATA_SIZE, metadata_size, 0);
    }
    #[inline]
    pub fn add_ref_count(&mut self, ref_count: i32) {
        self.fbb_.push_slot::<i32>(ObjectInfo::VT_REF_COUNT, ref_count, 0);
    }
    #[inline]
    pub fn add_create_time(&mut self, create_time: i64) {
        self.fbb_.push_slot::<i64>(ObjectInfo::VT_CREATE_TIME, create_time, 0);
    }
    #[inline]
    pub fn add_construct_duration(&mut self, construct_duration: i64) {
        self.fbb_.push_slot::<i64>(ObjectInfo::VT_CONSTRUCT_DURATION, construct_duration, 0);
    }
    #[inline]
    pub fn add_digest(&mut self, digest: ::flatbuffers::WIPOffset<::flatbuffers::Vector<'b, u8>>) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(ObjectInfo::VT_DIGEST, digest);
    }
    #[inline]
    pub fn add_is_deletion(&mut self, is_deletion: bool) {
        self.fbb_.push_slot::<bool>(ObjectInfo::VT_IS_DELETION, is_deletion, false);
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> ObjectInfoBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        ObjectInfoBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<ObjectInfo<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, ObjectInfo::VT_OBJECT_ID, "object_id");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for ObjectInfo<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("ObjectInfo");
        ds.field("object_id", &self.object_id());
        ds.field("data_size", &self.data_size());
        ds.field("metadata_size", &self.metadata_size());
        ds.field("ref_count", &self.ref_count());
        ds.field("create_time", &self.create_time());
        ds.field("construct_duration", &self.construct_duration());
        ds.field("digest", &self.digest());
        ds.field("is_deletion", &self.is_deletion());
        ds.finish()
    }
}
pub enum PlasmaNotificationOffset {}
#[derive(Copy, Clone, PartialEq)]

pub struct PlasmaNotification<'a> {
    pub _tab: ::flatbuffers::Table<'a>,
}

impl<'a> ::flatbuffers::Follow<'a> for PlasmaNotification<'a> {
    type Inner = PlasmaNotification<'a>;
    #[inline]
    unsafe fn follow(buf: &'a [u8], loc: usize) -> Self::Inner {
        Self { _tab: unsafe { ::flatbuffers::Table::new(buf, loc) } }
    }
}

impl<'a> PlasmaNotification<'a> {
    pub const VT_OBJECT_INFO: ::flatbuffers::VOffsetT = 4;

    #[inline]
    pub unsafe fn init_from_table(table: ::flatbuffers::Table<'a>) -> Self {
        PlasmaNotification { _tab: table }
    }
    #[allow(unused_mut)]
    pub fn create<
        'bldr: 'args,
        'args: 'mut_bldr,
        'mut_bldr,
        A: ::flatbuffers::Allocator + 'bldr,
    >(
        _fbb: &'mut_bldr mut ::flatbuffers::FlatBufferBuilder<'bldr, A>,
        args: &'args PlasmaNotificationArgs<'args>,
    ) -> ::flatbuffers::WIPOffset<PlasmaNotification<'bldr>> {
        let mut builder = PlasmaNotificationBuilder::new(_fbb);
        if let Some(x) = args.object_info {
            builder.add_object_info(x);
        }
        builder.finish()
    }

    #[inline]
    pub fn object_info(
        &self,
    ) -> ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo<'a>>> {
        // Safety:
        // Created from valid Table for this object
        // which contains a valid value in this slot
        unsafe {
            self._tab
                .get::<::flatbuffers::ForwardsUOffset<
                    ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo>>,
                >>(PlasmaNotification::VT_OBJECT_INFO, None)
                .unwrap()
        }
    }
}

impl ::flatbuffers::Verifiable for PlasmaNotification<'_> {
    #[inline]
    fn run_verifier(
        v: &mut ::flatbuffers::Verifier,
        pos: usize,
    ) -> Result<(), ::flatbuffers::InvalidFlatbuffer> {
        v.visit_table(pos)?
            .visit_field::<::flatbuffers::ForwardsUOffset<
                ::flatbuffers::Vector<'_, ::flatbuffers::ForwardsUOffset<ObjectInfo>>,
            >>("object_info", Self::VT_OBJECT_INFO, true)?
            .finish();
        Ok(())
    }
}
pub struct PlasmaNotificationArgs<'a> {
    pub object_info: Option<
        ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'a, ::flatbuffers::ForwardsUOffset<ObjectInfo<'a>>>,
        >,
    >,
}
impl<'a> Default for PlasmaNotificationArgs<'a> {
    #[inline]
    fn default() -> Self {
        PlasmaNotificationArgs {
      object_info: None, // required field
    }
    }
}

pub struct PlasmaNotificationBuilder<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> {
    fbb_: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    start_: ::flatbuffers::WIPOffset<::flatbuffers::TableUnfinishedWIPOffset>,
}
impl<'a: 'b, 'b, A: ::flatbuffers::Allocator + 'a> PlasmaNotificationBuilder<'a, 'b, A> {
    #[inline]
    pub fn add_object_info(
        &mut self,
        object_info: ::flatbuffers::WIPOffset<
            ::flatbuffers::Vector<'b, ::flatbuffers::ForwardsUOffset<ObjectInfo<'b>>>,
        >,
    ) {
        self.fbb_.push_slot_always::<::flatbuffers::WIPOffset<_>>(
            PlasmaNotification::VT_OBJECT_INFO,
            object_info,
        );
    }
    #[inline]
    pub fn new(
        _fbb: &'b mut ::flatbuffers::FlatBufferBuilder<'a, A>,
    ) -> PlasmaNotificationBuilder<'a, 'b, A> {
        let start = _fbb.start_table();
        PlasmaNotificationBuilder { fbb_: _fbb, start_: start }
    }
    #[inline]
    pub fn finish(self) -> ::flatbuffers::WIPOffset<PlasmaNotification<'a>> {
        let o = self.fbb_.end_table(self.start_);
        self.fbb_.required(o, PlasmaNotification::VT_OBJECT_INFO, "object_info");
        ::flatbuffers::WIPOffset::new(o.value())
    }
}

impl ::core::fmt::Debug for PlasmaNotification<'_> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        let mut ds = f.debug_struct("PlasmaNotification");
        ds.field("object_info", &self.object_info());
        ds.finish()
    }
}
