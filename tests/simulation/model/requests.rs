//! Each request, in the order of the protocol's description.

use std::time::Duration;

use plasma_store::allocator::FIRST_USABLE_BYTES;
use plasma_store::ids::{ClientId, DeviceNum, Digest, Extent, ObjectId};
use plasma_store::protocol::message::{
    Access, CreateRequest, GetReply, GetTimeout, Notice, ObjectInfo, Place, Reply, SegmentInfo,
    Status, TooLarge,
};
use plasma_store::protocol::violation::Violation;
use plasma_store::store::{Effect, Moment, Progress};

use super::room::{NoRoom, Spot};
use super::{Get, Model, Object, Serial, State, Waiter};
use crate::operation::{Operation, Whole, ids};

impl Model {
    pub(crate) fn request(
        &mut self,
        now: Moment,
        client: ClientId,
        operation: &Operation,
        again: bool,
    ) -> Progress {
        self.retrying = again;
        let may_starve = again && self.spilling_fails;
        let progress = match operation {
            Operation::Create { request, fill } => self.create(now, client, *request, *fill),
            Operation::CreateAndSeal { evict_if_full, object } => {
                self.create_and_seal(now, client, *evict_if_full, &[*object], Reply::CreateAndSeal)
            }
            Operation::Batch { evict_if_full, objects } => {
                let reply = Reply::CreateAndSealBatch;
                self.create_and_seal(now, client, *evict_if_full, objects, reply)
            }
            Operation::Evict(bytes) => self.evict_on_request(client, *bytes),
            _ => {
                self.simple_request(now, client, operation);
                Progress::Done
            }
        };
        if progress == Progress::Retry {
            self.turn("a request has to be handed in again");
        } else if may_starve && progress == Progress::Done {
            self.turn("a request is refused though it has waited for room");
        }
        self.settle();
        progress
    }

    fn simple_request(&mut self, now: Moment, client: ClientId, operation: &Operation) {
        match operation {
            Operation::Disconnect => self.disconnect(client),
            Operation::Connect => {
                let capacity_bytes = self.capacity_bytes;
                self.expect_reply(client, Reply::Connect { capacity_bytes });
            }
            Operation::Create { .. }
            | Operation::CreateAndSeal { .. }
            | Operation::Batch { .. }
            | Operation::Evict(_) => unreachable!("done by the caller"),
            Operation::TooLarge(TooLarge::CreateAndSeal) => {
                self.expect_reply(client, Reply::CreateAndSeal(Status::OutOfMemory));
            }
            Operation::TooLarge(TooLarge::CreateAndSealBatch) => {
                self.expect_reply(client, Reply::CreateAndSealBatch(Status::OutOfMemory));
            }
            Operation::Abort(name) => self.abort(client, name.id()),
            Operation::Seal(name, digest) => self.seal(now, client, name.id(), *digest),
            Operation::Get { names, timeout } => self.get(now, client, &ids(names), *timeout),
            Operation::Release(name) => {
                if let Some(serial) = self.serial_of(&name.id()) {
                    let tie = self.number();
                    self.drop_hold(client, serial, tie);
                }
            }
            Operation::Delete(names) => {
                let outcomes = ids(names).into_iter().map(|id| (id, self.delete(id))).collect();
                self.expect_reply(client, Reply::Delete(outcomes));
            }
            Operation::Contains(name) => {
                let id = name.id();
                let is_there = self.find(&id).is_some_and(Object::is_sealed);
                self.expect_reply(client, Reply::Contains(id, is_there));
            }
            Operation::List => self.list(client),
            Operation::Subscribe => self.subscribe(client),
            Operation::SetOptions { label, quota_bytes } => {
                let status = self.set_options(client, label, *quota_bytes);
                self.expect_reply(client, Reply::SetOptions(status));
            }
            Operation::DebugString => self.expect_debug_text(client),
            Operation::RefreshLru(names) => {
                for id in ids(names) {
                    self.refresh(id);
                }
                self.expect_reply(client, Reply::RefreshLru);
            }
        }
    }

