//! The GPUs that are served: what the loop knows of them, and their workers.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::mpsc::{self, Sender};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use slab::Slab;

use super::worker::{Done, Job as ExternalJob, Reports};
use crate::config::{Config, Cuda, CudaDevices};
use crate::device::BlockCache;
use crate::device::driver::{DeviceInfo, Driver};
use crate::device::worker::{self, Job, Overflow, Report, Setup};
use crate::ids::{ClientId, DeviceBlock, DeviceNum, ExternalKey};
use crate::store::{Effect, TransferId};
use crate::sys::process;

/// Objects take up whole multiples of this: what the driver allocates smaller shares a piece of
/// this size, all of which can be reached by whoever opens a part of it.
const GRANULE_BYTES: u64 = 2 << 20;

/// The same where small objects may share: what the driver aligns to.
const SMALL_GRANULE_BYTES: u64 = 512;

/// What was found at the start.
pub(super) struct Found {
    driver: Option<Driver>,
    /// The devices that are served, and how many bytes objects may take up there.
    served: Vec<(DeviceInfo, u64)>,
}

impl Found {
    /// Loads the driver and chooses among its devices. What cannot be used is logged.
    ///
    /// # Errors
    ///
    /// A sentence, if a device that was named is not there.
    pub(super) fn look(cuda: &Cuda) -> Result<Self, String> {
        let none = Self { driver: None, served: Vec::new() };
        if cuda.devices == CudaDevices::These(Vec::new()) {
            return Ok(none);
        }
        let found = Driver::load()
            .map_err(|error| error.to_string())
            .and_then(|driver| Ok((driver, driver.devices().map_err(|error| error.to_string())?)));
        let (driver, devices) = match found {
            Ok(found) => found,
            Err(reason) => {
                log::info!("no GPU objects: {reason}");
                return Ok(none);
            }
        };
        let limited = cuda.memory.iter().filter_map(|(number, _)| *number);
        for number in limited {
            if !devices.iter().any(|info| info.ordinal == number) {
                return Err(format!("there is no GPU {number}, for which there is a limit"));
            }
        }
        let mut served = Vec::new();
        for info in choose(&cuda.devices, devices)? {
            let limit_bytes = cuda.limit_bytes(info.ordinal, info.total_bytes);
            log::info!(
                "GPU {} is served: {}, {}, up to {limit_bytes} of {} bytes",
                info.ordinal,
                info.name,
                info.uuid_text(),
                info.total_bytes
            );
            served.push((info, limit_bytes));
        }
        Ok(Self { driver: Some(driver), served })
    }

    /// For each device up to the last one that is served, how many bytes objects may take up.
    pub(super) fn limits_bytes(&self) -> Vec<u64> {
        let count = self.served.iter().map(|(info, _)| info.ordinal + 1).max().unwrap_or(0);
        let mut limits = vec![0; count];
        for (info, limit_bytes) in &self.served {
            limits[info.ordinal] = *limit_bytes;
        }
        limits
    }
}

fn choose(wanted: &CudaDevices, devices: Vec<DeviceInfo>) -> Result<Vec<DeviceInfo>, String> {
    let CudaDevices::These(names) = wanted else { return Ok(devices) };
    let is_called = |info: &DeviceInfo, name: &String| {
        *name == info.ordinal.to_string() || *name == info.uuid_text()
    };
    for name in names {
        if !devices.iter().any(|info| is_called(info, name)) {
            return Err(format!("there is no GPU {name}"));
        }
    }
    let is_wanted = |info: &DeviceInfo| names.iter().any(|name| is_called(info, name));
    Ok(devices.into_iter().filter(is_wanted).collect())
}

/// How much of a device's memory objects take up multiples of.
pub(super) fn granule_bytes(cuda: &Cuda) -> u64 {
    if cuda.packs_small { SMALL_GRANULE_BYTES } else { GRANULE_BYTES }
}

/// One device.
#[derive(Debug)]
struct Gpu {
    jobs: Sender<Job>,
    /// Free blocks, to be used again.
    cache: BlockCache,
    max_cached_bytes: u64,
    /// What is allocated, or will be when the jobs are done.
    allocated_bytes: u64,
    limit_bytes: u64,
    clears: bool,
}

impl Gpu {
    fn submit(&self, job: Job) {
        if self.jobs.send(job).is_err() {
            log::error!("the worker of a GPU has died");
        }
    }

    /// Makes the count of bytes allow for an allocation.
    fn make_room(&mut self, size_bytes: u64) {
        while self.allocated_bytes + size_bytes > self.limit_bytes {
            let Some(block) = self.cache.take_oldest() else { break };
            self.free(block);
        }
        self.allocated_bytes += size_bytes;
    }

    fn free(&mut self, block: Box<DeviceBlock>) {
        self.allocated_bytes -= block.size_bytes;
        self.submit(Job::Free(block));
    }

