//! What takes long: copies to and from where evicted objects are kept, reserving memory, and
//! allocating that of devices.
//!
//! Each is a *transfer*: an effect that names it, and later a completion that hands the name back.
//! Its memory belongs to the transfer until then, even if the object that it was for is gone.

use slab::Slab;

use super::effect::{Effect, TransferId};
use super::room::{NoRoom, RoomWaiter};
use super::table::{Location, RestorePhase, State};
use super::{Backing, Moment, Store, Told};
use crate::ids::{ClientId, DeviceBlock, DeviceNum, ExternalKey, ObjectId, Slot};
use crate::protocol::message::{Reply, Status};

/// How many of those that found no room are tried again when there may be some. Bounds what one
/// release or one transfer costs; there is another one soon.
const MAX_RETRIES: usize = 16;

/// Something under way.
#[derive(Debug)]
pub(super) struct Transfer {
    /// The object; `None` once that was removed.
    slot: Option<Slot>,
    /// The memory that it is to or from.
    pub(super) device: DeviceNum,
    /// What the object takes up there.
    pub(super) charged_bytes: u64,
    location: Option<Location>,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Of host memory.
    Reserve {
        creator: ClientId,
    },
    /// Of memory of a device.
    Allocate {
        creator: ClientId,
    },
    Spill {
        key: ExternalKey,
        /// The index of the request to evict that it belongs to.
        eviction: Option<usize>,
    },
    Restore {
        key: ExternalKey,
    },
}

/// All transfers under way.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    transfers: Slab<Transfer>,
    /// Requests to evict that wait for spills.
    evictions: Slab<EvictRequest>,
}

/// A request to evict, which is answered when its victims have left memory.
#[derive(Debug)]
struct EvictRequest {
    client: ClientId,
    /// How many are under way; one more while others are still to be chosen.
    left: usize,
    /// What has left so far.
    evicted_bytes: u64,
}

impl Transfers {
    fn insert(&mut self, transfer: Transfer) -> TransferId {
        TransferId(self.transfers.insert(transfer))
    }

    /// Takes a transfer out that is not counted as under way: see [`Store::end`] for others.
    pub(super) fn remove(&mut self, id: TransferId) -> Transfer {
        self.transfers.remove(id.0)
    }

    /// The object of the transfer is gone.
    pub(super) fn orphan(&mut self, id: TransferId) {
        self.transfers[id.0].slot = None;
    }

    /// Those whose objects are gone.
    pub(super) fn orphans(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().map(|(_, transfer)| transfer).filter(|other| other.slot.is_none())
    }

    /// The object of a transfer under way.
    pub(super) fn slot(&self, id: TransferId) -> Option<Slot> {
        self.transfers.get(id.0)?.slot
    }
}

impl Store {
    fn begin(&mut self, slot: Slot, what: What) -> TransferId {
        let entry = &self.table[slot];
        self.pools[entry.device].transfers += 1;
        self.transfers.insert(Transfer {
            slot: Some(slot),
            device: entry.device,
            charged_bytes: entry.charged_bytes,
            location: entry.location,
            what,
        })
    }

    fn end(&mut self, id: TransferId) -> Transfer {
        let transfer = self.transfers.remove(id);
        self.pools[transfer.device].transfers -= 1;
        transfer
    }

    /// Has memory reserved or allocated for an object that was just created.
    pub(super) fn begin_reserve(&mut self, slot: Slot, creator: ClientId) {
        let what = match self.table[slot].location {
            Some(_) => What::Reserve { creator },
            None => What::Allocate { creator },
        };
        let transfer = self.begin(slot, what);
        self.table[slot].state = State::Unsealed { creator, reserving: Some(transfer) };
        match self.table[slot].location {
            Some(Location::Host(allocation)) => {
                self.effects.push_back(Effect::Reserve { transfer, allocation });
            }
            _ => self.ask_for_block(transfer),
        }
    }

