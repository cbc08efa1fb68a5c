//! Making room: quota, eviction, and the memory itself.

use super::effect::{Effect, TransferId};
use super::table::Location;
use super::turns::Job;
use super::{Backing, Progress, Reservation, Store, Told, Unavailable};
use crate::allocator::Allocation;
use crate::eviction::{Eviction, OverQuota, QuotaStep};
use crate::ids::{ClientId, DeviceNum, Slot};
use crate::protocol::message::{Reply, SegmentInfo};

/// There is no place for a new object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoRoom {
    /// Nor will there be, whatever is evicted.
    Never,
    /// There will be when objects that are leaving memory have left.
    Later,
    /// So many objects have to go that the others have their turn before all have gone.
    Unfinished,
}

/// Who goes on when room was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RoomWaiter {
    /// A client, the last request of which must be handed in again.
    Client(ClientId),
    /// An object that is wanted back in memory.
    Restore(Slot),
    /// Memory of a device for a new object, which the driver has refused.
    Allocation(TransferId),
}

/// A place for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// `None` for an object without bytes, and on a device if memory must be allocated first.
    pub(super) location: Option<Location>,
    /// Memory has to be reserved or allocated for it before a client may touch it.
    pub(super) must_reserve: bool,
}

/// Why a placement failed, before anything was evicted for it.
enum NoPlace {
    /// There may be one if something is evicted.
    Full,
    /// There can be none.
    Never,
}

impl Store {
    /// Finds a place for an object, and evicts others for it if that is allowed. `creator` is
    /// `None` for an object that comes back from the external store: no quota counts it, and it is
    /// in the table already. For an object that can never fit nothing is evicted.
    pub(super) fn place(
        &mut self,
        device: DeviceNum,
        creator: Option<ClientId>,
        size_bytes: u64,
        may_evict: bool,
        backing: &mut impl Backing,
    ) -> Result<Placement, NoRoom> {
        self.make_room(device, creator, size_bytes, may_evict)?;
        if device != DeviceNum::HOST {
            return Ok(self.place_on_device(device, size_bytes, backing));
        }
        loop {
            match self.try_place(size_bytes, backing) {
                Ok(placement) => return Ok(placement),
                Err(NoPlace::Never) => return Err(NoRoom::Never),
                Err(NoPlace::Full) => self.evict_for_place(size_bytes, may_evict)?,
            }
        }
    }

    fn place_on_device(
        &mut self,
        device: DeviceNum,
        size_bytes: u64,
        backing: &mut impl Backing,
    ) -> Placement {
        let block = if size_bytes > 0 { backing.take_block(device, size_bytes) } else { None };
        let location = block.map(|block| Location::Device(self.devices.insert(block)));
        Placement { location, must_reserve: size_bytes > 0 && location.is_none() }
    }

    /// Makes the count of bytes and objects allow for one more object of `size_bytes`.
    fn make_room(
        &mut self,
        device: DeviceNum,
        creator: Option<ClientId>,
        size_bytes: u64,
        may_evict: bool,
    ) -> Result<(), NoRoom> {
        let pool = &mut self.pools[device];
        let capacity_bytes = pool.capacity_bytes;
        if size_bytes > capacity_bytes || pool.is_lost {
            return Err(NoRoom::Never);
        }
        let max_victims = self.config.max_victims;
        let step = match creator {
            Some(client) => pool.eviction.plan_quota(client, size_bytes, may_evict, max_victims),
            None => Ok(QuotaStep::default()),
        };
        let step = step.map_err(|OverQuota| NoRoom::Never)?;
        // What was not planned may be evicted or pinned, so this may hope for too much, and the
        // create be refused when some of its own client's objects have gone.
        let leaving_bytes = pool.leaving_bytes + step.evicted_bytes + step.unplanned_bytes;
        let lacking_bytes =
            (pool.memory_bytes + size_bytes).saturating_sub(leaving_bytes + capacity_bytes);
        let evictable_bytes = if may_evict { pool.eviction.evictable_bytes() } else { 0 };
        if lacking_bytes > evictable_bytes {
            return Err(NoRoom::Never);
        }
        // An object that comes back is in the table already.
        let new_objects = usize::from(creator.is_some());
        let lacking_objects =
            (self.table.len() + new_objects).saturating_sub(self.config.max_objects);
        if lacking_objects > 0 && step.is_last() {
            let evictable_objects = pool.eviction.evictable_objects() + step.evicted_objects;
            if !may_evict || pool.spills || evictable_objects < lacking_objects {
                return Err(NoRoom::Never);
            }
        }
        let mut victims = std::mem::take(&mut self.victims);
        if let Some(client) = creator {
            pool.eviction.apply_quota(client, step, &mut victims);
        }
        let mut is_unfinished = !step.is_last();
        if step.is_last() {
            if lacking_bytes > 0 {
                // What leaves a device may have to come back over the bus, so no more goes than has
                // to.
                let round_bytes = match device {
                    DeviceNum::HOST => capacity_bytes / Eviction::ROUND_DIVISOR,
                    _ => 0,
                };
                let target_bytes = lacking_bytes.max(round_bytes);
                let policy = &mut pool.eviction;
                let taken_bytes = policy.take_victims(target_bytes, max_victims, &mut victims);
                is_unfinished = taken_bytes < lacking_bytes;
            }
            for _ in victims.len()..lacking_objects {
                pool.eviction.take_oldest(&mut victims);
            }
        }
        if !victims.is_empty() {
            log::debug!(
                "evicting {} objects to make room for {size_bytes} bytes; {} bytes are in use",
                victims.len(),
                pool.memory_bytes
            );
        }
        self.evict(victims);
        if is_unfinished {
            return Err(NoRoom::Unfinished);
        }
        let fits = self.pools[device].memory_bytes + size_bytes <= capacity_bytes;
        if fits { Ok(()) } else { Err(self.later_or_never(device)) }
    }

