//! A server without a store: the floor for comparisons.
//!
//! It speaks the protocol as the real server does, with the same framing, decoder, encoder and
//! shape of loop, but decides nothing: every request is a success, answered from a few numbers.
//! What a client and the system cost besides the store is what remains, so no store that waits in
//! the same way can be faster with the same clients.
//!
//!     plasma-null-server -s SOCKET [-m BYTES] [--busy-poll[=MICROSECONDS]] [--partial-reads=N]
//!
//! With `--busy-poll` it looks for requests for 50 us after the last before it sleeps.
//! `--partial-reads` is how often it reads in vain for the rest of a request that has come in part,
//! before it waits. By default it does so only if it polls: where the client needs the processor
//! that the server is on, such reads are what it waits for.
//!
//! There is one segment. Small objects lie at a fixed place for each connection; larger ones take
//! turns through the rest, from the start again after each delete or abort. That is where a store's
//! objects would lie that evicts the oldest, or uses the last place again.
//!
//! Clients tell by the id what they expect, since nobody remembers it: the first byte is
//! [`MISSING`] for an object that is not there and [`AWAITED`] for one that is got before it is
//! sealed, and a number at [`SIZE_AT`] is the size of the data. Of other ids the last one that was
//! created through a connection can be got there.

#![allow(
    clippy::disallowed_methods,
    reason = "a program for measurements has its own sockets and clocks"
)]

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mio::net::{UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};
use plasma_store::ids::{DeviceNum, ObjectId, SegmentId};
use plasma_store::protocol::decode::{Scratch, decode};
use plasma_store::protocol::encode::Encoder;
use plasma_store::protocol::frame::{BodyLimits, Frame, FrameBuffer};
use plasma_store::protocol::message::{
    Access, GetReply, GetTimeout, Place, Reply, Request, SegmentInfo, Status, TooLarge,
};
use plasma_store::sys::arena::{Arena, ArenaKind, Segment};
use plasma_store::sys::scm::{self, Received};

/// First byte of the id of an object that is never there.
const MISSING: u8 = b'M';

/// First byte of the id of an object that somebody gets before it is sealed.
const AWAITED: u8 = b'W';

/// First byte of the id of any other object whose size stands in its id.
const SIZED: u8 = b'O';

/// Where the size of the data stands in an id, as 8 bytes.
const SIZE_AT: usize = 4;

/// Objects up to this size lie at the place of their connection.
const SMALL_BYTES: u64 = 64 << 10;

/// So many connections have a place of their own.
const SMALL_PLACES: u64 = 4096;

/// Where the places for larger objects begin.
const RING_START_BYTES: u64 = SMALL_BYTES * SMALL_PLACES;

const PAGE_BYTES: u64 = 4096;
const DEFAULT_CAPACITY_BYTES: u64 = 2_000_000_000;
const DEFAULT_BUSY_POLL: Duration = Duration::from_micros(50);

const LISTENER: Token = Token(0);
const FIRST_CLIENT: usize = 1;

// As in the real server.
const EVENTS_PER_POLL: usize = 1024;
const POLLING_PARTIAL_READS: u32 = 24;
const READ_CHUNK_BYTES: usize = 64 << 10;
const MAX_IDS: usize = 100_000;
const BODY_LIMITS: BodyLimits =
    BodyLimits { small_bytes: 1 << 20, list_bytes: 64 << 20, payload_bytes: (1 << 31) - 1 };

/// What the command line says.
struct Options {
    socket: String,
    capacity_bytes: u64,
    /// How long to poll without waiting after a request.
    busy_poll: Option<Duration>,
    partial_reads: Option<u32>,
}

/// A client.
struct Connection {
    stream: UnixStream,
    input: FrameBuffer,
    readable: bool,
    hung_up: bool,
    output: Vec<u8>,
    /// The segment's descriptor goes out behind so many bytes of the output.
    descriptor_at: Option<usize>,
    knows_segment: bool,
    awaits_writable: bool,
    last_created: Option<(ObjectId, Place)>,
}

struct Server {
    poll: Poll,
    listener: UnixListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    answers: Answers,
    chunk: Vec<u8>,
    partial_reads: u32,
}

/// What requests are answered from.
struct Answers {
    segment: Segment,
    capacity_bytes: u64,
    /// How much of the ring was handed out.
    cursor_bytes: u64,
    encoder: Encoder,
    /// Gets that wait, by connection.
    waiting: Vec<(usize, ObjectId)>,
    /// Awaited objects that are sealed.
    sealed: HashSet<ObjectId>,
    /// Whose get can be answered now.
    woken: Vec<(usize, ObjectId)>,
}

