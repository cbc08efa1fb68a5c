//! The driver of the GPUs, loaded at run time: a safe layer over the few calls that are needed.
//!
//! Results are taken as plain numbers: drivers newer than this program may return codes that it
//! does not know. All functions are looked up when the driver is loaded, so that an old driver is
//! an error then and not in the middle of a request.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::slice;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdeviceptr, CUipcMemHandle, CUstream};

use crate::ids::DeviceBlock;

/// The oldest driver that has all that is needed, as CUDA counts: 11.4, of 2021.
const MIN_VERSION: c_int = 11_040;

/// What the driver opens before anything else.
const CONTROL_DEVICE: &str = "/dev/nvidiactl";

/// Memory of the host that every context may use (`CU_MEMHOSTALLOC_PORTABLE`).
const PORTABLE: c_uint = 1;

/// A stream that does not wait for the default one (`CU_STREAM_NON_BLOCKING`).
const NON_BLOCKING: c_uint = 1;

/// Opens memory of another device over a direct link (`CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`).
const LAZY_PEER_ACCESS: c_uint = 1;

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        #[expect(non_snake_case, reason = "the driver's names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn find() -> Result<Self, LoadError> {
                Ok(Self { $($name: {
                    type Function = unsafe extern "C" fn($($argument),*) -> c_int;
                    // SAFETY: `Driver::load` has found the library, and it is never unloaded.
                    let library = unsafe { sys::culib() };
                    // SAFETY: the type is that of the driver's documentation for this name.
                    let found = unsafe { library.get::<Function>(stringify!($name).as_bytes()) };
                    *found.map_err(|_| LoadError::TooOld { lacks: stringify!($name) })?
                },)* })
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut c_int);
    cuGetErrorName(c_int, *mut *const c_char);
    cuDeviceGetCount(*mut c_int);
    cuDeviceGet(*mut CUdevice, c_int);
    cuDeviceGetName(*mut c_char, c_int, CUdevice);
    cuDeviceGetUuid_v2(*mut [u8; 16], CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxSetCurrent(CUcontext);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuIpcGetMemHandle(*mut CUipcMemHandle, CUdeviceptr);
    cuIpcOpenMemHandle_v2(*mut CUdeviceptr, CUipcMemHandle, c_uint);
    cuIpcCloseMemHandle(CUdeviceptr);
    cuMemGetAddressRange_v2(*mut CUdeviceptr, *mut usize, CUdeviceptr);
    cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    cuMemFreeHost(*mut c_void);
    cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// Why there is no driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadError {
    /// Its library is not on this machine.
    NoLibrary,
    /// It lacks a function.
    TooOld {
        /// Which.
        lacks: &'static str,
    },
    /// It is of a version before 11.4.
    OldVersion {
        /// As CUDA counts: a thousand times the major and ten times the minor number.
        version: i32,
    },
    /// This process may not use devices.
    NoPermission,
    /// It does not work.
    Refused(CudaError),
}

impl LoadError {
    /// Why the driver refuses to begin. It says no more than that it finds nothing when it is not
    /// allowed to look.
    #[expect(clippy::disallowed_methods, reason = "only the file itself tells whether it opens")]
    fn refused(error: CudaError) -> Self {
        let opened = OpenOptions::new().read(true).write(true).open(CONTROL_DEVICE);
        match opened {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Self::NoPermission,
            _ => Self::Refused(error),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary => f.write_str("the library libcuda.so.1 is missing"),
            Self::TooOld { lacks } => {
                write!(f, "the driver is too old: it has no {lacks}, as drivers since 11.4 have")
            }
            Self::OldVersion { version } => {
                let (major, minor) = (version / 1000, version % 1000 / 10);
                write!(
                    f,
                    "the driver is too old: it is for CUDA {major}.{minor}, not 11.4 or later"
                )
            }
            Self::Refused(CudaError { code: CudaError::NO_DEVICE, .. }) => {
                f.write_str("the driver finds no device")
            }
            Self::NoPermission => {
                write!(f, "there is no permission to open {CONTROL_DEVICE}")
            }
            Self::Refused(error) => error.fmt(f),
        }
    }
}

/// A call of the driver that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CudaError {
    /// The driver's number for what went wrong.
    pub code: i32,
    /// Which function said so.
    pub call: &'static str,
}

