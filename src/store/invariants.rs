//! What must hold between any two events.

use super::Store;
use super::clients::Departed;
use super::pools::Pool;
use super::room::RoomWaiter;
use super::table::{Entry, RestorePhase, State};
use super::turns::Job;
use crate::ids::{DeviceNum, Slot};

impl Store {
    /// Checks everything that this module states about the store. Slow: for tests.
    ///
    /// # Panics
    ///
    /// If something does not hold.
    pub fn check_invariants(&self) {
        self.allocator.check_invariants();
        self.devices.check_invariants();
        self.waiters.check_invariants();
        for device in std::iter::once(DeviceNum::HOST).chain(self.pools.device_nums()) {
            let pool = &self.pools[device];
            if !pool.is_lost {
                pool.eviction.check_invariants();
                self.check_memory(device, pool);
            }
        }
        self.check_extents();
        for (slot, entry) in self.table.iter() {
            self.check_entry(slot, entry);
        }
        self.check_holds();
        self.check_gets();
    }

    fn check_memory(&self, device: DeviceNum, pool: &Pool) {
        let here = || self.table.iter().filter(|(_, entry)| entry.device == device);
        let is_starved =
            |entry: &Entry| matches!(entry.state, State::Restoring(_, RestorePhase::Starved(_)));
        let starved = here().filter(|(_, entry)| is_starved(entry));
        assert_eq!(pool.starved.len(), starved.count(), "each is listed once");
        let in_memory = |entry: &Entry| match entry.state {
            State::Spilled(_) => false,
            State::Restoring(_, phase) => matches!(phase, RestorePhase::Copying(_)),
            _ => true,
        };
        let objects = here().filter(|(_, entry)| in_memory(entry));
        let object_bytes: u64 = objects.map(|(_, entry)| entry.charged_bytes).sum();
        let orphans = self.transfers.orphans().filter(|orphan| orphan.device == device);
        let orphan_bytes: u64 = orphans.map(|orphan| orphan.charged_bytes).sum();
        let counted_bytes = object_bytes + orphan_bytes + self.devices.abandoned_bytes(device);
        assert_eq!(pool.memory_bytes, counted_bytes, "bytes in memory");
        assert!(pool.memory_bytes <= pool.capacity_bytes, "the capacity is kept");
        let leaving = |(_, entry): &(Slot, &Entry)| {
            matches!(entry.state, State::Spilling(_)) && entry.holders == 0
        };
        let leaving_bytes: u64 = here().filter(leaving).map(|(_, entry)| entry.charged_bytes).sum();
        assert_eq!(pool.leaving_bytes, leaving_bytes + orphan_bytes, "bytes that are leaving");
    }

    fn check_extents(&self) {
        let mut extents: Vec<_> = self
            .table
            .iter()
            .filter_map(|(_, entry)| entry.location?.allocation())
            .map(|allocation| allocation.extent)
            .collect();
        extents.sort_by_key(|extent| (extent.segment, extent.offset_bytes));
        for pair in extents.windows(2) {
            let apart =
                pair[0].segment != pair[1].segment || pair[0].end_bytes() <= pair[1].offset_bytes;
            assert!(apart, "{:?} and {:?} overlap", pair[0], pair[1]);
        }
        for extent in extents {
            let info = self.segments.iter().find(|info| info.segment == extent.segment);
            assert!(extent.end_bytes() <= info.expect("a known segment").range_bytes);
        }
    }

