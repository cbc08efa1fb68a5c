//! The objects of the store.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use crate::allocator::Allocation;
use crate::ids::{ClientId, DeviceNum, Digest, ObjectId, Slot};

use super::devices::BlockIndex;
use super::effect::TransferId;

/// What the store knows of one object.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: ObjectId,
    pub(super) state: State,
    pub(super) data_bytes: u64,
    pub(super) metadata_bytes: u64,
    /// Which memory it lives in, also while it was copied out of it.
    pub(super) device: DeviceNum,
    /// Where it is, while it is in that memory; an object without bytes is nowhere.
    pub(super) location: Option<Location>,
    /// The bytes that it takes up there, in all.
    pub(super) charged_bytes: u64,
    pub(super) digest: Digest,
    /// How many connections hold it.
    pub(super) holders: u32,
    /// It goes away as soon as nobody holds it.
    pub(super) deletion_pending: bool,
    /// Seconds since 1970.
    pub(super) create_time_s: i64,
    /// On the store's own clock, in seconds.
    pub(super) created_at_s: u32,
    /// From create to seal, in seconds.
    pub(super) construct_s: u32,
}

/// Where an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Location {
    /// In host memory.
    Host(Allocation),
    /// In the memory of a device.
    Device(BlockIndex),
}

impl Location {
    /// The extent, in host memory.
    pub(super) fn allocation(self) -> Option<Allocation> {
        match self {
            Self::Host(allocation) => Some(allocation),
            Self::Device(_) => None,
        }
    }

    /// The block, on a device.
    pub(super) fn block(self) -> Option<BlockIndex> {
        match self {
            Self::Host(_) => None,
            Self::Device(index) => Some(index),
        }
    }
}

/// The life of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Being filled by its creator.
    Unsealed {
        /// Whose disconnection ends it.
        creator: ClientId,
        /// Memory for it is being reserved; its creator has had no answer yet.
        reserving: Option<TransferId>,
    },
    /// Complete and in the memory where it lives.
    Sealed,
    /// Like [`State::Sealed`], but being copied out; to be evicted then unless somebody holds it.
    Spilling(TransferId),
    /// In the external store only, or copied out of a device, under this number.
    Spilled(u64),
    /// The same, and wanted where it lives.
    Restoring(u64, RestorePhase),
}

/// How far a restore has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RestorePhase {
    /// It is being copied in.
    Copying(TransferId),
    /// It will be, as soon as objects that are leaving memory have left.
    Queued,
    /// There is no room. Gets wait for it as for an object that does not exist, until there is.
    /// With its turn among those that are in this phase.
    Starved(u64),
}

impl Entry {
    /// Data and metadata together.
    pub(super) fn contents_bytes(&self) -> u64 {
        self.data_bytes + self.metadata_bytes
    }

    /// Whether a get may be given the object right away.
    pub(super) fn is_available(&self) -> bool {
        matches!(self.state, State::Sealed | State::Spilling(_))
    }

    /// Who creates the object, if it is not sealed yet.
    pub(super) fn creator(&self) -> Option<ClientId> {
        match self.state {
            State::Unsealed { creator, .. } => Some(creator),
            _ => None,
        }
    }

    /// Whether clients count the object as sealed.
    pub(super) fn is_sealed(&self) -> bool {
        !matches!(self.state, State::Unsealed { .. })
    }
}

/// All objects, found by id or by slot.
#[derive(Debug)]
pub(super) struct Table {
    entries: Vec<Option<Entry>>,
    vacant: Vec<Slot>,
    /// The slots by the hash of their object's id. Ids are chosen by clients and seldom random, so
    /// the hash covers all of an id and differs from one server to the next.
    index: HashTable<Slot>,
    hasher: RandomState,
}

impl Table {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            vacant: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// The object in a slot that may be vacant.
    pub(super) fn get(&self, slot: Slot) -> Option<&Entry> {
        self.entries.get(slot.index())?.as_ref()
    }

    pub(super) fn find(&self, id: &ObjectId) -> Option<Slot> {
        let same = |slot: &Slot| self[*slot].id == *id;
        self.index.find(self.hasher.hash_one(id), same).copied()
    }

    /// Adds an object, the id of which must not be in the table.
    pub(super) fn insert(&mut self, entry: Entry) -> Slot {
        debug_assert!(self.find(&entry.id).is_none(), "an id names one object");
        let hash = self.hasher.hash_one(entry.id);
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push(None);
            Slot(u32::try_from(self.entries.len() - 1).expect("objects are limited to fewer"))
        });
        self.entries[slot.index()] = Some(entry);
        let (entries, hasher) = (&self.entries, &self.hasher);
        let rehash = |slot: &Slot| hasher.hash_one(occupied(entries, *slot).id);
        self.index.insert_unique(hash, slot, rehash);
        slot
    }

    pub(super) fn remove(&mut self, slot: Slot) -> Entry {
        let hash = self.hasher.hash_one(self[slot].id);
        if let Ok(found) = self.index.find_entry(hash, |other| *other == slot) {
            found.remove();
        }
        self.vacant.push(slot);
        self.entries[slot.index()].take().expect("only what is in the table is removed")
    }

    /// How many slots there are, vacant ones included.
    pub(super) fn slot_count(&self) -> usize {
        self.entries.len()
    }

    /// The objects in `count` slots from `first` on.
    pub(super) fn range(&self, first: Slot, count: usize) -> impl Iterator<Item = (Slot, &Entry)> {
        let slots = (first.0..).map(Slot).zip(self.entries.iter().skip(first.index())).take(count);
        slots.filter_map(|(slot, entry)| Some((slot, entry.as_ref()?)))
    }

    /// All objects, in the order of their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Slot, &Entry)> {
        self.range(Slot(0), self.entries.len())
    }
}

fn occupied(entries: &[Option<Entry>], slot: Slot) -> &Entry {
    entries[slot.index()].as_ref().expect("a slot that is kept anywhere has its object")
}

impl std::ops::Index<Slot> for Table {
    type Output = Entry;

    fn index(&self, slot: Slot) -> &Entry {
        occupied(&self.entries, slot)
    }
}

impl std::ops::IndexMut<Slot> for Table {
    fn index_mut(&mut self, slot: Slot) -> &mut Entry {
        let entry = self.entries[slot.index()].as_mut();
        entry.expect("a slot that is kept anywhere has its object")
    }
}
