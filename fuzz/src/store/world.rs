//! The store, the model beside it, and what the server's loop and the clients do for them.

use std::collections::BTreeMap;
use std::time::Duration;

use plasma_store::allocator::Allocation;
use plasma_store::ids::{ClientId, Extent, ExternalKey, ObjectId};
use plasma_store::protocol::message::{GetTimeout, Reply};
use plasma_store::store::{Backing, Effect, Moment, Store, StoreConfig, TransferId};

use super::input::{Failing, NAMES, Rare, Setup, Step};
use crate::memory::{Faults, Memory, pattern};
use crate::model::{Model, Object};
use crate::operation::{Name, Operation};
use crate::plan::Plan;

/// More clients than these are not connected.
const MAX_CLIENTS: usize = 4;

/// The most that all clients together may be made to wait for in the end.
const MAX_CLOSING_STEPS: usize = 2_000;

struct Connection {
    id: ClientId,
    paused: bool,
    /// To be handed in again when the client is no longer paused.
    retry: Option<Operation>,
    /// How its create under way will be filled.
    fill: u64,
}

/// Something under way.
enum Job {
    Reserve(TransferId),
    ReleasePages(Allocation),
    /// With what the contents must be.
    Spill(TransferId, ExternalKey, Option<Allocation>, Vec<u8>),
    Restore(TransferId, ExternalKey, Option<Allocation>),
}

pub(super) struct World {
    plan: Plan,
    store: Store,
    memory: Memory,
    model: Model,
    now: Moment,
    connections: Vec<Connection>,
    /// Makes no requests but to look.
    watcher: ClientId,
    jobs: Vec<Job>,
    /// The pages that are given back since the event that the model goes through.
    leaving: Vec<Extent>,
    external: BTreeMap<(ObjectId, u64), Vec<u8>>,
    /// For contents that differ.
    serial: u64,
    copied_bytes: u64,
    /// Something has failed, so that somebody may have been given up.
    has_failed: bool,
}

impl World {
    pub(super) fn new(setup: &Setup) -> Self {
        let plan = setup.plan();
        let mut memory = Memory::new(plan.segment_bytes, plan.max_segments, 0);
        let segment = memory.add_segment(plan.capacity_bytes).expect("the first is granted");
        memory.calls.clear();
        let config = StoreConfig {
            capacity_bytes: plan.capacity_bytes,
            max_objects: plan.max_objects,
            has_external_store: plan.has_external_store,
            zero_on_free: setup.zero_on_free,
            // The model answers everything at once, however often a get repeats an id.
            max_victims: 1 << 20,
            max_ids_at_once: 1 << 20,
            ..StoreConfig::default()
        };
        let mut store = Store::new(config, segment);
        let mut model = Model::new(&plan, segment);
        let watcher = store.handle_connect();
        model.connect(watcher);
        let mut world = Self {
            plan,
            store,
            memory,
            model,
            now: Moment { elapsed: Duration::from_millis(1700), unix_s: 1_700_000_000 },
            connections: Vec::new(),
            watcher,
            jobs: Vec::new(),
            leaving: Vec::new(),
            external: BTreeMap::new(),
            serial: 0,
            copied_bytes: 0,
            has_failed: false,
        };
        if world.plan.observed {
            world.request(watcher, Operation::Subscribe, false);
        }
        world
    }

    /// How many bytes of contents were copied or compared so far.
    pub(super) fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    pub(super) fn take_step(&mut self, step: &Step) {
        match step {
            Step::Request(which, ask) | Step::RequestToo(which, ask) => {
                // Each comes along when it is named for the first time.
                let index = usize::from(*which) % MAX_CLIENTS;
                if index >= self.connections.len() {
                    return self.connect();
                }
                self.serial += 1000;
                let operation = ask.operation(self.plan.capacity_bytes, self.serial);
                self.take_turn(index, operation);
            }
            Step::Complete { which, failing } => {
                if let Some(index) = nth(self.jobs.len(), *which) {
                    self.complete(index, !failing.is_multiple_of(8));
                }
            }
            Step::Rare(rare) => self.take_rare_step(rare),
        }
    }

