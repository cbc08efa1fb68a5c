//! External stores: where objects go that have to leave memory.
//!
//! An external store may be slow, so it is used by a thread of its own, one call after the other.

mod hashtable;

use std::ffi::OsStr;
use std::fmt;

use crate::ids::ExternalKey;

pub use self::hashtable::Hashtable;

/// A place for objects outside of shared memory.
///
/// Data and metadata travel as one piece, in this order; the store itself knows where one ends.
pub trait ExternalStore: Send {
    /// Keeps the contents of an object under a key that was not used before.
    ///
    /// # Errors
    ///
    /// If they could not be kept. The object stays in memory then.
    fn put(&mut self, key: ExternalKey, contents: Vec<u8>) -> Result<(), ExternalError>;

    /// The contents that were put under a key.
    ///
    /// # Errors
    ///
    /// If they cannot be had. The object counts as not available then, and may be asked for again.
    fn get(&mut self, key: ExternalKey) -> Result<Vec<u8>, ExternalError>;

    /// Drops what is kept under a key, if anything is.
    ///
    /// # Errors
    ///
    /// If that failed; the contents are of no use any more, but take up room.
    fn remove(&mut self, key: ExternalKey) -> Result<(), ExternalError>;
}

/// What went wrong, in words for the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalError(pub String);

impl fmt::Display for ExternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Opens the external store of an endpoint `NAME:REST`; `None` if there is none of that name.
#[must_use]
pub fn open(name: &str, _rest: &OsStr) -> Option<Box<dyn ExternalStore>> {
    match name {
        // As in the original, the rest of the endpoint means nothing to it.
        "hashtable" => Some(Box::new(Hashtable::default())),
        _ => None,
    }
}
