//! Places objects in segments.
//!
//! A segment is a sparse shared-memory file: a range of addresses, several times as large as the
//! memory that may be used, whose pages take memory only once somebody has written to them. The
//! allocator hands out extents of such segments. It is arithmetic on offsets: it never looks at the
//! bytes, and its books lie in private memory, since every client can write to the segments and a
//! stray write there must not be able to lead the server astray.
//!
//! # Model
//!
//! The usable bytes of a segment are divided into blocks without gaps. A block is handed out, or it
//! is free and *touched* (its pages are backed by memory: somebody has owned them), or it is free
//! and *untouched*. Writing to touched memory is many times as fast as writing to untouched memory,
//! and what is touched counts as used memory even though it is free. So requests are served from
//! touched space as long as it has a place, and the two kinds are kept apart.
//!
//! Memory is backed by whole pages, and so is the line between the kinds drawn: an untouched block
//! consists of whole pages, which it shares with nobody. When the last page of a new extent is used
//! only in part, the rest of that page becomes touched free space. An extent may begin in touched
//! space that ends where untouched space starts, and go on into the latter; otherwise small objects
//! would leave such a rest in every page.
//!
//! # What it guarantees
//!
//! * Extents do not overlap, start at multiples of [`GRAIN_BYTES`] and never cover the first
//!   [`FIRST_USABLE_BYTES`] of a segment.
//! * Extents of [`LARGE_BYTES`] and more own all pages that they lie in, so the pages can be given
//!   back exactly.
//! * [`Allocator::live_bytes`] and [`Allocator::touched_free_bytes`] are exact, and no page outside
//!   of the two is backed (the pages at the ends of a segment excepted), provided that the caller
//!   has really given back what it passes to [`Allocator::free_untouched`].
//! * Free neighbours of one kind are always one block. Neighbours of different kinds stay apart, so
//!   a request can fail although a touched and an untouched block together would have room. The
//!   caller then gives touched blocks back, one after the other, until the request succeeds or
//!   [`Allocator::take_coldest_touched`] has none left; after that it needs another segment.
//!   When everything has been freed and given back, each segment is one untouched block again.
//! * Equal sequences of calls give equal places.
//!
//! # Cost
//!
//! Every operation but [`Allocator::check_invariants`] takes constant time: free blocks are sorted
//! into size classes (see `bins.rs`) of which the first that serves is found by two bit scans. The
//! price is that a block which is larger than the request by less than 1/32 may be overlooked.
//! Each block, handed out or free, takes a record of 48 bytes.

mod bins;
mod blocks;
#[cfg(test)]
mod tests;

use crate::ids::{Extent, SegmentId};
use bins::{Bins, Class, Position};
use blocks::{Block, BlockIndex, Blocks, Chain, List, State};

/// Extents start at multiples of this and take up multiples of it. The unit is bytes.
///
/// It is the alignment that clients may expect of the data of an object, and a cache line.
pub const GRAIN_BYTES: u64 = 64;

/// The first byte of a segment that may be handed out. Offset 0 marks missing objects on the wire.
pub const FIRST_USABLE_BYTES: u64 = 64;

/// The unit in which memory is backed and given back, in bytes.
///
/// Where the pages of the system are larger, giving back is less exact; nothing else depends on it.
pub const PAGE_BYTES: u64 = 4096;

/// Requests of at least this many bytes are aligned on and rounded up to pages.
///
/// Rounding wastes less than a page, so less than 1/32 of such a request.
pub const LARGE_BYTES: u64 = 32 * PAGE_BYTES;

/// Touched free blocks of at least this many bytes are given back before any smaller one: each
/// costs a call to the system, which should be worth it.
pub const COARSE_BYTES: u64 = 64 * 1024;

/// What is taken out to be given back lies between two neighbouring multiples of this many bytes.
///
/// It bounds for how long the system is busy with it, and lets a caller with little to give back
/// keep most of a large warm block. A multiple of 2 MiB, so that no huge page is broken up.
pub const TAKE_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes of a segment behind this offset are not used: 2^56, which is more than can be mapped.
pub const RANGE_MAX_BYTES: u64 = 1 << 56;

/// With this many blocks requests are refused. A request adds at most three blocks, and giving back
/// no more than there are pages, so that block indices do not run out.
const BLOCKS_MAX: u32 = 1 << 31;

/// A stretch that has been handed out, to be passed to [`Allocator::free`] or
/// [`Allocator::free_untouched`] once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// The bytes that the owner may use: as many as were asked for.
    pub extent: Extent,
    block: BlockIndex,
}

