//! Requests to the store, and the effects that it asks for, with memory that only pretends.

use std::hint::black_box;

use plasma_store::ids::{ClientId, ObjectId};
use plasma_store::protocol::message::{CreateRequest, GetTimeout, NewObject, Reply, Request};
use plasma_store::store::{Backing, Effect, Moment, Progress, Store, StoreConfig, TestBacking};

use crate::{Bench, counted, object_id, object_ids};

pub(crate) const BENCHES: &[Bench] = &[
    bench("store/cycle", 5000, |n| cycle(n, 0)),
    bench("store/cycle_among_10000", 5000, |n| cycle(n, 10_000)),
    bench("store/cycle_among_10000_quotas", 5000, cycle_among_quotas),
    bench("store/create_and_seal_then_delete", 5000, create_and_seal),
    bench("store/get_that_waits", 5000, |n| get_that_waits(n, 0)),
    bench("store/get_that_waits_among_9000", 5000, |n| get_that_waits(n, 9000)),
    bench("store/create_that_evicts", 20_000, create_that_evicts),
    bench("store/get_and_release_1000", 50, get_and_release_many),
    bench("store/connect_and_disconnect", 1000, connect_and_disconnect),
];

/// Operations before those that are counted.
const WARM_UP: usize = 2000;

const DATA_BYTES: u64 = 1000;
const METADATA_BYTES: u64 = 10;

const fn bench(name: &'static str, operations: usize, run: fn(usize)) -> Bench {
    Bench { name, operations, run }
}

/// A store, its memory and one client.
pub(crate) struct Fixture {
    pub(crate) store: Store,
    pub(crate) backing: TestBacking,
    pub(crate) client: ClientId,
}

impl Fixture {
    pub(crate) fn new(capacity_bytes: u64) -> Self {
        let mut backing = TestBacking::new(4 * capacity_bytes);
        let segment = backing.add_segment(capacity_bytes).expect("it may have one");
        let config = StoreConfig { capacity_bytes, ..StoreConfig::default() };
        let mut store = Store::new(config, segment);
        let client = store.handle_connect();
        Self { store, backing, client }
    }

    /// Hands in a request, without looking at its effects.
    pub(crate) fn handle(&mut self, request: &Request<'_>) {
        let now = Moment::default();
        let progress =
            self.store.handle_request(now, self.client, request, false, &mut self.backing);
        assert_eq!(progress, Progress::Done);
    }

    /// Hands in a request and takes all effects. Gives how many replies there were.
    fn ask(&mut self, request: &Request<'_>) -> usize {
        self.handle(black_box(request));
        let mut replies = 0;
        while let Some(effect) = self.store.next_effect() {
            match black_box(&effect) {
                Effect::Reply { .. } => replies += 1,
                Effect::ReleasePages(allocation) => self.store.handle_pages_released(*allocation),
                _ => {}
            }
        }
        replies
    }

    fn create(&mut self, id: ObjectId) {
        self.ask(&Request::Create(CreateRequest {
            id,
            evict_if_full: true,
            data_bytes: DATA_BYTES,
            metadata_bytes: METADATA_BYTES,
            device_num: 0,
        }));
    }

    /// The objects with the numbers from `first` on, sealed and released.
    fn fill(&mut self, first: usize, count: usize) {
        for number in first..first + count {
            let id = object_id(number);
            self.create(id);
            self.ask(&Request::Seal(id, [3; 8]));
            self.ask(&Request::Release(id));
        }
    }
}

/// An object's life: create, seal, get, release and delete. `others` are in the store besides.
fn cycle(operations: usize, others: usize) {
    let mut fixture = Fixture::new(64 << 20);
    fixture.fill(1 << 20, others);
    cycles(&mut fixture, operations);
    assert_eq!(fixture.store.memory_bytes(), others as u64 * (DATA_BYTES + METADATA_BYTES));
}