    fn ask_for_block(&mut self, transfer: TransferId) {
        let Transfer { device, charged_bytes: size_bytes, .. } =
            self.transfers.transfers[transfer.0];
        self.effects.push_back(Effect::AllocateBlock { transfer, device, size_bytes });
    }

    /// Memory of a device was allocated for a new object, or was not to be had.
    pub fn handle_allocated(
        &mut self,
        id: TransferId,
        block: Option<Box<DeviceBlock>>,
        backing: &mut impl Backing,
    ) {
        let Transfer { slot, device, what, .. } = self.transfers.transfers[id.0];
        let What::Allocate { creator } = what else { return };
        let Some(block) = block else {
            if slot.is_some() && self.can_wait_for_block(id) {
                return;
            }
            let transfer = self.end(id);
            self.finish_create(&transfer, creator, false);
            return self.wake_room_queue(device, backing);
        };
        let mut transfer = self.end(id);
        transfer.location = Some(Location::Device(self.devices.insert(block)));
        self.finish_create(&transfer, creator, true);
        self.wake_room_queue(device, backing);
    }

    /// Memory for a new object is there, or is not to be had.
    fn finish_create(&mut self, transfer: &Transfer, creator: ClientId, done: bool) {
        let Some(slot) = transfer.slot else { return self.end_orphan(transfer) };
        let entry = &mut self.table[slot];
        entry.state = State::Unsealed { creator, reserving: None };
        entry.location = transfer.location;
        if done {
            self.reply_created(creator, slot);
            self.effects.push_back(Effect::Resume(creator));
        } else {
            let id = entry.id;
            self.remove_object(slot, Told::Nobody);
            self.refuse_create(creator, id);
        }
    }

    /// The driver has less memory than the count says, for instance because another program took
    /// it: evicts for the allocation, if there is something to evict, and has it tried again.
    fn can_wait_for_block(&mut self, id: TransferId) -> bool {
        let Transfer { device, charged_bytes, .. } = self.transfers.transfers[id.0];
        let pool = &mut self.pools[device];
        if pool.is_lost || pool.spilling_fails {
            return false;
        }
        let mut victims = std::mem::take(&mut self.victims);
        let max_victims = self.config.max_victims;
        pool.eviction.take_victims(charged_bytes, max_victims, &mut victims);
        let any = !victims.is_empty();
        self.evict(victims);
        let pool = &mut self.pools[device];
        // Besides this one, which is no transfer that others could wait for.
        if pool.transfers > 1 {
            pool.transfers -= 1;
            pool.room_queue.push_back(RoomWaiter::Allocation(id));
            return true;
        }
        if any {
            self.ask_for_block(id);
        }
        any
    }

    /// A create that had to wait for memory comes to nothing.
    pub(super) fn refuse_create(&mut self, creator: ClientId, id: ObjectId) {
        self.reply(creator, Reply::Create { id, outcome: Err(Status::OutOfMemory) });
        self.effects.push_back(Effect::Resume(creator));
    }

    /// Memory was reserved for a new object, or was not to be had.
    pub fn handle_reserved(&mut self, id: TransferId, done: bool, backing: &mut impl Backing) {
        let transfer = self.end(id);
        let What::Reserve { creator } = transfer.what else {
            return;
        };
        self.finish_create(&transfer, creator, done);
        self.wake_room_queue(DeviceNum::HOST, backing);
    }

    /// A client that asks for an eviction is told how many bytes have left memory when all have.
    pub(super) fn begin_eviction(&mut self, client: ClientId) -> usize {
        // One for those that are not chosen yet.
        let eviction = EvictRequest { client, left: 1, evicted_bytes: 0 };
        self.transfers.evictions.insert(eviction)
    }

