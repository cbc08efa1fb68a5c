//! Memory for the store: segments as large as need be, never a signal for want of pages, and GPUs.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use super::gpus::Gpus;
use super::log_limit::LogLimit;
use crate::config;
use crate::ids::{DeviceBlock, DeviceNum, Extent, SegmentId};
use crate::protocol::message::SegmentInfo;
use crate::store::{Backing, Reservation, Unavailable};
use crate::sys::arena::{Arena, ArenaKind, Segment};

/// A segment's range is this many times the capacity where that costs nothing, so that an object
/// that fits the count finds a place in one piece. Fewer are tried if the system refuses, for
/// instance because of a limit on file sizes, and at last no more than the capacity.
const RANGE_FACTORS: [u64; 3] = [4, 2, 1];

/// Each object may waste up to this many bytes of the range, by alignment.
const WASTE_PER_OBJECT_BYTES: u64 = 64;

/// Ranges are multiples of this: the size of the huge pages that are most common.
const RANGE_UNIT_BYTES: u64 = 2 << 20;

/// What is reserved on the spot. More would stop everybody for longer than a millisecond or two.
const MAX_SWIFT_RESERVE_BYTES: u64 = 2 << 20;

/// Reservations are in whole pages.
const PAGE_BYTES: u64 = 4096;

/// The segments of a server.
#[derive(Debug)]
pub(super) struct Host {
    arena: Arena,
    segments: Vec<Arc<Segment>>,
    pub(super) gpus: Gpus,
    capacity_bytes: u64,
    /// What objects may take up, where that is less.
    most_bytes: Option<u64>,
    waste_bytes: u64,
    max_segments: usize,
    warnings: LogLimit,
}

impl Host {
    /// The memory for a server, of which objects may take up no more than `most_bytes` if that is
    /// less than the capacity.
    pub(super) fn new(config: &config::Config, most_bytes: Option<u64>) -> Self {
        let kind = match &config.backing {
            config::Backing::Memfd => ArenaKind::Memfd,
            config::Backing::HugeMemfd(size) => ArenaKind::HugeMemfd(size.bytes()),
            config::Backing::Directory(directory) => ArenaKind::Directory(directory.clone()),
            config::Backing::HugeDirectory(directory) => {
                ArenaKind::HugeDirectory(directory.clone())
            }
        };
        Self {
            arena: Arena::new(kind),
            segments: Vec::new(),
            gpus: Gpus::default(),
            capacity_bytes: config.capacity_bytes,
            most_bytes,
            waste_bytes: config.limits.max_objects as u64 * WASTE_PER_OBJECT_BYTES,
            max_segments: config.limits.max_segments,
            warnings: LogLimit::default(),
        }
    }

    /// A segment that was added.
    pub(super) fn segment(&self, segment: SegmentId) -> &Arc<Segment> {
        let index = usize::try_from(segment.0 - 1).expect("segments count from 1");
        &self.segments[index]
    }

