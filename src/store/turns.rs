//! What is too long for one event is done in turns, with others served in between.
//!
//! An event may touch [`super::StoreConfig::max_victims`] objects, more or less, which takes about
//! a millisecond. What is longer becomes a [`Job`], and each call of [`Store::work`] does a part of
//! the jobs that there are, in turn. A client whose request has become a job is paused
//! until it is done.

use std::collections::VecDeque;
use std::vec;

use smallvec::SmallVec;

use super::clients::Departed;
use super::debug_string::DebugText;
use super::gets::Found;
use super::holds::Told;
use super::table::Entry;
use super::waiters::GetId;
use super::{Backing, Effect, Moment, Store, info};
use crate::ids::{ClientId, ObjectId, Slot};
use crate::protocol::message::{GetReply, GetTimeout, ObjectInfo, Reply, Status};

/// Something that takes several turns.
#[derive(Debug)]
pub(super) enum Job {
    /// What a client that is gone has left behind is put in order.
    Departed(Departed),
    /// A get looks for what it wants.
    Get(LongGet),
    /// A get that has ended is answered.
    Answer(Answer),
    Delete {
        client: ClientId,
        ids: vec::IntoIter<ObjectId>,
        outcomes: SmallVec<[(ObjectId, Status); 1]>,
    },
    RefreshLru {
        client: ClientId,
        ids: vec::IntoIter<ObjectId>,
    },
    List {
        client: ClientId,
        next: Slot,
    },
    DebugString(ClientId, DebugText),
    /// Objects are sent to the external store on request.
    Evict {
        eviction: usize,
        left_bytes: u64,
    },
}

