//! The allocator against a list of intervals.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use plasma_store::allocator::{
    Allocation, Allocator, FIRST_USABLE_BYTES, GRAIN_BYTES, LARGE_BYTES, PAGE_BYTES, TAKE_BYTES,
};
use plasma_store::ids::{Extent, SegmentId};

/// Operations behind this one are left out.
const MAX_OPERATIONS: usize = 600;

/// More segments than this are not added.
const MAX_SEGMENTS: usize = 4;

/// Single pages are looked at only where segments are shorter than this.
const MAX_PAGED_BYTES: u64 = 1 << 25;

/// Longer extents are freed as if nobody had written to them: giving back what was written to takes
/// as many steps as it has times [`TAKE_BYTES`].
const MAX_TOUCHED_BYTES: u64 = 1 << 32;

#[derive(Arbitrary, Debug)]
struct Input {
    segments: Vec<Range>,
    operations: Vec<Operation>,
}

/// How long a segment is.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Range {
    Bytes(u16),
    Pages { pages: u16, extra_bytes: u8 },
    Any(u64),
}

impl Range {
    fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.into(),
            Self::Pages { pages, extra_bytes } => {
                u64::from(pages) * PAGE_BYTES + u64::from(extra_bytes)
            }
            Self::Any(bytes) => bytes,
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Allocate(Size),
    /// Several of one size, as stores have them.
    AllocateMany {
        size: Size,
        count: u8,
    },
    /// The one that is so far from the last one that was handed out.
    Free(u8),
    FreeUntouched(u8),
    /// Takes one stretch, to be given back later.
    Take,
    GiveBack(u8),
    GiveAllBack,
    AddSegment(Range),
}

/// How much is asked for.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Size {
    Bytes(u16),
    /// About so many pages.
    Pages {
        pages: u16,
        less_bytes: u8,
    },
    /// About the limit from which on extents consist of pages.
    AboutLarge(i8),
    Any(u64),
}

impl Size {
    fn bytes(self) -> u64 {
        let bytes = match self {
            Self::Bytes(bytes) => bytes.into(),
            Self::Pages { pages, less_bytes } => {
                (u64::from(pages % 2048) * PAGE_BYTES).saturating_sub(less_bytes.into())
            }
            Self::AboutLarge(difference) => LARGE_BYTES.saturating_add_signed(difference.into()),
            Self::Any(bytes) => bytes,
        };
        bytes.max(1)
    }
}

/// What is handed out, by segment and offset, with the end of its blocks.
type Intervals = BTreeMap<(SegmentId, u64), u64>;

/// The allocator, and what is known about it.
struct World {
    allocator: Allocator,
    /// The usable length of each segment.
    segments: Vec<(SegmentId, u64)>,
    taken: Intervals,
    live: Vec<Allocation>,
    /// What is to be given back to the system.
    cold: Vec<Allocation>,
    /// For each short segment, which pages somebody has owned since they were last given back.
    touched: Vec<Vec<bool>>,
    touched_pages: u64,
    operations: usize,
}

impl World {
    fn add_segment(&mut self, range: Range) {
        if self.segments.len() == MAX_SEGMENTS {
            return;
        }
        let number = i32::try_from(self.segments.len() + 1).expect("few segments");
        let segment = SegmentId(number);
        self.allocator.add_segment(segment, range.bytes());
        self.segments.push((segment, range.bytes()));
        let paged_bytes = Some(range.bytes()).filter(|bytes| *bytes <= MAX_PAGED_BYTES);
        let count = paged_bytes.unwrap_or(0).div_ceil(PAGE_BYTES);
        self.touched.push(vec![false; usize::try_from(count).expect("a few thousand")]);
    }

    fn allocate(&mut self, size_bytes: u64) {
        let live_bytes = self.allocator.live_bytes();
        let Some(allocation) = self.allocator.allocate(size_bytes) else {
            assert_eq!(self.allocator.live_bytes(), live_bytes, "a refusal changes nothing");
            return;
        };
        let extent = allocation.extent;
        assert_eq!(extent.size_bytes, size_bytes, "as many bytes as were asked for");
        let unit_bytes = if size_bytes < LARGE_BYTES { GRAIN_BYTES } else { PAGE_BYTES };
        assert_eq!(extent.offset_bytes % unit_bytes, 0, "{extent:?} is aligned");
        let rounded_bytes = size_bytes.next_multiple_of(unit_bytes);
        assert_eq!(self.allocator.live_bytes(), live_bytes + rounded_bytes, "bytes handed out");
        self.insert(extent, rounded_bytes);
        self.set_touched(extent, rounded_bytes, true);
        self.live.push(allocation);
    }

