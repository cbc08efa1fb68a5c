//! What takes long, and what goes on when it has ended.

use plasma_store::ids::{ClientId, Extent, ExternalKey};
use plasma_store::protocol::message::{Notice, Reply, Status};
use plasma_store::store::{Effect, Moment, TransferId};

use super::room::NoRoom;
use super::{Eviction, Model, Purpose, Serial, State, Transfer, Waiter};

impl Model {
    pub(super) fn expect_reserve(&mut self, serial: Serial, client: ClientId) {
        let extent = self.object(serial).extent;
        match self.effects.pop_front() {
            Some(Effect::Reserve { transfer, allocation }) => {
                assert_eq!(Some(allocation.extent), extent, "the place of the object");
                self.begin_transfer(transfer, serial, extent, Purpose::Reserve(client));
            }
            other => panic!("{other:?} instead of a reservation for {extent:?}"),
        }
        self.object_mut(serial).state = State::Unsealed { creator: client, reserving: true };
    }

    pub(super) fn expect_spill(&mut self, serial: Serial, request: Option<u64>) {
        let (id, extent) = (self.object(serial).id, self.object(serial).extent);
        match self.effects.pop_front() {
            Some(Effect::Spill { transfer, key, allocation }) if key.id == id => {
                assert_eq!(allocation.map(|at| at.extent), extent, "the place of the object");
                assert!(!self.used_keys.contains(&key), "{key:?} was used before");
                self.used_keys.push(key);
                let purpose = Purpose::Spill(key, request);
                self.begin_transfer(transfer, serial, extent, purpose);
            }
            other => panic!("{other:?} instead of a spill of {id:?}"),
        }
        self.object_mut(serial).state = State::Spilling;
    }

    fn expect_restore(&mut self, serial: Serial, key: ExternalKey, extent: Option<Extent>) {
        match self.effects.pop_front() {
            Some(Effect::Restore { transfer, key: found, allocation }) if found == key => {
                assert_eq!(allocation.map(|at| at.extent), extent, "the place of the object");
                self.begin_transfer(transfer, serial, extent, Purpose::Restore(key));
            }
            other => panic!("{other:?} instead of a restore of {key:?}"),
        }
    }

    fn begin_transfer(
        &mut self,
        id: TransferId,
        serial: Serial,
        extent: Option<Extent>,
        purpose: Purpose,
    ) {
        assert!(self.transfers.iter().all(|other| other.id != id), "{id:?} is under way");
        let size_bytes = self.object(serial).size_bytes();
        self.transfers.push(Transfer { id, serial, size_bytes, extent, purpose });
    }

    fn end_transfer(&mut self, id: TransferId) -> (Transfer, Option<Serial>) {
        let position = self.transfers.iter().position(|transfer| transfer.id == id);
        let transfer = self.transfers.remove(position.expect("it is under way"));
        let serial = self.get_object(transfer.serial).map(|object| object.serial);
        (transfer, serial)
    }

    pub(crate) fn reserved(&mut self, id: TransferId, done: bool) {
        let (transfer, serial) = self.end_transfer(id);
        let Purpose::Reserve(creator) = transfer.purpose else {
            panic!("{transfer:?} is no reservation");
        };
        match serial {
            None => self.room_changed = true,
            Some(serial) => {
                self.object_mut(serial).state = State::Unsealed { creator, reserving: false };
                if done {
                    self.expect_created(creator, serial);
                } else {
                    let id = self.object(serial).id;
                    self.remove(serial);
                    let outcome = Err(Status::OutOfMemory);
                    self.expect_reply(creator, Reply::Create { id, outcome });
                }
                self.expect(&Effect::Resume(creator));
            }
        }
        self.go_on();
    }

    pub(crate) fn spilled(&mut self, id: TransferId, done: bool) {
        let (transfer, serial) = self.end_transfer(id);
        let Purpose::Spill(key, request) = transfer.purpose else {
            panic!("{transfer:?} is no spill");
        };
        self.spilling_fails = !done;
        if !done {
            self.turn("a spill fails");
        }
        let is_held = serial.is_some_and(|serial| !self.object(serial).holders.is_empty());
        let is_of_use = done && serial.is_some() && !is_held;
        if is_held {
            self.turn("a spilling object is held again");
        }
        if let Some(serial) = serial {
            let object = self.object_mut(serial);
            if is_of_use {
                object.state = State::Spilled;
                object.extent = None;
                object.key = Some(key);
                self.room_changed = true;
            } else {
                // Somebody holds it again, or there is no copy.
                object.state = State::Sealed;
                if !is_held {
                    self.becomes_evictable(serial);
                }
            }
        } else {
            self.room_changed = true;
        }
        if done && !is_of_use {
            self.expect(&Effect::Forget(key));
        }
        let has_left = serial.is_none() || is_of_use;
        self.count_eviction(request, if has_left { transfer.size_bytes } else { 0 });
        self.go_on();
    }

