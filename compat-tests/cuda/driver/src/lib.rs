//! A stand-in for NVIDIA's driver library, so that everything but the device itself can be tested
//! where there is no GPU.
//!
//! Memory of a "device" is an anonymous file that is mapped into the process which allocates it, so
//! that its address can be used like any other. What is exported names the file by its process and
//! descriptor, and another process opens it from there. As with the real driver (measured on an
//! H200), allocations below 2 MiB share pieces of 2 MiB, each with a handle of its own; a handle
//! cannot be opened in the process that made it; freeing memory that another process has open
//! leaves it what it has; after certain errors a device refuses everything.
//!
//! Set by the environment:
//!
//! * `STAND_IN_CUDA_DIR`: a folder through which processes share what memory they use, and where
//!   faults are ordered, see [`faults`]. Without it each process has devices of its own.
//! * `STAND_IN_CUDA_DEVICES`: the memory of each device in MiB, as in `1024,512`; nothing after the
//!   equals sign is no device.
//! * `STAND_IN_CUDA_VERSION`: which version of CUDA the driver is for, 12080 for 12.8.
//! * `STAND_IN_CUDA_INIT`: what `cuInit` answers, in place of what it should.
//!
//! What it does not do: anything that runs on a device, memory that a freed allocation still takes
//! up while others have it open, limits on page-locked memory, the time that things take.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "C calls these; the pointers are the caller's")]
#![allow(clippy::disallowed_methods, reason = "this is the outside world, of a test")]

mod calls;
mod faults;
mod machine;
mod memory;
mod state;

/// What the driver answers.
mod code {
    pub(crate) const INVALID_VALUE: i32 = 1;
    pub(crate) const OUT_OF_MEMORY: i32 = 2;
    pub(crate) const NOT_INITIALIZED: i32 = 3;
    pub(crate) const NO_DEVICE: i32 = 100;
    pub(crate) const INVALID_DEVICE: i32 = 101;
    pub(crate) const INVALID_CONTEXT: i32 = 201;
    pub(crate) const OPERATING_SYSTEM: i32 = 304;
}