/// Places extents in segments; see the [module](self).
pub struct Allocator {
    segments: Vec<Segment>,
    blocks: Blocks,
    touched: Bins,
    untouched: Bins,
    /// The touched free blocks that contain whole pages, longest free first, by [`Tier`].
    ages: [List; 2],
    live_bytes: u64,
    touched_free_bytes: u64,
}

/// A segment and the end of its usable bytes.
#[derive(Clone, Copy, Debug)]
struct Segment {
    id: SegmentId,
    end_bytes: u64,
}

/// How much there is to give back in a touched free block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tier {
    /// The block has at least [`COARSE_BYTES`].
    Coarse = 0,
    /// The block is smaller, but contains a whole page.
    Fine = 1,
}

/// What is looked for: a size and an alignment.
#[derive(Clone, Copy, Debug)]
struct Request {
    size_bytes: u64,
    align_bytes: u64,
}

impl Allocator {
    /// An allocator without segments, which refuses every request.
    #[must_use]
    pub fn new() -> Self {
        Allocator {
            segments: Vec::new(),
            blocks: Blocks::new(),
            touched: Bins::new(),
            untouched: Bins::new(),
            ages: [List::default(); 2],
            live_bytes: 0,
            touched_free_bytes: 0,
        }
    }

    /// Adds a segment, of which the bytes from [`FIRST_USABLE_BYTES`] up to `range_bytes` may be
    /// handed out, and none is touched. A last part of less than [`GRAIN_BYTES`] is not used.
    ///
    /// # Panics
    ///
    /// If the segment has been added before.
    pub fn add_segment(&mut self, segment: SegmentId, range_bytes: u64) {
        let known = self.segments.iter().any(|known| known.id == segment);
        assert!(!known, "{segment:?} has been added before");
        let end_bytes = align_down(range_bytes.min(RANGE_MAX_BYTES), GRAIN_BYTES);
        if end_bytes <= FIRST_USABLE_BYTES {
            return;
        }
        self.segments.push(Segment { id: segment, end_bytes });
        let usable_bytes = FIRST_USABLE_BYTES..end_bytes;
        let block = self.blocks.add(segment, usable_bytes, State::Untouched);
        self.enlist(block, Position::Cold);
    }

    /// A place for `size_bytes` bytes, which must not be 0, or `None` if there is none.
    ///
    /// Touched space is searched first, the block that was freed last first among blocks of about
    /// the same size; then untouched space.
    ///
    /// # Panics
    ///
    /// If `size_bytes` is 0: empty objects have no place.
    pub fn allocate(&mut self, size_bytes: u64) -> Option<Allocation> {
        let request = Request::of(size_bytes)?;
        if self.blocks.in_use() >= BLOCKS_MAX {
            return None;
        }
        let block = if let Some((free, start)) = request.find(&self.blocks, &self.touched) {
            self.carve(free, start, request.size_bytes)
        } else {
            let (free, start) = request.find(&self.blocks, &self.untouched)?;
            self.carve_untouched(free, start, request)
        };
        Some(self.allocation(block, size_bytes))
    }

    /// Takes back a stretch whose pages may be backed. It becomes touched free space.
    ///
    /// # Panics
    ///
    /// If the stretch is not handed out, as far as that can be told.
    pub fn free(&mut self, allocation: Allocation) {
        self.check_live(allocation);
        self.release(allocation.block, State::Touched);
    }

    /// Takes back a stretch of whose whole pages none is backed. They become untouched free space.
    ///
    /// Parts at either end that share a page with a neighbour become touched free space: the page
    /// cannot be given back for as long as it has another owner.
    ///
    /// # Panics
    ///
    /// If the stretch is not handed out, as far as that can be told.
    pub fn free_untouched(&mut self, allocation: Allocation) {
        self.check_live(allocation);
        let mut block = allocation.block;
        let Block { offset_bytes, size_bytes, .. } = self.blocks[block];
        let pages_bytes = self.blocks[block].whole_pages();
        if pages_bytes.is_empty() {
            self.release(block, State::Touched);
            return;
        }
        if offset_bytes < pages_bytes.start {
            let pages = self.blocks.detach_high(block, pages_bytes.start);
            self.release(block, State::Touched);
            block = pages;
        }
        if pages_bytes.end < offset_bytes + size_bytes {
            let rest = self.blocks.detach_high(block, pages_bytes.end);
            self.release(rest, State::Touched);
        }
        self.release(block, State::Untouched);
    }

