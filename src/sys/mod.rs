//! What has to be asked of the operating system: shared memory, descriptors over
//! sockets, and processes at their other ends.
//!
//! This is one of the few places that may contain `unsafe`. Each use says why safe code will not do
//! and why it is sound.

pub mod arena;
pub mod process;
pub mod scm;
