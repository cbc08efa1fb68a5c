//! A thread for each device, which does what takes longer than a look into a table.
//!
//! Jobs are done one after the other, so that memory that is freed before other memory is asked
//! for is free by then. The context on the device is made for the first job that needs it.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::driver::{Context, CudaError, Driver, HostBuffer};
use crate::ids::{DeviceBlock, DeviceNum, ExternalKey};
use crate::store::TransferId;

/// So much of a device's memory is left to others, but not more than a thirty-second of it:
/// contexts of clients need some to work at all.
const HEADROOM_BYTES: u64 = 256 << 20;

/// Something to do.
#[derive(Debug)]
pub enum Job {
    /// Allocate memory for a new object.
    Allocate {
        /// To be handed back.
        transfer: TransferId,
        /// How much.
        size_bytes: u64,
    },
    /// Free memory.
    Free(Box<DeviceBlock>),
    /// Fill memory with zeros.
    Clear(Box<DeviceBlock>),
    /// Copy an object out.
    Spill {
        /// To be handed back.
        transfer: TransferId,
        /// Under which name to keep it.
        key: ExternalKey,
        /// Where it is; `None` if it is empty.
        block: Option<Box<DeviceBlock>>,
        /// How many bytes of the block are the object.
        contents_bytes: u64,
        /// Keep it in host memory; if not, in the external store at once.
        is_parked: bool,
    },
    /// Copy an object in.
    Restore {
        /// To be handed back.
        transfer: TransferId,
        /// Under which name it is kept.
        key: ExternalKey,
        /// Where it goes; if there is none, memory is allocated first.
        block: Option<Box<DeviceBlock>>,
        /// How much memory that is; 0 for an empty object.
        size_bytes: u64,
        /// How many bytes of that are the object.
        contents_bytes: u64,
    },
    /// Move a copy from host memory to the external store.
    Demote(ExternalKey),
    /// Drop a copy, wherever it is.
    Forget(ExternalKey),
}

/// What became of a job.
#[derive(Debug)]
pub enum Report {
    /// Of an allocation of so many bytes; there is no block if it failed.
    Allocated(TransferId, u64, Option<Box<DeviceBlock>>),
    /// This block is clear.
    Cleared(Box<DeviceBlock>),
    /// Of a copy out.
    Spilled(TransferId, bool),
    /// Of a copy in, with the block if one had to be allocated, and how many bytes could not be.
    Restored(TransferId, bool, Option<Box<DeviceBlock>>, u64),
    /// A copy could not be moved to the external store.
    CopyLost(ExternalKey),
    /// The device does not work any more.
    Lost,
}

/// Where copies go that host memory has no room for.
pub trait Overflow: Send {
    /// Keeps a copy. Whether that worked.
    fn put(&self, key: ExternalKey, contents: Vec<u8>) -> bool;
    /// Gives a copy back, if it can.
    fn get(&self, key: ExternalKey) -> Option<Vec<u8>>;
    /// Drops a copy.
    fn remove(&self, key: ExternalKey);
}

/// What a worker is made with.
pub struct Setup {
    /// The driver.
    pub driver: Driver,
    /// The device's number in the driver's order.
    pub ordinal: usize,
    /// Its number for clients.
    pub device: DeviceNum,
    /// New memory is filled with zeros.
    pub clears: bool,
    /// How much page-locked host memory may be kept, in bytes.
    pub parking_bytes: u64,
    /// The external store, if there is one.
    pub overflow: Option<Box<dyn Overflow>>,
    /// Takes what is reported.
    pub report: Box<dyn Fn(Report) + Send>,
}

/// Starts a thread, and returns where its jobs go.
///
/// # Errors
///
/// If the system grants no thread.
pub fn start(setup: Setup) -> io::Result<Sender<Job>> {
    let (sender, receiver) = mpsc::channel();
    let builder = thread::Builder::new().name(format!("plasma-cuda-{}", setup.ordinal));
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the threads of devices come from"
    )]
    builder.spawn(move || Worker::new(setup).work(&receiver))?;
    Ok(sender)
}

struct Worker {
    setup: Setup,
    /// Copies of objects; an empty object has no buffer.
    copies: HashMap<ExternalKey, Option<HostBuffer>>,
    /// Buffers that are free, by length: page-locking memory takes longer than copying to it.
    spare: HashMap<u64, Vec<HostBuffer>>,
    /// The bytes of both.
    locked_bytes: u64,
    is_lost: bool,
    /// Last, since it is used to free what the others have.
    context: Option<Context>,
}