    fn check_entry(&self, slot: Slot, entry: &Entry) {
        assert_eq!(self.table.find(&entry.id), Some(slot), "an object is found under its id");
        let pool = &self.pools[entry.device];
        let pinned = pool.eviction.is_pinned(slot);
        match entry.state {
            State::Unsealed { creator, reserving } => {
                let is_left = |departed: &Departed| {
                    departed.id == creator && departed.creating.as_slice().contains(&slot)
                };
                let is_known = match self.clients.get(creator) {
                    Some(creator) => creator.creating.contains(&slot),
                    None => self.jobs.iter().filter_map(Job::departed).any(is_left),
                };
                assert!(is_known, "its creator is connected, or left it behind");
                assert_eq!(pinned, Some(true), "what is unsealed is never evicted");
                assert!(entry.holders <= 1);
                if let Some(transfer) = reserving {
                    assert_eq!(self.transfers.slot(transfer), Some(slot));
                }
            }
            State::Sealed => {
                let is_needed = entry.holders > 0 || self.is_lingering(entry);
                assert_eq!(pinned, Some(is_needed));
            }
            State::Spilling(transfer) => {
                assert_eq!(self.transfers.slot(transfer), Some(slot));
                assert_eq!(pinned, (entry.holders > 0).then_some(true));
            }
            State::Spilled(_) => assert_eq!((pinned, entry.holders), (None, 0)),
            State::Restoring(_, phase) => {
                assert_eq!((pinned, entry.holders), (None, 0));
                let known = match phase {
                    RestorePhase::Copying(transfer) => self.transfers.slot(transfer) == Some(slot),
                    RestorePhase::Queued => pool.room_queue.contains(&RoomWaiter::Restore(slot)),
                    RestorePhase::Starved(turn) => pool.starved.get(&turn) == Some(&slot),
                };
                assert!(known, "{entry:?} is on its way back");
            }
        }
        let is_done = entry.state == State::Sealed && entry.holders == 0;
        assert!(!entry.deletion_pending || !is_done, "what is to be deleted is in use");
        assert!(
            !entry.is_available() || !self.waiters.is_awaited(&entry.id),
            "nobody waits for it"
        );
        let in_memory = !matches!(entry.state, State::Spilled(_) | State::Restoring(..));
        let is_allocating = self.allocating(entry);
        let has_place = in_memory && entry.charged_bytes > 0 && !is_allocating;
        assert_eq!(entry.location.is_some(), has_place);
    }

    /// Whether memory of a device is still being allocated for the object.
    fn allocating(&self, entry: &Entry) -> bool {
        let is_reserving = matches!(entry.state, State::Unsealed { reserving: Some(_), .. });
        is_reserving && entry.device != DeviceNum::HOST
    }

    fn check_holds(&self) {
        let mut holders = std::collections::HashMap::<Slot, u32>::new();
        for (id, client) in self.clients.iter() {
            for slot in &client.holds {
                assert!(self.table.get(*slot).is_some(), "what is held exists");
                *holders.entry(*slot).or_default() += 1;
            }
            for slot in &client.creating {
                let creator = self.table.get(*slot).and_then(Entry::creator);
                assert_eq!(creator, Some(id), "what a client creates is its own");
            }
        }
        let departed = self.jobs.iter().filter_map(Job::departed);
        for slot in departed.flat_map(|departed| departed.holds.as_slice()) {
            *holders.entry(*slot).or_default() += 1;
        }
        for (slot, entry) in self.table.iter() {
            if entry.creator().is_none_or(|creator| self.clients.get(creator).is_some()) {
                assert_eq!(entry.holders, holders.get(&slot).copied().unwrap_or(0), "holders");
            }
        }
    }

    fn check_gets(&self) {
        let mut owned = 0;
        for (id, client) in self.clients.iter() {
            for (place, get_id) in client.gets.iter().enumerate() {
                let get = self.waiters.get(*get_id).expect("what is listed exists");
                assert_eq!((get.client, get.place_in_list), (id, place), "a get knows its client");
                owned += 1;
            }
        }
        assert_eq!(self.waiters.iter().count(), owned, "a waiting get has a client");
        let known = |id| {
            let slot = self.table.find(id);
            slot.is_none_or(|slot| !self.table[slot].is_available())
        };
        assert!(self.waiters.awaited().all(known));
    }
}