    fn take_rare_step(&mut self, step: &Rare) {
        match step {
            Rare::Connect => self.connect(),
            Rare::Disconnect(which) => {
                if let Some(index) = nth(self.connections.len(), *which) {
                    self.disconnect(index);
                }
            }
            Rare::Unsubscribe(which) => {
                if let Some(index) = nth(self.connections.len(), *which) {
                    let client = self.connections[index].id;
                    self.store.handle_unsubscribe(client);
                    self.begin(1);
                    self.model.unsubscribe(client);
                    self.end();
                }
            }
            Rare::Time(ms) => self.pass_time(Duration::from_millis((*ms).into())),
            Rare::Deadline { before } => {
                let deadline = self.store.next_deadline();
                let soon = self.now.elapsed + Duration::from_secs(3600);
                if let Some(deadline) = deadline.filter(|deadline| *deadline < soon) {
                    let wait = deadline.saturating_sub(self.now.elapsed);
                    let less = Duration::from_nanos((*before).into());
                    self.pass_time(wait.saturating_sub(less));
                }
            }
            Rare::Fail(failing) => self.set_failing(*failing),
            Rare::Recover => self.memory.faults = Faults::default(),
        }
    }

    fn set_failing(&mut self, failing: Failing) {
        self.has_failed = true;
        let percent = |fails: bool| if fails { 100 } else { 0 };
        self.memory.faults = Faults {
            slow_reserve: percent(failing.slow_reserve),
            full_reserve: percent(failing.full_reserve),
            never_reserve: percent(failing.never_reserve),
            write: percent(failing.write),
            segment: percent(failing.segment),
            ..Faults::default()
        };
    }

    // ---- events ----

