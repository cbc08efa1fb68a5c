//! Names the release of the schema compiler, so that cargo fetches its source, which
//! `cargo xtask codegen` builds. Nothing uses this crate.
