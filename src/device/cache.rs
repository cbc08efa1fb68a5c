//! Blocks of a device that are free and keep their handles, to be used again.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::ids::DeviceBlock;

/// The free blocks of one device. Allocating memory and exporting it takes the driver a hundred
/// times as long as taking a block from here.
#[derive(Debug, Default)]
pub struct BlockCache {
    /// By age: the key counts up.
    blocks: BTreeMap<u64, Box<DeviceBlock>>,
    /// The keys of the blocks of each size, oldest first.
    by_size: HashMap<u64, VecDeque<u64>>,
    next_key: u64,
    bytes: u64,
}

impl BlockCache {
    /// What the blocks take up, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a block.
    pub fn insert(&mut self, block: Box<DeviceBlock>) {
        self.bytes += block.size_bytes;
        self.by_size.entry(block.size_bytes).or_default().push_back(self.next_key);
        self.blocks.insert(self.next_key, block);
        self.next_key += 1;
    }

    /// Takes a block of exactly this size, the one that was used last.
    pub fn take(&mut self, size_bytes: u64) -> Option<Box<DeviceBlock>> {
        let key = self.by_size.get_mut(&size_bytes)?.pop_back()?;
        self.remove(key)
    }

    /// Takes the block that has been here longest.
    pub fn take_oldest(&mut self) -> Option<Box<DeviceBlock>> {
        let (key, block) = self.blocks.first_key_value()?;
        let key = *key;
        self.by_size.get_mut(&block.size_bytes)?.pop_front();
        self.remove(key)
    }

    fn remove(&mut self, key: u64) -> Option<Box<DeviceBlock>> {
        let block = self.blocks.remove(&key)?;
        self.bytes -= block.size_bytes;
        if self.by_size.get(&block.size_bytes).is_some_and(VecDeque::is_empty) {
            self.by_size.remove(&block.size_bytes);
        }
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::DeviceNum;

    fn block(address: u64, size_bytes: u64) -> Box<DeviceBlock> {
        Box::new(DeviceBlock { device: DeviceNum(1), address, size_bytes, handle: [0; 64] })
    }

    #[test]
    fn the_last_used_of_a_size_comes_first_and_the_oldest_of_all_goes_first() {
        let mut cache = BlockCache::default();
        for (address, size_bytes) in [(1, 10), (2, 20), (3, 10), (4, 20)] {
            cache.insert(block(address, size_bytes));
        }
        assert_eq!((cache.bytes(), cache.take(15)), (60, None));
        let mut take = |size| cache.take(size).map(|block| block.address);
        assert_eq!([take(10), take(20)], [Some(3), Some(4)]);
        let mut oldest = || cache.take_oldest().map(|block| block.address);
        assert_eq!([oldest(), oldest(), oldest()], [Some(1), Some(2), None]);
        assert_eq!((cache.bytes(), cache.by_size.len()), (0, 0));
    }
}
