//! Bytes to requests, replies and notices to bytes. No I/O, and no knowledge of the store.
//!
//! [`frame::FrameBuffer`] cuts a connection's bytes into frames, [`decode::decode`] turns a frame
//! into a [`message::Request`], and [`encode::Encoder`] turns a [`message::Reply`] or a
//! [`message::Notice`] into bytes. Nothing outside this module sees a flatbuffers type. Each way in
//! which a peer can break the rules is a [`violation::Violation`].
//!
//! `format/WIRE.md` describes the bytes themselves.

pub mod decode;
pub mod dialect;
pub mod encode;
pub mod frame;
#[rustfmt::skip]
#[allow(unsafe_code, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
mod generated;
pub mod message;
pub mod violation;
