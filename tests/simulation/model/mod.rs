//! What the store should do, written down naively from the rules of the protocol.
//!
//! Everything is a vector that is searched from one end to the other, and what can be computed is
//! not kept: the bytes in memory, the bytes that are leaving, whether a get can count on a restore.
//! Nothing is shared with the store's own modules.
//!
//! The model is called after the store, with what the store did in one event: its effects, and its
//! calls to the memory. It goes through the same event and *expects* each effect in turn. Where the
//! rules leave a choice, it takes the one that the store took, if that is one of those allowed:
//!
//! * which place an object gets, as long as nothing else is there;
//! * in which order a connection that ends releases what it held, and so in which order these
//!   objects are evicted later (`tie` in [`Candidate`]);
//! * in which order gets are answered that are due at the same moment;
//! * the order of lists, of the notices about what a new subscriber finds, and of the clients in
//!   the debug text;
//! * when pages of free memory are given back.

mod debug_text;
mod requests;
mod room;
mod transfers;

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use plasma_store::ids::{ClientId, Digest, Extent, ExternalKey, ObjectId, SegmentId};
use plasma_store::protocol::message::{Notice, Reply, SegmentInfo};
use plasma_store::store::{Effect, Moment, TransferId};

use crate::memory::Call;
use crate::plan::Plan;

/// What has to come up if enough seeds are run: rare turns that are easily missed.
pub(crate) const RARE_TURNS: [&str; 27] = [
    "a request has to be handed in again",
    "a request is refused though it has waited for room",
    "a get is answered late",
    "a get waits for a restore after its time",
    "an object is fetched for several gets",
    "gets are due at the same moment",
    "an order is left open",
    "an own object is evicted for a quota",
    "an own object is demoted for a quota",
    "a quota returns",
    "objects are evicted to limit their number",
    "objects are evicted since memory is refused",
    "memory is reserved slowly",
    "memory is refused for now",
    "memory is refused for ever",
    "a segment is added",
    "a segment is refused",
    "pages are given back at once",
    "pages are given back in the background",
    "contents cannot be written",
    "a spill fails",
    "a spilling object is held again",
    "a spilling object is deleted",
    "a reservation outlives its object",
    "a restore waits for room",
    "a restore starves",
    "an object is deleted when its restore is given up",
];

/// Tells an object from all others that ever were, whatever their id.
pub(crate) type Serial = u64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// `reserving`: its creator has had no answer yet.
    Unsealed {
        creator: ClientId,
        reserving: bool,
    },
    Sealed,
    /// In memory, and being copied out.
    Spilling,
    /// Outside only.
    Spilled,
    /// To be copied in when there is room.
    Queued,
    /// Wanted, but there is no room.
    Starved,
    /// Being copied in.
    Copying,
}

#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) id: ObjectId,
    pub(crate) serial: Serial,
    pub(crate) state: State,
    pub(crate) data_bytes: u64,
    pub(crate) metadata_bytes: u64,
    /// Tells the contents.
    pub(crate) fill: u64,
    /// Where it is, unless it is outside or empty.
    pub(crate) extent: Option<Extent>,
    pub(crate) key: Option<ExternalKey>,
    pub(crate) digest: Digest,
    pub(crate) holders: Vec<ClientId>,
    pub(crate) deletion_pending: bool,
    pub(crate) create_time_s: i64,
    pub(crate) created_at_s: u64,
    pub(crate) construct_s: u64,
}

impl Object {
    pub(crate) fn size_bytes(&self) -> u64 {
        self.data_bytes + self.metadata_bytes
    }

    pub(crate) fn is_available(&self) -> bool {
        matches!(self.state, State::Sealed | State::Spilling)
    }

    pub(crate) fn is_sealed(&self) -> bool {
        !matches!(self.state, State::Unsealed { .. })
    }

