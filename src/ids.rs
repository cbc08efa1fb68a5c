//! The small types that name things throughout the crate.
//!
//! Each is a distinct type, so that swapped arguments do not compile. None of them owns anything.

use std::fmt;
use std::hash::{Hash, Hasher};

/// The 20 bytes under which clients know an object.
///
/// Ids are arbitrary bytes and often not random at all: users derive them from names, text prefixes
/// and counters, so nothing may assume that any part of an id is well distributed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectId(pub [u8; ObjectId::SIZE_BYTES]);

impl ObjectId {
    /// The length of every object id, in bytes. Fixed by the protocol.
    pub const SIZE_BYTES: usize = 20;

    /// The id in `bytes`, or `None` if they are not exactly [`ObjectId::SIZE_BYTES`] long.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes of the id.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// All of the id, without the length that the derived implementation would put in front: in three
/// numbers, which hashers take in faster than a string.
impl Hash for ObjectId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (numbers, rest) = self.0.as_chunks::<8>();
        for number in numbers {
            state.write_u64(u64::from_le_bytes(*number));
        }
        let mut last = [0; 4];
        last.copy_from_slice(rest);
        state.write_u32(u32::from_le_bytes(last));
    }
}

/// Lower-case hexadecimal, as the original server prints ids in its log.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

/// The eight opaque bytes that a client hands over when it seals an object.
///
/// The store keeps and forwards them; it never computes or checks a digest.
pub type Digest = [u8; 8];

/// One connection of a client.
///
/// Connections come and go and their slots are used again, so an id carries a generation: an event
/// or effect that still names an earlier connection can never reach its successor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientId {
    /// The slot in the table of connections.
    pub index: u32,
    /// How many connections had used the slot before this one.
    pub generation: u32,
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// A shared-memory file, as clients know it.
///
/// Clients keep mappings under this number for as long as they live, so a number is never used for
/// a second segment. Numbers start at 1: 0 marks a missing object on the wire, -1 a device object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SegmentId(pub i32);

impl SegmentId {
    /// Stands where there is no segment: for objects in the memory of a device.
    pub const NONE: Self = Self(-1);
}

/// Which memory an object lives in: 0 for the host's, k for that of CUDA device k-1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DeviceNum(pub u16);

impl DeviceNum {
    /// Host memory.
    pub const HOST: Self = Self(0);

    /// The number as an index into a vector.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The CUDA device; `None` for host memory.
    #[must_use]
    pub fn ordinal(self) -> Option<usize> {
        self.index().checked_sub(1)
    }
}

/// Memory of a device that other processes can open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceBlock {
    /// The device.
    pub device: DeviceNum,
    /// Where it is in the device's memory. Names the block for as long as it is allocated.
    pub address: u64,
    /// How long it is: what was asked for, rounded up.
    pub size_bytes: u64,
    /// By which other processes open it.
    pub handle: [u8; Self::HANDLE_BYTES],
}

impl DeviceBlock {
    /// The length of a handle. Fixed by CUDA.
    pub const HANDLE_BYTES: usize = 64;
}

/// A stretch of bytes in a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extent {
    /// The segment that the stretch lies in.
    pub segment: SegmentId,
    /// Where it starts, in bytes from the start of the segment's file.
    pub offset_bytes: u64,
    /// How long it is.
    pub size_bytes: u64,
}

impl Extent {
    /// The offset of the first byte behind the extent.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }
}

/// The place of an object in the store's table, and its name in the eviction queues.
///
/// Slots are small and dense, and are used again once their object is gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

impl Slot {
    /// The slot as an index into a vector.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name of an object in an external store.
///
/// The number makes it unique in the life of a server: an object that is deleted and created again
/// under its old id is another object, and what is still under way for the first must not touch it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExternalKey {
    /// The object's id.
    pub id: ObjectId,
    /// Which of the objects that had this id.
    pub number: u64,
}
