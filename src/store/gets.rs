//! Gets: answered at once, or when what they lack has come, or when they have waited enough.

use std::time::Duration;

use smallvec::SmallVec;

use super::table::{RestorePhase, State};
use super::waiters::GetId;
use super::{Effect, Moment, Store, StoreConfig};
use crate::ids::{ClientId, DeviceNum, ObjectId, Slot};
use crate::protocol::message::{GetReply, GetTimeout, Reply};
use crate::protocol::violation::Violation;
use crate::store::backing::Backing;

impl Store {
    pub(super) fn get(
        &mut self,
        now: Moment,
        client_id: ClientId,
        ids: &[ObjectId],
        timeout: GetTimeout,
        backing: &mut impl Backing,
    ) {
        // Most gets find everything or do not wait, and then nothing need be kept.
        let mut all_there = true;
        let mut some_spilled = false;
        for id in ids {
            match self.table.find(id) {
                Some(slot) if self.table[slot].is_available() => self.hold(client_id, slot),
                Some(slot) => {
                    all_there = false;
                    some_spilled |= self.table[slot].is_sealed();
                }
                None => all_there = false,
            }
        }
        if all_there || (timeout == GetTimeout::Now && !some_spilled) {
            return self.reply_get(client_id, ids);
        }
        let Some(client) = self.clients.get_mut(client_id) else { return };
        let StoreConfig { max_gets, max_waiting_ids, .. } = self.config;
        let waiting_ids = client.waiting_ids + ids.len();
        if client.gets.len() >= max_gets || waiting_ids > max_waiting_ids {
            let violation = Violation::TooManyGets { gets: client.gets.len(), ids: waiting_ids };
            return self.effects.push_back(Effect::Close { client: client_id, violation });
        }
        client.waiting_ids = waiting_ids;
        let get_id = self.waiters.insert(client_id, ids, &mut client.gets);
        let mut to_restore: SmallVec<[Slot; 4]> = SmallVec::new();
        for id in ids {
            let slot = self.table.find(id);
            match slot.map(|slot| self.table[slot].state) {
                Some(State::Sealed | State::Spilling(_)) => continue,
                Some(State::Spilled(_) | State::Restoring(_, RestorePhase::Starved(_))) => {
                    if self.waiters.add_lacking(get_id, *id, true) {
                        to_restore.extend(slot);
                    }
                }
                Some(State::Restoring(..)) => {
                    self.waiters.add_lacking(get_id, *id, true);
                }
                Some(State::Unsealed { .. }) | None => {
                    self.waiters.add_lacking(get_id, *id, false);
                }
            }
        }
        match timeout {
            GetTimeout::Now => self.waiters.expire(get_id),
            GetTimeout::Never => {}
            GetTimeout::Milliseconds(ms) => {
                // What would end after the clock does never ends.
                if let Some(deadline) = now.elapsed.checked_add(Duration::from_millis(ms)) {
                    self.waiters.set_deadline(get_id, deadline);
                }
            }
        }
        for slot in to_restore {
            self.restore(slot, backing);
        }
        // A restore that cannot begin answers the gets that waited only for it, so the get may be
        // over already; but its number is not used again within this call.
        if self.waiters.exists(get_id) {
            self.finish_if_over(get_id);
        }
    }

    /// Answers a get if it has waited enough.
    pub(super) fn finish_if_over(&mut self, get_id: GetId) {
        if !self.waiters.get(get_id).is_over() {
            return;
        }
        let get = self.waiters.remove(get_id);
        if let Some(client) = self.clients.get_mut(get.client) {
            self.waiters.unlist(&get, &mut client.gets);
            client.waiting_ids -= get.ids.len();
        }
        self.reply_get(get.client, &get.ids);
    }

    /// An object has become available: those that wait for it hold it from now on, in the order in
    /// which they began to wait.
    pub(super) fn serve_waiting(&mut self, slot: Slot) {
        let id = self.table[slot].id;
        let waiting = self.waiters.take_waiting(&id);
        for get_id in waiting {
            let client = self.waiters.get(get_id).client;
            self.hold(client, slot);
            self.finish_if_over(get_id);
        }
    }

    /// Sends what the client holds of the objects that it asked for.
    fn reply_get(&mut self, client_id: ClientId, ids: &[ObjectId]) {
        let mut reply = GetReply::default();
        reply.objects.reserve_exact(ids.len());
        for id in ids {
            // What the client has released again in the meantime may be gone at any moment.
            let held = |slot: &Slot| {
                let client = self.clients.get(client_id);
                self.table[*slot].is_available()
                    && client.is_some_and(|client| client.holds.contains(slot))
            };
            let slot = self.table.find(id).filter(held);
            let place = slot.map(|slot| self.place_of(slot));
            reply.objects.push((*id, place));
            let Some(place) = place else { continue };
            if place.device != DeviceNum::HOST {
                let handle = slot.map(|slot| self.device_handle(&self.table[slot]));
                reply.handles.get_or_insert_default().extend(handle);
            } else if reply.segments.iter().all(|info| info.segment != place.segment) {
                reply.segments.push(self.segment_info(place.segment));
            }
        }
        let segments: SmallVec<[_; 1]> = reply.segments.iter().map(|info| info.segment).collect();
        self.effects.push_back(Effect::Reply { client: client_id, reply: Reply::Get(reply) });
        for segment in segments {
            self.send_segment(client_id, segment);
        }
    }
}
