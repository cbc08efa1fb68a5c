//! What takes more than one turn. Everything else is tested by the simulation, see
//! `tests/simulation`, the objects of which are too few for that.

use super::{Backing, Effect, Moment, Progress, Store, StoreConfig, TestBacking};
use crate::ids::{ClientId, Extent, ObjectId};
use crate::protocol::message::{
    CreateRequest, GetTimeout, NewObject, Notice, Reply, Request, Status,
};

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
        let config = StoreConfig {
            capacity_bytes,
            max_victims: MAX_VICTIMS,
            max_ids_at_once: MAX_VICTIMS,
            max_bytes_at_once: 16,
            ..StoreConfig::default()
        };
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

    /// Hands in a request that needs one turn, and keeps what it did.
    fn finish_with(&mut self, client: ClientId, request: &Request<'_>, kept: &mut Vec<Effect>) {
        assert_eq!(self.handle(client, request, false), Progress::Done);
        kept.extend(self.effects());
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

/// Lets a paused request come to its end, with others served in between. Gives the number of turns
/// after the first, and what was done in all of them.
fn work_off(
    fixture: &mut Fixture,
    client: ClientId,
    request: &Request<'_>,
) -> (usize, Vec<Effect>) {
    assert_eq!(fixture.handle(client, request, false), Progress::Pause);
    let other = fixture.store.handle_connect();
    let (mut turns, mut effects) = (0, fixture.effects());
    while fixture.store.has_work() {
        fixture.store.check_invariants();
        assert!(!fixture.contains(other, 255), "others have their turn");
        fixture.store.work(&mut fixture.backing);
        effects.extend(fixture.effects());
        turns += 1;
    }
    (turns, effects)
}

fn ids(numbers: std::ops::Range<u8>) -> Vec<ObjectId> {
    numbers.map(id).collect()
}

#[test]
fn a_list_comes_in_parts() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 0..10, 10, false);
    let (turns, effects) = work_off(&mut fixture, client, &Request::List);
    assert_eq!(turns, 4);
    let mut listed = Vec::new();
    for effect in &effects {
        match effect {
            Effect::ListPart { rows, .. } => listed.extend(rows.iter().map(|row| row.id)),
            Effect::Reply { reply: Reply::List(rows), .. } => {
                listed.extend(rows.iter().map(|row| row.id));
            }
            effect => assert_eq!(*effect, Effect::Resume(client)),
        }
    }
    assert_eq!(listed, ids(0..10));
    assert_eq!(effects.last(), Some(&Effect::Resume(client)));
}

#[test]
fn a_long_get_waits_for_what_it_lacks() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 0..5, 10, false);
    let ids = ids(0..10);
    let get = Request::Get { ids: &ids, timeout: GetTimeout::Never };
    let (turns, effects) = work_off(&mut fixture, client, &get);
    assert!(turns >= 7, "ten are looked for twice, three a turn: {turns} turns");
    assert_eq!(effects, [Effect::Resume(client)]);
    let other = fixture.store.handle_connect();
    fixture.fill(other, 5..10, 10, false);
    let mut answer = None;
    while fixture.store.has_work() {
        fixture.store.work(&mut fixture.backing);
        for effect in fixture.effects() {
            if let Effect::Reply { reply: Reply::Get(reply), .. } = effect {
                answer = Some(reply);
            }
        }
    }
    let answer = answer.expect("all are there");
    assert!(answer.objects.iter().map(|(id, _)| *id).eq(ids));
    assert!(answer.objects.iter().all(|(_, place)| place.is_some()));
}

#[test]
fn a_client_that_leaves_during_its_long_get() {
    let mut fixture = Fixture::new(1000);
    for turns in 0..8 {
        let client = fixture.store.handle_connect();
        let ids = ids(0..10);
        let get = Request::Get { ids: &ids, timeout: GetTimeout::Never };
        assert_eq!(fixture.handle(client, &get, false), Progress::Pause);
        for _ in 0..turns {
            fixture.store.work(&mut fixture.backing);
            fixture.store.check_invariants();
        }
        fixture.store.handle_disconnect(client, &mut fixture.backing);
        while fixture.store.has_work() {
            fixture.store.work(&mut fixture.backing);
            fixture.store.check_invariants();
        }
        let is_its_own = |effect: &Effect| *effect == Effect::Resume(client);
        assert!(fixture.effects().iter().all(is_its_own), "nobody is left to be answered");
    }
}

#[test]
fn long_deletes_and_refreshes() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 0..10, 10, false);
    let ids = ids(0..12);
    let (turns, effects) = work_off(&mut fixture, client, &Request::RefreshLru(&ids));
    assert_eq!(turns, 4);
    let refreshed = Effect::Reply { client, reply: Reply::RefreshLru };
    assert_eq!(effects, [refreshed, Effect::Resume(client)]);
    let (turns, effects) = work_off(&mut fixture, client, &Request::Delete(&ids));
    assert_eq!(turns, 4);
    let status = |number| if number < 10 { Status::Ok } else { Status::ObjectNotFound };
    let outcomes = (0..12).map(|number| (id(number), status(number))).collect();
    let deleted = Effect::Reply { client, reply: Reply::Delete(outcomes) };
    assert_eq!(effects, [deleted, Effect::Resume(client)]);
    assert_eq!(fixture.store.memory_bytes(), 0);
}

