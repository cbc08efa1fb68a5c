//! Gets that wait, found by the ids that they wait for and by their deadlines.
//!
//! A get has one link for each distinct id that it lacks. The links of an id form a queue in the
//! order in which the gets registered; a link leaves its queue in constant time wherever it is in
//! it.

use std::collections::BTreeSet;
use std::time::Duration;

use foldhash::quality::RandomState;
use hashbrown::HashMap;
use slab::Slab;
use smallvec::SmallVec;

use crate::ids::{ClientId, ObjectId};

/// "No link".
const NONE: usize = usize::MAX;

/// A waiting get. The number is used again when the get is over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct GetId(usize);

/// The gets of one client that wait.
pub(super) type GetList = SmallVec<[GetId; 1]>;

/// A get that waits.
#[derive(Debug)]
pub(super) struct Get {
    pub(super) client: ClientId,
    /// What was asked for, in order and with repetitions.
    pub(super) ids: SmallVec<[ObjectId; 2]>,
    /// When it stops waiting, on the store's clock. It has stopped if there is none and
    /// `expired` is set.
    deadline: Option<Duration>,
    /// It waits only for what is being restored.
    expired: bool,
    stage: Stage,
    /// The first of its links.
    first_link: usize,
    /// How many objects it lacks.
    lacking: usize,
    /// How many of them are on their way back from the external store.
    restoring: usize,
    /// How many links it has: those of objects that have come stay until the end.
    links: usize,
    /// Where it stands in its client's list, so that it leaves that at once however long that is.
    pub(super) place_in_list: usize,
}

impl Get {
    /// Whether it has waited enough.
    pub(super) fn is_over(&self) -> bool {
        let has_enough = self.lacking == 0 || (self.expired && self.restoring == 0);
        has_enough && self.stage == Stage::Waiting
    }
}

/// How far a get has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// What it lacks is still being noted.
    Beginning,
    /// It waits for what it lacks.
    Waiting,
    /// It waits for nothing; only its links are still there.
    Ended,
}

/// A get that has ended.
#[derive(Debug)]
pub(super) struct EndedGet {
    pub(super) client: ClientId,
    /// See [`Get::ids`].
    pub(super) ids: SmallVec<[ObjectId; 2]>,
    /// How many links it leaves behind.
    pub(super) links: usize,
}

#[derive(Debug)]
struct Link {
    get: GetId,
    id: ObjectId,
    restoring: bool,
    /// Neighbours in the queue of the id.
    before: usize,
    behind: usize,
    /// The next link of the same get.
    next_of_get: usize,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: usize,
    last: usize,
}

/// All gets that wait.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    gets: Slab<Get>,
    links: Slab<Link>,
    queues: HashMap<ObjectId, Queue, RandomState>,
    deadlines: BTreeSet<(Duration, GetId)>,
}

impl Waiters {
    /// Registers a get that lacks nothing yet, and appends it to its client's list. It is not over
    /// before [`Waiters::begin_waiting`] is called.
    pub(super) fn insert(&mut self, client: ClientId, list: &mut GetList) -> GetId {
        let get = Get {
            client,
            ids: SmallVec::new(),
            deadline: None,
            expired: false,
            stage: Stage::Beginning,
            first_link: NONE,
            lacking: 0,
            restoring: 0,
            links: 0,
            place_in_list: list.len(),
        };
        let get_id = GetId(self.gets.insert(get));
        list.push(get_id);
        get_id
    }

    /// What the get lacks has been noted; `ids` is all that it asks for.
    pub(super) fn begin_waiting(&mut self, get_id: GetId, ids: SmallVec<[ObjectId; 2]>) {
        let get = &mut self.gets[get_id.0];
        get.ids = ids;
        get.stage = Stage::Waiting;
    }

    /// Ends a get that is in its client's list, and takes it out of that. The order of the list
    /// means nothing. Its links remain, see [`Waiters::drop_links`].
    pub(super) fn end_listed(&mut self, get_id: GetId, list: &mut GetList) -> EndedGet {
        let place = self.gets[get_id.0].place_in_list;
        list.swap_remove(place);
        if let Some(moved) = list.get(place) {
            self.gets[moved.0].place_in_list = place;
        }
        self.end(get_id)
    }

    /// Ends a get whose client's list is gone.
    pub(super) fn end(&mut self, get_id: GetId) -> EndedGet {
        let get = &mut self.gets[get_id.0];
        get.stage = Stage::Ended;
        if let Some(deadline) = get.deadline.take() {
            self.deadlines.remove(&(deadline, get_id));
        }
        EndedGet { client: get.client, ids: std::mem::take(&mut get.ids), links: get.links }
    }

    /// Drops up to `left` links of a get that has ended, and takes them off `left`. The get is
    /// gone, and this `true`, when it has none any more.
    pub(super) fn drop_links(&mut self, get_id: GetId, left: &mut usize) -> bool {
        loop {
            let get = &mut self.gets[get_id.0];
            debug_assert_eq!(get.stage, Stage::Ended, "what waits keeps its links");
            let link = get.first_link;
            if link == NONE {
                self.gets.remove(get_id.0);
                return true;
            }
            if *left == 0 {
                return false;
            }
            *left -= 1;
            let taken = self.links.remove(link);
            get.first_link = taken.next_of_get;
            get.links -= 1;
            // See `take_waiting`.
            if taken.before != link {
                get.lacking -= 1;
                self.unlink(&taken);
            }
        }
    }