    /// Takes what the store did, before the model goes through the same event, and counts it.
    /// `named` is how many objects and clients the event itself names.
    fn begin(&mut self, named: usize) -> Vec<Effect> {
        let effects: Vec<Effect> = std::iter::from_fn(|| self.store.next_effect()).collect();
        // Each object, each get that waits and each transfer may be told of a few times, but none
        // of them again for each of the others.
        let known = self.model.objects.len() + self.model.gets.len() + self.jobs.len();
        let most = 16 + 4 * (named + known + usize::from(NAMES));
        assert!(effects.len() <= most, "{} effects of one event", effects.len());
        let calls = std::mem::take(&mut self.memory.calls);
        assert!(calls.len() <= 4 * most, "{} calls to the memory in one event", calls.len());
        self.leaving = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::ReleasePages(allocation) => Some(allocation.extent),
                _ => None,
            })
            .collect();
        let clients = &self.model.clients;
        let is_modelled = |effect: &&Effect| match effect {
            Effect::ReleasePages(_) => false,
            // For clients that are gone these mean nothing.
            Effect::Resume(id) | Effect::Reply { client: id, .. } => {
                clients.iter().any(|client| client.id == *id)
            }
            _ => true,
        };
        let modelled: Vec<Effect> = effects.iter().filter(is_modelled).cloned().collect();
        self.model.begin(modelled, calls);
        effects
    }

    /// The model has seen the event.
    fn end(&mut self) {
        // Not before: what was created and given up again in one event leaves, too.
        for extent in std::mem::take(&mut self.leaving) {
            self.model.pages_leave(extent);
        }
        self.model.end();
        self.store.check_invariants();
        assert_eq!(self.store.memory_bytes(), self.model.memory_bytes(), "bytes in memory");
        assert_eq!(self.store.next_deadline(), self.model.next_deadline(), "the next deadline");
    }

    fn connect(&mut self) {
        if self.connections.len() == MAX_CLIENTS {
            return;
        }
        let id = self.store.handle_connect();
        self.begin(1);
        self.model.connect(id);
        self.end();
        self.connections.push(Connection { id, paused: false, retry: None, fill: 0 });
    }

    fn index_of(&self, client: ClientId) -> Option<usize> {
        self.connections.iter().position(|connection| connection.id == client)
    }

    fn disconnect(&mut self, index: usize) {
        let client = self.connections[index].id;
        self.prepare_disconnect(client);
        self.store.handle_disconnect(client, &mut self.memory);
        self.connections.remove(index);
        let effects = self.begin(1);
        self.model.disconnect(client);
        self.end();
        self.apply(effects);
    }

    /// A connection that ends releases what it held in any order. The model learns it from what
    /// follows, but if nothing follows, nothing may be left to chance.
    fn prepare_disconnect(&mut self, client: ClientId) {
        if self.plan.observed || self.plan.has_external_store {
            return;
        }
        for name in self.names_held_by(client) {
            self.request(client, Operation::Release(name), false);
        }
    }

    fn names_held_by(&self, client: ClientId) -> Vec<Name> {
        let held = self.model.held_by(client).filter(|object| object.is_sealed());
        held.map(|object| Name(object.id.0[ObjectId::SIZE_BYTES - 1])).collect()
    }

    /// A client asks for something, or for what it asked for before, or must wait.
    fn take_turn(&mut self, index: usize, operation: Operation) {
        let connection = &mut self.connections[index];
        let client = connection.id;
        if connection.paused {
            return;
        }
        if let Some(operation) = connection.retry.take() {
            return self.request(client, operation, true);
        }
        if operation == Operation::Disconnect {
            self.prepare_disconnect(client);
        }
        self.request(client, operation, false);
    }

    /// Hands a request in.
    fn request(&mut self, client: ClientId, operation: Operation, again: bool) {
        let (store, memory, now) = (&mut self.store, &mut self.memory, self.now);
        let progress = operation
            .with_request(|request| store.handle_request(now, client, request, again, memory));
        let named = match &operation {
            Operation::Get { names, .. }
            | Operation::Delete(names)
            | Operation::RefreshLru(names) => names.len(),
            Operation::Batch { objects, .. } => objects.len(),
            _ => 1,
        };
        let effects = self.begin(named);
        let expected = self.model.request(now, client, &operation, again);
        assert_eq!(progress, expected, "what became of {operation:?}");
        self.end();
        self.copied_bytes += match &operation {
            Operation::CreateAndSeal { object, .. } => object.data_bytes + object.metadata_bytes,
            Operation::Batch { objects, .. } => {
                objects.iter().map(|object| object.data_bytes + object.metadata_bytes).sum()
            }
            _ => 0,
        };
        if let Some(index) = self.index_of(client) {
            let connection = &mut self.connections[index];
            connection.paused = progress != plasma_store::store::Progress::Done;
            if let Operation::Create { fill, .. } = operation {
                connection.fill = fill;
            }
            if operation == Operation::Disconnect {
                self.connections.remove(index);
            } else if progress == plasma_store::store::Progress::Retry {
                connection.retry = Some(operation);
            }
        }
        self.apply(effects);
    }

    fn pass_time(&mut self, time: Duration) {
        self.now.elapsed += time;
        self.now.unix_s += i64::try_from(time.as_secs()).expect("an hour at most");
        self.store.handle_timeout(self.now);
        let effects = self.begin(1);
        self.model.time_passes(self.now);
        self.end();
        self.apply(effects);
    }

    /// Ends something that is under way.
    fn complete(&mut self, index: usize, done: bool) {
        self.has_failed |= !done;
        let job = self.jobs.remove(index);
        let effects = match job {
            Job::Reserve(transfer) => {
                self.store.handle_reserved(transfer, done, &mut self.memory);
                let effects = self.begin(1);
                self.model.reserved(transfer, done);
                effects
            }
            Job::ReleasePages(allocation) => {
                self.memory.inner.release_pages(allocation.extent);
                self.store.handle_pages_released(allocation);
                let effects = self.begin(1);
                self.model.pages_released(allocation.extent);
                effects
            }
            Job::Spill(transfer, key, allocation, contents) => {
                let found = allocation.map(|at| self.memory.inner.bytes(at.extent).to_vec());
                assert!(found.unwrap_or_default() == contents, "{key:?} was changed on its way");
                if done {
                    let former = self.external.insert((key.id, key.number), contents);
                    assert_eq!(former, None, "{key:?} is used twice");
                }
                self.store.handle_spilled(transfer, done, &mut self.memory);
                let effects = self.begin(1);
                self.model.spilled(transfer, done);
                effects
            }
            Job::Restore(transfer, key, allocation) => {
                let contents = self.external.get(&(key.id, key.number));
                let contents = contents.expect("it was put there and not dropped");
                match allocation {
                    Some(at) if done => {
                        self.memory.inner.bytes(at.extent).copy_from_slice(contents);
                    }
                    Some(_) => {}
                    None => assert!(contents.is_empty(), "{key:?} has lost its contents"),
                }
                self.store.handle_restored(self.now, transfer, done, &mut self.memory);
                let effects = self.begin(1);
                self.model.restored(self.now, transfer, done);
                effects
            }
        };
        self.end();
        self.apply(effects);
    }

    // ---- what the store wants done ----

    fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Reply { client, reply } => self.read_reply(client, reply),
                Effect::SendSegment { .. } | Effect::Notify { .. } => {}
                Effect::Close { client, .. } => {
                    let index = self.index_of(client).expect("a client that made a request");
                    self.disconnect(index);
                }
                Effect::Resume(client) => {
                    if let Some(index) = self.index_of(client) {
                        self.connections[index].paused = false;
                    }
                }
                Effect::Reserve { transfer, .. } => self.jobs.push(Job::Reserve(transfer)),
                Effect::ReleasePages(allocation) => self.jobs.push(Job::ReleasePages(allocation)),
                Effect::Spill { transfer, key, allocation } => {
                    let object = self.model.find(&key.id).expect("it was there a moment ago");
                    let contents = pattern(object.fill, object.size_bytes());
                    self.copied_bytes += object.size_bytes();
                    self.jobs.push(Job::Spill(transfer, key, allocation, contents));
                }
                Effect::Restore { transfer, key, allocation } => {
                    self.jobs.push(Job::Restore(transfer, key, allocation));
                }
                Effect::Forget(key) => {
                    self.external.remove(&(key.id, key.number));
                }
                other => unreachable!("there is no device: {other:?}"),
            }
        }
    }

    /// A client fills what it has created, and looks at what it has got.
    fn read_reply(&mut self, client: ClientId, reply: Reply) {
        match reply {
            Reply::Create { id, outcome: Ok(_) } => {
                // The reply may be for a client that is gone.
                let Some(index) = self.index_of(client) else {
                    return;
                };
                let object = self.model.find(&id).expect("it was created");
                let fill = self.connections[index].fill;
                assert_eq!(object.fill, fill, "the client and the model mean the same object");
                if let Some(extent) = object.extent {
                    let contents = pattern(fill, extent.size_bytes);
                    self.copied_bytes += extent.size_bytes;
                    self.memory.inner.bytes(extent).copy_from_slice(&contents);
                }
            }
            Reply::Get(reply) => {
                let mut objects: Vec<Object> = reply
                    .objects
                    .iter()
                    .filter(|(_, place)| place.is_some())
                    .map(|(id, _)| self.model.find(id).expect("it was got").clone())
                    .collect();
                objects.sort_by_key(|object| object.serial);
                objects.dedup_by_key(|object| object.serial);
                objects.iter().for_each(|object| self.check_contents(object));
            }
            _ => {}
        }
    }

    fn check_contents(&mut self, object: &Object) {
        if let Some(extent) = object.extent {
            let contents = pattern(object.fill, extent.size_bytes);
            self.copied_bytes += extent.size_bytes;
            let found = self.memory.inner.bytes(extent);
            assert!(*found == contents[..], "the contents of {object:?} are lost");
        }
    }

    // ---- the end ----

    /// Everything is completed, released and deleted in the end, and then nothing is left.
    pub(super) fn close(mut self) {
        self.memory.faults = Faults::default();
        self.settle_down();
        if self.plan.roomy && !self.has_failed {
            self.model.check_nobody_is_forgotten();
        }
        // What failed to come back is asked for once more.
        let names: Vec<Name> = (0..NAMES).map(Name).collect();
        let timeout = GetTimeout::Now;
        self.request(self.watcher, Operation::Get { names: names.clone(), timeout }, false);
        self.settle_down();
        for name in &names {
            self.request(self.watcher, Operation::Release(*name), false);
        }
        self.settle_down();
        while !self.connections.is_empty() {
            self.disconnect(0);
            self.settle_down();
        }
        assert!(self.model.gets.is_empty(), "a get waits for nobody");
        self.request(self.watcher, Operation::Delete(names), false);
        self.settle_down();
        self.request(self.watcher, Operation::List, false);
        self.request(self.watcher, Operation::DebugString, false);
        assert_eq!(self.store.memory_bytes(), 0, "nothing is left");
        assert_eq!(self.store.next_deadline(), None, "nobody waits");
        assert!(self.model.objects.is_empty(), "{:?} cannot be deleted", self.model.objects);
        assert!(self.external.is_empty(), "copies are left: {:?}", self.external.keys());
    }

    /// Completes all that is under way, and hands in all that is to be handed in again.
    fn settle_down(&mut self) {
        for _ in 0..MAX_CLOSING_STEPS {
            if !self.jobs.is_empty() {
                self.complete(0, true);
                continue;
            }
            let waiting = self.connections.iter().position(|connection| connection.retry.is_some());
            let Some(index) = waiting else {
                let paused = self.connections.iter().any(|connection| connection.paused);
                assert!(!paused, "a client is paused, but nothing is under way");
                assert!(self.model.is_quiet() && !self.model.is_releasing());
                return;
            };
            let connection = &mut self.connections[index];
            assert!(!connection.paused, "a client is paused, but nothing is under way");
            let (client, operation) = (connection.id, connection.retry.take());
            self.request(client, operation.expect("it waits"), true);
        }
        panic!("it goes on for ever");
    }
}

/// A position among so many.
fn nth(count: usize, which: u8) -> Option<usize> {
    (count > 0).then(|| usize::from(which) % count)
}
