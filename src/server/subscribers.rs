//! Those who are told of seals and deletions, each on a socket of its own.

use std::os::fd::OwnedFd;

use mio::Token;
use smallvec::SmallVec;

use super::connection::Subscription;
use super::{Server, token};
use crate::ids::ClientId;
use crate::protocol::frame::Frame;
use crate::protocol::message::{Notice, Request};
use crate::store::Progress;

impl Server {
    /// A request to subscribe, the only one that brings a descriptor.
    pub(super) fn subscribe(&mut self, index: usize, frame: &Frame) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let client = connection.client;
        let position = connection.input.consume(frame);
        let descriptors = connection.take_descriptors(position);
        let earlier = connection.subscription.take();
        self.end_subscription(index, earlier);
        if let Err(reason) = self.begin_subscription(index, descriptors) {
            self.warnings
                .subscriptions
                .warn(|| format!("client {client} has subscribed without success: {reason}"));
            return;
        }
        let (now, request) = (self.clock.now, Request::Subscribe);
        let progress = self.store.handle_request(now, client, &request, false, &mut self.host);
        debug_assert_eq!(progress, Progress::Done);
        if self.store.is_newcomer(client) && !self.newcomers.contains(&index) {
            self.newcomers.push_back(index);
        }
        self.apply_effects();
    }

    fn begin_subscription(
        &mut self,
        index: usize,
        descriptors: SmallVec<[OwnedFd; 2]>,
    ) -> Result<(), String> {
        let count = descriptors.len();
        let mut descriptors = descriptors.into_iter();
        let (Some(socket), None) = (descriptors.next(), descriptors.next()) else {
            return Err(format!("its message has {count} descriptors instead of 1"));
        };
        if let Some(connection) = &mut self.connections[index] {
            connection.subscription = Some(Subscription::new(socket));
            self.subscribers.push(index);
        }
        Ok(())
    }

    /// Tells new subscribers of more of what was there before them, unless they have enough to
    /// read.
    pub(super) fn tell_newcomers(&mut self) {
        for _ in 0..self.newcomers.len() {
            let Some(index) = self.newcomers.pop_front() else { return };
            let Some(client) = self.newcomer(index) else { continue };
            if !self.is_blocked(index) {
                self.store.tell_present(client);
                self.apply_effects();
            }
            self.newcomers.push_back(index);
        }
    }

    /// Whether a new subscriber could be told more now.
    pub(super) fn has_ready_newcomer(&self) -> bool {
        self.newcomers.iter().any(|index| !self.is_blocked(*index))
    }

    /// The client, if there is something to tell it.
    fn newcomer(&self, index: usize) -> Option<ClientId> {
        let client = self.connections[index].as_ref()?.client;
        self.store.is_newcomer(client).then_some(client)
    }

    fn is_blocked(&self, index: usize) -> bool {
        let subscription = self.connections[index].as_ref().and_then(|it| it.subscription.as_ref());
        subscription.is_some_and(Subscription::is_blocked)
    }

    /// Sends one frame to those who are to be told.
    pub(super) fn notify(&mut self, only: Option<ClientId>, notices: &[Notice]) {
        self.frame.clear();
        self.encoder.notification(notices, &mut self.frame);
        let told: SmallVec<[usize; 8]> = match only {
            Some(client) => self.index_of(client).into_iter().collect(),
            None => self.subscribers.iter().copied().collect(),
        };
        for index in told {
            let Some(connection) = &mut self.connections[index] else {
                continue;
            };
            let Some(subscription) = &mut connection.subscription else {
                continue;
            };
            let waiting_bytes = subscription.push(&self.frame);
            if !subscription.is_blocked() {
                self.flush_subscription(index);
            } else if waiting_bytes > self.limits.max_notification_bytes {
                let client = connection.client;
                self.warnings.subscriptions.warn(|| {
                    format!(
                        "the subscription of client {client} ends: {waiting_bytes} bytes of \
                         notices wait"
                    )
                });
                let ended = connection.subscription.take();
                self.end_subscription(index, ended);
            }
        }
    }

    pub(super) fn flush_subscription(&mut self, index: usize) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let Some(subscription) = &mut connection.subscription else {
            return;
        };
        let token = Token(token(index).0 + 1);
        if let Err(error) = subscription.flush(self.poll.registry(), token) {
            log::debug!("the subscription of client {} ends: {error}", connection.client);
            let ended = connection.subscription.take();
            self.end_subscription(index, ended);
        }
    }

    /// Closes a notification socket that was taken from its connection.
    pub(super) fn end_subscription(&mut self, index: usize, subscription: Option<Subscription>) {
        let Some(subscription) = subscription else {
            return;
        };
        subscription.end(self.poll.registry());
        self.subscribers.retain(|other| *other != index);
        if let Some(connection) = &self.connections[index] {
            self.store.handle_unsubscribe(connection.client);
        }
    }
}
