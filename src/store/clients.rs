//! What the store knows of each connection.

use std::vec;

use foldhash::fast::FixedState;
use hashbrown::HashSet;
use smallvec::SmallVec;

use crate::ids::{ClientId, SegmentId, Slot};

use super::waiters::GetList;

/// A set of slots. Slots are the server's own numbers, so the hash need not be defended, and a
/// fixed one keeps the order of iteration, and with it every simulation, repeatable.
pub(super) type Slots = HashSet<Slot, FixedState>;

/// What one connection has.
#[derive(Debug)]
pub(super) struct Client {
    /// The objects that it holds.
    pub(super) holds: Slots,
    /// Counts how often it has lost a hold. A long answer is written again if that happened
    /// meanwhile.
    pub(super) releases: u64,
    /// The unsealed objects that it created, held or not.
    pub(super) creating: Slots,
    /// The segments the descriptors of which it was sent.
    pub(super) segments: SmallVec<[SegmentId; 2]>,
    /// Its gets that wait.
    pub(super) gets: GetList,
    /// The ids that these name, repetitions included.
    pub(super) waiting_ids: usize,
    /// What its request to evict that is under way has evicted so far.
    pub(super) evicted_bytes: u64,
    /// What its request to create whole objects, which takes several turns, has created so far.
    pub(super) arriving: Option<Box<Arriving>>,
    /// It is told of seals and deletions.
    pub(super) subscribed: bool,
    /// It was told how to open memory of a device.
    pub(super) opens_blocks: bool,
}

/// Objects that arrive whole in one request.
#[derive(Debug, Default)]
pub(super) struct Arriving {
    /// Those that were created, in the order of the request.
    pub(super) slots: SmallVec<[Slot; 1]>,
    /// How much of the last of them is written. The others are complete.
    pub(super) filled_bytes: u64,
}

/// What a client that is gone has left behind.
#[derive(Debug)]
pub(super) struct Departed {
    pub(super) id: ClientId,
    /// Its gets. They have ended, but for their links.
    pub(super) gets: GetList,
    /// The unsealed objects that it created. They are to vanish.
    pub(super) creating: vec::IntoIter<Slot>,
    /// The other objects that it held. They are to be released.
    pub(super) holds: vec::IntoIter<Slot>,
    /// What is known of its process.
    pub(super) process: Process,
}

/// Whether the process of a connection that is gone may have memory of a device open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Process {
    /// It may, and its end will be told.
    Lingers,
    /// It has none.
    Ended,
    /// It may, and nobody can tell when it ends.
    Unknown,
}

impl Departed {
    pub(super) fn new(id: ClientId, client: Client) -> Self {
        let creating: Vec<Slot> = client.creating.iter().copied().collect();
        let sealed = |slot: &&Slot| !client.creating.contains(*slot);
        let holds: Vec<Slot> = client.holds.iter().filter(sealed).copied().collect();
        let process = if client.opens_blocks { Process::Lingers } else { Process::Ended };
        let (creating, holds) = (creating.into_iter(), holds.into_iter());
        Self { id, gets: client.gets, creating, holds, process }
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Clients {
    slots: Vec<ClientSlot>,
    vacant: Vec<u32>,
    subscribers: usize,
}

#[derive(Debug, Default)]
struct ClientSlot {
    generation: u32,
    client: Option<Client>,
}

impl Clients {
    pub(super) fn connect(&mut self) -> ClientId {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(ClientSlot::default());
            u32::try_from(self.slots.len() - 1).expect("connections are limited to fewer")
        });
        let slot = &mut self.slots[index as usize];
        slot.client = Some(Client {
            holds: Slots::default(),
            releases: 0,
            creating: Slots::default(),
            segments: SmallVec::new(),
            gets: GetList::new(),
            waiting_ids: 0,
            evicted_bytes: 0,
            arriving: None,
            subscribed: false,
            opens_blocks: false,
        });
        ClientId { index, generation: slot.generation }
    }

    /// Takes a client out; its id means nothing any more.
    pub(super) fn disconnect(&mut self, id: ClientId) -> Option<Client> {
        let slot = self.slots.get_mut(id.index as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        let client = slot.client.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.vacant.push(id.index);
        self.subscribers -= usize::from(client.subscribed);
        Some(client)
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&Client> {
        let slot = self.slots.get(id.index as usize)?;
        slot.client.as_ref().filter(|_| slot.generation == id.generation)
    }

    pub(super) fn get_mut(&mut self, id: ClientId) -> Option<&mut Client> {
        let slot = self.slots.get_mut(id.index as usize)?;
        slot.client.as_mut().filter(|_| slot.generation == id.generation)
    }

    pub(super) fn set_subscribed(&mut self, id: ClientId, subscribed: bool) {
        let Some(client) = self.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut client.subscribed, subscribed);
        self.subscribers = self.subscribers + usize::from(subscribed) - usize::from(before);
    }

    /// These objects are gone, whoever held or created them. Slow.
    pub(super) fn forget(&mut self, slots: &[Slot]) {
        for client in self.slots.iter_mut().filter_map(|slot| slot.client.as_mut()) {
            client.releases += 1;
            for slot in slots {
                client.holds.remove(slot);
                client.creating.remove(slot);
            }
        }
    }

    /// Whether anybody wants notices.
    pub(super) fn any_subscriber(&self) -> bool {
        self.subscribers > 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ClientId, &Client)> {
        (0..).zip(&self.slots).filter_map(|(index, slot)| {
            Some((ClientId { index, generation: slot.generation }, slot.client.as_ref()?))
        })
    }
}
