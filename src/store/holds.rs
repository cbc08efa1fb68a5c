//! Who needs an object, and what becomes of it when nobody does.

use super::table::{Entry, RestorePhase, State};
use super::{Effect, Store};
use crate::ids::{ClientId, ExternalKey, ObjectId, Slot};
use crate::protocol::message::{Notice, Status};

impl Store {
    pub(super) fn release(&mut self, client: ClientId, id: &ObjectId) {
        // An official client may release late, after its object was lost to a deletion that crossed
        // the release, so this is not held against it; and there is no reply to say so in.
        if let Some(slot) = self.table.find(id) {
            self.release_slot(client, slot);
        }
    }

    pub(super) fn release_slot(&mut self, client: ClientId, slot: Slot) {
        if self.clients.get_mut(client).is_some_and(|client| client.holds.remove(&slot)) {
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
    pub(super) fn hold(&mut self, client: ClientId, slot: Slot) {
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
        match entry.state {
            State::Unsealed { reserving: Some(transfer), .. } => {
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
            State::Spilled(number) | State::Restoring(number, RestorePhase::Starved(_)) => {
                if let State::Restoring(_, RestorePhase::Starved(turn)) = entry.state {
                    self.starved.remove(&turn);
                }
                let key = ExternalKey { id: entry.id, number };
                self.effects.push_back(Effect::Forget(key));
            }
            State::Restoring(..) => unreachable!("what is on its way back is removed afterwards"),
        }
        if told == Told::Subscribers {
            self.tell_deleted(entry.id);
        }
    }

    /// The memory of an object that is out of the table is free again.
    pub(super) fn drop_from_memory(&mut self, entry: &Entry) {
        self.memory_bytes -= entry.size_bytes();
        self.free(entry.allocation);
    }

    pub(super) fn tell_deleted(&mut self, id: ObjectId) {
        if self.clients.any_subscriber() {
            let notices = vec![Notice::Deleted(id)];
            self.effects.push_back(Effect::Notify { only: None, notices });
        }
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
