//! What objects on devices need besides: blocks of memory, copies of them, and processes that may
//! still have memory open when their connection is gone.
//!
//! An object that is evicted from a device is copied to host memory, which is called *parking*
//! here, and from there to the external store if there is one and the parking space is full. Both
//! take place beneath the states `Spilling`, `Spilled` and `Restoring`: the shell knows where a
//! copy is. Here only the space is counted.

use std::collections::BTreeMap;

use slab::Slab;

use super::clients::Process;
use super::room::RoomWaiter;
use super::table::{Entry, Location, RestorePhase, State};
use super::turns::Job;
use super::{Effect, Store, Told};
use crate::eviction::Eviction;
use crate::ids::{ClientId, DeviceBlock, DeviceNum, ExternalKey, Slot};
use crate::protocol::message::DeviceHandle;

/// The number of a block in the store's own table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct BlockIndex(usize);

/// A block of device memory that is in use.
#[derive(Debug)]
struct Held {
    block: Box<DeviceBlock>,
    /// How many connections are gone that held its object, and the processes of which may still
    /// have it open.
    lingering: u32,
    /// Nobody could tell when one of these processes ended.
    may_be_open: bool,
    /// No object is in it any more.
    is_abandoned: bool,
}

/// See the head of this module.
#[derive(Debug)]
pub(super) struct Devices {
    /// Objects take up whole multiples of this.
    granule_bytes: u64,
    blocks: Slab<Held>,
    /// The blocks that connections held when they went, until their processes have ended, with
    /// the objects that were in them then.
    lingering: BTreeMap<ClientId, Vec<(BlockIndex, Slot)>>,
    /// Copies in host memory, oldest first; those under way are pinned.
    parking: Eviction,
    parking_bytes: u64,
}

impl Devices {
    pub(super) fn new(granule_bytes: u64, parking_bytes: u64) -> Self {
        Self {
            granule_bytes,
            blocks: Slab::new(),
            lingering: BTreeMap::new(),
            parking: Eviction::new(parking_bytes),
            parking_bytes,
        }
    }

    /// How much of a device's memory an object takes up; `None` if that is no number of bytes.
    pub(super) fn charge(&self, contents_bytes: u64) -> Option<u64> {
        contents_bytes.checked_next_multiple_of(self.granule_bytes)
    }

    pub(super) fn insert(&mut self, block: Box<DeviceBlock>) -> BlockIndex {
        let held = Held { block, lingering: 0, may_be_open: false, is_abandoned: false };
        BlockIndex(self.blocks.insert(held))
    }

    pub(super) fn block(&self, index: BlockIndex) -> &DeviceBlock {
        &self.blocks[index.0].block
    }

    fn parked_bytes(&self) -> u64 {
        self.parking.evictable_bytes() + self.parking.pinned_bytes()
    }

    /// The copy of this object is not in host memory any more, if it was.
    pub(super) fn unpark(&mut self, slot: Slot) {
        self.parking.forget(slot);
    }

    /// The copy is complete, or no longer needed right now: it may have to make room for others.
    pub(super) fn unpin_copy(&mut self, slot: Slot) {
        if self.parking.is_pinned(slot) == Some(true) {
            self.parking.unpin(slot);
        }
    }

    /// The copy is about to be read.
    pub(super) fn pin_copy(&mut self, slot: Slot) {
        if self.parking.is_pinned(slot).is_some() {
            self.parking.pin(slot);
        }
    }

    /// What blocks that are kept only for processes take up on a device.
    pub(super) fn abandoned_bytes(&self, device: DeviceNum) -> u64 {
        let held = self.blocks.iter().map(|(_, held)| held);
        let abandoned = held.filter(|held| held.is_abandoned && held.block.device == device);
        abandoned.map(|held| held.block.size_bytes).sum()
    }

