//! An ordered queue of slots with byte totals, every operation in constant time.
//!
//! The links of all queues live in one table indexed by slot, since a slot is in at most one queue
//! at a time. A queue itself is two ends and two totals.

use crate::ids::Slot;

/// "No neighbour" in a link.
const NONE: u32 = u32::MAX;

/// What the policy knows of one slot: its size, where it queues, and its neighbours there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Data and metadata, in bytes.
    pub(super) size_bytes: u64,
    /// The neighbour towards the least recently used end.
    pub(super) older: u32,
    /// The neighbour towards the most recently used end.
    pub(super) newer: u32,
    /// Which queue the slot is in.
    pub(super) queue: QueueId,
    /// Somebody needs the object where it is: it may not be chosen for eviction.
    pub(super) pinned: bool,
}

impl Node {
    pub(super) const VACANT: Self =
        Self { size_bytes: 0, older: NONE, newer: NONE, queue: QueueId::None, pinned: false };
}

/// The queue that a slot is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueueId {
    /// The policy does not know the slot.
    None,
    /// Known and accounted to nobody, but pinned, so in no queue.
    Unqueued,
    /// The queue that all clients share.
    Global,
    /// The queue of one client with a quota, by its index in the policy's table.
    Quota(u32),
}

/// A queue from the least to the most recently used slot.
#[derive(Debug)]
pub(super) struct Lru {
    oldest: u32,
    newest: u32,
    count: usize,
    bytes: u64,
}

impl Lru {
    pub(super) fn new() -> Self {
        Self { oldest: NONE, newest: NONE, count: 0, bytes: 0 }
    }

    /// The number of slots in the queue.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The sum of their sizes, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a slot that is in no queue at the most recently used end.
    pub(super) fn push_newest(&mut self, nodes: &mut [Node], slot: Slot) {
        let node = &mut nodes[slot.index()];
        node.older = self.newest;
        node.newer = NONE;
        self.count += 1;
        self.bytes += node.size_bytes;
        match self.newest {
            NONE => self.oldest = slot.0,
            newest => nodes[newest as usize].newer = slot.0,
        }
        self.newest = slot.0;
    }

    /// Takes out a slot that is in this queue.
    pub(super) fn remove(&mut self, nodes: &mut [Node], slot: Slot) {
        let Node { older, newer, size_bytes, .. } = nodes[slot.index()];
        match older {
            NONE => self.oldest = newer,
            older => nodes[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => nodes[newer as usize].older = older,
        }
        self.count -= 1;
        self.bytes -= size_bytes;
    }

    /// The slots from the least recently used on.
    pub(super) fn iter<'a>(&self, nodes: &'a [Node]) -> impl Iterator<Item = Slot> + use<'a> {
        let mut next = self.oldest;
        std::iter::from_fn(move || {
            let slot = (next != NONE).then_some(Slot(next))?;
            next = nodes[slot.index()].newer;
            Some(slot)
        })
    }
}
