//! Bytes to requests: one operation is the body of one request, found valid and taken apart.

use std::hint::black_box;

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};
use plasma_store::ids::ObjectId;
use plasma_store::protocol::decode::{Scratch, decode};
use plasma_store::protocol::message::kind;

use crate::{Bench, counted, object_id, object_ids, wire};

pub(crate) const BENCHES: &[Bench] = &[
    bench("decode/disconnect", |n| run(n, kind::DISCONNECT, &[])),
    bench("decode/connect", |n| run(n, kind::CONNECT_REQUEST, &[])),
    bench("decode/create", |n| {
        run(n, kind::CREATE_REQUEST, &create(&object_id(0)));
    }),
    bench("decode/create_and_seal", |n| {
        run(n, kind::CREATE_AND_SEAL_REQUEST, &create_and_seal());
    }),
    bench("decode/create_and_seal_batch_10", |n| {
        let body = create_and_seal_batch(10);
        run(n, kind::CREATE_AND_SEAL_BATCH_REQUEST, &body);
    }),
    bench("decode/abort", |n| run(n, kind::ABORT_REQUEST, &abort())),
    bench("decode/seal", |n| {
        run(n, kind::SEAL_REQUEST, &seal(&object_id(0)));
    }),
    bench("decode/get_1", |n| {
        run(n, kind::GET_REQUEST, &get(&object_ids(1)));
    }),
    bench("decode/get_1000", |n| {
        run(n, kind::GET_REQUEST, &get(&object_ids(1000)));
    }),
    bench("decode/release", |n| {
        run(n, kind::RELEASE_REQUEST, &release(&object_id(0)));
    }),
    bench("decode/delete_1", |n| {
        run(n, kind::DELETE_REQUEST, &delete(&object_ids(1)));
    }),
    bench("decode/contains", |n| {
        run(n, kind::CONTAINS_REQUEST, &contains());
    }),
    bench("decode/list", |n| run(n, kind::LIST_REQUEST, &[])),
    bench("decode/evict", |n| run(n, kind::EVICT_REQUEST, &evict())),
    bench("decode/subscribe", |n| run(n, kind::SUBSCRIBE_REQUEST, &[])),
    bench("decode/set_options", |n| {
        run(n, kind::SET_OPTIONS_REQUEST, &set_options());
    }),
    bench("decode/debug_string", |n| {
        run(n, kind::DEBUG_STRING_REQUEST, &[]);
    }),
    bench("decode/refresh_lru_1", |n| {
        run(n, kind::REFRESH_LRU_REQUEST, &refresh_lru());
    }),
];

const fn bench(name: &'static str, run: fn(usize)) -> Bench {
    Bench { name, operations: 1000, run }
}

fn run(operations: usize, kind: i64, body: &[u8]) {
    counted(operations, |_| {
        let mut scratch = Scratch::default();
        let request = decode(black_box(kind), black_box(body), 1 << 20, &mut scratch);
        assert!(black_box(&request).is_ok());
    });
}

// ---- bodies as clients write them ----

type Builder = FlatBufferBuilder<'static>;
type Bytes = WIPOffset<Vector<'static, u8>>;
type ByteVectors = WIPOffset<Vector<'static, ForwardsUOffset<Vector<'static, u8>>>>;

pub(crate) fn create(id: &ObjectId) -> Vec<u8> {
    body(|builder| {
        let args = wire::CreateRequestArgs {
            object_id: Some(bytes(builder, &id.0)),
            evict_if_full: true,
            data_size: 1000,
            metadata_size: 10,
            device_num: 0,
        };
        wire::CreateRequest::create(builder, &args)
    })
}

fn create_and_seal() -> Vec<u8> {
    body(|builder| {
        let args = wire::CreateAndSealRequestArgs {
            object_id: Some(bytes(builder, &object_id(0).0)),
            evict_if_full: true,
            data: Some(bytes(builder, &[1; 1000])),
            metadata: Some(bytes(builder, &[2; 10])),
            digest: Some(bytes(builder, &[3; 8])),
        };
        wire::CreateAndSealRequest::create(builder, &args)
    })
}

