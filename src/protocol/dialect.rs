//! Clients of older releases, recognised so that they can be told from broken ones.
//!
//! Arrow shipped nine wire dialects of Plasma, here called A to I. Only I is served. The header has
//! been the same in all of them, so a dialect shows in the number of the first message, or in what
//! stands in the body of a later one. Everything that this file knows is about bodies that are not
//! what they should be in dialect I; what is valid there is never looked at twice, but for the two
//! requests that an older body could pass for.

use std::fmt;

use super::message::kind;
use super::violation::Violation;

/// The dialects that a connection may speak instead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Older {
    /// Arrow 0.6 and 0.7.
    A,
    /// Arrow 0.8 to 0.10; the three differ too late to tell.
    BToD,
    /// Arrow 0.11.
    E,
    /// Arrow 0.12 to 0.16.
    FToH,
    /// Arrow 0.11 to 0.16; before the first message that differs.
    EToH,
}

impl fmt::Display for Older {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "dialect A (Arrow 0.6 and 0.7)",
            Self::BToD => "dialect B, C or D (Arrow 0.8 to 0.10)",
            Self::E => "dialect E (Arrow 0.11)",
            Self::FToH => "dialect F, G or H (Arrow 0.12 to 0.16)",
            Self::EToH => "dialect E, F, G or H (Arrow 0.11 to 0.16)",
        })
    }
}

/// The number of the Connect request in dialect A; Contains in I.
const CONNECT_OF_A: i64 = 15;

/// The number of the Connect request in dialects B to D; List in I.
const CONNECT_OF_B_TO_D: i64 = 17;

/// The number of the Subscribe request in dialect E, unused in I.
const SUBSCRIBE_OF_E: i64 = 26;

/// The number of the Subscribe request in dialects B to D, unused in I.
const SUBSCRIBE_OF_B_TO_D: i64 = 24;

/// Whether the body of a request has to be looked at even if it can be decoded: an older create
/// reads as one with other sizes, and an older seal as an abort.
#[must_use]
pub fn can_be_mistaken(kind: i64) -> bool {
    kind == kind::CREATE_REQUEST || kind == kind::ABORT_REQUEST
}

/// The dialect that a request belongs to, if it is not I. `first` is the number of the first
/// message of the connection.
#[must_use]
pub fn recognise(first: i64, kind: i64, body: &[u8]) -> Option<Older> {
    let table = Table::root(body)?;
    let older = by_connect(first);
    match kind {
        CONNECT_OF_A if first == CONNECT_OF_A && !table.has(0) => Some(Older::A),
        // Slot 1 is the size, not a flag.
        kind::CREATE_REQUEST if table.is_number_above_1(1) => Some(older.unwrap_or(Older::EToH)),
        // Abort up to E; later without the field for eviction.
        kind::CREATE_AND_SEAL_REQUEST if !table.has(4) && table.has(0) => {
            let whole = table.has(2) && table.has(3);
            Some(if whole { Older::FToH } else { older.unwrap_or(Older::E) })
        }
        // Seal up to E: an id and a digest.
        kind::ABORT_REQUEST if table.has(0) && table.has(1) => Some(older.unwrap_or(Older::E)),
        // Get up to E: a list where an id should be.
        kind::SEAL_REQUEST if table.is_list_of_ids(0) => Some(older.unwrap_or(Older::E)),
        // Release up to E: an id where a list should be.
        kind::GET_REQUEST if table.is_id(0) => Some(older.unwrap_or(Older::E)),
        // Delete up to E: a number and a list, or an id.
        kind::RELEASE_REQUEST if table.is_list_of_ids(1) => Some(older.unwrap_or(Older::E)),
        kind::CREATE_AND_SEAL_BATCH_REQUEST if table.has(3) && !table.has(4) => Some(Older::FToH),
        _ => None,
    }
}

/// What a violation really is, if an older dialect explains it.
#[must_use]
pub fn explain(first: i64, kind: i64, body: &[u8], violation: Violation) -> Violation {
    match recognise(first, kind, body) {
        Some(older) => Violation::OlderDialect(older),
        None => violation,
    }
}