    /// The descriptor of a segment that was added.
    pub(super) fn descriptor(&self, segment: SegmentId) -> BorrowedFd<'_> {
        self.segment(segment).descriptor()
    }

    /// Creates a segment with room for `min_bytes`, and more where that costs nothing.
    pub(super) fn create_segment(&self, min_bytes: u64) -> io::Result<Segment> {
        // The start of a segment is never handed out, and large extents begin on a page.
        let least_bytes = min_bytes.saturating_add(PAGE_BYTES);
        if !self.arena.is_sparse() {
            return self.arena.create_segment(least_bytes).or_else(|error| {
                // With exactly as many huge pages as the capacity takes, the first page is lacking.
                let first = self.segments.is_empty();
                if first { self.arena.create_segment(min_bytes) } else { Err(error) }
            });
        }
        let mut refusal = io::Error::from(io::ErrorKind::OutOfMemory);
        let roomy = RANGE_FACTORS.iter().map(|factor| {
            self.capacity_bytes.saturating_mul(*factor).saturating_add(self.waste_bytes)
        });
        for wanted_bytes in roomy.chain([least_bytes]) {
            let range_bytes = wanted_bytes.max(least_bytes);
            let Some(range_bytes) = range_bytes.checked_next_multiple_of(RANGE_UNIT_BYTES) else {
                continue;
            };
            match self.arena.create_segment(range_bytes) {
                Ok(segment) => return Ok(segment),
                Err(error) => refusal = error,
            }
        }
        Err(refusal)
    }

    /// Adds a segment to those that objects are placed in.
    pub(super) fn push_segment(&mut self, segment: Segment) -> SegmentInfo {
        let range_bytes = segment.range_bytes();
        self.segments.push(Arc::new(segment));
        let number = i32::try_from(self.segments.len()).expect("there are few segments");
        SegmentInfo { segment: SegmentId(number), range_bytes }
    }

    /// Whether a limited file system can hold what is handed out, and how to make sure of it.
    fn check_space(&self, extent: Extent, claimed_bytes: u64) -> io::Result<Reservation> {
        let segment = self.segment(extent.segment);
        let space = segment.space()?;
        let other_segments = self.segments.iter().filter(|other| !Arc::ptr_eq(other, segment));
        let mut reachable_bytes = space.used_bytes + space.free_bytes;
        for other in other_segments {
            reachable_bytes += other.space()?.used_bytes;
        }
        let start_bytes = extent.offset_bytes / PAGE_BYTES * PAGE_BYTES;
        let length_bytes = extent.end_bytes().next_multiple_of(PAGE_BYTES) - start_bytes;
        if length_bytes > reachable_bytes {
            return Ok(Reservation::Never);
        }
        if claimed_bytes > reachable_bytes {
            return Ok(Reservation::Full);
        }
        if length_bytes <= MAX_SWIFT_RESERVE_BYTES {
            segment.reserve(start_bytes, length_bytes)?;
            return Ok(Reservation::Ready);
        }
        // There are programs that create one object as large as the store and abort it, only to
        // learn what fits. The sum above has to be enough then: reserving would take seconds, and
        // leave nothing for anybody else.
        let is_large_part = length_bytes > space.free_bytes / 2;
        Ok(if is_large_part { Reservation::Ready } else { Reservation::Slow })
    }
}

impl Backing for Host {
    fn add_segment(&mut self, min_bytes: u64) -> Result<SegmentInfo, Unavailable> {
        if self.segments.len() >= self.max_segments {
            return Err(Unavailable);
        }
        match self.create_segment(min_bytes) {
            Ok(segment) => Ok(self.push_segment(segment)),
            Err(error) => {
                self.warnings
                    .warn(|| format!("cannot get a segment for {min_bytes} bytes: {error}"));
                Err(Unavailable)
            }
        }
    }

    fn reserve(&mut self, extent: Extent, claimed_bytes: u64) -> Reservation {
        if let Some(most_bytes) = self.most_bytes {
            if extent.size_bytes > most_bytes {
                return Reservation::Never;
            }
            if claimed_bytes > most_bytes {
                return Reservation::Full;
            }
        }
        if !self.arena.is_limited() {
            return Reservation::Ready;
        }
        self.check_space(extent, claimed_bytes).unwrap_or_else(|error| {
            log::debug!("cannot reserve {} bytes: {error}", extent.size_bytes);
            Reservation::Full
        })
    }

    fn write(&mut self, extent: Extent, bytes: &[u8]) -> Result<(), Unavailable> {
        let written = self.segment(extent.segment).write_at(bytes, extent.offset_bytes);
        written.map_err(|error| {
            let size_bytes = extent.size_bytes;
            self.warnings.warn(|| format!("cannot write {size_bytes} bytes: {error}"));
            Unavailable
        })
    }

    fn release_pages(&mut self, extent: Extent) {
        release(self.segment(extent.segment), extent, false);
    }

    fn take_block(&mut self, device: DeviceNum, size_bytes: u64) -> Option<Box<DeviceBlock>> {
        self.gpus.take_block(device, size_bytes)
    }

    fn is_limited(&self) -> bool {
        self.arena.is_limited() || self.most_bytes.is_some()
    }
}

/// Gives the pages of an unused extent back; with `clear` it reads as zeros from then on.
pub(super) fn release(segment: &Segment, extent: Extent, clear: bool) {
    let Extent { offset_bytes, size_bytes, .. } = extent;
    let (what, result) = if clear {
        ("clear", segment.clear(offset_bytes, size_bytes))
    } else {
        ("give back", segment.release(offset_bytes, size_bytes))
    };
    if let Err(error) = result {
        log::warn!("cannot {what} {size_bytes} bytes: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_segments_than_the_limit_says() {
        let flags = ["plasma-store-server", "-s", "/sock", "-m", "10000", "--max-segments", "2"];
        let command = config::parse(flags.map(Into::into).into_iter());
        let Ok(config::Command::Serve(config)) = command else { panic!("{command:?}") };
        let mut host = Host::new(&config, None);
        let added = [(); 4].map(|()| host.add_segment(1000).is_ok());
        assert_eq!(added, [true, true, false, false]);
    }
}
