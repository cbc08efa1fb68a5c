//! What an input says: how large the store is, and what happens to it.

use arbitrary::Arbitrary;
use plasma_store::ids::Digest;
use plasma_store::protocol::message::{CreateRequest, GetTimeout, TooLarge};

use crate::operation::{Name, Operation, Whole};
use crate::plan::Plan;

/// How many objects there are to speak of.
pub(super) const NAMES: u8 = 10;

/// A list has at most so many entries.
const MAX_ENTRIES: usize = 200;

#[derive(Arbitrary, Debug)]
pub(super) struct Input {
    pub(super) setup: Setup,
    pub(super) steps: Vec<Step>,
}

#[derive(Arbitrary, Debug)]
pub(super) struct Setup {
    capacity: Capacity,
    /// 0 stands for enough.
    max_objects: u8,
    has_external_store: bool,
    /// How many segments there may be, of about the capacity; 0 stands for enough, and larger ones.
    segments: u8,
    observed: bool,
    pub(super) zero_on_free: bool,
}

#[derive(Arbitrary, Debug)]
enum Capacity {
    Tiny(u8),
    Thousand,
    Any(u16),
    /// Large enough that pages are given back.
    Large(u8),
}

impl Setup {
    /// The simulation's plan with this setup.
    pub(super) fn plan(&self) -> Plan {
        let capacity_bytes = match self.capacity {
            Capacity::Tiny(bytes) => u64::from(bytes).max(1),
            Capacity::Thousand => 1000,
            Capacity::Any(bytes) => u64::from(bytes).max(1),
            Capacity::Large(share) => (1 << 18) + u64::from(share) * 1000,
        };
        let roomy = self.segments == 0;
        let slack_bytes = if roomy { 3 * capacity_bytes + (1 << 16) } else { 0 };
        Plan {
            capacity_bytes,
            max_objects: if self.max_objects == 0 { 1000 } else { self.max_objects.into() },
            has_external_store: self.has_external_store,
            roomy,
            segment_bytes: capacity_bytes + slack_bytes,
            max_segments: if roomy { 64 } else { usize::from(self.segments % 4) + 1 },
            names: NAMES,
            observed: self.observed,
            // The rest is for the simulation's own choices.
            ..Plan::new(&mut fastrand::Rng::with_seed(0))
        }
    }
}

/// Something that happens. Clients and transfers are named by their position among those that there
/// are.
#[derive(Arbitrary, Debug)]
pub(super) enum Step {
    Request(u8, Ask),
    RequestToo(u8, Ask),
    /// Something under way ends; it fails in one of eight cases.
    Complete {
        which: u8,
        failing: u8,
    },
    Rare(Rare),
}

/// What happens less often.
#[derive(Arbitrary, Debug)]
pub(super) enum Rare {
    Connect,
    Disconnect(u8),
    Unsubscribe(u8),
    /// So many milliseconds pass.
    Time(u16),
    /// Time passes until the first get has waited long enough, or just not so long.
    Deadline {
        before: bool,
    },
    /// From now on memory fails, or no longer.
    Fail(Failing),
    Recover,
}

#[derive(Arbitrary, Clone, Copy, Debug, Default)]
pub(super) struct Failing {
    pub(super) slow_reserve: bool,
    pub(super) full_reserve: bool,
    pub(super) never_reserve: bool,
    pub(super) write: bool,
    pub(super) segment: bool,
}

/// A request.
#[derive(Arbitrary, Debug)]
pub(super) enum Ask {
    Create { name: u8, evict_if_full: bool, data: Size, metadata: u8 },
    CreateAndSeal { name: u8, evict_if_full: bool, data: Size, metadata: u8 },
    Batch { evict_if_full: bool, objects: Vec<(u8, Size)> },
    Abort(u8),
    Seal(u8),
    GetOne { name: u8, timeout: Timeout },
    Get { names: Names, timeout: Timeout },
    Release(u8),
    Delete(Names),
    Evict(Size),
    SetOptions { label: u8, quota: Quota },
    Rare(RareAsk),
}

/// A request that changes little, or is seldom a good one.
#[derive(Arbitrary, Debug)]
pub(super) enum RareAsk {
    Disconnect,
    Connect,
    CreateHuge { name: u8, data_bytes: u64, metadata_bytes: u64 },
    CreateOnDevice(u8),
    TooLarge(bool),
    Contains(u8),
    List,
    EvictAny(u64),
    Subscribe,
    DebugString,
    RefreshLru(Names),
}

/// Some objects, of which any may be there several times.
#[derive(Arbitrary, Debug)]
pub(super) struct Names {
    names: Vec<u8>,
    /// All of them once more, so many times.
    repeat: u8,
}

impl Names {
    fn get(&self) -> Vec<Name> {
        let times = usize::from(self.repeat % 32) + 1;
        let names = self.names.iter().cycle().take(self.names.len() * times).take(MAX_ENTRIES);
        names.map(|number| name(*number)).collect()
    }
}

