//! What takes long: copies to and from the external store, and reserving memory.
//!
//! Each is a *transfer*: an effect that names it, and later a completion that hands the name back.
//! Its memory belongs to the transfer until then, even if the object that it was for is gone.

use slab::Slab;

use super::effect::{Effect, TransferId};
use super::room::{NoRoom, RoomWaiter};
use super::table::{RestorePhase, State};
use super::{Backing, Moment, Store, Told};
use crate::allocator::Allocation;
use crate::ids::{ClientId, ExternalKey, Slot};
use crate::protocol::message::{Reply, Status};

/// How many of those that found no room are tried again when there may be some. Bounds what one
/// release or one transfer costs; there is another one soon.
const MAX_RETRIES: usize = 16;

/// Something under way.
#[derive(Debug)]
pub(super) struct Transfer {
    /// The object; `None` once that was removed.
    slot: Option<Slot>,
    pub(super) size_bytes: u64,
    allocation: Option<Allocation>,
    what: What,
}

#[derive(Debug)]
enum What {
    Reserve {
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
    /// How many are under way.
    left: usize,
    /// What has left so far.
    evicted_bytes: u64,
}

impl Transfers {
    fn insert(&mut self, transfer: Transfer) -> TransferId {
        TransferId(self.transfers.insert(transfer))
    }

    fn remove(&mut self, id: TransferId) -> Transfer {
        self.transfers.remove(id.0)
    }

    /// The object of the transfer is gone.
    pub(super) fn orphan(&mut self, id: TransferId) {
        self.transfers[id.0].slot = None;
    }