    /// Its bytes count as memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        !matches!(self.state, State::Spilled | State::Queued | State::Starved)
    }

    fn is_pinned(&self) -> bool {
        matches!(self.state, State::Unsealed { .. }) || !self.holders.is_empty()
    }
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: ClientId,
    name: Vec<u8>,
    segments: Vec<SegmentId>,
    subscribed: bool,
}

/// A get that waits.
#[derive(Debug)]
pub(crate) struct Get {
    number: u64,
    client: ClientId,
    ids: Vec<ObjectId>,
    lacking: Vec<ObjectId>,
    deadline: Option<Duration>,
    /// It waits only for what is on its way back.
    expired: bool,
}

/// An object in the shared queue. Of neighbours with the same `tie` any may be the older one.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    serial: Serial,
    tie: u64,
}

#[derive(Debug, Default)]
struct Shared {
    /// Oldest first.
    queue: Vec<Candidate>,
    evictions: u64,
    evicted_bytes: u64,
}

#[derive(Debug)]
struct Quota {
    owner: ClientId,
    label: Vec<u8>,
    limit_bytes: u64,
    /// Oldest first.
    queue: Vec<Serial>,
    evictions: u64,
    evicted_bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    Reserve(ClientId),
    /// With the number of the request to evict that it belongs to.
    Spill(ExternalKey, Option<u64>),
    Restore(ExternalKey),
}

/// Something under way. Its memory is its own, even if its object is gone.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    id: TransferId,
    serial: Serial,
    size_bytes: u64,
    extent: Option<Extent>,
    purpose: Purpose,
}

/// A request to evict that is answered when its victims have left memory.
#[derive(Debug)]
struct Eviction {
    number: u64,
    client: ClientId,
    left: usize,
    evicted_bytes: u64,
}

/// Who goes on when something that was under way has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiter {
    Client(ClientId),
    Restore(Serial),
}

/// See the head of this module.
pub(crate) struct Model {
    capacity_bytes: u64,
    max_objects: usize,
    has_external_store: bool,
    pub(crate) clients: Vec<Client>,
    pub(crate) objects: Vec<Object>,
    pub(crate) gets: Vec<Get>,
    shared: Shared,
    quotas: Vec<Quota>,
    transfers: Vec<Transfer>,
    evictions: Vec<Eviction>,
    /// Free memory, the pages of which are being given back.
    releasing: Vec<Extent>,
    segments: Vec<SegmentInfo>,
    room_queue: Vec<Waiter>,
    starved: Vec<Serial>,
    /// Something was freed or became evictable in this event.
    room_changed: bool,
    /// The last spill failed.
    pub(crate) spilling_fails: bool,
    /// What goes on now has waited for room before.
    retrying: bool,
    /// For serials, ties and gets.
    next_number: u64,
    used_keys: Vec<ExternalKey>,
    /// Of [`RARE_TURNS`], those that came up.
    pub(crate) turns: BTreeSet<&'static str>,
    /// What the store did in this event and the model has not come to yet.
    effects: VecDeque<Effect>,
    calls: VecDeque<Call>,
}

impl Model {
    pub(crate) fn new(plan: &Plan, segment: SegmentInfo) -> Self {
        Self {
            capacity_bytes: plan.capacity_bytes,
            max_objects: plan.max_objects,
            has_external_store: plan.has_external_store,
            clients: Vec::new(),
            objects: Vec::new(),
            gets: Vec::new(),
            shared: Shared::default(),
            quotas: Vec::new(),
            transfers: Vec::new(),
            evictions: Vec::new(),
            releasing: Vec::new(),
            segments: vec![segment],
            room_queue: Vec::new(),
            starved: Vec::new(),
            room_changed: false,
            spilling_fails: false,
            retrying: false,
            next_number: 0,
            used_keys: Vec::new(),
            turns: BTreeSet::new(),
            effects: VecDeque::new(),
            calls: VecDeque::new(),
        }
    }

    // ---- an event ----