impl CudaError {
    /// There is not enough memory.
    pub const OUT_OF_MEMORY: i32 = 2;
    /// There is no device.
    pub const NO_DEVICE: i32 = 100;

    /// Whether the device, or what this process has on it, is of no use any more: errors that the
    /// driver's documentation says can only be got rid of by ending the process.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self.code, 4 | 46 | 214 | 220 | 700 | 702 | 709 | 710 | 714..=719)
    }

    /// The driver's word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let mut name = ptr::null();
        if let Some(functions) = FUNCTIONS.get() {
            // SAFETY: the function writes one pointer.
            unsafe { (functions.cuGetErrorName)(self.code, &raw mut name) };
        }
        if name.is_null() {
            return "an unknown error";
        }
        // SAFETY: what the driver gives is a constant string.
        unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("an unknown error")
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} says {} ({})", self.call, self.name(), self.code)
    }
}

impl std::error::Error for CudaError {}

/// Calls one function of the driver.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = functions().$name;
        // SAFETY: said where this is used.
        match unsafe { function($($argument),*) } {
            0 => Ok(()),
            code => Err(CudaError { code, call: stringify!($name) }),
        }
    }};
}

/// All of them; a [`Driver`] exists only when they were found.
fn functions() -> &'static Functions {
    FUNCTIONS.get().expect("the driver was loaded")
}

/// The driver, loaded and initialised.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    version: i32,
}

/// What the driver says of a device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Its number, from 0, in the driver's order.
    pub ordinal: usize,
    /// What it is called.
    pub name: String,
    /// Which one it is, for ever.
    pub uuid: [u8; 16],
    /// Its memory.
    pub total_bytes: u64,
}

impl DeviceInfo {
    /// The UUID as NVIDIA's tools write it.
    #[must_use]
    pub fn uuid_text(&self) -> String {
        let hex = |part: &[u8]| part.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let parts = [0..4, 4..6, 6..8, 8..10, 10..16].map(|range| hex(&self.uuid[range]));
        format!("GPU-{}", parts.join("-"))
    }
}

impl Driver {
    /// Loads the driver. Devices are counted by their place on the bus, as NVIDIA's tools count,
    /// unless the environment says something else. Call this before there are other threads, but
    /// for those that never read the environment.
    ///
    /// # Errors
    ///
    /// If there is none, or none that works.
    pub fn load() -> Result<Self, LoadError> {
        if std::env::var_os("CUDA_DEVICE_ORDER").is_none() {
            // SAFETY: the only other thread at this time writes the log, and reads no environment.
            unsafe { std::env::set_var("CUDA_DEVICE_ORDER", "PCI_BUS_ID") };
        }
        // SAFETY: loading the driver runs its initialisers, which do not depend on this program.
        if !unsafe { sys::is_culib_present() } {
            return Err(LoadError::NoLibrary);
        }
        if FUNCTIONS.get().is_none() {
            let _ = FUNCTIONS.set(Functions::find()?);
        }
        // The version can be asked for at any time, and this writes one number.
        let mut version = 0;
        call!(cuDriverGetVersion(&raw mut version)).map_err(LoadError::Refused)?;
        if version < MIN_VERSION {
            return Err(LoadError::OldVersion { version });
        }
        // No flags are defined.
        call!(cuInit(0)).map_err(LoadError::refused)?;
        Ok(Self { version })
    }

    /// The version, as CUDA counts.
    #[must_use]
    pub fn version(self) -> i32 {
        self.version
    }

    /// All devices, in the driver's order.
    ///
    /// # Errors
    ///
    /// If the driver does not say.
    pub fn devices(self) -> Result<Vec<DeviceInfo>, CudaError> {
        let mut count = 0;
        // Writes one number.
        call!(cuDeviceGetCount(&raw mut count))?;
        (0..count).map(|ordinal| self.device(ordinal)).collect()
    }

