//! Gets: answered at once, or when what they lack has come, or when they have waited enough.

use std::time::Duration;

use smallvec::SmallVec;

use super::table::{RestorePhase, State};
use super::turns::{Answer, Job, LongGet};
use super::waiters::{EndedGet, GetId};
use super::{Effect, Moment, Progress, Store, StoreConfig};
use crate::ids::{ClientId, DeviceNum, ObjectId, Slot};
use crate::protocol::message::{GetReply, GetTimeout, Reply};
use crate::protocol::violation::Violation;
use crate::store::backing::Backing;

/// What a first look at the objects of a get has found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Some cannot be had now.
    pub(super) some_lack: bool,
    /// Some are not in memory, but can be brought back.
    pub(super) some_spilled: bool,
}

impl Found {
    /// Whether the get can be answered without waiting for anything.
    pub(super) fn suffices(self, timeout: GetTimeout) -> bool {
        !self.some_lack || (timeout == GetTimeout::Now && !self.some_spilled)
    }
}

impl Store {
    pub(super) fn get(
        &mut self,
        now: Moment,
        client: ClientId,
        ids: &[ObjectId],
        timeout: GetTimeout,
        backing: &mut impl Backing,
    ) -> Progress {
        if ids.len() > self.config.max_ids_at_once {
            self.jobs.push_back(Job::Get(LongGet::new(now, client, ids, timeout)));
            return Progress::Pause;
        }
        // Most gets find everything or do not wait, and then nothing need be kept.
        let mut found = Found::default();
        self.hold_available(client, ids, &mut found);
        if found.suffices(timeout) {
            self.answer(client, ids);
            return Progress::Done;
        }
        let Some(get_id) = self.begin_get(client, ids.len()) else { return Progress::Done };
        let mut to_restore: SmallVec<[Slot; 4]> = SmallVec::new();
        self.note_lacking(client, get_id, ids, &mut to_restore);
        self.begin_waiting(now, get_id, SmallVec::from_slice(ids), timeout);
        for slot in to_restore {
            self.restore(slot, backing);
        }
        self.finish_if_over(get_id);
        Progress::Done
    }

    /// The client holds those of the objects that it can have at once.
    pub(super) fn hold_available(&mut self, client: ClientId, ids: &[ObjectId], found: &mut Found) {
        for id in ids {
            match self.table.find(id) {
                Some(slot) if self.table[slot].is_available() => self.hold(client, slot),
                Some(slot) => {
                    found.some_lack = true;
                    found.some_spilled |= self.table[slot].is_sealed();
                }
                None => found.some_lack = true,
            }
        }
    }

    /// Registers a get that has to wait, unless its client has too many.
    pub(super) fn begin_get(&mut self, client_id: ClientId, ids: usize) -> Option<GetId> {
        let client = self.clients.get_mut(client_id)?;
        let StoreConfig { max_gets, max_waiting_ids, .. } = self.config;
        let waiting_ids = client.waiting_ids + ids;
        if client.gets.len() >= max_gets || waiting_ids > max_waiting_ids {
            let violation = Violation::TooManyGets { gets: client.gets.len(), ids: waiting_ids };
            self.effects.push_back(Effect::Close { client: client_id, violation });
            return None;
        }
        client.waiting_ids = waiting_ids;
        Some(self.waiters.insert(client_id, &mut client.gets))
    }

    /// Notes which of the objects the get lacks, and collects those that have to be brought back.
    pub(super) fn note_lacking(
        &mut self,
        client: ClientId,
        get_id: GetId,
        ids: &[ObjectId],
        to_restore: &mut impl Extend<Slot>,
    ) {
        for id in ids {
            let slot = self.table.find(id);
            match slot.map(|slot| self.table[slot].state) {
                // It may have come since it was looked for.
                Some(State::Sealed | State::Spilling(_)) => {
                    slot.into_iter().for_each(|slot| self.hold(client, slot));
                }
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
    }

    /// All that the get lacks has been noted.
    pub(super) fn begin_waiting(
        &mut self,
        asked_at: Moment,
        get_id: GetId,
        ids: SmallVec<[ObjectId; 2]>,
        timeout: GetTimeout,
    ) {
        self.waiters.begin_waiting(get_id, ids);
        match timeout {
            GetTimeout::Now => self.waiters.expire(get_id),
            GetTimeout::Never => {}
            GetTimeout::Milliseconds(ms) => {
                // What would end after the clock does never ends.
                if let Some(deadline) = asked_at.elapsed.checked_add(Duration::from_millis(ms)) {
                    self.waiters.set_deadline(get_id, deadline);
                }
            }
        }
    }

    /// Answers a get if it has waited enough, in a later turn if too much was done in this one.
    pub(super) fn finish_if_over(&mut self, get_id: GetId) {
        // One that waits for the same object twice is over when this is called for the first.
        let Some(get) = self.waiters.get(get_id) else { return };
        if !get.is_over() {
            return;
        }
        let Some(client) = self.clients.get_mut(get.client) else { return };
        let EndedGet { client: client_id, ids, links } =
            self.waiters.end_listed(get_id, &mut client.gets);
        client.waiting_ids -= ids.len();
        let work = links + ids.len();
        if work > self.left {
            // Those behind it are not answered before it.
            self.left = 0;
            let answer = Answer::new(client_id, Some(get_id), ids, false);
            return self.jobs.push_back(Job::Answer(answer));
        }
        self.left -= work;
        let mut all_links = links;
        self.waiters.drop_links(get_id, &mut all_links);
        self.answer(client_id, &ids);
    }

    /// An object has become available: those that wait for it hold it from now on, in the order in
    /// which they began to wait.
    pub(super) fn serve_waiting(&mut self, slot: Slot) {
        let id = self.table[slot].id;
        let waiting = self.waiters.take_waiting(&id);
        for get_id in waiting {
            let client = self.waiters.get(get_id).map(|get| get.client);
            client.into_iter().for_each(|client| self.hold(client, slot));
            self.finish_if_over(get_id);
        }
    }

    /// Answers a get in one turn.
    fn answer(&mut self, client: ClientId, ids: &[ObjectId]) {
        let mut reply = GetReply::default();
        reply.objects.reserve_exact(ids.len());
        self.add_to_answer(client, ids, &mut reply);
        self.send_answer(client, reply);
    }

    /// Adds what the client holds of the objects that it has asked for.
    pub(super) fn add_to_answer(
        &mut self,
        client_id: ClientId,
        ids: &[ObjectId],
        reply: &mut GetReply,
    ) {
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
    }

    /// Answers a get.
    pub(super) fn send_answer(&mut self, client: ClientId, reply: GetReply) {
        let segments: SmallVec<[_; 1]> = reply.segments.iter().map(|info| info.segment).collect();
        self.reply(client, Reply::Get(reply));
        for segment in segments {
            self.send_segment(client, segment);
        }
    }
}
