//! Bodies of requests, well-formed and not: what was put in comes out, what breaks a rule is named,
//! and whatever is decoded goes through a store, the replies of which must be readable.

mod body;
mod reply;

use arbitrary::{Arbitrary, Unstructured};
use plasma_store::ids::ClientId;
use plasma_store::protocol::decode::{Scratch, decode};
use plasma_store::protocol::dialect;
use plasma_store::protocol::encode::Encoder;
use plasma_store::protocol::message::{Reply, Request, kind};
use plasma_store::protocol::violation::Violation;
use plasma_store::store::{Backing, Effect, Moment, Progress, Store, StoreConfig, TestBacking};

use self::body::{Body, MAX_IDS, Shape};

/// Messages behind this one are left out.
const MAX_MESSAGES: usize = 24;

/// How clients of the first dialects begin.
const FIRST_OF_A: i64 = 15;
const FIRST_OF_B_TO_D: i64 = 17;

const CAPACITY_BYTES: u64 = 8 << 10;
const MAX_OBJECTS: usize = 40;
const MAX_GETS: usize = 5;
const MAX_WAITING_IDS: usize = 400;
const CLIENTS: usize = 3;

#[derive(Arbitrary, Debug)]
struct Input {
    zero_on_free: bool,
    messages: Vec<Message>,
}

#[derive(Arbitrary, Debug)]
struct Message {
    client: u8,
    content: Content,
}

#[derive(Arbitrary, Debug)]
enum Content {
    /// Any bytes under any number.
    Raw { kind: Number, body: Vec<u8> },
    /// A body as clients make them, but with contents of any kind.
    Built(Shape),
    /// The same, under another number.
    Confused { kind: Number, shape: Shape },
    /// The same, with some bytes changed and the end cut off.
    Damaged { shape: Shape, changes: Vec<Change>, cut: u8 },
}

/// The number of a message.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Number {
    Request(u8),
    Any(i64),
}

impl Number {
    fn get(self) -> i64 {
        match self {
            Self::Request(choice) => i64::from(choice % 36),
            Self::Any(number) => number,
        }
    }
}

/// So many objects, and bytes, are handled in one turn.
const AT_ONCE: usize = 3;

/// More turns than any input needs.
const MAX_TURNS: usize = 100_000;

/// A changed byte; the place counts from the start, or from the end if it is negative.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Change {
    place: i16,
    bits: u8,
}

fn damage(bytes: &mut Vec<u8>, changes: &[Change], cut: u8) {
    for Change { place, bits } in changes {
        let distance = usize::from(place.unsigned_abs());
        let index = if *place < 0 { bytes.len().checked_sub(distance) } else { Some(distance) };
        if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
            *byte ^= bits;
        }
    }
    bytes.truncate(bytes.len().saturating_sub(cut.into()));
}

/// A store, its memory and its clients.
struct World {
    store: Store,
    backing: TestBacking,
    clients: [ClientId; CLIENTS],
    encoder: Encoder,
    output: Vec<u8>,
    now: Moment,
}

impl World {
    fn new(zero_on_free: bool) -> Self {
        let mut backing = TestBacking::new(2 * CAPACITY_BYTES);
        let segment = backing.add_segment(CAPACITY_BYTES).expect("the first is granted");
        let config = StoreConfig {
            capacity_bytes: CAPACITY_BYTES,
            max_objects: MAX_OBJECTS,
            max_gets: MAX_GETS,
            max_waiting_ids: MAX_WAITING_IDS,
            zero_on_free,
            has_external_store: false,
            max_victims: AT_ONCE,
            max_ids_at_once: AT_ONCE,
            max_bytes_at_once: AT_ONCE as u64,
            ..StoreConfig::default()
        };
        let mut store = Store::new(config, segment);
        let clients = std::array::from_fn(|_| store.handle_connect());
        let (encoder, output, now) = (Encoder::new(), Vec::new(), Moment::default());
        Self { store, backing, clients, encoder, output, now }
    }

    fn request(&mut self, client: usize, request: &Request<'_>) {
        let id = self.clients[client];
        let (mut again, mut effects) = (false, 0);
        for turn in 0.. {
            assert!(turn < MAX_TURNS, "{request:?} comes to no end");
            let (store, backing) = (&mut self.store, &mut self.backing);
            let progress = store.handle_request(self.now, id, request, again, backing);
            if let Request::Disconnect = request {
                self.clients[client] = self.store.handle_connect();
            }
            effects += self.take_effects();
            self.work_off(&mut effects);
            if progress != Progress::Retry || self.clients[client] != id {
                break;
            }
            again = true;
        }
        // Each object, each listed id and each client can be told of once or twice.
        let most = 8 + 4 * (listed(request) + MAX_OBJECTS + CLIENTS);
        assert!(effects <= most, "{effects} effects of {request:?}");
    }

    /// Goes on with what takes several turns until there is no more.
    fn work_off(&mut self, effects: &mut usize) {
        for turn in 0.. {
            if !self.store.has_work() {
                return;
            }
            assert!(turn < MAX_TURNS, "work comes to no end");
            self.store.work(&mut self.backing);
            *effects += self.take_effects();
        }
    }

    /// A subscriber is told of the next of the objects that were there before it.
    fn tell_newcomers(&mut self) {
        for client in self.clients {
            self.store.tell_present(client);
        }
        self.take_effects();
    }

