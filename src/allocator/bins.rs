//! Free blocks of one kind, sorted into size classes.
//!
//! Sizes are counted in grains of [`GRAIN_BYTES`]. Up to 31 grains each size is a class of its own;
//! above that each power of two is divided into 32 classes, so that the sizes in a class differ by
//! less than 1/32. A word per power of two and one word over all say which classes have blocks, and
//! two bit scans find the first class that can serve a request.

use super::blocks::{Block, BlockIndex, Blocks, Chain, List};
use super::{GRAIN_BYTES, RANGE_MAX_BYTES};

const CELL_BITS: u32 = 5;
const CELLS: u32 = 1 << CELL_BITS;

/// One row for the sizes with a class each, and one for every power of two that can occur.
const ROWS: u32 = (RANGE_MAX_BYTES / GRAIN_BYTES).ilog2() - CELL_BITS + 2;
const _: () = assert!(ROWS < u64::BITS, "the word over all rows has a bit for each");

/// How many blocks of a class in which not every block is large enough are tried.
///
/// Objects often come and go in one size that is not the least of its class. One try finds the
/// block of that size that was freed last; a few more find it behind some smaller ones.
const TRIES: usize = 4;

/// A range of sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Class {
    row: u32,
    cell: u32,
}

impl Class {
    /// The class that blocks of the size belong to.
    pub(super) fn of(size_bytes: u64) -> Self {
        Class::of_grains(size_bytes / GRAIN_BYTES)
    }

    fn of_grains(grains: u64) -> Self {
        let power = (grains | 1).ilog2();
        let row = (power + 1).saturating_sub(CELL_BITS);
        let cell = (grains >> row.saturating_sub(1)) & u64::from(CELLS - 1);
        Class { row, cell: u32::try_from(cell).expect("masked to a few bits") }
    }

    /// The first class in which every block has at least the size.
    fn sufficient_for(size_bytes: u64) -> Self {
        let grains = size_bytes / GRAIN_BYTES;
        let width = 1 << Class::of_grains(grains).row.saturating_sub(1);
        Class::of_grains(grains + (width - 1))
    }

    fn index(self) -> usize {
        (self.row * CELLS + self.cell) as usize
    }
}

/// Where in its class a block is put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// Among the first to be used again.
    Hot,
    /// Among the last to be used again.
    Cold,
}

/// The free blocks of one kind.
pub(super) struct Bins {
    /// Bit `row` is set if `cells[row]` is not zero.
    rows: u64,
    /// Bit `cell` of `cells[row]` is set if that class has a block.
    cells: [u32; ROWS as usize],
    lists: Box<[List]>,
}

impl Bins {
    pub(super) fn new() -> Self {
        let lists = vec![List::default(); (ROWS * CELLS) as usize].into_boxed_slice();
        Bins { rows: 0, cells: [0; ROWS as usize], lists }
    }

    pub(super) fn insert(
        &mut self,
        blocks: &mut Blocks,
        class: Class,
        position: Position,
        index: BlockIndex,
    ) {
        let list = &mut self.lists[class.index()];
        match position {
            Position::Hot => list.push_front(blocks, Chain::Bin, index),
            Position::Cold => list.push_back(blocks, Chain::Bin, index),
        }
        self.cells[class.row as usize] |= 1 << class.cell;
        self.rows |= 1 << class.row;
    }

    pub(super) fn remove(&mut self, blocks: &mut Blocks, class: Class, index: BlockIndex) {
        let list = &mut self.lists[class.index()];
        list.remove(blocks, Chain::Bin, index);
        if list.is_empty() {
            let cells = &mut self.cells[class.row as usize];
            *cells &= !(1 << class.cell);
            if *cells == 0 {
                self.rows &= !(1 << class.row);
            }
        }
    }

    /// A block of at least `size_bytes` for which `place` finds a place, and that place.
    ///
    /// The smallest class that serves is used. `place` is asked about a bounded number of blocks;
    /// it must find a place in every block of at least `surely_bytes`, and then so does this
    /// function whenever there is a block that is larger than that by 1/32.
    pub(super) fn find(
        &self,
        blocks: &Blocks,
        size_bytes: u64,
        surely_bytes: u64,
        place: impl Fn(&Block) -> Option<u64>,
    ) -> Option<(BlockIndex, u64)> {
        if self.rows == 0 {
            return None;
        }
        let attempt = |class: Class| {
            let list = &self.lists[class.index()];
            let mut tried = list.iter(blocks, Chain::Bin).take(TRIES);
            tried.find_map(|(index, block)| Some((index, place(block)?)))
        };
        let class = Class::of(size_bytes);
        let sufficient = Class::sufficient_for(size_bytes);
        if sufficient != class
            && let Some(found) = attempt(class)
        {
            return Some(found);
        }
        if let Some(found) = attempt(self.first_filled(sufficient)?) {
            return Some(found);
        }
        if surely_bytes == size_bytes {
            return None;
        }
        attempt(self.first_filled(Class::sufficient_for(surely_bytes))?)
    }

    /// The first class from `class` on that has a block.
    fn first_filled(&self, class: Class) -> Option<Class> {
        let cells = self.cells[class.row as usize] & (u32::MAX << class.cell);
        if cells != 0 {
            return Some(Class { row: class.row, cell: cells.trailing_zeros() });
        }
        let rows = self.rows & (u64::MAX << (class.row + 1));
        if rows == 0 {
            return None;
        }
        let row = rows.trailing_zeros();
        Some(Class { row, cell: self.cells[row as usize].trailing_zeros() })
    }

    /// Panics if a block is in the wrong class or the words contradict each other; returns how many
    /// blocks can be found. `check` is called with each.
    pub(super) fn check_invariants(&self, blocks: &Blocks, check: impl Fn(&Block)) -> usize {
        let mut count = 0;
        for (row, &filled) in (0..ROWS).zip(&self.cells) {
            let known = self.rows & (1 << row) != 0;
            assert_eq!(known, filled != 0, "the bit of row {row}");
            for cell in (0..CELLS).filter(|cell| filled & (1 << cell) != 0) {
                let class = Class { row, cell };
                let list = &self.lists[class.index()];
                assert!(!list.is_empty(), "{class:?} has no block");
                for (_, block) in list.checked_iter(blocks, Chain::Bin) {
                    assert_eq!(Class::of(block.size_bytes), class, "the class of {block:?}");
                    check(block);
                    count += 1;
                }
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_with_the_size_and_are_narrow() {
        let mut grains = 1_u64;
        let mut before = Class::of_grains(0);
        while grains <= RANGE_MAX_BYTES / GRAIN_BYTES {
            for near in [grains - 1, grains, grains + 1, grains + grains / 64] {
                let near = near.min(RANGE_MAX_BYTES / GRAIN_BYTES);
                let class = Class::of_grains(near);
                assert!(class.index() < (ROWS * CELLS) as usize);
                let sufficient = Class::sufficient_for(near * GRAIN_BYTES);
                assert!(sufficient.index() >= class.index());
                assert!(sufficient.index() <= class.index() + 1);
                assert!(Class::of_grains(near + near / 32 + 1).index() >= sufficient.index());
                assert!(near < 32 || Class::of_grains(near + near / 16 + 1) != class);
                assert!(near >= 32 || sufficient == class);
            }
            let class = Class::of_grains(grains);
            assert!(class.index() >= before.index());
            before = class;
            grains = grains + grains / 40 + 1;
        }
    }
}
