//! All that the server does for a request but system calls: from the bytes of a frame to the bytes
//! of the reply.

use std::hint::black_box;

use plasma_store::ids::ObjectId;
use plasma_store::protocol::decode::{Scratch, decode};
use plasma_store::protocol::encode::Encoder;
use plasma_store::protocol::frame::{Frame, FrameBuffer};
use plasma_store::protocol::message::kind;

use crate::decode::{create, delete, get, release, seal};
use crate::frame::{LIMITS, framed};
use crate::store::{Fixture, as_reply};
use crate::{Bench, counted, object_id};

pub(crate) const BENCHES: &[Bench] = &[Bench { name: "whole/cycle", operations: 5000, run: cycle }];

/// How many ids take turns, so that their requests can be made beforehand.
const IDS: usize = 1000;

/// Create, seal, get, release and delete of one object, each in a frame of its own.
fn cycle(operations: usize) {
    let mut fixture = Fixture::new(64 << 20);
    let mut buffer = FrameBuffer::new(LIMITS);
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    let lives: Vec<[Vec<u8>; 5]> = (0..IDS).map(|number| life(&object_id(number))).collect();
    let mut live = |number: usize| {
        out.clear();
        for request in black_box(&lives[number % IDS]) {
            serve(request, &mut buffer, &mut fixture, &mut encoder, &mut out);
        }
        assert!(!black_box(&out).is_empty());
    };
    (0..2 * IDS).for_each(&mut live);
    counted(operations, live);
    assert_eq!(fixture.store.memory_bytes(), 0);
}

/// The frames of one object's requests.
fn life(id: &ObjectId) -> [Vec<u8>; 5] {
    let ids = std::slice::from_ref(id);
    [
        framed(kind::CREATE_REQUEST, &create(id)),
        framed(kind::SEAL_REQUEST, &seal(id)),
        framed(kind::GET_REQUEST, &get(ids)),
        framed(kind::RELEASE_REQUEST, &release(id)),
        framed(kind::DELETE_REQUEST, &delete(ids)),
    ]
}

fn serve(
    received: &[u8],
    buffer: &mut FrameBuffer,
    fixture: &mut Fixture,
    encoder: &mut Encoder,
    out: &mut Vec<u8>,
) {
    buffer.push(received);
    while let Some(frame) = buffer.peek().expect("the frames are right") {
        if let Frame::Message { kind, body, .. } = &frame {
            let mut scratch = Scratch::default();
            let body = &buffer.bytes()[body.clone()];
            let request =
                decode(*kind, body, 1 << 20, &mut scratch).expect("the requests are right");
            fixture.handle(&request);
        }
        buffer.consume(&frame);
        while let Some(effect) = fixture.store.next_effect() {
            if let Some(reply) = as_reply(&effect) {
                black_box(encoder.reply(reply, out));
            }
        }
    }
}
