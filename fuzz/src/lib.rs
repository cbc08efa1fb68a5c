//! What the fuzz targets do with an input, apart from libFuzzer, so that an input can be run by an
//! ordinary program too.
//!
//! Each target is a module with a `run`, which takes the bytes of an input and panics if something
//! does not hold. The other modules are those of the simulation in `tests/`: its model of the store
//! serves here, too.

pub mod allocator;
pub mod frames;
pub mod requests;
pub mod store;

#[allow(dead_code, reason = "inputs choose what happens here")]
#[path = "../../tests/simulation/memory.rs"]
#[rustfmt::skip]
mod memory;
#[path = "../../tests/simulation/model/mod.rs"]
#[rustfmt::skip]
mod model;
#[allow(dead_code, reason = "inputs choose what happens here")]
#[path = "../../tests/simulation/operation.rs"]
#[rustfmt::skip]
mod operation;
#[allow(dead_code, reason = "inputs choose what happens here")]
#[path = "../../tests/simulation/plan.rs"]
#[rustfmt::skip]
mod plan;