    /// Chooses as many objects of the shared queue of host memory as one turn allows, and sends
    /// them to the external store. Returns how many bytes are still to be chosen, if any.
    pub(super) fn evict_to_external(&mut self, eviction: usize, bytes: u64) -> Option<u64> {
        let mut victims = std::mem::take(&mut self.victims);
        let policy = &mut self.pools.host.eviction;
        let taken_bytes = policy.take_victims(bytes, self.config.max_victims, &mut victims);
        let left_bytes = bytes.saturating_sub(taken_bytes);
        let is_done = left_bytes == 0 || policy.evictable_objects() == 0;
        self.transfers.evictions[eviction].left += victims.len();
        for slot in victims.drain(..) {
            self.spill(slot, Some(eviction));
        }
        self.victims = victims;
        if is_done {
            self.count_eviction(eviction, 0);
        }
        (!is_done).then_some(left_bytes)
    }

    /// Copies an object out that the policy has chosen and forgotten.
    pub(super) fn spill(&mut self, slot: Slot, eviction: Option<usize>) {
        let entry = &self.table[slot];
        let (device, location) = (entry.device, entry.location);
        let (charged_bytes, contents_bytes) = (entry.charged_bytes, entry.contents_bytes());
        let key = ExternalKey { id: entry.id, number: self.next_external_number };
        let mut is_parked = false;
        if device != DeviceNum::HOST {
            let Some(parked) = self.make_parking_space(slot, charged_bytes) else {
                return self.remove_object(slot, Told::Subscribers);
            };
            is_parked = parked;
        }
        self.next_external_number += 1;
        let transfer = self.begin(slot, What::Spill { key, eviction });
        self.table[slot].state = State::Spilling(transfer);
        self.pools[device].leaving_bytes += charged_bytes;
        self.effects.push_back(if device == DeviceNum::HOST {
            let allocation = location.and_then(Location::allocation);
            Effect::Spill { transfer, key, allocation }
        } else {
            let block = self.boxed_block(location);
            Effect::SpillBlock { transfer, key, device, block, contents_bytes, is_parked }
        });
    }

    fn boxed_block(&self, location: Option<Location>) -> Option<Box<DeviceBlock>> {
        let block = location.and_then(Location::block);
        block.map(|index| Box::new(self.devices.block(index).clone()))
    }

    /// An object was copied to the external store, or could not be.
    pub fn handle_spilled(&mut self, id: TransferId, done: bool, backing: &mut impl Backing) {
        let transfer = self.end(id);
        let What::Spill { key, eviction } = transfer.what else {
            return;
        };
        let device = transfer.device;
        self.pools[device].spilling_fails = !done;
        let mut has_left = true;
        let mut forget = done;
        match transfer.slot {
            // Somebody has got hold of it in the meantime.
            Some(slot) if self.table[slot].holders > 0 => {
                self.table[slot].state = State::Sealed;
                self.devices.unpark(slot);
                has_left = false;
            }
            Some(slot) if done => {
                self.table[slot].state = State::Spilled(key.number);
                self.table[slot].location = None;
                self.devices.unpin_copy(slot);
                self.end_orphan(&transfer);
                forget = false;
            }
            Some(slot) => {
                self.table[slot].state = State::Sealed;
                self.devices.unpark(slot);
                let pool = &mut self.pools[device];
                pool.leaving_bytes -= transfer.charged_bytes;
                pool.eviction.insert_restored(slot, transfer.charged_bytes);
                if !self.is_lingering(&self.table[slot]) {
                    self.pools[device].eviction.unpin(slot);
                }
                has_left = false;
            }
            // It was deleted.
            None => self.end_orphan(&transfer),
        }
        if forget {
            self.forget_copy(device, key);
        }
        if let Some(eviction) = eviction {
            self.count_eviction(eviction, if has_left { transfer.charged_bytes } else { 0 });
        }
        self.wake_room_queue(device, backing);
    }

