//! Bodies of requests from arbitrary values, with a builder of their own: their shapes stand here
//! once more, apart from the code that is generated from the schema.

use arbitrary::Arbitrary;
use flatbuffers::{FlatBufferBuilder, Push, VOffsetT, Vector, WIPOffset};
use plasma_store::ids::{Digest, ObjectId};
use plasma_store::protocol::message::{CreateRequest, GetTimeout, NewObject, Request, kind};
use plasma_store::protocol::violation::Violation;

/// A request may name so many objects.
pub(super) const MAX_IDS: usize = 200;

/// A list has at most so many entries.
const MAX_ENTRIES: usize = 300;

/// What a request says. Everything may be missing.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) enum Shape {
    /// One of those without fields, with a body that nobody looks at.
    Bare(u8, Vec<u8>),
    Create {
        id: Option<Blob>,
        evict_if_full: Option<bool>,
        data_bytes: Option<Size>,
        metadata_bytes: Option<Size>,
        device_num: Option<Device>,
    },
    CreateAndSeal {
        id: Option<Blob>,
        evict_if_full: Option<bool>,
        data: Option<Blob>,
        metadata: Option<Blob>,
        digest: Option<Blob>,
    },
    Batch {
        ids: Option<List>,
        evict_if_full: Option<bool>,
        data: Option<List>,
        metadata: Option<List>,
        digests: Option<List>,
    },
    Abort(Option<Blob>),
    Seal {
        id: Option<Blob>,
        digest: Option<Blob>,
    },
    Get {
        ids: Option<List>,
        timeout_ms: Option<i64>,
    },
    Release(Option<Blob>),
    Delete {
        count: Count,
        ids: Option<List>,
    },
    Contains(Option<Blob>),
    Evict(Option<u64>),
    SetOptions {
        name: Option<Blob>,
        quota_bytes: Option<i64>,
    },
    RefreshLru(Option<List>),
    /// A batch in which everything fits together.
    GoodBatch {
        evict_if_full: bool,
        objects: Vec<(u8, u8, u8)>,
    },
}

/// Some bytes.
#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct Blob {
    length: Length,
    fill: u8,
    place: Sharing,
}