    pub(super) fn check_invariants(&self) {
        self.parking.check_invariants();
        assert!(self.parked_bytes() <= self.parking_bytes, "the parking space is kept");
        let lingering: usize = self.lingering.values().map(Vec::len).sum();
        let counted: u32 = self.blocks.iter().map(|(_, held)| held.lingering).sum();
        assert_eq!(lingering, counted as usize, "who lingers is listed");
    }
}

impl Store {
    /// How a client opens the memory of an object on a device.
    pub(super) fn device_handle(&self, entry: &Entry) -> DeviceHandle {
        let block = entry.location.and_then(Location::block);
        let handle = block.map(|index| Box::new(self.devices.block(index).handle));
        DeviceHandle { size_bytes: entry.contents_bytes(), handle }
    }

    /// The client learns how to open memory of a device.
    pub(super) fn watch_process(&mut self, client_id: ClientId) {
        if let Some(client) = self.clients.get_mut(client_id)
            && !std::mem::replace(&mut client.opens_blocks, true)
        {
            self.effects.push_back(Effect::WatchProcess(client_id));
        }
    }

    /// An object is out of its block. Its bytes are free when no process can have it open.
    pub(super) fn leave_block(&mut self, index: BlockIndex) {
        let held = &mut self.devices.blocks[index.0];
        held.is_abandoned = true;
        if held.lingering == 0 {
            self.free_block(index);
        }
    }

    fn free_block(&mut self, index: BlockIndex) {
        let Held { block, may_be_open, .. } = self.devices.blocks.remove(index.0);
        let pool = &mut self.pools[block.device];
        if pool.is_lost {
            return;
        }
        pool.memory_bytes -= block.size_bytes;
        pool.room_changed = true;
        self.effects.push_back(Effect::FreeBlock { block, may_be_open });
    }

    /// A connection that held this object is gone; its process may still have the memory open.
    pub(super) fn linger(&mut self, client: ClientId, process: Process, slot: Slot) {
        let Some(index) = self.table[slot].location.and_then(Location::block) else { return };
        match process {
            Process::Ended => {}
            Process::Unknown => self.devices.blocks[index.0].may_be_open = true,
            Process::Lingers => {
                self.devices.blocks[index.0].lingering += 1;
                self.devices.lingering.entry(client).or_default().push((index, slot));
            }
        }
    }

    /// The process of a connection that is gone has ended, and with it all that it had open; or,
    /// with `is_certain` not set, nobody can tell when it does.
    pub fn handle_process_ended(&mut self, client: ClientId, is_certain: bool) {
        let mut departed = self.jobs.iter_mut().filter_map(Job::departed_mut);
        if let Some(departed) = departed.find(|departed| departed.id == client) {
            departed.process = if is_certain { Process::Ended } else { Process::Unknown };
        }
        for (index, slot) in self.devices.lingering.remove(&client).unwrap_or_default() {
            let held = &mut self.devices.blocks[index.0];
            held.lingering -= 1;
            held.may_be_open |= !is_certain;
            if held.lingering > 0 {
                continue;
            }
            if held.is_abandoned {
                self.free_block(index);
            } else if self.table[slot].holders == 0 && self.table[slot].state == State::Sealed {
                self.on_unheld(slot);
            }
        }
    }

    /// Whether a process may have the object's memory open though its connection is gone. To evict
    /// the object would not give its memory back.
    pub(super) fn is_lingering(&self, entry: &Entry) -> bool {
        let block = entry.location.and_then(Location::block);
        block.is_some_and(|index| self.devices.blocks[index.0].lingering > 0)
    }

