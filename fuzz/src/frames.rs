//! Cutting a stream into frames: any fragmentation gives what a naive reader of the whole gives.

use arbitrary::{Arbitrary, Unstructured};
use plasma_store::protocol::decode::{Scratch, decode};
use plasma_store::protocol::frame::{BodyLimits, Frame, FrameBuffer, HEADER_BYTES};
use plasma_store::protocol::message::{TooLarge, kind};
use plasma_store::protocol::violation::Violation;

/// Bytes behind this position of a stream are left out.
const MAX_STREAM_BYTES: usize = 1 << 15;

/// The longest stream that is pushed byte by byte.
const MAX_SINGLE_BYTES: usize = 1 << 12;

/// A request may name so many objects.
const MAX_IDS: usize = 1000;

/// The longest body that a flatbuffer can be.
const MAX_FLATBUFFER_BYTES: u64 = (1 << 31) - 1;

/// Numbers of messages that a sender may choose from, beside arbitrary ones.
const KINDS: [i64; 18] = [
    kind::DISCONNECT,
    kind::CREATE_REQUEST,
    kind::CREATE_AND_SEAL_REQUEST,
    kind::ABORT_REQUEST,
    kind::SEAL_REQUEST,
    kind::GET_REQUEST,
    kind::RELEASE_REQUEST,
    kind::DELETE_REQUEST,
    kind::CONTAINS_REQUEST,
    kind::LIST_REQUEST,
    kind::CONNECT_REQUEST,
    kind::EVICT_REQUEST,
    kind::SUBSCRIBE_REQUEST,
    kind::SET_OPTIONS_REQUEST,
    kind::DEBUG_STRING_REQUEST,
    kind::CREATE_AND_SEAL_BATCH_REQUEST,
    kind::REFRESH_LRU_REQUEST,
    kind::GET_REPLY,
];

/// A stream, and how it is received.
#[derive(Arbitrary, Debug)]
struct Input {
    limits: Limits,
    /// Lengths of the pieces in which the stream arrives, used again from the front.
    cuts: Vec<u8>,
    pieces: Vec<Piece>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Limits {
    /// So that bodies beyond them are short enough to be sent.
    Small { small: u16, list: u16, payload: u16 },
    /// Such as a server has: a header must not make it ask for memory.
    Real,
}

impl Limits {
    fn get(self) -> BodyLimits {
        match self {
            Self::Small { small, list, payload } => BodyLimits {
                small_bytes: small.into(),
                list_bytes: list.into(),
                payload_bytes: payload.into(),
            },
            Self::Real => {
                BodyLimits { small_bytes: 64 << 10, list_bytes: 64 << 20, payload_bytes: u64::MAX }
            }
        }
    }
}

/// A part of the stream.
#[derive(Arbitrary, Debug)]
enum Piece {
    Raw(Vec<u8>),
    /// A frame as it should be.
    Frame {
        kind: u8,
        body: Vec<u8>,
    },
    /// The same with a body of one repeated byte.
    Short {
        kind: u8,
        length: u8,
        fill: u8,
    },
    /// The same, but perhaps too long.
    Long {
        kind: u8,
        length: u16,
        fill: u8,
    },
    /// A header that may break rules, and no body.
    Header {
        version: i64,
        kind: i64,
        length: i64,
    },
}

impl Input {
    fn stream(&self) -> Vec<u8> {
        let mut stream = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Raw(bytes) => stream.extend_from_slice(bytes),
                Piece::Frame { kind, body } => put_frame(&mut stream, *kind, body),
                Piece::Short { kind, length, fill } => {
                    put_frame(&mut stream, *kind, &vec![*fill; (*length).into()]);
                }
                Piece::Long { kind, length, fill } => {
                    put_frame(&mut stream, *kind, &vec![*fill; (*length).into()]);
                }
                Piece::Header { version, kind, length } => {
                    put_header(&mut stream, *version, *kind, *length);
                }
            }
            if stream.len() > MAX_STREAM_BYTES {
                break;
            }
        }
        stream.truncate(MAX_STREAM_BYTES);
        stream
    }
}