#[derive(Arbitrary, Clone, Copy, PartialEq, Eq, Debug)]
enum Sharing {
    Own,
    OwnAgain,
    OwnOnceMore,
    /// It is the bytes that were written last, at the same place.
    Last,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Length {
    /// As long as it has to be.
    Right,
    RightAgain,
    Short(u8),
    Long(u16),
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct List {
    blobs: Vec<Blob>,
    /// The whole list once more, so many times.
    repeat: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Size {
    Small(u8),
    Large(u16),
    Any(u64),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Device {
    Host,
    HostAgain,
    Any(i32),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Count {
    Right,
    Off(i8),
    Any(i32),
    Missing,
}

impl Size {
    fn get(self) -> u64 {
        match self {
            Self::Small(bytes) => bytes.into(),
            Self::Large(bytes) => bytes.into(),
            Self::Any(bytes) => bytes,
        }
    }
}

impl Device {
    fn get(self) -> i32 {
        match self {
            Self::Host | Self::HostAgain => 0,
            Self::Any(number) => number,
        }
    }
}

/// What bytes stand for.
#[derive(Clone, Copy)]
enum Role {
    Id,
    Digest,
    Payload,
}

impl Blob {
    fn bytes(&self, role: Role) -> Vec<u8> {
        let right = match role {
            Role::Id => ObjectId::SIZE_BYTES,
            Role::Digest => size_of::<Digest>(),
            Role::Payload => usize::from(self.fill) * 3,
        };
        let length = match self.length {
            Length::Right | Length::RightAgain => right,
            Length::Short(length) => length.into(),
            Length::Long(length) => usize::from(length % 5000),
        };
        let mut bytes = vec![self.fill; length];
        // There are few ids, so that requests meet each other's objects.
        if let (Role::Id, Some(last)) = (role, bytes.last_mut()) {
            *last = self.fill % 16;
            bytes[..length - 1].fill(0x70);
        }
        bytes
    }
}

/// A request's body, and what must come of it.
pub(crate) struct Body {
    pub(crate) kind: i64,
    pub(crate) bytes: Vec<u8>,
    /// The rules that it breaks, one of which must be named.
    pub(crate) faults: Vec<Violation>,
    content: Content,
}

/// What was put in, without what was missing.
#[derive(Default)]
struct Content {
    ids: Vec<Vec<u8>>,
    data: Vec<Vec<u8>>,
    metadata: Vec<Vec<u8>>,
    digests: Vec<Vec<u8>>,
    flag: bool,
    numbers: [u64; 2],
    signed: i64,
    device_num: i32,
}

/// Where bytes lie that were written.
type Place = WIPOffset<Vector<'static, u8>>;

struct Writer {
    builder: FlatBufferBuilder<'static>,
    last: Option<(Vec<u8>, Place)>,
    faults: Vec<Violation>,
    kind: i64,
    content: Content,
}

/// A field of a table.
enum Field {
    Place(WIPOffset<flatbuffers::UnionWIPOffset>),
    Bool(bool),
    U64(u64),
    I64(i64),
    I32(i32),
}

impl Writer {
    fn blob(&mut self, blob: &Blob, role: Role) -> (Vec<u8>, Place) {
        if let Some((bytes, place)) = self.last.as_ref().filter(|_| blob.place == Sharing::Last) {
            return (bytes.clone(), *place);
        }
        let bytes = blob.bytes(role);
        // With and without the final zero of a string.
        let place = if blob.fill.is_multiple_of(2) {
            WIPOffset::new(self.builder.create_byte_string(&bytes).value())
        } else {
            self.builder.create_vector(&bytes)
        };
        self.last = Some((bytes.clone(), place));
        (bytes, place)
    }

    /// Notes what is wrong with bytes in this role.
    fn check(&mut self, bytes: &[u8], role: Role) {
        match role {
            Role::Id if bytes.len() != ObjectId::SIZE_BYTES => {
                self.faults.push(Violation::IdLength(bytes.len()));
            }
            Role::Digest if bytes.len() != size_of::<Digest>() => {
                self.faults.push(Violation::DigestLength(bytes.len()));
            }
            _ => {}
        }
    }

    /// A field that must be there.
    fn missing(&mut self) {
        self.faults.push(Violation::Body { kind: self.kind, reason: String::new() });
    }

    /// Writes the bytes of a required field.
    fn one(&mut self, blob: Option<&Blob>, role: Role) -> (Vec<u8>, Option<Field>) {
        let Some(blob) = blob else {
            self.missing();
            return (Vec::new(), None);
        };
        let (bytes, place) = self.blob(blob, role);
        self.check(&bytes, role);
        (bytes, Some(Field::Place(WIPOffset::new(place.value()))))
    }

    fn id(&mut self, blob: Option<&Blob>) -> Option<Field> {
        let (bytes, field) = self.one(blob, Role::Id);
        self.content.ids.push(bytes);
        field
    }

    fn digest(&mut self, blob: Option<&Blob>) -> Option<Field> {
        let (bytes, field) = self.one(blob, Role::Digest);
        self.content.digests.push(bytes);
        field
    }

    fn data(&mut self, blob: Option<&Blob>) -> Option<Field> {
        let (bytes, field) = self.one(blob, Role::Payload);
        self.content.data.push(bytes);
        field
    }

    fn metadata(&mut self, blob: Option<&Blob>) -> Option<Field> {
        let (bytes, field) = self.one(blob, Role::Payload);
        self.content.metadata.push(bytes);
        field
    }

    fn list(&mut self, list: Option<&List>, role: Role) -> (Vec<Vec<u8>>, Option<Field>) {
        let Some(list) = list else {
            return (Vec::new(), None);
        };
        let (mut contents, mut places) = (Vec::new(), Vec::new());
        'full: for _ in 0..=list.repeat {
            for blob in &list.blobs {
                if contents.len() == MAX_ENTRIES {
                    break 'full;
                }
                let (bytes, place) = self.blob(blob, role);
                self.check(&bytes, role);
                contents.push(bytes);
                places.push(place);
            }
        }
        let place = self.builder.create_vector(&places);
        (contents, Some(Field::Place(WIPOffset::new(place.value()))))
    }

    fn required_list(&mut self, list: Option<&List>, role: Role) -> (Vec<Vec<u8>>, Option<Field>) {
        if list.is_none() {
            self.missing();
        }
        self.list(list, role)
    }

    /// Nobody looks at ids that are too many.
    fn check_ids(&mut self, found: usize) {
        if found > MAX_IDS {
            self.outrank(Violation::TooManyIds { kind: self.kind, found, limit: MAX_IDS });
        }
    }

    /// Nobody sees what else is wrong, unless a field is missing, which is seen first.
    fn outrank(&mut self, fault: Violation) {
        self.faults.retain(|other| matches!(other, Violation::Body { .. }));
        self.faults.push(fault);
    }

    fn id_list(&mut self, list: Option<&List>) -> Option<Field> {
        let (ids, field) = self.required_list(list, Role::Id);
        self.check_ids(ids.len());
        self.content.ids = ids;
        field
    }

    fn finish(mut self, fields: &[Option<Field>]) -> Body {
        let table = self.builder.start_table();
        for (index, field) in (0..).zip(fields) {
            match field {
                None => {}
                Some(Field::Place(place)) => self.push(index, *place),
                Some(Field::Bool(value)) => self.push(index, *value),
                Some(Field::U64(value)) => self.push(index, *value),
                Some(Field::I64(value)) => self.push(index, *value),
                Some(Field::I32(value)) => self.push(index, *value),
            }
        }
        let root = self.builder.end_table(table);
        self.builder.finish_minimal(root);
        let bytes = self.builder.finished_data().to_vec();
        // The verifier looks first: what it rejects nobody else sees.
        let is_body = |fault: &Violation| matches!(fault, Violation::Body { .. });
        if self.faults.iter().any(is_body) {
            self.faults.retain(is_body);
        }
        Body { kind: self.kind, bytes, faults: self.faults, content: self.content }
    }

    fn push<T: Push>(&mut self, index: VOffsetT, value: T) {
        self.builder.push_slot_always(4 + 2 * index, value);
    }
}

impl Body {
    pub(crate) fn new(shape: &Shape) -> Self {
        let mut writer = Writer {
            builder: FlatBufferBuilder::new(),
            last: None,
            faults: Vec::new(),
            kind: kind_of(shape),
            content: Content::default(),
        };
        if let Some(fields) = write_lists(&mut writer, shape) {
            return writer.finish(&fields);
        }
        let fields = match shape {
            Shape::Bare(_, bytes) => {
                let Writer { kind, faults, content, .. } = writer;
                return Self { kind, bytes: bytes.clone(), faults, content };
            }
            Shape::Create { id, evict_if_full, data_bytes, metadata_bytes, device_num } => {
                let content = &mut writer.content;
                let sizes = [data_bytes, metadata_bytes].map(|size| size.map(Size::get));
                content.flag = evict_if_full.unwrap_or_default();
                content.numbers = sizes.map(Option::unwrap_or_default);
                content.device_num = device_num.map_or(0, Device::get);
                let [data_bytes, metadata_bytes] = sizes.map(|size| size.map(Field::U64));
                vec![
                    writer.id(id.as_ref()),
                    evict_if_full.map(Field::Bool),
                    data_bytes,
                    metadata_bytes,
                    device_num.map(|device| Field::I32(device.get())),
                ]
            }
            Shape::CreateAndSeal { id, evict_if_full, data, metadata, digest } => {
                writer.content.flag = evict_if_full.unwrap_or_default();
                vec![
                    writer.id(id.as_ref()),
                    evict_if_full.map(Field::Bool),
                    writer.data(data.as_ref()),
                    writer.metadata(metadata.as_ref()),
                    writer.digest(digest.as_ref()),
                ]
            }
            Shape::Seal { id, digest } => {
                vec![writer.id(id.as_ref()), writer.digest(digest.as_ref())]
            }
            Shape::Abort(id) | Shape::Release(id) | Shape::Contains(id) => {
                vec![writer.id(id.as_ref())]
            }
            Shape::Evict(bytes) => {
                writer.content.numbers[0] = bytes.unwrap_or_default();
                vec![bytes.map(Field::U64)]
            }
            Shape::SetOptions { name, quota_bytes } => {
                writer.content.signed = quota_bytes.unwrap_or_default();
                vec![writer.data(name.as_ref()), quota_bytes.map(Field::I64)]
            }
            _ => unreachable!("written above"),
        };
        writer.finish(&fields)
    }

    /// Calls `with` with what the body must be decoded to. It must break no rule.
    pub(crate) fn with_request(&self, with: impl FnOnce(&Request<'_>)) {
        let content = &self.content;
        let ids: Vec<ObjectId> = content.ids.iter().map(|bytes| id(bytes)).collect();
        let bytes_of = |list: &'_ [Vec<u8>], index: usize| list[index].clone();
        let (data, metadata) = (&content.data, &content.metadata);
        let objects: Vec<NewObject<'_>> = match self.kind {
            kind::CREATE_AND_SEAL_REQUEST | kind::CREATE_AND_SEAL_BATCH_REQUEST => (0..ids.len())
                .map(|index| NewObject {
                    id: ids[index],
                    data: &data[index],
                    metadata: &metadata[index],
                    digest: digest(&bytes_of(&content.digests, index)),
                })
                .collect(),
            _ => Vec::new(),
        };
        let evict_if_full = content.flag;
        with(&match self.kind {
            kind::DISCONNECT => Request::Disconnect,
            kind::CONNECT_REQUEST => Request::Connect,
            kind::LIST_REQUEST => Request::List,
            kind::SUBSCRIBE_REQUEST => Request::Subscribe,
            kind::DEBUG_STRING_REQUEST => Request::DebugString,
            kind::CREATE_REQUEST => Request::Create(CreateRequest {
                id: ids[0],
                evict_if_full,
                data_bytes: content.numbers[0],
                metadata_bytes: content.numbers[1],
                device_num: content.device_num,
            }),
            kind::CREATE_AND_SEAL_REQUEST => {
                Request::CreateAndSeal { evict_if_full, object: objects[0] }
            }
            kind::CREATE_AND_SEAL_BATCH_REQUEST => {
                Request::CreateAndSealBatch { evict_if_full, objects: &objects }
            }
            kind::ABORT_REQUEST => Request::Abort(ids[0]),
            kind::SEAL_REQUEST => Request::Seal(ids[0], digest(&content.digests[0])),
            kind::GET_REQUEST => {
                let timeout = match content.signed {
                    -1 => GetTimeout::Never,
                    ..=0 => GetTimeout::Now,
                    wait => GetTimeout::Milliseconds(wait.cast_unsigned()),
                };
                Request::Get { ids: &ids, timeout }
            }
            kind::RELEASE_REQUEST => Request::Release(ids[0]),
            kind::DELETE_REQUEST => Request::Delete(&ids),
            kind::CONTAINS_REQUEST => Request::Contains(ids[0]),
            kind::EVICT_REQUEST => {
                // It is signed, and nobody evicts less than nothing.
                let bytes = content.numbers[0];
                Request::Evict { bytes: if bytes > i64::MAX as u64 { 0 } else { bytes } }
            }
            kind::SET_OPTIONS_REQUEST => {
                Request::SetOptions { name: &data[0], quota_bytes: content.signed }
            }
            kind::REFRESH_LRU_REQUEST => Request::RefreshLru(&ids),
            other => unreachable!("there is no request number {other}"),
        });
    }
}

/// Writes those with lists.
fn write_lists(writer: &mut Writer, shape: &Shape) -> Option<Vec<Option<Field>>> {
    let fields = match shape {
        Shape::Batch { ids, evict_if_full, data, metadata, digests } => {
            let lists = [ids, data, metadata, digests].map(Option::as_ref);
            write_batch(writer, lists, *evict_if_full)
        }
        Shape::GoodBatch { evict_if_full, objects } => {
            let blobs = |fill: fn(&(u8, u8, u8)) -> u8| {
                let blob = |fill| Blob { length: Length::Right, fill, place: Sharing::Own };
                List { blobs: objects.iter().map(fill).map(blob).collect(), repeat: 0 }
            };
            let (ids, data, metadata) =
                (blobs(|object| object.0), blobs(|object| object.1), blobs(|object| object.2));
            let lists = [&ids, &data, &metadata, &ids].map(Some);
            write_batch(writer, lists, Some(*evict_if_full))
        }
        Shape::Get { ids, timeout_ms } => {
            writer.content.signed = timeout_ms.unwrap_or_default();
            vec![writer.id_list(ids.as_ref()), timeout_ms.map(Field::I64)]
        }
        Shape::Delete { count, ids } => {
            let (ids, field) = writer.list(ids.as_ref(), Role::Id);
            let right = i32::try_from(ids.len()).expect("lists are short");
            writer.check_ids(ids.len());
            writer.content.ids = ids;
            let count = match count {
                Count::Right => Some(right),
                Count::Off(difference) => Some(right + i32::from(*difference)),
                Count::Any(count) => Some(*count),
                Count::Missing => None,
            };
            let found = count.unwrap_or_default();
            if found != right {
                let (kind, expected) = (writer.kind, writer.content.ids.len());
                writer.outrank(Violation::Count { kind, expected, found: found.into() });
            }
            vec![count.map(Field::I32), field]
        }
        Shape::RefreshLru(ids) => vec![writer.id_list(ids.as_ref())],
        _ => return None,
    };
    Some(fields)
}

fn write_batch(
    writer: &mut Writer,
    [ids, data, metadata, digests]: [Option<&List>; 4],
    evict_if_full: Option<bool>,
) -> Vec<Option<Field>> {
    let (ids, ids_field) = writer.required_list(ids, Role::Id);
    let (data, data_field) = writer.required_list(data, Role::Payload);
    let (metadata, metadata_field) = writer.required_list(metadata, Role::Payload);
    let (digests, digests_field) = writer.required_list(digests, Role::Digest);
    let wrong = [&data, &metadata, &digests].into_iter().find(|list| list.len() != ids.len());
    if let Some(wrong) = wrong {
        let found = i64::try_from(wrong.len()).expect("lists are short");
        writer.outrank(Violation::Count { kind: writer.kind, expected: ids.len(), found });
    }
    writer.check_ids(ids.len());
    let flag = evict_if_full.unwrap_or_default();
    writer.content = Content { ids, data, metadata, digests, flag, ..Content::default() };
    vec![ids_field, evict_if_full.map(Field::Bool), data_field, metadata_field, digests_field]
}

fn kind_of(shape: &Shape) -> i64 {
    match shape {
        Shape::Bare(choice, _) => match choice % 5 {
            0 => kind::DISCONNECT,
            1 => kind::CONNECT_REQUEST,
            2 => kind::LIST_REQUEST,
            3 => kind::SUBSCRIBE_REQUEST,
            _ => kind::DEBUG_STRING_REQUEST,
        },
        Shape::Create { .. } => kind::CREATE_REQUEST,
        Shape::CreateAndSeal { .. } => kind::CREATE_AND_SEAL_REQUEST,
        Shape::Batch { .. } | Shape::GoodBatch { .. } => kind::CREATE_AND_SEAL_BATCH_REQUEST,
        Shape::Abort(_) => kind::ABORT_REQUEST,
        Shape::Seal { .. } => kind::SEAL_REQUEST,
        Shape::Get { .. } => kind::GET_REQUEST,
        Shape::Release(_) => kind::RELEASE_REQUEST,
        Shape::Delete { .. } => kind::DELETE_REQUEST,
        Shape::Contains(_) => kind::CONTAINS_REQUEST,
        Shape::Evict(_) => kind::EVICT_REQUEST,
        Shape::SetOptions { .. } => kind::SET_OPTIONS_REQUEST,
        Shape::RefreshLru(_) => kind::REFRESH_LRU_REQUEST,
    }
}

fn id(bytes: &[u8]) -> ObjectId {
    ObjectId(bytes.try_into().expect("it breaks no rule"))
}

fn digest(bytes: &[u8]) -> Digest {
    bytes.try_into().expect("it breaks no rule")
}
