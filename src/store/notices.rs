//! What subscribers are told.

use super::table::Entry;
use super::{Effect, Store};
use crate::ids::{ClientId, ObjectId, Slot};
use crate::protocol::message::Notice;

/// A subscriber that was not told yet of all objects that were there before it.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) client: ClientId,
    /// It knows of the objects in the slots before this one, and learns all news of these.
    next: Slot,
}

impl Newcomer {
    fn knows(&self, slot: Slot) -> bool {
        slot < self.next
    }
}

impl Store {
    /// From now on the client is told of seals and deletions, and first of what there is.
    pub(super) fn subscribe(&mut self, client: ClientId) {
        self.clients.set_subscribed(client, true);
        self.newcomers.retain(|newcomer| newcomer.client != client);
        self.newcomers.push(Newcomer { client, next: Slot(0) });
        self.tell_present(client);
    }

    /// Whether a subscriber has to be told of more objects that were there before it, by
    /// [`Store::tell_present`].
    #[must_use]
    pub fn is_newcomer(&self, client: ClientId) -> bool {
        self.newcomers.iter().any(|newcomer| newcomer.client == client)
    }

    /// Tells a subscriber of some of the objects that were there before it. The shell calls this
    /// as long as [`Store::is_newcomer`], whenever the subscriber has read enough.
    pub fn tell_present(&mut self, client: ClientId) {
        let mut newcomers = self.newcomers.iter_mut();
        let Some(newcomer) = newcomers.find(|newcomer| newcomer.client == client) else { return };
        let count = self.config.max_victims;
        for (_, entry) in self.table.range(newcomer.next, count) {
            if entry.is_available() {
                let notices = vec![sealed_notice(entry)];
                self.effects.push_back(Effect::Notify { only: Some(client), notices });
            }
        }
        let next = newcomer.next.index() + count;
        match u32::try_from(next) {
            Ok(slot) if next < self.table.slot_count() => newcomer.next = Slot(slot),
            _ => self.newcomers.retain(|newcomer| newcomer.client != client),
        }
    }

    /// Tells subscribers, in one frame, that these objects are sealed.
    pub(super) fn announce_sealed(&mut self, slots: &[Slot]) {
        let table = &self.table;
        let notice = |slot: &Slot| (*slot, sealed_notice(&table[*slot]));
        if self.clients.any_subscriber() {
            let notices = slots.iter().map(notice).collect();
            self.notify(notices);
        }
    }

    /// Tells subscribers that the object that was in a slot is gone.
    pub(super) fn tell_deleted(&mut self, slot: Slot, id: ObjectId) {
        if self.clients.any_subscriber() {
            self.notify(vec![(slot, Notice::Deleted(id))]);
        }
    }

    /// Sends one frame to all subscribers. Newcomers get of it what is news to them.
    fn notify(&mut self, notices: Vec<(Slot, Notice)>) {
        if self.newcomers.is_empty() {
            let notices = notices.into_iter().map(|(_, notice)| notice).collect();
            return self.effects.push_back(Effect::Notify { only: None, notices });
        }
        for (id, _) in self.clients.iter().filter(|(_, client)| client.subscribed) {
            let newcomer = self.newcomers.iter().find(|newcomer| newcomer.client == id);
            let is_news = |slot| newcomer.is_none_or(|newcomer| newcomer.knows(slot));
            let news = notices.iter().filter(|(slot, _)| is_news(*slot));
            let notices: Vec<Notice> = news.map(|(_, notice)| notice.clone()).collect();
            if !notices.is_empty() {
                self.effects.push_back(Effect::Notify { only: Some(id), notices });
            }
        }
    }
}

fn sealed_notice(entry: &Entry) -> Notice {
    let Entry { id, data_bytes, metadata_bytes, digest, .. } = *entry;
    Notice::Sealed { id, data_bytes, metadata_bytes, digest }
}