/// Adds a frame of one of the kinds, with the byte that brings a descriptor where one does.
fn put_frame(stream: &mut Vec<u8>, choice: u8, body: &[u8]) {
    let kind = KINDS[usize::from(choice) % KINDS.len()];
    put_header(stream, 0, kind, i64::try_from(body.len()).expect("inputs are small"));
    stream.extend_from_slice(body);
    if kind == kind::SUBSCRIBE_REQUEST {
        stream.push(choice);
    }
}

fn put_header(stream: &mut Vec<u8>, version: i64, kind: i64, length: i64) {
    for field in [version, kind, length] {
        stream.extend_from_slice(&field.to_le_bytes());
    }
}

/// What is in a stream, by reading it from one end to the other.
#[derive(PartialEq, Debug, Default)]
struct Content {
    /// Each frame, and the position behind it.
    frames: Vec<(Cut, u64)>,
    /// The rule that the header behind the last frame breaks.
    violation: Option<Violation>,
}

/// A frame with a body of its own.
#[derive(PartialEq, Debug)]
enum Cut {
    Message { kind: i64, body: Vec<u8>, brings_descriptor: bool },
    TooLarge(TooLarge),
}

fn read(stream: &[u8], limits: BodyLimits) -> Content {
    let mut content = Content::default();
    let mut at = 0;
    while let Some(header) = stream.get(at..at + HEADER_BYTES) {
        let field = |index: usize| {
            let bytes = &header[8 * index..8 * index + 8];
            i64::from_le_bytes(bytes.try_into().expect("a field has 8 bytes"))
        };
        let (version, kind, length) = (field(0), field(1), field(2));
        let too_large = match check_header(version, kind, length, limits) {
            Ok(too_large) => too_large,
            Err(violation) => {
                content.violation = Some(violation);
                break;
            }
        };
        let length = usize::try_from(length).expect("it was just checked");
        let brings_descriptor = kind == kind::SUBSCRIBE_REQUEST;
        let end = at + HEADER_BYTES + length + usize::from(brings_descriptor);
        let Some(rest) = stream.get(at + HEADER_BYTES..end) else {
            break;
        };
        let cut = match too_large.filter(|_| length as u64 > limits.payload_bytes) {
            Some(what) => Cut::TooLarge(what),
            None => Cut::Message { kind, body: rest[..length].to_vec(), brings_descriptor },
        };
        content.frames.push((cut, end as u64));
        at = end;
    }
    content
}

/// What a body beyond the limit for payloads is called, if the header breaks no rule.
fn check_header(
    version: i64,
    kind: i64,
    length: i64,
    limits: BodyLimits,
) -> Result<Option<TooLarge>, Violation> {
    if version != 0 {
        return Err(Violation::Version(version));
    }
    let (most, too_large) = match kind {
        3 => (MAX_FLATBUFFER_BYTES, Some(TooLarge::CreateAndSeal)),
        32 => (MAX_FLATBUFFER_BYTES, Some(TooLarge::CreateAndSealBatch)),
        9 | 13 | 34 => (limits.list_bytes, None),
        0 | 1 | 5 | 7 | 11 | 15 | 17 | 19 | 21 | 23 | 28 | 30 => (limits.small_bytes, None),
        _ => return Err(Violation::UnknownMessage(kind)),
    };
    if i128::from(length) > i128::from(most) || length < 0 {
        return Err(Violation::BodyLength { kind, length });
    }
    Ok(too_large)
}

/// Pushes the stream in pieces and says what came out. Frames are taken out after each piece, or
/// only when all has arrived.
fn cut<'a>(
    limits: BodyLimits,
    pieces: impl Iterator<Item = &'a [u8]>,
    takes_at_once: bool,
) -> Content {
    let mut buffer = FrameBuffer::new(limits);
    let mut content = Content::default();
    let mut pushed = 0;
    for piece in pieces {
        buffer.push(piece);
        pushed += piece.len() as u64;
        assert_eq!(buffer.end_position(), pushed, "the position behind the last byte");
        if takes_at_once {
            take(&mut buffer, &mut content, pushed);
            // What was taken out is dropped when something comes, so nothing tells nothing.
            if content.violation.is_none() && !piece.is_empty() {
                check_memory(&buffer, limits, piece);
            }
        }
    }
    take(&mut buffer, &mut content, pushed);
    content
}