    /// Takes what the store did.
    pub(crate) fn begin(&mut self, effects: Vec<Effect>, calls: Vec<Call>) {
        self.effects = effects.into();
        self.calls = calls.into();
    }

    /// The event is over: the store did nothing else, and what always holds does.
    pub(crate) fn end(&mut self) {
        self.take_released_pages();
        assert!(self.effects.is_empty(), "not expected: {:?}", self.effects);
        assert!(self.calls.is_empty(), "not expected: {:?}", self.calls);
        assert!(!self.room_changed, "whoever waits for room has been tried");
        assert!(self.memory_bytes() <= self.capacity_bytes, "the capacity is exceeded");
        let mut extents: Vec<Extent> = self.extents().collect();
        extents.extend(&self.releasing);
        extents.sort_by_key(|extent| (extent.segment, extent.offset_bytes));
        for pair in extents.windows(2) {
            let overlap =
                pair[0].segment == pair[1].segment && pair[0].end_bytes() > pair[1].offset_bytes;
            assert!(!overlap, "{:?} and {:?} overlap", pair[0], pair[1]);
        }
    }

    /// The next effect must be this one.
    fn expect(&mut self, expected: &Effect) {
        let found = self.effects.pop_front();
        assert_eq!(found.as_ref(), Some(expected), "(the store's effect is left)");
    }

    fn expect_reply(&mut self, client: ClientId, reply: Reply) {
        self.expect(&Effect::Reply { client, reply });
    }

    /// Subscribers, if there are any, must be told this in one frame.
    fn expect_notices(&mut self, notices: Vec<Notice>) {
        if self.clients.iter().any(|client| client.subscribed) {
            self.expect(&Effect::Notify { only: None, notices });
        }
    }

    /// The segment's descriptor must follow, unless the client has it.
    fn expect_segment(&mut self, client_id: ClientId, segment: SegmentId) {
        let client = self.client_mut(client_id);
        if !client.segments.contains(&segment) {
            client.segments.push(segment);
            self.expect(&Effect::SendSegment { client: client_id, segment });
        }
    }

    fn turn(&mut self, what: &'static str) {
        debug_assert!(RARE_TURNS.contains(&what), "{what} is not listed");
        self.turns.insert(what);
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    // ---- what can be computed ----

    pub(crate) fn find(&self, id: &ObjectId) -> Option<&Object> {
        self.objects.iter().find(|object| object.id == *id)
    }

    fn serial_of(&self, id: &ObjectId) -> Option<Serial> {
        self.find(id).map(|object| object.serial)
    }

    fn get_object(&self, serial: Serial) -> Option<&Object> {
        self.objects.iter().find(|object| object.serial == serial)
    }

    fn object(&self, serial: Serial) -> &Object {
        self.get_object(serial).expect("the object exists")
    }

    fn object_mut(&mut self, serial: Serial) -> &mut Object {
        let object = self.objects.iter_mut().find(|object| object.serial == serial);
        object.expect("the object exists")
    }

    fn client_mut(&mut self, id: ClientId) -> &mut Client {
        let client = self.clients.iter_mut().find(|client| client.id == id);
        client.expect("the client is connected")
    }

    fn quota_of(&mut self, client: ClientId) -> Option<&mut Quota> {
        self.quotas.iter_mut().find(|quota| quota.owner == client)
    }

    fn is_accounted(&self, serial: Serial) -> bool {
        self.quotas.iter().any(|quota| quota.queue.contains(&serial))
    }

    fn orphans(&self) -> impl Iterator<Item = &Transfer> {
        let is_orphan = |transfer: &&Transfer| self.get_object(transfer.serial).is_none();
        self.transfers.iter().filter(is_orphan)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let objects = self.objects.iter().filter(|object| object.is_in_memory());
        let object_bytes: u64 = objects.map(Object::size_bytes).sum();
        object_bytes + self.orphans().map(|orphan| orphan.size_bytes).sum::<u64>()
    }

    /// What will have left memory when all that is under way has ended.
    fn leaving_bytes(&self) -> u64 {
        let is_leaving =
            |object: &&Object| object.state == State::Spilling && object.holders.is_empty();
        let objects = self.objects.iter().filter(is_leaving);
        let object_bytes: u64 = objects.map(Object::size_bytes).sum();
        object_bytes + self.orphans().map(|orphan| orphan.size_bytes).sum::<u64>()
    }

    fn shared_bytes(&self) -> u64 {
        let sizes = self.shared.queue.iter();
        sizes.map(|candidate| self.object(candidate.serial).size_bytes()).sum()
    }

    /// All places that are taken.
    fn extents(&self) -> impl Iterator<Item = Extent> {
        let objects = self.objects.iter().filter_map(|object| object.extent);
        objects.chain(self.orphans().filter_map(|orphan| orphan.extent))
    }

    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        self.gets.iter().filter_map(|get| get.deadline).min()
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.transfers.is_empty()
    }

