//! From a stream of bytes to whole frames.
//!
//! A frame is a header of three little-endian 64-bit numbers (version, kind, length of the body)
//! and the body. One kind of request, Subscribe, is followed by one byte more, which brings a
//! descriptor along; that byte counts as part of its frame here.
//!
//! [`FrameBuffer`] is a value without a socket: bytes are pushed in, frames are looked at and then
//! consumed. What it rejects once it rejects for ever.

use std::ops::Range;

use super::message::{TooLarge, kind};
use super::violation::Violation;

/// Version, kind and length, 8 bytes each.
pub const HEADER_BYTES: usize = 24;

/// A flatbuffer cannot be larger than this.
const MAX_FLATBUFFER_BYTES: u64 = (1 << 31) - 1;

/// How long the body of a request may be, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Requests with one id, or none.
    pub small_bytes: u64,
    /// Requests with a list of ids, each of which takes 28 bytes.
    pub list_bytes: u64,
    /// Requests with payloads. A longer body, up to what a flatbuffer can be, is read and thrown
    /// away, since its sender is owed the answer that the object does not fit.
    pub payload_bytes: u64,
}

/// A frame at the front of a [`FrameBuffer`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A request that can be decoded.
    Message {
        /// Its number.
        kind: i64,
        /// Where its body lies in [`FrameBuffer::bytes`].
        body: Range<usize>,
        /// Whether the byte that brings a descriptor follows the body.
        brings_descriptor: bool,
    },
    /// A request whose body was too long to keep and is gone.
    TooLarge(TooLarge),
}

/// The bytes of a connection that are not yet consumed.
///
/// `start <= bytes.len()` always; bytes before `start` are consumed, and all bytes are dropped when
/// the last one is. `skipping` is how many bytes of an oversized body are still to come; while it
/// is not zero, everything that arrives is thrown away.
#[derive(Debug)]
pub struct FrameBuffer {
    limits: BodyLimits,
    bytes: Vec<u8>,
    start: usize,
    skipping: Option<(TooLarge, u64)>,
    /// How many bytes were consumed or thrown away since the connection began.
    passed: u64,
}

impl FrameBuffer {
    /// Kept between frames rather than given back; room for the requests of ordinary clients.
    const KEPT_CAPACITY: usize = 4096;

    /// An empty buffer.
    #[must_use]
    pub fn new(limits: BodyLimits) -> Self {
        Self { limits, bytes: Vec::new(), start: 0, skipping: None, passed: 0 }
    }

    /// Appends what was received.
    pub fn push(&mut self, received: &[u8]) {
        let mut received = received;
        if let Some((_, left)) = &mut self.skipping {
            let skipped = usize::try_from(*left).map_or(received.len(), |n| n.min(received.len()));
            *left -= skipped as u64;
            self.passed += skipped as u64;
            received = &received[skipped..];
        }
        if self.start > 0 && !received.is_empty() {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(received);
    }

    /// The position in the stream behind the last byte received.
    #[must_use]
    pub fn end_position(&self) -> u64 {
        self.passed + (self.bytes.len() - self.start) as u64
    }

    /// Whether bytes of an incomplete frame wait for the rest.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.start < self.bytes.len() || self.skipping.is_some()
    }

    /// The bytes that a [`Frame::Message`] points into.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The frame at the front, or `None` if it is not complete.
    ///
    /// # Errors
    ///
    /// If the frame's header breaks a rule. Nothing behind it can be understood then.
    pub fn peek(&mut self) -> Result<Option<Frame>, Violation> {
        if let Some((what, left)) = self.skipping {
            return Ok((left == 0).then_some(Frame::TooLarge(what)));
        }
        let unread = &self.bytes[self.start..];
        let Some((header, rest)) = unread.split_first_chunk::<HEADER_BYTES>() else {
            return Ok(None);
        };
        let [version, kind, length] = header_fields(header);
        if version != 0 {
            return Err(Violation::Version(version));
        }
        let length_bytes = self.check_length(kind, length)?;
        if let Some(what) = self.too_large(kind, length_bytes) {
            let skipped = usize::try_from(length_bytes).map_or(rest.len(), |n| n.min(rest.len()));
            self.skipping = Some((what, length_bytes - skipped as u64));
            self.drop_front(HEADER_BYTES + skipped);
            return self.peek();
        }
        let brings_descriptor = kind == kind::SUBSCRIBE_REQUEST;
        let Ok(length) = usize::try_from(length_bytes) else {
            return Ok(None);
        };
        if rest.len() < length + usize::from(brings_descriptor) {
            return Ok(None);
        }
        let body_start = self.start + HEADER_BYTES;
        Ok(Some(Frame::Message { kind, body: body_start..body_start + length, brings_descriptor }))
    }

