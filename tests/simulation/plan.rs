//! What a seed stands for: the size of the store, who takes part, and what is likely to happen.

use crate::memory::Faults;

/// The kinds of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Disconnect,
    Connect,
    Create,
    CreateAndSeal,
    Batch,
    TooLarge,
    Abort,
    Seal,
    Get,
    Release,
    Delete,
    Contains,
    List,
    Evict,
    Subscribe,
    SetOptions,
    DebugString,
    RefreshLru,
}

/// How often each kind comes up where nothing else is decided.
const WEIGHTS: [(Kind, u32); 18] = [
    (Kind::Disconnect, 2),
    (Kind::Connect, 1),
    (Kind::Create, 30),
    (Kind::CreateAndSeal, 20),
    (Kind::Batch, 12),
    (Kind::TooLarge, 1),
    (Kind::Abort, 5),
    (Kind::Seal, 25),
    (Kind::Get, 40),
    (Kind::Release, 40),
    (Kind::Delete, 12),
    (Kind::Contains, 3),
    (Kind::List, 2),
    (Kind::Evict, 5),
    (Kind::Subscribe, 2),
    (Kind::SetOptions, 5),
    (Kind::DebugString, 2),
    (Kind::RefreshLru, 6),
];

/// Everything that is decided before the first step.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) capacity_bytes: u64,
    pub(crate) max_objects: usize,
    /// What is longer is handled in several turns.
    pub(crate) max_ids_at_once: usize,
    pub(crate) max_bytes_at_once: u64,
    pub(crate) has_external_store: bool,
    /// Segments are large and many enough for any object that the count allows.
    pub(crate) roomy: bool,
    pub(crate) segment_bytes: u64,
    pub(crate) max_segments: usize,
    pub(crate) names: u8,
    pub(crate) max_clients: usize,
    /// In how many of a hundred cases only large objects are considered.
    pub(crate) large_percent: u32,
    /// In how many of a hundred cases a get waits for ever without further thought.
    pub(crate) patient_percent: u32,
    /// Every other client brings whole objects and holds none.
    pub(crate) has_producers: bool,
    /// A client that nothing else happens to is told of all seals and deletions.
    pub(crate) observed: bool,
    /// After each step a client asks for the list and for the debug text. Not always, since even
    /// these requests give the store an opportunity to catch up on what it forgot.
    pub(crate) asked_each_step: bool,
    pub(crate) weights: Vec<(Kind, u32)>,
    pub(crate) faults: Faults,
    /// In how many of a hundred steps something that is under way completes.
    pub(crate) completion_percent: u32,
}

impl Plan {
    pub(crate) fn new(rng: &mut fastrand::Rng) -> Self {
        let capacity_bytes = match rng.u8(0..12) {
            0 => rng.u64(1..10),
            1..=2 => rng.u64(10..300),
            3..=7 => 1000,
            8..=9 => rng.u64(1000..20_000),
            10 => rng.u64(20_000..300_000),
            _ => rng.u64(500_000..2_500_000),
        };
        let names = rng.u8(2..=14);
        let roomy = rng.u8(0..3) > 0;
        let slack_bytes = if roomy { 3 * capacity_bytes + (1 << 16) } else { 0 };
        let has_faults = rng.u8(0..3) == 0;
        let patient_percent = *rng.choice(&[0, 0, 50]).expect("there are some");
        let mut plan = Self {
            capacity_bytes,
            max_objects: if rng.u8(0..6) == 0 { rng.usize(1..8) } else { 1000 },
            max_ids_at_once: [1, 2, 1000][rng.usize(0..3)],
            max_bytes_at_once: if rng.bool() { 1 << 20 } else { 1 + capacity_bytes / 16 },
            has_external_store: rng.bool(),
            roomy,
            segment_bytes: capacity_bytes + slack_bytes,
            max_segments: if roomy { 64 } else { rng.usize(1..4) },
            names,
            max_clients: rng.usize(1..=6),
            large_percent: *rng.choice(&[0, 0, 30, 80]).expect("there are some"),
            patient_percent,
            has_producers: false,
            observed: rng.u8(0..4) > 0,
            asked_each_step: rng.bool(),
            weights: weights(rng),
            faults: if has_faults { faults(rng) } else { Faults::default() },
            completion_percent: *rng.choice(&[5, 20, 60]).expect("there are some"),
        };
        if rng.u8(0..6) == 0 {
            plan.crowd(rng);
        }
        // Slow reservations are an ordinary thing.
        if rng.u8(0..4) == 0 {
            plan.faults.slow_reserve = rng.u32(1..100);
        }
        plan
    }

    /// Makes a run in which much is outside, and most of the memory belongs to few clients: what is
    /// wanted back has to wait for them.
    fn crowd(&mut self, rng: &mut fastrand::Rng) {
        self.has_external_store = true;
        self.max_objects = 1000;
        self.max_clients = rng.usize(2..=4);
        self.large_percent = 40;
        self.patient_percent = 60;
        self.has_producers = rng.bool();
        for (kind, weight) in WEIGHTS {
            let factor = match kind {
                Kind::SetOptions => 6,
                Kind::Disconnect => rng.u32(1..4),
                Kind::CreateAndSeal => 2,
                Kind::Create | Kind::Abort | Kind::Evict | Kind::Delete | Kind::Release => {
                    rng.u32(0..2)
                }
                _ => 1,
            };
            self.weights.retain(|(other, _)| *other != kind);
            self.weights.push((kind, weight * factor));
        }
    }

    /// Whether only the count of bytes decides where objects find room.
    pub(crate) fn is_room_certain(&self) -> bool {
        self.roomy
            && (self.faults.full_reserve, self.faults.never_reserve, self.faults.segment)
                == (0, 0, 0)
    }
}

/// Some kinds are switched off, others are frequent, so that rare combinations come up.
fn weights(rng: &mut fastrand::Rng) -> Vec<(Kind, u32)> {
    let vary = |(kind, weight): &(Kind, u32)| {
        let weight = match rng.u8(0..10) {
            0..=1 => 0,
            2 => weight * 5,
            _ => *weight,
        };
        (*kind, weight)
    };
    let mut weights: Vec<_> = WEIGHTS.iter().map(vary).collect();
    if weights.iter().all(|(_, weight)| *weight == 0) {
        weights = WEIGHTS.to_vec();
    }
    weights
}

fn faults(rng: &mut fastrand::Rng) -> Faults {
    let mut percent = || if rng.bool() { 0 } else { *rng.choice(&[3, 20, 80]).expect("some") };
    Faults {
        slow_reserve: percent(),
        full_reserve: percent(),
        never_reserve: percent() / 4,
        write: percent() / 2,
        segment: percent(),
        reserve: percent(),
        spill: percent(),
        restore: percent(),
    }
}