fn main() {
    let outcome = parse(std::env::args().skip(1)).and_then(|options| {
        serve(&options).map_err(|error| format!("{}: {error}", options.socket))
    });
    if let Err(reason) = outcome {
        eprintln!("plasma-null-server: {reason}");
        std::process::exit(1);
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        socket: String::new(),
        capacity_bytes: DEFAULT_CAPACITY_BYTES,
        busy_poll: None,
        partial_reads: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        let number = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
        match word.split_once('=') {
            None if word == "-s" => options.socket = value()?,
            None if word == "-m" => options.capacity_bytes = number(&value()?)?,
            None if word == "--busy-poll" => options.busy_poll = Some(DEFAULT_BUSY_POLL),
            Some(("--busy-poll", us)) => {
                options.busy_poll = Some(Duration::from_micros(number(us)?));
            }
            Some(("--partial-reads", count)) => {
                let count = number(count)?;
                options.partial_reads = Some(u32::try_from(count).unwrap_or(u32::MAX));
            }
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if options.socket.is_empty() {
        return Err("-s SOCKET is required".into());
    }
    Ok(options)
}

/// Serves for ever.
fn serve(options: &Options) -> io::Result<()> {
    let capacity_bytes = options.capacity_bytes.next_multiple_of(PAGE_BYTES);
    let segment = Arena::new(ArenaKind::Memfd).create_segment(RING_START_BYTES + capacity_bytes)?;
    let default_reads = if options.busy_poll.is_some() { POLLING_PARTIAL_READS } else { 0 };
    let partial_reads = options.partial_reads.unwrap_or(default_reads);
    let poll = Poll::new()?;
    let mut listener = UnixListener::bind(&options.socket)?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut server = Server {
        poll,
        listener,
        connections: Vec::new(),
        free: Vec::new(),
        answers: Answers {
            segment,
            capacity_bytes: options.capacity_bytes,
            cursor_bytes: 0,
            encoder: Encoder::new(),
            waiting: Vec::new(),
            sealed: HashSet::new(),
            woken: Vec::new(),
        },
        chunk: vec![0; READ_CHUNK_BYTES],
        partial_reads,
    };
    eprintln!("ready: a server without a store at {}", options.socket);
    let mut events = Events::with_capacity(EVENTS_PER_POLL);
    let patience = options.busy_poll.unwrap_or_default();
    loop {
        server.round(&mut events, None)?;
        if patience.is_zero() {
            continue;
        }
        let mut last = Instant::now();
        while last.elapsed() < patience {
            if server.round(&mut events, Some(Duration::ZERO))? {
                last = Instant::now();
            }
        }
    }
}

impl Server {
    /// One wait and what it brings; whether it brought anything.
    fn round(&mut self, events: &mut Events, wait: Option<Duration>) -> io::Result<bool> {
        match self.poll.poll(events, wait) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            result => result?,
        }
        for event in &*events {
            if event.token() == LISTENER {
                self.accept()?;
                continue;
            }
            let index = event.token().0 - FIRST_CLIENT;
            let Some(connection) = self.connections[index].as_mut() else { continue };
            let hung_up = event.is_read_closed() || event.is_error();
            connection.readable |= event.is_readable() || hung_up;
            connection.hung_up |= hung_up;
            let is_due = event.is_writable() && connection.awaits_writable;
            if (is_due && self.flush(index).is_err()) || self.serve(index).is_err() {
                self.end(index);
            }
        }
        Ok(!events.is_empty())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let index = self.free.pop().unwrap_or(self.connections.len());
            let token = Token(FIRST_CLIENT + index);
            self.poll.registry().register(&mut stream, token, Interest::READABLE)?;
            if index == self.connections.len() {
                self.connections.push(None);
            }
            self.connections[index] = Some(Connection {
                stream,
                input: FrameBuffer::new(BODY_LIMITS),
                readable: false,
                hung_up: false,
                output: Vec::new(),
                descriptor_at: None,
                knows_segment: false,
                awaits_writable: false,
                last_created: None,
            });
        }
    }

    fn end(&mut self, index: usize) {
        if let Some(mut connection) = self.connections[index].take() {
            self.answers.waiting.retain(|(waiting, _)| *waiting != index);
            // The descriptor is closed next, which ends the poll's interest in any case.
            let _ = self.poll.registry().deregister(&mut connection.stream);
            self.free.push(index);
        }
    }

    /// Serves all that a connection has sent.
    fn serve(&mut self, index: usize) -> Result<(), Ended> {
        while let Some(connection) = &mut self.connections[index] {
            match connection.input.peek().map_err(|_| Ended)? {
                Some(frame) => {
                    self.answers.answer(index, connection, &frame)?;
                    // As a store does: who waits for a seal hears of it before who sealed.
                    self.wake();
                    self.flush(index)?;
                }
                None if !connection.read(&mut self.chunk, self.partial_reads)? => break,
                None => {}
            }
        }
        Ok(())
    }

    /// Sends what waits for a client, as far as its socket takes it.
    fn flush(&mut self, index: usize) -> Result<(), Ended> {
        let Some(connection) = &mut self.connections[index] else { return Ok(()) };
        let is_blocked = connection.send(&self.answers.segment)?;
        if is_blocked != connection.awaits_writable {
            connection.awaits_writable = is_blocked;
            let readable = Interest::READABLE;
            let interest = if is_blocked { readable | Interest::WRITABLE } else { readable };
            let token = Token(FIRST_CLIENT + index);
            let registry = self.poll.registry();
            registry.reregister(&mut connection.stream, token, interest).map_err(|_| Ended)?;
        }
        Ok(())
    }

    /// Answers the gets that a seal has ended.
    fn wake(&mut self) {
        while let Some((index, id)) = self.answers.woken.pop() {
            let Some(connection) = &mut self.connections[index] else { continue };
            self.answers.get(connection, &[id]);
            if self.flush(index).is_err() {
                self.end(index);
            }
        }
    }
}