    /// Encodes all that is to be sent, and returns how many effects there were, but for those that
    /// each turn has.
    fn take_effects(&mut self) -> usize {
        let mut count = 0;
        while let Some(effect) = self.store.next_effect() {
            count += 1;
            self.output.clear();
            match effect {
                Effect::Reply { reply, .. } => {
                    let large = self.encoder.reply(&reply, &mut self.output);
                    assert!(large.is_none(), "inputs are short");
                    reply::check(&self.output, &reply);
                }
                Effect::Notify { notices, .. } => {
                    self.encoder.notification(&notices, &mut self.output);
                    reply::check_notices(&self.output, &notices);
                }
                Effect::Close { client, .. } => self.replace(client),
                Effect::ListPart { .. } | Effect::Resume(_) => count -= 1,
                Effect::SendSegment { .. } => {}
                Effect::ReleasePages(allocation) => {
                    self.backing.release_pages(allocation.extent);
                    self.store.handle_pages_released(allocation);
                }
                other => panic!("{other:?} without an external store"),
            }
        }
        self.store.check_invariants();
        count
    }

    /// Another client comes in the place of one that is disconnected.
    fn replace(&mut self, id: ClientId) {
        self.store.handle_disconnect(id, &mut self.backing);
        for client in &mut self.clients {
            if *client == id {
                *client = self.store.handle_connect();
            }
        }
    }

    fn close(mut self) {
        for client in self.clients {
            self.store.handle_disconnect(client, &mut self.backing);
            self.take_effects();
            self.work_off(&mut 0);
        }
        let client = self.store.handle_connect();
        self.clients = [client; CLIENTS];
        self.request(0, &Request::Evict { bytes: i64::MAX.cast_unsigned() });
        assert_eq!(self.store.memory_bytes(), 0, "everything can be evicted");
        // What has no bytes may be left.
        self.request(0, &Request::List);
    }
}

/// How many objects a request names.
fn listed(request: &Request<'_>) -> usize {
    match request {
        Request::Get { ids, .. } | Request::Delete(ids) | Request::RefreshLru(ids) => ids.len(),
        Request::CreateAndSealBatch { objects, .. } => objects.len(),
        _ => 1,
    }
}

/// The request must be what was put in, or broken rules must be named rightly.
fn check_decoded(found: &Result<Request<'_>, Violation>, body: &Body) {
    match found {
        Ok(request) => {
            assert!(body.faults.is_empty(), "{:?} went unnoticed in {request:?}", body.faults);
            body.with_request(|expected| {
                assert_eq!(format!("{request:?}"), format!("{expected:?}"));
            });
        }
        Err(violation) => {
            let named = std::mem::discriminant(violation);
            let faults = &body.faults;
            let is_true = faults.iter().any(|fault| std::mem::discriminant(fault) == named);
            assert!(is_true, "{violation} in place of {faults:?}");
        }
    }
}

/// Runs one input.
///
/// # Panics
///
/// If something does not hold.
pub fn run(data: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let mut world = World::new(input.zero_on_free);
    for Message { client, content } in input.messages.iter().take(MAX_MESSAGES) {
        let mut built = None;
        let (kind, bytes) = match content {
            Content::Raw { kind, body } => (kind.get(), body.clone()),
            Content::Built(shape) => {
                let body = Body::new(shape);
                let message = (body.kind, body.bytes.clone());
                built = Some(body);
                message
            }
            Content::Confused { kind, shape } => (kind.get(), Body::new(shape).bytes),
            Content::Damaged { shape, changes, cut } => {
                let Body { kind, mut bytes, .. } = Body::new(shape);
                damage(&mut bytes, changes, *cut);
                (kind, bytes)
            }
        };
        let mut scratch = Scratch::default();
        let found = decode(kind, &bytes, MAX_IDS, &mut scratch);
        // Whatever a body is, it can be looked at, and a good one is not taken for an older one.
        let older = [FIRST_OF_A, FIRST_OF_B_TO_D, kind::CONNECT_REQUEST]
            .map(|first| dialect::recognise(first, kind, &bytes));
        if let Some(body) = &built {
            check_decoded(&found, body);
            let is_older = older[2].is_some() && dialect::can_be_mistaken(kind);
            assert!(!is_older || !body.faults.is_empty(), "{older:?} in place of a request {kind}");
        }
        match found {
            Ok(request) => {
                world.request(usize::from(*client) % CLIENTS, &request);
                world.tell_newcomers();
            }
            Err(violation) => {
                let text = violation.to_string();
                assert!(!text.is_empty() && !text.contains('\n'), "{text:?} is one line");
            }
        }
    }
    world.close();
}

/// Shows one input as text.
#[must_use]
pub fn describe(data: &[u8]) -> String {
    match Input::arbitrary_take_rest(Unstructured::new(data)) {
        Ok(input) => format!("{input:#?}"),
        Err(error) => error.to_string(),
    }
}

/// The kinds of replies, by number, for [`reply::check`].
fn kind_of(reply: &Reply) -> i64 {
    match reply {
        Reply::Connect { .. } => kind::CONNECT_REPLY,
        Reply::Create { .. } => kind::CREATE_REPLY,
        Reply::CreateAndSeal(_) => kind::CREATE_AND_SEAL_REPLY,
        Reply::CreateAndSealBatch(_) => kind::CREATE_AND_SEAL_BATCH_REPLY,
        Reply::Abort(_) => kind::ABORT_REPLY,
        Reply::Seal(..) => kind::SEAL_REPLY,
        Reply::Get(_) => kind::GET_REPLY,
        Reply::Delete(_) => kind::DELETE_REPLY,
        Reply::Contains(..) => kind::CONTAINS_REPLY,
        Reply::List(_) => kind::LIST_REPLY,
        Reply::Evict { .. } => kind::EVICT_REPLY,
        Reply::SetOptions(_) => kind::SET_OPTIONS_REPLY,
        Reply::DebugString(_) => kind::DEBUG_STRING_REPLY,
        Reply::RefreshLru => kind::REFRESH_LRU_REPLY,
    }
}