    fn create(
        &mut self,
        now: Moment,
        client: ClientId,
        request: CreateRequest,
        fill: u64,
    ) -> Progress {
        let CreateRequest { id, evict_if_full, data_bytes, metadata_bytes, device_num } = request;
        // As clients compute: in signed numbers.
        let total_bytes = u128::from(data_bytes) + u128::from(metadata_bytes);
        let is_size = total_bytes <= u128::from(u64::MAX / 2);
        let outcome = if self.find(&id).is_some() {
            Err(Status::ObjectExists)
        } else if device_num != 0 || !is_size {
            Err(Status::OutOfMemory)
        } else {
            match self.place(Some(client), data_bytes + metadata_bytes, evict_if_full) {
                Ok(spot) => Ok(spot),
                Err(NoRoom::Later) => return self.await_room(client),
                Err(NoRoom::Never) => Err(Status::OutOfMemory),
            }
        };
        match outcome {
            Err(status) => {
                self.expect_reply(client, Reply::Create { id, outcome: Err(status) });
                Progress::Done
            }
            Ok(spot) => {
                let serial =
                    self.insert(now, client, id, (data_bytes, metadata_bytes), fill, spot.extent);
                if spot.slow {
                    self.expect_reserve(serial, client);
                    return Progress::Pause;
                }
                self.expect_created(client, serial);
                Progress::Done
            }
        }
    }

    fn await_room(&mut self, client: ClientId) -> Progress {
        self.room_queue.push(Waiter::Client(client));
        Progress::Retry
    }

    /// A new unsealed object, held by its creator and accounted to it if it has a quota.
    fn insert(
        &mut self,
        now: Moment,
        client: ClientId,
        id: ObjectId,
        (data_bytes, metadata_bytes): (u64, u64),
        fill: u64,
        extent: Option<Extent>,
    ) -> Serial {
        let serial = self.number();
        self.objects.push(Object {
            id,
            serial,
            state: State::Unsealed { creator: client, reserving: false },
            data_bytes,
            metadata_bytes,
            fill,
            extent,
            key: None,
            digest: [0; 8],
            holders: vec![client],
            deletion_pending: false,
            create_time_s: now.unix_s,
            created_at_s: now.elapsed.as_secs(),
            construct_s: 0,
        });
        if let Some(quota) = self.quota_of(client) {
            quota.queue.push(serial);
        }
        serial
    }

    pub(super) fn expect_created(&mut self, client: ClientId, serial: Serial) {
        let id = self.object(serial).id;
        let (place, segment) = self.place_of(serial);
        self.expect_reply(
            client,
            Reply::Create { id, outcome: Ok((place, Access::Segment(segment))) },
        );
        self.expect_segment(client, place.segment);
    }

    fn place_of(&self, serial: Serial) -> (Place, SegmentInfo) {
        let object = self.object(serial);
        let first = self.segments[0].segment;
        let (segment, offset_bytes) = match object.extent {
            Some(extent) => (extent.segment, extent.offset_bytes),
            // Of no bytes, but an address in a segment.
            None => (first, FIRST_USABLE_BYTES),
        };
        let info = self.segments.iter().find(|info| info.segment == segment);
        let (data_bytes, metadata_bytes) = (object.data_bytes, object.metadata_bytes);
        let device = DeviceNum::HOST;
        let place = Place { segment, device, offset_bytes, data_bytes, metadata_bytes };
        (place, *info.expect("the segment was added"))
    }

    fn seal(&mut self, now: Moment, client: ClientId, id: ObjectId, digest: Digest) {
        let object = self.find(&id).cloned();
        match object.as_ref().map(|object| object.state) {
            Some(State::Unsealed { creator, reserving: false }) if creator == client => {}
            // Another client's object is none of this one's business.
            None | Some(State::Unsealed { .. }) => {
                return self.expect_reply(client, Reply::Seal(id, Status::ObjectNotFound));
            }
            Some(_) => {
                let violation = Violation::SealOfSealed(id);
                return self.expect(&Effect::Close { client, violation });
            }
        }
        let serial = object.expect("it exists").serial;
        self.set_sealed(now, serial, digest);
        self.expect_notices(vec![sealed_notice(self.object(serial))]);
        self.serve_waiting(serial);
        if self.object(serial).holders.is_empty() {
            let tie = self.number();
            self.unheld(serial, tie);
        }
        self.expect_reply(client, Reply::Seal(id, Status::Ok));
    }

