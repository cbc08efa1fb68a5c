//! The eviction policy by itself.

use std::hint::black_box;

use plasma_store::eviction::Eviction;
use plasma_store::ids::Slot;

use crate::{Bench, CLIENT, counted};

pub(crate) const BENCHES: &[Bench] = &[
    bench("eviction/push", push),
    bench("eviction/take", take),
    bench("eviction/pin_and_unpin", pin_and_unpin),
    bench("eviction/refresh", refresh),
];

const OPERATIONS: usize = 10_000;
const OBJECT_BYTES: u64 = 1000;

const fn bench(name: &'static str, run: fn(usize)) -> Bench {
    Bench { name, operations: OPERATIONS, run }
}

fn slot(number: usize) -> Slot {
    Slot(u32::try_from(number).expect("few slots"))
}

/// A policy that has known the slots below `count`, of which it now knows none.
fn emptied(count: usize) -> Eviction {
    let mut policy = filled(count);
    (0..count).for_each(|number| policy.remove(slot(number)));
    policy
}

/// A policy with the slots below `count` in its shared queue.
fn filled(count: usize) -> Eviction {
    let mut policy = Eviction::new(1 << 40);
    (0..count).for_each(|number| insert(&mut policy, slot(number)));
    policy
}

fn insert(policy: &mut Eviction, slot: Slot) {
    policy.insert_created(slot, black_box(OBJECT_BYTES), CLIENT);
    policy.unpin(slot);
}

/// A new object is created and released by its creator.
fn push(operations: usize) {
    let mut policy = emptied(operations);
    counted(operations, |number| {
        insert(black_box(&mut policy), slot(number));
    });
    assert_eq!(policy.evictable_objects(), operations);
}

/// The oldest object is chosen for eviction.
fn take(operations: usize) {
    let mut policy = filled(operations);
    let mut victims = Vec::with_capacity(1);
    counted(operations, |_| {
        victims.clear();
        let policy = black_box(&mut policy);
        policy.take_victims(black_box(OBJECT_BYTES), usize::MAX, &mut victims);
        assert_eq!(victims.len(), 1);
    });
    assert_eq!(policy.evictable_objects(), 0);
}

/// The oldest object is got and released.
fn pin_and_unpin(operations: usize) {
    let mut policy = filled(operations);
    counted(operations, |number| {
        let policy = black_box(&mut policy);
        policy.pin(slot(number));
        policy.unpin(slot(number));
    });
    assert_eq!(policy.evictable_objects(), operations);
}

/// The oldest object becomes the newest.
fn refresh(operations: usize) {
    let mut policy = filled(operations);
    counted(operations, |number| {
        black_box(&mut policy).refresh(slot(number));
    });
    assert_eq!(policy.evictable_objects(), operations);
}
