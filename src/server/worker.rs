//! Threads for what takes long. The loop hands them jobs and is woken up when these are done.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use mio::Waker;

use super::host;
use crate::allocator::Allocation;
use crate::device::worker::Report;
use crate::external::{ExternalError, ExternalStore};
use crate::ids::{DeviceNum, Extent, ExternalKey};
use crate::store::TransferId;
use crate::sys::arena::Segment;

/// Where the contents of an object are in memory; `None` for an object without contents.
pub(super) type Location = Option<(Arc<Segment>, Extent)>;

/// Something to do.
pub(super) enum Job {
    /// Put memory behind an extent.
    Reserve(TransferId, Arc<Segment>, Extent),
    /// Give the pages of an unused extent back, and clear it if that is so.
    Release(Arc<Segment>, Allocation, bool),
    /// Copy an object out.
    Spill(TransferId, ExternalKey, Location),
    /// Copy an object in.
    Restore(TransferId, ExternalKey, Location),
    /// Drop a copy.
    Forget(ExternalKey),
    /// Keep a copy of an object of a device, and tell its worker whether that was possible.
    PutCopy(ExternalKey, Vec<u8>, Sender<bool>),
    /// Give one back to the worker of its device.
    GetCopy(ExternalKey, Sender<Option<Vec<u8>>>),
}

/// Something that was done, or could not be.
#[derive(Debug)]
pub(super) enum Done {
    Reserved(TransferId, bool),
    Released(Allocation),
    Spilled(TransferId, bool),
    Restored(TransferId, bool),
    Device(DeviceNum, Report),
}

/// Where workers report to.
#[derive(Clone)]
pub(super) struct Reports {
    sender: Sender<Done>,
    waker: Arc<Waker>,
}

impl Reports {
    /// A pair of ends; the waker is the loop's.
    pub(super) fn new(waker: Arc<Waker>) -> (Self, Receiver<Done>) {
        let (sender, receiver) = mpsc::channel();
        (Self { sender, waker }, receiver)
    }

    pub(super) fn report(&self, done: Done) {
        // The loop is gone only if the program ends.
        if self.sender.send(done).is_ok()
            && let Err(error) = self.waker.wake()
        {
            log::error!("cannot wake up the loop: {error}");
        }
    }
}

/// A thread that does one job after the other.
pub(super) struct Worker {
    jobs: Sender<Job>,
    reports: Reports,
}

impl Worker {
    /// Starts a thread of this name, which must begin with "plasma" like the program's. Only a
    /// worker with an external store does the jobs that need one.
    ///
    /// # Errors
    ///
    /// If the system grants no thread.
    pub(super) fn start(
        name: &str,
        external: Option<Box<dyn ExternalStore>>,
        reports: &Reports,
    ) -> io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let for_thread = reports.clone();
        let builder = thread::Builder::new().name(name.to_owned());
        #[expect(clippy::disallowed_methods, reason = "this is where threads come from")]
        builder.spawn(move || work(&receiver, external, &for_thread))?;
        Ok(Self { jobs: sender, reports: reports.clone() })
    }

    /// Where its jobs go.
    pub(super) fn jobs(&self) -> &Sender<Job> {
        &self.jobs
    }

    /// Hands over a job.
    pub(super) fn submit(&self, job: Job) {
        if let Err(mpsc::SendError(job)) = self.jobs.send(job) {
            // The thread has died, so nothing can be done any more; but what waits must not wait
            // for ever.
            if let Some(done) = failure(job) {
                self.reports.report(done);
            }
        }
    }
}

fn failure(job: Job) -> Option<Done> {
    match job {
        Job::Reserve(transfer, ..) => Some(Done::Reserved(transfer, false)),
        Job::Release(_, allocation, _) => Some(Done::Released(allocation)),
        Job::Spill(transfer, ..) => Some(Done::Spilled(transfer, false)),
        Job::Restore(transfer, ..) => Some(Done::Restored(transfer, false)),
        Job::Forget(_) | Job::PutCopy(..) | Job::GetCopy(..) => None,
    }
}

fn work(jobs: &Receiver<Job>, external: Option<Box<dyn ExternalStore>>, reports: &Reports) {
    let mut external = external;
    while let Ok(job) = jobs.recv() {
        let external = external.as_deref_mut();
        let done = match job {
            Job::Reserve(transfer, segment, extent) => {
                let reserved = segment.reserve(extent.offset_bytes, extent.size_bytes);
                let done = logged("reserve memory", reserved.map_err(to_external));
                Some(Done::Reserved(transfer, done))
            }
            Job::Release(segment, allocation, clear) => {
                host::release(&segment, allocation.extent, clear);
                Some(Done::Released(allocation))
            }
            Job::Spill(transfer, key, location) => {
                let spilled = spill(external, key, &location);
                Some(Done::Spilled(transfer, logged("spill an object", spilled)))
            }
            Job::Restore(transfer, key, location) => {
                let restored = restore(external, key, &location);
                Some(Done::Restored(transfer, logged("restore an object", restored)))
            }
            Job::Forget(key) => {
                let removed = external.map_or(Ok(()), |store| store.remove(key));
                logged("remove an object from the external store", removed);
                None
            }
            Job::PutCopy(key, contents, answer) => {
                let put = external.ok_or_else(none).and_then(|store| store.put(key, contents));
                // Whoever asked has not gone: it waits.
                let _ = answer.send(logged("spill an object", put));
                None
            }
            Job::GetCopy(key, answer) => {
                let _ = answer.send(external.and_then(|store| store.get(key).ok()));
                None
            }
        };
        if let Some(done) = done {
            reports.report(done);
        }
    }
}

fn spill(
    external: Option<&mut (dyn ExternalStore + 'static)>,
    key: ExternalKey,
    location: &Location,
) -> Result<(), ExternalError> {
    let mut contents = Vec::new();
    if let Some((segment, extent)) = location {
        let size = usize::try_from(extent.size_bytes).map_err(to_external)?;
        contents.try_reserve_exact(size).map_err(to_external)?;
        contents.resize(size, 0);
        segment.read_at(&mut contents, extent.offset_bytes).map_err(to_external)?;
    }
    external.ok_or_else(none)?.put(key, contents)
}

fn restore(
    external: Option<&mut (dyn ExternalStore + 'static)>,
    key: ExternalKey,
    location: &Location,
) -> Result<(), ExternalError> {
    let contents = external.ok_or_else(none)?.get(key)?;
    let expected_bytes = location.as_ref().map_or(0, |(_, extent)| extent.size_bytes);
    if contents.len() as u64 != expected_bytes {
        let length = contents.len();
        return Err(ExternalError(format!("it has {length} bytes instead of {expected_bytes}")));
    }
    match location {
        Some((segment, extent)) => {
            segment.write_at(&contents, extent.offset_bytes).map_err(to_external)
        }
        None => Ok(()),
    }
}

fn none() -> ExternalError {
    ExternalError("there is no external store".to_owned())
}

fn to_external(error: impl ToString) -> ExternalError {
    ExternalError(error.to_string())
}

/// Whether it worked; if not, that is logged.
fn logged(what: &str, result: Result<(), ExternalError>) -> bool {
    if let Err(error) = &result {
        log::warn!("cannot {what}: {error}");
    }
    result.is_ok()
}
