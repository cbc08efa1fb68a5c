//! From nothing to a sealed object: create, abort, seal, and objects that arrive whole.

use super::clients::Arriving;
use super::room::{NoRoom, Placement};
use super::table::{Entry, Location, State};
use super::{Backing, Effect, Moment, Progress, Store, Told};
use crate::ids::{ClientId, DeviceNum, Digest, Extent, ObjectId, Slot};
use crate::protocol::message::{Access, CreateRequest, NewObject, Reply, Status};
use crate::protocol::violation::Violation;

impl Store {
    pub(super) fn create(
        &mut self,
        now: Moment,
        client: ClientId,
        request: CreateRequest,
        backing: &mut impl Backing,
    ) -> Progress {
        let CreateRequest { id, evict_if_full, data_bytes, metadata_bytes, device_num } = request;
        let refuse = |store: &mut Self, status| {
            log::debug!(
                "cannot create object {id} of {data_bytes} and {metadata_bytes} bytes: {status:?}"
            );
            store.reply(client, Reply::Create { id, outcome: Err(status) });
            Progress::Done
        };
        if self.table.find(&id).is_some() {
            return refuse(self, Status::ObjectExists);
        }
        let Some(device) = self.pools.find(device_num) else {
            return refuse(self, Status::OutOfMemory);
        };
        let size_bytes = total(data_bytes, metadata_bytes);
        let Some(charged_bytes) = size_bytes.and_then(|bytes| self.charge(device, bytes)) else {
            return refuse(self, Status::OutOfMemory);
        };
        let place = match self.place(device, Some(client), charged_bytes, evict_if_full, backing) {
            Ok(place) => place,
            Err(NoRoom::Never) => return refuse(self, Status::OutOfMemory),
            Err(NoRoom::Later) => return self.await_room(device, client),
            Err(NoRoom::Unfinished) => return self.go_on_later(client),
        };
        let new = New { id, device, data_bytes, metadata_bytes, location: place.location };
        let slot = self.insert_created(now, client, &new, charged_bytes);
        if place.must_reserve {
            self.begin_reserve(slot, client);
            return Progress::Pause;
        }
        self.reply_created(client, slot);
        Progress::Done
    }

    /// How many bytes of a memory an object takes up.
    fn charge(&self, device: DeviceNum, size_bytes: u64) -> Option<u64> {
        match device {
            DeviceNum::HOST => Some(size_bytes),
            _ => self.devices.charge(size_bytes),
        }
    }

    /// Answers a create that succeeded.
    pub(super) fn reply_created(&mut self, client: ClientId, slot: Slot) {
        let place = self.place_of(slot);
        let entry = &self.table[slot];
        let id = entry.id;
        let access = match entry.device {
            DeviceNum::HOST => Access::Segment(self.segment_info(place.segment)),
            _ => Access::Device(self.device_handle(entry)),
        };
        if place.device != DeviceNum::HOST {
            self.watch_process(client);
        }
        self.reply(client, Reply::Create { id, outcome: Ok((place, access)) });
        if place.device == DeviceNum::HOST {
            self.send_segment(client, place.segment);
        }
    }

