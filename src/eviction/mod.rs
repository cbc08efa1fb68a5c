//! Who goes first when room is needed.
//!
//! The policy knows sizes and order, nothing of objects: the store tells it of slots that come, go,
//! are pinned and unpinned, and asks it for victims. An object is *pinned* while anybody holds it
//! and until it is sealed. All operations but those that return many slots take constant time.
//!
//! The rules are those of the original server, since its own tests and its users' capacity planning
//! rest on them:
//!
//! * The shared queue holds each unpinned object that is accounted to nobody, in the order of the
//!   last unpinning.
//! * A client may reserve a quota. What it creates from then on is accounted to a queue of its own
//!   in the order of creation, pinned or not, until it is pushed out of that queue by the client's
//!   own later objects, or the client leaves. Nobody else's needs touch that queue.
//! * Room is made a fifth of the capacity at a time ([`Eviction::ROUND_DIVISOR`]).

mod lru;

use slab::Slab;

use self::lru::{Lru, Node, QueueId};
use crate::ids::{ClientId, Slot};

/// The share of the capacity that quotas must leave to everybody, in percent. The original's
/// number.
const SHARED_PERCENT: u128 = 30;

/// Totals of one queue, for the debug text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueStats {
    /// The name that the client had when it reserved the quota; empty for the shared queue.
    pub label: Vec<u8>,
    /// The bytes that the queue may hold: a quota, or what quotas leave of the capacity.
    pub capacity_bytes: u64,
    /// What a full queue of this kind would hold if there were no quotas.
    pub original_capacity_bytes: u64,
    /// The bytes in the queue.
    pub used_bytes: u64,
    /// The number of objects in the queue.
    pub objects: usize,
    /// How many objects were ever chosen from the queue.
    pub evictions: u64,
    /// And their bytes.
    pub evicted_bytes: u64,
}

/// A queue with a limit and its history.
#[derive(Debug)]
struct Ledger {
    lru: Lru,
    capacity_bytes: u64,
    evictions: u64,
    evicted_bytes: u64,
}

impl Ledger {
    fn new(capacity_bytes: u64) -> Self {
        Self { lru: Lru::new(), capacity_bytes, evictions: 0, evicted_bytes: 0 }
    }

    fn stats(&self, label: &[u8], original_capacity_bytes: u64) -> QueueStats {
        QueueStats {
            label: label.to_vec(),
            capacity_bytes: self.capacity_bytes,
            original_capacity_bytes,
            used_bytes: self.lru.bytes(),
            objects: self.lru.count(),
            evictions: self.evictions,
            evicted_bytes: self.evicted_bytes,
        }
    }
}

/// The reserved share of one client.
#[derive(Debug)]
struct Quota {
    owner: ClientId,
    label: Vec<u8>,
    ledger: Ledger,
}

/// What a client's own queue gives up for a new object. Nothing has changed yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaStep {
    /// How many objects leave the queue, from its old end.
    leaving: usize,
    /// The bytes of those that are evicted; the others are pinned and pass to the shared queue.
    pub evicted_bytes: u64,
    /// How many are evicted.
    pub evicted_objects: usize,
    /// The bytes in the queue behind them, if more must leave than one step may take; else 0.
    pub unplanned_bytes: u64,
}

impl QuotaStep {
    /// Whether the new object fits into the quota after this step.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.unplanned_bytes == 0
    }
}

/// An object does not fit into its creator's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverQuota;

/// The eviction policy.
#[derive(Debug)]
pub struct Eviction {
    capacity_bytes: u64,
    nodes: Vec<Node>,
    global: Ledger,
    /// Indexed by [`QueueId::Quota`].
    quotas: Slab<Quota>,
    /// The index of a client's quota, by the index of the client.
    quota_indices: Vec<Option<u32>>,
    pinned_bytes: u64,
    quota_objects: usize,
    quota_pinned_objects: usize,
}