    /// Whether nothing is under way.
    fn is_empty(&self) -> bool {
        self.transfers.is_empty()
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
    /// Has memory reserved for an object that was just created.
    pub(super) fn begin_reserve(&mut self, slot: Slot, creator: ClientId) {
        let entry = &mut self.table[slot];
        let Some(allocation) = entry.allocation else {
            return;
        };
        let transfer = self.transfers.insert(Transfer {
            slot: Some(slot),
            size_bytes: entry.size_bytes(),
            allocation: Some(allocation),
            what: What::Reserve { creator },
        });
        entry.state = State::Unsealed { creator, reserving: Some(transfer) };
        self.effects.push_back(Effect::Reserve { transfer, allocation });
    }

    /// Memory was reserved for a new object, or was not to be had.
    pub fn handle_reserved(&mut self, id: TransferId, done: bool, backing: &mut impl Backing) {
        let transfer = self.transfers.remove(id);
        let What::Reserve { creator } = transfer.what else {
            return;
        };
        match transfer.slot {
            None => self.end_orphan(&transfer),
            Some(slot) => {
                self.table[slot].state = State::Unsealed { creator, reserving: None };
                if done {
                    self.reply_created(creator, slot);
                } else {
                    let id = self.table[slot].id;
                    self.remove_object(slot, Told::Nobody);
                    let outcome = Err(Status::OutOfMemory);
                    self.reply(creator, Reply::Create { id, outcome });
                }
                self.effects.push_back(Effect::Resume(creator));
            }
        }
        self.wake_room_queue(backing);
    }

    /// Sends objects to the external store that the policy has chosen and forgotten. The client is
    /// told how many bytes have left memory when all have.
    pub(super) fn evict_to_external(&mut self, client: ClientId, victims: &[Slot]) {
        let eviction = EvictRequest { client, left: victims.len(), evicted_bytes: 0 };
        let eviction = self.transfers.evictions.insert(eviction);
        for slot in victims {
            self.spill(*slot, Some(eviction));
        }
    }

    /// Sends an object to the external store that the policy has chosen and forgotten.
    pub(super) fn spill(&mut self, slot: Slot, eviction: Option<usize>) {
        let entry = &mut self.table[slot];
        let key = ExternalKey { id: entry.id, number: self.next_external_number };
        self.next_external_number += 1;
        let (size_bytes, allocation) = (entry.size_bytes(), entry.allocation);
        let what = What::Spill { key, eviction };
        let transfer = Transfer { slot: Some(slot), size_bytes, allocation, what };
        let transfer = self.transfers.insert(transfer);
        entry.state = State::Spilling(transfer);
        self.leaving_bytes += size_bytes;
        self.effects.push_back(Effect::Spill { transfer, key, allocation });
    }

    /// An object was copied to the external store, or could not be.
    pub fn handle_spilled(&mut self, id: TransferId, done: bool, backing: &mut impl Backing) {
        let transfer = self.transfers.remove(id);
        let What::Spill { key, eviction } = transfer.what else {
            return;
        };
        self.spilling_fails = !done;
        let mut has_left = true;
        let mut forget = done;
        match transfer.slot {
            // Somebody has got hold of it in the meantime.
            Some(slot) if self.table[slot].holders > 0 => {
                self.table[slot].state = State::Sealed;
                has_left = false;
            }
            Some(slot) if done => {
                self.table[slot].state = State::Spilled(key.number);
                self.table[slot].allocation = None;
                self.end_orphan(&transfer);
                forget = false;
            }
            Some(slot) => {
                self.table[slot].state = State::Sealed;
                self.leaving_bytes -= transfer.size_bytes;
                self.eviction.insert_restored(slot, transfer.size_bytes);
                self.eviction.unpin(slot);
                has_left = false;
            }
            // It was deleted.
            None => self.end_orphan(&transfer),
        }
        if forget {
            self.effects.push_back(Effect::Forget(key));
        }
        if let Some(eviction) = eviction {
            self.count_eviction(eviction, if has_left { transfer.size_bytes } else { 0 });
        }
        self.wake_room_queue(backing);
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
        self.memory_bytes -= transfer.size_bytes;
        self.leaving_bytes -= transfer.size_bytes;
        self.free(transfer.allocation);
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
        let (id, size_bytes) = (entry.id, entry.size_bytes());
        let phase = match self.place(None, size_bytes, true, backing) {
            Ok(place) => {
                let key = ExternalKey { id, number };
                let (allocation, what) = (place.allocation, What::Restore { key });
                let transfer = Transfer { slot: Some(slot), size_bytes, allocation, what };
                let transfer = self.transfers.insert(transfer);
                self.memory_bytes += size_bytes;
                self.effects.push_back(Effect::Restore { transfer, key, allocation });
                RestorePhase::Copying(transfer)
            }
            // Others are on their way out for it.
            Err(NoRoom::Later | NoRoom::Unfinished) => {
                self.room_queue.push_back(RoomWaiter::Restore(slot));
                RestorePhase::Queued
            }
            Err(NoRoom::Never) => {
                // It keeps its turn, however often somebody asks for it.
                let turn = turn.unwrap_or_else(|| {
                    self.next_turn += 1;
                    self.starved.insert(self.next_turn, slot);
                    self.next_turn
                });
                RestorePhase::Starved(turn)
            }
        };
        let is_starved = matches!(phase, RestorePhase::Starved(_));
        if let Some(turn) = turn
            && !is_starved
        {
            self.starved.remove(&turn);
        }
        self.table[slot].state = State::Restoring(number, phase);
        self.set_restoring(slot, !is_starved);
        if is_starved {
            self.delete_if_pending(slot);
        }
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
        let transfer = self.transfers.remove(id);
        let (What::Restore { key }, Some(slot)) = (transfer.what, transfer.slot) else {
            return;
        };
        let size_bytes = transfer.size_bytes;
        let entry = &mut self.table[slot];
        if done {
            entry.state = State::Sealed;
            entry.allocation = transfer.allocation;
            // As in the original, its life in memory begins anew.
            entry.create_time_s = now.unix_s;
            entry.construct_s = 0;
            self.eviction.insert_restored(slot, size_bytes);
            self.effects.push_back(Effect::Forget(key));
            self.serve_waiting(slot);
            if self.table[slot].holders == 0 {
                self.on_unheld(slot);
            }
        } else {
            entry.state = State::Spilled(key.number);
            self.memory_bytes -= size_bytes;
            self.free(transfer.allocation);
            self.set_restoring(slot, false);
            self.delete_if_pending(slot);
        }
        self.wake_room_queue(backing);
    }

    /// A transfer has ended: those who have waited for room longest try again. The others do when
    /// the next one ends, and all do when none is left.
    fn wake_room_queue(&mut self, backing: &mut impl Backing) {
        for count in 0..self.room_queue.len() {
            if count >= MAX_RETRIES && !self.transfers.is_empty() {
                break;
            }
            match self.room_queue.pop_front() {
                Some(RoomWaiter::Client(client)) => self.effects.push_back(Effect::Resume(client)),
                Some(RoomWaiter::Restore(slot)) => {
                    self.retrying = true;
                    self.restore(slot, backing);
                }
                None => break,
            }
        }
        self.settle(backing);
    }

    /// Tries again to restore some of what found no room, and gives up on what nobody waits for any
    /// more. Those that are still out of luck have their next try after the others.
    pub(super) fn retry_starved(&mut self, backing: &mut impl Backing) {
        for _ in 0..self.starved.len().min(MAX_RETRIES) {
            let Some((_, slot)) = self.starved.pop_first() else { return };
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
