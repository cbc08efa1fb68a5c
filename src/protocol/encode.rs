//! From replies and notices to bytes.

use std::fmt;

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};
use smallvec::SmallVec;

use super::frame::put_header;
use super::generated as wire;
use super::message::{
    Access, DeviceHandle, GetReply, Notice, ObjectInfo, Place, Reply, SegmentInfo, Status, kind,
};
use crate::ids::{ObjectId, SegmentId};

/// Clients map this many bytes fewer than they are told: the original keeps a machine word of its
/// own at the end of each segment.
const SEGMENT_GAP_BYTES: u64 = 8;

/// The `data_size` of an object that is not available: -1.
const NOT_AVAILABLE: u64 = u64::MAX;

/// A message that is longer takes the encoder's buffer along: it is not copied then, and does not
/// take up memory for ever.
const KEPT_BUFFER_BYTES: usize = 1 << 20;

/// Writes messages. One encoder serves all connections, so that its buffer is used again.
#[derive(Default)]
pub struct Encoder {
    builder: FlatBufferBuilder<'static>,
}

/// An object of a list or a notification that was written.
type Row = WIPOffset<wire::ObjectInfo<'static>>;

/// What a row takes up in a message, with its place in the list, at most. In bytes.
const ROW_BYTES: usize = 128;

/// The same for a position of a get.
const POSITION_BYTES: usize = 84;

/// The same for an id of a delete.
const OUTCOME_BYTES: usize = 40;

/// A list that is written in parts.
pub struct ListWriter {
    encoder: Encoder,
    rows: Vec<Row>,
}

impl fmt::Debug for ListWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListWriter").field("rows", &self.rows.len()).finish_non_exhaustive()
    }
}

impl ListWriter {
    /// A list of about so many rows. Memory for them is set aside, so that it need not be moved,
    /// but not touched before it is used.
    #[must_use]
    pub fn new(expected_rows: usize) -> Self {
        let builder = FlatBufferBuilder::with_capacity(expected_rows * ROW_BYTES);
        Self { encoder: Encoder { builder }, rows: Vec::with_capacity(expected_rows) }
    }

    /// Appends rows.
    pub fn push(&mut self, objects: &[ObjectInfo]) {
        self.rows.extend(objects.iter().map(|object| self.encoder.row(object)));
    }

    /// The reply. Its header is appended to `out`. Returned are a buffer and where in it the rest
    /// of the reply begins.
    pub fn finish(mut self, out: &mut Vec<u8>) -> (Vec<u8>, usize) {
        let kind = self.encoder.list(&self.rows);
        let (buffer, start) = self.encoder.builder.collapse();
        put_header(out, kind, buffer.len() - start);
        (buffer, start)
    }
}

/// A byte vector that is being written.
type Written<T> = WIPOffset<Vector<'static, T>>;

