//! Replies and notices to bytes: one operation is one message with its header.

use std::hint::black_box;

use plasma_store::ids::{DeviceNum, ObjectId, SegmentId};
use plasma_store::protocol::encode::Encoder;
use plasma_store::protocol::message::{
    Access, GetReply, Notice, ObjectInfo, Place, Reply, SegmentInfo, Status,
};

use crate::{Bench, counted, object_id, object_ids};

pub(crate) const BENCHES: &[Bench] = &[
    bench("encode/connect", |n| {
        let capacity_bytes = 1 << 30;
        reply(n, &Reply::Connect { capacity_bytes });
    }),
    bench("encode/create", |n| {
        let id = object_id(0);
        let outcome = Ok((PLACE, Access::Segment(SEGMENT)));
        reply(n, &Reply::Create { id, outcome });
    }),
    bench("encode/create_refused", |n| {
        let id = object_id(0);
        let outcome = Err(Status::OutOfMemory);
        reply(n, &Reply::Create { id, outcome });
    }),
    bench("encode/create_and_seal", |n| {
        reply(n, &Reply::CreateAndSeal(Status::Ok));
    }),
    bench("encode/create_and_seal_batch", |n| {
        reply(n, &Reply::CreateAndSealBatch(Status::Ok));
    }),
    bench("encode/abort", |n| reply(n, &Reply::Abort(object_id(0)))),
    bench("encode/seal", |n| {
        reply(n, &Reply::Seal(object_id(0), Status::Ok));
    }),
    bench("encode/get_1", |n| reply(n, &get(&object_ids(1)))),
    bench("encode/get_1000", |n| reply(n, &get(&object_ids(1000)))),
    bench("encode/delete_1", |n| {
        let outcomes = [(object_id(0), Status::Ok)];
        reply(n, &Reply::Delete(outcomes.into_iter().collect()));
    }),
    bench("encode/contains", |n| {
        reply(n, &Reply::Contains(object_id(0), true));
    }),
    bench("encode/list_100", |n| reply(n, &list(100))),
    bench("encode/evict", |n| reply(n, &Reply::Evict { bytes: 1000 })),
    bench("encode/set_options", |n| {
        reply(n, &Reply::SetOptions(Status::Ok));
    }),
    bench("encode/debug_string", |n| {
        reply(n, &Reply::DebugString(vec![b'a'; 1000]));
    }),
    bench("encode/refresh_lru", |n| reply(n, &Reply::RefreshLru)),
    bench("encode/notice_sealed", |n| {
        let notice = Notice::Sealed {
            id: object_id(0),
            data_bytes: PLACE.data_bytes,
            metadata_bytes: PLACE.metadata_bytes,
            digest: [3; 8],
        };
        notification(n, &notice);
    }),
    bench("encode/notice_deleted", |n| {
        notification(n, &Notice::Deleted(object_id(0)));
    }),
];

const PLACE: Place = Place {
    segment: SegmentId(1),
    device: DeviceNum::HOST,
    offset_bytes: 4096,
    data_bytes: 1000,
    metadata_bytes: 10,
};

const SEGMENT: SegmentInfo = SegmentInfo { segment: SegmentId(1), range_bytes: 1 << 30 };

const fn bench(name: &'static str, run: fn(usize)) -> Bench {
    Bench { name, operations: 1000, run }
}

fn get(ids: &[ObjectId]) -> Reply {
    Reply::Get(GetReply {
        objects: ids.iter().map(|id| (*id, Some(PLACE))).collect(),
        segments: [SEGMENT].into_iter().collect(),
        handles: None,
    })
}

fn list(count: usize) -> Reply {
    let row = |id| ObjectInfo {
        id,
        data_bytes: PLACE.data_bytes,
        metadata_bytes: PLACE.metadata_bytes,
        holders: 1,
        create_time_s: 1_700_000_000,
        sealed: Some((1, [3; 8])),
    };
    Reply::List(object_ids(count).into_iter().map(row).collect())
}

fn reply(operations: usize, reply: &Reply) {
    run(operations, |encoder, out| {
        black_box(encoder.reply(black_box(reply), out));
    });
}

fn notification(operations: usize, notice: &Notice) {
    let notices = std::slice::from_ref(notice);
    run(operations, |encoder, out| {
        encoder.notification(black_box(notices), out);
    });
}

fn run(operations: usize, encode: impl Fn(&mut Encoder, &mut Vec<u8>)) {
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    encode(&mut encoder, &mut out);
    counted(operations, |_| {
        out.clear();
        encode(&mut encoder, &mut out);
        black_box(&out);
    });
    assert!(!out.is_empty());
}