    /// Finds room for a copy of an object of a device. `None` if it cannot be kept anywhere, else
    /// whether it is kept in host memory.
    pub(super) fn make_parking_space(&mut self, slot: Slot, size_bytes: u64) -> Option<bool> {
        let has_external_store = self.config.has_external_store;
        let least_bytes = self.devices.parking.pinned_bytes().saturating_add(size_bytes);
        if least_bytes > self.devices.parking_bytes {
            return has_external_store.then_some(false);
        }
        let mut victims = Vec::new();
        while self.devices.parked_bytes() + size_bytes > self.devices.parking_bytes {
            if self.devices.parking.take_oldest(&mut victims).is_none() {
                break;
            }
        }
        for victim in victims {
            let entry = &self.table[victim];
            let (device, id) = (entry.device, entry.id);
            match entry.state {
                State::Spilled(number) | State::Restoring(number, _) if has_external_store => {
                    let key = ExternalKey { id, number };
                    self.effects.push_back(Effect::Demote { device, key });
                }
                _ => self.remove_object(victim, Told::Subscribers),
            }
        }
        self.devices.parking.insert_restored(slot, size_bytes);
        Some(true)
    }

    /// What was copied out of a device could not be moved to the external store, and is lost.
    pub fn handle_copy_lost(&mut self, key: ExternalKey) {
        let Some(slot) = self.table.find(&key.id) else { return };
        match self.table[slot].state {
            State::Spilled(number) | State::Restoring(number, RestorePhase::Starved(_))
                if number == key.number =>
            {
                self.remove_object(slot, Told::Subscribers);
            }
            // A restore that is under way will fail, and then it goes.
            State::Restoring(number, _) if number == key.number => {
                self.table[slot].deletion_pending = true;
            }
            _ => {}
        }
    }

    /// A device does not work any more: all that lived there is gone.
    pub fn handle_device_lost(&mut self, device: DeviceNum) {
        if device == DeviceNum::HOST || std::mem::replace(&mut self.pools[device].is_lost, true) {
            return;
        }
        let here = self.table.iter().filter(|(_, entry)| entry.device == device);
        let slots: Vec<Slot> = here.map(|(slot, _)| slot).collect();
        self.clients.forget(&slots);
        for departed in self.jobs.iter_mut().filter_map(Job::departed_mut) {
            let table = &self.table;
            let stays = |slot: &Slot| table.get(*slot).is_some_and(|entry| entry.device != device);
            let holds: Vec<Slot> = departed.holds.by_ref().filter(stays).collect();
            departed.holds = holds.into_iter();
        }
        for slot in slots {
            let entry = self.table.remove(slot);
            self.pools[device].eviction.forget(slot);
            self.devices.unpark(slot);
            match entry.state {
                State::Unsealed { creator, reserving: Some(transfer) } => {
                    self.transfers.orphan(transfer);
                    self.refuse_create(creator, entry.id);
                }
                State::Spilling(transfer)
                | State::Restoring(_, RestorePhase::Copying(transfer)) => {
                    self.transfers.orphan(transfer);
                }
                State::Spilled(number) | State::Restoring(number, _) => {
                    let key = ExternalKey { id: entry.id, number };
                    self.effects.push_back(Effect::ForgetCopy { device, key });
                }
                State::Unsealed { .. } | State::Sealed => {}
            }
            // A copy that is under way has the block until it ends.
            if let Some(index) = entry.location.and_then(Location::block)
                && !matches!(entry.state, State::Spilling(_))
            {
                self.leave_block(index);
            }
            for get in self.waiters.set_restoring(&entry.id, false) {
                self.finish_if_over(get);
            }
            if entry.is_sealed() {
                self.tell_deleted(slot, entry.id);
            }
        }
        let pool = &mut self.pools[device];
        pool.memory_bytes = 0;
        pool.leaving_bytes = 0;
        pool.starved.clear();
        for waiter in std::mem::take(&mut pool.room_queue) {
            match waiter {
                // It learns by its next try that there is no room.
                RoomWaiter::Client(client) => self.effects.push_back(Effect::Resume(client)),
                RoomWaiter::Allocation(transfer) => drop(self.transfers.remove(transfer)),
                RoomWaiter::Restore(_) => {}
            }
        }
    }
}
