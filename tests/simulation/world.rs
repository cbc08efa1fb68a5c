//! One run: clients, workers and a clock around the store, and the model beside it.
//!
//! This takes the part of the server's loop. It hands a request in again when the store has asked
//! for that, holds back the next request of a client that is paused, closes the connections of
//! clients that broke a rule, does the jobs of the two workers in their order, and lets time pass.
//! It also takes the part of the clients: it fills what they create, and reads what they get.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use plasma_store::allocator::Allocation;
use plasma_store::ids::{ClientId, ExternalKey, ObjectId};
use plasma_store::protocol::message::{GetTimeout, Reply};
use plasma_store::store::{Backing, Effect, Moment, Progress, Store, StoreConfig, TransferId};

use crate::memory::{Memory, pattern};
use crate::model::{Model, Object, State};
use crate::operation::{Chooser, Hints, Name, Operation};
use crate::plan::{Kind, Plan};

/// After so many steps all contents are compared.
const CONTENTS_PERIOD: usize = 16;

/// The most that all clients together may be made to wait for in the end.
const MAX_CLOSING_STEPS: usize = 10_000;

/// How many of the last events are shown when something is wrong.
const TRACE_LENGTH: usize = 25;

#[derive(Debug)]
struct Connection {
    id: ClientId,
    paused: bool,
    /// To be handed in again when the client is no longer paused.
    retry: Option<Operation>,
    /// How its create under way will be filled.
    fill: u64,
}

/// What the worker for memory has to do.
#[derive(Debug)]
enum MemoryJob {
    Reserve(TransferId),
    Release(Allocation),
}

/// What the worker for the external store has to do.
#[derive(Debug)]
enum ExternalJob {
    /// With what the contents must be.
    Spill(TransferId, ExternalKey, Option<Allocation>, Vec<u8>),
    Restore(TransferId, ExternalKey, Option<Allocation>),
    Forget(ExternalKey),
}

