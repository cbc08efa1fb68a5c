//! The object store behind `plasma-store-server`: a replacement for the shared-memory object store
//! that Apache Arrow shipped as Plasma up to release 11.0.0.
//!
//! The crate is arranged so that decisions and doing stay apart. [`store`] is a state machine that
//! knows neither sockets nor clocks nor mappings; [`allocator`] and [`eviction`] are the arithmetic
//! it rests on; [`protocol`] turns bytes into requests and replies into bytes. The `sys` and
//! `server` modules, present with the features of the same purpose, connect these to the machine.
//! `docs/ARCHITECTURE.md` follows one request through all of them.

#![deny(unsafe_code)]

pub mod allocator;
pub mod config;
#[cfg(feature = "server")]
pub mod device;
pub mod eviction;
pub mod external;
mod format_g;
pub mod ids;
#[cfg(feature = "server")]
pub mod logging;
pub mod protocol;
#[cfg(feature = "server")]
pub mod server;
pub mod store;
#[cfg(feature = "os")]
#[allow(unsafe_code)]
pub mod sys;
