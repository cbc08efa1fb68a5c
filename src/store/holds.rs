//! Who needs an object, and what becomes of it when nobody does.

use super::room::RoomWaiter;
use super::table::{RestorePhase, State};
use super::{Effect, Store};
use crate::ids::{ClientId, DeviceNum, ExternalKey, ObjectId, Slot};
use crate::protocol::message::Status;

impl Store {
    pub(super) fn release(&mut self, client: ClientId, id: &ObjectId) {
        // An official client may release late, after its object was lost to a deletion that crossed
        // the release, so this is not held against it; and there is no reply to say so in.
        if let Some(slot) = self.table.find(id) {
            self.release_slot(client, slot);
        }
    }

    pub(super) fn release_slot(&mut self, client: ClientId, slot: Slot) {
        let Some(client) = self.clients.get_mut(client) else { return };
        if client.holds.remove(&slot) {
            client.releases += 1;
            self.drop_hold(slot);
        }
    }

    /// One holder fewer.
    pub(super) fn drop_hold(&mut self, slot: Slot) {
        let entry = &mut self.table[slot];
        entry.holders -= 1;
        if entry.holders == 0 {
            self.on_unheld(slot);
        }
    }

    /// Nobody holds the object any more.
    pub(super) fn on_unheld(&mut self, slot: Slot) {
        let entry = &self.table[slot];
        let deletion_pending = entry.deletion_pending;
        match entry.state {
            // It may not be evicted, so it stays pinned; its creator's end is its end.
            State::Unsealed { .. } => return,
            State::Sealed if deletion_pending => {}
            // It stays pinned.
            State::Sealed if self.is_lingering(entry) => return,
            State::Sealed => {
                let pool = &mut self.pools[entry.device];
                pool.eviction.unpin(slot);
                pool.room_changed = true;
            }
            State::Spilling(_) => {
                let pool = &mut self.pools[entry.device];
                pool.leaving_bytes += entry.charged_bytes;
                pool.eviction.remove(slot);
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
    pub(super) fn hold(&mut self, client: ClientId, slot: Slot) {
        let Some(holder) = self.clients.get_mut(client) else {
            return;
        };
        if !holder.holds.insert(slot) {
            return;
        }
        let entry = &mut self.table[slot];
        entry.holders += 1;
        if entry.device != DeviceNum::HOST {
            self.watch_process(client);
        }
        let entry = &self.table[slot];
        if entry.holders > 1 {
            return;
        }
        let pool = &mut self.pools[entry.device];
        if let State::Spilling(_) = entry.state {
            pool.leaving_bytes -= entry.charged_bytes;
            pool.eviction.insert_restored(slot, entry.charged_bytes);
        } else {
            pool.eviction.pin(slot);
        }
    }

    pub(super) fn delete(&mut self, id: &ObjectId) -> Status {
        let Some(slot) = self.table.find(id) else {
            return Status::ObjectNotFound;
        };
        let entry = &mut self.table[slot];
        let status = match entry.state {
            State::Unsealed { .. } => Status::ObjectNotSealed,
            State::Restoring(_, RestorePhase::Starved(_)) => Status::Ok,
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

    /// Takes an object out of the store, wherever it is.
    pub(super) fn remove_object(&mut self, slot: Slot, told: Told) {
        let entry = self.table.remove(slot);
        if let Some(creator) = entry.creator()
            && let Some(creator) = self.clients.get_mut(creator)
        {
            creator.holds.remove(&slot);
            creator.creating.remove(&slot);
        }
        let pool = &mut self.pools[entry.device];
        match entry.state {
            State::Unsealed { reserving: Some(transfer), .. } => {
                pool.eviction.remove(slot);
                // One that waits for room is no transfer that ends.
                let waiter = RoomWaiter::Allocation(transfer);
                if let Some(place) = pool.room_queue.iter().position(|other| *other == waiter) {
                    pool.room_queue.remove(place);
                    self.transfers.remove(transfer);
                    self.leave_memory(entry.device, entry.charged_bytes, None);
                } else {
                    pool.leaving_bytes += entry.charged_bytes;
                    self.transfers.orphan(transfer);
                }
            }
            State::Unsealed { .. } | State::Sealed => {
                // What was chosen for eviction is forgotten by the policy already.
                pool.eviction.forget(slot);
                self.leave_memory(entry.device, entry.charged_bytes, entry.location);
            }
            // Its bytes were counted as leaving when it was last released.
            State::Spilling(transfer) => {
                self.transfers.orphan(transfer);
                self.devices.unpark(slot);
            }
            State::Spilled(number) | State::Restoring(number, RestorePhase::Starved(_)) => {
                if let State::Restoring(_, RestorePhase::Starved(turn)) = entry.state {
                    pool.starved.remove(&turn);
                }
                self.devices.unpark(slot);
                self.forget_copy(entry.device, ExternalKey { id: entry.id, number });
            }
            State::Restoring(..) => unreachable!("what is on its way back is removed afterwards"),
        }
        if told == Told::Subscribers {
            self.tell_deleted(slot, entry.id);
        }
    }

    /// A copy of an object is of no use any more.
    pub(super) fn forget_copy(&mut self, device: DeviceNum, key: ExternalKey) {
        self.effects.push_back(match device {
            DeviceNum::HOST => Effect::Forget(key),
            device => Effect::ForgetCopy { device, key },
        });
    }
}

/// Who learns of a removal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// The object was never sealed.
    Nobody,
    /// All subscribers.
    Subscribers,
}
