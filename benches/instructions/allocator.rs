//! The allocator by itself.

use std::hint::black_box;

use fastrand::Rng;
use plasma_store::allocator::{Allocation, Allocator, LARGE_BYTES};
use plasma_store::ids::SegmentId;

use crate::{Bench, counted};

pub(crate) const BENCHES: &[Bench] = &[
    bench("allocator/allocate_small", 10_000, |n| allocate(n, SMALL_BYTES)),
    bench("allocator/free_small", 10_000, |n| free(n, SMALL_BYTES)),
    bench("allocator/allocate_large", 10_000, |n| allocate(n, LARGE)),
    bench("allocator/free_large", 10_000, |n| free(n, LARGE)),
    bench("allocator/pair_small", 10_000, |n| pair(n, SMALL_BYTES)),
    bench("allocator/pair_large", 10_000, |n| pair(n, LARGE)),
    bench("allocator/churn_at_100000", 100_000, |n| churn(n, 100_000)),
    bench("allocator/give_back_large", 10_000, give_back),
];

const SMALL_BYTES: u64 = 1000;
/// Not a whole number of pages.
const LARGE: u64 = 10 * LARGE_BYTES + 1000;

const fn bench(name: &'static str, operations: usize, run: fn(usize)) -> Bench {
    Bench { name, operations, run }
}

/// An allocator with room for everything here.
fn with_segment() -> Allocator {
    let mut allocator = Allocator::new();
    allocator.add_segment(SegmentId(1), 1 << 40);
    allocator
}

fn place(allocator: &mut Allocator, size_bytes: u64) -> Allocation {
    allocator.allocate(black_box(size_bytes)).expect("there is room")
}

/// An allocator that had `count` objects of that size once, and a vector with room for them.
fn used(count: usize, size_bytes: u64) -> (Allocator, Vec<Allocation>) {
    let mut allocator = with_segment();
    let mut live: Vec<_> = (0..count).map(|_| place(&mut allocator, size_bytes)).collect();
    live.drain(..).for_each(|allocation| allocator.free(allocation));
    (allocator, live)
}

/// One object behind the other, in space that others have left.
fn allocate(operations: usize, size_bytes: u64) {
    let (mut allocator, mut live) = used(operations, size_bytes);
    counted(operations, |_| live.push(place(&mut allocator, size_bytes)));
    assert_eq!(live.len(), operations);
}

/// Every object goes, the first ones first.
fn free(operations: usize, size_bytes: u64) {
    let mut allocator = with_segment();
    let live: Vec<_> = (0..operations).map(|_| place(&mut allocator, size_bytes)).collect();
    counted(operations, |number| allocator.free(black_box(live[number])));
    assert_eq!(allocator.live_bytes(), 0);
}

/// An object comes and goes while another stays.
fn pair(operations: usize, size_bytes: u64) {
    let mut allocator = with_segment();
    place(&mut allocator, size_bytes);
    let mut come_and_go = || {
        let allocation = place(&mut allocator, size_bytes);
        allocator.free(black_box(allocation));
    };
    come_and_go();
    counted(operations, |_| come_and_go());
}

/// One of `count` objects of many sizes goes, whichever, and another comes.
fn churn(operations: usize, count: usize) {
    let mut allocator = with_segment();
    let mut random = Rng::with_seed(1);
    let mut sizes = || {
        // As many between one power of two and the next as between any other two.
        let power = random.u32(6..=18);
        random.u64(1 << power..2 << power)
    };
    let mut live: Vec<_> = (0..count).map(|_| place(&mut allocator, sizes())).collect();
    let warm_up = operations;
    let sizes: Vec<u64> = (0..warm_up + operations).map(|_| sizes()).collect();
    let mut random = Rng::with_seed(2);
    let goers: Vec<usize> = sizes.iter().map(|_| random.usize(..count)).collect();
    let mut step = |number: usize| {
        let goer = &mut live[goers[number]];
        allocator.free(*goer);
        *goer = place(&mut allocator, sizes[number]);
    };
    (0..warm_up).for_each(&mut step);
    counted(operations, |number| step(warm_up + number));
    allocator.check_invariants();
}

/// An object comes and goes, and its pages are given back.
fn give_back(operations: usize) {
    let mut allocator = with_segment();
    place(&mut allocator, LARGE);
    let mut come_and_go = || {
        let allocation = place(&mut allocator, LARGE);
        allocator.free(black_box(allocation));
        let cold = allocator.take_coldest_touched().expect("it was freed just now");
        allocator.free_untouched(black_box(cold));
    };
    come_and_go();
    counted(operations, |_| come_and_go());
    assert_eq!(allocator.touched_free_bytes(), 0);
}