fn create_and_seal_batch(count: usize) -> Vec<u8> {
    body(|builder| {
        let args = wire::CreateAndSealBatchRequestArgs {
            object_ids: Some(byte_vectors(builder, object_ids(count).iter().map(|id| &id.0))),
            evict_if_full: true,
            data: Some(byte_vectors(builder, vec![[1; 1000]; count].iter())),
            metadata: Some(byte_vectors(builder, vec![[2; 10]; count].iter())),
            digest: Some(byte_vectors(builder, vec![[3; 8]; count].iter())),
        };
        wire::CreateAndSealBatchRequest::create(builder, &args)
    })
}

fn abort() -> Vec<u8> {
    body(|builder| {
        let object_id = Some(bytes(builder, &object_id(0).0));
        wire::AbortRequest::create(builder, &wire::AbortRequestArgs { object_id })
    })
}

pub(crate) fn seal(id: &ObjectId) -> Vec<u8> {
    body(|builder| {
        let args = wire::SealRequestArgs {
            object_id: Some(bytes(builder, &id.0)),
            digest: Some(bytes(builder, &[3; 8])),
        };
        wire::SealRequest::create(builder, &args)
    })
}

pub(crate) fn get(ids: &[ObjectId]) -> Vec<u8> {
    body(|builder| {
        let args = wire::GetRequestArgs {
            object_ids: Some(byte_vectors(builder, ids.iter().map(|id| &id.0))),
            timeout_ms: -1,
        };
        wire::GetRequest::create(builder, &args)
    })
}

pub(crate) fn release(id: &ObjectId) -> Vec<u8> {
    body(|builder| {
        let object_id = Some(bytes(builder, &id.0));
        wire::ReleaseRequest::create(builder, &wire::ReleaseRequestArgs { object_id })
    })
}

pub(crate) fn delete(ids: &[ObjectId]) -> Vec<u8> {
    body(|builder| {
        let args = wire::DeleteRequestArgs {
            count: i32::try_from(ids.len()).expect("few ids"),
            object_ids: Some(byte_vectors(builder, ids.iter().map(|id| &id.0))),
        };
        wire::DeleteRequest::create(builder, &args)
    })
}

fn contains() -> Vec<u8> {
    body(|builder| {
        let object_id = Some(bytes(builder, &object_id(0).0));
        wire::ContainsRequest::create(builder, &wire::ContainsRequestArgs { object_id })
    })
}

fn evict() -> Vec<u8> {
    body(|builder| {
        let args = wire::EvictRequestArgs { num_bytes: 1000 };
        wire::EvictRequest::create(builder, &args)
    })
}

fn set_options() -> Vec<u8> {
    body(|builder| {
        let args = wire::SetOptionsRequestArgs {
            client_name: Some(bytes(builder, b"a client")),
            output_memory_quota: 1000,
        };
        wire::SetOptionsRequest::create(builder, &args)
    })
}

fn refresh_lru() -> Vec<u8> {
    body(|builder| {
        let object_ids = Some(byte_vectors(builder, [&object_id(0).0].into_iter()));
        wire::RefreshLruRequest::create(builder, &wire::RefreshLruRequestArgs { object_ids })
    })
}

fn body<T>(root: impl FnOnce(&mut Builder) -> WIPOffset<T>) -> Vec<u8> {
    let mut builder = Builder::new();
    let root = root(&mut builder);
    builder.finish_minimal(root);
    builder.finished_data().to_vec()
}

fn bytes(builder: &mut Builder, bytes: &[u8]) -> Bytes {
    // With a final zero, since clients write what they call strings.
    WIPOffset::new(builder.create_byte_string(bytes).value())
}

fn byte_vectors<'a, const N: usize>(
    builder: &mut Builder,
    vectors: impl Iterator<Item = &'a [u8; N]>,
) -> ByteVectors {
    let written: Vec<Bytes> = vectors.map(|vector| bytes(builder, vector)).collect();
    builder.create_vector(&written)
}