    /// The extent is handed out, and nothing of it was before.
    fn insert(&mut self, extent: Extent, rounded_bytes: u64) {
        let Extent { segment, offset_bytes, .. } = extent;
        let end_bytes = offset_bytes + rounded_bytes;
        let (_, range_bytes) =
            self.segments.iter().find(|(id, _)| *id == segment).expect("a segment that was added");
        assert!(offset_bytes >= FIRST_USABLE_BYTES, "{extent:?} covers the first bytes");
        assert!(end_bytes <= *range_bytes, "{extent:?} goes beyond its segment");
        let before = self.taken.range(..(segment, end_bytes)).next_back();
        if let Some(((other, _), other_end)) = before {
            assert!(*other != segment || *other_end <= offset_bytes, "{extent:?} is taken");
        }
        self.taken.insert((segment, offset_bytes), end_bytes);
    }

    fn remove(&mut self, extent: Extent) -> u64 {
        let end = self.taken.remove(&(extent.segment, extent.offset_bytes));
        end.expect("it was handed out") - extent.offset_bytes
    }

    fn is_paged(&self) -> bool {
        self.segments.iter().all(|(_, bytes)| *bytes <= MAX_PAGED_BYTES)
    }

    /// Notes whether the pages that a stretch has a part of are backed.
    fn set_touched(&mut self, extent: Extent, size_bytes: u64, touched: bool) {
        if !self.is_paged() {
            return;
        }
        let index = usize::try_from(extent.segment.0 - 1).expect("segments count from 1");
        let page = |bytes: u64| usize::try_from(bytes / PAGE_BYTES).expect("a few thousand");
        let first = page(extent.offset_bytes);
        let end = page(extent.offset_bytes + size_bytes + PAGE_BYTES - 1);
        for page in &mut self.touched[index][first..end] {
            let before = std::mem::replace(page, touched);
            self.touched_pages += u64::from(touched);
            self.touched_pages -= u64::from(before);
        }
    }

    fn free(&mut self, distance: u8) {
        if let Some(allocation) = pick(&mut self.live, distance) {
            if allocation.extent.size_bytes > MAX_TOUCHED_BYTES {
                return self.give_back(allocation);
            }
            let (live, free) = (self.allocator.live_bytes(), self.allocator.touched_free_bytes());
            let bytes = self.remove(allocation.extent);
            self.allocator.free(allocation);
            assert_eq!(self.allocator.live_bytes(), live - bytes);
            assert_eq!(self.allocator.touched_free_bytes(), free + bytes);
        }
    }

    /// Frees what was never written to, as far as nobody else has written to its pages: large ones
    /// only, since these own their pages.
    fn free_untouched(&mut self, distance: u8) {
        let position = usize::from(distance);
        let index = self.live.len().checked_sub(position % self.live.len().max(1) + 1);
        let Some(index) = index.filter(|index| self.live[*index].extent.size_bytes >= LARGE_BYTES)
        else {
            return;
        };
        let allocation = self.live.swap_remove(index);
        self.give_back(allocation);
    }

    fn take(&mut self) -> bool {
        let free = self.allocator.touched_free_bytes();
        let Some(cold) = self.allocator.take_coldest_touched() else {
            return false;
        };
        let Extent { offset_bytes, size_bytes, .. } = cold.extent;
        assert_eq!(self.allocator.touched_free_bytes(), free - size_bytes);
        let last_byte = offset_bytes + size_bytes - 1;
        assert_eq!(offset_bytes / TAKE_BYTES, last_byte / TAKE_BYTES, "it is not too much");
        self.insert(cold.extent, size_bytes);
        self.cold.push(cold);
        true
    }