    /// Drops the frame that [`FrameBuffer::peek`] returned and gives the position in the stream
    /// behind it.
    pub fn consume(&mut self, frame: &Frame) -> u64 {
        match frame {
            Frame::TooLarge(_) => self.skipping = None,
            Frame::Message { body, brings_descriptor, .. } => {
                self.drop_front(body.end - self.start + usize::from(*brings_descriptor));
            }
        }
        self.passed
    }

    fn drop_front(&mut self, count: usize) {
        self.start += count;
        self.passed += count as u64;
        if self.start == self.bytes.len() {
            self.start = 0;
            self.bytes.clear();
            self.bytes.shrink_to(Self::KEPT_CAPACITY);
        }
    }

    /// The length of the body, if the header may state it.
    fn check_length(&self, kind: i64, length: i64) -> Result<u64, Violation> {
        let limit = match kind {
            kind::CREATE_AND_SEAL_REQUEST | kind::CREATE_AND_SEAL_BATCH_REQUEST => {
                MAX_FLATBUFFER_BYTES
            }
            kind::GET_REQUEST | kind::DELETE_REQUEST | kind::REFRESH_LRU_REQUEST => {
                self.limits.list_bytes
            }
            kind::DISCONNECT
            | kind::CREATE_REQUEST
            | kind::ABORT_REQUEST
            | kind::SEAL_REQUEST
            | kind::RELEASE_REQUEST
            | kind::CONTAINS_REQUEST
            | kind::LIST_REQUEST
            | kind::CONNECT_REQUEST
            | kind::EVICT_REQUEST
            | kind::SUBSCRIBE_REQUEST
            | kind::SET_OPTIONS_REQUEST
            | kind::DEBUG_STRING_REQUEST => self.limits.small_bytes,
            _ => return Err(Violation::UnknownMessage(kind)),
        };
        match u64::try_from(length) {
            Ok(bytes) if bytes <= limit => Ok(bytes),
            _ => Err(Violation::BodyLength { kind, length }),
        }
    }

    fn too_large(&self, kind: i64, length_bytes: u64) -> Option<TooLarge> {
        let what = match kind {
            kind::CREATE_AND_SEAL_REQUEST => TooLarge::CreateAndSeal,
            kind::CREATE_AND_SEAL_BATCH_REQUEST => TooLarge::CreateAndSealBatch,
            _ => return None,
        };
        (length_bytes > self.limits.payload_bytes).then_some(what)
    }
}

/// Appends the header of a frame to `out`.
pub fn put_header(out: &mut Vec<u8>, kind: i64, body_bytes: usize) {
    let length = i64::try_from(body_bytes).expect("a flatbuffer is smaller than 2 GiB");
    for field in [0, kind, length] {
        out.extend_from_slice(&field.to_le_bytes());
    }
}

