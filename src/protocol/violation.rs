//! Every way in which a peer can break the protocol.
//!
//! The reaction is the same for all: the connection of that peer is closed, with one line in the
//! log that names the rule, and nobody else notices. There is no error reply in this protocol, and
//! an official client turns a closed connection into an ordinary exception, while anything
//! unexpected in a reply makes it abort its process.

use std::fmt;

use super::dialect::Older;
use crate::ids::ObjectId;

/// A rule of the protocol that a peer broke. Displayed as the reason in the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Violation {
    /// The first field of a frame must be 0.
    Version(i64),
    /// No request has this number.
    UnknownMessage(i64),
    /// A body's length is negative or above the limit for its kind.
    BodyLength {
        /// The number of the message.
        kind: i64,
        /// The length that its header states.
        length: i64,
    },
    /// A body is not a valid flatbuffer of its kind, or a field that it needs is missing.
    Body {
        /// The number of the message.
        kind: i64,
        /// What the verifier says.
        reason: String,
    },
    /// The peer speaks a dialect that is not served.
    OlderDialect(Older),
    /// An object id must be 20 bytes long.
    IdLength(usize),
    /// A digest must be 8 bytes long.
    DigestLength(usize),
    /// The vectors of a batch, or the count and the ids of a delete, must agree.
    Count {
        /// The number of the message.
        kind: i64,
        /// What should have been.
        expected: usize,
        /// And what was.
        found: i64,
    },
    /// A request may name so many objects.
    TooManyIds {
        /// The number of the message.
        kind: i64,
        /// What it names.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Only so many gets of a connection may wait, and for so many ids.
    TooManyGets {
        /// How many wait already.
        gets: usize,
        /// How many ids they would name with one more.
        ids: usize,
    },
    /// Only what is unsealed can be sealed.
    SealOfSealed(ObjectId),
    /// Only the creator of an unsealed object can abort it.
    AbortOfForeign(ObjectId),
    /// The peer asks faster than it reads the answers.
    Unread {
        /// What waits for the peer.
        queued_bytes: usize,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "protocol version {version} instead of 0"),
            Self::UnknownMessage(kind) => write!(f, "there is no request number {kind}"),
            Self::BodyLength { kind, length } => {
                write!(f, "a body of {length} bytes is not allowed for request {kind}")
            }
            Self::Body { kind, reason } => {
                write!(f, "the body of request {kind} is malformed: {reason}")
            }
            Self::OlderDialect(older) => {
                write!(f, "the client speaks {older}, which is not served")
            }
            Self::IdLength(length) => write!(f, "an object id of {length} bytes instead of 20"),
            Self::DigestLength(length) => write!(f, "a digest of {length} bytes instead of 8"),
            Self::Count { kind, expected, found } => {
                write!(f, "request {kind} counts {found} entries where it has {expected}")
            }
            Self::TooManyIds { kind, found, limit } => {
                write!(f, "request {kind} names {found} objects; the limit is {limit}")
            }
            Self::TooManyGets { gets, ids } => {
                write!(f, "a get beside {gets} that wait, for {ids} ids in all")
            }
            Self::SealOfSealed(id) => write!(f, "seal of object {id}, which is sealed"),
            Self::AbortOfForeign(id) => {
                write!(f, "abort of object {id}, which the client is not creating")
            }
            Self::Unread { queued_bytes } => {
                write!(f, "{queued_bytes} bytes of replies wait to be read")
            }
        }
    }
}
