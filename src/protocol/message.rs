//! Requests, replies and notices as plain values.

use smallvec::SmallVec;

use crate::ids::{DeviceBlock, DeviceNum, Digest, ObjectId, SegmentId};

/// The numbers of the messages, as they stand in a frame's header.
pub mod kind {
    #![allow(missing_docs)]

    pub const DISCONNECT: i64 = 0;
    pub const CREATE_REQUEST: i64 = 1;
    pub const CREATE_REPLY: i64 = 2;
    pub const CREATE_AND_SEAL_REQUEST: i64 = 3;
    pub const CREATE_AND_SEAL_REPLY: i64 = 4;
    pub const ABORT_REQUEST: i64 = 5;
    pub const ABORT_REPLY: i64 = 6;
    pub const SEAL_REQUEST: i64 = 7;
    pub const SEAL_REPLY: i64 = 8;
    pub const GET_REQUEST: i64 = 9;
    pub const GET_REPLY: i64 = 10;
    pub const RELEASE_REQUEST: i64 = 11;
    pub const DELETE_REQUEST: i64 = 13;
    pub const DELETE_REPLY: i64 = 14;
    pub const CONTAINS_REQUEST: i64 = 15;
    pub const CONTAINS_REPLY: i64 = 16;
    pub const LIST_REQUEST: i64 = 17;
    pub const LIST_REPLY: i64 = 18;
    pub const CONNECT_REQUEST: i64 = 19;
    pub const CONNECT_REPLY: i64 = 20;
    pub const EVICT_REQUEST: i64 = 21;
    pub const EVICT_REPLY: i64 = 22;
    pub const SUBSCRIBE_REQUEST: i64 = 23;
    pub const SET_OPTIONS_REQUEST: i64 = 28;
    pub const SET_OPTIONS_REPLY: i64 = 29;
    pub const DEBUG_STRING_REQUEST: i64 = 30;
    pub const DEBUG_STRING_REPLY: i64 = 31;
    pub const CREATE_AND_SEAL_BATCH_REQUEST: i64 = 32;
    pub const CREATE_AND_SEAL_BATCH_REPLY: i64 = 33;
    pub const REFRESH_LRU_REQUEST: i64 = 34;
    pub const REFRESH_LRU_REPLY: i64 = 35;
}

/// What a client asks for. Payloads stay where they were received.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    /// The client leaves; nothing is answered.
    Disconnect,
    /// How large is the store?
    Connect,
    /// Place for an object that the client will fill and seal.
    Create(CreateRequest),
    /// A whole object in one message.
    CreateAndSeal {
        /// Evict others if need be.
        evict_if_full: bool,
        /// The object.
        object: NewObject<'a>,
    },
    /// Several whole objects, all or none.
    CreateAndSealBatch {
        /// Evict others if need be.
        evict_if_full: bool,
        /// The objects, in the order in which they are created.
        objects: &'a [NewObject<'a>],
    },
    /// A message of one of the two kinds above that is too long for any store of this size. Its
    /// body was thrown away unread.
    TooLarge(TooLarge),
    /// Undo a create.
    Abort(ObjectId),
    /// The object is complete.
    Seal(ObjectId, Digest),
    /// Hold these objects, and say where they are.
    Get {
        /// In the order of the reply; may repeat.
        ids: &'a [ObjectId],
        /// How long to wait for those that are missing.
        timeout: GetTimeout,
    },
    /// The client no longer needs the object.
    Release(ObjectId),
    /// Remove these, those in use as soon as they no longer are.
    Delete(&'a [ObjectId]),
    /// Is the object there, and sealed?
    Contains(ObjectId),
    /// Everything in the store.
    List,
    /// Evict at least so many bytes.
    Evict {
        /// 0 evicts nothing.
        bytes: u64,
    },
    /// Notices from now on, and one for each object that is there already.
    Subscribe,
    /// A name for the client, and a share of the memory.
    SetOptions {
        /// Arbitrary bytes.
        name: &'a [u8],
        /// In bytes; negative is never granted.
        quota_bytes: i64,
    },
    /// The state of the store as text.
    DebugString,
    /// These objects were used just now.
    RefreshLru(&'a [ObjectId]),
}

/// What a create asks for. Sizes are as received: nothing says that they make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateRequest {
    /// The new object.
    pub id: ObjectId,
    /// Evict others if need be.
    pub evict_if_full: bool,
    /// Bytes of data; a negative number of the client appears as a huge one.
    pub data_bytes: u64,
    /// Bytes of metadata, likewise.
    pub metadata_bytes: u64,
    /// 0 for host memory, k for CUDA device k-1.
    pub device_num: i32,
}

/// An object that arrives whole.
#[derive(Clone, Copy, Debug)]
pub struct NewObject<'a> {
    /// The new object.
    pub id: ObjectId,
    /// Its contents.
    pub data: &'a [u8],
    /// What lies behind the contents.
    pub metadata: &'a [u8],
    /// What the client says is its digest.
    pub digest: Digest,
}