fn name(number: u8) -> Name {
    Name(number % NAMES)
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Size {
    Zero,
    Bytes(u8),
    /// So many 64ths of the capacity, up to a quarter of it.
    Part(u8),
    /// So many 32nds of the capacity, up to a little more than it.
    Share(u8),
    /// About the whole capacity.
    About(i8),
}

impl Size {
    fn get(self, capacity_bytes: u64) -> u64 {
        match self {
            Self::Zero => 0,
            Self::Bytes(bytes) => u64::from(bytes).min(capacity_bytes + 1),
            Self::Part(part) => capacity_bytes * u64::from(part % 17) / 64,
            Self::Share(share) => capacity_bytes * u64::from(share % 34) / 32,
            Self::About(difference) => capacity_bytes.saturating_add_signed(difference.into()),
        }
    }
}

/// Bytes of metadata: seldom many.
fn metadata_bytes(choice: u8) -> u64 {
    u64::from(choice.saturating_sub(200))
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Timeout {
    Now,
    Never,
    Soon(u8),
    Any(i64),
}

impl Timeout {
    fn get(self) -> GetTimeout {
        match self {
            Self::Now => GetTimeout::Now,
            Self::Never => GetTimeout::Never,
            Self::Soon(ms) => GetTimeout::from_wire(ms.into()),
            Self::Any(ms) => GetTimeout::from_wire(ms),
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Quota {
    /// So many 32nds of the capacity.
    Share(u8),
    Any(i64),
}

impl Quota {
    fn get(self, capacity_bytes: u64) -> i64 {
        match self {
            Self::Share(share) => {
                let bytes = capacity_bytes * u64::from(share % 24) / 32;
                i64::try_from(bytes).expect("stores are small here")
            }
            Self::Any(bytes) => bytes,
        }
    }
}

impl Ask {
    /// The request. `serial` makes contents differ.
    pub(super) fn operation(&self, capacity_bytes: u64, serial: u64) -> Operation {
        let digest: Digest = serial.to_le_bytes();
        match self {
            Self::Create { name, evict_if_full, data, metadata } => {
                let sizes = (data.get(capacity_bytes), metadata_bytes(*metadata));
                create(*name, *evict_if_full, sizes, 0, serial)
            }
            Self::CreateAndSeal { name: number, evict_if_full, data, metadata } => {
                let object = Whole {
                    name: name(*number),
                    data_bytes: data.get(capacity_bytes),
                    metadata_bytes: metadata_bytes(*metadata),
                    fill: serial,
                    digest,
                };
                Operation::CreateAndSeal { evict_if_full: *evict_if_full, object }
            }
            Self::Batch { evict_if_full, objects } => {
                let whole = |(number, data): &(u8, Size)| Whole {
                    name: name(*number),
                    data_bytes: data.get(capacity_bytes),
                    metadata_bytes: u64::from(*number / 64),
                    fill: serial + u64::from(*number),
                    digest,
                };
                let objects = objects.iter().take(2 * usize::from(NAMES)).map(whole).collect();
                Operation::Batch { evict_if_full: *evict_if_full, objects }
            }
            Self::Abort(number) => Operation::Abort(name(*number)),
            Self::Seal(number) => Operation::Seal(name(*number), digest),
            Self::GetOne { name: number, timeout } => {
                Operation::Get { names: vec![name(*number)], timeout: timeout.get() }
            }
            Self::Get { names, timeout } => {
                Operation::Get { names: names.get(), timeout: timeout.get() }
            }
            Self::Release(number) => Operation::Release(name(*number)),
            Self::Delete(names) => Operation::Delete(names.get()),
            Self::Evict(size) => Operation::Evict(size.get(capacity_bytes)),
            Self::SetOptions { label, quota } => {
                let quota_bytes = quota.get(capacity_bytes);
                Operation::SetOptions { label: vec![*label; usize::from(label % 4)], quota_bytes }
            }
            Self::Rare(ask) => ask.operation(serial),
        }
    }
}

impl RareAsk {
    fn operation(&self, serial: u64) -> Operation {
        match self {
            Self::Disconnect => Operation::Disconnect,
            Self::Connect => Operation::Connect,
            Self::CreateHuge { name, data_bytes, metadata_bytes } => {
                create(*name, true, (*data_bytes, *metadata_bytes), 0, serial)
            }
            Self::CreateOnDevice(number) => {
                create(*number, true, (1, 1), i32::from(*number) + 1, serial)
            }
            Self::TooLarge(true) => Operation::TooLarge(TooLarge::CreateAndSeal),
            Self::TooLarge(false) => Operation::TooLarge(TooLarge::CreateAndSealBatch),
            Self::Contains(number) => Operation::Contains(name(*number)),
            Self::List => Operation::List,
            // Negative numbers do not come out of decoding.
            Self::EvictAny(bytes) => Operation::Evict((*bytes).min(i64::MAX.cast_unsigned())),
            Self::Subscribe => Operation::Subscribe,
            Self::DebugString => Operation::DebugString,
            Self::RefreshLru(names) => Operation::RefreshLru(names.get()),
        }
    }
}

fn create(
    number: u8,
    evict_if_full: bool,
    (data_bytes, metadata_bytes): (u64, u64),
    device_num: i32,
    fill: u64,
) -> Operation {
    let id = name(number).id();
    let request = CreateRequest { id, evict_if_full, data_bytes, metadata_bytes, device_num };
    Operation::Create { request, fill }
}