    fn device(self, ordinal: c_int) -> Result<DeviceInfo, CudaError> {
        let (mut device, mut name, mut uuid, mut total) = (0, [0; 128], [0; 16], 0);
        // Writes one number.
        call!(cuDeviceGet(&raw mut device, ordinal))?;
        let length = c_int::try_from(name.len()).unwrap_or(0);
        // Writes at most `length` bytes.
        call!(cuDeviceGetName(name.as_mut_ptr(), length, device))?;
        // Writes 16 bytes.
        call!(cuDeviceGetUuid_v2(&raw mut uuid, device))?;
        // Writes one number.
        call!(cuDeviceTotalMem_v2(&raw mut total, device))?;
        let bytes = name.map(c_char::cast_unsigned);
        let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(DeviceInfo {
            ordinal: usize::try_from(ordinal).unwrap_or_default(),
            name: name.to_string_lossy().into_owned(),
            uuid,
            total_bytes: total as u64,
        })
    }

    /// Makes this thread one that uses a device. It belongs to the thread.
    ///
    /// # Errors
    ///
    /// If the driver refuses, for instance for want of memory.
    pub fn open(self, ordinal: usize) -> Result<Context, CudaError> {
        let (mut device, mut context, mut stream) = (0, ptr::null_mut(), ptr::null_mut());
        let ordinal = c_int::try_from(ordinal).unwrap_or(c_int::MAX);
        // Writes one number.
        call!(cuDeviceGet(&raw mut device, ordinal))?;
        // Writes one pointer. The context is the one that all of this process shares.
        call!(cuDevicePrimaryCtxRetain(&raw mut context, device))?;
        // From here on `Drop` gives it back.
        let mut opened = Context { device, stream, not_send: PhantomData };
        // The context is there as long as it is retained.
        call!(cuCtxSetCurrent(context))?;
        // Writes one pointer.
        call!(cuStreamCreate(&raw mut stream, NON_BLOCKING))?;
        opened.stream = stream;
        Ok(opened)
    }
}

/// What a thread needs to use a device.
#[derive(Debug)]
pub struct Context {
    device: CUdevice,
    stream: CUstream,
    /// The driver keeps the current context by thread.
    not_send: PhantomData<*mut ()>,
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.stream.is_null() {
            // The stream is this one's own, and nothing is under way in it: each call here waits.
            let _ = call!(cuStreamDestroy_v2(self.stream));
        }
        // Was retained when this was made.
        let _ = call!(cuDevicePrimaryCtxRelease_v2(self.device));
    }
}

impl Context {
    /// How much memory of the device is free, and how much it has. In bytes.
    ///
    /// # Errors
    ///
    /// If the driver does not say.
    pub fn memory(&self) -> Result<(u64, u64), CudaError> {
        let (mut free, mut total) = (0, 0);
        // Writes two numbers.
        call!(cuMemGetInfo_v2(&raw mut free, &raw mut total))?;
        Ok((free as u64, total as u64))
    }

    /// Allocates memory. Returns its address and the handle by which other processes open it.
    ///
    /// # Errors
    ///
    /// If the driver refuses; nothing is allocated then.
    pub fn allocate(
        &self,
        size_bytes: u64,
    ) -> Result<(u64, [u8; DeviceBlock::HANDLE_BYTES]), CudaError> {
        let too_large = CudaError { code: CudaError::OUT_OF_MEMORY, call: "cuMemAlloc_v2" };
        let size = usize::try_from(size_bytes).map_err(|_| too_large)?;
        let mut address = 0;
        // Writes one number.
        call!(cuMemAlloc_v2(&raw mut address, size))?;
        let mut handle = CUipcMemHandle { reserved: [0; DeviceBlock::HANDLE_BYTES] };
        // Writes the handle; the address is that of an allocation of this process.
        match call!(cuIpcGetMemHandle(&raw mut handle, address)) {
            Ok(()) => Ok((address, handle.reserved.map(c_char::cast_unsigned))),
            Err(error) => {
                self.free(address)?;
                Err(error)
            }
        }
    }

    /// Frees what [`Context::allocate`] has returned. Other processes that have it open keep it.
    ///
    /// # Errors
    ///
    /// If the driver does not know it, or the device does not work any more.
    pub fn free(&self, address: u64) -> Result<(), CudaError> {
        // The driver knows its allocations and refuses other addresses.
        call!(cuMemFree_v2(address))
    }

    /// Fills memory of the device with zeros.
    ///
    /// # Errors
    ///
    /// As for [`Context::copy_out`].
    pub fn clear(&self, address: u64, size_bytes: u64) -> Result<(), CudaError> {
        let size = usize::try_from(size_bytes).unwrap_or(usize::MAX);
        // The driver checks the range; only memory of the device is written.
        call!(cuMemsetD8Async(address, 0, size, self.stream))?;
        self.wait()
    }