/// A connection has come to its end, by whatever reason.
struct Ended;

impl Connection {
    /// Reads once; whether anything came.
    fn read(&mut self, chunk: &mut [u8], partial_reads: u32) -> Result<bool, Ended> {
        let mut attempts = partial_reads;
        loop {
            if !self.readable {
                if attempts == 0 || !self.input.is_partial() {
                    return Ok(false);
                }
                attempts -= 1;
                std::hint::spin_loop();
            }
            match scm::receive(self.stream.as_fd(), chunk) {
                Ok(Received { bytes: 0, .. }) => return Err(Ended),
                Ok(Received { bytes, ended_early, .. }) => {
                    self.readable = self.hung_up || bytes == chunk.len() || ended_early;
                    self.input.push(&chunk[..bytes]);
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(Ended),
            }
        }
    }

    /// Sends what the socket takes; whether something is left.
    fn send(&mut self, segment: &Segment) -> Result<bool, Ended> {
        let mut sent = 0;
        let is_blocked = loop {
            let end = self.descriptor_at.unwrap_or(self.output.len());
            let step = if sent < end {
                scm::send_bytes(self.stream.as_fd(), &self.output[sent..end]).map(|n| sent += n)
            } else if self.descriptor_at.is_some() {
                scm::send_descriptor(self.stream.as_fd(), segment.descriptor())
                    .map(|()| self.descriptor_at = None)
            } else {
                break false;
            };
            match step {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break true,
                Err(_) => return Err(Ended),
            }
        };
        self.output.drain(..sent);
        if let Some(position) = &mut self.descriptor_at {
            *position -= sent;
        }
        Ok(is_blocked)
    }
}

impl Answers {
    /// Answers the request at the front of a connection's input.
    fn answer(
        &mut self,
        index: usize,
        connection: &mut Connection,
        frame: &Frame,
    ) -> Result<(), Ended> {
        let reply = match frame {
            Frame::TooLarge(TooLarge::CreateAndSeal) => {
                Some(Reply::CreateAndSeal(Status::OutOfMemory))
            }
            Frame::TooLarge(TooLarge::CreateAndSealBatch) => {
                Some(Reply::CreateAndSealBatch(Status::OutOfMemory))
            }
            Frame::Message { kind, body, .. } => {
                let mut scratch = Scratch::default();
                // Taken out, so that what is decoded can borrow from it.
                let input = std::mem::replace(&mut connection.input, FrameBuffer::new(BODY_LIMITS));
                let request = decode(*kind, &input.bytes()[body.clone()], MAX_IDS, &mut scratch);
                let reply = request.map(|request| self.reply(index, connection, &request));
                connection.input = input;
                reply.map_err(|_| Ended)??
            }
        };
        connection.input.consume(frame);
        if let Some(reply) = reply {
            self.put(connection, &reply);
        }
        Ok(())
    }