    fn set_sealed(&mut self, now: Moment, serial: Serial, digest: Digest) {
        let object = self.object_mut(serial);
        object.state = State::Sealed;
        object.digest = digest;
        object.construct_s = now.elapsed.as_secs() - object.created_at_s;
    }

    fn create_and_seal(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        objects: &[Whole],
        reply: fn(Status) -> Reply,
    ) -> Progress {
        let mut serials = Vec::new();
        for object in objects {
            match self.create_whole(now, client, evict_if_full, object) {
                Ok(serial) => serials.push(serial),
                Err(refusal) => {
                    for serial in serials {
                        self.remove(serial);
                    }
                    let Some(status) = refusal else {
                        return self.await_room(client);
                    };
                    self.expect_reply(client, reply(status));
                    return Progress::Done;
                }
            }
        }
        for (serial, object) in serials.iter().zip(objects) {
            self.set_sealed(now, *serial, object.digest);
        }
        let notices = serials.iter().map(|serial| sealed_notice(self.object(*serial))).collect();
        self.expect_notices(notices);
        for serial in &serials {
            let tie = self.number();
            self.drop_hold(client, *serial, tie);
        }
        for serial in serials {
            self.serve_waiting(serial);
        }
        self.expect_reply(client, reply(Status::Ok));
        Progress::Done
    }

    /// `Err(None)` is to be tried again later.
    fn create_whole(
        &mut self,
        now: Moment,
        client: ClientId,
        evict_if_full: bool,
        object: &Whole,
    ) -> Result<Serial, Option<Status>> {
        let id = object.name.id();
        if self.find(&id).is_some() {
            return Err(Some(Status::ObjectExists));
        }
        let size_bytes = object.data_bytes + object.metadata_bytes;
        let spot = self.place(Some(client), size_bytes, evict_if_full);
        let Spot { extent, .. } = spot.map_err(|no_room| match no_room {
            NoRoom::Later => None,
            NoRoom::Never => Some(Status::OutOfMemory),
        })?;
        if let Some(extent) = extent
            && !self.is_written(extent)
        {
            self.room_changed = true;
            self.turn("contents cannot be written");
            return Err(Some(Status::OutOfMemory));
        }
        let sizes = (object.data_bytes, object.metadata_bytes);
        Ok(self.insert(now, client, id, sizes, object.fill, extent))
    }

    fn abort(&mut self, client: ClientId, id: ObjectId) {
        let creating = State::Unsealed { creator: client, reserving: false };
        match self.find(&id).filter(|object| object.state == creating).map(|o| o.serial) {
            Some(serial) => {
                self.remove(serial);
                self.expect_reply(client, Reply::Abort(id));
            }
            None => {
                let violation = Violation::AbortOfForeign(id);
                self.expect(&Effect::Close { client, violation });
            }
        }
    }

    fn get(&mut self, now: Moment, client: ClientId, ids: &[ObjectId], timeout: GetTimeout) {
        let (mut lacking, mut outside) = (Vec::new(), Vec::new());
        for id in ids {
            let object = self.find(id).map(|object| (object.serial, object.state));
            match object {
                Some((serial, State::Sealed | State::Spilling)) => {
                    self.hold(client, serial);
                    continue;
                }
                Some((serial, State::Spilled | State::Starved)) if !lacking.contains(id) => {
                    outside.push(serial);
                }
                _ => {}
            }
            if !lacking.contains(id) {
                lacking.push(*id);
            }
        }
        let number = self.number();
        let (ids, mut get_deadline) = (ids.to_vec(), None);
        if let GetTimeout::Milliseconds(ms) = timeout {
            get_deadline = now.elapsed.checked_add(Duration::from_millis(ms));
        }
        self.gets.push(Get {
            number,
            client,
            ids,
            lacking,
            deadline: get_deadline,
            // It cannot be over before all restores have begun.
            expired: false,
        });
        for serial in outside {
            self.restore(serial);
        }
        if timeout == GetTimeout::Now {
            self.gets.last_mut().expect("it was pushed").expired = true;
        }
        self.finish_if_over(number);
    }

