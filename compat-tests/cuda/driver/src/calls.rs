//! The functions of the driver that are needed here, with the driver's own names and numbers.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::{env, ptr, slice, thread};

use crate::code;
use crate::state::{HANDLE_BYTES, State, lock, with_contexts};

/// What a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Driver,
    Context,
}

/// Does a call: first what was ordered to go wrong, then what it needs, then the call itself, which
/// is given the device of the current context.
fn call(
    name: &str,
    needs: Needs,
    body: impl FnOnce(&mut State, usize) -> Result<(), c_int>,
) -> c_int {
    let mut guard = lock();
    let state = guard.as_mut().expect("it was made");
    let device = with_contexts(|contexts| contexts.last().copied());
    let fault = state.faults.next(state.folder.clone().as_deref(), name);
    if !fault.delay.is_zero() {
        drop(guard);
        thread::sleep(fault.delay);
        guard = lock();
    }
    let state = guard.as_mut().expect("it was made");
    if let Some(code) = fault.code {
        state.note(device, code);
        return code;
    }
    if needs != Needs::Nothing && !state.is_initialised {
        return code::NOT_INITIALIZED;
    }
    if needs == Needs::Context {
        let Some(device) = device else { return code::INVALID_CONTEXT };
        if let Some(code) = state.lost[device] {
            return code;
        }
    }
    match body(state, device.unwrap_or(0)) {
        Ok(()) => 0,
        Err(code) => code,
    }
}

/// Writes a result to where the caller wants it.
fn put<T>(out: *mut T, value: T) -> Result<(), c_int> {
    if out.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: by the contract of the driver it points to a place for one value.
    unsafe { out.write(value) };
    Ok(())
}

fn known(state: &State, device: c_int) -> Result<usize, c_int> {
    let index = usize::try_from(device).ok().filter(|index| *index < state.devices.len());
    index.ok_or(code::INVALID_DEVICE)
}

/// Contexts are told apart by their device; no context is null.
fn context(device: usize) -> *mut c_void {
    ptr::without_provenance_mut(device + 1)
}

fn device_of(context: *mut c_void) -> usize {
    context.addr() - 1
}

/// Copies between device and device, or device and host. Addresses of devices were checked.
fn copy(to: *mut c_void, from: *const c_void, bytes: usize) {
    // SAFETY: one side is memory of a device that is mapped here, as far as `bytes`; the other is
    // so too, or the caller's by the contract of the driver. They may overlap.
    unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), bytes) };
}

fn at(address: u64) -> *mut c_void {
    address as *mut c_void
}

