//! What happens to the store: requests that own their contents, and how they are chosen.

use std::fmt;

use plasma_store::ids::{Digest, ObjectId};
use plasma_store::protocol::message::{CreateRequest, GetTimeout, NewObject, Request, TooLarge};

use crate::memory::pattern;
use crate::plan::{Kind, Plan};

/// One of the few objects of a run, by its number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) u8);

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:02x})", self.0)
    }
}

impl Name {
    pub(crate) fn id(self) -> ObjectId {
        let mut bytes = [0x70; ObjectId::SIZE_BYTES];
        bytes[ObjectId::SIZE_BYTES - 1] = self.0;
        ObjectId(bytes)
    }
}

/// An object that arrives whole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) name: Name,
    pub(crate) data_bytes: u64,
    pub(crate) metadata_bytes: u64,
    /// Tells the contents, see [`pattern`].
    pub(crate) fill: u64,
    pub(crate) digest: Digest,
}

impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}+{} bytes", self.name, self.data_bytes, self.metadata_bytes)
    }
}

/// A request.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operation {
    Disconnect,
    Connect,
    Create { request: CreateRequest, fill: u64 },
    CreateAndSeal { evict_if_full: bool, object: Whole },
    Batch { evict_if_full: bool, objects: Vec<Whole> },
    TooLarge(TooLarge),
    Abort(Name),
    Seal(Name, Digest),
    Get { names: Vec<Name>, timeout: GetTimeout },
    Release(Name),
    Delete(Vec<Name>),
    Contains(Name),
    List,
    Evict(u64),
    Subscribe,
    SetOptions { label: Vec<u8>, quota_bytes: i64 },
    DebugString,
    RefreshLru(Vec<Name>),
}

pub(crate) fn ids(names: &[Name]) -> Vec<ObjectId> {
    names.iter().map(|name| name.id()).collect()
}

impl Operation {
    /// Calls `with` with the request as the store takes it.
    pub(crate) fn with_request<R>(&self, with: impl FnOnce(&Request<'_>) -> R) -> R {
        match self {
            Self::Disconnect => with(&Request::Disconnect),
            Self::Connect => with(&Request::Connect),
            Self::Create { request, .. } => with(&Request::Create(*request)),
            Self::CreateAndSeal { evict_if_full, object } => {
                let contents = object.contents();
                let object = object.request(&contents);
                with(&Request::CreateAndSeal { evict_if_full: *evict_if_full, object })
            }
            Self::Batch { evict_if_full, objects } => {
                let contents: Vec<Vec<u8>> = objects.iter().map(Whole::contents).collect();
                let objects = objects.iter().zip(&contents);
                let objects: Vec<_> =
                    objects.map(|(object, bytes)| object.request(bytes)).collect();
                let evict_if_full = *evict_if_full;
                with(&Request::CreateAndSealBatch { evict_if_full, objects: &objects })
            }
            Self::TooLarge(what) => with(&Request::TooLarge(*what)),
            Self::Abort(name) => with(&Request::Abort(name.id())),
            Self::Seal(name, digest) => with(&Request::Seal(name.id(), *digest)),
            Self::Get { names, timeout } => {
                with(&Request::Get { ids: &ids(names), timeout: *timeout })
            }
            Self::Release(name) => with(&Request::Release(name.id())),
            Self::Delete(names) => with(&Request::Delete(&ids(names))),
            Self::Contains(name) => with(&Request::Contains(name.id())),
            Self::List => with(&Request::List),
            Self::Evict(bytes) => with(&Request::Evict { bytes: *bytes }),
            Self::Subscribe => with(&Request::Subscribe),
            Self::SetOptions { label, quota_bytes } => {
                with(&Request::SetOptions { name: label, quota_bytes: *quota_bytes })
            }
            Self::DebugString => with(&Request::DebugString),
            Self::RefreshLru(names) => with(&Request::RefreshLru(&ids(names))),
        }
    }
}

impl Whole {
    fn contents(&self) -> Vec<u8> {
        pattern(self.fill, self.data_bytes + self.metadata_bytes)
    }

    fn request<'a>(&self, contents: &'a [u8]) -> NewObject<'a> {
        let at = usize::try_from(self.data_bytes).expect("tests are small");
        let (data, metadata) = contents.split_at(at);
        NewObject { id: self.name.id(), data, metadata, digest: self.digest }
    }
}

/// What there is to choose from, beside objects picked blindly.
pub(crate) struct Hints {
    /// What the client holds.
    pub(crate) held: Vec<Name>,
    /// What it is creating.
    pub(crate) creating: Vec<Name>,
}

/// Chooses requests.
pub(crate) struct Chooser<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) rng: &'a mut fastrand::Rng,
}

