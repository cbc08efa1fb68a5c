//! How many instructions the store's inner parts take.
//!
//! # What is measured
//!
//! Everything that happens between two system calls: decoding and encoding of messages, framing,
//! requests to the store, eviction, and the allocator. A count is of machine instructions in user
//! space, as valgrind's callgrind sees them, divided by the number of operations. It says nothing
//! of waiting, of the kernel or of caches; but unlike a time it hardly depends on what else the
//! machine is doing, so a change of a percent is a change of the code.
//!
//! A benchmark sets up, unseen, what it needs, and hands its loop to [`counted`], the one function
//! that callgrind is told to look at. It begins with containers that have been in use, so that
//! their growth is not part of the result, and runs enough operations to level out the store's
//! hash tables: the seed of these differs from run to run.
//!
//! # How to run
//!
//! `cargo xtask bench` counts and compares with `benches/baseline.txt`; with `--write` the result
//! becomes the new baseline. That needs valgrind. Each benchmark gets a process of its own, so
//! none depends on what ran before it.
//!
//! Without valgrind, `cargo bench --bench instructions` runs everything once and counts nothing,
//! which shows that the benchmarks still work. Names may follow behind `--`.
//!
//! # How to read
//!
//! `instructions` is the count of one operation, loop and all. An operation is what the name says:
//! one message, one cycle, one pair of calls. `change` compares with the baseline. In the groups
//! `store` and `whole` up to a tenth of a percent is noise, in the others nothing is. Another
//! compiler or C library moves counts too, so the baseline tells with what it was taken. The
//! processor hardly does: `cargo xtask bench` asks the C library for the plainest of its routines.
//!
//! Where the instructions go is in a file for each benchmark that `cargo xtask bench` leaves, and
//! names: `callgrind_annotate FILE` shows it.

mod allocator;
mod decode;
mod encode;
mod eviction;
mod frame;
mod store;
mod whole;

#[rustfmt::skip]
#[path = "../../src/protocol/generated/plasma_generated.rs"]
mod wire;

use std::process::ExitCode;

use plasma_store::ids::{ClientId, ObjectId};

/// Something to count.
struct Bench {
    /// The group, which is the module, and the operation.
    name: &'static str,
    /// How many operations it runs.
    operations: usize,
    /// Sets up, and runs that many operations in [`counted`].
    run: fn(usize),
}

const GROUPS: [&[Bench]; 7] = [
    decode::BENCHES,
    encode::BENCHES,
    frame::BENCHES,
    store::BENCHES,
    whole::BENCHES,
    eviction::BENCHES,
    allocator::BENCHES,
];

/// A client that no store has to know.
const CLIENT: ClientId = ClientId { index: 0, generation: 0 };

fn main() -> ExitCode {
    // Cargo adds words of its own.
    let is_ours = |word: &String| word != "--bench" && word != "--test";
    let names: Vec<String> = std::env::args().skip(1).filter(is_ours).collect();
    let benches = || GROUPS.into_iter().flatten();
    if names == ["--list"] {
        for bench in benches() {
            println!("{} {}", bench.name, bench.operations);
        }
        return ExitCode::SUCCESS;
    }
    if let Some(unknown) = names.iter().find(|name| benches().all(|b| b.name != *name)) {
        eprintln!("there is no benchmark {unknown}; --list shows what there is");
        return ExitCode::FAILURE;
    }
    let mut runs = 0;
    for bench in benches().filter(|b| names.is_empty() || names.iter().any(|n| n == b.name)) {
        (bench.run)(bench.operations);
        runs += 1;
    }
    println!("{runs} benchmarks ran, nothing was counted here");
    ExitCode::SUCCESS
}

/// Runs the operation for each number below `operations`. Callgrind finds this function by its
/// name and counts while it runs, so it must not be inlined, and nothing else may be called so.
#[inline(never)]
fn counted(operations: usize, mut operation: impl FnMut(usize)) {
    for number in 0..operations {
        operation(number);
    }
}

/// The id with that number: a text in front and a counter behind, as users like to make them.
fn object_id(number: usize) -> ObjectId {
    let mut bytes = *b"object-aaaa-........";
    bytes[12..].copy_from_slice(&(number as u64).to_le_bytes());
    ObjectId(bytes)
}

/// The ids with the numbers from 0 on.
fn object_ids(count: usize) -> Vec<ObjectId> {
    (0..count).map(object_id).collect()
}
