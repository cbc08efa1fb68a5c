//! One client, as the event loop sees it.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use mio::net::UnixStream;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use smallvec::SmallVec;

use super::gpus::Process;
use super::output::{Flushed, Frames, Output};
use crate::ids::ClientId;
use crate::protocol::encode::ListWriter;
use crate::protocol::frame::FrameBuffer;

/// A connection of a client.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: ClientId,
    pub(super) stream: UnixStream,
    pub(super) input: FrameBuffer,
    pub(super) output: Output,
    /// The descriptors of the last read, and the position in the stream behind it.
    descriptors: (u64, SmallVec<[OwnedFd; 2]>),
    /// The number of its first message, which tells clients of older releases.
    pub(super) first_kind: Option<i64>,
    /// There may be something to read: no read since the last event found the socket empty.
    pub(super) readable: bool,
    /// The peer has closed its end, so that the end will show only by reading up to it.
    pub(super) hung_up: bool,
    /// The store has not finished the last request.
    pub(super) paused: bool,
    /// It has so many replies to read that its requests have to wait.
    pub(super) stalled: bool,
    /// The request at the front of the input was handed to the store before.
    pub(super) retrying: bool,
    /// It is in the list of those that have something to do.
    pub(super) ready: bool,
    /// How often it is in the list of those that have replies to be sent.
    pub(super) unsent: u32,
    /// The poll tells when the socket is writable.
    pub(super) awaits_writable: bool,
    /// A reply that comes in parts.
    pub(super) list: Option<Box<ListWriter>>,
    pub(super) subscription: Option<Subscription>,
    /// Known once it was told how to open memory of a GPU.
    pub(super) process: Option<Process>,
}

impl Connection {
    pub(super) fn new(client: ClientId, stream: UnixStream, input: FrameBuffer) -> Self {
        Self {
            client,
            stream,
            input,
            output: Output::default(),
            descriptors: (0, SmallVec::new()),
            first_kind: None,
            readable: false,
            hung_up: false,
            paused: false,
            stalled: false,
            retrying: false,
            ready: false,
            unsent: 0,
            awaits_writable: false,
            list: None,
            subscription: None,
            process: None,
        }
    }

    /// Takes in what was received.
    pub(super) fn push_input(&mut self, bytes: &[u8], descriptors: SmallVec<[OwnedFd; 2]>) {
        self.input.push(bytes);
        self.descriptors = (self.input.end_position(), descriptors);
    }

    /// Closes the descriptors that came with anything but the byte that brings one.
    pub(super) fn drop_descriptors(&mut self) {
        self.descriptors.1.clear();
    }

    /// The descriptors that came with the byte that ends at `position`.
    pub(super) fn take_descriptors(&mut self, position: u64) -> SmallVec<[OwnedFd; 2]> {
        let (their_position, descriptors) = &mut self.descriptors;
        let taken = std::mem::take(descriptors);
        if *their_position == position { taken } else { SmallVec::new() }
    }

    /// Has the poll tell when the socket is writable, or no longer. While nothing waits the poll is
    /// not asked: it would wake up the loop each time the client reads a reply.
    pub(super) fn await_writable(
        &mut self,
        awaits: bool,
        registry: &Registry,
        token: Token,
    ) -> std::io::Result<()> {
        if std::mem::replace(&mut self.awaits_writable, awaits) == awaits {
            return Ok(());
        }
        let interest =
            if awaits { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
        registry.reregister(&mut self.stream, token, interest)
    }
}

/// The socket on which a client is told of seals and deletions.
#[derive(Debug)]
pub(super) struct Subscription {
    socket: OwnedFd,
    frames: Frames,
    /// The socket is full, and the poll tells when it is writable again. While it is not full the
    /// poll is not asked, see [`Connection::await_writable`].
    blocked: bool,
}

impl Subscription {
    /// Takes over a socket from a client.
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, frames: Frames::default(), blocked: false }
    }

    /// Appends a frame, and returns how many bytes wait then.
    pub(super) fn push(&mut self, frame: &[u8]) -> usize {
        self.frames.push(frame);
        self.frames.waiting_bytes()
    }

    /// Whether nothing can be sent until the poll says so.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Sends what the socket takes. The socket's own flags are the client's, and a wait would stop
    /// everybody; so each send says that it does not want to wait.
    ///
    /// # Errors
    ///
    /// If the other end is closed, or it is no socket at all.
    pub(super) fn flush(&mut self, registry: &Registry, token: Token) -> std::io::Result<()> {
        let blocked = self.frames.flush(self.socket.as_fd())? == Flushed::Blocked;
        if blocked == std::mem::replace(&mut self.blocked, blocked) {
            return Ok(());
        }
        let number = self.socket.as_raw_fd();
        if blocked {
            registry.register(&mut SourceFd(&number), token, Interest::WRITABLE)
        } else {
            registry.deregister(&mut SourceFd(&number))
        }
    }

    /// Gives the socket up. The client may have kept a copy of it, so that closing ours is not
    /// enough to make the poll forget it.
    pub(super) fn end(self, registry: &Registry) {
        if self.blocked
            && let Err(error) = registry.deregister(&mut SourceFd(&self.socket.as_raw_fd()))
        {
            log::debug!("a notification socket was not polled: {error}");
        }
    }
}