// ---- the driver and its devices ----

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> c_int {
    call("cuInit", Needs::Nothing, |state, _| {
        if let Some(code) = env::var("STAND_IN_CUDA_INIT").ok().and_then(|text| text.parse().ok()) {
            return Err(code);
        }
        if state.devices.is_empty() {
            return Err(code::NO_DEVICE);
        }
        state.is_initialised = true;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    call("cuDriverGetVersion", Needs::Nothing, |_, _| {
        let text = env::var("STAND_IN_CUDA_VERSION").unwrap_or_default();
        put(version, text.parse().unwrap_or(12_080))
    })
}

/// The names of the codes that are used here.
fn name_of(code: c_int) -> Option<&'static std::ffi::CStr> {
    Some(match code {
        0 => c"CUDA_SUCCESS",
        code::INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        code::OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        code::NOT_INITIALIZED => c"CUDA_ERROR_NOT_INITIALIZED",
        code::NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        code::INVALID_DEVICE => c"CUDA_ERROR_INVALID_DEVICE",
        code::INVALID_CONTEXT => c"CUDA_ERROR_INVALID_CONTEXT",
        code::OPERATING_SYSTEM => c"CUDA_ERROR_OPERATING_SYSTEM",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        719 => c"CUDA_ERROR_LAUNCH_FAILED",
        999 => c"CUDA_ERROR_UNKNOWN",
        _ => return None,
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorName(code: c_int, name: *mut *const c_char) -> c_int {
    let found = name_of(code).map_or(ptr::null(), std::ffi::CStr::as_ptr);
    let status = if found.is_null() { code::INVALID_VALUE } else { 0 };
    put(name, found).err().unwrap_or(status)
}

#[unsafe(no_mangle)]
extern "C" fn cuGetErrorString(code: c_int, text: *mut *const c_char) -> c_int {
    cuGetErrorName(code, text)
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    call("cuDeviceGetCount", Needs::Driver, |state, _| {
        put(count, c_int::try_from(state.devices.len()).unwrap_or(c_int::MAX))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    call("cuDeviceGet", Needs::Driver, |state, _| {
        known(state, ordinal)?;
        put(device, ordinal)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> c_int {
    call("cuDeviceGetName", Needs::Driver, |state, _| {
        let index = known(state, device)?;
        let text = CString::new(format!("stand-in {index}")).unwrap_or_default();
        let text = text.as_bytes_with_nul();
        if name.is_null() || usize::try_from(length).is_ok_and(|length| length < text.len()) {
            return Err(code::INVALID_VALUE);
        }
        copy(name.cast(), text.as_ptr().cast(), text.len());
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> c_int {
    call("cuDeviceGetUuid_v2", Needs::Driver, |state, _| {
        let index = known(state, device)?;
        put(uuid, [u8::try_from(index).unwrap_or(u8::MAX); 16])
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> c_int {
    call("cuDeviceTotalMem_v2", Needs::Driver, |state, _| {
        let index = known(state, device)?;
        put(bytes, usize::try_from(state.devices[index]).unwrap_or(usize::MAX))
    })
}

// ---- contexts ----

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRetain(out: *mut *mut c_void, device: c_int) -> c_int {
    call("cuDevicePrimaryCtxRetain", Needs::Driver, |state, _| {
        let index = known(state, device)?;
        if let Some(code) = state.lost[index] {
            return Err(code);
        }
        put(out, context(index))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> c_int {
    call("cuDevicePrimaryCtxRelease_v2", Needs::Driver, |state, _| known(state, device).map(drop))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: *mut c_void) -> c_int {
    call("cuCtxSetCurrent", Needs::Driver, |_, _| {
        with_contexts(|contexts| {
            contexts.pop();
            if !context.is_null() {
                contexts.push(device_of(context));
            }
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPushCurrent_v2(context: *mut c_void) -> c_int {
    call("cuCtxPushCurrent_v2", Needs::Driver, |_, _| {
        if context.is_null() {
            return Err(code::INVALID_CONTEXT);
        }
        with_contexts(|contexts| contexts.push(device_of(context)));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxPopCurrent_v2(out: *mut *mut c_void) -> c_int {
    call("cuCtxPopCurrent_v2", Needs::Driver, |_, _| {
        let popped = with_contexts(Vec::pop).ok_or(code::INVALID_CONTEXT)?;
        if out.is_null() { Ok(()) } else { put(out, context(popped)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSynchronize() -> c_int {
    call("cuCtxSynchronize", Needs::Context, |_, _| Ok(()))
}

// ---- memory ----

#[unsafe(no_mangle)]
extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    call("cuMemGetInfo_v2", Needs::Context, |state, device| {
        let total_bytes = state.devices[device];
        let free_bytes = total_bytes.saturating_sub(state.usage.used_bytes(device));
        put(free, usize::try_from(free_bytes).unwrap_or(usize::MAX))?;
        put(total, usize::try_from(total_bytes).unwrap_or(usize::MAX))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    call("cuMemAlloc_v2", Needs::Context, |state, device| {
        let allocated = state.allocate(device, bytes as u64)?;
        put(address, allocated)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    // The original server has no current context when it frees, and the real driver finds it.
    call("cuMemFree_v2", Needs::Driver, |state, _| state.free(address))
}

#[unsafe(no_mangle)]
extern "C" fn cuMemGetAddressRange_v2(start: *mut u64, bytes: *mut usize, address: u64) -> c_int {
    call("cuMemGetAddressRange_v2", Needs::Context, |state, _| {
        let (found, length, _) = state.range(address).ok_or(code::INVALID_VALUE)?;
        if !start.is_null() {
            put(start, found)?;
        }
        if bytes.is_null() {
            return Ok(());
        }
        put(bytes, usize::try_from(length).unwrap_or(usize::MAX))
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcGetMemHandle(handle: *mut [u8; HANDLE_BYTES], address: u64) -> c_int {
    call("cuIpcGetMemHandle", Needs::Context, |state, _| put(handle, state.export(address)?))
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcOpenMemHandle_v2(address: *mut u64, handle: IpcHandle, _flags: c_uint) -> c_int {
    call("cuIpcOpenMemHandle_v2", Needs::Context, |state, _| put(address, state.open(handle.0)?))
}

/// Passed by value, as C does it.
#[repr(C)]
struct IpcHandle([u8; HANDLE_BYTES]);

#[unsafe(no_mangle)]
extern "C" fn cuIpcCloseMemHandle(address: u64) -> c_int {
    call("cuIpcCloseMemHandle", Needs::Context, |state, _| state.close(address))
}

/// What kind of attribute is asked for.
const CONTEXT: c_int = 1;
const MEMORY_TYPE: c_int = 2;
const DEVICE_POINTER: c_int = 3;

#[unsafe(no_mangle)]
extern "C" fn cuPointerGetAttribute(out: *mut c_void, attribute: c_int, address: u64) -> c_int {
    call("cuPointerGetAttribute", Needs::Context, |state, _| {
        let (_, _, device) = state.range(address).ok_or(code::INVALID_VALUE)?;
        match attribute {
            CONTEXT => put(out.cast(), context(device)),
            // That of a device.
            MEMORY_TYPE => put(out.cast::<c_uint>(), 2),
            DEVICE_POINTER => put(out.cast(), address),
            _ => Err(code::INVALID_VALUE),
        }
    })
}

// ---- page-locked memory of the host ----

#[unsafe(no_mangle)]
extern "C" fn cuMemHostAlloc(out: *mut *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    call("cuMemHostAlloc", Needs::Context, |state, _| {
        // SAFETY: it returns new memory, or null.
        let start = unsafe { libc::calloc(1, bytes) };
        if bytes == 0 || start.is_null() {
            return Err(code::OUT_OF_MEMORY);
        }
        state.host.insert(start as u64, bytes as u64);
        put(out, start)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemFreeHost(start: *mut c_void) -> c_int {
    call("cuMemFreeHost", Needs::Context, |state, _| {
        state.host.remove(&(start as u64)).ok_or(code::INVALID_VALUE)?;
        // SAFETY: it came from `calloc`, and is forgotten now.
        unsafe { libc::free(start) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemHostGetDevicePointer_v2(
    out: *mut u64,
    start: *mut c_void,
    _flags: c_uint,
) -> c_int {
    call("cuMemHostGetDevicePointer_v2", Needs::Context, |state, _| {
        let found = state.host.range(..=start as u64).next_back();
        let (base, bytes) = found.ok_or(code::INVALID_VALUE)?;
        if start as u64 - base >= *bytes {
            return Err(code::INVALID_VALUE);
        }
        put(out, start as u64)
    })
}

// ---- copies ----

fn copy_in(name: &str, to: u64, from: *const c_void, bytes: usize) -> c_int {
    call(name, Needs::Context, |state, _| {
        state.check(to, bytes as u64)?;
        copy(at(to), from, bytes);
        Ok(())
    })
}

fn copy_out(name: &str, to: *mut c_void, from: u64, bytes: usize) -> c_int {
    call(name, Needs::Context, |state, _| {
        state.check(from, bytes as u64)?;
        copy(to, at(from), bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> c_int {
    copy_in("cuMemcpyHtoD_v2", to, from, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    _stream: *mut c_void,
) -> c_int {
    copy_in("cuMemcpyHtoDAsync_v2", to, from, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> c_int {
    copy_out("cuMemcpyDtoH_v2", to, from, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: u64,
    bytes: usize,
    _stream: *mut c_void,
) -> c_int {
    copy_out("cuMemcpyDtoHAsync_v2", to, from, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> c_int {
    call("cuMemcpyDtoD_v2", Needs::Context, |state, _| {
        state.check(from, bytes as u64)?;
        state.check(to, bytes as u64)?;
        copy(at(to), at(from), bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyPeer(
    to: u64,
    _to_context: *mut c_void,
    from: u64,
    _from_context: *mut c_void,
    bytes: usize,
) -> c_int {
    cuMemcpyDtoD_v2(to, from, bytes)
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(address: u64, value: u8, bytes: usize, _: *mut c_void) -> c_int {
    call("cuMemsetD8Async", Needs::Context, |state, _| {
        state.check(address, bytes as u64)?;
        // SAFETY: it was checked that so much memory of a device is mapped there.
        unsafe { slice::from_raw_parts_mut(at(address).cast::<u8>(), bytes) }.fill(value);
        Ok(())
    })
}

// ---- streams, in which everything is done by the time that it is asked for ----

#[unsafe(no_mangle)]
extern "C" fn cuStreamCreate(stream: *mut *mut c_void, _flags: c_uint) -> c_int {
    call("cuStreamCreate", Needs::Context, |_, _| put(stream, ptr::dangling_mut()))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(_stream: *mut c_void) -> c_int {
    call("cuStreamDestroy_v2", Needs::Context, |_, _| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(_stream: *mut c_void) -> c_int {
    call("cuStreamSynchronize", Needs::Context, |_, _| Ok(()))
}