impl Chooser<'_> {
    pub(crate) fn request(&mut self, kind: Kind, hints: &Hints) -> Operation {
        match kind {
            Kind::Disconnect => Operation::Disconnect,
            Kind::Connect => Operation::Connect,
            Kind::Create => self.create(),
            Kind::CreateAndSeal => {
                let evict_if_full = self.evict_if_full();
                Operation::CreateAndSeal { evict_if_full, object: self.whole() }
            }
            Kind::Batch => {
                let evict_if_full = self.evict_if_full();
                let count = self.rng.usize(0..5);
                let objects = (0..count).map(|_| self.whole()).collect();
                Operation::Batch { evict_if_full, objects }
            }
            Kind::TooLarge if self.rng.bool() => Operation::TooLarge(TooLarge::CreateAndSeal),
            Kind::TooLarge => Operation::TooLarge(TooLarge::CreateAndSealBatch),
            Kind::Abort => Operation::Abort(self.likely(&hints.creating, 90)),
            Kind::Seal => Operation::Seal(self.likely(&hints.creating, 80), self.digest()),
            Kind::Get => Operation::Get { names: self.names(), timeout: self.timeout() },
            Kind::Release => Operation::Release(self.likely(&hints.held, 80)),
            Kind::Delete => Operation::Delete(self.names()),
            Kind::Contains => Operation::Contains(self.name()),
            Kind::List => Operation::List,
            Kind::Evict => Operation::Evict(self.evict_bytes()),
            Kind::Subscribe => Operation::Subscribe,
            Kind::SetOptions => self.set_options(),
            Kind::DebugString => Operation::DebugString,
            Kind::RefreshLru => Operation::RefreshLru(self.names()),
        }
    }

    fn name(&mut self) -> Name {
        Name(self.rng.u8(0..self.plan.names))
    }

    /// Up to five names, some of them twice.
    fn names(&mut self) -> Vec<Name> {
        let count = if self.rng.u8(0..3) == 0 { self.rng.usize(0..6) } else { 1 };
        (0..count).map(|_| self.name()).collect()
    }

    fn likely(&mut self, names: &[Name], percent: u32) -> Name {
        if !names.is_empty() && self.rng.u32(0..100) < percent {
            return names[self.rng.usize(0..names.len())];
        }
        self.name()
    }

    fn digest(&mut self) -> Digest {
        self.rng.u64(..).to_le_bytes()
    }

    fn evict_if_full(&mut self) -> bool {
        self.rng.u8(0..6) > 0
    }

    fn whole(&mut self) -> Whole {
        let (data_bytes, metadata_bytes) = self.size();
        Whole {
            name: self.name(),
            data_bytes,
            metadata_bytes,
            fill: self.rng.u64(..),
            digest: self.digest(),
        }
    }

    fn create(&mut self) -> Operation {
        let is_huge = self.rng.u8(0..25) == 0;
        let (data_bytes, metadata_bytes) = if is_huge { self.huge_size() } else { self.size() };
        let request = CreateRequest {
            id: self.name().id(),
            evict_if_full: self.evict_if_full(),
            data_bytes,
            metadata_bytes,
            device_num: if self.rng.u8(0..40) == 0 { 1 } else { 0 },
        };
        Operation::Create { request, fill: self.rng.u64(..) }
    }

    /// Bytes of data and of metadata that a message could bring.
    fn size(&mut self) -> (u64, u64) {
        let capacity_bytes = self.plan.capacity_bytes;
        let (fifth, half) = (capacity_bytes / 5, capacity_bytes / 2);
        let from = if self.rng.u32(0..100) < self.plan.large_percent { 10 } else { 0 };
        let total_bytes = match self.rng.u8(from..20) {
            0..=1 => 0,
            2..=9 => self.rng.u64(0..=(capacity_bytes / 8).max(1)),
            10..=11 => fifth,
            12 => fifth.saturating_sub(1),
            13 => fifth + 1,
            14 => self.rng.u64(0..=half),
            15 => half,
            16 => capacity_bytes / 3,
            17 => capacity_bytes,
            18 => self.rng.u64(0..=capacity_bytes),
            _ => capacity_bytes + 1 + self.rng.u64(0..3),
        };
        let metadata_bytes = match self.rng.u8(0..4) {
            0 => self.rng.u64(0..=total_bytes),
            1 => total_bytes,
            _ => 0,
        };
        (total_bytes - metadata_bytes, metadata_bytes)
    }

    /// Sizes that only a number can have.
    fn huge_size(&mut self) -> (u64, u64) {
        let most = u64::MAX / 2;
        let sizes = [
            (u64::MAX, 0),
            (0, u64::MAX),
            (most, most),
            (most, 1),
            (1 << 62, (1 << 62) - 1),
            (1 << 62, u64::MAX - (1 << 62) + 101),
            (1 << 40, 0),
        ];
        sizes[self.rng.usize(0..sizes.len())]
    }

    fn timeout(&mut self) -> GetTimeout {
        if self.rng.u32(0..100) < self.plan.patient_percent {
            return GetTimeout::Never;
        }
        match self.rng.u8(0..10) {
            0..=3 => GetTimeout::Now,
            4..=5 => GetTimeout::Never,
            6 => GetTimeout::Milliseconds(1000),
            7 => GetTimeout::Milliseconds(u64::MAX - self.rng.u64(0..2)),
            _ => GetTimeout::Milliseconds(self.rng.u64(1..3000)),
        }
    }

    fn evict_bytes(&mut self) -> u64 {
        match self.rng.u8(0..5) {
            0 => 0,
            1 => 1,
            2 => u64::MAX / 2,
            _ => self.rng.u64(0..=self.plan.capacity_bytes),
        }
    }

    fn set_options(&mut self) -> Operation {
        let capacity_bytes = i64::try_from(self.plan.capacity_bytes).expect("tests are small");
        let quota_bytes = match self.rng.u8(0..12) {
            0 => 0,
            1 => -1,
            2 => i64::MIN,
            3 => i64::MAX,
            4..=6 => capacity_bytes * 7 / 10,
            7 => capacity_bytes * 7 / 10 + 1,
            _ => self.rng.i64(0..=capacity_bytes * 6 / 10),
        };
        let label =
            if self.rng.bool() { vec![b'n', self.rng.u8(b'a'..=b'z')] } else { b"local".to_vec() };
        Operation::SetOptions { label, quota_bytes }
    }
}
