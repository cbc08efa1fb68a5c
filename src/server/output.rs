//! What waits to be sent to one peer.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use crate::ids::SegmentId;
use crate::sys::scm;

/// Kept between messages rather than given back.
const KEPT_CAPACITY: usize = 4096;

/// Whether everything was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Flushed {
    /// It was.
    All,
    /// The peer does not read fast enough; go on when the socket is writable.
    Blocked,
}

/// Bytes for a client's main connection, and the descriptors between them.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// What goes before `last`: large messages, which are not copied, and what goes before these.
    first: VecDeque<Part>,
    last: Part,
}

/// A part of what waits.
///
/// `sent` is never beyond the first of the `descriptors`, nor are these beyond the end of `bytes`.
#[derive(Debug, Default)]
struct Part {
    bytes: Vec<u8>,
    /// How many of the bytes were sent.
    sent: usize,
    /// Each with the number of bytes that must be sent before it.
    descriptors: VecDeque<(usize, SegmentId)>,
}

impl Output {
    /// How many bytes wait.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.last.waiting_bytes() + self.first.iter().map(Part::waiting_bytes).sum::<usize>()
    }

    /// Where to append bytes.
    pub(super) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.last.bytes
    }

    /// Appends the bytes of a buffer from `start` on, without a copy.
    pub(super) fn push_buffer(&mut self, bytes: Vec<u8>, start: usize) {
        self.first.push_back(std::mem::take(&mut self.last));
        self.first.push_back(Part { bytes, sent: start, descriptors: VecDeque::new() });
    }

    /// Sends the descriptor of a segment behind all bytes so far.
    pub(super) fn push_descriptor(&mut self, segment: SegmentId) {
        self.last.descriptors.push_back((self.last.bytes.len(), segment));
    }

    /// Sends what the socket takes. `descriptor` finds the descriptor of a segment.
    ///
    /// # Errors
    ///
    /// If the peer is gone, or the kernel refuses for good.
    pub(super) fn flush<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        descriptor: impl Fn(SegmentId) -> BorrowedFd<'a>,
    ) -> io::Result<Flushed> {
        while let Some(first) = self.first.front_mut() {
            if first.flush(socket, &descriptor)? == Flushed::Blocked {
                return Ok(Flushed::Blocked);
            }
            self.first.pop_front();
        }
        let flushed = self.last.flush(socket, &descriptor)?;
        if flushed == Flushed::Blocked {
            self.last.drop_sent();
        }
        Ok(flushed)
    }
}

impl Part {
    fn waiting_bytes(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// See [`Output::flush`].
    fn flush<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        descriptor: &impl Fn(SegmentId) -> BorrowedFd<'a>,
    ) -> io::Result<Flushed> {
        loop {
            let next = self.descriptors.front().copied();
            let end = next.map_or(self.bytes.len(), |(position, _)| position);
            let step = if self.sent < end {
                scm::send_bytes(socket, &self.bytes[self.sent..end]).map(|count| self.sent += count)
            } else if let Some((_, segment)) = next {
                scm::send_descriptor(socket, descriptor(segment)).map(|()| {
                    self.descriptors.pop_front();
                })
            } else {
                self.bytes.clear();
                self.bytes.shrink_to(KEPT_CAPACITY);
                self.sent = 0;
                return Ok(Flushed::All);
            };
            match step {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Flushed::Blocked);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Forgets what was sent once that is most of it, so that a peer who always lags behind a
    /// little costs no more than what it has not read.
    fn drop_sent(&mut self) {
        if self.sent < KEPT_CAPACITY.max(self.bytes.len() / 2) {
            return;
        }
        self.bytes.drain(..self.sent);
        for (position, _) in &mut self.descriptors {
            *position -= self.sent;
        }
        self.sent = 0;
    }
}

/// Frames for a notification socket.
///
/// Some subscribers read the length of a frame and then expect the rest from one read, so each
/// frame is sent by a call of its own, and is split only if it is too large for the socket.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: VecDeque<u8>,
    /// The lengths of the frames in `bytes`; of the first only what is left of it.
    lengths: VecDeque<usize>,
}

impl Frames {
    /// How many bytes wait.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Appends a frame.
    pub(super) fn push(&mut self, frame: &[u8]) {
        self.bytes.extend(frame);
        self.lengths.push_back(frame.len());
    }

