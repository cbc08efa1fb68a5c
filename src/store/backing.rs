//! The one door through which the store touches memory, and the stand-in for it in tests.

use crate::ids::{DeviceBlock, DeviceNum, Extent, SegmentId};
use crate::protocol::message::SegmentInfo;

/// Host memory, as the store needs it: at once, and without waiting for anything.
///
/// Whatever may take long is an [`super::Effect`] instead.
pub trait Backing {
    /// Adds a segment with room for at least `min_bytes` in one piece behind the first
    /// [`crate::allocator::FIRST_USABLE_BYTES`].
    ///
    /// # Errors
    ///
    /// If the system does not grant it; the backing has said why in the log.
    fn add_segment(&mut self, min_bytes: u64) -> Result<SegmentInfo, Unavailable>;

    /// Makes sure that memory stands behind an extent that is about to be handed to a client, so
    /// that the client cannot be killed for touching it. `claimed_bytes` is what must be able to be
    /// in memory at once: all that is handed out, this extent included, and what is free but was
    /// not given back.
    fn reserve(&mut self, extent: Extent, claimed_bytes: u64) -> Reservation;

    /// Writes bytes to an extent that has as many.
    ///
    /// # Errors
    ///
    /// If there is no memory behind the extent.
    fn write(&mut self, extent: Extent, bytes: &[u8]) -> Result<(), Unavailable>;

    /// Gives back the pages of an unused extent at once.
    fn release_pages(&mut self, extent: Extent);

    /// Memory of a device of exactly this size that is ready to be used, if there is any. If not,
    /// [`super::Effect::AllocateBlock`] asks for it.
    fn take_block(&mut self, _device: DeviceNum, _size_bytes: u64) -> Option<Box<DeviceBlock>> {
        None
    }

    /// Whether memory comes from where there is only so much of it. Pages are given back at once
    /// then: as long as that is under way, somebody could be refused for want of them.
    fn is_limited(&self) -> bool {
        false
    }
}

/// The system has no memory to give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unavailable;

/// The answer to [`Backing::reserve`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reservation {
    /// The extent can be used.
    Ready,
    /// It takes a while: [`super::Effect::Reserve`] does it.
    Slow,
    /// There is no room now; giving pages back may help.
    Full,
    /// There can be no room, even if everything else were given back.
    Never,
}

/// A backing of plain vectors, which fails on request.
#[derive(Debug, Default)]
pub struct TestBacking {
    segments: Vec<Vec<u8>>,
    /// The length of new segments, unless more is asked for.
    pub segment_bytes: u64,
    /// How many segments there may be.
    pub max_segments: usize,
    /// What [`Backing::reserve`] answers from now on; `None` stands for [`Reservation::Ready`].
    pub reservation: Option<Reservation>,
    /// Writes fail.
    pub fail_writes: bool,
}

impl TestBacking {
    /// A backing with segments of at least `segment_bytes`.
    #[must_use]
    pub fn new(segment_bytes: u64) -> Self {
        Self { segment_bytes, max_segments: 64, ..Self::default() }
    }

    /// The bytes of an extent.
    #[must_use]
    pub fn bytes(&mut self, extent: Extent) -> &mut [u8] {
        let index = usize::try_from(extent.segment.0 - 1).expect("segments count from 1");
        let at = |bytes: u64| usize::try_from(bytes).expect("tests are small");
        &mut self.segments[index][at(extent.offset_bytes)..at(extent.end_bytes())]
    }
}

impl Backing for TestBacking {
    fn add_segment(&mut self, min_bytes: u64) -> Result<SegmentInfo, Unavailable> {
        if self.segments.len() >= self.max_segments {
            return Err(Unavailable);
        }
        let wanted_bytes = min_bytes.checked_add(8192).ok_or(Unavailable)?;
        let range_bytes = self.segment_bytes.max(wanted_bytes);
        self.segments.push(vec![0; usize::try_from(range_bytes).map_err(|_| Unavailable)?]);
        let number = i32::try_from(self.segments.len()).expect("few segments");
        Ok(SegmentInfo { segment: SegmentId(number), range_bytes })
    }

    fn reserve(&mut self, _extent: Extent, _claimed_bytes: u64) -> Reservation {
        self.reservation.unwrap_or(Reservation::Ready)
    }

    fn write(&mut self, extent: Extent, bytes: &[u8]) -> Result<(), Unavailable> {
        if self.fail_writes {
            return Err(Unavailable);
        }
        self.bytes(extent).copy_from_slice(bytes);
        Ok(())
    }

    fn release_pages(&mut self, extent: Extent) {
        self.bytes(extent).fill(0);
    }
}
