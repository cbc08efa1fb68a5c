//! From the body of a frame to a request.

use flatbuffers::{
    Follow, ForwardsUOffset, InvalidFlatbuffer, Vector, Verifiable, VerifierOptions,
};
use smallvec::SmallVec;

use super::generated as wire;
use super::message::{CreateRequest, GetTimeout, NewObject, Request, kind};
use super::violation::Violation;
use crate::ids::{Digest, ObjectId};

/// Where a request's lists are put, so that ordinary ones need no memory from the heap.
#[derive(Debug, Default)]
pub struct Scratch<'a> {
    ids: SmallVec<[ObjectId; 4]>,
    objects: Vec<NewObject<'a>>,
}

/// A vector of byte vectors, as the schema cannot say it.
type Bytes<'a> = Vector<'a, ForwardsUOffset<Vector<'a, u8>>>;

/// Decodes the body of a request, which may name up to `max_ids` objects. What it lists lies in
/// `scratch`.
///
/// # Errors
///
/// If the body is not a valid flatbuffer of its kind or breaks a rule of the protocol.
pub fn decode<'a>(
    kind: i64,
    body: &'a [u8],
    max_ids: usize,
    scratch: &'a mut Scratch<'a>,
) -> Result<Request<'a>, Violation> {
    match kind {
        kind::DISCONNECT => Ok(Request::Disconnect),
        // The bodies of these have no fields, and clients may leave them out.
        kind::CONNECT_REQUEST => Ok(Request::Connect),
        kind::LIST_REQUEST => Ok(Request::List),
        kind::SUBSCRIBE_REQUEST => Ok(Request::Subscribe),
        kind::DEBUG_STRING_REQUEST => Ok(Request::DebugString),
        kind::CREATE_REQUEST => create(body),
        kind::CREATE_AND_SEAL_REQUEST => create_and_seal(body),
        kind::CREATE_AND_SEAL_BATCH_REQUEST => {
            let evict_if_full = create_and_seal_batch(body, max_ids, &mut scratch.objects)?;
            Ok(Request::CreateAndSealBatch { evict_if_full, objects: &scratch.objects })
        }
        kind::ABORT_REQUEST => {
            let table = table::<wire::AbortRequest>(kind, body)?;
            Ok(Request::Abort(object_id(table.object_id())?))
        }
        kind::SEAL_REQUEST => {
            let table = table::<wire::SealRequest>(kind, body)?;
            Ok(Request::Seal(object_id(table.object_id())?, digest(table.digest())?))
        }
        kind::GET_REQUEST => {
            let table = table::<wire::GetRequest>(kind, body)?;
            let timeout = GetTimeout::from_wire(table.timeout_ms());
            object_ids(kind, table.object_ids(), max_ids, &mut scratch.ids)?;
            Ok(Request::Get { ids: &scratch.ids, timeout })
        }
        kind::RELEASE_REQUEST => {
            let table = table::<wire::ReleaseRequest>(kind, body)?;
            Ok(Request::Release(object_id(table.object_id())?))
        }
        kind::DELETE_REQUEST => {
            delete(body, max_ids, &mut scratch.ids)?;
            Ok(Request::Delete(&scratch.ids))
        }
        kind::CONTAINS_REQUEST => {
            let table = table::<wire::ContainsRequest>(kind, body)?;
            Ok(Request::Contains(object_id(table.object_id())?))
        }
        kind::EVICT_REQUEST => {
            let bytes = table::<wire::EvictRequest>(kind, body)?.num_bytes();
            // A negative number of the client's, which evicts nothing.
            let bytes = if i64::try_from(bytes).is_ok() { bytes } else { 0 };
            Ok(Request::Evict { bytes })
        }
        kind::SET_OPTIONS_REQUEST => {
            let table = table::<wire::SetOptionsRequest>(kind, body)?;
            let name = table.client_name().bytes();
            Ok(Request::SetOptions { name, quota_bytes: table.output_memory_quota() })
        }
        kind::REFRESH_LRU_REQUEST => {
            let table = table::<wire::RefreshLruRequest>(kind, body)?;
            object_ids(kind, table.object_ids(), max_ids, &mut scratch.ids)?;
            Ok(Request::RefreshLru(&scratch.ids))
        }
        _ => Err(Violation::UnknownMessage(kind)),
    }
}