    /// Answers a get if it has waited enough.
    pub(super) fn finish_if_over(&mut self, number: u64) {
        let position = self.gets.iter().position(|get| get.number == number);
        let position = position.expect("the get waits");
        let get = &self.gets[position];
        let is_over = get.lacking.is_empty()
            || (get.expired && !get.lacking.iter().any(|id| self.is_coming(id)));
        if !is_over {
            return;
        }
        let get = self.gets.remove(position);
        let mut reply = GetReply::default();
        for id in &get.ids {
            let is_held =
                |object: &&Object| object.is_available() && object.holders.contains(&get.client);
            let found = self.find(id).filter(is_held).map(|object| self.place_of(object.serial));
            reply.objects.push((*id, found.map(|(place, _)| place)));
            if let Some((_, info)) = found
                && !reply.segments.contains(&info)
            {
                reply.segments.push(info);
            }
        }
        let segments = reply.segments.clone();
        self.expect_reply(get.client, Reply::Get(reply));
        for info in segments {
            self.expect_segment(get.client, info.segment);
        }
    }

    /// The object has become available: those that wait hold it, in the order in which they began.
    pub(super) fn serve_waiting(&mut self, serial: Serial) {
        let id = self.object(serial).id;
        let waiting = self.gets.iter().filter(|get| get.lacking.contains(&id));
        let waiting: Vec<_> = waiting.map(|get| (get.number, get.client)).collect();
        if !waiting.is_empty() {
            self.turn("a get is answered late");
        }
        if waiting.len() > 1 && self.object(serial).holders.is_empty() {
            self.turn("an object is fetched for several gets");
        }
        for get in &mut self.gets {
            get.lacking.retain(|other| *other != id);
        }
        for (number, client) in waiting {
            self.hold(client, serial);
            self.finish_if_over(number);
        }
    }

    fn delete(&mut self, id: ObjectId) -> Status {
        let Some(object) = self.find(&id) else {
            return Status::ObjectNotFound;
        };
        let serial = object.serial;
        let status = match object.state {
            State::Unsealed { .. } => Status::ObjectNotSealed,
            State::Queued | State::Copying => Status::ObjectInUse,
            _ if !object.holders.is_empty() => Status::ObjectInUse,
            _ => {
                self.remove(serial);
                self.expect_notices(vec![Notice::Deleted(id)]);
                return Status::Ok;
            }
        };
        self.object_mut(serial).deletion_pending = true;
        status
    }

    fn list(&mut self, client: ClientId) {
        let row = |object: &Object| ObjectInfo {
            id: object.id,
            data_bytes: object.data_bytes,
            metadata_bytes: object.metadata_bytes,
            holders: u32::try_from(object.holders.len()).expect("few"),
            create_time_s: object.create_time_s,
            sealed: object.is_sealed().then(|| {
                (u32::try_from(object.construct_s).expect("tests are short"), object.digest)
            }),
        };
        let mut rows: Vec<_> = self.objects.iter().map(row).collect();
        rows.sort_by_key(|row| row.id);
        if let Some(Effect::Reply { reply: Reply::List(found), .. }) = self.effects.front_mut() {
            found.sort_by_key(|row| row.id);
        }
        self.expect_reply(client, Reply::List(rows));
    }

    fn subscribe(&mut self, client: ClientId) {
        self.client_mut(client).subscribed = true;
        let available = self.objects.iter().filter(|object| object.is_available());
        let mut notices: Vec<_> = available.map(sealed_notice).collect();
        while !notices.is_empty() {
            let found = notices.iter().position(|notice| {
                matches!(self.effects.front(), Some(Effect::Notify { notices, .. })
                    if notices.contains(notice))
            });
            let notices = vec![notices.remove(found.unwrap_or(0))];
            self.expect(&Effect::Notify { only: Some(client), notices });
        }
    }
}

fn sealed_notice(object: &Object) -> Notice {
    Notice::Sealed {
        id: object.id,
        data_bytes: object.data_bytes,
        metadata_bytes: object.metadata_bytes,
        digest: object.digest,
    }
}
