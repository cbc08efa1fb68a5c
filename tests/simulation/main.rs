//! Random clients against the store, with a naive model that says what must come out.
//!
//! A seed decides on a small store and on up to six clients that ask for anything at random about a
//! handful of objects, while memory and an external store now and then refuse (`plan.rs`,
//! `operation.rs`, `memory.rs`). After each event everything that the store did is compared with
//! what the model expects (`world.rs`, `model/`), and the store checks its own invariants.
//!
//! What is modelled, to the letter: the contents of every reply and who gets it when; who holds
//! what; which objects are evicted, in which order, for whom, and that nothing is for what cannot
//! fit; quotas; notices and their order among replies; descriptors of segments, once to each client
//! and right behind the reply that needs them; timeouts; requests that are handed in again; spills
//! and restores, with all that can happen to an object while they are under way; what the external
//! store is told to forget; the bytes of every object, wherever it is; memory that is never handed
//! out twice. At any time when nothing is under way nobody is paused, and no get waits for an
//! object that could be had. In the end all is released and deleted, and nothing is left.
//!
//! What is not: which place an object gets and when pages of free memory are given back (the
//! allocator's own tests do this; here places only have to be free), bytes on sockets, the server's
//! limits on output, and what a client does to memory that is not its own.
//!
//! A failure tells the seed. These variables may be set:
//!
//! * `PLASMA_SIM_SEEDS`: how many seeds are run.
//! * `PLASMA_SIM_STEPS`: how many steps each takes.
//! * `PLASMA_SIM_SEED`: only this seed is run, and everything that happens is shown.

mod memory;
mod model;
mod operation;
mod plan;
mod world;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use plasma_store::store::Effect;

use self::model::RARE_TURNS;
use self::world::World;

const DEFAULT_SEEDS: u64 = 200;
const DEFAULT_STEPS: u64 = 500;

/// With so many seeds of the default length each of [`RARE_TURNS`] comes up.
const ENOUGH_SEEDS: u64 = 1000;

/// What is found when several seeds are run.
#[derive(Default)]
struct Findings {
    turns: BTreeSet<&'static str>,
    failure: Option<String>,
}

/// A number from the environment.
fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

fn steps() -> u64 {
    variable("PLASMA_SIM_STEPS").unwrap_or(DEFAULT_STEPS)
}

/// Runs one seed. Returns which rare turns came up, or what went wrong.
fn run(seed: u64, steps: u64, is_loud: bool) -> Result<BTreeSet<&'static str>, String> {
    let mut world = World::new(seed, is_loud);
    let count = usize::try_from(steps).expect("a number of steps");
    match catch_unwind(AssertUnwindSafe(|| world.run(count))) {
        Ok(()) => Ok(world.turns().clone()),
        Err(_) => Err(format!(
            "seed {seed} fails at {}\n(see above for what failed; to replay it set \
             PLASMA_SIM_SEED={seed} PLASMA_SIM_STEPS={steps})",
            world.story(),
        )),
    }
}

#[test]
fn random_clients_meet_the_model() {
    let steps = steps();
    if let Some(seed) = variable("PLASMA_SIM_SEED") {
        run(seed, steps, true).unwrap_or_else(|story| panic!("{story}"));
        return;
    }
    let seeds = variable("PLASMA_SIM_SEEDS").unwrap_or(DEFAULT_SEEDS);
    let next_seed = AtomicU64::new(0);
    let findings = Mutex::new(Findings::default());
    let work = || {
        loop {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return;
            }
            let result = run(seed, steps, false);
            let mut findings = findings.lock().expect("nobody panics with the lock");
            match result {
                Ok(turns) => findings.turns.extend(turns),
                Err(story) => {
                    findings.failure = Some(story);
                    next_seed.store(seeds, Ordering::Relaxed);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let findings = findings.into_inner().expect("nobody panics with the lock");
    if let Some(story) = findings.failure {
        panic!("{story}");
    }
    if seeds >= ENOUGH_SEEDS && steps >= DEFAULT_STEPS {
        let expected = BTreeSet::from(RARE_TURNS);
        let missing: Vec<_> = expected.difference(&findings.turns).collect();
        assert!(missing.is_empty(), "these never came up: {missing:?}");
    }
}

/// The store hashes with a random seed, but nothing that can be seen may depend on it.
#[test]
fn equal_seeds_give_equal_runs() {
    let effects = |seed| -> Vec<Effect> {
        let mut world = World::new(seed, false);
        world.keep_log();
        world.run(300);
        world.take_log()
    };
    for seed in 0..12 {
        assert!(effects(seed) == effects(seed), "seed {seed} gives two different runs");
    }
}

/// A seed that failed once.
fn regression(seed: u64) {
    run(seed, DEFAULT_STEPS, false).unwrap_or_else(|story| panic!("{story}"));
}

// What follows holds as long as a seed stands for the same run. Whoever changes how a run is made
// breaks the store again as each story says, and looks for a seed that notices.

/// An object was deleted while a get waited for it to come back from the external store. Then there
/// was no room for it, and it stayed outside for ever.
#[test]
fn deleted_while_it_waits_to_come_back() {
    regression(78);
}

/// With as many objects as there may be, a create was refused though its client's quota made it
/// evict one of its own.
#[test]
fn number_of_objects_kept_by_a_quota() {
    regression(183);
}

/// A client with a quota left. What it had created could be evicted for others from then on, but
/// nobody told the get that waited for room.
#[test]
fn room_made_by_a_client_that_leaves() {
    regression(1622);
}

/// A get with the same id twice had the object restored a second time when the first attempt found
/// no memory, after it had been answered.
#[test]
fn restored_once_for_a_repeated_id() {
    regression(125);
}

/// A restore that had found no room, was tried again, and had to wait then, was listed as lacking
/// room twice; so it came before others that had waited longer.
#[test]
fn in_line_for_room_only_once() {
    regression(1);
}

/// An object was deleted that had found no room to come back. Its slot stayed in the line for room.
#[test]
fn deleted_in_the_line_for_room() {
    regression(52);
}