    /// Copies as many bytes as `out` has from the device.
    ///
    /// # Errors
    ///
    /// If the device does not work any more, or the bytes are not in one of its allocations.
    pub fn copy_out(&self, address: u64, out: &mut [u8]) -> Result<(), CudaError> {
        // Writes to all of `out`, which is borrowed until the copy is complete.
        let copied =
            call!(cuMemcpyDtoHAsync_v2(out.as_mut_ptr().cast(), address, out.len(), self.stream));
        copied.and(self.wait())
    }

    /// Copies all bytes of `contents` to the device.
    ///
    /// # Errors
    ///
    /// As for [`Context::copy_out`].
    pub fn copy_in(&self, contents: &[u8], address: u64) -> Result<(), CudaError> {
        let (from, length) = (contents.as_ptr().cast(), contents.len());
        // Reads all of `contents`, which is borrowed until the copy is complete.
        let copied = call!(cuMemcpyHtoDAsync_v2(address, from, length, self.stream));
        copied.and(self.wait())
    }

    /// Waits until all that was begun is complete. If that fails, the device has stopped.
    fn wait(&self) -> Result<(), CudaError> {
        // The stream is this one's own.
        call!(cuStreamSynchronize(self.stream))
    }

    /// Allocates page-locked memory of the host, which the device copies to and from at full speed.
    ///
    /// # Errors
    ///
    /// If the driver or the kernel refuses.
    pub fn allocate_host(&self, size_bytes: u64) -> Result<HostBuffer, CudaError> {
        let error = CudaError { code: CudaError::OUT_OF_MEMORY, call: "cuMemHostAlloc" };
        let length = usize::try_from(size_bytes).map_err(|_| error)?;
        let mut start = ptr::null_mut();
        // Writes one pointer.
        call!(cuMemHostAlloc(&raw mut start, length, PORTABLE))?;
        let start = ptr::NonNull::new(start.cast()).ok_or(error)?;
        Ok(HostBuffer { start, length, not_send: PhantomData })
    }

    /// Opens memory of another process, and returns its address here. What is behind the memory in
    /// the same allocation of the driver can be reached too, see [`Context::range`].
    ///
    /// # Errors
    ///
    /// If the driver refuses the handle.
    pub fn open_handle(&self, handle: [u8; DeviceBlock::HANDLE_BYTES]) -> Result<u64, CudaError> {
        let handle = CUipcMemHandle { reserved: handle.map(u8::cast_signed) };
        let mut address = 0;
        // Writes one number. The driver checks the handle.
        call!(cuIpcOpenMemHandle_v2(&raw mut address, handle, LAZY_PEER_ACCESS))?;
        Ok(address)
    }

    /// Closes what [`Context::open_handle`] has opened.
    ///
    /// # Errors
    ///
    /// If it was not open.
    pub fn close_handle(&self, address: u64) -> Result<(), CudaError> {
        // The driver knows what is open and refuses other addresses.
        call!(cuIpcCloseMemHandle(address))
    }

    /// The allocation that an address lies in: where it starts, and how many bytes it has.
    ///
    /// # Errors
    ///
    /// If it lies in none.
    pub fn range(&self, address: u64) -> Result<(u64, u64), CudaError> {
        let (mut start, mut length) = (0, 0);
        // Writes two numbers.
        call!(cuMemGetAddressRange_v2(&raw mut start, &raw mut length, address))?;
        Ok((start, length as u64))
    }
}

/// Page-locked memory of the host.
#[derive(Debug)]
pub struct HostBuffer {
    start: ptr::NonNull<u8>,
    length: usize,
    /// It is freed by a thread that uses a device.
    not_send: PhantomData<*mut ()>,
}

impl HostBuffer {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the driver has allocated so many bytes here, which came from the kernel with
        // some value. Nobody else has a pointer to them but copies, which borrow them.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }

    /// Its bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the buffer is borrowed for writing.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        // The driver has allocated it, and nobody uses it any more.
        let _ = call!(cuMemFreeHost(self.start.as_ptr().cast()));
    }
}