fn create(body: &[u8]) -> Result<Request<'_>, Violation> {
    let table = table::<wire::CreateRequest>(kind::CREATE_REQUEST, body)?;
    Ok(Request::Create(CreateRequest {
        id: object_id(table.object_id())?,
        evict_if_full: table.evict_if_full(),
        data_bytes: table.data_size(),
        metadata_bytes: table.metadata_size(),
        device_num: table.device_num(),
    }))
}

fn create_and_seal(body: &[u8]) -> Result<Request<'_>, Violation> {
    let table = table::<wire::CreateAndSealRequest>(kind::CREATE_AND_SEAL_REQUEST, body)?;
    let object = NewObject {
        id: object_id(table.object_id())?,
        data: table.data().bytes(),
        metadata: table.metadata().bytes(),
        digest: digest(table.digest())?,
    };
    Ok(Request::CreateAndSeal { evict_if_full: table.evict_if_full(), object })
}

/// Collects the objects of a batch, and returns whether others may be evicted for them.
fn create_and_seal_batch<'a>(
    body: &'a [u8],
    max_ids: usize,
    objects: &mut Vec<NewObject<'a>>,
) -> Result<bool, Violation> {
    let kind = kind::CREATE_AND_SEAL_BATCH_REQUEST;
    let table = table::<wire::CreateAndSealBatchRequest>(kind, body)?;
    let ids = table.object_ids();
    let (data, metadata, digests) = (table.data(), table.metadata(), table.digest());
    check_ids(kind, ids.len(), max_ids)?;
    for vector in [&data, &metadata, &digests] {
        check_count(kind, ids.len(), i64::try_from(vector.len()).unwrap_or(i64::MAX))?;
    }
    objects.reserve_exact(ids.len());
    for index in 0..ids.len() {
        objects.push(NewObject {
            id: object_id(ids.get(index))?,
            data: data.get(index).bytes(),
            metadata: metadata.get(index).bytes(),
            digest: digest(digests.get(index))?,
        });
    }
    Ok(table.evict_if_full())
}

fn delete(body: &[u8], max_ids: usize, ids: &mut SmallVec<[ObjectId; 4]>) -> Result<(), Violation> {
    let table = table::<wire::DeleteRequest>(kind::DELETE_REQUEST, body)?;
    let vector = table.object_ids();
    let count = vector.map_or(0, |vector| vector.len());
    check_count(kind::DELETE_REQUEST, count, i64::from(table.count()))?;
    vector.map_or(Ok(()), |vector| object_ids(kind::DELETE_REQUEST, vector, max_ids, ids))
}

fn check_count(kind: i64, expected: usize, found: i64) -> Result<(), Violation> {
    if usize::try_from(found) == Ok(expected) {
        Ok(())
    } else {
        Err(Violation::Count { kind, expected, found })
    }
}

fn check_ids(kind: i64, found: usize, limit: usize) -> Result<(), Violation> {
    if found > limit { Err(Violation::TooManyIds { kind, found, limit }) } else { Ok(()) }
}

/// The root table of a body, once all of it was found valid.
fn table<'a, T>(kind: i64, body: &'a [u8]) -> Result<T::Inner, Violation>
where
    T: Follow<'a> + Verifiable + 'a,
{
    let options = VerifierOptions {
        max_depth: 8,
        // No request has more than one table, and its size is limited by its frame.
        max_tables: 1,
        ..VerifierOptions::default()
    };
    flatbuffers::root_with_opts::<T>(&options, body)
        .map_err(|error| Violation::Body { kind, reason: describe(&error) })
}

/// The verifier's finding in one line, without its trace through the tables.
fn describe(error: &InvalidFlatbuffer) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

fn object_id(bytes: Vector<'_, u8>) -> Result<ObjectId, Violation> {
    ObjectId::from_slice(bytes.bytes()).ok_or(Violation::IdLength(bytes.len()))
}

fn object_ids(
    kind: i64,
    vector: Bytes<'_>,
    max_ids: usize,
    ids: &mut SmallVec<[ObjectId; 4]>,
) -> Result<(), Violation> {
    check_ids(kind, vector.len(), max_ids)?;
    ids.reserve(vector.len());
    vector.iter().try_for_each(|bytes| {
        ids.push(object_id(bytes)?);
        Ok(())
    })
}

fn digest(bytes: Vector<'_, u8>) -> Result<Digest, Violation> {
    bytes.bytes().try_into().map_err(|_| Violation::DigestLength(bytes.len()))
}