    /// Evicts one round because memory could not be had though the count allowed for it.
    fn evict_for_place(&mut self, size_bytes: u64, may_evict: bool) -> Result<(), NoRoom> {
        let pool = &mut self.pools.host;
        if !may_evict || pool.eviction.evictable_objects() == 0 {
            return Err(if pool.leaving_bytes > 0 { NoRoom::Later } else { NoRoom::Never });
        }
        let mut victims = std::mem::take(&mut self.victims);
        let round_bytes = pool.capacity_bytes / Eviction::ROUND_DIVISOR;
        let target_bytes = size_bytes.max(round_bytes);
        let max_victims = self.config.max_victims;
        let taken_bytes = pool.eviction.take_victims(target_bytes, max_victims, &mut victims);
        let is_round = taken_bytes >= target_bytes || pool.eviction.evictable_objects() == 0;
        self.evict(victims);
        if !is_round {
            return Err(NoRoom::Unfinished);
        }
        let spills = self.pools.host.spills;
        if spills { Err(self.later_or_never(DeviceNum::HOST)) } else { Ok(()) }
    }

    /// What to tell somebody who needs the objects gone that are leaving.
    fn later_or_never(&self, device: DeviceNum) -> NoRoom {
        // Objects that could not be copied out stay. Choosing them again and again would keep the
        // client waiting for ever.
        if self.pools[device].spilling_fails && self.retrying {
            NoRoom::Never
        } else {
            NoRoom::Later
        }
    }

    /// The client's request is handed in again when room was made.
    pub(super) fn await_room(&mut self, device: DeviceNum, client_id: ClientId) -> Progress {
        self.pools[device].room_queue.push_back(RoomWaiter::Client(client_id));
        Progress::Retry
    }

    /// The client's request is handed in again when the others have had their turn.
    pub(super) fn go_on_later(&mut self, client_id: ClientId) -> Progress {
        self.effects.push_back(Effect::Resume(client_id));
        Progress::Retry
    }

    /// Evicts from the shared queue of host memory on request, without rounding up.
    pub(super) fn evict_on_request(&mut self, client_id: ClientId, bytes: u64) -> Progress {
        if self.config.has_external_store {
            if bytes == 0 || self.pools.host.eviction.evictable_objects() == 0 {
                self.reply(client_id, Reply::Evict { bytes: 0 });
                return Progress::Done;
            }
            let eviction = self.begin_eviction(client_id);
            if let Some(left_bytes) = self.evict_to_external(eviction, bytes) {
                self.jobs.push_back(Job::Evict { eviction, left_bytes });
            }
            return Progress::Pause;
        }
        let Some(client) = self.clients.get_mut(client_id) else { return Progress::Done };
        let mut victims = std::mem::take(&mut self.victims);
        let max_victims = self.config.max_victims;
        let left_bytes = bytes.saturating_sub(client.evicted_bytes);
        let policy = &mut self.pools.host.eviction;
        client.evicted_bytes += policy.take_victims(left_bytes, max_victims, &mut victims);
        let is_done = client.evicted_bytes >= bytes || policy.evictable_objects() == 0;
        let evicted_bytes = client.evicted_bytes;
        if is_done {
            client.evicted_bytes = 0;
        }
        self.evict(victims);
        if !is_done {
            return self.go_on_later(client_id);
        }
        self.reply(client_id, Reply::Evict { bytes: evicted_bytes });
        Progress::Done
    }

    /// Carries out what the policy chose, and keeps the vector for the next time.
    pub(super) fn evict(&mut self, mut victims: Vec<Slot>) {
        for slot in victims.drain(..) {
            if self.pools[self.table[slot].device].spills {
                self.spill(slot, None);
            } else {
                self.remove_object(slot, Told::Subscribers);
            }
        }
        self.victims = victims;
    }

