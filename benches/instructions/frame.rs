//! A stream of bytes to frames: one operation is what arrives with one or more reads.

use std::hint::black_box;

use plasma_store::protocol::frame::{BodyLimits, FrameBuffer, put_header};
use plasma_store::protocol::message::kind;

use crate::decode::{get, release};
use crate::{Bench, counted, object_id, object_ids};

pub(crate) const BENCHES: &[Bench] = &[
    Bench { name: "frame/one", operations: 1000, run: |n| run(n, 1, &small()) },
    Bench { name: "frame/burst_of_64", operations: 100, run: |n| run(n, 64, &small().repeat(64)) },
    Bench {
        name: "frame/get_1000_in_pieces_of_4096",
        operations: 100,
        run: |n| run(n, 1, &framed(kind::GET_REQUEST, &get(&object_ids(1000)))),
    },
];

pub(crate) const LIMITS: BodyLimits =
    BodyLimits { small_bytes: 1 << 20, list_bytes: 1 << 20, payload_bytes: 1 << 20 };

pub(crate) fn framed(kind: i64, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_header(&mut bytes, kind, body.len());
    bytes.extend_from_slice(body);
    bytes
}

fn small() -> Vec<u8> {
    framed(kind::RELEASE_REQUEST, &release(&object_id(0)))
}

/// Receives `stream`, which has `frames` frames, again and again.
fn run(operations: usize, frames: usize, stream: &[u8]) {
    let mut buffer = FrameBuffer::new(LIMITS);
    let mut receive = || {
        let mut cut = 0;
        for piece in black_box(stream).chunks(4096) {
            buffer.push(piece);
            while let Some(frame) = buffer.peek().expect("the frames are right") {
                black_box(buffer.consume(black_box(&frame)));
                cut += 1;
            }
        }
        assert_eq!(cut, frames);
    };
    receive();
    counted(operations, |_| receive());
}
