//! The store itself: which objects there are, who holds them, who waits, and who goes.
//!
//! [`Store`] is a state machine without I/O. It takes events through `handle_*` methods, each of
//! which runs to completion, and leaves what has to be done as a queue of [`Effect`]s. Memory is the
//! one thing that cannot be an effect, since a create must know at once whether it succeeded: it is
//! reached through the trait [`Backing`].
//!
//! The order of effects is the order of the protocol: for a seal first the notice, then the replies
//! to the gets that waited, then the reply to the sealer; and behind each reply the descriptors of
//! segments that it is the first to mention.

mod backing;
mod clients;
mod debug_string;
mod effect;
mod gets;
mod invariants;
mod room;
mod table;
mod transfer;
mod waiters;

use std::collections::VecDeque;
use std::time::Duration;

use smallvec::SmallVec;

pub use self::backing::{Backing, Reservation, TestBacking, Unavailable};
pub use self::effect::{Effect, ExternalKey, TransferId};

use self::clients::Clients;
use self::room::{NoRoom, RoomWaiter};
use self::table::{Entry, RestorePhase, State, Table};
use self::transfer::Transfers;
use self::waiters::Waiters;
use crate::allocator::{Allocation, Allocator, FIRST_USABLE_BYTES};
use crate::eviction::Eviction;
use crate::ids::{ClientId, Digest, ObjectId, SegmentId, Slot};
use crate::protocol::message::{
    CreateRequest, NewObject, Notice, ObjectInfo, Place, Reply, Request, SegmentInfo, Status,
    TooLarge,
};
use crate::protocol::violation::Violation;