/// The same for a number that no request has in dialect I.
#[must_use]
pub fn explain_header(first: Option<i64>, violation: Violation) -> Violation {
    match (first, &violation) {
        (Some(kind::CONNECT_REQUEST), Violation::UnknownMessage(SUBSCRIBE_OF_E)) => {
            Violation::OlderDialect(Older::E)
        }
        (Some(CONNECT_OF_B_TO_D), Violation::UnknownMessage(SUBSCRIBE_OF_B_TO_D)) => {
            Violation::OlderDialect(Older::BToD)
        }
        _ => violation,
    }
}

/// What the first message tells, if it is not how dialects E to I begin.
fn by_connect(first: i64) -> Option<Older> {
    match first {
        CONNECT_OF_A => Some(Older::A),
        CONNECT_OF_B_TO_D => Some(Older::BToD),
        _ => None,
    }
}

/// A table of a flatbuffer of unknown kind, as far as it can be read without one.
struct Table<'a> {
    body: &'a [u8],
    /// Where the table begins in the body.
    start: usize,
    /// How long it is, its own offset to the vtable included.
    length: usize,
    /// The offsets of its fields, 0 for those that are absent.
    slots: &'a [[u8; 2]],
}

impl<'a> Table<'a> {
    fn root(body: &'a [u8]) -> Option<Self> {
        let start = read_offset(body, 0)?;
        let back = i64::from(i32::from_le_bytes(read(body, start)?));
        let vtable = usize::try_from(i64::try_from(start).ok()? - back).ok()?;
        let vtable_length = usize::from(u16::from_le_bytes(read(body, vtable)?));
        let length = usize::from(u16::from_le_bytes(read(body, vtable.checked_add(2)?)?));
        let fields = body.get(vtable..vtable.checked_add(vtable_length)?)?.get(4..)?;
        Some(Self { body, start, length, slots: fields.as_chunks::<2>().0 })
    }

    /// The offset of a field in the table, 0 if it is absent.
    fn slot(&self, index: usize) -> usize {
        self.slots.get(index).map_or(0, |bytes| usize::from(u16::from_le_bytes(*bytes)))
    }

    fn has(&self, index: usize) -> bool {
        self.slot(index) != 0
    }

    /// Whether a field has the place and the room of a 64-bit number, and its value is none that a
    /// flag with its padding could have.
    fn is_number_above_1(&self, index: usize) -> bool {
        let offset = self.slot(index);
        let slots = self.slots.iter().map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
        let end = slots.filter(|other| *other > offset).min().unwrap_or(self.length);
        let has_room = offset != 0 && offset.is_multiple_of(4) && end >= offset + 8;
        let value = self.start.checked_add(offset).and_then(|at| read(self.body, at));
        has_room && value.is_some_and(|bytes| u64::from_le_bytes(bytes) > 1)
    }

    /// Where the vector lies that a field points to, and its length.
    fn vector(&self, index: usize) -> Option<(usize, usize)> {
        let offset = self.slot(index);
        let field = self.start.checked_add(offset).filter(|_| offset != 0)?;
        let vector = field.checked_add(read_offset(self.body, field)?)?;
        let length = read_offset(self.body, vector)?;
        Some((vector.checked_add(4)?, length))
    }

    fn is_id(&self, index: usize) -> bool {
        self.vector(index).is_some_and(|(_, length)| length == 20)
    }

    /// Whether the field is a list, the first entry of which is an id.
    fn is_list_of_ids(&self, index: usize) -> bool {
        let Some((first, length)) = self.vector(index) else { return false };
        let id = read_offset(self.body, first).and_then(|offset| first.checked_add(offset));
        length > 0 && id.and_then(|id| read_offset(self.body, id)) == Some(20)
    }
}

fn read<const N: usize>(body: &[u8], at: usize) -> Option<[u8; N]> {
    body.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn read_offset(body: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(read(body, at)?)).ok()
}