#[test]
fn a_batch_arrives_in_parts_and_is_seen_at_once() {
    let mut fixture = Fixture::new(1000);
    let (client, other) = (fixture.store.handle_connect(), fixture.store.handle_connect());
    let new = |number| NewObject { id: id(number), data: b"data", metadata: b"", digest: [1; 8] };
    let objects: Vec<NewObject<'_>> = (0..10).map(new).collect();
    let batch = Request::CreateAndSealBatch { evict_if_full: true, objects: &objects };
    for turn in 0..3 {
        assert_eq!(fixture.handle(client, &batch, turn > 0), Progress::Retry);
        assert_eq!(fixture.effects(), [Effect::Resume(client)]);
        assert!(!fixture.contains(other, 0), "all or none");
    }
    assert_eq!(fixture.handle(client, &batch, true), Progress::Done);
    assert!((0..10).all(|number| fixture.contains(other, number)));
    let (_, reply) = fixture.finish(other, &Request::Evict { bytes: 1000 });
    assert_eq!(reply, Some(Reply::Evict { bytes: 40 }), "nobody holds what has arrived");
}

#[test]
fn an_object_that_is_deleted_while_its_batch_arrives() {
    let mut fixture = Fixture::new(1000);
    let (client, other) = (fixture.store.handle_connect(), fixture.store.handle_connect());
    let get = Request::Get { ids: &[id(0), id(1)], timeout: GetTimeout::Never };
    assert_eq!(fixture.handle(other, &get, false), Progress::Done);
    let new = |number| NewObject { id: id(number), data: b"data", metadata: b"", digest: [1; 8] };
    let objects: Vec<NewObject<'_>> = (0..10).map(new).collect();
    let batch = Request::CreateAndSealBatch { evict_if_full: true, objects: &objects };
    assert_eq!(fixture.handle(client, &batch, false), Progress::Retry);
    let (_, reply) = fixture.finish(other, &Request::Delete(&[id(1)]));
    let outcome = (id(1), Status::ObjectNotSealed);
    assert_eq!(reply, Some(Reply::Delete([outcome].into_iter().collect())));
    let (_, reply) = fixture.finish(client, &batch);
    assert_eq!(reply, Some(Reply::CreateAndSealBatch(Status::Ok)));
    let left: Vec<u8> = (0..10).filter(|number| fixture.contains(other, *number)).collect();
    assert_eq!(left, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn a_batch_that_fails_leaves_nothing() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    fixture.fill(client, 9..10, 10, false);
    let new = |number| NewObject { id: id(number), data: b"data", metadata: b"", digest: [1; 8] };
    let objects: Vec<NewObject<'_>> = (0..10).map(new).collect();
    let batch = Request::CreateAndSealBatch { evict_if_full: true, objects: &objects };
    let (turns, reply) = fixture.finish(client, &batch);
    assert_eq!((turns, reply), (4, Some(Reply::CreateAndSealBatch(Status::ObjectExists))));
    assert_eq!(fixture.store.memory_bytes(), 10);
}

#[test]
fn a_large_object_is_written_in_parts() {
    let mut fixture = Fixture::new(1000);
    let client = fixture.store.handle_connect();
    let (data, metadata) = ([1; 45], [2; 20]);
    let object = NewObject { id: id(1), data: &data, metadata: &metadata, digest: [1; 8] };
    let request = Request::CreateAndSeal { evict_if_full: true, object };
    let (turns, reply) = fixture.finish(client, &request);
    assert_eq!((turns, reply), (5, Some(Reply::CreateAndSeal(Status::Ok))), "16 bytes a turn");
    let get = Request::Get { ids: &[id(1)], timeout: GetTimeout::Now };
    let (_, reply) = fixture.finish(client, &get);
    let Some(Reply::Get(reply)) = reply else { panic!("{reply:?}") };
    let place = reply.objects[0].1.expect("it is there");
    let extent =
        Extent { segment: place.segment, offset_bytes: place.offset_bytes, size_bytes: 65 };
    assert_eq!(*fixture.backing.bytes(extent), [&data[..], &metadata[..]].concat());
}

#[test]
fn a_newcomer_hears_of_everything_once() {
    let mut fixture = Fixture::new(1000);
    let (client, subscriber) = (fixture.store.handle_connect(), fixture.store.handle_connect());
    fixture.fill(client, 0..10, 10, false);
    fixture.effects();
    assert_eq!(fixture.handle(subscriber, &Request::Subscribe, false), Progress::Done);
    let mut heard = fixture.effects();
    assert_eq!(heard.len(), MAX_VICTIMS);
    // One that it knows, and one that it does not know yet.
    fixture.finish_with(client, &Request::Delete(&[id(1), id(8)]), &mut heard);
    // In the places of these.
    for number in 20..22 {
        fixture.create(client, number, 10);
        fixture.finish_with(client, &Request::Seal(id(number), [0; 8]), &mut heard);
    }
    while fixture.store.is_newcomer(subscriber) {
        fixture.store.tell_present(subscriber);
        heard.extend(fixture.effects());
    }
    let (mut sealed, mut deleted) = (Vec::new(), Vec::new());
    for effect in heard {
        if let Effect::Notify { only: Some(who), notices } = effect {
            assert_eq!(who, subscriber);
            for notice in notices {
                match notice {
                    Notice::Sealed { id, .. } => sealed.push(id.0[0]),
                    Notice::Deleted(id) => deleted.push(id.0[0]),
                }
            }
        }
    }
    sealed.sort_unstable();
    assert_eq!(sealed, [0, 1, 2, 3, 4, 5, 6, 7, 9, 20, 21]);
    assert_eq!(deleted, [1]);
}