    /// How many bytes are handed out, including what sizes were rounded up by.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// How many bytes are free but backed by memory.
    #[must_use]
    pub fn touched_free_bytes(&self) -> u64 {
        self.touched_free_bytes
    }

    /// Hands out touched free space that nobody has used for long, so that the caller can give its
    /// pages back to the system while no new owner can come by, and then call
    /// [`Allocator::free_untouched`]. Until then it counts as handed out.
    ///
    /// The extent consists of whole pages, and is all or a part (see [`TAKE_BYTES`]) of the block
    /// that has been free longest among those of at least [`COARSE_BYTES`]; without any, among the
    /// smaller ones that contain a whole page. `None` if there are none of these either. Only at
    /// the ends of a segment may it begin or end inside a page, which nobody else has a part of.
    ///
    /// A block that grew together is as young as its youngest part, and what is left over when a
    /// part is handed out as old as the block was; but where that brings it below [`COARSE_BYTES`],
    /// it is put among the youngest of the smaller ones.
    pub fn take_coldest_touched(&mut self) -> Option<Allocation> {
        let [coarse, fine] = &self.ages;
        let free = coarse.first().or(fine.first())?;
        let pages_bytes = self.blocks[free].whole_pages();
        // The upper end first: objects gather at low offsets.
        let start = pages_bytes.start.max(align_down(pages_bytes.end - 1, TAKE_BYTES));
        let size_bytes = pages_bytes.end - start;
        let block = self.carve(free, start, size_bytes);
        Some(self.allocation(block, size_bytes))
    }

    /// Panics with a message that says what is wrong if the books contradict themselves.
    ///
    /// Looks at every block, so call it in tests and debug builds only.
    ///
    /// # Panics
    ///
    /// See above.
    pub fn check_invariants(&self) {
        self.blocks.check_invariants();
        let of_state = |state| self.blocks.iter().filter(move |(_, block)| block.state == state);
        let bytes = |state| of_state(state).map(|(_, block)| block.size_bytes).sum::<u64>();
        assert_eq!(self.live_bytes, bytes(State::Live), "live_bytes");
        assert_eq!(self.touched_free_bytes, bytes(State::Touched), "touched_free_bytes");
        for (bins, state) in [(&self.touched, State::Touched), (&self.untouched, State::Untouched)]
        {
            let check = |block: &Block| assert_eq!(block.state, state, "the bin of {block:?}");
            let listed = bins.check_invariants(&self.blocks, check);
            assert_eq!(listed, of_state(state).count(), "every {state:?} block is in a bin");
        }
        for tier in [Tier::Coarse, Tier::Fine] {
            let listed = self.ages[tier as usize].checked_iter(&self.blocks, Chain::Age);
            let check = |block| assert_eq!(Tier::of(block), Some(tier), "the tier of {block:?}");
            let listed = listed.inspect(|&(_, block)| check(block)).count();
            let due = self.blocks.iter().filter(|(_, block)| Tier::of(block) == Some(tier));
            assert_eq!(listed, due.count(), "every block of tier {tier:?} has an age");
        }
        let mut count = 0;
        for segment in &self.segments {
            count += self.check_segment(*segment);
        }
        assert_eq!(count, self.blocks.in_use(), "every block lies in a segment");
    }

    /// Panics unless the blocks of the segment follow each other without gaps; returns how many
    /// there are.
    fn check_segment(&self, segment: Segment) -> u32 {
        let is_first = |block: &Block| block.segment == segment.id && block.before.is_none();
        let mut firsts = self.blocks.iter().filter(|(_, block)| is_first(block));
        let (first, _) = firsts.next().expect("a segment has a first block");
        assert!(firsts.next().is_none(), "{segment:?} has two first blocks");
        let (mut next, mut before) = (Some(first), None);
        let (mut at_bytes, mut state_before) = (FIRST_USABLE_BYTES, State::Live);
        let mut count = 0;
        while let Some(index) = next {
            let block = &self.blocks[index];
            assert_eq!(block.segment, segment.id, "{block:?} is a neighbour across segments");
            assert_eq!(block.offset_bytes, at_bytes, "{block:?} starts where the last one ended");
            assert_eq!(block.before, before, "{block:?} knows its neighbour");
            assert_ne!(block.size_bytes, 0, "{block:?} is empty");
            assert_eq!(block.size_bytes % GRAIN_BYTES, 0, "{block:?} has an odd size");
            let apart = block.state == State::Live || block.state != state_before;
            assert!(apart, "{block:?} should have grown together with the block before it");
            if block.state == State::Untouched {
                let own_bytes = block.offset_bytes..block.end_bytes();
                assert_eq!(block.whole_pages(), own_bytes, "{block:?} shares a page");
            }
            (before, state_before, at_bytes) = (next, block.state, block.end_bytes());
            next = block.after;
            count += 1;
        }
        assert_eq!(at_bytes, segment.end_bytes, "the blocks of {segment:?} reach its end");
        count
    }

