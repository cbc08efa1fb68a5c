//! The store itself: which objects there are, who holds them, who waits, and who goes.
//!
//! [`Store`] is a state machine without I/O. It takes events through `handle_*` methods, each of
//! which runs to completion, and leaves what has to be done as a queue of [`Effect`]s. Memory is
//! the one thing that cannot be an effect, since a create must know at once whether it succeeded:
//! it is reached through the trait [`Backing`].
//!
//! The order of effects is the order of the protocol: for a seal first the notice, then the replies
//! to the gets that waited, then the reply to the sealer; and behind each reply the descriptors of
//! segments that it is the first to mention.

mod backing;
mod clients;
mod create;
mod debug_string;
mod devices;
mod effect;
mod gets;
mod holds;
mod invariants;
mod notices;
mod pools;
mod room;
mod table;
#[cfg(test)]
mod tests;
mod transfer;
mod turns;
mod waiters;

use std::collections::VecDeque;
use std::time::Duration;

use smallvec::SmallVec;

pub use self::backing::{Backing, Reservation, TestBacking, Unavailable};
pub use self::effect::{Effect, TransferId};

use self::clients::{Clients, Departed};
use self::create::Whole;
use self::devices::Devices;
use self::holds::Told;
use self::notices::Newcomer;
use self::pools::{Pool, Pools};
use self::table::{Entry, Location, Table};
use self::transfer::Transfers;
use self::turns::Job;
use self::waiters::Waiters;
use crate::allocator::{Allocator, FIRST_USABLE_BYTES};
use crate::ids::{ClientId, DeviceNum, ObjectId, SegmentId, Slot};
use crate::protocol::message::{ObjectInfo, Place, Reply, Request, SegmentInfo, Status, TooLarge};

/// What a store is made with.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    /// How many bytes of data and metadata all objects in memory may have together.
    pub capacity_bytes: u64,
    /// How many objects there may be, spilled ones included. Bounds the store's own books.
    pub max_objects: usize,
    /// How many gets of one client may wait.
    pub max_gets: usize,
    /// How many ids these may name together.
    pub max_waiting_ids: usize,
    /// How many objects one event may touch before the others have their turn.
    pub max_victims: usize,
    /// A request that names more objects is handled in several turns.
    pub max_ids_at_once: usize,
    /// So many bytes that come with a request are written before the others have their turn.
    pub max_bytes_at_once: u64,
    /// Whether memory is cleared before it is used again.
    pub zero_on_free: bool,
    /// Whether there is an external store: evicted objects go there instead of being lost.
    pub has_external_store: bool,
    /// How many bytes the objects on each CUDA device may take up; 0 for a device that is not to be
    /// had.
    pub device_bytes: Vec<u64>,
    /// Objects on a device take up whole multiples of this.
    pub device_granule_bytes: u64,
    /// How much host memory copies of objects that were evicted from devices may take up; `None` if
    /// such objects are deleted instead.
    pub parking_bytes: Option<u64>,
}

/// A store of 10 MB, as the original's own tests use it, without bounds that these would meet.
impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            capacity_bytes: 10_000_000,
            max_objects: 1 << 20,
            max_gets: 10_000,
            max_waiting_ids: 1_000_000,
            max_victims: 1024,
            max_ids_at_once: 1024,
            max_bytes_at_once: 1 << 20,
            zero_on_free: false,
            has_external_store: false,
            device_bytes: Vec::new(),
            device_granule_bytes: 2 << 20,
            parking_bytes: None,
        }
    }
}

/// The rest of a longer client's name is cut off. Names only label lines of the debug text, which
/// has five for each client with a quota and has to fit into a message.
const MAX_NAME_BYTES: usize = 256;