fn cycles(fixture: &mut Fixture, operations: usize) {
    let mut live = |number| {
        let id = object_id(number);
        fixture.create(id);
        let mut replies = fixture.ask(&Request::Seal(id, [3; 8]));
        replies += fixture.ask(&Request::Get { ids: &[id], timeout: GetTimeout::Never });
        fixture.ask(&Request::Release(id));
        replies += fixture.ask(&Request::Delete(&[id]));
        assert_eq!(replies, 3);
    };
    (0..WARM_UP).for_each(&mut live);
    counted(operations, |number| live(WARM_UP + number));
}

/// The same by a client with a quota, as 10,000 others have one.
fn cycle_among_quotas(operations: usize) {
    let mut fixture = Fixture::new(64 << 20);
    for _ in 0..10_000 {
        fixture.client = fixture.store.handle_connect();
        fixture.ask(&Request::SetOptions { name: b"", quota_bytes: 2000 });
    }
    cycles(&mut fixture, operations);
}

/// An object that arrives whole, and its end.
fn create_and_seal(operations: usize) {
    let mut fixture = Fixture::new(64 << 20);
    let mut live = |number| {
        let id = object_id(number);
        let object = NewObject { id, data: &[1; 1000], metadata: &[2; 10], digest: [3; 8] };
        fixture.ask(&Request::CreateAndSeal { evict_if_full: true, object });
        fixture.ask(&Request::Delete(&[id]));
    };
    (0..WARM_UP).for_each(&mut live);
    counted(operations, |number| live(WARM_UP + number));
    assert_eq!(fixture.store.memory_bytes(), 0);
}

/// A get before there is anything to get; the object comes, the get is answered, the object goes.
/// The client has `others` waiting besides.
fn get_that_waits(operations: usize, others: usize) {
    let mut fixture = Fixture::new(64 << 20);
    for number in 0..others {
        let ids = [object_id((1 << 20) + number)];
        fixture.ask(&Request::Get { ids: &ids, timeout: GetTimeout::Never });
    }
    let mut live = |number| {
        let id = object_id(number);
        let timeout = GetTimeout::Milliseconds(1000);
        let early = fixture.ask(&Request::Get { ids: &[id], timeout });
        fixture.create(id);
        let replies = fixture.ask(&Request::Seal(id, [3; 8]));
        assert_eq!((early, replies), (0, 2));
        fixture.ask(&Request::Release(id));
        fixture.ask(&Request::Delete(&[id]));
    };
    (0..WARM_UP).for_each(&mut live);
    counted(operations, |number| live(WARM_UP + number));
    assert_eq!(fixture.store.memory_bytes(), 0);
}

/// Create, seal and release in a store of 5000 objects that is full: a thousand others go at a
/// time, of which each operation bears one.
fn create_that_evicts(operations: usize) {
    let capacity_bytes = 5000 * (DATA_BYTES + METADATA_BYTES);
    let mut fixture = Fixture::new(capacity_bytes);
    let warm_up = 20_000;
    fixture.fill(0, warm_up);
    counted(operations, |number| fixture.fill(warm_up + number, 1));
    assert!(fixture.store.memory_bytes() <= capacity_bytes);
}

/// One get of a thousand objects, and a release of each.
fn get_and_release_many(operations: usize) {
    let mut fixture = Fixture::new(64 << 20);
    fixture.fill(0, 1000);
    let ids = object_ids(1000);
    let mut get = || {
        fixture.ask(&Request::Get { ids: &ids, timeout: GetTimeout::Now });
        for id in &ids {
            fixture.ask(&Request::Release(*id));
        }
    };
    get();
    counted(operations, |_| get());
}

/// A client that comes, says hello and goes.
fn connect_and_disconnect(operations: usize) {
    let mut fixture = Fixture::new(64 << 20);
    let mut visit = || {
        fixture.client = fixture.store.handle_connect();
        let replies = fixture.ask(&Request::Connect);
        assert_eq!(replies, 1);
        fixture.ask(&Request::Disconnect);
    };
    visit();
    counted(operations, |_| visit());
}

/// Whether an effect is a reply to what was asked for last.
pub(crate) fn as_reply(effect: &Effect) -> Option<&Reply> {
    match effect {
        Effect::Reply { reply, .. } => Some(reply),
        _ => None,
    }
}