impl Job {
    /// What a client that is gone has left behind.
    pub(super) fn departed(&self) -> Option<&Departed> {
        match self {
            Self::Departed(departed) => Some(departed),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(super) fn departed_mut(&mut self) -> Option<&mut Departed> {
        match self {
            Self::Departed(departed) => Some(departed),
            _ => None,
        }
    }
}

/// A get of many objects, while it looks for them.
#[derive(Debug)]
pub(super) struct LongGet {
    client: ClientId,
    asked_at: Moment,
    timeout: GetTimeout,
    ids: Vec<ObjectId>,
    /// Which of them is next.
    next: usize,
    found: Found,
    /// It has to wait, and looks for all a second time, to note what it lacks.
    registered: Option<GetId>,
    /// What has to be brought back.
    to_restore: VecDeque<Slot>,
}

impl LongGet {
    pub(super) fn new(
        asked_at: Moment,
        client: ClientId,
        ids: &[ObjectId],
        timeout: GetTimeout,
    ) -> Self {
        let (found, ids) = (Found::default(), ids.to_vec());
        let (next, registered, to_restore) = (0, None, VecDeque::new());
        Self { client, asked_at, timeout, ids, next, found, registered, to_restore }
    }
}

/// A get that has ended, while it is answered.
#[derive(Debug)]
pub(super) struct Answer {
    client: ClientId,
    /// Whose links have to go first.
    get: Option<GetId>,
    ids: SmallVec<[ObjectId; 2]>,
    /// How many of them the reply has.
    done: usize,
    /// How often the client had lost a hold when the reply was begun.
    releases: u64,
    reply: GetReply,
    /// The client is paused.
    resumes: bool,
}

impl Answer {
    pub(super) fn new(
        client: ClientId,
        get: Option<GetId>,
        ids: SmallVec<[ObjectId; 2]>,
        resumes: bool,
    ) -> Self {
        Self { client, get, ids, done: 0, releases: 0, reply: GetReply::default(), resumes }
    }
}

impl Store {
    /// Whether [`Store::work`] has something to do.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Goes on with what no event may do at once, for a bounded time.
    pub fn work(&mut self, backing: &mut impl Backing) {
        self.left = self.config.max_victims;
        while self.left > 0
            && let Some(job) = self.jobs.pop_front()
        {
            match self.step(job, backing) {
                // Gets are answered in the order in which they began to wait.
                Some(rest @ Job::Answer(_)) => self.jobs.push_front(rest),
                Some(rest) => self.jobs.push_back(rest),
                None => {}
            }
            // Each step counts, even if it has found nothing to do.
            self.left = self.left.saturating_sub(1);
        }
        self.settle(backing);
    }

    /// Does a part of a job, and returns what is left of it.
    fn step(&mut self, job: Job, backing: &mut impl Backing) -> Option<Job> {
        match job {
            Job::Departed(departed) => self.put_in_order(departed),
            Job::Get(get) => self.go_on_with_get(get, backing),
            Job::Answer(answer) => self.go_on_with_answer(answer),
            Job::Delete { client, mut ids, mut outcomes } => {
                let part = self.part(&mut ids);
                outcomes.extend(part.iter().map(|id| (*id, self.delete(id))));
                if ids.len() > 0 {
                    return Some(Job::Delete { client, ids, outcomes });
                }
                self.reply(client, Reply::Delete(outcomes));
                self.resume(client)
            }
            Job::RefreshLru { client, mut ids } => {
                let part = self.part(&mut ids);
                self.refresh_lru(&part);
                if ids.len() > 0 {
                    return Some(Job::RefreshLru { client, ids });
                }
                self.reply(client, Reply::RefreshLru);
                self.resume(client)
            }
            Job::List { client, next } => {
                // To nobody it would only be work.
                self.clients.get(client)?;
                let (rows, next) = self.rows_from(next);
                let Some(next) = next else {
                    self.reply(client, Reply::List(rows));
                    return self.resume(client);
                };
                let expected = self.table.slot_count();
                self.effects.push_back(Effect::ListPart { client, rows, expected });
                Some(Job::List { client, next })
            }
            Job::Evict { eviction, left_bytes } => {
                self.take_left();
                let left_bytes = self.evict_to_external(eviction, left_bytes)?;
                Some(Job::Evict { eviction, left_bytes })
            }
            Job::DebugString(client, mut text) => {
                self.clients.get(client)?;
                text.write(self.take_left());
                if text.left() > 0 {
                    return Some(Job::DebugString(client, text));
                }
                self.reply(client, Reply::DebugString(text.into_bytes()));
                self.resume(client)
            }
        }
    }

    /// The client's request is done.
    fn resume(&mut self, client: ClientId) -> Option<Job> {
        self.effects.push_back(Effect::Resume(client));
        None
    }

    /// All that this turn allows for.
    fn take_left(&mut self) -> usize {
        std::mem::take(&mut self.left).max(1)
    }

    /// As many as this turn allows for.
    fn part<T>(&mut self, items: &mut vec::IntoIter<T>) -> Vec<T> {
        let part: Vec<T> = items.by_ref().take(self.left.max(1)).collect();
        self.left = self.left.saturating_sub(part.len());
        part
    }

    fn put_in_order(&mut self, mut departed: Departed) -> Option<Job> {
        let (id, process) = (departed.id, departed.process);
        while self.left > 0 {
            if let Some(get) = departed.gets.pop() {
                if !self.waiters.drop_links(get, &mut self.left) {
                    departed.gets.push(get);
                }
            } else if let Some(slot) = departed.creating.next() {
                // It may be gone by itself, if no memory was to be had for it.
                if self.table.get(slot).and_then(Entry::creator) == Some(id) {
                    self.linger(id, process, slot);
                    self.remove_object(slot, Told::Nobody);
                }
            } else if let Some(slot) = departed.holds.next() {
                self.linger(id, process, slot);
                self.drop_hold(slot);
            } else {
                return None;
            }
            self.left = self.left.saturating_sub(1);
        }
        Some(Job::Departed(departed))
    }

    fn go_on_with_get(&mut self, mut get: LongGet, backing: &mut impl Backing) -> Option<Job> {
        let client = get.client;
        // If it was registered, it was ended along with the client.
        self.clients.get(client)?;
        if get.next < get.ids.len() {
            let from = get.next;
            get.next = get.ids.len().min(from + self.take_left());
            let part = &get.ids[from..get.next];
            match get.registered {
                None => self.hold_available(client, part, &mut get.found),
                Some(get_id) => self.note_lacking(client, get_id, part, &mut get.to_restore),
            }
            return Some(Job::Get(get));
        }
        let Some(get_id) = get.registered else {
            if get.found.suffices(get.timeout) {
                let answer = Answer::new(client, None, get.ids.into(), true);
                return Some(Job::Answer(answer));
            }
            get.next = 0;
            get.registered = Some(self.begin_get(client, get.ids.len())?);
            return Some(Job::Get(get));
        };
        // A restore may itself evict many, so that there is one to a step.
        if let Some(slot) = get.to_restore.pop_front() {
            self.restore(slot, backing);
            return Some(Job::Get(get));
        }
        self.begin_waiting(get.asked_at, get_id, get.ids.into(), get.timeout);
        self.resume(client);
        self.finish_if_over(get_id);
        None
    }

    fn go_on_with_answer(&mut self, mut answer: Answer) -> Option<Job> {
        if let Some(get_id) = answer.get {
            if !self.waiters.drop_links(get_id, &mut self.left) {
                return Some(Job::Answer(answer));
            }
            answer.get = None;
        }
        let releases = self.clients.get(answer.client)?.releases;
        // What a client has released meanwhile may be gone.
        if answer.releases != releases {
            (answer.releases, answer.done) = (releases, 0);
            answer.reply = GetReply::default();
        }
        let from = answer.done;
        answer.done = answer.ids.len().min(from + self.take_left());
        answer.reply.objects.reserve(answer.ids.len() - from);
        self.add_to_answer(answer.client, &answer.ids[from..answer.done], &mut answer.reply);
        if answer.done < answer.ids.len() {
            return Some(Job::Answer(answer));
        }
        self.send_answer(answer.client, answer.reply);
        if answer.resumes { self.resume(answer.client) } else { None }
    }

    /// The rows of a list from a slot on, as many as this turn allows for, and where the rest
    /// begins.
    fn rows_from(&mut self, first: Slot) -> (Vec<ObjectInfo>, Option<Slot>) {
        let count = self.take_left();
        let rows = self.table.range(first, count).map(|(_, entry)| info(entry)).collect();
        let next = first.index() + count;
        let slot = u32::try_from(next).ok().filter(|_| next < self.table.slot_count()).map(Slot);
        (rows, slot)
    }
}
