//! Reading replies back, by the layout of flatbuffers alone.

use plasma_store::protocol::frame::HEADER_BYTES;
use plasma_store::protocol::message::{Access, GetReply, Notice, ObjectInfo, Place, Reply, Status};

use super::kind_of;

/// What clients subtract from the size of a segment that they are told.
const GAP_BYTES: u64 = 8;

/// The length of a place on the wire.
const PLACE_BYTES: usize = 48;

/// A table in a buffer, which starts at a multiple of 8.
#[derive(Clone, Copy)]
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Table<'a> {
    fn root(bytes: &'a [u8]) -> Self {
        Self { bytes, at: follow(bytes, 0) }
    }

    /// Where a field lies, unless it is left out.
    fn field(&self, index: usize) -> Option<usize> {
        let distance = i32::from_le_bytes(array(self.bytes, self.at));
        let vtable = self.at.checked_add_signed(-isize::try_from(distance).expect("64 bits"));
        let vtable = vtable.expect("inside the buffer");
        let length = usize::from(u16::from_le_bytes(array(self.bytes, vtable)));
        let slot = 4 + 2 * index;
        if slot >= length {
            return None;
        }
        let offset = usize::from(u16::from_le_bytes(array(self.bytes, vtable + slot)));
        (offset > 0).then_some(self.at + offset)
    }

    fn i32(&self, index: usize) -> i32 {
        self.field(index).map_or(0, |at| i32::from_le_bytes(array(self.bytes, at)))
    }

    fn i64(&self, index: usize) -> i64 {
        self.field(index).map_or(0, |at| i64::from_le_bytes(array(self.bytes, at)))
    }

    fn bool(&self, index: usize) -> bool {
        self.field(index).is_some_and(|at| self.bytes[at] != 0)
    }

    /// Where the entries of a required vector start, and how many there are.
    fn vector(&self, index: usize) -> (usize, usize) {
        let at = self.field(index).expect("it is required");
        vector_at(self.bytes, follow(self.bytes, at))
    }

    fn blob(&self, index: usize) -> &'a [u8] {
        let (start, length) = self.vector(index);
        &self.bytes[start..start + length]
    }

    /// A vector of entries that are elsewhere.
    fn list(&self, index: usize) -> Vec<&'a [u8]> {
        let (start, count) = self.vector(index);
        let entry = |index: usize| {
            let (start, length) = vector_at(self.bytes, follow(self.bytes, start + 4 * index));
            // They are read as strings, too, which end in a zero.
            assert_eq!(self.bytes[start + length], 0, "a string ends in a zero");
            &self.bytes[start..start + length]
        };
        (0..count).map(entry).collect()
    }

    fn tables(&self, index: usize) -> Vec<Table<'a>> {
        let (start, count) = self.vector(index);
        let table = |index| Table { bytes: self.bytes, at: follow(self.bytes, start + 4 * index) };
        (0..count).map(table).collect()
    }

    fn i32s(&self, index: usize) -> Vec<i32> {
        let (start, count) = self.vector(index);
        let number = |index| i32::from_le_bytes(array(self.bytes, start + 4 * index));
        (0..count).map(number).collect()
    }

    fn i64s(&self, index: usize) -> Vec<i64> {
        let (start, count) = self.vector(index);
        let number = |index| i64::from_le_bytes(array(self.bytes, start + 8 * index));
        (0..count).map(number).collect()
    }
}

/// The bytes of a number, which must lie at a multiple of its length.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    assert_eq!(at % N, 0, "a number of {N} bytes is aligned");
    bytes[at..at + N].try_into().expect("N bytes")
}

fn follow(bytes: &[u8], at: usize) -> usize {
    at + usize::try_from(u32::from_le_bytes(array(bytes, at))).expect("64 bits")
}

fn vector_at(bytes: &[u8], at: usize) -> (usize, usize) {
    let length = usize::try_from(u32::from_le_bytes(array(bytes, at))).expect("64 bits");
    (at + 4, length)
}

/// Panics unless the frame says what the reply does.
pub(super) fn check(frame: &[u8], reply: &Reply) {
    let (header, body) = frame.split_at(HEADER_BYTES);
    assert_eq!(header[..8], [0; 8], "the version");
    assert_eq!(i64::from_le_bytes(array(header, 8)), kind_of(reply), "the number of the message");
    assert_eq!(u64::from_le_bytes(array(header, 16)), body.len() as u64, "the length");
    let table = Table::root(body);
    match reply {
        Reply::Connect { capacity_bytes } => {
            assert_eq!(table.i64(0).cast_unsigned(), *capacity_bytes);
        }
        Reply::Create { id, outcome } => {
            assert_eq!(table.blob(0), id.as_bytes());
            let at = table.field(1).expect("the place is there on errors too");
            let (place, status) =
                (outcome.as_ref().ok().map(|(place, _)| place), outcome.as_ref().err());
            match place {
                Some(place) => check_place(&body[at..at + PLACE_BYTES], Some(place)),
                None => assert_eq!(body[at..at + PLACE_BYTES], [0; PLACE_BYTES]),
            }
            assert_eq!(table.i32(2), number(status.copied().unwrap_or(Status::Ok)));
            let segment = outcome.as_ref().ok().map(|(_, access)| match access {
                Access::Segment(info) => *info,
                Access::Device(_) => panic!("there is no device"),
            });
            assert_eq!(table.i32(3), segment.map_or(0, |info| info.segment.0));
            let mapped = segment.map_or(0, |info| info.range_bytes + GAP_BYTES);
            assert_eq!(table.i64(4).cast_unsigned(), mapped);
            assert_eq!(table.field(5), None, "no handle");
        }
        Reply::CreateAndSeal(status)
        | Reply::CreateAndSealBatch(status)
        | Reply::SetOptions(status) => assert_eq!(table.i32(0), number(*status)),
        Reply::Abort(id) => assert_eq!(table.blob(0), id.as_bytes()),
        Reply::Seal(id, status) => {
            assert_eq!((table.blob(0), table.i32(1)), (id.as_bytes(), number(*status)));
        }
        Reply::Get(reply) => check_get(&table, reply),
        Reply::Delete(outcomes) => {
            assert_eq!(usize::try_from(table.i32(0)), Ok(outcomes.len()));
            let ids: Vec<&[u8]> = outcomes.iter().map(|(id, _)| id.as_bytes()).collect();
            assert_eq!(table.list(1), ids);
            let errors: Vec<i32> = outcomes.iter().map(|(_, status)| number(*status)).collect();
            assert_eq!(table.i32s(2), errors);
        }
        Reply::Contains(id, sealed) => {
            assert_eq!((table.blob(0), table.i32(1)), (id.as_bytes(), i32::from(*sealed)));
        }
        Reply::List(objects) => {
            let rows = table.tables(0);
            assert_eq!(rows.len(), objects.len());
            rows.iter().zip(objects).for_each(|(row, object)| check_row(row, object));
        }
        Reply::Evict { bytes } => assert_eq!(table.i64(0).cast_unsigned(), *bytes),
        Reply::DebugString(text) => assert_eq!(table.blob(0), text),
        Reply::RefreshLru => {}
    }
}