    /// Takes memory for an object that the count allows for.
    fn try_place(
        &mut self,
        size_bytes: u64,
        backing: &mut impl Backing,
    ) -> Result<Placement, NoPlace> {
        if size_bytes == 0 {
            return Ok(Placement { location: None, must_reserve: false });
        }
        // Once as it is, once more after all pages that are not needed were given back.
        for _ in 0..2 {
            let allocation = self.allocate(size_bytes, backing).map_err(|_| NoPlace::Full)?;
            let claimed_bytes = self.allocator.live_bytes() + self.allocator.touched_free_bytes();
            let must_reserve = match backing.reserve(allocation.extent, claimed_bytes) {
                Reservation::Ready => false,
                Reservation::Slow => true,
                refused => {
                    self.allocator.free(allocation);
                    if refused == Reservation::Never {
                        return Err(NoPlace::Never);
                    }
                    while self.give_back_one(backing) {}
                    continue;
                }
            };
            let location = Some(Location::Host(allocation));
            return Ok(Placement { location, must_reserve });
        }
        Err(NoPlace::Full)
    }

    fn allocate(
        &mut self,
        size_bytes: u64,
        backing: &mut impl Backing,
    ) -> Result<Allocation, Unavailable> {
        let allocation = loop {
            if let Some(allocation) = self.allocator.allocate(size_bytes) {
                break allocation;
            }
            // What was touched and what was not may have room only together.
            if !self.give_back_one(backing) {
                let segment = backing.add_segment(size_bytes)?;
                self.push_segment(segment);
                break self.allocator.allocate(size_bytes).ok_or(Unavailable)?;
            }
        };
        self.trim(backing);
        Ok(allocation)
    }

    pub(super) fn push_segment(&mut self, info: SegmentInfo) {
        self.allocator.add_segment(info.segment, info.range_bytes);
        self.segments.push(info);
    }

    /// An object of `charged_bytes` is not where it was, and its memory is free again.
    pub(super) fn leave_memory(
        &mut self,
        device: DeviceNum,
        charged_bytes: u64,
        location: Option<Location>,
    ) {
        match location {
            // Its block has its bytes for as long as it is in use.
            Some(Location::Device(index)) => self.leave_block(index),
            Some(Location::Host(allocation)) => {
                self.pools.host.memory_bytes -= charged_bytes;
                self.free(allocation);
            }
            None => {
                let pool = &mut self.pools[device];
                if !pool.is_lost {
                    pool.memory_bytes -= charged_bytes;
                }
                pool.room_changed = true;
            }
        }
    }

    /// Gives host memory back.
    pub(super) fn free(&mut self, allocation: Allocation) {
        self.pools.host.room_changed = true;
        if self.config.zero_on_free {
            // What the system hands out instead of returned pages is clear.
            self.release_pages(allocation);
        } else {
            self.allocator.free(allocation);
        }
    }

    /// Has the pages of an extent returned; nobody gets it until that is done.
    fn release_pages(&mut self, allocation: Allocation) {
        self.releasing_bytes += allocation.extent.size_bytes;
        self.effects.push_back(Effect::ReleasePages(allocation));
    }

    /// Returns pages of free space to the system as long as more memory is in use than the capacity
    /// calls for. A little more than the capacity is let be, so that a full store with objects of
    /// changing sizes does not give back what it needs again at once.
    fn trim(&mut self, backing: &mut impl Backing) {
        let capacity_bytes = self.config.capacity_bytes;
        let limit_bytes = capacity_bytes + capacity_bytes / 32 + (1 << 20);
        loop {
            let live_bytes = self.allocator.live_bytes() - self.releasing_bytes;
            if live_bytes + self.allocator.touched_free_bytes() <= limit_bytes {
                return;
            }
            if backing.is_limited() {
                if !self.give_back_one(backing) {
                    return;
                }
                continue;
            }
            let Some(coldest) = self.allocator.take_coldest_touched() else {
                return;
            };
            self.release_pages(coldest);
        }
    }

    /// Returns the pages of a few MiB of free space at once, since somebody needs them now. `false`
    /// if there are none to return.
    fn give_back_one(&mut self, backing: &mut impl Backing) -> bool {
        let Some(coldest) = self.allocator.take_coldest_touched() else {
            return false;
        };
        backing.release_pages(coldest.extent);
        self.allocator.free_untouched(coldest);
        true
    }

    /// The pages of an unused stretch were returned.
    pub fn handle_pages_released(&mut self, allocation: Allocation) {
        self.releasing_bytes -= allocation.extent.size_bytes;
        self.allocator.free_untouched(allocation);
    }
}