    fn give_back(&mut self, allocation: Allocation) {
        let live = self.allocator.live_bytes();
        let bytes = self.remove(allocation.extent);
        self.set_touched(allocation.extent, bytes, false);
        self.allocator.free_untouched(allocation);
        assert_eq!(self.allocator.live_bytes(), live - bytes);
    }

    fn give_all_back(&mut self) {
        for cold in std::mem::take(&mut self.cold) {
            self.give_back(cold);
        }
        while self.take() {
            let cold = self.cold.pop().expect("it was just taken");
            self.give_back(cold);
        }
    }

    fn operate(&mut self, operation: Operation) {
        match operation {
            Operation::Allocate(size) => self.allocate(size.bytes()),
            Operation::AllocateMany { size, count } => {
                for _ in 0..count % 64 {
                    self.operations += 1;
                    self.allocate(size.bytes());
                }
            }
            Operation::Free(distance) => self.free(distance),
            Operation::FreeUntouched(distance) => self.free_untouched(distance),
            Operation::Take => {
                self.take();
            }
            Operation::GiveBack(distance) => {
                if let Some(cold) = pick(&mut self.cold, distance) {
                    self.give_back(cold);
                }
            }
            Operation::GiveAllBack => self.give_all_back(),
            Operation::AddSegment(range) => self.add_segment(range),
        }
    }

    fn check(&self) {
        self.allocator.check_invariants();
        let taken: u64 = self.taken.iter().map(|((_, start), end)| end - start).sum();
        assert_eq!(self.allocator.live_bytes(), taken, "bytes handed out");
        self.check_pages();
    }

    /// What is backed lies in what is handed out or counts as touched: so many pages cannot be
    /// backed as are needed for these two at most.
    fn check_pages(&self) {
        if !self.is_paged() {
            return;
        }
        let backed_bytes = self.touched_pages * PAGE_BYTES;
        // The pages at both ends of a segment are not all the allocator's.
        let slack_bytes = 2 * PAGE_BYTES * self.segments.len() as u64;
        let counted_bytes = self.allocator.live_bytes() + self.allocator.touched_free_bytes();
        assert!(
            backed_bytes <= counted_bytes + slack_bytes,
            "{backed_bytes} bytes are backed, {counted_bytes} are counted"
        );
    }

    /// Everything comes back, and then there is as much room as in the beginning.
    fn close(mut self) {
        while !self.live.is_empty() {
            self.free(0);
        }
        self.give_all_back();
        self.check();
        assert_eq!((self.allocator.live_bytes(), self.allocator.touched_free_bytes()), (0, 0));
        let mut fresh = Allocator::new();
        for (segment, range_bytes) in &self.segments {
            fresh.add_segment(*segment, *range_bytes);
        }
        let longest_bytes = self.segments.iter().map(|(_, bytes)| *bytes).max().unwrap_or(1);
        let wanted_bytes = longest_bytes.saturating_sub(PAGE_BYTES).max(1);
        let (found, expected) =
            (self.allocator.allocate(wanted_bytes), fresh.allocate(wanted_bytes));
        assert_eq!(found.is_some(), expected.is_some(), "room for {wanted_bytes} bytes");
    }
}

/// Takes out the one that is so far from the end.
fn pick(list: &mut Vec<Allocation>, distance: u8) -> Option<Allocation> {
    let position = usize::from(distance) % list.len().max(1);
    let index = list.len().checked_sub(position + 1)?;
    Some(list.remove(index))
}

/// Runs one input.
///
/// # Panics
///
/// If something does not hold.
pub fn run(data: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let mut world = World {
        allocator: Allocator::new(),
        segments: Vec::new(),
        taken: Intervals::new(),
        live: Vec::new(),
        cold: Vec::new(),
        touched: Vec::new(),
        touched_pages: 0,
        operations: 0,
    };
    for range in &input.segments {
        world.add_segment(*range);
    }
    for operation in &input.operations {
        if world.operations > MAX_OPERATIONS {
            break;
        }
        world.operations += 1;
        world.operate(*operation);
        world.check();
    }
    world.close();
}

/// Shows one input as text.
#[must_use]
pub fn describe(data: &[u8]) -> String {
    match Input::arbitrary_take_rest(Unstructured::new(data)) {
        Ok(input) => format!("{input:#?}"),
        Err(error) => error.to_string(),
    }
}
