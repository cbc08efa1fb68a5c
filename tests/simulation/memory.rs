//! The memory under the store: the crate's own stand-in, made to fail at random, and a record of
//! what the store asked of it.
//!
//! The record is how the model learns where objects are placed and which attempts failed, which it
//! does not predict. It checks each call instead: a place overlaps nothing that is in use, and the
//! store draws the right conclusions from the answers.

use plasma_store::ids::Extent;
use plasma_store::protocol::message::SegmentInfo;
use plasma_store::store::{Backing, Reservation, TestBacking, Unavailable};

/// One call of the store, with the answer that it got.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Call {
    AddSegment(u64, Option<SegmentInfo>),
    Reserve(Extent, u64, Reservation),
    Write(Extent, bool),
    ReleasePages(Extent),
}

/// In how many of a hundred cases something fails.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Faults {
    pub(crate) slow_reserve: u32,
    pub(crate) full_reserve: u32,
    pub(crate) never_reserve: u32,
    pub(crate) write: u32,
    pub(crate) segment: u32,
    /// The completions that follow: of slow reservations, of spills and of restores.
    pub(crate) reserve: u32,
    pub(crate) spill: u32,
    pub(crate) restore: u32,
}

/// Memory that fails at random.
pub(crate) struct Memory {
    pub(crate) inner: TestBacking,
    pub(crate) faults: Faults,
    pub(crate) calls: Vec<Call>,
    rng: fastrand::Rng,
}

impl Memory {
    pub(crate) fn new(segment_bytes: u64, max_segments: usize, seed: u64) -> Self {
        let mut inner = TestBacking::new(segment_bytes);
        inner.max_segments = max_segments;
        Self {
            inner,
            faults: Faults::default(),
            calls: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    fn happens(&mut self, percent: u32) -> bool {
        percent > 0 && self.rng.u32(0..100) < percent
    }
}

impl Backing for Memory {
    fn add_segment(&mut self, min_bytes: u64) -> Result<SegmentInfo, Unavailable> {
        let refused = self.happens(self.faults.segment);
        let result = if refused { Err(Unavailable) } else { self.inner.add_segment(min_bytes) };
        self.calls.push(Call::AddSegment(min_bytes, result.ok()));
        result
    }

    fn reserve(&mut self, extent: Extent, claimed_bytes: u64) -> Reservation {
        self.inner.reservation = if self.happens(self.faults.slow_reserve) {
            Some(Reservation::Slow)
        } else if self.happens(self.faults.full_reserve) {
            Some(Reservation::Full)
        } else if self.happens(self.faults.never_reserve) {
            Some(Reservation::Never)
        } else {
            None
        };
        let answer = self.inner.reserve(extent, claimed_bytes);
        self.calls.push(Call::Reserve(extent, claimed_bytes, answer));
        answer
    }

    fn write(&mut self, extent: Extent, bytes: &[u8]) -> Result<(), Unavailable> {
        self.inner.fail_writes = self.happens(self.faults.write);
        let result = self.inner.write(extent, bytes);
        self.calls.push(Call::Write(extent, result.is_ok()));
        result
    }

    fn release_pages(&mut self, extent: Extent) {
        self.inner.release_pages(extent);
        self.calls.push(Call::ReleasePages(extent));
    }
}

/// The contents of an object: bytes that its number tells.
pub(crate) fn pattern(fill: u64, size_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(size_bytes).expect("tests are small")];
    fastrand::Rng::with_seed(fill).fill(&mut bytes);
    bytes
}