/// What a store is made with.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// How many bytes of data and metadata all objects in memory may have together.
    pub capacity_bytes: u64,
    /// How many objects there may be, spilled ones included. Bounds the store's own books.
    pub max_objects: usize,
    /// Whether there is an external store: evicted objects go there instead of being lost.
    pub has_external_store: bool,
}

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
    eviction: Eviction,
    allocator: Allocator,
    segments: SmallVec<[SegmentInfo; 1]>,
    effects: VecDeque<Effect>,
    transfers: Transfers,
    /// The data and metadata of all objects in memory, those on their way out or in included.
    memory_bytes: u64,
    /// Of these, what will have left memory when the transfers under way are complete.
    leaving_bytes: u64,
    /// What [`Effect::ReleasePages`] is under way for.
    releasing_bytes: u64,
    /// Who goes on when room was made.
    room_queue: VecDeque<RoomWaiter>,
    /// Objects in [`RestorePhase::Starved`].
    starved: Vec<Slot>,
    /// Something may fit now that did not before.
    room_changed: bool,
    /// The last copy to the external store failed.
    spilling_fails: bool,
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
        let mut store = Self {
            config,
            table: Table::new(),
            clients: Clients::default(),
            waiters: Waiters::default(),
            eviction: Eviction::new(config.capacity_bytes),
            allocator: Allocator::new(),
            segments: SmallVec::new(),
            effects: VecDeque::new(),
            transfers: Transfers::default(),
            memory_bytes: 0,
            leaving_bytes: 0,
            releasing_bytes: 0,
            room_queue: VecDeque::new(),
            starved: Vec::new(),
            room_changed: false,
            spilling_fails: false,
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

    /// The segments, in the order in which they were added.
    #[must_use]
    pub fn segments(&self) -> &[SegmentInfo] {
        &self.segments
    }

    /// The data and metadata of all objects in memory, in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes
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
        self.eviction.remove_client(id);
        for slot in client.creating {
            self.remove_object(slot, Told::Nobody);
        }
        for get in client.gets {
            self.waiters.remove(get);
        }
        for slot in client.holds {
            // What it was creating is gone already.
            if self.table.get(slot).is_some() {
                self.drop_hold(slot);
            }
        }
        self.settle(backing);
    }

    /// The shell has lost the socket on which the client was told of seals and deletions.
    pub fn handle_unsubscribe(&mut self, client: ClientId) {
        self.clients.set_subscribed(client, false);
    }

    /// Time has passed: gets that have waited long enough are answered.
    pub fn handle_timeout(&mut self, now: Moment) {
        while let Some(get) = self.waiters.due(now.elapsed) {
            self.waiters.expire(get);
            self.finish_if_over(get);
        }
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
            Request::CreateAndSeal {
                evict_if_full,
                object,
            } => self.create_and_seal(
                now,
                client,
                evict_if_full,
                &[object],
                Whole::Single,
                backing,
            ),
            Request::CreateAndSealBatch {
                evict_if_full,
                objects,
            } => self.create_and_seal(now, client, evict_if_full, objects, Whole::Batch, backing),
            Request::Get { ids, timeout } => {
                self.get(now, client, ids, timeout, backing);
                Progress::Done
            }
            _ => {
                self.handle_simple(now, client, request);
                Progress::Done
            }
        };
        self.settle(backing);
        progress
    }

    /// The requests that need no memory.
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
            Request::Evict { bytes } => {
                let bytes = self.evict_shared(bytes);
                self.reply(client, Reply::Evict { bytes });
            }
            Request::Subscribe => self.subscribe(client),
            Request::SetOptions { name, quota_bytes } => {
                let status = self.set_options(client, name, quota_bytes);
                self.reply(client, Reply::SetOptions(status));
            }
            Request::DebugString => {
                let text = self.debug_string();
                self.reply(client, Reply::DebugString(text));
            }
            Request::RefreshLru(ids) => {
                for slot in ids.iter().filter_map(|id| self.table.find(id)) {
                    self.eviction.refresh(slot);
                }
                self.reply(client, Reply::RefreshLru);
            }
            Request::Disconnect
            | Request::Create(_)
            | Request::CreateAndSeal { .. }
            | Request::CreateAndSealBatch { .. }
            | Request::Get { .. } => unreachable!("handled with the backing at hand"),
        }
    }

    fn create(
        &mut self,
        now: Moment,
        client: ClientId,
        request: CreateRequest,
        backing: &mut impl Backing,
    ) -> Progress {
        let CreateRequest {
            id,
            evict_if_full,
            data_bytes,
            metadata_bytes,
            device_num,
        } = request;
        let refuse = |store: &mut Self, status| {
            store.reply(
                client,
                Reply::Create {
                    id,
                    outcome: Err(status),
                },
            );
            Progress::Done
        };
        if self.table.find(&id).is_some() {
            return refuse(self, Status::ObjectExists);
        }
        // There is no device other than host memory.
        let Some(size_bytes) = total(data_bytes, metadata_bytes).filter(|_| device_num == 0) else {
            return refuse(self, Status::OutOfMemory);
        };
        let place = match self.place(Some(client), size_bytes, evict_if_full, backing) {
            Ok(place) => place,
            Err(NoRoom::Never) => return refuse(self, Status::OutOfMemory),
            Err(NoRoom::Later) => return self.await_room(client),
        };
        let slot = self.insert_created(
            now,
            client,
            id,
            data_bytes,
            metadata_bytes,
            place.allocation,
        );
        if place.must_reserve {
            self.begin_reserve(slot, client);
            return Progress::Pause;
        }
        self.reply_created(client, slot);
        Progress::Done
    }

    /// Answers a create that succeeded.
    fn reply_created(&mut self, client: ClientId, slot: Slot) {
        let place = self.place_of(slot);
        let segment = self.segment_info(place.segment);
        let id = self.table[slot].id;
        self.reply(
            client,
            Reply::Create {
                id,
                outcome: Ok((place, segment)),
            },
        );
        self.send_segment(client, place.segment);
    }

    /// Objects that arrive whole: all are created, filled and sealed, or none.
    fn create_and_seal(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        objects: &[NewObject<'_>],
        whole: Whole,
        backing: &mut impl Backing,
    ) -> Progress {
        let mut slots: SmallVec<[Slot; 1]> = SmallVec::new();
        for object in objects {
            match self.create_filled(now, client, evict_if_full, object, backing) {
                Ok(slot) => slots.push(slot),
                Err(refusal) => {
                    for slot in slots {
                        self.remove_object(slot, Told::Nobody);
                    }
                    return match refusal {
                        Refusal::Later => self.await_room(client),
                        Refusal::Status(status) => {
                            self.reply(client, whole.reply(status));
                            Progress::Done
                        }
                    };
                }
            }
        }
        for (slot, object) in slots.iter().zip(objects) {
            self.set_sealed(now, *slot, object.digest);
        }
        self.announce_sealed(&slots);
        // The creator's hold ends before gets are served: one of them may be the creator's own, and
        // what it holds by that it keeps.
        for slot in &slots {
            self.release_slot(client, *slot);
        }
        for slot in slots {
            self.serve_waiting(slot);
        }
        self.reply(client, whole.reply(Status::Ok));
        Progress::Done
    }

    fn create_filled(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        object: &NewObject<'_>,
        backing: &mut impl Backing,
    ) -> Result<Slot, Refusal> {
        if self.table.find(&object.id).is_some() {
            return Err(Refusal::Status(Status::ObjectExists));
        }
        let (data_bytes, metadata_bytes) = (object.data.len() as u64, object.metadata.len() as u64);
        let size_bytes = total(data_bytes, metadata_bytes);
        let size_bytes = size_bytes.ok_or(Refusal::Status(Status::OutOfMemory))?;
        // Whatever was not reserved yet shows when it is written.
        let place = self.place(Some(client), size_bytes, evict_if_full, backing)?;
        let write = place.allocation.map_or(Ok(()), |at| {
            backing.write(at.extent, object.data, object.metadata)
        });
        if write.is_err() {
            self.free(place.allocation);
            return Err(Refusal::Status(Status::OutOfMemory));
        }
        let id = object.id;
        Ok(self.insert_created(
            now,
            client,
            id,
            data_bytes,
            metadata_bytes,
            place.allocation,
        ))
    }

    /// Puts a new unsealed object into the table, held by its creator. Its place is taken already.
    fn insert_created(
        &mut self,
        now: Moment,
        client: ClientId,
        id: ObjectId,
        data_bytes: u64,
        metadata_bytes: u64,
        allocation: Option<Allocation>,
    ) -> Slot {
        let slot = self.table.insert(Entry {
            id,
            state: State::Unsealed {
                creator: client,
                reserving: None,
            },
            data_bytes,
            metadata_bytes,
            allocation,
            digest: Digest::default(),
            holders: 1,
            deletion_pending: false,
            create_time_s: now.unix_s,
            created_at_s: seconds(now),
            construct_s: 0,
        });
        self.memory_bytes += data_bytes + metadata_bytes;
        self.eviction
            .insert_created(slot, data_bytes + metadata_bytes, client);
        if let Some(client) = self.clients.get_mut(client) {
            client.holds.insert(slot);
            client.creating.insert(slot);
        }
        slot
    }

    fn abort(&mut self, client: ClientId, id: ObjectId) {
        let slot = self.table.find(&id).filter(|slot| {
            let creating = State::Unsealed {
                creator: client,
                reserving: None,
            };
            self.table[*slot].state == creating
        });
        let Some(slot) = slot else {
            let violation = Violation::AbortOfForeign(id);
            return self.effects.push_back(Effect::Close { client, violation });
        };
        self.remove_object(slot, Told::Nobody);
        self.reply(client, Reply::Abort(id));
    }

    fn seal(&mut self, now: Moment, client: ClientId, id: ObjectId, digest: Digest) {
        let Some(slot) = self.table.find(&id) else {
            return self.reply(client, Reply::Seal(id, Status::ObjectNotFound));
        };
        match self.table[slot].state {
            State::Unsealed {
                reserving: None, ..
            } => {}
            // Its creator does not know that it exists, so nobody can.
            State::Unsealed { .. } => {
                return self.reply(client, Reply::Seal(id, Status::ObjectNotFound));
            }
            _ => {
                let violation = Violation::SealOfSealed(id);
                return self.effects.push_back(Effect::Close { client, violation });
            }
        }
        self.set_sealed(now, slot, digest);
        self.announce_sealed(&[slot]);
        self.serve_waiting(slot);
        if self.table[slot].holders == 0 {
            self.on_unheld(slot);
        }
        self.reply(client, Reply::Seal(id, Status::Ok));
    }

    fn set_sealed(&mut self, now: Moment, slot: Slot, digest: Digest) {
        let entry = &mut self.table[slot];
        let State::Unsealed { creator, .. } = entry.state else {
            return;
        };
        entry.state = State::Sealed;
        entry.digest = digest;
        entry.construct_s = seconds(now).saturating_sub(entry.created_at_s);
        if let Some(creator) = self.clients.get_mut(creator) {
            creator.creating.remove(&slot);
        }
    }

    /// Tells subscribers, in one frame, that these objects are sealed.
    fn announce_sealed(&mut self, slots: &[Slot]) {
        if self.clients.any_subscriber() {
            let notices = slots
                .iter()
                .map(|slot| sealed_notice(&self.table[*slot]))
                .collect();
            self.effects.push_back(Effect::Notify {
                only: None,
                notices,
            });
        }
    }

    fn release(&mut self, client: ClientId, id: &ObjectId) {
        // An official client may release late, after its object was lost to a deletion that crossed
        // the release, so this is not held against it; and there is no reply to say so in.
        if let Some(slot) = self.table.find(id) {
            self.release_slot(client, slot);
        }
    }

    fn release_slot(&mut self, client: ClientId, slot: Slot) {
        if self
            .clients
            .get_mut(client)
            .is_some_and(|client| client.holds.remove(&slot))
        {
            self.drop_hold(slot);
        }
    }

    /// One holder fewer.
    fn drop_hold(&mut self, slot: Slot) {
        let entry = &mut self.table[slot];
        entry.holders -= 1;
        if entry.holders == 0 {
            self.on_unheld(slot);
        }
    }

    /// Nobody holds the object any more.
    fn on_unheld(&mut self, slot: Slot) {
        let entry = &self.table[slot];
        let deletion_pending = entry.deletion_pending;
        match entry.state {
            // It may not be evicted, so it stays pinned; its creator's end is its end.
            State::Unsealed { .. } => return,
            State::Sealed if deletion_pending => {}
            State::Sealed => {
                self.eviction.unpin(slot);
                self.room_changed = true;
            }
            State::Spilling(_) => {
                self.leaving_bytes += entry.size_bytes();
                self.eviction.remove(slot);
            }
            State::Spilled(_) | State::Restoring(..) => {
                unreachable!("an object is held only while it is in memory")
            }
        }
        if deletion_pending {
            self.remove_object(slot, Told::Subscribers);
        }
    }

    /// The client holds the object, which is available, from now on.
    fn hold(&mut self, client: ClientId, slot: Slot) {
        let Some(client) = self.clients.get_mut(client) else {
            return;
        };
        if !client.holds.insert(slot) {
            return;
        }
        let entry = &mut self.table[slot];
        entry.holders += 1;
        if entry.holders > 1 {
            return;
        }
        let size_bytes = entry.size_bytes();
        if let State::Spilling(_) = entry.state {
            self.leaving_bytes -= size_bytes;
            self.eviction.insert_restored(slot, size_bytes);
        } else {
            self.eviction.pin(slot);
        }
    }

    fn delete(&mut self, id: &ObjectId) -> Status {
        let Some(slot) = self.table.find(id) else {
            return Status::ObjectNotFound;
        };
        let entry = &mut self.table[slot];
        let status = match entry.state {
            State::Unsealed { .. } => Status::ObjectNotSealed,
            State::Restoring(_, RestorePhase::Starved) => Status::Ok,
            State::Restoring(..) => Status::ObjectInUse,
            _ if entry.holders > 0 => Status::ObjectInUse,
            _ => Status::Ok,
        };
        if status == Status::Ok {
            self.remove_object(slot, Told::Subscribers);
        } else {
            entry.deletion_pending = true;
        }
        status
    }

    fn subscribe(&mut self, client: ClientId) {
        self.clients.set_subscribed(client, true);
        for (_, entry) in self.table.iter().filter(|(_, entry)| entry.is_available()) {
            let notices = vec![sealed_notice(entry)];
            self.effects.push_back(Effect::Notify {
                only: Some(client),
                notices,
            });
        }
    }

    fn set_options(&mut self, client_id: ClientId, name: &[u8], quota_bytes: i64) -> Status {
        let Some(client) = self.clients.get_mut(client_id) else {
            return Status::Ok;
        };
        client.name = name.to_vec();
        match u64::try_from(quota_bytes) {
            Ok(quota) if self.eviction.reserve_quota(client_id, name, quota) => Status::Ok,
            _ => Status::OutOfMemory,
        }
    }

    /// Takes an object out of the store, wherever it is.
    fn remove_object(&mut self, slot: Slot, told: Told) {
        let entry = self.table.remove(slot);
        if let State::Unsealed { creator, .. } = entry.state
            && let Some(creator) = self.clients.get_mut(creator)
        {
            creator.holds.remove(&slot);
            creator.creating.remove(&slot);
        }
        match entry.state {
            State::Unsealed {
                reserving: Some(transfer),
                ..
            } => {
                self.eviction.remove(slot);
                self.leaving_bytes += entry.size_bytes();
                self.transfers.orphan(transfer);
            }
            State::Unsealed { .. } | State::Sealed => {
                self.eviction.remove(slot);
                self.drop_from_memory(&entry);
            }
            // Its bytes were counted as leaving when it was last released.
            State::Spilling(transfer) => self.transfers.orphan(transfer),
            State::Spilled(number) | State::Restoring(number, RestorePhase::Starved) => {
                let key = ExternalKey {
                    id: entry.id,
                    number,
                };
                self.effects.push_back(Effect::Forget(key));
            }
            State::Restoring(..) => unreachable!("what is on its way back is removed afterwards"),
        }
        if told == Told::Subscribers {
            self.tell_deleted(entry.id);
        }
    }

    /// The memory of an object that is out of the table is free again.
    fn drop_from_memory(&mut self, entry: &Entry) {
        self.memory_bytes -= entry.size_bytes();
        self.free(entry.allocation);
    }

    fn tell_deleted(&mut self, id: ObjectId) {
        if self.clients.any_subscriber() {
            let notices = vec![Notice::Deleted(id)];
            self.effects.push_back(Effect::Notify {
                only: None,
                notices,
            });
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
            self.effects.push_back(Effect::SendSegment {
                client: client_id,
                segment,
            });
        }
    }

    /// Where an object in memory is.
    fn place_of(&self, slot: Slot) -> Place {
        let entry = &self.table[slot];
        let (segment, offset_bytes) = match entry.allocation {
            Some(Allocation { extent, .. }) => (extent.segment, extent.offset_bytes),
            // An object without bytes needs no memory, but clients compute an address from its
            // offset, so it gets one that lies in a segment.
            None => (self.segments[0].segment, FIRST_USABLE_BYTES),
        };
        let Entry {
            data_bytes,
            metadata_bytes,
            ..
        } = *entry;
        Place {
            segment,
            offset_bytes,
            data_bytes,
            metadata_bytes,
        }
    }

    fn segment_info(&self, segment: SegmentId) -> SegmentInfo {
        let known = self.segments.iter().find(|info| info.segment == segment);
        *known.expect("objects lie in segments that were added")
    }

    /// Tries again to restore what found no room, if there may be some now.
    fn settle(&mut self, backing: &mut impl Backing) {
        if std::mem::take(&mut self.room_changed) && !self.starved.is_empty() {
            self.retry_starved(backing);
        }
    }
}