    /// One of the objects of a request to evict is done with; the last one answers it.
    fn count_eviction(&mut self, request: Option<u64>, bytes: u64) {
        let is_it = |eviction: &Eviction| Some(eviction.number) == request;
        let Some(position) = self.evictions.iter().position(is_it) else {
            return;
        };
        let eviction = &mut self.evictions[position];
        eviction.evicted_bytes += bytes;
        eviction.left -= 1;
        if eviction.left == 0 {
            let Eviction { client, evicted_bytes: bytes, .. } = self.evictions.remove(position);
            self.expect_reply(client, Reply::Evict { bytes });
            self.expect(&Effect::Resume(client));
        }
    }

    pub(crate) fn restored(&mut self, now: Moment, id: TransferId, done: bool) {
        let (transfer, serial) = self.end_transfer(id);
        let Purpose::Restore(key) = transfer.purpose else {
            panic!("{transfer:?} is no restore");
        };
        let serial = serial.expect("what is on its way back is not removed");
        let object = self.object_mut(serial);
        if done {
            object.state = State::Sealed;
            object.key = None;
            // Its life in memory begins anew.
            object.create_time_s = now.unix_s;
            object.construct_s = 0;
            self.expect(&Effect::Forget(key));
            self.serve_waiting(serial);
            if self.object(serial).holders.is_empty() {
                let tie = self.number();
                self.unheld(serial, tie);
            }
        } else {
            object.state = State::Spilled;
            object.extent = None;
            self.room_changed = true;
            self.give_up(serial);
        }
        self.go_on();
    }

    /// Begins to bring an object back, if there is room; else as soon as there is.
    pub(super) fn restore(&mut self, serial: Serial) {
        let Some(object) = self.get_object(serial) else {
            return;
        };
        if !matches!(object.state, State::Spilled | State::Queued | State::Starved) {
            return;
        }
        let key = object.key.expect("it was spilled");
        match self.place(None, object.size_bytes(), true) {
            Ok(spot) => {
                self.starved.retain(|other| *other != serial);
                self.expect_restore(serial, key, spot.extent);
                let object = self.object_mut(serial);
                object.state = State::Copying;
                object.extent = spot.extent;
            }
            Err(NoRoom::Later) => {
                self.starved.retain(|other| *other != serial);
                self.room_queue.push(Waiter::Restore(serial));
                self.turn("a restore waits for room");
                self.object_mut(serial).state = State::Queued;
            }
            Err(NoRoom::Never) => {
                if !self.starved.contains(&serial) {
                    self.starved.push(serial);
                }
                self.turn("a restore starves");
                self.object_mut(serial).state = State::Starved;
                self.give_up(serial);
            }
        }
    }

    /// The object does not come back for now: gets whose time is up wait for it no longer, and if
    /// it was to be deleted it can be.
    fn give_up(&mut self, serial: Serial) {
        let (id, is_deleted) = {
            let object = self.object(serial);
            (object.id, object.deletion_pending)
        };
        let waiting = self.gets.iter().filter(|get| get.lacking.contains(&id));
        let waiting: Vec<u64> = waiting.map(|get| get.number).collect();
        for number in waiting {
            self.finish_if_over(number);
        }
        if is_deleted {
            self.turn("an object is deleted when its restore is given up");
            self.remove(serial);
            self.expect_notices(vec![Notice::Deleted(id)]);
        }
    }

    /// Something has ended: whoever waits for room tries again.
    fn go_on(&mut self) {
        for waiter in std::mem::take(&mut self.room_queue) {
            match waiter {
                Waiter::Client(client) => self.expect(&Effect::Resume(client)),
                Waiter::Restore(serial) => {
                    self.retrying = true;
                    self.restore(serial);
                }
            }
        }
        self.settle();
    }

    /// At the end of an event in which room was made, what starves is tried again.
    pub(super) fn settle(&mut self) {
        if !std::mem::take(&mut self.room_changed) {
            return;
        }
        for serial in std::mem::take(&mut self.starved) {
            let Some(object) = self.get_object(serial) else {
                continue;
            };
            let id = object.id;
            self.object_mut(serial).state = State::Spilled;
            if self.is_awaited(&id) {
                self.retrying = true;
                self.restore(serial);
            }
        }
    }
}