impl Eviction {
    /// One round of eviction frees at least the capacity divided by this. The original's number;
    /// its tests count the objects that a round takes.
    pub const ROUND_DIVISOR: u64 = 5;

    /// A policy for a store of `capacity_bytes`.
    #[must_use]
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            nodes: Vec::new(),
            global: Ledger::new(capacity_bytes),
            quotas: Slab::new(),
            quota_indices: Vec::new(),
            pinned_bytes: 0,
            quota_objects: 0,
            quota_pinned_objects: 0,
        }
    }

    /// Reserves `quota_bytes` of the capacity for a client, labelled with its present name. `false`
    /// if it has a quota already, or if less than 30 % of the capacity would be left to share.
    pub fn reserve_quota(&mut self, client: ClientId, label: &[u8], quota_bytes: u64) -> bool {
        if self.quota_of(client).is_some() {
            return false;
        }
        let shared_floor = u128::from(self.capacity_bytes) * SHARED_PERCENT;
        match self.global.capacity_bytes.checked_sub(quota_bytes) {
            Some(left) if u128::from(left) * 100 >= shared_floor => {
                self.global.capacity_bytes = left;
            }
            _ => return false,
        }
        let ledger = Ledger::new(quota_bytes);
        let quota = Quota { owner: client, label: label.to_vec(), ledger };
        let index = u32::try_from(self.quotas.insert(quota)).expect("a client has one quota");
        let place = client.index as usize;
        if self.quota_indices.len() <= place {
            self.quota_indices.resize(place + 1, None);
        }
        self.quota_indices[place] = Some(index);
        true
    }

    /// A new object, pinned. It is accounted to `creator` if that client has a quota.
    pub fn insert_created(&mut self, slot: Slot, size_bytes: u64, creator: ClientId) {
        self.insert_restored(slot, size_bytes);
        if let Some(index) = self.quota_of(creator) {
            self.quota_objects += 1;
            self.quota_pinned_objects += 1;
            self.enqueue(slot, QueueId::Quota(index));
        }
    }

    /// An object that comes back from the external store, pinned and accounted to nobody.
    pub fn insert_restored(&mut self, slot: Slot, size_bytes: u64) {
        if self.nodes.len() <= slot.index() {
            self.nodes.resize(slot.index() + 1, Node::VACANT);
        }
        let node = &mut self.nodes[slot.index()];
        debug_assert_eq!(node.queue, QueueId::None, "a slot is inserted once");
        *node = Node { size_bytes, pinned: true, queue: QueueId::Unqueued, ..Node::VACANT };
        self.pinned_bytes += size_bytes;
    }

    /// Somebody needs the object from now on. Nothing happens if it was pinned before.
    pub fn pin(&mut self, slot: Slot) {
        let node = &mut self.nodes[slot.index()];
        debug_assert_ne!(node.queue, QueueId::None, "only what was inserted can be pinned");
        if std::mem::replace(&mut node.pinned, true) {
            return;
        }
        self.pinned_bytes += node.size_bytes;
        match node.queue {
            QueueId::Quota(_) => self.quota_pinned_objects += 1,
            _ => self.dequeue(slot, QueueId::Unqueued),
        }
    }

    /// Nobody needs the object any more: it may be evicted, after all that were unpinned earlier.
    pub fn unpin(&mut self, slot: Slot) {
        let node = &mut self.nodes[slot.index()];
        debug_assert!(node.pinned, "only what is pinned can be unpinned");
        node.pinned = false;
        self.pinned_bytes -= node.size_bytes;
        match node.queue {
            QueueId::Quota(_) => self.quota_pinned_objects -= 1,
            _ => self.enqueue(slot, QueueId::Global),
        }
    }

    /// The object is gone from memory.
    pub fn remove(&mut self, slot: Slot) {
        let node = self.nodes[slot.index()];
        if node.pinned {
            self.pinned_bytes -= node.size_bytes;
        }
        if let QueueId::Quota(_) = node.queue {
            self.quota_objects -= 1;
            self.quota_pinned_objects -= usize::from(node.pinned);
        }
        self.dequeue(slot, QueueId::None);
        self.nodes[slot.index()] = Node::VACANT;
    }

    /// The object is gone, if the policy knew it at all.
    pub fn forget(&mut self, slot: Slot) {
        if self.is_pinned(slot).is_some() {
            self.remove(slot);
        }
    }

    /// Makes the object the most recently used one of the queue that it is in, if it is in one.
    pub fn refresh(&mut self, slot: Slot) {
        let Some(&Node { queue, .. }) = self.nodes.get(slot.index()) else {
            return;
        };
        self.dequeue(slot, QueueId::Unqueued);
        self.enqueue(slot, queue);
    }

    /// What must leave the client's own queue so that a new object fits into its quota, or the
    /// first `max_leaving` objects of that. A client without a quota need give up nothing.
    ///
    /// # Errors
    ///
    /// If the object is larger than the quota, or does not fit now and `may_evict` is not set.
    pub fn plan_quota(
        &self,
        client: ClientId,
        size_bytes: u64,
        may_evict: bool,
        max_leaving: usize,
    ) -> Result<QuotaStep, OverQuota> {
        let mut step = QuotaStep::default();
        let Some(index) = self.quota_of(client) else {
            return Ok(step);
        };
        let ledger = &self.quota(index).ledger;
        if size_bytes > ledger.capacity_bytes {
            return Err(OverQuota);
        }
        // A quota holds more than it may when an object was demoted and its successor accounted.
        let used_bytes = ledger.lru.bytes();
        let excess_bytes = (used_bytes + size_bytes).saturating_sub(ledger.capacity_bytes);
        if excess_bytes > 0 && !may_evict {
            return Err(OverQuota);
        }
        let mut leaving_bytes = 0;
        for slot in ledger.lru.iter(&self.nodes) {
            if leaving_bytes >= excess_bytes {
                break;
            }
            if step.leaving == max_leaving {
                step.unplanned_bytes = used_bytes - leaving_bytes;
                break;
            }
            let node = &self.nodes[slot.index()];
            leaving_bytes += node.size_bytes;
            step.leaving += 1;
            if !node.pinned {
                step.evicted_bytes += node.size_bytes;
                step.evicted_objects += 1;
            }
        }
        Ok(step)
    }

    /// Carries out what [`Eviction::plan_quota`] found, and adds what is evicted to `victims`. The
    /// policy has forgotten these then.
    pub fn apply_quota(&mut self, client: ClientId, step: QuotaStep, victims: &mut Vec<Slot>) {
        let Some(index) = self.quota_of(client) else {
            return;
        };
        for _ in 0..step.leaving {
            let ledger = &self.quota(index).ledger;
            let Some(slot) = ledger.lru.iter(&self.nodes).next() else {
                return;
            };
            self.count_eviction(slot);
            let node = self.nodes[slot.index()];
            if node.pinned {
                self.quota_objects -= 1;
                self.quota_pinned_objects -= 1;
                self.dequeue(slot, QueueId::Unqueued);
            } else {
                self.remove(slot);
                victims.push(slot);
            }
        }
    }

    /// Takes objects from the old end of the shared queue until their bytes reach `target_bytes`,
    /// there are `max_victims` victims, or the queue is empty, and adds them to `victims`. The
    /// policy has forgotten these then. Returns their bytes.
    pub fn take_victims(
        &mut self,
        target_bytes: u64,
        max_victims: usize,
        victims: &mut Vec<Slot>,
    ) -> u64 {
        let mut taken_bytes = 0;
        while taken_bytes < target_bytes && victims.len() < max_victims {
            let Some(size_bytes) = self.take_oldest(victims) else {
                break;
            };
            taken_bytes += size_bytes;
        }
        taken_bytes
    }

    /// Takes the oldest object of the shared queue and returns its size, or `None` if there is
    /// none.
    pub fn take_oldest(&mut self, victims: &mut Vec<Slot>) -> Option<u64> {
        let slot = self.global.lru.iter(&self.nodes).next()?;
        let size_bytes = self.nodes[slot.index()].size_bytes;
        self.count_eviction(slot);
        self.remove(slot);
        victims.push(slot);
        Some(size_bytes)
    }

    /// The client is gone: its quota is everybody's again, and so is its queue, the objects of
    /// which keep their order and become the most recently used ones. Returns whether there are
    /// more victims for others now.
    pub fn remove_client(&mut self, client: ClientId) -> bool {
        let Some(index) = self.quota_of(client) else {
            return false;
        };
        let before = self.evictable_objects();
        let slots: Vec<Slot> = self.quota(index).ledger.lru.iter(&self.nodes).collect();
        for slot in slots {
            let pinned = self.nodes[slot.index()].pinned;
            self.quota_objects -= 1;
            self.quota_pinned_objects -= usize::from(pinned);
            self.dequeue(slot, QueueId::Unqueued);
            if !pinned {
                self.enqueue(slot, QueueId::Global);
            }
        }
        let quota = self.quotas.remove(index as usize);
        self.global.capacity_bytes += quota.ledger.capacity_bytes;
        self.quota_indices[client.index as usize] = None;
        self.evictable_objects() > before
    }

    /// The bytes that [`Eviction::take_victims`] can take at most.
    #[must_use]
    pub fn evictable_bytes(&self) -> u64 {
        self.global.lru.bytes()
    }

    /// The number of objects that [`Eviction::take_victims`] can take at most.
    #[must_use]
    pub fn evictable_objects(&self) -> usize {
        self.global.lru.count()
    }

    /// The bytes of all pinned objects.
    #[must_use]
    pub fn pinned_bytes(&self) -> u64 {
        self.pinned_bytes
    }

    /// How many objects are accounted to quotas.
    #[must_use]
    pub fn quota_objects(&self) -> usize {
        self.quota_objects
    }

    /// How many of them are pinned.
    #[must_use]
    pub fn quota_pinned_objects(&self) -> usize {
        self.quota_pinned_objects
    }

    /// The totals of the shared queue.
    #[must_use]
    pub fn global_stats(&self) -> QueueStats {
        self.global.stats(&[], self.capacity_bytes)
    }

    /// The totals of the queue of each client with a quota.
    pub fn quota_stats(&self) -> impl Iterator<Item = QueueStats> {
        self.quotas
            .iter()
            .map(|(_, Quota { label, ledger, .. })| ledger.stats(label, ledger.capacity_bytes))
    }

    /// Whether the object is pinned; `None` if the policy does not know it.
    #[must_use]
    pub fn is_pinned(&self, slot: Slot) -> Option<bool> {
        let node = self.nodes.get(slot.index())?;
        (node.queue != QueueId::None).then_some(node.pinned)
    }

    /// Checks that totals, links and memberships agree.
    ///
    /// # Panics
    ///
    /// If they do not.
    pub fn check_invariants(&self) {
        let mut queued = 0;
        let ledgers = self.quotas.iter().map(|(index, quota)| {
            let index = u32::try_from(index).expect("few clients have a quota");
            assert_eq!(self.quota_of(quota.owner), Some(index), "a quota is found by its owner");
            (QueueId::Quota(index), &quota.ledger)
        });
        let mut capacity_bytes = 0;
        for (id, ledger) in std::iter::once((QueueId::Global, &self.global)).chain(ledgers) {
            let (mut count, mut bytes) = (0, 0);
            for slot in ledger.lru.iter(&self.nodes) {
                let node = &self.nodes[slot.index()];
                assert_eq!(node.queue, id, "a slot is in the queue that it says");
                assert!(id != QueueId::Global || !node.pinned, "the shared queue has no pins");
                count += 1;
                bytes += node.size_bytes;
            }
            assert_eq!(
                (count, bytes),
                (ledger.lru.count(), ledger.lru.bytes()),
                "totals of {id:?}"
            );
            queued += count;
            capacity_bytes += ledger.capacity_bytes;
        }
        assert_eq!(capacity_bytes, self.capacity_bytes, "shares add up to the capacity");
        let in_queue = |node: &&Node| !matches!(node.queue, QueueId::None | QueueId::Unqueued);
        assert_eq!(
            queued,
            self.nodes.iter().filter(in_queue).count(),
            "each queued slot is linked"
        );
        let in_quota = || self.nodes.iter().filter(|n| matches!(n.queue, QueueId::Quota(_)));
        assert_eq!(self.quota_objects, in_quota().count());
        assert_eq!(self.quota_pinned_objects, in_quota().filter(|node| node.pinned).count());
        let pinned = self.nodes.iter().filter(|node| node.pinned);
        assert_eq!(self.pinned_bytes, pinned.map(|node| node.size_bytes).sum::<u64>());
    }

    fn quota_of(&self, client: ClientId) -> Option<u32> {
        let index = (*self.quota_indices.get(client.index as usize)?)?;
        (self.quota(index).owner == client).then_some(index)
    }

    fn quota(&self, index: u32) -> &Quota {
        &self.quotas[index as usize]
    }

    fn enqueue(&mut self, slot: Slot, queue: QueueId) {
        self.nodes[slot.index()].queue = queue;
        if let Some(ledger) = ledger_mut(&mut self.global, &mut self.quotas, queue) {
            ledger.lru.push_newest(&mut self.nodes, slot);
        }
    }

    /// Takes the slot out of its queue, if it is in one.
    fn dequeue(&mut self, slot: Slot, now: QueueId) {
        let queue = std::mem::replace(&mut self.nodes[slot.index()].queue, now);
        if let Some(ledger) = ledger_mut(&mut self.global, &mut self.quotas, queue) {
            ledger.lru.remove(&mut self.nodes, slot);
        }
    }

    fn count_eviction(&mut self, slot: Slot) {
        let Node { size_bytes, queue, .. } = self.nodes[slot.index()];
        if let Some(ledger) = ledger_mut(&mut self.global, &mut self.quotas, queue) {
            ledger.evictions += 1;
            ledger.evicted_bytes += size_bytes;
        }
    }
}

