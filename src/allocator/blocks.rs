//! The records of all stretches, and the lists that run through them.
//!
//! Every byte that may be handed out belongs to exactly one block, whether somebody owns it or not.
//! A block knows its neighbours in the segment, so that freed space grows together with no search.
//! Records sit in one vector and are named by index; records of blocks that are gone form a list
//! and are used first, so that the vector is only as long as the largest number of blocks ever was.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut, Range};

use super::{PAGE_BYTES, align_down, align_up};
use crate::ids::SegmentId;

/// The name of a record: its place in the vector plus one, so that an absent name costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BlockIndex(NonZeroU32);

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// The record describes nothing and waits to be used again.
    Spare,
    /// Handed out.
    Live,
    /// Free, and its pages are backed by memory.
    Touched,
    /// Free, and no page of it is backed by memory.
    Untouched,
}

/// The neighbours of a block in one of the lists that it can be on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Link {
    previous: Option<BlockIndex>,
    next: Option<BlockIndex>,
}

/// The lists that a block can be on at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Chain {
    /// Free blocks of one size class, or spare records.
    Bin,
    /// Touched free blocks, by the time since which they have been free.
    Age,
}

/// One stretch of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) offset_bytes: u64,
    pub(super) size_bytes: u64,
    bin: Link,
    age: Link,
    /// The block that ends where this one starts, or `None` at the start of the segment.
    pub(super) before: Option<BlockIndex>,
    /// The block that starts where this one ends, or `None` at the end of the segment.
    pub(super) after: Option<BlockIndex>,
    pub(super) segment: SegmentId,
    pub(super) state: State,
}

// There is a record for each object and each gap, so its size is what a small object costs.
const _: () = assert!(size_of::<Block>() == 48);

impl Block {
    pub(super) fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }

    /// The part of the block that consists of pages which it shares with no other block; an empty
    /// range if there is none.
    ///
    /// The page at either end of a segment counts as whole although some bytes of it may be outside
    /// of what is handed out: nobody else can own them.
    pub(super) fn whole_pages(&self) -> Range<u64> {
        let start = match self.before {
            Some(_) => align_up(self.offset_bytes, PAGE_BYTES),
            None => self.offset_bytes,
        };
        let end = match self.after {
            Some(_) => align_down(self.end_bytes(), PAGE_BYTES),
            None => self.end_bytes(),
        };
        start..end
    }

    fn link(&self, chain: Chain) -> Link {
        match chain {
            Chain::Bin => self.bin,
            Chain::Age => self.age,
        }
    }

    fn link_mut(&mut self, chain: Chain) -> &mut Link {
        match chain {
            Chain::Bin => &mut self.bin,
            Chain::Age => &mut self.age,
        }
    }
}

/// All records.
pub(super) struct Blocks {
    records: Vec<Block>,
    spare: List,
    in_use: u32,
}

impl Index<BlockIndex> for Blocks {
    type Output = Block;

    fn index(&self, index: BlockIndex) -> &Block {
        &self.records[(index.0.get() - 1) as usize]
    }
}

impl IndexMut<BlockIndex> for Blocks {
    fn index_mut(&mut self, index: BlockIndex) -> &mut Block {
        &mut self.records[(index.0.get() - 1) as usize]
    }
}

impl Blocks {
    pub(super) fn new() -> Self {
        Blocks { records: Vec::new(), spare: List::default(), in_use: 0 }
    }

    /// How many records describe a block.
    pub(super) fn in_use(&self) -> u32 {
        self.in_use
    }

    /// How many records there are, spare ones included.
    #[cfg(test)]
    pub(super) fn record_count(&self) -> usize {
        self.records.len()
    }