/// Takes out all frames that are complete.
fn take(buffer: &mut FrameBuffer, content: &mut Content, pushed: u64) {
    loop {
        match buffer.peek() {
            Err(violation) => {
                let before = content.violation.replace(violation.clone());
                assert!(
                    before.is_none_or(|before| before == violation),
                    "what is rejected stays so"
                );
                assert_eq!(buffer.peek(), Err(violation));
                break;
            }
            Ok(None) => {
                assert_eq!(content.violation, None, "what is rejected stays so");
                break;
            }
            Ok(Some(frame)) => {
                assert_eq!(content.violation, None, "nothing comes behind what is rejected");
                let again = buffer.peek();
                assert_eq!(again, Ok(Some(frame.clone())), "looking changes nothing");
                let owned = own(buffer, &frame);
                let end = buffer.consume(&frame);
                content.frames.push((owned, end));
            }
        }
        assert_eq!(buffer.end_position(), pushed, "the position behind the last byte");
    }
    let end = content.frames.last().map_or(0, |(_, end)| *end);
    assert_eq!(buffer.is_partial(), end < pushed, "whether an incomplete frame is left");
}

fn own(buffer: &FrameBuffer, frame: &Frame) -> Cut {
    match frame {
        Frame::TooLarge(what) => Cut::TooLarge(*what),
        Frame::Message { kind, body, brings_descriptor } => {
            let body = &buffer.bytes()[body.clone()];
            // Whatever it holds, decoding it ends in a value or a violation.
            let _ = decode(*kind, body, MAX_IDS, &mut Scratch::default());
            let (kind, brings_descriptor) = (*kind, *brings_descriptor);
            Cut::Message { kind, body: body.to_vec(), brings_descriptor }
        }
    }
}

/// After all complete frames were taken, no more is kept than what came last and the one frame that
/// is not complete; and a body that is too long is not kept at all.
fn check_memory(buffer: &FrameBuffer, limits: BodyLimits, received: &[u8]) {
    let longest = limits.small_bytes.max(limits.list_bytes).max(limits.payload_bytes);
    let longest = longest.saturating_add(HEADER_BYTES as u64 + 1);
    let most = longest.saturating_add(received.len() as u64);
    let kept = buffer.bytes().len() as u64;
    assert!(kept <= most, "{kept} bytes are kept where {most} are enough");
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
    let (stream, limits) = (input.stream(), input.limits.get());
    let expected = read(&stream, limits);
    assert_eq!(cut(limits, std::iter::once(&stream[..]), true), expected, "in one piece");
    if stream.len() <= MAX_SINGLE_BYTES {
        assert_eq!(cut(limits, stream.chunks(1), true), expected, "byte by byte");
    }
    for takes_at_once in [true, false] {
        let found = cut(limits, Pieces::new(&stream, &input.cuts), takes_at_once);
        assert_eq!(found, expected, "in pieces");
    }
}

/// Shows one input as text.
#[must_use]
pub fn describe(data: &[u8]) -> String {
    match Input::arbitrary_take_rest(Unstructured::new(data)) {
        Ok(input) => format!("{input:#?}"),
        Err(error) => error.to_string(),
    }
}

/// A stream in pieces of given lengths, some of them empty.
struct Pieces<'a> {
    left: &'a [u8],
    lengths: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    empty_in_a_row: u32,
}

impl<'a> Pieces<'a> {
    fn new(stream: &'a [u8], lengths: &'a [u8]) -> Self {
        Self { left: stream, lengths: lengths.iter().cycle(), empty_in_a_row: 0 }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left.is_empty() {
            return None;
        }
        let wanted = self.lengths.next().map_or(usize::MAX, |length| usize::from(*length));
        self.empty_in_a_row = if wanted == 0 { self.empty_in_a_row + 1 } else { 0 };
        // Lengths that are all zero get nowhere.
        let least = usize::from(self.empty_in_a_row > 3);
        let (piece, left) = self.left.split_at(wanted.max(least).min(self.left.len()));
        self.left = left;
        Some(piece)
    }
}