    /// Sends what the socket takes.
    ///
    /// # Errors
    ///
    /// As for [`Output::flush`].
    pub(super) fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<Flushed> {
        while let Some(&length) = self.lengths.front() {
            // A frame that wraps around is rare: the buffer is empty most of the time.
            let (front, _) = self.bytes.as_slices();
            let frame = if front.len() >= length {
                &front[..length]
            } else {
                &self.bytes.make_contiguous()[..length]
            };
            match scm::send_bytes(socket, frame) {
                Ok(count) => {
                    self.bytes.drain(..count);
                    if count == length {
                        self.lengths.pop_front();
                    } else if let Some(first) = self.lengths.front_mut() {
                        *first -= count;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Flushed::Blocked);
                }
                Err(error) => return Err(error),
            }
        }
        self.bytes.shrink_to(KEPT_CAPACITY);
        self.lengths.shrink_to(KEPT_CAPACITY / size_of::<usize>());
        Ok(Flushed::All)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Reads from `socket` into `received` until nothing comes.
    fn drain(socket: &UnixStream, received: &mut Vec<u8>) -> usize {
        let mut buffer = [0; 5000];
        let mut descriptors = 0;
        while let Ok(part) = scm::receive(socket.as_fd(), &mut buffer) {
            received.extend_from_slice(&buffer[..part.bytes]);
            descriptors += part.descriptors.len();
        }
        descriptors
    }

    #[test]
    fn a_descriptor_keeps_its_place_among_the_bytes() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut output = Output::default();
        output.bytes_mut().resize(400_000, 1);
        output.push_descriptor(SegmentId(1));
        output.push_descriptor(SegmentId(2));
        output.bytes_mut().extend([2; 3]);
        let (mut received, mut descriptors) = (Vec::new(), 0);
        while output.flush(ours.as_fd(), |_| ours.as_fd()).unwrap() == Flushed::Blocked {
            descriptors += drain(&theirs, &mut received);
        }
        descriptors += drain(&theirs, &mut received);
        assert_eq!((received.len(), descriptors), (400_005, 2));
        assert_eq!(&received[400_000..], [0x14, 0x14, 2, 2, 2]);
        assert_eq!(output.waiting_bytes(), 0);
    }

    #[test]
    fn a_buffer_keeps_its_place_among_bytes_and_descriptors() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut output = Output::default();
        output.bytes_mut().extend([1; 3]);
        output.push_descriptor(SegmentId(1));
        output.push_buffer(vec![2; 300_000], 100_000);
        output.bytes_mut().extend([3; 3]);
        assert_eq!(output.waiting_bytes(), 200_006);
        let (mut received, mut descriptors) = (Vec::new(), 0);
        while output.flush(ours.as_fd(), |_| ours.as_fd()).unwrap() == Flushed::Blocked {
            descriptors += drain(&theirs, &mut received);
        }
        descriptors += drain(&theirs, &mut received);
        assert_eq!((received.len(), descriptors), (200_007, 1));
        assert_eq!(&received[..5], [1, 1, 1, 0x14, 2]);
        assert_eq!(&received[200_003..], [2, 3, 3, 3]);
        assert_eq!(output.waiting_bytes(), 0);
    }

    #[test]
    fn what_was_sent_is_forgotten() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut output = Output::default();
        let (mut received, mut descriptors) = (Vec::new(), 0);
        for _ in 0..100 {
            let length = output.bytes_mut().len() + 500_000;
            output.bytes_mut().resize(length, 1);
            output.push_descriptor(SegmentId(1));
            // Always reads less than there is.
            while output.waiting_bytes() > 100_000 {
                let _ = output.flush(ours.as_fd(), |_| ours.as_fd()).unwrap();
                descriptors += drain(&theirs, &mut received);
            }
            assert!(
                output.last.bytes.len() < 1_200_000,
                "{} bytes are kept",
                output.last.bytes.len()
            );
        }
        while output.flush(ours.as_fd(), |_| ours.as_fd()).unwrap() == Flushed::Blocked {
            descriptors += drain(&theirs, &mut received);
        }
        descriptors += drain(&theirs, &mut received);
        assert_eq!((received.len(), descriptors), (100 * 500_001, 100));
    }

    #[test]
    fn frames_larger_than_the_socket_are_resumed() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut frames = Frames::default();
        for value in 0..20 {
            frames.push(&vec![value; 50_000]);
        }
        let mut received = Vec::new();
        while frames.flush(ours.as_fd()).unwrap() == Flushed::Blocked {
            drain(&theirs, &mut received);
        }
        drain(&theirs, &mut received);
        let expected: Vec<u8> = (0..20).flat_map(|value| vec![value; 50_000]).collect();
        assert!(received == expected);
    }

    #[test]
    fn a_peer_that_is_gone_is_an_error() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let mut frames = Frames::default();
        frames.push(b"frame");
        assert!(frames.flush(ours.as_fd()).is_err());
    }
}