    /// Notes that the get lacks an object; `false` if that is known already: a get may repeat an
    /// id. It is not found to be known if other gets were registered since, which does no harm.
    pub(super) fn add_lacking(&mut self, get_id: GetId, id: ObjectId, restoring: bool) -> bool {
        let last = self.queues.get(&id).map_or(NONE, |queue| queue.last);
        if last != NONE && self.links[last].get == get_id {
            return false;
        }
        let get = &mut self.gets[get_id.0];
        let new = Link {
            get: get_id,
            id,
            restoring,
            before: last,
            behind: NONE,
            next_of_get: get.first_link,
        };
        let index = self.links.insert(new);
        get.first_link = index;
        get.lacking += 1;
        get.links += 1;
        get.restoring += usize::from(restoring);
        if last == NONE {
            self.queues.insert(id, Queue { first: index, last: index });
        } else {
            self.links[last].behind = index;
            self.queues.get_mut(&id).expect("it has a last link").last = index;
        }
        true
    }

    /// Sets when the get stops waiting.
    pub(super) fn set_deadline(&mut self, get_id: GetId, deadline: Duration) {
        let get = &mut self.gets[get_id.0];
        debug_assert!(get.deadline.is_none(), "a deadline is set once");
        get.deadline = Some(deadline);
        self.deadlines.insert((deadline, get_id));
    }

    /// The get waits no longer, except for what is being restored.
    pub(super) fn expire(&mut self, get_id: GetId) {
        let get = &mut self.gets[get_id.0];
        get.expired = true;
        if let Some(deadline) = get.deadline.take() {
            self.deadlines.remove(&(deadline, get_id));
        }
    }

    /// The earliest moment at which a get stops waiting.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// The get that stops waiting first, if that is not later than `now`.
    pub(super) fn due(&self, now: Duration) -> Option<GetId> {
        self.deadlines.first().filter(|(deadline, _)| *deadline <= now).map(|(_, get)| *get)
    }

    /// A get, unless it is gone.
    pub(super) fn get(&self, get_id: GetId) -> Option<&Get> {
        self.gets.get(get_id.0)
    }

    /// Whether any get lacks the object.
    pub(super) fn is_awaited(&self, id: &ObjectId) -> bool {
        self.queues.contains_key(id)
    }

    /// The object is there: unlinks the gets that lack it, in the order in which they registered.
    pub(super) fn take_waiting(&mut self, id: &ObjectId) -> SmallVec<[GetId; 4]> {
        let mut waiting = SmallVec::new();
        let mut next = self.queues.remove(id).map_or(NONE, |queue| queue.first);
        while next != NONE {
            let Link { get: get_id, behind, restoring, .. } = self.links[next];
            // The link stays where it is in the chain of its get, marked as of no queue.
            let taken = &mut self.links[next];
            taken.before = next;
            taken.behind = next;
            let get = &mut self.gets[get_id.0];
            get.lacking -= 1;
            get.restoring -= usize::from(restoring);
            if get.stage != Stage::Ended {
                waiting.push(get_id);
            }
            next = behind;
        }
        waiting
    }

    /// The object does not come back for now: those that waited for it wait like for any other.
    /// Returns the gets that lack it.
    pub(super) fn set_restoring(&mut self, id: &ObjectId, restoring: bool) -> SmallVec<[GetId; 4]> {
        let mut waiting = SmallVec::new();
        let mut next = self.queues.get(id).map_or(NONE, |queue| queue.first);
        while next != NONE {
            let link = &mut self.links[next];
            let before = std::mem::replace(&mut link.restoring, restoring);
            let get = &mut self.gets[link.get.0];
            get.restoring = get.restoring + usize::from(restoring) - usize::from(before);
            if get.stage != Stage::Ended {
                waiting.push(link.get);
            }
            next = link.behind;
        }
        waiting
    }

    fn unlink(&mut self, taken: &Link) {
        if taken.before != NONE {
            self.links[taken.before].behind = taken.behind;
        }
        if taken.behind != NONE {
            self.links[taken.behind].before = taken.before;
        }
        let queue = self.queues.get_mut(&taken.id).expect("a link in a queue has its queue");
        if taken.before == NONE {
            queue.first = taken.behind;
        }
        if taken.behind == NONE {
            queue.last = taken.before;
        }
        if queue.first == NONE {
            self.queues.remove(&taken.id);
        }
    }

    /// The ids that gets lack, for checks.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &ObjectId> {
        self.queues.keys()
    }

    /// All gets that have not ended.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GetId, &Get)> {
        let alive = self.gets.iter().filter(|(_, get)| get.stage != Stage::Ended);
        alive.map(|(index, get)| (GetId(index), get))
    }

    /// Checks that links, queues and deadlines agree.
    pub(super) fn check_invariants(&self) {
        let mut linked = 0;
        for (id, queue) in &self.queues {
            let (mut next, mut before) = (queue.first, NONE);
            assert_ne!(next, NONE, "a queue is not empty");
            while next != NONE {
                let link = &self.links[next];
                assert_eq!((&link.id, link.before), (id, before), "links point back");
                assert!(self.gets.contains(link.get.0), "a link has its get");
                linked += 1;
                before = next;
                next = link.behind;
            }
            assert_eq!(queue.last, before);
        }
        let lacking: usize = self.gets.iter().map(|(_, get)| get.lacking).sum();
        assert_eq!(linked, lacking, "a get is linked for each object that it lacks");
        for (get_id, get) in self.iter() {
            assert!(!get.is_over(), "what is over is removed");
            assert!(!get.expired || get.deadline.is_none());
            let listed = get.deadline.is_some_and(|d| self.deadlines.contains(&(d, get_id)));
            assert_eq!(listed, get.deadline.is_some());
        }
        let with_deadline = self.iter().filter(|(_, get)| get.deadline.is_some()).count();
        assert_eq!(with_deadline, self.deadlines.len());
    }
}