/// Which kind of message was too large to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooLarge {
    /// A `CreateAndSeal` request.
    CreateAndSeal,
    /// A `CreateAndSealBatch` request.
    CreateAndSealBatch,
}

/// How long a get waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GetTimeout {
    /// Not at all.
    Now,
    /// So many milliseconds.
    Milliseconds(u64),
    /// For ever.
    Never,
}

impl GetTimeout {
    /// The meaning of the number on the wire: -1 waits for ever, any other negative number not at
    /// all.
    #[must_use]
    pub fn from_wire(timeout_ms: i64) -> Self {
        match u64::try_from(timeout_ms) {
            Ok(0) => Self::Now,
            Ok(milliseconds) => Self::Milliseconds(milliseconds),
            Err(_) if timeout_ms == -1 => Self::Never,
            Err(_) => Self::Now,
        }
    }
}

/// The outcome of a request, by its number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is done.
    Ok,
    /// The id is taken.
    ObjectExists,
    /// There is no such object.
    ObjectNotFound,
    /// There is no room, or there can never be.
    OutOfMemory,
    /// Deleted as soon as it is sealed and released. In the reply to Delete only.
    ObjectNotSealed,
    /// Deleted as soon as it is released. In the reply to Delete only.
    ObjectInUse,
}

/// Where an object lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The segment; [`SegmentId::NONE`] in the memory of a device.
    pub segment: SegmentId,
    /// Which memory.
    pub device: DeviceNum,
    /// The first byte of the data, from the start of the segment or of the device's block.
    pub offset_bytes: u64,
    /// Bytes of data.
    pub data_bytes: u64,
    /// Bytes of metadata, which follow the data at once.
    pub metadata_bytes: u64,
}

/// A segment, as announced to clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SegmentInfo {
    /// The segment.
    pub segment: SegmentId,
    /// How many bytes of its file may be mapped.
    pub range_bytes: u64,
}

/// How clients get at the memory of an object on a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceHandle {
    /// The bytes of its data and metadata.
    pub size_bytes: u64,
    /// What opens its memory; `None` if it has no bytes, and so no memory.
    pub handle: Option<Box<[u8; DeviceBlock::HANDLE_BYTES]>>,
}

/// How a creator gets at the memory of its object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// By mapping this segment of host memory.
    Segment(SegmentInfo),
    /// By opening this memory of a device.
    Device(DeviceHandle),
}

/// The answer to a request.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// To `Connect`.
    Connect {
        /// The capacity of the store.
        capacity_bytes: u64,
    },
    /// To `Create`.
    Create {
        /// The object asked for.
        id: ObjectId,
        /// Its place, or why it has none.
        outcome: Result<(Place, Access), Status>,
    },
    /// To `CreateAndSeal`.
    CreateAndSeal(Status),
    /// To `CreateAndSealBatch`.
    CreateAndSealBatch(Status),
    /// To `Abort`.
    Abort(ObjectId),
    /// To `Seal`.
    Seal(ObjectId, Status),
    /// To `Get`.
    Get(GetReply),
    /// To `Delete`: an outcome for each id asked for.
    Delete(SmallVec<[(ObjectId, Status); 1]>),
    /// To `Contains`.
    Contains(ObjectId, bool),
    /// To `List`.
    List(Vec<ObjectInfo>),
    /// To `Evict`.
    Evict {
        /// The data and metadata of what was evicted.
        bytes: u64,
    },
    /// To `SetOptions`.
    SetOptions(Status),
    /// To `DebugString`: lines without a final newline.
    DebugString(Vec<u8>),
    /// To `RefreshLru`.
    RefreshLru,
}

/// The answer to a get.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GetReply {
    /// Each position of the request, with the object's place if it is available.
    pub objects: SmallVec<[(ObjectId, Option<Place>); 1]>,
    /// The segments of the available objects, in the order in which they first appear.
    pub segments: SmallVec<[SegmentInfo; 1]>,
    /// For each position with an object on a device, in order; boxed, since most replies have none
    /// and are moved about.
    pub handles: Option<Box<Vec<DeviceHandle>>>,
}

/// One row of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObjectInfo {
    /// The object.
    pub id: ObjectId,
    /// Bytes of data.
    pub data_bytes: u64,
    /// Bytes of metadata.
    pub metadata_bytes: u64,
    /// How many connections hold it.
    pub holders: u32,
    /// When it was created, in seconds since 1970.
    pub create_time_s: i64,
    /// From create to seal in whole seconds, and the digest; `None` while unsealed.
    pub sealed: Option<(u32, Digest)>,
}

/// Something that subscribers are told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The object can be got.
    Sealed {
        /// The object.
        id: ObjectId,
        /// Bytes of data.
        data_bytes: u64,
        /// Bytes of metadata.
        metadata_bytes: u64,
        /// The digest that its sealer gave.
        digest: Digest,
    },
    /// The object is gone.
    Deleted(ObjectId),
}