    /// Objects that arrive whole: all are created, filled and sealed, or none.
    pub(super) fn create_and_seal(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        objects: &[NewObject<'_>],
        whole: Whole,
        backing: &mut impl Backing,
    ) -> Progress {
        let begun = self.clients.get_mut(client).and_then(|client| client.arriving.take());
        let mut arriving = begun.map_or_else(Arriving::default, |arriving| *arriving);
        let filled = self.fill(now, client, evict_if_full, objects, &mut arriving, backing);
        let slots = arriving.slots;
        match filled {
            Ok(()) => {}
            Err(Refusal::Unfinished) => {
                if let Some(client) = self.clients.get_mut(client) {
                    client.arriving = Some(Box::new(Arriving { slots, ..arriving }));
                }
                return self.go_on_later(client);
            }
            Err(refusal) => {
                for slot in slots {
                    self.remove_object(slot, Told::Nobody);
                }
                let Refusal::Status(status) = refusal else {
                    return self.await_room(DeviceNum::HOST, client);
                };
                self.reply(client, whole.reply(status));
                return Progress::Done;
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
            // One that somebody wanted deleted while the others arrived is gone by now.
            if self.table.get(slot).is_some() {
                self.serve_waiting(slot);
            }
        }
        self.reply(client, whole.reply(Status::Ok));
        Progress::Done
    }

    /// Creates and fills the objects that are not there yet, as far as this turn allows.
    fn fill(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        objects: &[NewObject<'_>],
        arriving: &mut Arriving,
        backing: &mut impl Backing,
    ) -> Result<(), Refusal> {
        let mut objects_left = self.config.max_ids_at_once;
        let mut bytes_left = self.config.max_bytes_at_once;
        loop {
            if let Some(last) = arriving.slots.last() {
                let object = &objects[arriving.slots.len() - 1];
                let done_bytes = &mut arriving.filled_bytes;
                self.fill_one(*last, object, done_bytes, &mut bytes_left, backing)?;
            }
            let Some(object) = objects.get(arriving.slots.len()) else { return Ok(()) };
            if objects_left == 0 {
                return Err(Refusal::Unfinished);
            }
            objects_left -= 1;
            let slot = self.create_unfilled(now, client, evict_if_full, object, backing)?;
            arriving.slots.push(slot);
            arriving.filled_bytes = 0;
        }
    }

    /// Writes the bytes of an object from `done_bytes` on, but no more than `bytes_left`.
    fn fill_one(
        &self,
        slot: Slot,
        object: &NewObject<'_>,
        done_bytes: &mut u64,
        bytes_left: &mut u64,
        backing: &mut impl Backing,
    ) -> Result<(), Refusal> {
        let Some(Location::Host(at)) = self.table[slot].location else { return Ok(()) };
        let data_bytes = object.data.len() as u64;
        for (start_bytes, part) in [(0, object.data), (data_bytes, object.metadata)] {
            let skipped = usize::try_from(done_bytes.saturating_sub(start_bytes));
            let rest = skipped.ok().and_then(|skipped| part.get(skipped..)).unwrap_or_default();
            let length = usize::try_from(*bytes_left).unwrap_or(usize::MAX).min(rest.len());
            if length > 0 {
                let size_bytes = length as u64;
                let offset_bytes = at.extent.offset_bytes + *done_bytes;
                let extent = Extent { offset_bytes, size_bytes, ..at.extent };
                // Whatever was not reserved yet shows now.
                let written = backing.write(extent, &rest[..length]);
                written.map_err(|_| Refusal::Status(Status::OutOfMemory))?;
                *done_bytes += size_bytes;
                *bytes_left -= size_bytes;
            }
            if length < rest.len() {
                return Err(Refusal::Unfinished);
            }
        }
        Ok(())
    }

    fn create_unfilled(
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
        let device = DeviceNum::HOST;
        let Placement { location, .. } =
            self.place(device, Some(client), size_bytes, evict_if_full, backing)?;
        let new = New { id: object.id, device, data_bytes, metadata_bytes, location };
        Ok(self.insert_created(now, client, &new, size_bytes))
    }

    /// Puts a new unsealed object into the table, held by its creator. Its place is taken already.
    fn insert_created(
        &mut self,
        now: Moment,
        client: ClientId,
        new: &New,
        charged_bytes: u64,
    ) -> Slot {
        let New { id, device, data_bytes, metadata_bytes, location } = *new;
        let slot = self.table.insert(Entry {
            id,
            state: State::Unsealed { creator: client, reserving: None },
            data_bytes,
            metadata_bytes,
            device,
            location,
            charged_bytes,
            digest: Digest::default(),
            holders: 1,
            deletion_pending: false,
            create_time_s: now.unix_s,
            created_at_s: seconds(now),
            construct_s: 0,
        });
        let pool = &mut self.pools[device];
        pool.memory_bytes += charged_bytes;
        pool.eviction.insert_created(slot, charged_bytes, client);
        if let Some(client) = self.clients.get_mut(client) {
            client.holds.insert(slot);
            client.creating.insert(slot);
        }
        slot
    }

    pub(super) fn abort(&mut self, client: ClientId, id: ObjectId) {
        let slot = self.table.find(&id).filter(|slot| {
            let creating = State::Unsealed { creator: client, reserving: None };
            self.table[*slot].state == creating
        });
        let Some(slot) = slot else {
            let violation = Violation::AbortOfForeign(id);
            return self.effects.push_back(Effect::Close { client, violation });
        };
        self.remove_object(slot, Told::Nobody);
        self.reply(client, Reply::Abort(id));
    }

    pub(super) fn seal(&mut self, now: Moment, client: ClientId, id: ObjectId, digest: Digest) {
        let Some(slot) = self.table.find(&id) else {
            return self.reply(client, Reply::Seal(id, Status::ObjectNotFound));
        };
        match self.table[slot].state {
            State::Unsealed { creator, reserving: None } if creator == client => {}
            // Somebody else's: nobody but its creator has a reason to know that it exists.
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
}

/// An object that is about to be put into the table.
struct New {
    id: ObjectId,
    device: DeviceNum,
    data_bytes: u64,
    metadata_bytes: u64,
    location: Option<Location>,
}

/// Which request brought whole objects.
#[derive(Clone, Copy)]
pub(super) enum Whole {
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
    /// Try again when the others have had their turn.
    Unfinished,
    /// Tell the client.
    Status(Status),
}

impl From<NoRoom> for Refusal {
    fn from(no_room: NoRoom) -> Self {
        match no_room {
            NoRoom::Never => Self::Status(Status::OutOfMemory),
            NoRoom::Later => Self::Later,
            NoRoom::Unfinished => Self::Unfinished,
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