    fn keep(&mut self, block: Box<DeviceBlock>) {
        self.cache.insert(block);
        while self.cache.bytes() > self.max_cached_bytes {
            let Some(oldest) = self.cache.take_oldest() else { break };
            self.free(oldest);
        }
    }
}

/// All devices that are served.
#[derive(Debug, Default)]
pub(super) struct Gpus {
    gpus: HashMap<DeviceNum, Gpu>,
}

impl Gpus {
    /// Starts a worker for each device.
    pub(super) fn start(
        found: Found,
        config: &Config,
        reports: &Reports,
        external: Option<&Sender<ExternalJob>>,
    ) -> io::Result<Self> {
        let mut gpus = HashMap::new();
        let Some(driver) = found.driver else { return Ok(Self { gpus }) };
        let (clears, parking_bytes) = (config.zero_on_free, config.parking_bytes().unwrap_or(0));
        for (info, limit_bytes) in found.served {
            let ordinal = info.ordinal;
            let device = DeviceNum(u16::try_from(ordinal + 1).map_err(io::Error::other)?);
            let overflow =
                external.map(|jobs| Box::new(ExternalOverflow(jobs.clone())) as Box<dyn Overflow>);
            let reports = reports.clone();
            let report = Box::new(move |report| reports.report(Done::Device(device, report)));
            let setup = Setup { driver, ordinal, device, clears, parking_bytes, overflow, report };
            let gpu = Gpu {
                jobs: worker::start(setup)?,
                cache: BlockCache::default(),
                max_cached_bytes: config.cuda.cache_bytes.unwrap_or(limit_bytes / 4),
                allocated_bytes: 0,
                limit_bytes,
                clears,
            };
            gpus.insert(device, gpu);
        }
        Ok(Self { gpus })
    }

    fn gpu(&mut self, device: DeviceNum) -> &mut Gpu {
        self.gpus.get_mut(&device).expect("the store places nothing on a GPU that is not served")
    }

    pub(super) fn submit(&mut self, device: DeviceNum, job: Job) {
        self.gpu(device).submit(job);
    }

    /// Memory of exactly this size that is ready to be used.
    pub(super) fn take_block(
        &mut self,
        device: DeviceNum,
        size_bytes: u64,
    ) -> Option<Box<DeviceBlock>> {
        self.gpu(device).cache.take(size_bytes)
    }

    /// Has memory allocated.
    pub(super) fn allocate(&mut self, transfer: TransferId, device: DeviceNum, size_bytes: u64) {
        let gpu = self.gpu(device);
        gpu.make_room(size_bytes);
        gpu.submit(Job::Allocate { transfer, size_bytes });
    }

    /// Has an object copied back; `size_bytes` more have to be allocated for it.
    pub(super) fn restore(&mut self, device: DeviceNum, size_bytes: u64, job: Job) {
        let gpu = self.gpu(device);
        gpu.make_room(size_bytes);
        gpu.submit(job);
    }

    /// Takes memory back that no object is in. With `may_be_open` it is not used again: another
    /// process that still has it open keeps it, and the driver gives it back when that closes it.
    pub(super) fn take_back(&mut self, block: Box<DeviceBlock>, may_be_open: bool) {
        let gpu = self.gpu(block.device);
        if may_be_open || block.size_bytes > gpu.max_cached_bytes {
            gpu.free(block);
        } else if gpu.clears {
            gpu.submit(Job::Clear(block));
        } else {
            gpu.keep(block);
        }
    }

    /// Keeps the count of bytes up to date with what a worker did.
    fn note(&mut self, device: DeviceNum, report: &Report) {
        let gpu = self.gpu(device);
        match report {
            Report::Allocated(_, size_bytes, None) => gpu.allocated_bytes -= size_bytes,
            Report::Restored(_, _, _, not_allocated_bytes) => {
                gpu.allocated_bytes -= not_allocated_bytes;
            }
            // What was there cannot be used again, nor be freed.
            Report::Lost => gpu.cache = BlockCache::default(),
            _ => {}
        }
    }
}

/// The external store, as the worker of a GPU sees it. That one may wait.
struct ExternalOverflow(Sender<ExternalJob>);

impl Overflow for ExternalOverflow {
    fn put(&self, key: ExternalKey, contents: Vec<u8>) -> bool {
        let (answer, done) = mpsc::channel();
        self.0.send(ExternalJob::PutCopy(key, contents, answer)).is_ok()
            && done.recv().unwrap_or(false)
    }

    fn get(&self, key: ExternalKey) -> Option<Vec<u8>> {
        let (answer, contents) = mpsc::channel();
        self.0.send(ExternalJob::GetCopy(key, answer)).ok()?;
        contents.recv().ok()?
    }

    fn remove(&self, key: ExternalKey) {
        // If the thread has died, its store is gone with it.
        let _ = self.0.send(ExternalJob::Forget(key));
    }
}