/// A moment, as the shell reads it from its clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Time since some fixed moment; never goes back.
    pub elapsed: Duration,
    /// Wall clock, in seconds since 1970; for the creation times in lists only.
    pub unix_s: i64,
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Progress {
    /// It is done, or waits without holding up the client's next request.
    Done,
    /// It is under way. The next request of the client must wait for [`Effect::Resume`].
    Pause,
    /// It could not begin. Nothing has changed for the client, and the same request must be handed
    /// in again at [`Effect::Resume`].
    Retry,
}

/// The store. See the head of this module.
///
/// The shell calls `handle_*` with what happened, then takes all effects with
/// [`Store::next_effect`] before anything else, and calls [`Store::handle_timeout`] when
/// [`Store::next_deadline`] has come.
pub struct Store {
    config: StoreConfig,
    table: Table,
    clients: Clients,
    waiters: Waiters,
    pools: Pools,
    devices: Devices,
    allocator: Allocator,
    segments: SmallVec<[SegmentInfo; 1]>,
    effects: VecDeque<Effect>,
    transfers: Transfers,
    /// What [`Effect::ReleasePages`] is under way for.
    releasing_bytes: u64,
    /// Subscribers that were not told yet of all that there is.
    newcomers: Vec<Newcomer>,
    /// What takes several turns.
    jobs: VecDeque<Job>,
    /// How many objects the rest of this event may touch.
    left: usize,
    /// What is being handled has waited for room before.
    retrying: bool,
    /// The number for the next [`ExternalKey`].
    next_external_number: u64,
    /// Victims of one eviction; kept for its memory.
    victims: Vec<Slot>,
}

impl Store {
    /// A store whose first segment is `segment`, which should have room for the capacity.
    #[must_use]
    pub fn new(config: StoreConfig, segment: SegmentInfo) -> Self {
        let host = Pool::new(config.capacity_bytes, config.has_external_store);
        let on_device = |bytes: &u64| match bytes {
            0 => Pool::lost(),
            bytes => Pool::new(*bytes, config.parking_bytes.is_some()),
        };
        let devices = config.device_bytes.iter().map(on_device).collect();
        let parking_bytes = config.parking_bytes.unwrap_or(0);
        let mut store = Self {
            pools: Pools { host, devices },
            devices: Devices::new(config.device_granule_bytes, parking_bytes),
            left: config.max_victims,
            config,
            table: Table::new(),
            clients: Clients::default(),
            waiters: Waiters::default(),
            allocator: Allocator::new(),
            segments: SmallVec::new(),
            effects: VecDeque::new(),
            transfers: Transfers::default(),
            releasing_bytes: 0,
            newcomers: Vec::new(),
            jobs: VecDeque::new(),
            retrying: false,
            next_external_number: 1,
            victims: Vec::new(),
        };
        store.push_segment(segment);
        store
    }