    /// One of the objects that a client wanted evicted is done with.
    fn count_eviction(&mut self, index: usize, evicted_bytes: u64) {
        let eviction = &mut self.transfers.evictions[index];
        eviction.evicted_bytes += evicted_bytes;
        eviction.left -= 1;
        if eviction.left == 0 {
            let EvictRequest { client, evicted_bytes: bytes, .. } =
                self.transfers.evictions.remove(index);
            self.reply(client, Reply::Evict { bytes });
            self.effects.push_back(Effect::Resume(client));
        }
    }

    /// Frees the memory of a transfer the object of which is not in memory any more.
    fn end_orphan(&mut self, transfer: &Transfer) {
        let Transfer { device, charged_bytes, location, .. } = *transfer;
        let pool = &mut self.pools[device];
        if !pool.is_lost {
            pool.leaving_bytes -= charged_bytes;
        }
        self.leave_memory(device, charged_bytes, location);
    }

    /// Begins to bring a spilled object back, if there is room; else as soon as there is.
    pub(super) fn restore(&mut self, slot: Slot, backing: &mut impl Backing) {
        let Some(entry) = self.table.get(slot) else {
            return;
        };
        let (number, turn) = match entry.state {
            State::Spilled(number) | State::Restoring(number, RestorePhase::Queued) => {
                (number, None)
            }
            State::Restoring(number, RestorePhase::Starved(turn)) => (number, Some(turn)),
            _ => return,
        };
        let (id, device, charged_bytes) = (entry.id, entry.device, entry.charged_bytes);
        let key = ExternalKey { id, number };
        // Making room for it must not push its own copy out.
        self.devices.pin_copy(slot);
        let mut place = self.place(device, None, charged_bytes, true, backing);
        // If what is evicted is simply gone, there is nothing to wait for.
        while matches!(place, Err(NoRoom::Unfinished)) && self.pools[device].transfers == 0 {
            place = self.place(device, None, charged_bytes, true, backing);
        }
        let phase = match place {
            Ok(place) => RestorePhase::Copying(self.begin_restore(slot, key, place.location)),
            // Others are on their way out for it.
            Err(NoRoom::Later | NoRoom::Unfinished) => {
                self.pools[device].room_queue.push_back(RoomWaiter::Restore(slot));
                RestorePhase::Queued
            }
            Err(NoRoom::Never) => {
                // It keeps its turn, however often somebody asks for it.
                let pool = &mut self.pools[device];
                let turn = turn.unwrap_or_else(|| {
                    pool.last_turn += 1;
                    pool.starved.insert(pool.last_turn, slot);
                    pool.last_turn
                });
                RestorePhase::Starved(turn)
            }
        };
        let is_starved = matches!(phase, RestorePhase::Starved(_));
        if is_starved {
            self.devices.unpin_copy(slot);
        } else if let Some(turn) = turn {
            self.pools[device].starved.remove(&turn);
        }
        self.table[slot].state = State::Restoring(number, phase);
        self.set_restoring(slot, !is_starved);
        if is_starved {
            self.delete_if_pending(slot);
        }
    }

    /// Has an object copied back to its new place.
    fn begin_restore(
        &mut self,
        slot: Slot,
        key: ExternalKey,
        location: Option<Location>,
    ) -> TransferId {
        let transfer = self.begin(slot, What::Restore { key });
        self.transfers.transfers[transfer.0].location = location;
        let entry = &self.table[slot];
        let (device, size_bytes) = (entry.device, entry.charged_bytes);
        let contents_bytes = entry.contents_bytes();
        self.pools[device].memory_bytes += size_bytes;
        self.effects.push_back(if device == DeviceNum::HOST {
            let allocation = location.and_then(Location::allocation);
            Effect::Restore { transfer, key, allocation }
        } else {
            let block = self.boxed_block(location);
            Effect::RestoreBlock { transfer, key, device, block, size_bytes, contents_bytes }
        });
        transfer
    }