/// What is known of the process of a connection that was told how to open memory of a GPU.
#[derive(Debug)]
pub(super) enum Process {
    /// This becomes readable when it has ended.
    Known(OwnedFd),
    /// It has ended already.
    Ended,
    /// The kernel does not tell.
    Unknown,
}

/// Processes that may have memory of a GPU open though their connections are gone.
#[derive(Debug, Default)]
pub(super) struct Processes(Slab<(ClientId, OwnedFd)>);

/// Their tokens begin here, far beyond those of connections.
const FIRST_PROCESS: usize = 1 << 40;

impl Processes {
    /// Has the poll tell when a process ends. `false` if it cannot.
    pub(super) fn watch(&mut self, client: ClientId, process: OwnedFd, poll: &Registry) -> bool {
        let number = process.as_raw_fd();
        let index = self.0.insert((client, process));
        let token = Token(FIRST_PROCESS + index);
        let registered = poll.register(&mut SourceFd(&number), token, Interest::READABLE);
        if registered.is_err() {
            self.0.remove(index);
        }
        registered.is_ok()
    }

    /// Whose process has ended, if the token is of one.
    pub(super) fn take(&mut self, token: Token, poll: &Registry) -> Option<ClientId> {
        let (client, process) = self.0.try_remove(token.0.checked_sub(FIRST_PROCESS)?)?;
        if let Err(error) = poll.deregister(&mut SourceFd(&process.as_raw_fd())) {
            log::debug!("a process was not polled: {error}");
        }
        Some(client)
    }

    /// Whether the token is of one.
    pub(super) fn is_token(token: Token) -> bool {
        token.0 >= FIRST_PROCESS
    }
}

// ---- the loop's part ----

impl super::Server {
    /// Does what the store wants done with a GPU, or with the process of one of its clients.
    pub(super) fn apply_to_gpu(&mut self, effect: Effect) {
        let gpus = &mut self.host.gpus;
        match effect {
            Effect::AllocateBlock { transfer, device, size_bytes } => {
                gpus.allocate(transfer, device, size_bytes);
            }
            Effect::FreeBlock { block, may_be_open } => gpus.take_back(block, may_be_open),
            Effect::SpillBlock { transfer, key, device, block, contents_bytes, is_parked } => {
                let job = Job::Spill { transfer, key, block, contents_bytes, is_parked };
                gpus.submit(device, job);
            }
            Effect::RestoreBlock { transfer, key, device, block, size_bytes, contents_bytes } => {
                let lacking_bytes = if block.is_some() { 0 } else { size_bytes };
                let job = Job::Restore { transfer, key, block, size_bytes, contents_bytes };
                gpus.restore(device, lacking_bytes, job);
            }
            Effect::Demote { device, key } => gpus.submit(device, Job::Demote(key)),
            Effect::ForgetCopy { device, key } => gpus.submit(device, Job::Forget(key)),
            Effect::WatchProcess(client) => self.identify_process(client),
            _ => unreachable!("handled by the caller"),
        }
    }

    pub(super) fn take_device_report(&mut self, device: DeviceNum, report: Report) {
        self.host.gpus.note(device, &report);
        let (now, host) = (self.clock.now, &mut self.host);
        match report {
            Report::Allocated(transfer, _, block) => {
                self.store.handle_allocated(transfer, block, host);
            }
            Report::Spilled(transfer, done) => self.store.handle_spilled(transfer, done, host),
            Report::Restored(transfer, done, block, _) => {
                self.store.handle_block_restored(now, transfer, done, block, host);
            }
            Report::CopyLost(key) => self.store.handle_copy_lost(key),
            Report::Lost => self.store.handle_device_lost(device),
            Report::Cleared(block) => host.gpus.gpu(device).keep(block),
        }
    }

    /// Takes note of the process of a connection while it is there to be asked.
    fn identify_process(&mut self, client: ClientId) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = &mut self.connections[index]
        {
            connection.process = Some(match process::open_peer(connection.stream.as_fd()) {
                Ok(process) => Process::Known(process),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Process::Ended,
                Err(error) => {
                    log::debug!("cannot tell when the process of client {client} ends: {error}");
                    Process::Unknown
                }
            });
        }
    }

    /// A connection is gone, but its process may have memory of a GPU open still.
    pub(super) fn outlive(&mut self, client: ClientId, process: Process) {
        let is_certain = match process {
            Process::Known(process) => {
                if self.processes.watch(client, process, self.poll.registry()) {
                    return;
                }
                false
            }
            Process::Ended => true,
            Process::Unknown => false,
        };
        self.store.handle_process_ended(client, is_certain);
    }

    pub(super) fn end_process(&mut self, token: Token) {
        if let Some(client) = self.processes.take(token, self.poll.registry()) {
            self.store.handle_process_ended(client, true);
        }
    }
}
