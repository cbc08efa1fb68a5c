//! What takes more than one turn. Everything else is tested by the simulation, see
//! `tests/simulation`, the objects of which are too few for that.

use super::{Backing, Effect, Moment, Progress, Store, StoreConfig, TestBacking};
use crate::ids::{ClientId, ObjectId};
use crate::protocol::message::{CreateRequest, GetTimeout, Reply, Request, Status};

/// How many objects may go in one turn here.
const MAX_VICTIMS: usize = 3;

struct Fixture {
    store: Store,
    backing: TestBacking,
}

fn id(number: u8) -> ObjectId {
    ObjectId([number; 20])
}

impl Fixture {
    fn new(capacity_bytes: u64) -> Self {
        let mut backing = TestBacking::new(4 * capacity_bytes + 8192);
        let segment = backing.add_segment(capacity_bytes).unwrap();
        let config =
            StoreConfig { capacity_bytes, max_victims: MAX_VICTIMS, ..StoreConfig::default() };
        Self { store: Store::new(config, segment), backing }
    }

    fn handle(&mut self, client: ClientId, request: &Request<'_>, again: bool) -> Progress {
        let (now, backing) = (Moment::default(), &mut self.backing);
        let progress = self.store.handle_request(now, client, request, again, backing);
        self.store.check_invariants();
        progress
    }

    fn effects(&mut self) -> Vec<Effect> {
        std::iter::from_fn(|| self.store.next_effect()).collect()
    }

    /// Hands a request in until it is done. Gives the number of turns, and the last reply.
    fn finish(&mut self, client: ClientId, request: &Request<'_>) -> (usize, Option<Reply>) {
        let mut turns = 1;
        while self.handle(client, request, turns > 1) == Progress::Retry {
            assert_eq!(self.effects(), [Effect::Resume(client)], "others have their turn");
            turns += 1;
        }
        let mut replies = self.effects().into_iter().rev().filter_map(|effect| match effect {
            Effect::Reply { reply, .. } => Some(reply),
            _ => None,
        });
        (turns, replies.next())
    }

    fn create(&mut self, client: ClientId, number: u8, data_bytes: u64) -> (usize, bool) {
        let request = Request::Create(CreateRequest {
            id: id(number),
            evict_if_full: true,
            data_bytes,
            metadata_bytes: 0,
            device_num: 0,
        });
        let (turns, reply) = self.finish(client, &request);
        let Some(Reply::Create { outcome, .. }) = reply else { panic!("{reply:?}") };
        (turns, outcome.is_ok())
    }

    /// Sealed objects, which the client goes on to hold if `held`.
    fn fill(&mut self, client: ClientId, numbers: std::ops::Range<u8>, size: u64, held: bool) {
        for number in numbers {
            assert_eq!(self.create(client, number, size), (1, true));
            self.finish(client, &Request::Seal(id(number), [0; 8]));
            if !held {
                self.finish(client, &Request::Release(id(number)));
            }
        }
    }

    fn contains(&mut self, client: ClientId, number: u8) -> bool {
        let (_, reply) = self.finish(client, &Request::Contains(id(number)));
        let Some(Reply::Contains(_, contains)) = reply else { panic!("{reply:?}") };
        contains
    }
}

#[test]
fn many_small_objects_go_for_a_large_one() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 0..100, 10, false);
    assert_eq!(fixture.create(client, 200, 100), (4, true), "ten have to go");
    assert!(!fixture.contains(client, 9));
    assert!(fixture.contains(client, 20), "a fifth of the capacity at once would be too many");
    assert_eq!(fixture.create(client, 201, 2000), (1, false), "nothing goes for what cannot fit");
    assert!(fixture.contains(client, 20));
}

#[test]
fn a_request_to_evict_counts_all_its_turns() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 0..100, 10, false);
    let reply = fixture.finish(client, &Request::Evict { bytes: 95 });
    assert_eq!(reply, (4, Some(Reply::Evict { bytes: 100 })));
    let reply = fixture.finish(client, &Request::Evict { bytes: u64::MAX });
    assert_eq!(reply, (30, Some(Reply::Evict { bytes: 900 })));
    assert_eq!(fixture.store.memory_bytes(), 0);
}

#[test]
fn a_quota_gives_up_its_own_in_several_turns() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    let options = Request::SetOptions { name: b"", quota_bytes: 100 };
    assert_eq!(fixture.finish(client, &options).1, Some(Reply::SetOptions(Status::Ok)));
    fixture.fill(client, 0..4, 10, false);
    fixture.fill(client, 4..8, 10, true);
    fixture.fill(client, 8..10, 10, false);
    assert_eq!(fixture.create(client, 200, 85), (3, true), "nine have to go");
    let left: Vec<u8> = (0..10).filter(|number| fixture.contains(client, *number)).collect();
    assert_eq!(left, [4, 5, 6, 7, 9], "what is in use passes to everybody's queue");
}

#[test]
fn a_client_that_leaves_much_behind() {
    let mut fixture = Fixture::new(1000);
    let (leaver, stayer) = (fixture.store.handle_connect(), fixture.store.handle_connect());
    fixture.fill(leaver, 0..10, 10, true);
    for number in 10..20 {
        fixture.create(leaver, number, 10);
    }
    fixture.store.handle_disconnect(leaver, &mut fixture.backing);
    let mut turns = 1;
    while fixture.store.has_work() {
        fixture.store.check_invariants();
        assert!(fixture.contains(stayer, 0), "others have their turn");
        fixture.store.work(&mut fixture.backing);
        turns += 1;
    }
    assert_eq!(turns, 7);
    assert_eq!(fixture.store.memory_bytes(), 100);
    let (_, reply) = fixture.finish(stayer, &Request::Evict { bytes: 1000 });
    assert_eq!(reply, Some(Reply::Evict { bytes: 100 }), "nobody holds what is left");
}

#[test]
fn waiting_gets_leave_their_clients_list_in_any_order() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    for number in 0..10 {
        let ids = [id(number)];
        let get = Request::Get { ids: &ids, timeout: GetTimeout::Never };
        assert_eq!(fixture.handle(client, &get, false), Progress::Done);
    }
    for number in [9, 0, 5, 1, 8, 2, 3, 7, 6, 4] {
        fixture.fill(client, number..number + 1, 10, false);
    }
    assert!((0..10).all(|number| fixture.contains(client, number)));
}