/// Who learns of a removal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The object was never sealed.
    Nobody,
    /// All subscribers.
    Subscribers,
}

/// Which request brought whole objects.
#[derive(Clone, Copy)]
enum Whole {
    Single,
    Batch,
}

impl Whole {
    fn reply(self, status: Status) -> Reply {
        match self {
            Self::Single => Reply::CreateAndSeal(status),
            Self::Batch => Reply::CreateAndSealBatch(status),
        }
    }
}

/// Why a whole object was not created.
enum Refusal {
    /// Try again when there is room.
    Later,
    /// Tell the client.
    Status(Status),
}

impl From<NoRoom> for Refusal {
    fn from(no_room: NoRoom) -> Self {
        match no_room {
            NoRoom::Never => Self::Status(Status::OutOfMemory),
            NoRoom::Later => Self::Later,
        }
    }
}

/// The size of an object; `None` if no object can have it. Clients treat sizes as signed.
fn total(data_bytes: u64, metadata_bytes: u64) -> Option<u64> {
    let valid = |bytes: &u64| i64::try_from(*bytes).is_ok();
    let data_bytes = Some(data_bytes).filter(valid)?;
    let metadata_bytes = Some(metadata_bytes).filter(valid)?;
    Some(data_bytes + metadata_bytes).filter(valid)
}

/// Whole seconds on the store's clock. It wraps after 136 years.
fn seconds(now: Moment) -> u32 {
    u32::try_from(now.elapsed.as_secs() & u64::from(u32::MAX)).unwrap_or(u32::MAX)
}

fn sealed_notice(entry: &Entry) -> Notice {
    let Entry {
        id,
        data_bytes,
        metadata_bytes,
        digest,
        ..
    } = *entry;
    Notice::Sealed {
        id,
        data_bytes,
        metadata_bytes,
        digest,
    }
}

fn info(entry: &Entry) -> ObjectInfo {
    ObjectInfo {
        id: entry.id,
        data_bytes: entry.data_bytes,
        metadata_bytes: entry.metadata_bytes,
        holders: entry.holders,
        create_time_s: entry.create_time_s,
        sealed: entry
            .is_sealed()
            .then_some((entry.construct_s, entry.digest)),
    }
}