    fn allocation(&self, block: BlockIndex, size_bytes: u64) -> Allocation {
        let Block { segment, offset_bytes, .. } = self.blocks[block];
        Allocation { extent: Extent { segment, offset_bytes, size_bytes }, block }
    }

    /// Panics if the allocation is certainly none that is handed out.
    fn check_live(&self, Allocation { extent, block }: Allocation) {
        let Block { segment, offset_bytes, state, .. } = self.blocks[block];
        let named = (extent.segment, extent.offset_bytes) == (segment, offset_bytes);
        assert!(state == State::Live && named, "{extent:?} is freed but is not handed out");
    }

    /// Hands out a part of the free block, whose other parts stay free.
    ///
    /// The larger of these keeps the record of the block and so its place in the lists, as long as
    /// it is still of that class and tier.
    fn carve(&mut self, free: BlockIndex, start: u64, size_bytes: u64) -> BlockIndex {
        let block = self.blocks[free];
        let end = start + size_bytes;
        debug_assert!(size_bytes > 0, "nothing of it");
        debug_assert!(block.offset_bytes <= start && end <= block.end_bytes(), "outside of it");
        let (low_bytes, high_bytes) = (start - block.offset_bytes, block.end_bytes() - end);
        let (taken, rest) = if low_bytes == 0 && high_bytes == 0 {
            self.delist(free);
            (free, None)
        } else if low_bytes <= high_bytes {
            let taken = self.blocks.detach_low(free, end);
            (taken, (low_bytes > 0).then(|| self.blocks.detach_low(taken, start)))
        } else {
            let taken = self.blocks.detach_high(free, start);
            (taken, (high_bytes > 0).then(|| self.blocks.detach_high(taken, end)))
        };
        if taken != free {
            self.resettle(free, &block);
        }
        if let Some(rest) = rest {
            self.enlist(rest, Position::Cold);
        }
        if block.state == State::Touched {
            self.touched_free_bytes -= size_bytes;
        }
        self.live_bytes += size_bytes;
        self.blocks[taken].state = State::Live;
        taken
    }

    /// Serves the request from the untouched block, from the offset `start` on, or from a little
    /// before if there is touched space.
    fn carve_untouched(&mut self, free: BlockIndex, start: u64, request: Request) -> BlockIndex {
        let Request { size_bytes, align_bytes } = request;
        let mut begin = start;
        let mut warm = None;
        if let Some(before) = self.blocks[free].before
            && self.blocks[before].state == State::Touched
        {
            let warm_start = align_up(self.blocks[before].offset_bytes, align_bytes);
            let warm_end = self.blocks[before].end_bytes();
            if warm_start + size_bytes <= warm_end {
                return self.carve(before, warm_start, size_bytes);
            }
            if warm_start < warm_end && warm_end == start {
                begin = warm_start;
                warm = Some(self.carve(before, warm_start, warm_end - warm_start));
            }
        }
        let end = begin + size_bytes;
        let pages_end = align_up(end, PAGE_BYTES).min(self.blocks[free].end_bytes());
        let mut block = self.carve(free, start, pages_end - start);
        if let Some(warm) = warm {
            self.blocks.absorb(warm, block);
            block = warm;
        }
        if end < pages_end {
            let rest = self.blocks.detach_high(block, end);
            self.release(rest, State::Touched);
        }
        block
    }

    /// Turns a block that is handed out into a free one of the kind, grown together with its
    /// neighbours of that kind.
    fn release(&mut self, mut index: BlockIndex, state: State) {
        let block = &mut self.blocks[index];
        block.state = state;
        let Block { size_bytes, before, after, .. } = *block;
        self.live_bytes -= size_bytes;
        if state == State::Touched {
            self.touched_free_bytes += size_bytes;
        }
        if let Some(after) = after
            && self.blocks[after].state == state
        {
            self.delist(after);
            self.blocks.absorb(index, after);
        }
        if let Some(before) = before
            && self.blocks[before].state == state
        {
            self.delist(before);
            self.blocks.absorb(before, index);
            index = before;
        }
        self.enlist(index, Position::Hot);
    }