    fn is_awaited(&self, id: &ObjectId) -> bool {
        self.gets.iter().any(|get| get.lacking.contains(id))
    }

    /// Whether an object is on its way back.
    fn is_coming(&self, id: &ObjectId) -> bool {
        let object = self.find(id);
        object.is_some_and(|object| matches!(object.state, State::Queued | State::Copying))
    }

    /// Panics if a get waits for a sealed object for no good reason. To be asked when nothing is
    /// under way and nothing has failed.
    pub(crate) fn check_nobody_is_forgotten(&self) {
        for object in self.objects.iter().filter(|object| self.is_awaited(&object.id)) {
            match object.state {
                State::Unsealed { .. } => {}
                State::Starved => {
                    let lacking_bytes = (self.memory_bytes() + object.size_bytes())
                        .saturating_sub(self.capacity_bytes);
                    assert!(lacking_bytes > self.shared_bytes(), "forgotten: {object:?}");
                }
                _ => panic!("a get waits for {object:?}"),
            }
        }
    }

    /// The names of what a client holds, and of what it is creating.
    pub(crate) fn held_by(&self, client: ClientId) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |object| object.holders.contains(&client))
    }

    /// Whether memory is still being copied or given back.
    pub(crate) fn is_releasing(&self) -> bool {
        !self.releasing.is_empty()
    }

    // ---- events without an answer ----

    pub(crate) fn connect(&mut self, id: ClientId) {
        assert!(self.clients.iter().all(|client| client.id != id), "an id is used once");
        let name = b"anonymous_client".to_vec();
        self.clients.push(Client { id, name, segments: Vec::new(), subscribed: false });
    }

    pub(crate) fn unsubscribe(&mut self, client: ClientId) {
        self.client_mut(client).subscribed = false;
    }

    pub(crate) fn disconnect(&mut self, client: ClientId) {
        self.return_quota(client);
        self.clients.retain(|other| other.id != client);
        self.room_queue.retain(|waiter| *waiter != Waiter::Client(client));
        let is_creating = |object: &Object| match object.state {
            State::Unsealed { creator, .. } => creator == client,
            _ => false,
        };
        for object in self.objects.clone().into_iter().filter(is_creating) {
            self.remove(object.serial);
        }
        self.gets.retain(|get| get.client != client);
        self.evictions.retain(|eviction| eviction.client != client);
        let held: Vec<Object> = self.held_by(client).cloned().collect();
        let is_removed = |object: &&Object| object.holders.len() == 1 && object.deletion_pending;
        // In whichever order the rest is released.
        let tie = self.number();
        for object in held.iter().filter(|object| !is_removed(object)) {
            self.drop_hold(client, object.serial, tie);
        }
        let mut removed: Vec<&Object> = held.iter().filter(is_removed).collect();
        while !removed.is_empty() {
            let hint = self.next_departure();
            let next = removed.iter().position(|object| Some(object.id) == hint).unwrap_or(0);
            self.drop_hold(client, removed.remove(next).serial, tie);
        }
        self.settle();
    }

    pub(crate) fn time_passes(&mut self, now: Moment) {
        loop {
            let due = |get: &&Get| get.deadline.is_some_and(|deadline| deadline <= now.elapsed);
            let Some(first) = self.gets.iter().filter(due).filter_map(|get| get.deadline).min()
            else {
                return;
            };
            let mut number = None;
            if self.gets.iter().filter(|get| get.deadline == Some(first)).count() > 1 {
                self.turn("gets are due at the same moment");
            }
            for get in self.gets.iter().filter(|get| get.deadline == Some(first)) {
                let answered = matches!(self.effects.front(),
                    Some(Effect::Reply { client, reply: Reply::Get(reply) })
                        if *client == get.client
                            && reply.objects.iter().map(|(id, _)| id).eq(&get.ids));
                let ends = !get.lacking.iter().any(|id| self.is_coming(id));
                if number.is_none() || answered || !ends {
                    number = Some(get.number);
                }
                if answered || !ends {
                    break;
                }
            }
            let number = number.expect("there is one");
            let get = self.gets.iter_mut().find(|get| get.number == number).expect("it waits");
            get.deadline = None;
            get.expired = true;
            self.finish_if_over(number);
            if self.gets.iter().any(|get| get.number == number) {
                self.turn("a get waits for a restore after its time");
            }
        }
    }

    /// The object that leaves next, as far as the store has said so.
    fn next_departure(&self) -> Option<ObjectId> {
        match self.effects.front()? {
            Effect::Notify { only: None, notices } => match notices[..] {
                [Notice::Deleted(id)] => Some(id),
                _ => None,
            },
            Effect::Spill { key, .. } => Some(key.id),
            _ => None,
        }
    }

    // ---- holds ----

    fn hold(&mut self, client: ClientId, serial: Serial) {
        let object = self.object_mut(serial);
        if object.holders.contains(&client) {
            return;
        }
        object.holders.push(client);
        self.shared.queue.retain(|candidate| candidate.serial != serial);
    }

    /// `tie` is a new number, unless several objects are released at the same time.
    fn drop_hold(&mut self, client: ClientId, serial: Serial, tie: u64) {
        let object = self.object_mut(serial);
        let before = object.holders.len();
        object.holders.retain(|holder| *holder != client);
        if before > 0 && object.holders.is_empty() {
            self.unheld(serial, tie);
        }
    }

    fn unheld(&mut self, serial: Serial, tie: u64) {
        let object = self.object(serial);
        let (id, state) = (object.id, object.state);
        if let State::Unsealed { .. } = state {
            return;
        }
        if object.deletion_pending {
            self.remove(serial);
            return self.expect_notices(vec![Notice::Deleted(id)]);
        }
        if state == State::Sealed {
            if !self.is_accounted(serial) {
                self.shared.queue.push(Candidate { serial, tie });
            }
            self.room_changed = true;
        }
    }

    /// Takes an object out, wherever it is. Nobody is told.
    fn remove(&mut self, serial: Serial) {
        self.forget_order(serial);
        self.starved.retain(|other| *other != serial);
        let object = self.object(serial).clone();
        self.objects.retain(|object| object.serial != serial);
        match object.state {
            State::Unsealed { reserving: false, .. } | State::Sealed => self.room_changed = true,
            // Its memory belongs to the transfer until that ends.
            State::Unsealed { .. } => self.turn("a reservation outlives its object"),
            State::Spilling => self.turn("a spilling object is deleted"),
            State::Spilled | State::Starved => {
                self.expect(&Effect::Forget(object.key.expect("it was spilled")));
            }
            State::Queued | State::Copying => panic!("{object:?} is removed afterwards"),
        }
    }

    fn forget_order(&mut self, serial: Serial) {
        self.shared.queue.retain(|candidate| candidate.serial != serial);
        for quota in &mut self.quotas {
            quota.queue.retain(|other| *other != serial);
        }
    }
}