impl Worker {
    fn new(setup: Setup) -> Self {
        Self {
            setup,
            copies: HashMap::new(),
            spare: HashMap::new(),
            locked_bytes: 0,
            is_lost: false,
            context: None,
        }
    }

    fn work(mut self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            if let Some(report) = self.do_job(job) {
                (self.setup.report)(report);
            }
        }
    }

    fn do_job(&mut self, job: Job) -> Option<Report> {
        match job {
            Job::Allocate { transfer, size_bytes } => {
                let block = self.allocate(size_bytes);
                let block = self.checked("allocate memory", block);
                Some(Report::Allocated(transfer, size_bytes, block))
            }
            Job::Free(block) => {
                let freed = self.context().and_then(|context| context.free(block.address));
                self.checked("free memory", freed);
                None
            }
            Job::Clear(block) => {
                let cleared = self
                    .context()
                    .and_then(|context| context.clear(block.address, block.size_bytes));
                match self.checked("clear memory", cleared) {
                    Some(()) => Some(Report::Cleared(block)),
                    // What is not clear is not handed out again.
                    None => self.do_job(Job::Free(block)),
                }
            }
            Job::Spill { transfer, key, block, contents_bytes, is_parked } => {
                let done = self.spill(key, block.as_deref(), contents_bytes, is_parked);
                Some(Report::Spilled(transfer, done))
            }
            Job::Restore { transfer, key, block, size_bytes, contents_bytes } => {
                Some(self.restore(transfer, key, block, size_bytes, contents_bytes))
            }
            Job::Demote(key) => {
                let moved = match self.copies.remove(&key) {
                    Some(buffer) => {
                        let contents = buffer.as_ref().map_or(Vec::new(), |b| b.bytes().to_vec());
                        self.keep(buffer);
                        self.put_outside(key, contents)
                    }
                    // It was forgotten in the meantime.
                    None => true,
                };
                (!moved).then_some(Report::CopyLost(key))
            }
            Job::Forget(key) => {
                match (self.copies.remove(&key), &self.setup.overflow) {
                    (Some(buffer), _) => self.keep(buffer),
                    (None, Some(outside)) => outside.remove(key),
                    (None, None) => {}
                }
                None
            }
        }
    }

    /// The context, made if need be.
    fn context(&mut self) -> Result<&Context, CudaError> {
        if self.is_lost {
            return Err(CudaError { code: 709, call: "an earlier call" });
        }
        if self.context.is_none() {
            self.context = Some(self.setup.driver.open(self.setup.ordinal)?);
        }
        Ok(self.context.as_ref().expect("it was made just now"))
    }

    /// Logs an error, and sees whether the device is lost by it.
    fn checked<T>(&mut self, what: &str, result: Result<T, CudaError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(_) if self.is_lost => None,
            Err(error) => {
                let ordinal = self.setup.ordinal;
                if error.is_final() {
                    log::error!("device {ordinal} is lost, and all objects on it: {error}");
                    self.is_lost = true;
                    (self.setup.report)(Report::Lost);
                } else if error.code == CudaError::OUT_OF_MEMORY {
                    log::debug!("cannot {what} on device {ordinal}: {error}");
                } else {
                    log::warn!("cannot {what} on device {ordinal}: {error}");
                }
                None
            }
        }
    }

    fn allocate(&mut self, size_bytes: u64) -> Result<Box<DeviceBlock>, CudaError> {
        let (device, clears) = (self.setup.device, self.setup.clears);
        let context = self.context()?;
        let (free_bytes, total_bytes) = context.memory()?;
        if size_bytes.saturating_add(HEADROOM_BYTES.min(total_bytes / 32)) > free_bytes {
            return Err(CudaError { code: CudaError::OUT_OF_MEMORY, call: "cuMemGetInfo_v2" });
        }
        let (address, handle) = context.allocate(size_bytes)?;
        if clears {
            context.clear(address, size_bytes)?;
        }
        Ok(Box::new(DeviceBlock { device, address, size_bytes, handle }))
    }

    fn spill(
        &mut self,
        key: ExternalKey,
        block: Option<&DeviceBlock>,
        contents_bytes: u64,
        is_parked: bool,
    ) -> bool {
        let Some(block) = block else {
            self.copies.insert(key, None);
            return true;
        };
        let what = "copy an object to host memory";
        if is_parked {
            let copied = self.copy_to_buffer(block, contents_bytes);
            let Some(buffer) = self.checked(what, copied) else { return false };
            self.copies.insert(key, Some(buffer));
            return true;
        }
        let copied = self.copy_to_vector(block, contents_bytes);
        let Some(contents) = self.checked(what, copied) else { return false };
        self.put_outside(key, contents)
    }

    fn copy_to_buffer(
        &mut self,
        block: &DeviceBlock,
        contents_bytes: u64,
    ) -> Result<HostBuffer, CudaError> {
        let mut buffer = self.take_buffer(block.size_bytes)?;
        let length = usize::try_from(contents_bytes).unwrap_or(usize::MAX);
        let out = buffer.bytes_mut().get_mut(..length).unwrap_or_default();
        match self.context().and_then(|context| context.copy_out(block.address, out)) {
            Ok(()) => Ok(buffer),
            Err(error) => {
                self.keep(Some(buffer));
                Err(error)
            }
        }
    }

    fn copy_to_vector(
        &mut self,
        block: &DeviceBlock,
        contents_bytes: u64,
    ) -> Result<Vec<u8>, CudaError> {
        let error = CudaError { code: CudaError::OUT_OF_MEMORY, call: "the allocator of the host" };
        let length = usize::try_from(contents_bytes).map_err(|_| error)?;
        let mut contents = Vec::new();
        contents.try_reserve_exact(length).map_err(|_| error)?;
        contents.resize(length, 0);
        self.context()?.copy_out(block.address, &mut contents)?;
        Ok(contents)
    }

    fn restore(
        &mut self,
        transfer: TransferId,
        key: ExternalKey,
        block: Option<Box<DeviceBlock>>,
        size_bytes: u64,
        contents_bytes: u64,
    ) -> Report {
        let mut allocated = None;
        if block.is_none() && size_bytes > 0 {
            let block = self.allocate(size_bytes);
            allocated = self.checked("allocate memory", block);
            if allocated.is_none() {
                return Report::Restored(transfer, false, None, size_bytes);
            }
        }
        let done = match block.as_ref().or(allocated.as_ref()) {
            Some(block) => self.copy_back(key, block.address, contents_bytes),
            None => true,
        };
        Report::Restored(transfer, done, allocated, 0)
    }

    /// The copy is dropped only when that is asked for.
    fn copy_back(&mut self, key: ExternalKey, address: u64, contents_bytes: u64) -> bool {
        let what = "copy an object back";
        let length = usize::try_from(contents_bytes).unwrap_or(usize::MAX);
        let copied = match self.copies.remove(&key) {
            Some(buffer) => {
                let contents = buffer.as_ref().and_then(|buffer| buffer.bytes().get(..length));
                let copied = self
                    .context()
                    .and_then(|context| context.copy_in(contents.unwrap_or_default(), address));
                self.copies.insert(key, buffer);
                copied
            }
            None => {
                let outside = self.setup.overflow.as_ref().and_then(|outside| outside.get(key));
                let contents = outside.filter(|contents| contents.len() >= length);
                let Some(contents) = contents else {
                    log::warn!("cannot {what}: there is no copy in the external store");
                    return false;
                };
                self.context().and_then(|context| context.copy_in(&contents[..length], address))
            }
        };
        self.checked(what, copied).is_some()
    }

    fn put_outside(&self, key: ExternalKey, contents: Vec<u8>) -> bool {
        self.setup.overflow.as_ref().is_some_and(|outside| outside.put(key, contents))
    }

    // ---- page-locked memory ----

    fn take_buffer(&mut self, size_bytes: u64) -> Result<HostBuffer, CudaError> {
        if let Some(buffer) = self.spare.get_mut(&size_bytes).and_then(Vec::pop) {
            return Ok(buffer);
        }
        // Free buffers of other sizes are in the way.
        while self.locked_bytes.saturating_add(size_bytes) > self.setup.parking_bytes {
            if !self.drop_spare() {
                break;
            }
        }
        let buffer = self.context()?.allocate_host(size_bytes)?;
        self.locked_bytes += size_bytes;
        Ok(buffer)
    }

    fn keep(&mut self, buffer: Option<HostBuffer>) {
        if let Some(buffer) = buffer {
            self.spare.entry(buffer.bytes().len() as u64).or_default().push(buffer);
        }
    }

    fn drop_spare(&mut self) -> bool {
        let Some(size_bytes) = self.spare.keys().next().copied() else { return false };
        match self.spare.get_mut(&size_bytes).and_then(Vec::pop) {
            Some(_) => self.locked_bytes -= size_bytes,
            None => {
                self.spare.remove(&size_bytes);
            }
        }
        true
    }
}