    /// Puts a free block on the lists that it belongs on; its age begins now.
    fn enlist(&mut self, index: BlockIndex, position: Position) {
        let block = self.blocks[index];
        let (bins, blocks) = self.bins_mut(block.state);
        bins.insert(blocks, Class::of(block.size_bytes), position, index);
        if let Some(tier) = Tier::of(&block) {
            self.ages[tier as usize].push_back(&mut self.blocks, Chain::Age, index);
        }
    }

    /// Takes a free block off the lists that it is on.
    fn delist(&mut self, index: BlockIndex) {
        let block = self.blocks[index];
        let (bins, blocks) = self.bins_mut(block.state);
        bins.remove(blocks, Class::of(block.size_bytes), index);
        if let Some(tier) = Tier::of(&block) {
            self.ages[tier as usize].remove(&mut self.blocks, Chain::Age, index);
        }
    }

    /// Moves a free block that was cut, and was like `former` before, to the lists that it belongs
    /// on now. It keeps its place where these are the same.
    fn resettle(&mut self, index: BlockIndex, former: &Block) {
        let block = self.blocks[index];
        let (class, former_class) = (Class::of(block.size_bytes), Class::of(former.size_bytes));
        if class != former_class {
            let (bins, blocks) = self.bins_mut(block.state);
            bins.remove(blocks, former_class, index);
            bins.insert(blocks, class, Position::Cold, index);
        }
        let (tier, former_tier) = (Tier::of(&block), Tier::of(former));
        if tier != former_tier {
            if let Some(former_tier) = former_tier {
                self.ages[former_tier as usize].remove(&mut self.blocks, Chain::Age, index);
            }
            if let Some(tier) = tier {
                self.ages[tier as usize].push_back(&mut self.blocks, Chain::Age, index);
            }
        }
    }

    /// The bins for free blocks of the kind, and the blocks in them.
    fn bins_mut(&mut self, state: State) -> (&mut Bins, &mut Blocks) {
        let bins = match state {
            State::Touched => &mut self.touched,
            State::Untouched => &mut self.untouched,
            State::Live | State::Spare => unreachable!("only free blocks are in bins"),
        };
        (bins, &mut self.blocks)
    }
}

impl Default for Allocator {
    fn default() -> Self {
        Self::new()
    }
}

impl Tier {
    /// The tier of the block, or `None` if it has nothing that could be given back.
    fn of(block: &Block) -> Option<Self> {
        if block.state != State::Touched || block.whole_pages().is_empty() {
            None
        } else if block.size_bytes >= COARSE_BYTES {
            Some(Tier::Coarse)
        } else {
            Some(Tier::Fine)
        }
    }
}

impl Request {
    /// The request for that many bytes, or `None` if no segment can have room for them.
    fn of(size_bytes: u64) -> Option<Self> {
        assert_ne!(size_bytes, 0, "empty objects have no place");
        if size_bytes > RANGE_MAX_BYTES {
            return None;
        }
        let align_bytes = if size_bytes < LARGE_BYTES { GRAIN_BYTES } else { PAGE_BYTES };
        Some(Request { size_bytes: align_up(size_bytes, align_bytes), align_bytes })
    }

    /// A free block that has room, and the offset at which the extent can start.
    fn find(self, blocks: &Blocks, bins: &Bins) -> Option<(BlockIndex, u64)> {
        // A block of this size has room however it is aligned.
        let surely_bytes = self.size_bytes + (self.align_bytes - GRAIN_BYTES);
        bins.find(blocks, self.size_bytes, surely_bytes, |block| {
            let start = align_up(block.offset_bytes, self.align_bytes);
            (start + self.size_bytes <= block.end_bytes()).then_some(start)
        })
    }
}

/// The least multiple of `align_bytes`, a power of two, that is not below the offset or size.
fn align_up(bytes: u64, align_bytes: u64) -> u64 {
    align_down(bytes + (align_bytes - 1), align_bytes)
}

/// The greatest multiple of `align_bytes`, a power of two, that is not above the offset or size.
fn align_down(bytes: u64, align_bytes: u64) -> u64 {
    debug_assert!(align_bytes.is_power_of_two(), "alignments are powers of two");
    bytes & !(align_bytes - 1)
}