/// An event, as it is shown in a trace.
#[derive(Debug)]
#[expect(dead_code, reason = "what it holds is shown")]
enum Event<'a> {
    Connect,
    Disconnect(ClientId),
    Unsubscribe(ClientId),
    Request(ClientId, &'a Operation),
    RequestAgain(ClientId, &'a Operation),
    TimePasses,
    Reserved(TransferId, bool),
    Released(Allocation),
    Spilled(TransferId, bool),
    Restored(TransferId, bool),
}

/// See the head of this module.
pub(crate) struct World {
    plan: Plan,
    rng: fastrand::Rng,
    store: Store,
    memory: Memory,
    model: Model,
    now: Moment,
    connections: Vec<Connection>,
    /// Makes no requests but to look.
    watcher: ClientId,
    memory_jobs: VecDeque<MemoryJob>,
    external_jobs: VecDeque<ExternalJob>,
    external: BTreeMap<(ObjectId, u64), Vec<u8>>,
    faults_on: bool,
    step: usize,
    trace: VecDeque<String>,
    is_loud: bool,
    log: Option<Vec<Effect>>,
}

impl World {
    pub(crate) fn new(seed: u64, is_loud: bool) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let plan = Plan::new(&mut rng);
        let mut memory = Memory::new(plan.segment_bytes, plan.max_segments, rng.u64(..));
        let segment = memory.add_segment(plan.capacity_bytes).expect("the first is granted");
        memory.calls.clear();
        let config = StoreConfig {
            capacity_bytes: plan.capacity_bytes,
            max_objects: plan.max_objects,
            max_ids_at_once: plan.max_ids_at_once,
            max_bytes_at_once: plan.max_bytes_at_once,
            has_external_store: plan.has_external_store,
            ..StoreConfig::default()
        };
        let mut store = Store::new(config, segment);
        let mut model = Model::new(&plan, segment);
        let watcher = store.handle_connect();
        model.connect(watcher);
        if is_loud {
            eprintln!("{plan:#?}");
        }
        let mut world = Self {
            plan,
            rng,
            store,
            memory,
            model,
            now: Moment { elapsed: Duration::from_millis(1700), unix_s: 1_700_000_000 },
            connections: Vec::new(),
            watcher,
            memory_jobs: VecDeque::new(),
            external_jobs: VecDeque::new(),
            external: BTreeMap::new(),
            faults_on: false,
            step: 0,
            trace: VecDeque::new(),
            is_loud,
            log: None,
        };
        if world.plan.observed {
            world.ask(Operation::Subscribe);
        }
        world
    }

    /// Which rare turns came up.
    pub(crate) fn turns(&self) -> &BTreeSet<&'static str> {
        &self.model.turns
    }

    /// Keeps all effects, to be compared with those of another run.
    pub(crate) fn keep_log(&mut self) {
        self.log = Some(Vec::new());
    }

    pub(crate) fn take_log(&mut self) -> Vec<Effect> {
        self.log.take().unwrap_or_default()
    }

    /// The last events, and where the run stood.
    pub(crate) fn story(&self) -> String {
        let events: Vec<&str> = self.trace.iter().map(String::as_str).collect();
        format!("step {}; the last events were\n  {}", self.step, events.join("\n  "))
    }

    pub(crate) fn run(&mut self, steps: usize) {
        for step in 0..steps {
            self.step = step;
            self.take_step();
            self.check();
        }
        self.close_down();
    }

    fn take_step(&mut self) {
        if self.rng.u8(0..30) == 0 {
            self.faults_on = !self.faults_on;
        }
        if self.rng.u8(0..4) == 0 {
            self.now.elapsed += Duration::from_millis(self.rng.u64(0..400));
            self.now.unix_s += self.rng.i64(-1..3);
        }
        self.memory.faults = self.plan.faults;
        if !self.faults_on {
            let slow_reserve = self.plan.faults.slow_reserve;
            self.memory.faults = crate::memory::Faults { slow_reserve, ..Default::default() };
        }
        let percent = self.rng.u32(0..100);
        if percent < self.plan.completion_percent && self.complete_something() {
            return;
        }
        match self.rng.u8(0..40) {
            0..=1 => self.pass_time(),
            2 if self.connections.len() < self.plan.max_clients => self.connect(),
            3 => {
                let index = self.any_connection();
                self.disconnect(index);
            }
            4 => {
                let client = self.any_connection();
                let client = self.connections[client].id;
                self.store.handle_unsubscribe(client);
                self.begin(&Event::Unsubscribe(client));
                self.model.unsubscribe(client);
                self.end();
            }
            _ => self.request_something(),
        }
    }

    // ---- events ----

    /// Takes what the store did, before the model goes through the same event.
    fn begin(&mut self, event: &Event<'_>) -> Vec<Effect> {
        let effects = std::iter::from_fn(|| self.store.next_effect()).collect();
        self.begin_with(effects, event)
    }

    fn begin_with(&mut self, effects: Vec<Effect>, event: &Event<'_>) -> Vec<Effect> {
        self.note(event, &effects);
        if let Some(log) = &mut self.log {
            log.extend(effects.iter().cloned());
        }
        for effect in &effects {
            if let Effect::ReleasePages(allocation) = effect {
                self.model.pages_leave(allocation.extent);
            }
        }
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
        let calls = std::mem::take(&mut self.memory.calls);
        self.model.begin(modelled, calls);
        effects
    }

    /// Keeps a line for the trace, and shows everything if that is wanted.
    fn note(&mut self, event: &Event<'_>, effects: &[Effect]) {
        // All ids begin alike.
        let common = format!("{:?}", Name(0).id());
        let common = common.trim_end_matches("00)");
        let short = |text: String| text.replace(common, "(");
        let line = format!("{} ({:?}): {event:?}", self.step, self.now.elapsed);
        let line = short(line);
        if self.is_loud {
            eprintln!("{line}");
            let calls = self.memory.calls.iter().map(|call| format!("{call:?}"));
            calls.for_each(|call| eprintln!("    asks for {call}"));
            let effects = effects.iter().map(|effect| short(format!("{effect:?}")));
            effects.for_each(|effect| eprintln!("    -> {effect}"));
        }
        if matches!(event, Event::Request(client, _) if *client == self.watcher) {
            return;
        }
        if self.trace.len() == TRACE_LENGTH {
            self.trace.pop_front();
        }
        self.trace.push_back(line);
    }

    /// The model has seen the event.
    fn end(&mut self) {
        self.model.end();
        self.store.check_invariants();
        assert_eq!(self.store.memory_bytes(), self.model.memory_bytes(), "bytes in memory");
        assert_eq!(self.store.next_deadline(), self.model.next_deadline(), "the next deadline");
    }

    fn connect(&mut self) {
        let id = self.store.handle_connect();
        self.begin(&Event::Connect);
        self.model.connect(id);
        self.end();
        self.connections.push(Connection { id, paused: false, retry: None, fill: 0 });
    }

    fn any_connection(&mut self) -> usize {
        if self.connections.is_empty() {
            self.connect();
        }
        self.rng.usize(0..self.connections.len())
    }

    fn index_of(&self, client: ClientId) -> Option<usize> {
        self.connections.iter().position(|connection| connection.id == client)
    }

    fn disconnect(&mut self, index: usize) {
        let client = self.connections[index].id;
        self.prepare_disconnect(client);
        self.store.handle_disconnect(client, &mut self.memory);
        self.connections.remove(index);
        let effects = self.begin(&Event::Disconnect(client));
        self.model.disconnect(client);
        self.end();
        self.apply(effects);
    }

    /// Where nobody can see in which order objects leave, nobody may leave their order open.
    fn prepare_disconnect(&mut self, client: ClientId) {
        if self.plan.observed || self.plan.has_external_store {
            return;
        }
        let held: Vec<Name> = self.names_held_by(client);
        for name in held {
            self.request(client, Operation::Release(name), false);
        }
    }

    fn names_held_by(&self, client: ClientId) -> Vec<Name> {
        let held = self.model.held_by(client).filter(|object| object.is_sealed());
        held.map(|object| name_of(&object.id)).collect()
    }

    /// Hands a request in. What takes it several turns is done at once, so that it must come to
    /// the same as if it had needed only one.
    fn hand_in(
        &mut self,
        client: ClientId,
        operation: &Operation,
        again: bool,
    ) -> (Progress, Vec<Effect>) {
        let (now, mut effects) = (self.now, Vec::new());
        loop {
            let (store, memory) = (&mut self.store, &mut self.memory);
            let mut progress = operation
                .with_request(|request| store.handle_request(now, client, request, again, memory));
            let is_job = self.store.has_work();
            while self.store.has_work() {
                self.store.work(&mut self.memory);
            }
            effects.extend(std::iter::from_fn(|| self.store.next_effect()));
            let resume = effects.iter().rposition(|effect| *effect == Effect::Resume(client));
            match (progress, resume) {
                (Progress::Pause, Some(position)) if is_job => {
                    effects.remove(position);
                    progress = Progress::Done;
                }
                (Progress::Retry, Some(position)) if position + 1 == effects.len() => {
                    effects.remove(position);
                    continue;
                }
                _ => {}
            }
            return (progress, join_lists(effects));
        }
    }

    /// Hands a request in and returns what became of it.
    fn request(&mut self, client: ClientId, operation: Operation, again: bool) {
        let (progress, effects) = self.hand_in(client, &operation, again);
        let event = if again { Event::RequestAgain } else { Event::Request };
        let effects = self.begin_with(effects, &event(client, &operation));
        let expected = self.model.request(self.now, client, &operation, again);
        assert_eq!(progress, expected, "what became of the request");
        self.end();
        if let Some(index) = self.index_of(client) {
            let connection = &mut self.connections[index];
            connection.paused = progress != Progress::Done;
            if let Operation::Create { fill, .. } = operation {
                connection.fill = fill;
            }
            if operation == Operation::Disconnect {
                self.connections.remove(index);
            } else if progress == Progress::Retry {
                connection.retry = Some(operation);
            }
        }
        self.apply(effects);
    }

    /// The watcher asks for something.
    fn ask(&mut self, operation: Operation) {
        self.request(self.watcher, operation, false);
    }

    fn request_something(&mut self) {
        let index = self.any_connection();
        let connection = &mut self.connections[index];
        let client = connection.id;
        if connection.paused {
            return;
        }
        if let Some(operation) = connection.retry.take() {
            self.request(client, operation, true);
            return;
        }
        let total: u32 = self.plan.weights.iter().map(|(_, weight)| weight).sum();
        let mut left = self.rng.u32(0..total);
        let chosen = self.plan.weights.iter().find(|(_, weight)| {
            let is_it = left < *weight;
            left = left.saturating_sub(*weight);
            is_it
        });
        let mut kind = chosen.expect("there is a total").0;
        let is_producer = self.plan.has_producers && client.index.is_multiple_of(2);
        if is_producer && matches!(kind, Kind::Create | Kind::Get | Kind::Seal) {
            kind = Kind::CreateAndSeal;
        }
        let creating = self.model.held_by(client).filter(|object| !object.is_sealed());
        let creating = creating.map(|object| name_of(&object.id)).collect();
        let hints = Hints { held: self.names_held_by(client), creating };
        let (plan, rng) = (&self.plan, &mut self.rng);
        let operation = Chooser { plan, rng }.request(kind, &hints);
        if operation == Operation::Disconnect {
            self.prepare_disconnect(client);
        }
        self.request(client, operation, false);
    }

    fn pass_time(&mut self) {
        let soon = self.now.elapsed + Duration::from_secs(3600);
        let deadline = self.store.next_deadline().filter(|deadline| *deadline < soon);
        let least = Duration::from_nanos(1);
        let aim = match (deadline, self.rng.u8(0..4)) {
            (Some(deadline), 0) => deadline.saturating_sub(least),
            (Some(deadline), 1..=2) => deadline,
            _ => self.now.elapsed + Duration::from_millis(self.rng.u64(0..3000)),
        };
        self.now.elapsed = self.now.elapsed.max(aim);
        self.store.handle_timeout(self.now);
        let effects = self.begin(&Event::TimePasses);
        self.model.time_passes(self.now);
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
                Effect::Reserve { transfer, .. } => {
                    self.memory_jobs.push_back(MemoryJob::Reserve(transfer));
                }
                Effect::ReleasePages(allocation) => {
                    self.memory_jobs.push_back(MemoryJob::Release(allocation));
                }
                Effect::Spill { transfer, key, allocation } => {
                    let contents = self.contents_of(&key.id);
                    let job = ExternalJob::Spill(transfer, key, allocation, contents);
                    self.external_jobs.push_back(job);
                }
                Effect::Restore { transfer, key, allocation } => {
                    self.external_jobs.push_back(ExternalJob::Restore(transfer, key, allocation));
                }
                Effect::Forget(key) => self.external_jobs.push_back(ExternalJob::Forget(key)),
                other => unreachable!("there is no device here: {other:?}"),
            }
        }
    }

    /// What an object that was sent away in the last event contains.
    fn contents_of(&self, id: &ObjectId) -> Vec<u8> {
        let object = self.model.find(id).expect("it was there a moment ago");
        pattern(object.fill, object.size_bytes())
    }

    /// A client fills what it has created, and looks at what it has got.
    fn read_reply(&mut self, client: ClientId, reply: Reply) {
        match reply {
            Reply::Create { id, outcome: Ok(_) } => {
                let index = self.index_of(client).expect("it has asked");
                let fill = self.connections[index].fill;
                let object = self.model.find(&id).expect("it was created");
                assert_eq!(object.fill, fill, "the client and the model mean the same object");
                if let Some(extent) = object.extent {
                    let contents = pattern(fill, extent.size_bytes);
                    self.memory.inner.bytes(extent).copy_from_slice(&contents);
                }
            }
            Reply::Get(reply) => {
                for (id, place) in reply.objects {
                    if place.is_some() {
                        let object = self.model.find(&id).expect("it was got").clone();
                        self.check_contents(&object);
                    }
                }
            }
            _ => {}
        }
    }

    /// Ends what is first in the line of one worker; `false` if there is nothing to do.
    fn complete_something(&mut self) -> bool {
        while let Some(ExternalJob::Forget(key)) = self.external_jobs.front() {
            self.external.remove(&(key.id, key.number));
            self.external_jobs.pop_front();
        }
        let for_memory = match (self.memory_jobs.is_empty(), self.external_jobs.is_empty()) {
            (true, true) => return false,
            (is_empty, other_is_empty) => !is_empty && (other_is_empty || self.rng.bool()),
        };
        if for_memory {
            self.complete_memory_job()
        } else {
            self.complete_external_job()
        }
        true
    }

    fn fails(&mut self, percent: u32) -> bool {
        self.faults_on && percent > 0 && self.rng.u32(0..100) < percent
    }

    fn complete_memory_job(&mut self) {
        let job = self.memory_jobs.pop_front().expect("there is one");
        let effects = match job {
            MemoryJob::Reserve(transfer) => {
                let done = !self.fails(self.plan.faults.reserve);
                self.store.handle_reserved(transfer, done, &mut self.memory);
                let effects = self.begin(&Event::Reserved(transfer, done));
                self.model.reserved(transfer, done);
                effects
            }
            MemoryJob::Release(allocation) => {
                self.memory.inner.release_pages(allocation.extent);
                self.store.handle_pages_released(allocation);
                let effects = self.begin(&Event::Released(allocation));
                self.model.pages_released(allocation.extent);
                effects
            }
        };
        self.end();
        self.apply(effects);
    }

    fn complete_external_job(&mut self) {
        let job = self.external_jobs.pop_front().expect("there is one");
        let effects = match job {
            ExternalJob::Spill(transfer, key, allocation, contents) => {
                let found = allocation.map(|at| self.memory.inner.bytes(at.extent).to_vec());
                assert!(found.unwrap_or_default() == contents, "{key:?} was changed on its way");
                let done = !self.fails(self.plan.faults.spill);
                if done {
                    let former = self.external.insert((key.id, key.number), contents);
                    assert_eq!(former, None, "{key:?} is used twice");
                }
                self.store.handle_spilled(transfer, done, &mut self.memory);
                let effects = self.begin(&Event::Spilled(transfer, done));
                self.model.spilled(transfer, done);
                effects
            }
            ExternalJob::Restore(transfer, key, allocation) => {
                let done = !self.fails(self.plan.faults.restore);
                if done {
                    let contents = self.external.get(&(key.id, key.number));
                    let contents = contents.expect("it was put there and not dropped");
                    match allocation {
                        Some(at) => self.memory.inner.bytes(at.extent).copy_from_slice(contents),
                        None => assert!(contents.is_empty(), "{key:?} has lost its contents"),
                    }
                }
                self.store.handle_restored(self.now, transfer, done, &mut self.memory);
                let effects = self.begin(&Event::Restored(transfer, done));
                self.model.restored(self.now, transfer, done);
                effects
            }
            ExternalJob::Forget(key) => {
                self.external.remove(&(key.id, key.number));
                return;
            }
        };
        self.end();
        self.apply(effects);
    }

    // ---- checks ----

    fn check_contents(&mut self, object: &Object) {
        if let Some(extent) = object.extent {
            let contents = pattern(object.fill, extent.size_bytes);
            let found = self.memory.inner.bytes(extent);
            assert!(*found == contents[..], "the contents of {object:?} are lost");
        }
    }

    fn check_all_contents(&mut self) {
        for object in self.model.objects.clone() {
            let is_filled = !matches!(object.state, State::Unsealed { reserving: true, .. });
            if is_filled && object.state != State::Copying {
                self.check_contents(&object);
            }
        }
    }

    /// What holds between any two steps.
    fn check(&mut self) {
        if self.plan.asked_each_step {
            self.ask(Operation::List);
            self.ask(Operation::DebugString);
        }
        if self.step.is_multiple_of(CONTENTS_PERIOD) {
            self.check_all_contents();
        }
        if !self.model.is_quiet() {
            return;
        }
        for connection in &self.connections {
            assert!(!connection.paused, "nothing is under way, but {connection:?} is paused");
        }
        let faults = &self.plan.faults;
        if self.plan.is_room_certain() && (faults.spill, faults.restore) == (0, 0) {
            self.model.check_nobody_is_forgotten();
        }
    }

    /// Everything is completed, released and deleted in the end, and then nothing is left.
    fn close_down(&mut self) {
        self.faults_on = false;
        self.memory.faults = crate::memory::Faults::default();
        self.settle_down();
        for index in 0..self.connections.len() {
            let client = self.connections[index].id;
            for name in self.names_held_by(client) {
                self.request(client, Operation::Release(name), false);
            }
        }
        self.settle_down();
        // What failed to come back is asked for once more.
        let names: Vec<Name> = (0..self.plan.names).map(Name).collect();
        self.ask(Operation::Get { names: names.clone(), timeout: GetTimeout::Now });
        self.settle_down();
        for name in &names {
            self.ask(Operation::Release(*name));
        }
        self.settle_down();
        if self.plan.is_room_certain() {
            self.model.check_nobody_is_forgotten();
        }
        while !self.connections.is_empty() {
            self.disconnect(0);
            self.settle_down();
        }
        assert!(self.model.gets.is_empty(), "a get waits for nobody");
        self.ask(Operation::List);
        self.ask(Operation::Delete(names));
        self.settle_down();
        assert_eq!(self.store.memory_bytes(), 0, "nothing is left");
        assert!(self.model.objects.is_empty(), "{:?} cannot be deleted", self.model.objects);
        assert!(self.external.is_empty(), "copies are left: {:?}", self.external.keys());
        self.ask(Operation::DebugString);
        // There is room for all that fits.
        for bytes in [self.plan.capacity_bytes, self.plan.capacity_bytes + 1] {
            self.connect();
            let request = plasma_store::protocol::message::CreateRequest {
                id: Name(0).id(),
                evict_if_full: false,
                data_bytes: bytes,
                metadata_bytes: 0,
                device_num: 0,
            };
            let client = self.connections[0].id;
            self.request(client, Operation::Create { request, fill: 1 }, false);
            let fits = self.model.find(&Name(0).id()).is_some();
            assert_eq!(fits, bytes <= self.plan.capacity_bytes, "an object of {bytes} bytes");
            self.disconnect(0);
            self.settle_down();
        }
    }

    /// Completes all that is under way, and hands in all that is to be handed in again.
    fn settle_down(&mut self) {
        for _ in 0..MAX_CLOSING_STEPS {
            if self.complete_something() {
                continue;
            }
            let waiting = self.connections.iter().position(|connection| connection.retry.is_some());
            let Some(index) = waiting else {
                assert!(self.connections.iter().all(|connection| !connection.paused));
                assert!(self.model.is_quiet() && !self.model.is_releasing());
                return;
            };
            let connection = &mut self.connections[index];
            assert!(!connection.paused, "{connection:?} is paused, but nothing is under way");
            let (client, operation) = (connection.id, connection.retry.take());
            self.request(client, operation.expect("it waits"), true);
        }
        panic!("it goes on for ever");
    }
}

/// Puts the parts of lists in front of what ends them.
fn join_lists(effects: Vec<Effect>) -> Vec<Effect> {
    let (mut joined, mut first) = (Vec::new(), Vec::new());
    for effect in effects {
        match effect {
            Effect::ListPart { rows, .. } => first.extend(rows),
            Effect::Reply { client, reply: Reply::List(rows) } => {
                first.extend(rows);
                let reply = Reply::List(std::mem::take(&mut first));
                joined.push(Effect::Reply { client, reply });
            }
            effect => joined.push(effect),
        }
    }
    joined
}

fn name_of(id: &ObjectId) -> Name {
    Name(id.0[ObjectId::SIZE_BYTES - 1])
}
