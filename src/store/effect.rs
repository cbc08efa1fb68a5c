//! What the store wants done.

use crate::allocator::Allocation;
use crate::ids::{ClientId, DeviceBlock, DeviceNum, ExternalKey, SegmentId};
use crate::protocol::message::{Notice, ObjectInfo, Reply};
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
    /// Keep these rows for the list that the next [`Reply::List`] to the client ends.
    ListPart {
        /// Who gets it.
        client: ClientId,
        /// The rows that come next.
        rows: Vec<ObjectInfo>,
        /// About how many rows the list will have.
        expected: usize,
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
    /// Allocate memory of a device for a new object, then call
    /// [`super::Store::handle_allocated`].
    AllocateBlock {
        /// To be handed back.
        transfer: TransferId,
        /// Which device.
        device: DeviceNum,
        /// How much, rounded up already.
        size_bytes: u64,
    },
    /// Nothing is in this memory of a device any more.
    FreeBlock {
        /// The memory.
        block: Box<DeviceBlock>,
        /// Another process may still have it open, and nobody can tell when it no longer has.
        may_be_open: bool,
    },
    /// Copy an object out of the memory of a device, then call [`super::Store::handle_spilled`].
    SpillBlock {
        /// To be handed back.
        transfer: TransferId,
        /// Under which name to keep it.
        key: ExternalKey,
        /// The device.
        device: DeviceNum,
        /// Where it is; `None` if it is empty.
        block: Option<Box<DeviceBlock>>,
        /// How many bytes of the block are the object.
        contents_bytes: u64,
        /// Keep it in host memory; if not, in the external store at once.
        is_parked: bool,
    },
    /// Copy an object back into the memory of its device, then call
    /// [`super::Store::handle_block_restored`].
    RestoreBlock {
        /// To be handed back.
        transfer: TransferId,
        /// Under which name it is kept.
        key: ExternalKey,
        /// The device.
        device: DeviceNum,
        /// Where it goes; if there is none yet, memory of `size_bytes` has to be allocated first.
        block: Option<Box<DeviceBlock>>,
        /// How much memory it takes up on the device; 0 if it is empty.
        size_bytes: u64,
        /// How many bytes of that are the object.
        contents_bytes: u64,
    },
    /// Move what was copied out of a device from host memory to the external store. If that fails,
    /// call [`super::Store::handle_copy_lost`].
    Demote {
        /// The device.
        device: DeviceNum,
        /// Under which name it is kept.
        key: ExternalKey,
    },
    /// What was copied out of a device need not be kept any longer. Nothing is called back.
    ForgetCopy {
        /// The device.
        device: DeviceNum,
        /// Under which name it is kept.
        key: ExternalKey,
    },
    /// The client is about to open memory of a device: take note of its process, and when the
    /// connection is gone and that process has ended too, call
    /// [`super::Store::handle_process_ended`].
    WatchProcess(ClientId),
}

/// Something slow that the store waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TransferId(pub(super) usize);