fn header_fields(header: &[u8; HEADER_BYTES]) -> [i64; 3] {
    let mut fields = [0; 3];
    for (field, bytes) in fields.iter_mut().zip(header.as_chunks::<8>().0) {
        *field = i64::from_le_bytes(*bytes);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: BodyLimits =
        BodyLimits { small_bytes: 1000, list_bytes: 10_000, payload_bytes: 5000 };

    fn frame(kind: i64, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_header(&mut bytes, kind, body.len());
        bytes.extend_from_slice(body);
        bytes
    }

    /// Pushes `stream` in pieces of `step` bytes and collects kind and body of each frame.
    fn cut(stream: &[u8], step: usize) -> Result<Vec<(i64, Vec<u8>)>, Violation> {
        let mut buffer = FrameBuffer::new(LIMITS);
        let mut frames = Vec::new();
        let mut pushed = 0;
        for piece in stream.chunks(step) {
            buffer.push(piece);
            pushed += piece.len() as u64;
            while let Some(frame) = buffer.peek()? {
                frames.push(match &frame {
                    Frame::Message { kind, body, .. } => {
                        (*kind, buffer.bytes()[body.clone()].to_vec())
                    }
                    Frame::TooLarge(what) => (-1, format!("{what:?}").into_bytes()),
                });
                buffer.consume(&frame);
            }
            assert_eq!(buffer.end_position(), pushed);
        }
        assert!(!buffer.is_partial());
        Ok(frames)
    }

    #[test]
    fn any_fragmentation_gives_the_same_frames() {
        let mut stream = frame(kind::CONNECT_REQUEST, b"");
        stream.extend(frame(kind::GET_REQUEST, &[7; 3000]));
        stream.extend(frame(kind::SUBSCRIBE_REQUEST, b"abc"));
        stream.push(0x14);
        stream.extend(frame(kind::CREATE_AND_SEAL_REQUEST, &[1; 5001]));
        stream.extend(frame(kind::CREATE_AND_SEAL_BATCH_REQUEST, &[1; 9000]));
        stream.extend(frame(kind::CREATE_AND_SEAL_REQUEST, &[2; 5000]));
        stream.extend(frame(kind::DISCONNECT, b""));
        let whole = cut(&stream, stream.len()).unwrap();
        assert_eq!(whole.len(), 7);
        assert_eq!(whole[2], (kind::SUBSCRIBE_REQUEST, b"abc".to_vec()));
        assert_eq!(whole[3], (-1, b"CreateAndSeal".to_vec()));
        assert_eq!(whole[5], (kind::CREATE_AND_SEAL_REQUEST, vec![2; 5000]));
        for step in [1, 2, 7, 23, 24, 25, 100, 4096] {
            assert_eq!(cut(&stream, step).unwrap(), whole, "in steps of {step}");
        }
    }

    #[test]
    fn headers_that_break_a_rule_are_rejected_before_the_body_comes() {
        let header = |version: i64, kind: i64, length: i64| {
            let mut buffer = FrameBuffer::new(LIMITS);
            for field in [version, kind, length] {
                buffer.push(&field.to_le_bytes());
            }
            let first = buffer.peek();
            assert_eq!(buffer.peek(), first, "a rejection is final");
            first
        };
        assert_eq!(header(1, 19, 0), Err(Violation::Version(1)));
        for unknown in [-1, 2, 12, 24, 25, 26, 27, 36, i64::MAX, i64::MIN] {
            assert_eq!(header(0, unknown, 0), Err(Violation::UnknownMessage(unknown)));
        }
        for length in [-1, 1001, i64::MAX, i64::MIN] {
            assert_eq!(header(0, 1, length), Err(Violation::BodyLength { kind: 1, length }));
        }
        assert_eq!(header(0, 9, 10_001), Err(Violation::BodyLength { kind: 9, length: 10_001 }));
        assert_eq!(header(0, 9, 10_000), Ok(None));
        let length = 1 << 31;
        assert_eq!(header(0, 3, length), Err(Violation::BodyLength { kind: 3, length }));
    }

    #[test]
    fn memory_is_given_back_after_a_large_frame() {
        let mut buffer = FrameBuffer::new(BodyLimits { payload_bytes: 1 << 24, ..LIMITS });
        buffer.push(&frame(kind::CREATE_AND_SEAL_REQUEST, &vec![0; 1 << 20]));
        let frame = buffer.peek().unwrap().unwrap();
        buffer.consume(&frame);
        assert!(buffer.bytes.capacity() <= FrameBuffer::KEPT_CAPACITY);
    }
}
