//! Names the release of the schema compiler, so that cargo fetches its source; `cargo xtask codegen`
//! builds it from there. Nothing uses this crate.
