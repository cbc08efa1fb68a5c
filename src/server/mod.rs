//! The program around the store: sockets, descriptors, clocks, signals and threads.
//!
//! One thread serves all clients from one poll. It never waits for a client, a disk or a device:
//! what comes in pieces is collected, what cannot be sent is queued, and what takes long is done by
//! a worker. A round gives each connection that has something to do a bounded turn, in the order in
//! which they became ready, so that a busy client cannot keep the others from being served.
//!
//! The loop is edge-triggered: the poll reports a socket once, and the connection remembers that
//! there may be more to read until a read has shown that there is not.

mod connection;
mod gpus;
mod host;
mod listener;
mod log_limit;
mod output;
mod sandbox;
mod signals;
mod start;
mod subscribers;
mod worker;

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant, SystemTime};

use mio::event::Event;
use mio::net::UnixStream;
use mio::{Events, Interest, Poll, Token};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

pub use self::start::{StartError, run};

use self::connection::Connection;
use self::gpus::{Gpus, Processes};
use self::host::Host;
use self::listener::Listener;
use self::log_limit::LogLimit;
use self::output::Flushed;
use self::signals::Signals;
use self::worker::{Done, Job, Location, Worker};
use crate::allocator::Allocation;
use crate::config::{Access, Limits};
use crate::ids::{ClientId, SegmentId};
use crate::protocol::decode::{Scratch, decode};
use crate::protocol::dialect;
use crate::protocol::encode::{Encoder, ListWriter};
use crate::protocol::frame::{BodyLimits, Frame, FrameBuffer};
use crate::protocol::message::{Reply, Request, kind};
use crate::protocol::violation::Violation;
use crate::store::{Backing, Effect, Moment, Progress, Store};
use crate::sys::scm::{self, Received};

const LISTENER: Token = Token(0);
const SIGNALS: Token = Token(1);
const WORKERS: Token = Token(2);
/// Connection `n` has the token `FIRST_CLIENT + 2 * n`, its notification socket the next one.
const FIRST_CLIENT: usize = 4;

/// How many events one wait returns at most. More stay with the kernel for the next.
const EVENTS_PER_POLL: usize = 1024;

/// A connection with more than this many bytes to be sent is not read from.
const OUTPUT_HIGH_WATER_BYTES: usize = 256 << 10;

/// The official client sends a request in four pieces, each a system call, so the rest of a frame
/// is usually only a microsecond away: that much sooner than the poll would tell. But where both
/// share a processor the client cannot go on meanwhile: with 24 reads its requests took twice as
/// long there, and no less where each has one of its own.
const MAX_PARTIAL_READS: u32 = 4;

/// How long to wait before accepting connections again when there were no descriptors left, unless
/// a connection ends before.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);

/// How often the log says so.
const ACCEPT_LOG_PAUSE: Duration = Duration::from_secs(60);

/// The server while it runs.
struct Server {
    poll: Poll,
    listener: Listener,
    signals: Signals,
    store: Store,
    host: Host,
    limits: Limits,
    body_limits: BodyLimits,
    encoder: Encoder,
    /// By the index of their client's id.
    connections: Vec<Option<Connection>>,
    processes: Processes,
    connection_count: usize,
    /// Who has something to do, in the order in which that was found.
    ready: VecDeque<usize>,
    /// Who has replies to be sent, in the order of the replies.
    dirty: Vec<usize>,
    /// Whose notification sockets get frames, in the order of subscription.
    subscribers: Vec<usize>,
    /// Those of them that were not told yet of all that was there before them.
    newcomers: VecDeque<usize>,
    /// For reads.
    chunk: Vec<u8>,
    /// For notification frames.
    frame: Vec<u8>,
    memory_worker: Worker,
    external_worker: Option<Worker>,
    reports: Receiver<Done>,
    clock: Clock,
    accepting: Accepting,
    access: Access,
    zero_on_free: bool,
    warnings: Warnings,
}

/// Bounds on the lines that clients can cause, a kind each.
#[derive(Default)]
struct Warnings {
    violations: LogLimit,
    subscriptions: LogLimit,
    refusals: LogLimit,
}

/// The clocks, read once a round.
struct Clock {
    started: Instant,
    now: Moment,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the loop tells everybody else the time")]
    fn new() -> Self {
        Self { started: Instant::now(), now: Moment::default() }
    }