impl Encoder {
    /// An encoder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a reply, with its header, to `out`. Of a large one only the header is appended, and
    /// returned are a buffer and where in it the rest begins.
    #[must_use]
    pub fn reply(&mut self, reply: &Reply, out: &mut Vec<u8>) -> Option<(Vec<u8>, usize)> {
        let expected_bytes = match reply {
            Reply::Get(reply) => reply.objects.len() * POSITION_BYTES,
            Reply::List(objects) => objects.len() * ROW_BYTES,
            Reply::Delete(outcomes) => outcomes.len() * OUTCOME_BYTES,
            Reply::DebugString(text) => text.len(),
            _ => 0,
        };
        if expected_bytes > KEPT_BUFFER_BYTES {
            // It need not be moved as it grows, and is not touched before it is used.
            self.builder = FlatBufferBuilder::with_capacity(expected_bytes + KEPT_BUFFER_BYTES);
        }
        self.builder.reset();
        let kind = match reply {
            Reply::Connect { capacity_bytes } => {
                let memory_capacity = to_signed(*capacity_bytes);
                let args = wire::ConnectReplyArgs { memory_capacity };
                let root = wire::ConnectReply::create(&mut self.builder, &args);
                self.finish(root, kind::CONNECT_REPLY)
            }
            Reply::Create { id, outcome } => self.create(id, outcome),
            Reply::CreateAndSeal(status) => {
                let args = wire::CreateAndSealReplyArgs { error: error(*status) };
                let root = wire::CreateAndSealReply::create(&mut self.builder, &args);
                self.finish(root, kind::CREATE_AND_SEAL_REPLY)
            }
            Reply::CreateAndSealBatch(status) => {
                let args = wire::CreateAndSealBatchReplyArgs { error: error(*status) };
                let root = wire::CreateAndSealBatchReply::create(&mut self.builder, &args);
                self.finish(root, kind::CREATE_AND_SEAL_BATCH_REPLY)
            }
            Reply::Abort(id) => {
                let args = wire::AbortReplyArgs { object_id: Some(self.bytes(&id.0)) };
                let root = wire::AbortReply::create(&mut self.builder, &args);
                self.finish(root, kind::ABORT_REPLY)
            }
            Reply::Seal(id, status) => {
                let object_id = Some(self.bytes(&id.0));
                let args = wire::SealReplyArgs { object_id, error: error(*status) };
                let root = wire::SealReply::create(&mut self.builder, &args);
                self.finish(root, kind::SEAL_REPLY)
            }
            Reply::Get(reply) => self.get(reply),
            Reply::Delete(outcomes) => self.delete(outcomes),
            Reply::Contains(id, sealed) => {
                let object_id = Some(self.bytes(&id.0));
                let args = wire::ContainsReplyArgs { object_id, has_object: i32::from(*sealed) };
                let root = wire::ContainsReply::create(&mut self.builder, &args);
                self.finish(root, kind::CONTAINS_REPLY)
            }
            Reply::List(objects) => {
                let rows: Vec<_> = objects.iter().map(|object| self.row(object)).collect();
                self.list(&rows)
            }
            Reply::Evict { bytes } => {
                let args = wire::EvictReplyArgs { num_bytes: *bytes };
                let root = wire::EvictReply::create(&mut self.builder, &args);
                self.finish(root, kind::EVICT_REPLY)
            }
            Reply::SetOptions(status) => {
                let args = wire::SetOptionsReplyArgs { error: error(*status) };
                let root = wire::SetOptionsReply::create(&mut self.builder, &args);
                self.finish(root, kind::SET_OPTIONS_REPLY)
            }
            Reply::DebugString(text) => {
                let args = wire::GetDebugStringReplyArgs { debug_string: Some(self.bytes(text)) };
                let root = wire::GetDebugStringReply::create(&mut self.builder, &args);
                self.finish(root, kind::DEBUG_STRING_REPLY)
            }
            Reply::RefreshLru => {
                let args = wire::RefreshLruReplyArgs {};
                let root = wire::RefreshLruReply::create(&mut self.builder, &args);
                self.finish(root, kind::REFRESH_LRU_REPLY)
            }
        };
        let body = self.builder.finished_data();
        put_header(out, kind, body.len());
        if body.len() > KEPT_BUFFER_BYTES {
            return Some(std::mem::take(&mut self.builder).collapse());
        }
        out.extend_from_slice(body);
        None
    }

    /// Appends a frame for a notification socket to `out`: the length, then the notices. It has no
    /// version and no kind.
    pub fn notification(&mut self, notices: &[Notice], out: &mut Vec<u8>) {
        self.builder.reset();
        let rows: Vec<_> = notices.iter().map(|notice| self.notice(notice)).collect();
        let object_info = Some(self.builder.create_vector(&rows));
        let args = wire::PlasmaNotificationArgs { object_info };
        let root = wire::PlasmaNotification::create(&mut self.builder, &args);
        self.finish(root, 0);
        let body = self.builder.finished_data();
        // Clients read it in the order of their host, which is this one.
        out.extend_from_slice(&(body.len() as u64).to_le_bytes());
        out.extend_from_slice(body);
    }

    /// Ends the buffer with its root table. Hands `kind` through.
    fn finish<T>(&mut self, root: WIPOffset<T>, kind: i64) -> i64 {
        self.builder.finish_minimal(root);
        kind
    }

    fn create(&mut self, id: &ObjectId, outcome: &Result<(Place, Access), Status>) -> i64 {
        let mut args = wire::CreateReplyArgs::default();
        // On an error the place is there too, but all zero.
        let mut place_or_zeros = wire::ObjectSpec::default();
        match outcome {
            Ok((place, access)) => {
                place_or_zeros = spec(place);
                match access {
                    Access::Segment(info) => {
                        args.store_fd = info.segment.0;
                        args.mmap_size = mmap_size(info);
                    }
                    Access::Device(handle) => {
                        args.store_fd = SegmentId::NONE.0;
                        args.ipc_handle = Some(self.handle(handle));
                    }
                }
            }
            Err(status) => args.error = error(*status),
        }
        args.object_id = Some(self.bytes(&id.0));
        args.plasma_object = Some(&place_or_zeros);
        let root = wire::CreateReply::create(&mut self.builder, &args);
        self.finish(root, kind::CREATE_REPLY)
    }

    fn get(&mut self, reply: &GetReply) -> i64 {
        let ids = self.ids(reply.objects.iter().map(|(id, _)| id));
        let specs =
            reply.objects.iter().map(|(_, place)| place.as_ref().map_or_else(missing, spec));
        let specs = self.builder.create_vector_from_iter(specs);
        let fds = reply.segments.iter().map(|info| info.segment.0);
        let fds = self.builder.create_vector_from_iter(fds);
        let sizes = self.builder.create_vector_from_iter(reply.segments.iter().map(mmap_size));
        let handles: Vec<_> = match &reply.handles {
            Some(handles) => handles.iter().map(|handle| self.handle(handle)).collect(),
            None => Vec::new(),
        };
        let handles = self.builder.create_vector(&handles);
        let args = wire::GetReplyArgs {
            object_ids: Some(ids),
            plasma_objects: Some(specs),
            store_fds: Some(fds),
            mmap_sizes: Some(sizes),
            handles: Some(handles),
        };
        let root = wire::GetReply::create(&mut self.builder, &args);
        self.finish(root, kind::GET_REPLY)
    }

