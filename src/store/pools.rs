//! The memories that objects live in: the host's, and that of each device.
//!
//! Each has its own count of bytes, its own policy and its own queues, so that a shortage in one
//! never touches an object in another.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Index, IndexMut};

use super::room::RoomWaiter;
use crate::eviction::Eviction;
use crate::ids::{DeviceNum, Slot};

/// One memory.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) capacity_bytes: u64,
    /// What is evicted is kept somewhere else, rather than lost.
    pub(super) spills: bool,
    /// There is no such device, or none any more: nothing finds a place here.
    pub(super) is_lost: bool,
    pub(super) eviction: Eviction,
    /// The bytes of all objects in this memory, those on their way out or in included: of host
    /// memory data and metadata, of a device whole blocks.
    pub(super) memory_bytes: u64,
    /// Of these, what will have left when the transfers under way are complete.
    pub(super) leaving_bytes: u64,
    /// How many transfers are under way, from here or to here.
    pub(super) transfers: usize,
    /// Who goes on when room was made.
    pub(super) room_queue: VecDeque<RoomWaiter>,
    /// Objects in [`super::table::RestorePhase::Starved`], by their turn.
    pub(super) starved: BTreeMap<u64, Slot>,
    /// The turn of the last of these.
    pub(super) last_turn: u64,
    /// Something may fit now that did not before.
    pub(super) room_changed: bool,
    /// The last copy out failed.
    pub(super) spilling_fails: bool,
}

impl Pool {
    pub(super) fn new(capacity_bytes: u64, spills: bool) -> Self {
        Self {
            capacity_bytes,
            spills,
            is_lost: false,
            eviction: Eviction::new(capacity_bytes),
            memory_bytes: 0,
            leaving_bytes: 0,
            transfers: 0,
            room_queue: VecDeque::new(),
            starved: BTreeMap::new(),
            last_turn: 0,
            room_changed: false,
            spilling_fails: false,
        }
    }

    /// The memory of a device that is not to be had.
    pub(super) fn lost() -> Self {
        Self { is_lost: true, ..Self::new(0, false) }
    }
}

/// All memories.
#[derive(Debug)]
pub(super) struct Pools {
    pub(super) host: Pool,
    pub(super) devices: Vec<Pool>,
}

impl Pools {
    /// The number of a memory as clients know it, if objects can be placed there.
    pub(super) fn find(&self, device_num: i32) -> Option<DeviceNum> {
        let device = DeviceNum(u16::try_from(device_num).ok()?);
        let Some(ordinal) = device.ordinal() else { return Some(device) };
        self.devices.get(ordinal).filter(|pool| !pool.is_lost).map(|_| device)
    }

    /// The numbers of all devices.
    pub(super) fn device_nums(&self) -> impl Iterator<Item = DeviceNum> + use<> {
        (1..).take(self.devices.len()).map(DeviceNum)
    }
}

impl Index<DeviceNum> for Pools {
    type Output = Pool;

    fn index(&self, device: DeviceNum) -> &Pool {
        match device.ordinal() {
            None => &self.host,
            Some(ordinal) => &self.devices[ordinal],
        }
    }
}

impl IndexMut<DeviceNum> for Pools {
    fn index_mut(&mut self, device: DeviceNum) -> &mut Pool {
        match device.ordinal() {
            None => &mut self.host,
            Some(ordinal) => &mut self.devices[ordinal],
        }
    }
}