    #[expect(clippy::disallowed_methods, reason = "the loop tells everybody else the time")]
    fn update(&mut self) {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.now = Moment {
            elapsed: self.started.elapsed(),
            unix_s: i64::try_from(unix.as_secs()).unwrap_or(i64::MAX),
        };
    }
}

/// Whether connections are accepted.
#[derive(Clone, Copy, Default)]
struct Accepting {
    /// There were no descriptors, or too many connections; go on then at the latest.
    paused_until: Option<Duration>,
    /// When the log said so.
    logged_at: Option<Duration>,
}

impl Server {
    /// Serves until a signal ends it, and returns the signal's name.
    fn serve(&mut self) -> io::Result<&'static str> {
        let mut events = Events::with_capacity(EVENTS_PER_POLL);
        loop {
            match self.poll.poll(&mut events, self.wait_time()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            }
            self.clock.update();
            let mut accept = self.is_accept_due();
            for event in &events {
                match event.token() {
                    LISTENER => accept = true,
                    SIGNALS => {
                        if let Some(name) = self.signals.take() {
                            return Ok(name);
                        }
                    }
                    WORKERS => self.take_reports(),
                    token if Processes::is_token(token) => self.end_process(token),
                    token => self.handle_event(token, event),
                }
            }
            if accept {
                self.accept();
            }
            self.store.handle_timeout(self.clock.now);
            if self.store.has_work() {
                self.store.work(&mut self.host);
            }
            self.apply_effects();
            self.tell_newcomers();
            for _ in 0..self.ready.len() {
                let Some(index) = self.ready.pop_front() else {
                    break;
                };
                self.take_turn(index);
            }
        }
    }

    /// How long the poll may wait.
    fn wait_time(&self) -> Option<Duration> {
        if !self.ready.is_empty() || self.store.has_work() || self.has_ready_newcomer() {
            return Some(Duration::ZERO);
        }
        let deadline = match (self.store.next_deadline(), self.accepting.paused_until) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        deadline.map(|deadline| deadline.saturating_sub(self.clock.started.elapsed()))
    }

    // ---- connections ----

    fn is_accept_due(&self) -> bool {
        self.accepting.paused_until.is_some_and(|until| until <= self.clock.now.elapsed)
    }

    fn accept(&mut self) {
        self.accepting.paused_until = None;
        loop {
            if self.connection_count >= self.limits.max_connections {
                return self.pause_accepting("there are as many connections as there may be");
            }
            match self.listener.socket.accept() {
                Ok((stream, _)) if self.is_allowed(&stream) => self.add_connection(stream),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The peer has given up, or a signal has come.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                    ) => {}
                Err(error) => return self.pause_accepting(&error.to_string()),
            }
        }
    }

    /// Whether the process at the other end may be served.
    fn is_allowed(&mut self, stream: &UnixStream) -> bool {
        if self.access.is_open() {
            return true;
        }
        let peer = getsockopt(stream, PeerCredentials);
        let allowed = peer.is_ok_and(|peer| self.access.allows(peer.uid(), peer.gid()));
        if !allowed {
            self.warnings.refusals.warn(|| match peer {
                Ok(peer) => format!(
                    "refusing process {} of user {} and group {}: they are not allowed",
                    peer.pid(),
                    peer.uid(),
                    peer.gid()
                ),
                Err(error) => format!("refusing a process that cannot be identified: {error}"),
            });
        }
        allowed
    }

    fn pause_accepting(&mut self, reason: &str) {
        let now = self.clock.now.elapsed;
        self.accepting.paused_until = Some(now + ACCEPT_PAUSE);
        if self.accepting.logged_at.is_none_or(|at| now >= at + ACCEPT_LOG_PAUSE) {
            self.accepting.logged_at = Some(now);
            log::warn!("new connections have to wait: {reason}");
        }
    }

    fn add_connection(&mut self, mut stream: UnixStream) {
        let client = self.store.handle_connect();
        let index = client.index as usize;
        let token = token(index);
        if let Err(error) = self.poll.registry().register(&mut stream, token, Interest::READABLE) {
            log::warn!("cannot serve a new connection: {error}");
            self.store.handle_disconnect(client, &mut self.host);
            return;
        }
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        log::debug!("client {client} has connected");
        let input = FrameBuffer::new(self.body_limits);
        self.connections[index] = Some(Connection::new(client, stream, input));
        self.connection_count += 1;
    }

    /// Closes a connection. What the client held is released.
    fn disconnect(&mut self, index: usize) {
        let Some(mut connection) = self.connections[index].take() else {
            return;
        };
        self.end_subscription(index, connection.subscription.take());
        if let Err(error) = self.poll.registry().deregister(&mut connection.stream) {
            log::debug!("a connection was not polled: {error}");
        }
        log::debug!("client {} has disconnected", connection.client);
        self.connection_count -= 1;
        // Its descriptor is free now.
        if self.accepting.paused_until.is_some() {
            self.accepting.paused_until = Some(Duration::ZERO);
        }
        drop(connection.stream);
        self.store.handle_disconnect(connection.client, &mut self.host);
        if let Some(process) = connection.process {
            self.outlive(connection.client, process);
        }
    }

    fn close(&mut self, index: usize, violation: &Violation) {
        if let Some(connection) = &self.connections[index] {
            let client = connection.client;
            self.warnings
                .violations
                .warn(|| format!("closing the connection of client {client}: {violation}"));
            self.disconnect(index);
        }
    }

    /// The index of a client's connection, if it is still there.
    fn index_of(&self, client: ClientId) -> Option<usize> {
        let index = client.index as usize;
        let connection = self.connections.get(index)?.as_ref()?;
        (connection.client == client).then_some(index)
    }

    fn handle_event(&mut self, token: Token, event: &Event) {
        let number = token.0 - FIRST_CLIENT;
        let index = number / 2;
        // An earlier event of this round may have ended it.
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        if number % 2 == 1 {
            return self.flush_subscription(index);
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
            connection.hung_up |= event.is_read_closed() || event.is_error();
        }
        if event.is_writable() && connection.awaits_writable {
            self.flush(index);
        }
        self.make_ready(index);
    }

    fn make_ready(&mut self, index: usize) {
        if let Some(connection) = &mut self.connections[index]
            && !std::mem::replace(&mut connection.ready, true)
        {
            self.ready.push_back(index);
        }
    }

    // ---- requests ----

    /// Serves what a connection has sent, up to a bound.
    fn take_turn(&mut self, index: usize) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        connection.ready = false;
        let mut left = self.limits.max_requests_per_turn;
        loop {
            let Some(connection) = &mut self.connections[index] else {
                return;
            };
            connection.stalled = connection.output.waiting_bytes() > OUTPUT_HIGH_WATER_BYTES;
            if connection.paused || connection.stalled {
                return;
            }
            if left == 0 {
                return self.make_ready(index);
            }
            match connection.input.peek() {
                Err(violation) => {
                    let violation = dialect::explain_header(connection.first_kind, violation);
                    self.close(index, &violation);
                    return self.apply_effects();
                }
                Ok(Some(frame)) => {
                    left -= 1;
                    self.handle_frame(index, &frame);
                    // If it can go on already, then after the others.
                    if self.connections[index].as_ref().is_some_and(|it| it.retrying) {
                        return;
                    }
                }
                Ok(None) => {
                    connection.drop_descriptors();
                    // A long body takes many reads; they count, so that it does not hold up others.
                    left = left.saturating_sub(usize::from(connection.input.is_partial()));
                    if !self.read(index) {
                        return;
                    }
                }
            }
        }
    }

    /// Reads once; whether anything came. At the end of the stream the connection is gone.
    fn read(&mut self, index: usize) -> bool {
        let mut attempts = MAX_PARTIAL_READS;
        loop {
            let Some(connection) = &mut self.connections[index] else {
                return false;
            };
            if !connection.readable {
                if attempts == 0 || !connection.input.is_partial() {
                    return false;
                }
                attempts -= 1;
                std::hint::spin_loop();
            }
            match scm::receive(connection.stream.as_fd(), &mut self.chunk) {
                Ok(Received { bytes: 0, .. }) => {
                    self.disconnect(index);
                    self.apply_effects();
                    return false;
                }
                Ok(Received { bytes, descriptors, ended_early }) => {
                    // A read that is not full has emptied the socket; but a descriptor ends a read
                    // early, and the end of a stream that has hung up shows in a read of its own.
                    let emptied = bytes < self.chunk.len() && !ended_early;
                    connection.readable = connection.hung_up || !emptied;
                    connection.push_input(&self.chunk[..bytes], descriptors);
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    connection.readable = false;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    log::debug!("client {} is lost: {error}", connection.client);
                    self.disconnect(index);
                    self.apply_effects();
                    return false;
                }
            }
        }
    }

    /// Serves the request at the front of a connection's input.
    fn handle_frame(&mut self, index: usize, frame: &Frame) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let client = connection.client;
        let mut scratch = Scratch::default();
        let request = match frame {
            Frame::TooLarge(what) => Ok(Request::TooLarge(*what)),
            Frame::Message { kind: kind::SUBSCRIBE_REQUEST, .. } => {
                return self.subscribe(index, frame);
            }
            Frame::Message { kind, body, .. } => {
                let first = *connection.first_kind.get_or_insert(*kind);
                let body = &connection.input.bytes()[body.clone()];
                let mistaken = dialect::can_be_mistaken(*kind)
                    .then(|| dialect::recognise(first, *kind, body))
                    .flatten();
                match mistaken {
                    Some(older) => Err(Violation::OlderDialect(older)),
                    None => decode(*kind, body, self.limits.max_ids, &mut scratch)
                        .map_err(|violation| dialect::explain(first, *kind, body, violation)),
                }
            }
        };
        let request = match request {
            Ok(Request::Disconnect) => {
                self.disconnect(index);
                return self.apply_effects();
            }
            Ok(request) => request,
            Err(violation) => {
                self.close(index, &violation);
                return self.apply_effects();
            }
        };
        let again = connection.retrying;
        let now = self.clock.now;
        let progress = self.store.handle_request(now, client, &request, again, &mut self.host);
        connection.paused = progress != Progress::Done;
        connection.retrying = progress == Progress::Retry;
        if progress != Progress::Retry {
            connection.input.consume(frame);
        }
        self.apply_effects();
    }

    // ---- effects ----

    /// Does all that the store wants done, then sends what came of it.
    fn apply_effects(&mut self) {
        loop {
            while let Some(effect) = self.store.next_effect() {
                self.apply(effect);
            }
            if self.dirty.is_empty() {
                return;
            }
            // Sending can end connections, which has effects of its own.
            let mut dirty = std::mem::take(&mut self.dirty);
            for index in dirty.drain(..) {
                let Some(connection) = &mut self.connections[index] else { continue };
                // The last of its replies decides: a client that seals an object that it waits for
                // itself is told so after the others who wait.
                connection.unsent = connection.unsent.saturating_sub(1);
                if connection.unsent == 0 {
                    self.flush(index);
                }
            }
            if self.dirty.is_empty() {
                self.dirty = dirty;
            }
        }
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Reply { client, reply } => self.queue_reply(client, &reply),
            Effect::ListPart { client, rows, expected } => {
                if let Some(index) = self.index_of(client)
                    && let Some(connection) = &mut self.connections[index]
                {
                    let list =
                        connection.list.get_or_insert_with(|| Box::new(ListWriter::new(expected)));
                    list.push(&rows);
                }
            }
            Effect::SendSegment { client, segment } => {
                if let Some(index) = self.index_of(client)
                    && let Some(connection) = &mut self.connections[index]
                {
                    connection.output.push_descriptor(segment);
                }
            }
            Effect::Notify { only, notices } => self.notify(only, &notices),
            Effect::Close { client, violation } => {
                if let Some(index) = self.index_of(client) {
                    self.close(index, &violation);
                }
            }
            Effect::Resume(client) => {
                if let Some(index) = self.index_of(client)
                    && let Some(connection) = &mut self.connections[index]
                {
                    connection.paused = false;
                    self.make_ready(index);
                }
            }
            Effect::Reserve { transfer, allocation } => {
                let segment = self.host.segment(allocation.extent.segment).clone();
                self.memory_worker.submit(Job::Reserve(transfer, segment, allocation.extent));
            }
            Effect::ReleasePages(allocation) => self.release_pages(allocation),
            Effect::Spill { transfer, key, allocation } => {
                self.submit_external(Job::Spill(transfer, key, self.locate(allocation)));
            }
            Effect::Restore { transfer, key, allocation } => {
                self.submit_external(Job::Restore(transfer, key, self.locate(allocation)));
            }
            Effect::Forget(key) => self.submit_external(Job::Forget(key)),
            effect => self.apply_to_gpu(effect),
        }
    }

    fn release_pages(&mut self, allocation: Allocation) {
        let segment = self.host.segment(allocation.extent.segment).clone();
        if self.host.is_limited() {
            // As long as it is under way, somebody could be refused for want of these pages.
            host::release(&segment, allocation.extent, self.zero_on_free);
            self.store.handle_pages_released(allocation);
        } else {
            self.memory_worker.submit(Job::Release(segment, allocation, self.zero_on_free));
        }
    }

    fn locate(&self, allocation: Option<Allocation>) -> Location {
        let extent = allocation?.extent;
        Some((self.host.segment(extent.segment).clone(), extent))
    }

    fn submit_external(&self, job: Job) {
        let worker = self.external_worker.as_ref();
        worker.expect("the store spills only if it was told of an external store").submit(job);
    }

    fn take_reports(&mut self) {
        while let Ok(done) = self.reports.try_recv() {
            match done {
                Done::Reserved(transfer, done) => {
                    self.store.handle_reserved(transfer, done, &mut self.host);
                }
                Done::Released(allocation) => self.store.handle_pages_released(allocation),
                Done::Spilled(transfer, done) => {
                    self.store.handle_spilled(transfer, done, &mut self.host);
                }
                Done::Restored(transfer, done) => {
                    let now = self.clock.now;
                    self.store.handle_restored(now, transfer, done, &mut self.host);
                }
                Done::Device(device, report) => self.take_device_report(device, report),
            }
            self.apply_effects();
        }
    }

    fn queue_reply(&mut self, client: ClientId, reply: &Reply) {
        let Some(index) = self.index_of(client) else {
            return;
        };
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let queued_bytes = connection.output.waiting_bytes();
        if queued_bytes > self.limits.max_output_bytes {
            return self.close(index, &Violation::Unread { queued_bytes });
        }
        if let Reply::List(rows) = reply
            && let Some(mut list) = connection.list.take()
        {
            list.push(rows);
            let (bytes, start) = list.finish(connection.output.bytes_mut());
            connection.output.push_buffer(bytes, start);
        } else {
            let large = self.encoder.reply(reply, connection.output.bytes_mut());
            if let Some((bytes, start)) = large {
                connection.output.push_buffer(bytes, start);
            }
        }
        if self.dirty.last() != Some(&index) {
            connection.unsent += 1;
            self.dirty.push(index);
        }
    }

    /// Sends what waits for a client, as far as its socket takes it.
    fn flush(&mut self, index: usize) {
        let Some(connection) = &mut self.connections[index] else {
            return;
        };
        let Self { host, poll, .. } = self;
        let descriptor = |segment: SegmentId| host.descriptor(segment);
        let flushed = connection.output.flush(connection.stream.as_fd(), descriptor);
        let result = flushed.and_then(|flushed| {
            let blocked = flushed == Flushed::Blocked;
            connection.await_writable(blocked, poll.registry(), token(index))
        });
        if let Err(error) = result {
            log::debug!("client {} is lost: {error}", connection.client);
            self.disconnect(index);
        } else if connection.stalled && connection.output.waiting_bytes() <= OUTPUT_HIGH_WATER_BYTES
        {
            // Requests that it sent before may lie in its input, and nothing else tells of them.
            connection.stalled = false;
            self.make_ready(index);
        }
    }
}

fn token(index: usize) -> Token {
    Token(FIRST_CLIENT + 2 * index)
}

/// The loop's ends of what it shares with workers.
struct Workers {
    memory: Worker,
    external: Option<Worker>,
    gpus: Gpus,
    reports: Receiver<Done>,
}

impl Workers {
    fn start(
        poll: &Poll,
        external: Option<Box<dyn crate::external::ExternalStore>>,
        gpus: impl FnOnce(&worker::Reports, Option<&Worker>) -> io::Result<Gpus>,
    ) -> io::Result<Self> {
        let waker = Arc::new(mio::Waker::new(poll.registry(), WORKERS)?);
        let (reports, receiver) = worker::Reports::new(waker);
        let memory = Worker::start("plasma-memory", None, &reports)?;
        let external = match external {
            Some(store) => Some(Worker::start("plasma-external", Some(store), &reports)?),
            None => None,
        };
        let gpus = gpus(&reports, external.as_ref())?;
        Ok(Self { memory, external, gpus, reports: receiver })
    }
}