/// Panics unless the frame for a notification socket says what the notices do.
pub(super) fn check_notices(frame: &[u8], notices: &[Notice]) {
    let (header, body) = frame.split_at(8);
    assert_eq!(u64::from_le_bytes(array(header, 0)), body.len() as u64, "the length");
    let rows = Table::root(body).tables(0);
    assert_eq!(rows.len(), notices.len());
    for (row, notice) in rows.iter().zip(notices) {
        match notice {
            Notice::Sealed { id, data_bytes, metadata_bytes, digest } => {
                assert_eq!((row.blob(0), row.blob(6)), (id.as_bytes(), &digest[..]));
                let sizes = (row.i64(1).cast_unsigned(), row.i64(2).cast_unsigned());
                assert_eq!((sizes, row.bool(7)), ((*data_bytes, *metadata_bytes), false));
            }
            Notice::Deleted(id) => {
                assert_eq!((row.blob(0), row.bool(7)), (id.as_bytes(), true));
                assert_eq!(row.field(6), None, "no digest");
            }
        }
    }
}

fn check_get(table: &Table<'_>, reply: &GetReply) {
    let ids: Vec<&[u8]> = reply.objects.iter().map(|(id, _)| id.as_bytes()).collect();
    assert_eq!(table.list(0), ids);
    let (start, count) = table.vector(1);
    assert_eq!(count, ids.len());
    assert_eq!(start % 8, 0, "places are aligned");
    let places = table.bytes[start..start + count * PLACE_BYTES].chunks(PLACE_BYTES);
    for (found, (_, place)) in places.zip(&reply.objects) {
        check_place(found, place.as_ref());
    }
    let segments: Vec<i32> = reply.segments.iter().map(|info| info.segment.0).collect();
    assert_eq!(table.i32s(2), segments);
    let mapped = reply.segments.iter().map(|info| (info.range_bytes + GAP_BYTES).cast_signed());
    assert_eq!(table.i64s(3), mapped.collect::<Vec<_>>());
    assert_eq!(table.vector(4).1, 0, "no handles");
    let used = |place: &Place| segments.contains(&place.segment.0);
    assert!(reply.objects.iter().filter_map(|(_, place)| place.as_ref()).all(used));
}

/// A size of -1 says that there is no object.
fn check_place(found: &[u8], place: Option<&Place>) {
    let number = |at: usize| u64::from_le_bytes(found[at..at + 8].try_into().expect("8 bytes"));
    let segment = i32::from_le_bytes(found[..4].try_into().expect("4 bytes"));
    let Some(Place { segment: expected, offset_bytes, data_bytes, metadata_bytes, .. }) = place
    else {
        assert_eq!((segment, number(16)), (0, u64::MAX));
        return;
    };
    assert_eq!(segment, expected.0);
    assert_eq!((number(8), number(16)), (*offset_bytes, *data_bytes));
    assert_eq!((number(24), number(32)), (offset_bytes + data_bytes, *metadata_bytes));
    assert_eq!(found[40..44], [0; 4], "the device");
}

fn check_row(row: &Table<'_>, object: &ObjectInfo) {
    assert_eq!(row.blob(0), object.id.as_bytes());
    assert_eq!(row.i64(1).cast_unsigned(), object.data_bytes);
    assert_eq!(row.i64(2).cast_unsigned(), object.metadata_bytes);
    assert_eq!(u32::try_from(row.i32(3)), Ok(object.holders));
    assert_eq!(row.i64(4), object.create_time_s);
    let (construct_s, digest) = match &object.sealed {
        Some((seconds, digest)) => (i64::from(*seconds), &digest[..]),
        None => (-1, &[][..]),
    };
    assert_eq!((row.i64(5), row.blob(6)), (construct_s, digest));
}

fn number(status: Status) -> i32 {
    match status {
        Status::Ok => 0,
        Status::ObjectExists => 1,
        Status::ObjectNotFound => 2,
        Status::OutOfMemory => 3,
        Status::ObjectNotSealed => 4,
        Status::ObjectInUse => 5,
    }
}