    /// The next thing to do, in order.
    pub fn next_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When [`Store::handle_timeout`] must be called, if nothing else happens before.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        self.waiters.next_deadline()
    }

    /// The data and metadata of all objects in host memory, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.pools.host.memory_bytes
    }

    /// What all objects on a device take up of its memory, in bytes.
    #[must_use]
    pub fn device_bytes(&self, device: DeviceNum) -> u64 {
        self.pools[device].memory_bytes
    }

    /// A client has connected.
    pub fn handle_connect(&mut self) -> ClientId {
        self.clients.connect()
    }

    /// A client is gone. What it was creating vanishes, what it held is released.
    pub fn handle_disconnect(&mut self, id: ClientId, backing: &mut impl Backing) {
        let Some(client) = self.clients.disconnect(id) else {
            return;
        };
        self.newcomers.retain(|newcomer| newcomer.client != id);
        let pool = &mut self.pools.host;
        pool.room_changed |= pool.eviction.remove_client(id);
        for get in &client.gets {
            self.waiters.end(*get);
        }
        self.jobs.push_back(Job::Departed(Departed::new(id, client)));
        self.work(backing);
    }

    /// The shell has lost the socket on which the client was told of seals and deletions.
    pub fn handle_unsubscribe(&mut self, client: ClientId) {
        self.clients.set_subscribed(client, false);
        self.newcomers.retain(|newcomer| newcomer.client != client);
    }

    /// Time has passed: gets that have waited long enough are answered.
    pub fn handle_timeout(&mut self, now: Moment) {
        while let Some(get) = self.waiters.due(now.elapsed) {
            self.waiters.expire(get);
            self.finish_if_over(get);
        }
        self.left = self.config.max_victims;
    }

    /// A client asks for something. `again` says that this answers [`Progress::Retry`].
    pub fn handle_request(
        &mut self,
        now: Moment,
        client: ClientId,
        request: &Request<'_>,
        again: bool,
        backing: &mut impl Backing,
    ) -> Progress {
        self.retrying = again;
        let progress = match *request {
            Request::Disconnect => {
                self.handle_disconnect(client, backing);
                Progress::Done
            }
            Request::Create(create) => self.create(now, client, create, backing),
            Request::CreateAndSeal { evict_if_full, object } => {
                self.create_and_seal(now, client, evict_if_full, &[object], Whole::Single, backing)
            }
            Request::CreateAndSealBatch { evict_if_full, objects } => {
                self.create_and_seal(now, client, evict_if_full, objects, Whole::Batch, backing)
            }
            Request::Get { ids, timeout } => self.get(now, client, ids, timeout, backing),
            Request::Evict { bytes } => self.evict_on_request(client, bytes),
            Request::Delete(ids) if ids.len() > self.config.max_ids_at_once => {
                let (ids, outcomes) = (Vec::from(ids).into_iter(), SmallVec::new());
                self.begin_job(Job::Delete { client, ids, outcomes })
            }
            Request::RefreshLru(ids) if ids.len() > self.config.max_ids_at_once => {
                let ids = Vec::from(ids).into_iter();
                self.begin_job(Job::RefreshLru { client, ids })
            }
            Request::List if self.table.slot_count() > self.config.max_ids_at_once => {
                self.begin_job(Job::List { client, next: Slot(0) })
            }
            Request::DebugString => {
                let mut text = self.debug_text();
                if text.left() > self.config.max_ids_at_once {
                    self.begin_job(Job::DebugString(client, text))
                } else {
                    text.write(usize::MAX);
                    self.reply(client, Reply::DebugString(text.into_bytes()));
                    Progress::Done
                }
            }
            _ => {
                self.handle_simple(now, client, request);
                Progress::Done
            }
        };
        self.settle(backing);
        progress
    }

    /// A request takes several turns.
    fn begin_job(&mut self, job: Job) -> Progress {
        self.jobs.push_back(job);
        Progress::Pause
    }

    /// The requests that need no memory and are answered at once.
    fn handle_simple(&mut self, now: Moment, client: ClientId, request: &Request<'_>) {
        match *request {
            Request::Connect => {
                let capacity_bytes = self.config.capacity_bytes;
                self.reply(client, Reply::Connect { capacity_bytes });
            }
            Request::TooLarge(TooLarge::CreateAndSeal) => {
                self.reply(client, Reply::CreateAndSeal(Status::OutOfMemory));
            }
            Request::TooLarge(TooLarge::CreateAndSealBatch) => {
                self.reply(client, Reply::CreateAndSealBatch(Status::OutOfMemory));
            }
            Request::Abort(id) => self.abort(client, id),
            Request::Seal(id, digest) => self.seal(now, client, id, digest),
            Request::Release(id) => self.release(client, &id),
            Request::Delete(ids) => {
                let outcomes = ids.iter().map(|id| (*id, self.delete(id))).collect();
                self.reply(client, Reply::Delete(outcomes));
            }
            Request::Contains(id) => {
                let slot = self.table.find(&id);
                let sealed = slot.is_some_and(|slot| self.table[slot].is_sealed());
                self.reply(client, Reply::Contains(id, sealed));
            }
            Request::List => {
                let list = self.table.iter().map(|(_, entry)| info(entry)).collect();
                self.reply(client, Reply::List(list));
            }
            Request::Subscribe => self.subscribe(client),
            Request::SetOptions { name, quota_bytes } => {
                let status = self.set_options(client, name, quota_bytes);
                self.reply(client, Reply::SetOptions(status));
            }
            Request::RefreshLru(ids) => {
                self.refresh_lru(ids);
                self.reply(client, Reply::RefreshLru);
            }
            Request::Disconnect
            | Request::Create(_)
            | Request::CreateAndSeal { .. }
            | Request::CreateAndSealBatch { .. }
            | Request::Get { .. }
            | Request::Evict { .. }
            | Request::DebugString => unreachable!("handled by the caller"),
        }
    }

    fn refresh_lru(&mut self, ids: &[ObjectId]) {
        for slot in ids.iter().filter_map(|id| self.table.find(id)) {
            self.pools[self.table[slot].device].eviction.refresh(slot);
        }
    }

    fn set_options(&mut self, client: ClientId, name: &[u8], quota_bytes: i64) -> Status {
        // The name is for nothing but the label of the quota, and is not kept without one.
        let label = &name[..name.len().min(MAX_NAME_BYTES)];
        match u64::try_from(quota_bytes) {
            Ok(quota) if self.pools.host.eviction.reserve_quota(client, label, quota) => Status::Ok,
            _ => Status::OutOfMemory,
        }
    }

    fn reply(&mut self, client: ClientId, reply: Reply) {
        self.effects.push_back(Effect::Reply { client, reply });
    }

    /// Sends the descriptor of a segment, unless the client has it.
    fn send_segment(&mut self, client_id: ClientId, segment: SegmentId) {
        let Some(client) = self.clients.get_mut(client_id) else {
            return;
        };
        if !client.segments.contains(&segment) {
            client.segments.push(segment);
            self.effects.push_back(Effect::SendSegment { client: client_id, segment });
        }
    }

    /// Where an object in memory is.
    fn place_of(&self, slot: Slot) -> Place {
        let Entry { device, location, data_bytes, metadata_bytes, .. } = self.table[slot];
        let (segment, offset_bytes) = match location {
            Some(Location::Host(at)) => (at.extent.segment, at.extent.offset_bytes),
            // An object without bytes needs no memory, but clients compute an address from its
            // offset, so it gets one that lies in a segment.
            None if device == DeviceNum::HOST => (self.segments[0].segment, FIRST_USABLE_BYTES),
            _ => (SegmentId::NONE, 0),
        };
        Place { segment, device, offset_bytes, data_bytes, metadata_bytes }
    }

    fn segment_info(&self, segment: SegmentId) -> SegmentInfo {
        let known = self.segments.iter().find(|info| info.segment == segment);
        *known.expect("objects lie in segments that were added")
    }

    /// Tries again to restore what found no room, if there may be some now. Ends an event.
    fn settle(&mut self, backing: &mut impl Backing) {
        self.left = self.config.max_victims;
        let host = &mut self.pools.host;
        if std::mem::take(&mut host.room_changed) && !host.starved.is_empty() {
            self.retry_starved(DeviceNum::HOST, backing);
        }
        for device in self.pools.device_nums() {
            let pool = &mut self.pools[device];
            if std::mem::take(&mut pool.room_changed) && !pool.starved.is_empty() {
                self.retry_starved(device, backing);
            }
        }
    }
}

fn info(entry: &Entry) -> ObjectInfo {
    ObjectInfo {
        id: entry.id,
        data_bytes: entry.data_bytes,
        metadata_bytes: entry.metadata_bytes,
        holders: entry.holders,
        create_time_s: entry.create_time_s,
        sealed: entry.is_sealed().then_some((entry.construct_s, entry.digest)),
    }
}
