//! Devices other than host memory: GPUs, through NVIDIA's driver.
//!
//! Objects on a device live in memory that was allocated in the device's primary context and can
//! be opened by other processes through CUDA IPC. A worker thread for each device does everything
//! that takes longer than a look into a table, see [`worker`].

mod cache;
pub mod doctor;
#[allow(unsafe_code)]
pub mod driver;
pub mod worker;

pub use self::cache::BlockCache;