/// The queue of that name. A free function, so that the table of nodes can be borrowed beside it.
fn ledger_mut<'a>(
    global: &'a mut Ledger,
    quotas: &'a mut Slab<Quota>,
    queue: QueueId,
) -> Option<&'a mut Ledger> {
    match queue {
        QueueId::None | QueueId::Unqueued => None,
        QueueId::Global => Some(global),
        QueueId::Quota(index) => Some(&mut quotas[index as usize].ledger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: ClientId = ClientId { index: 0, generation: 0 };
    const BOB: ClientId = ClientId { index: 1, generation: 0 };

    /// Creates and unpins one object per size, in slots from `first` on.
    fn fill(policy: &mut Eviction, client: ClientId, first: u32, sizes: &[u64]) {
        for (slot, &size) in (first..).zip(sizes) {
            policy.insert_created(Slot(slot), size, client);
            policy.unpin(Slot(slot));
        }
        policy.check_invariants();
    }

    fn victims(policy: &mut Eviction, target_bytes: u64) -> Vec<u32> {
        let mut slots = Vec::new();
        policy.take_victims(target_bytes, usize::MAX, &mut slots);
        policy.check_invariants();
        slots.into_iter().map(|slot| slot.0).collect()
    }

    #[test]
    fn the_least_recently_unpinned_goes_first() {
        let mut policy = Eviction::new(1000);
        fill(&mut policy, ALICE, 0, &[10, 10, 10]);
        policy.pin(Slot(0));
        policy.unpin(Slot(0));
        assert_eq!(victims(&mut policy, 15), [1, 2]);
        assert_eq!(victims(&mut policy, 100), [0]);
        assert_eq!(policy.evictable_bytes(), 0);
    }

    #[test]
    fn empty_objects_at_the_old_end_go_along() {
        let mut policy = Eviction::new(1000);
        fill(&mut policy, ALICE, 0, &[0, 0, 5, 0]);
        assert_eq!(victims(&mut policy, 0), []);
        assert_eq!(victims(&mut policy, 1), [0, 1, 2]);
    }

    #[test]
    fn refresh_moves_only_what_is_queued() {
        let mut policy = Eviction::new(1000);
        fill(&mut policy, ALICE, 0, &[1, 1, 1]);
        policy.pin(Slot(1));
        policy.refresh(Slot(0));
        policy.refresh(Slot(1));
        policy.refresh(Slot(77));
        assert_eq!(victims(&mut policy, 10), [2, 0]);
    }

    #[test]
    fn quotas_leave_thirty_percent() {
        let mut policy = Eviction::new(10_000_000);
        assert!(!policy.reserve_quota(ALICE, b"a", 7_000_001));
        assert!(policy.reserve_quota(ALICE, b"a", 7_000_000));
        assert!(!policy.reserve_quota(ALICE, b"a", 1));
        assert!(!policy.reserve_quota(BOB, b"b", 1));
        assert!(policy.reserve_quota(BOB, b"b", 0));
        policy.remove_client(ALICE);
        policy.check_invariants();
        assert_eq!(policy.global_stats().capacity_bytes, 10_000_000);
    }

    #[test]
    fn a_quota_evicts_its_own_and_demotes_what_is_pinned() {
        let mut policy = Eviction::new(1000);
        assert!(policy.reserve_quota(ALICE, b"a", 100));
        fill(&mut policy, ALICE, 0, &[40, 40]);
        policy.pin(Slot(0));
        assert_eq!(policy.plan_quota(ALICE, 101, true, 9), Err(OverQuota));
        assert_eq!(policy.plan_quota(ALICE, 30, false, 9), Err(OverQuota));
        let step = policy.plan_quota(ALICE, 70, true, 1).unwrap();
        assert_eq!((step.evicted_bytes, step.unplanned_bytes), (0, 40), "one at a time");
        let step = policy.plan_quota(ALICE, 70, true, 9).unwrap();
        assert!(step.is_last());
        assert_eq!((step.evicted_bytes, step.evicted_objects), (40, 1));
        let mut out = Vec::new();
        policy.apply_quota(ALICE, step, &mut out);
        policy.check_invariants();
        assert_eq!(out, [Slot(1)]);
        assert_eq!((policy.quota_objects(), policy.pinned_bytes()), (0, 40));
        policy.unpin(Slot(0));
        assert_eq!(victims(&mut policy, 1), [0]);
    }

    #[test]
    fn nobody_elses_needs_touch_a_quota_queue() {
        let mut policy = Eviction::new(1000);
        assert!(policy.reserve_quota(ALICE, b"a", 500));
        fill(&mut policy, ALICE, 0, &[10, 10]);
        fill(&mut policy, BOB, 2, &[10]);
        assert_eq!(victims(&mut policy, 1000), [2]);
    }

    #[test]
    fn a_leaving_clients_queue_keeps_its_order() {
        let mut policy = Eviction::new(1000);
        assert!(policy.reserve_quota(ALICE, b"a", 500));
        fill(&mut policy, ALICE, 0, &[10, 10, 10]);
        fill(&mut policy, BOB, 3, &[10]);
        policy.pin(Slot(1));
        policy.remove_client(ALICE);
        policy.check_invariants();
        policy.unpin(Slot(1));
        assert_eq!(victims(&mut policy, 1000), [3, 0, 2, 1]);
    }
}