    /// The size of the object, and behind it what opens its memory, if it has any.
    fn handle(&mut self, handle: &DeviceHandle) -> WIPOffset<wire::CudaHandle<'static>> {
        let mut bytes = handle.size_bytes.to_le_bytes().to_vec();
        bytes.extend(handle.handle.iter().flat_map(|handle| handle.iter()));
        let bytes = Some(self.builder.create_vector(&bytes));
        wire::CudaHandle::create(&mut self.builder, &wire::CudaHandleArgs { handle: bytes })
    }

    fn delete(&mut self, outcomes: &[(ObjectId, Status)]) -> i64 {
        let ids = self.ids(outcomes.iter().map(|(id, _)| id));
        let errors = outcomes.iter().map(|(_, status)| error(*status).0);
        let args = wire::DeleteReplyArgs {
            count: i32::try_from(outcomes.len()).unwrap_or(i32::MAX),
            object_ids: Some(ids),
            errors: Some(self.builder.create_vector_from_iter(errors)),
        };
        let root = wire::DeleteReply::create(&mut self.builder, &args);
        self.finish(root, kind::DELETE_REPLY)
    }

    fn list(&mut self, rows: &[Row]) -> i64 {
        let args = wire::ListReplyArgs { objects: Some(self.builder.create_vector(rows)) };
        let root = wire::ListReply::create(&mut self.builder, &args);
        self.finish(root, kind::LIST_REPLY)
    }

    fn row(&mut self, object: &ObjectInfo) -> Row {
        // The client tells by the digest whether the object is sealed.
        let (duration, digest) = match &object.sealed {
            Some((seconds, digest)) => (i64::from(*seconds), &digest[..]),
            None => (-1, &[][..]),
        };
        let args = wire::ObjectInfoArgs {
            object_id: Some(self.bytes(&object.id.0)),
            data_size: to_signed(object.data_bytes),
            metadata_size: to_signed(object.metadata_bytes),
            ref_count: i32::try_from(object.holders).unwrap_or(i32::MAX),
            create_time: object.create_time_s,
            construct_duration: duration,
            digest: Some(self.bytes(digest)),
            is_deletion: false,
        };
        wire::ObjectInfo::create(&mut self.builder, &args)
    }

    fn notice(&mut self, notice: &Notice) -> WIPOffset<wire::ObjectInfo<'static>> {
        let args = match notice {
            Notice::Sealed { id, data_bytes, metadata_bytes, digest } => wire::ObjectInfoArgs {
                object_id: Some(self.bytes(&id.0)),
                data_size: to_signed(*data_bytes),
                metadata_size: to_signed(*metadata_bytes),
                digest: Some(self.bytes(digest)),
                ..wire::ObjectInfoArgs::default()
            },
            Notice::Deleted(id) => wire::ObjectInfoArgs {
                object_id: Some(self.bytes(&id.0)),
                is_deletion: true,
                ..wire::ObjectInfoArgs::default()
            },
        };
        wire::ObjectInfo::create(&mut self.builder, &args)
    }

    fn ids<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a ObjectId>,
    ) -> Written<ForwardsUOffset<Vector<'static, u8>>> {
        let written: SmallVec<[_; 4]> = ids.map(|id| self.bytes(&id.0)).collect();
        self.builder.create_vector(&written)
    }

    /// Bytes with a final zero behind them, as the original writes what it calls strings.
    fn bytes(&mut self, bytes: &[u8]) -> Written<u8> {
        WIPOffset::new(self.builder.create_byte_string(bytes).value())
    }
}

fn error(status: Status) -> wire::PlasmaError {
    match status {
        Status::Ok => wire::PlasmaError::OK,
        Status::ObjectExists => wire::PlasmaError::ObjectExists,
        Status::ObjectNotFound => wire::PlasmaError::ObjectNotFound,
        Status::OutOfMemory => wire::PlasmaError::OutOfMemory,
        Status::ObjectNotSealed => wire::PlasmaError::ObjectNotSealed,
        Status::ObjectInUse => wire::PlasmaError::ObjectInUse,
    }
}

fn spec(place: &Place) -> wire::ObjectSpec {
    wire::ObjectSpec::new(
        place.segment.0,
        place.offset_bytes,
        place.data_bytes,
        place.offset_bytes + place.data_bytes,
        place.metadata_bytes,
        place.device.0.into(),
    )
}

fn missing() -> wire::ObjectSpec {
    wire::ObjectSpec::new(0, 0, NOT_AVAILABLE, 0, 0, 0)
}

fn mmap_size(info: &SegmentInfo) -> i64 {
    to_signed(info.range_bytes + SEGMENT_GAP_BYTES)
}

/// Every size in the store fits: it was checked when the object came in.
fn to_signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