    /// All blocks, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (BlockIndex, &Block)> {
        let indices = (1..).map_while(NonZeroU32::new).map(BlockIndex);
        indices.zip(&self.records).filter(|(_, block)| block.state != State::Spare)
    }

    /// A record for a stretch that has no neighbours and is on no list.
    pub(super) fn add(
        &mut self,
        segment: SegmentId,
        range_bytes: Range<u64>,
        state: State,
    ) -> BlockIndex {
        let block = Block {
            offset_bytes: range_bytes.start,
            size_bytes: range_bytes.end - range_bytes.start,
            bin: Link::default(),
            age: Link::default(),
            before: None,
            after: None,
            segment,
            state,
        };
        self.in_use += 1;
        if let Some(index) = self.spare.first {
            let mut spare = self.spare;
            spare.remove(self, Chain::Bin, index);
            self.spare = spare;
            self[index] = block;
            return index;
        }
        self.records.push(block);
        let count = u32::try_from(self.records.len()).ok().and_then(NonZeroU32::new);
        BlockIndex(count.expect("the allocator refuses requests long before 2^32 blocks"))
    }

    /// Cuts the block in two at the offset `at_bytes`. The block keeps the upper part; the lower
    /// part gets a record of its own, in the same state and on no list.
    pub(super) fn detach_low(&mut self, index: BlockIndex, at_bytes: u64) -> BlockIndex {
        let block = self[index];
        let low = self.add(block.segment, block.offset_bytes..at_bytes, block.state);
        self[low].before = block.before;
        self[low].after = Some(index);
        if let Some(before) = block.before {
            self[before].after = Some(low);
        }
        let block = &mut self[index];
        block.before = Some(low);
        block.size_bytes = block.end_bytes() - at_bytes;
        block.offset_bytes = at_bytes;
        low
    }

    /// Cuts the block in two at the offset `at_bytes`. The block keeps the lower part; the upper
    /// part gets a record of its own, in the same state and on no list.
    pub(super) fn detach_high(&mut self, index: BlockIndex, at_bytes: u64) -> BlockIndex {
        let block = self[index];
        let high = self.add(block.segment, at_bytes..block.end_bytes(), block.state);
        self[high].before = Some(index);
        self[high].after = block.after;
        if let Some(after) = block.after {
            self[after].before = Some(high);
        }
        let block = &mut self[index];
        block.after = Some(high);
        block.size_bytes = at_bytes - block.offset_bytes;
        high
    }

    /// Makes the block `index` cover the block `gone` behind it too, which must be on no list and
    /// whose record becomes spare.
    pub(super) fn absorb(&mut self, index: BlockIndex, gone: BlockIndex) {
        debug_assert_eq!(self[index].after, Some(gone), "only neighbours can grow together");
        let Block { size_bytes, after, .. } = self[gone];
        let block = &mut self[index];
        block.size_bytes += size_bytes;
        block.after = after;
        if let Some(after) = after {
            self[after].before = Some(index);
        }
        self[gone].state = State::Spare;
        let mut spare = self.spare;
        spare.push_front(self, Chain::Bin, gone);
        self.spare = spare;
        self.in_use -= 1;
    }

    /// Panics unless the spare records and the blocks make up the whole vector.
    pub(super) fn check_invariants(&self) {
        let spare = self.spare.checked_iter(self, Chain::Bin);
        let spare = spare.inspect(|(_, block)| assert_eq!(block.state, State::Spare)).count();
        let in_use = self.iter().count();
        assert_eq!(in_use, self.in_use as usize, "count of blocks");
        assert_eq!(
            spare + in_use,
            self.records.len(),
            "every record is spare or describes a block"
        );
    }
}

/// A doubly linked list of blocks.
#[derive(Clone, Copy, Default)]
pub(super) struct List {
    first: Option<BlockIndex>,
    last: Option<BlockIndex>,
}

impl List {
    pub(super) fn first(&self) -> Option<BlockIndex> {
        self.first
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn iter<'b>(
        &self,
        blocks: &'b Blocks,
        chain: Chain,
    ) -> impl Iterator<Item = (BlockIndex, &'b Block)> + use<'b> {
        let mut next = self.first;
        std::iter::from_fn(move || {
            let index = next?;
            let block = &blocks[index];
            next = block.link(chain).next;
            Some((index, block))
        })
    }

    pub(super) fn push_front(&mut self, blocks: &mut Blocks, chain: Chain, index: BlockIndex) {
        *blocks[index].link_mut(chain) = Link { previous: None, next: self.first };
        match self.first.replace(index) {
            Some(second) => blocks[second].link_mut(chain).previous = Some(index),
            None => self.last = Some(index),
        }
    }

    pub(super) fn push_back(&mut self, blocks: &mut Blocks, chain: Chain, index: BlockIndex) {
        *blocks[index].link_mut(chain) = Link { previous: self.last, next: None };
        match self.last.replace(index) {
            Some(former) => blocks[former].link_mut(chain).next = Some(index),
            None => self.first = Some(index),
        }
    }

    /// Takes the block, which must be on this list, off it.
    pub(super) fn remove(&mut self, blocks: &mut Blocks, chain: Chain, index: BlockIndex) {
        let Link { previous, next } = std::mem::take(blocks[index].link_mut(chain));
        match previous {
            Some(previous) => blocks[previous].link_mut(chain).next = next,
            None => self.first = next,
        }
        match next {
            Some(next) => blocks[next].link_mut(chain).previous = previous,
            None => self.last = previous,
        }
    }

    /// Like [`List::iter`], but panics where the links backwards and forwards disagree.
    pub(super) fn checked_iter<'b>(
        &self,
        blocks: &'b Blocks,
        chain: Chain,
    ) -> impl Iterator<Item = (BlockIndex, &'b Block)> + use<'b> {
        let mut previous = None;
        let last = self.last;
        assert_eq!(self.first.is_some(), last.is_some(), "a list has both ends or none");
        self.iter(blocks, chain).inspect(move |&(index, block)| {
            assert_eq!(block.link(chain).previous, previous, "{chain:?}: link back of {index:?}");
            if block.link(chain).next.is_none() {
                assert_eq!(last, Some(index), "{chain:?}: the end of the list");
            }
            previous = Some(index);
        })
    }
}