    /// An object was copied back to its device, or could not be. `block` is the memory that had to
    /// be allocated for it, if it had.
    pub fn handle_block_restored(
        &mut self,
        now: Moment,
        id: TransferId,
        done: bool,
        block: Option<Box<DeviceBlock>>,
        backing: &mut impl Backing,
    ) {
        if let Some(block) = block {
            let location = Location::Device(self.devices.insert(block));
            self.transfers.transfers[id.0].location = Some(location);
        }
        self.handle_restored(now, id, done, backing);
    }

    /// A restore has come to nothing: an object that was deleted during it has nobody to wait for.
    fn delete_if_pending(&mut self, slot: Slot) {
        if self.table[slot].deletion_pending {
            self.remove_object(slot, Told::Subscribers);
        }
    }

    /// Whether the gets that wait for the object can count on it.
    fn set_restoring(&mut self, slot: Slot, restoring: bool) {
        let id = self.table[slot].id;
        for get in self.waiters.set_restoring(&id, restoring) {
            self.finish_if_over(get);
        }
    }

    /// An object was copied back from the external store, or could not be.
    pub fn handle_restored(
        &mut self,
        now: Moment,
        id: TransferId,
        done: bool,
        backing: &mut impl Backing,
    ) {
        let transfer = self.end(id);
        let What::Restore { key } = transfer.what else { return };
        let Transfer { device, charged_bytes, location, .. } = transfer;
        let Some(slot) = transfer.slot else {
            // Its device was lost.
            self.forget_copy(device, key);
            return self.leave_memory(device, charged_bytes, location);
        };
        let entry = &mut self.table[slot];
        if done {
            entry.state = State::Sealed;
            entry.location = location;
            // As in the original, its life in memory begins anew.
            entry.create_time_s = now.unix_s;
            entry.construct_s = 0;
            self.pools[device].eviction.insert_restored(slot, charged_bytes);
            self.devices.unpark(slot);
            self.forget_copy(device, key);
            self.serve_waiting(slot);
            if self.table[slot].holders == 0 {
                self.on_unheld(slot);
            }
        } else {
            entry.state = State::Spilled(key.number);
            self.devices.unpin_copy(slot);
            self.leave_memory(device, charged_bytes, location);
            self.set_restoring(slot, false);
            self.delete_if_pending(slot);
        }
        self.wake_room_queue(device, backing);
    }

    /// A transfer has ended: those who have waited for room longest try again. The others do when
    /// the next one ends, and all do when none is left.
    fn wake_room_queue(&mut self, device: DeviceNum, backing: &mut impl Backing) {
        for count in 0..self.pools[device].room_queue.len() {
            if count >= MAX_RETRIES && self.pools[device].transfers > 0 {
                break;
            }
            match self.pools[device].room_queue.pop_front() {
                Some(RoomWaiter::Client(client)) => self.effects.push_back(Effect::Resume(client)),
                Some(RoomWaiter::Restore(slot)) => {
                    self.retrying = true;
                    self.restore(slot, backing);
                }
                Some(RoomWaiter::Allocation(transfer)) => self.retry_allocation(transfer),
                None => break,
            }
        }
        self.settle(backing);
    }

    fn retry_allocation(&mut self, id: TransferId) {
        let device = self.transfers.transfers[id.0].device;
        self.pools[device].transfers += 1;
        self.ask_for_block(id);
    }

    /// Tries again to restore some of what found no room, and gives up on what nobody waits for any
    /// more. Those that are still out of luck have their next try after the others.
    pub(super) fn retry_starved(&mut self, device: DeviceNum, backing: &mut impl Backing) {
        for _ in 0..self.pools[device].starved.len().min(MAX_RETRIES) {
            let Some((_, slot)) = self.pools[device].starved.pop_first() else { return };
            let entry = &mut self.table[slot];
            let State::Restoring(number, RestorePhase::Starved(_)) = entry.state else { continue };
            entry.state = State::Spilled(number);
            if self.waiters.is_awaited(&entry.id) {
                self.retrying = true;
                self.restore(slot, backing);
            }
        }
    }
}
