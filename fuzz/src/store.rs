//! The store against the model of the simulation in `tests/`: sequences of events from several
//! clients, with transfers that end in any order and memory that fails at will.

mod input;
mod world;

use arbitrary::{Arbitrary, Unstructured};

use self::input::Input;
use self::world::World;

/// Steps behind this one are left out.
const MAX_STEPS: usize = 400;

/// No more steps are taken when so many bytes were copied or compared.
const MAX_COPIED_BYTES: u64 = 4 << 20;

/// Runs one input.
///
/// # Panics
///
/// If something does not hold.
pub fn run(data: &[u8]) {
    let Ok(input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    let mut world = World::new(&input.setup);
    for step in input.steps.iter().take(MAX_STEPS) {
        if world.copied_bytes() > MAX_COPIED_BYTES {
            break;
        }
        world.take_step(step);
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
