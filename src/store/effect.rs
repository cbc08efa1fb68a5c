//! What the store wants done.

use crate::allocator::Allocation;
use crate::ids::{ClientId, ExternalKey, SegmentId};
use crate::protocol::message::{Notice, Reply};
use crate::protocol::violation::Violation;

/// Something that the shell has to do, in the order in which it is handed out.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Send this to the client.
    Reply {
        /// Who gets it.
        client: ClientId,
        /// What to send.
        reply: Reply,
    },
    /// Send the descriptor of a segment, right behind the reply before it.
    SendSegment {
        /// Who gets it.
        client: ClientId,
        /// The segment.
        segment: SegmentId,
    },
    /// Send one frame to subscribers.
    Notify {
        /// A new subscriber that is told what there is; all subscribers if there is none.
        only: Option<ClientId>,
        /// What the frame says, in order. May be empty.
        notices: Vec<Notice>,
    },
    /// The client broke a rule: say so in the log and close its connection.
    Close {
        /// Who broke it.
        client: ClientId,
        /// Which rule.
        violation: Violation,
    },
    /// The client's requests can be taken up again, see [`super::Progress`].
    Resume(ClientId),
    /// Make sure that memory stands behind the bytes of a new object, then call
    /// [`super::Store::handle_reserved`].
    Reserve {
        /// To be handed back.
        transfer: TransferId,
        /// Where the object will be.
        allocation: Allocation,
    },
    /// Copy an object to the external store, then call [`super::Store::handle_spilled`].
    Spill {
        /// To be handed back.
        transfer: TransferId,
        /// Under which name to store it.
        key: ExternalKey,
        /// Where its data and metadata are; `None` if it is empty.
        allocation: Option<Allocation>,
    },
    /// Copy an object back from the external store, then call [`super::Store::handle_restored`].
    Restore {
        /// To be handed back.
        transfer: TransferId,
        /// The name that it is stored under.
        key: ExternalKey,
        /// Where its data and metadata go; `None` if it is empty.
        allocation: Option<Allocation>,
    },
    /// The external store need not keep this any longer. Nothing is called back.
    Forget(ExternalKey),
    /// Give the pages of an unused stretch back to the system, then call
    /// [`super::Store::handle_pages_released`].
    ReleasePages(Allocation),
}

/// Something slow that the store waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TransferId(pub(super) usize);