    /// The reply to a request; `None` if there is none, or it was written or put off.
    fn reply(
        &mut self,
        index: usize,
        connection: &mut Connection,
        request: &Request<'_>,
    ) -> Result<Option<Reply>, Ended> {
        Ok(Some(match *request {
            Request::Disconnect => return Err(Ended),
            Request::Release(_) | Request::Subscribe => return Ok(None),
            Request::Connect => Reply::Connect { capacity_bytes: self.capacity_bytes },
            Request::Create(create) => {
                let size_bytes = create.data_bytes.saturating_add(create.metadata_bytes);
                let Some(offset_bytes) = self.place(index, size_bytes) else {
                    let (id, outcome) = (create.id, Err(Status::OutOfMemory));
                    return Ok(Some(Reply::Create { id, outcome }));
                };
                let place = Place {
                    metadata_bytes: create.metadata_bytes,
                    ..place(offset_bytes, create.data_bytes)
                };
                connection.last_created = Some((create.id, place));
                let outcome = Ok((place, Access::Segment(self.info())));
                self.put(connection, &Reply::Create { id: create.id, outcome });
                Self::introduce_segment(connection);
                return Ok(None);
            }
            Request::CreateAndSeal { .. } => Reply::CreateAndSeal(Status::Ok),
            Request::CreateAndSealBatch { .. } => Reply::CreateAndSealBatch(Status::Ok),
            Request::TooLarge(_) => Reply::CreateAndSeal(Status::OutOfMemory),
            Request::Abort(id) => {
                self.cursor_bytes = 0;
                Reply::Abort(id)
            }
            Request::Seal(id, _) => {
                if id.0[0] == AWAITED {
                    self.sealed.insert(id);
                    let woken = &mut self.woken;
                    self.waiting.retain(|waiting| {
                        let is_it = waiting.1 == id;
                        if is_it {
                            woken.push(*waiting);
                        }
                        !is_it
                    });
                }
                Reply::Seal(id, Status::Ok)
            }
            Request::Get { ids, timeout } => {
                if let [id] = ids
                    && id.0[0] == AWAITED
                    && timeout != GetTimeout::Now
                    && !self.sealed.contains(id)
                {
                    self.waiting.push((index, *id));
                } else {
                    self.get(connection, ids);
                }
                return Ok(None);
            }
            Request::Delete(ids) => {
                self.cursor_bytes = 0;
                if !self.sealed.is_empty() {
                    self.sealed.retain(|id| !ids.contains(id));
                }
                Reply::Delete(ids.iter().map(|id| (*id, Status::Ok)).collect())
            }
            Request::Contains(id) => Reply::Contains(id, id.0[0] != MISSING),
            Request::List => Reply::List(Vec::new()),
            Request::Evict { .. } => Reply::Evict { bytes: 0 },
            Request::SetOptions { .. } => Reply::SetOptions(Status::Ok),
            Request::DebugString => Reply::DebugString(b"a server without a store".to_vec()),
            Request::RefreshLru(_) => Reply::RefreshLru,
        }))
    }

    /// Writes the reply to a get.
    fn get(&mut self, connection: &mut Connection, ids: &[ObjectId]) {
        let mut reply = GetReply::default();
        for id in ids {
            let place = match (&connection.last_created, id.0[0]) {
                (_, MISSING) => None,
                (Some((last, place)), _) if last == id => Some(*place),
                (_, SIZED | AWAITED) => Some(place(SMALL_BYTES, size_in(id))),
                _ => None,
            };
            reply.objects.push((*id, place));
        }
        let any = reply.objects.iter().any(|(_, place)| place.is_some());
        if any {
            reply.segments.push(self.info());
        }
        self.put(connection, &Reply::Get(reply));
        if any {
            Self::introduce_segment(connection);
        }
    }

    /// Where an object of this size goes.
    fn place(&mut self, index: usize, size_bytes: u64) -> Option<u64> {
        if size_bytes <= SMALL_BYTES {
            return Some(SMALL_BYTES * (index as u64 % SMALL_PLACES));
        }
        let size_bytes = size_bytes.checked_next_multiple_of(PAGE_BYTES)?;
        if size_bytes > self.capacity_bytes {
            return None;
        }
        if self.cursor_bytes + size_bytes > self.capacity_bytes {
            self.cursor_bytes = 0;
        }
        let offset_bytes = RING_START_BYTES + self.cursor_bytes;
        self.cursor_bytes += size_bytes;
        Some(offset_bytes)
    }

    fn info(&self) -> SegmentInfo {
        SegmentInfo { segment: SegmentId(1), range_bytes: self.segment.range_bytes() }
    }

    fn put(&mut self, connection: &mut Connection, reply: &Reply) {
        self.encoder.reply(reply, &mut connection.output);
    }

    /// Sends the segment behind what was written last, unless the client has it.
    fn introduce_segment(connection: &mut Connection) {
        if !std::mem::replace(&mut connection.knows_segment, true) {
            connection.descriptor_at = Some(connection.output.len());
        }
    }
}

fn place(offset_bytes: u64, data_bytes: u64) -> Place {
    Place {
        segment: SegmentId(1),
        device: DeviceNum::HOST,
        offset_bytes,
        data_bytes,
        metadata_bytes: 0,
    }
}

/// The size that a client has written into an id.
fn size_in(id: &ObjectId) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&id.0[SIZE_AT..SIZE_AT + 8]);
    u64::from_le_bytes(bytes)
}
