//! The tables of `format/plasma.fbs`.

mod plasma_generated;

pub(crate) use plasma_generated::*;
