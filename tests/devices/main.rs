//! Random clients with objects on two devices and in host memory, and workers that fail at random.
//!
//! There is no model that says what must come out, as in `tests/simulation`, which has host memory
//! only. Instead each run holds what users rely on: whoever gets an object reads what its creator
//! wrote, also when it was copied out and back; memory of a device is handed out only when no
//! process can have it open for an earlier object; no limit is exceeded; nobody waits for ever; and
//! when all is over nothing is left. The store checks its own invariants after every event.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use plasma_store::ids::{ClientId, DeviceBlock, DeviceNum, Extent, ExternalKey, ObjectId};
use plasma_store::protocol::message::{
    Access, CreateRequest, DeviceHandle, GetTimeout, Reply, Request, SegmentInfo,
};
use plasma_store::store::{
    Backing, Effect, Moment, Progress, Reservation, Store, StoreConfig, TestBacking, TransferId,
    Unavailable,
};

const GRANULE_BYTES: u64 = 64;
const HOST_BYTES: u64 = 2000;
const DEVICES: usize = 2;
const STEPS: usize = 1500;
const SEEDS: u64 = 150;

/// Device memory, and free blocks that are used again.
struct Memory {
    host: TestBacking,
    blocks: BTreeMap<u64, Vec<u8>>,
    cache: Vec<DeviceBlock>,
    next_address: u64,
}

impl Memory {
    fn allocate(&mut self, device: DeviceNum, size_bytes: u64) -> Box<DeviceBlock> {
        self.next_address += 1 << 20;
        let address = self.next_address;
        let size = usize::try_from(size_bytes).unwrap();
        self.blocks.insert(address, vec![0xEE; size]);
        let mut handle = [0; DeviceBlock::HANDLE_BYTES];
        handle[..8].copy_from_slice(&address.to_le_bytes());
        Box::new(DeviceBlock { device, address, size_bytes, handle })
    }
}

impl Backing for Memory {
    fn add_segment(&mut self, min_bytes: u64) -> Result<SegmentInfo, Unavailable> {
        self.host.add_segment(min_bytes)
    }

    fn reserve(&mut self, extent: Extent, claimed: u64) -> Reservation {
        self.host.reserve(extent, claimed)
    }

    fn write(&mut self, extent: Extent, bytes: &[u8]) -> Result<(), Unavailable> {
        self.host.write(extent, bytes)
    }

    fn release_pages(&mut self, extent: Extent) {
        self.host.release_pages(extent);
    }

    fn take_block(&mut self, device: DeviceNum, size_bytes: u64) -> Option<Box<DeviceBlock>> {
        let fits = |block: &DeviceBlock| block.device == device && block.size_bytes == size_bytes;
        let index = self.cache.iter().position(fits)?;
        Some(Box::new(self.cache.swap_remove(index)))
    }
}

#[derive(Debug)]
enum Job {
    Allocate(TransferId, DeviceNum, u64),
    Spill(TransferId, ExternalKey, Option<Box<DeviceBlock>>, u64),
    Restore(TransferId, ExternalKey, DeviceNum, Option<Box<DeviceBlock>>, u64),
    Demote(ExternalKey),
    SpillHost(TransferId),
    RestoreHost(TransferId),
}

struct Connection {
    id: ClientId,
    paused: bool,
    /// What it asked for last.
    last: String,
    retry: Option<CreateRequest>,
    /// What it may write, and what it holds.
    creating: BTreeSet<ObjectId>,
    holds: BTreeSet<ObjectId>,
    /// The memory that its process has open, for which object.
    open: BTreeMap<u64, ObjectId>,
    watched: bool,
}

struct World {
    rng: fastrand::Rng,
    store: Store,
    memory: Memory,
    connections: Vec<Connection>,
    /// Processes that have outlived their connections, with what they have open.
    processes: Vec<(ClientId, BTreeMap<u64, ObjectId>)>,
    jobs: VecDeque<Job>,
    copies: BTreeMap<(ObjectId, u64), Vec<u8>>,
    lost: BTreeSet<DeviceNum>,
    fault_percent: u32,
    has_external_store: bool,
    number: u64,
    /// What is in each object, by its id; ids of devices are told apart by their first byte.
    written: BTreeMap<ObjectId, u64>,
    restored: usize,
}

fn bytes_of(fill: u64, length: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    fastrand::Rng::with_seed(fill).fill(&mut bytes);
    bytes
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut host = TestBacking::new(4 * HOST_BYTES + 8192);
        let segment = host.add_segment(HOST_BYTES).unwrap();
        let has_external_store = rng.bool();
        let config = StoreConfig {
            capacity_bytes: HOST_BYTES,
            has_external_store,
            device_bytes: vec![1024, 640],
            device_granule_bytes: GRANULE_BYTES,
            parking_bytes: (rng.u8(0..4) > 0).then(|| rng.u64(0..2000)),
            max_victims: 1 + rng.usize(0..4),
            max_ids_at_once: 1 + rng.usize(0..4),
            ..StoreConfig::default()
        };
        Self {
            store: Store::new(config, segment),
            memory: Memory { host, blocks: BTreeMap::new(), cache: Vec::new(), next_address: 0 },
            connections: Vec::new(),
            processes: Vec::new(),
            jobs: VecDeque::new(),
            copies: BTreeMap::new(),
            lost: BTreeSet::new(),
            fault_percent: [0, 0, 10, 50][rng.usize(0..4)],
            has_external_store,
            number: 0,
            written: BTreeMap::new(),
            restored: 0,
            rng,
        }
    }

    fn fails(&mut self) -> bool {
        self.rng.u32(0..100) < self.fault_percent
    }

    fn now(&self) -> Moment {
        Moment { elapsed: Duration::from_millis(self.number), unix_s: 0 }
    }

    fn any_id(&mut self) -> ObjectId {
        let device = self.rng.u8(0..3);
        let mut id = [0; 20];
        id[0] = device;
        id[1] = self.rng.u8(0..8);
        ObjectId(id)
    }

    fn step(&mut self) {
        self.number += 1;
        match self.rng.u8(0..100) {
            0..=29 => self.finish_job(),
            30..=31 if self.connections.len() < 6 => {
                let id = self.store.handle_connect();
                self.connections.push(Connection {
                    id,
                    paused: false,
                    last: String::new(),
                    retry: None,
                    creating: BTreeSet::new(),
                    holds: BTreeSet::new(),
                    open: BTreeMap::new(),
                    watched: false,
                });
            }
            33 => self.disconnect(),
            34..=41 => self.end_process(),
            42..=44 if self.store.has_work() => {
                self.store.work(&mut self.memory);
                self.settle();
            }
            45..=47 => {
                self.store.handle_timeout(self.now());
                self.settle();
            }
            48 if self.rng.u8(0..200) == 0 => {
                let device = DeviceNum(self.rng.u16(1..=2));
                self.lose(device);
            }
            _ => self.request(),
        }
    }

    fn lose(&mut self, device: DeviceNum) {
        self.lost.insert(device);
        self.memory.cache.retain(|block| block.device != device);
        self.store.handle_device_lost(device);
        let is_there = |id: &ObjectId| usize::from(id.0[0]) != device.index();
        for connection in &mut self.connections {
            connection.creating.retain(is_there);
            connection.holds.retain(is_there);
        }
        self.settle();
    }

    fn request(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        let index = self.rng.usize(0..self.connections.len());
        let connection = &mut self.connections[index];
        if connection.paused {
            return;
        }
        if let Some(create) = connection.retry.take() {
            return self.hand_in(index, &Request::Create(create), Some(create), true);
        }
        let creating = connection.creating.first().copied();
        let held = connection.holds.first().copied();
        let id = self.any_id();
        match self.rng.u8(0..16) {
            0..=3 => {
                let create = CreateRequest {
                    id,
                    evict_if_full: self.rng.u8(0..5) > 0,
                    data_bytes: self.rng.u64(0..300),
                    metadata_bytes: self.rng.u64(0..20),
                    device_num: id.0[0].into(),
                };
                self.hand_in(index, &Request::Create(create), Some(create), false);
            }
            4..=5 => {
                if let Some(id) = creating {
                    self.connections[index].creating.remove(&id);
                    self.connections[index].holds.insert(id);
                    self.hand_in(index, &Request::Seal(id, [7; 8]), None, false);
                }
            }
            6..=8 => {
                let count = 1 + self.rng.usize(0..8) / 3 * self.rng.usize(0..3);
                let ids: Vec<ObjectId> = (0..count).map(|_| self.any_id()).collect();
                let timeout = match self.rng.u8(0..3) {
                    0 => GetTimeout::Now,
                    1 => GetTimeout::Milliseconds(20),
                    _ => GetTimeout::Milliseconds(200),
                };
                self.hand_in(index, &Request::Get { ids: &ids, timeout }, None, false);
            }
            9..=14 => {
                if let Some(id) = held {
                    // Clients close what they opened before they release it.
                    let connection = &mut self.connections[index];
                    connection.holds.remove(&id);
                    connection.open.retain(|_, object| *object != id);
                    self.hand_in(index, &Request::Release(id), None, false);
                }
            }
            _ => match creating {
                Some(id) if self.rng.bool() => {
                    let connection = &mut self.connections[index];
                    connection.creating.remove(&id);
                    connection.open.retain(|_, object| *object != id);
                    self.hand_in(index, &Request::Abort(id), None, false);
                }
                _ if self.rng.bool() => {
                    self.hand_in(index, &Request::Evict { bytes: 500 }, None, false);
                }
                _ if self.rng.u8(0..4) == 0 => self.hand_in(index, &Request::List, None, false),
                _ => {
                    let ids = [id, self.any_id(), self.any_id()];
                    let ids = &ids[..1 + self.rng.usize(0..9) / 4];
                    self.hand_in(index, &Request::Delete(ids), None, false);
                }
            },
        }
    }

    fn hand_in(
        &mut self,
        index: usize,
        request: &Request<'_>,
        create: Option<CreateRequest>,
        again: bool,
    ) {
        let client = self.connections[index].id;
        let now = self.now();
        let progress = self.store.handle_request(now, client, request, again, &mut self.memory);
        let connection = &mut self.connections[index];
        connection.paused = progress != Progress::Done;
        connection.last = format!("{request:?}, again: {again}: {progress:?}");
        if progress == Progress::Retry {
            connection.retry = create;
            // A request to evict in parts is not repeated here; it has no state that matters.
        }
        self.settle();
    }

    /// Everything that the store wants done, then its invariants.
    fn settle(&mut self) {
        while let Some(effect) = self.store.next_effect() {
            self.apply(effect);
        }
        self.store.check_invariants();
        for device in 1..=DEVICES {
            let device = DeviceNum(u16::try_from(device).unwrap());
            let limit = [1024, 640][device.index() - 1];
            assert!(self.store.device_bytes(device) <= limit, "the limit of a device is kept");
        }
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Reply { client, reply } => self.read(client, reply),
            Effect::Resume(client) => {
                if let Some(connection) = self.connection(client) {
                    connection.paused = false;
                }
            }
            Effect::Close { client, violation } => panic!("{client} is closed: {violation}"),
            Effect::AllocateBlock { transfer, device, size_bytes } => {
                self.jobs.push_back(Job::Allocate(transfer, device, size_bytes));
            }
            Effect::FreeBlock { block, may_be_open } => {
                assert!(!self.lost.contains(&block.device), "nothing is freed on a lost device");
                if may_be_open {
                    self.memory.blocks.remove(&block.address);
                } else {
                    self.assert_closed(block.address, None);
                    self.memory.cache.push(*block);
                }
            }
            Effect::SpillBlock { transfer, key, block, contents_bytes, .. } => {
                self.jobs.push_back(Job::Spill(transfer, key, block, contents_bytes));
            }
            Effect::RestoreBlock { transfer, key, device, block, size_bytes, .. } => {
                self.jobs.push_back(Job::Restore(transfer, key, device, block, size_bytes));
            }
            Effect::Demote { key, .. } => self.jobs.push_back(Job::Demote(key)),
            Effect::ForgetCopy { key, .. } => {
                self.copies.remove(&(key.id, key.number));
            }
            Effect::WatchProcess(client) => {
                if let Some(connection) = self.connection(client) {
                    assert!(!std::mem::replace(&mut connection.watched, true), "once is enough");
                }
            }
            Effect::Spill { transfer, .. } => self.jobs.push_back(Job::SpillHost(transfer)),
            Effect::Restore { transfer, .. } => self.jobs.push_back(Job::RestoreHost(transfer)),
            Effect::ReleasePages(allocation) => self.store.handle_pages_released(allocation),
            Effect::Forget(_)
            | Effect::ListPart { .. }
            | Effect::SendSegment { .. }
            | Effect::Notify { .. }
            | Effect::Reserve { .. } => {}
        }
    }

    fn connection(&mut self, client: ClientId) -> Option<&mut Connection> {
        self.connections.iter_mut().find(|connection| connection.id == client)
    }

    fn assert_closed(&self, address: u64, but_for: Option<ObjectId>) {
        let connected = self.connections.iter().map(|connection| &connection.open);
        let all = connected.chain(self.processes.iter().map(|(_, open)| open));
        for object in all.filter_map(|open| open.get(&address)) {
            assert_eq!(Some(*object), but_for, "memory at {address:#x} is open for another object");
        }
    }

    fn read(&mut self, client: ClientId, reply: Reply) {
        match reply {
            Reply::Create { id, outcome: Ok((place, access)) } => {
                assert_eq!(place.device.index(), usize::from(id.0[0]), "where it was asked for");
                if let Access::Device(handle) = access {
                    self.number += 1;
                    let fill = self.number;
                    if let Some(address) = address_of(&handle) {
                        self.assert_closed(address, None);
                        let bytes = bytes_of(fill, handle.size_bytes);
                        let block = self.memory.blocks.get_mut(&address).unwrap();
                        block[..bytes.len()].copy_from_slice(&bytes);
                        if let Some(connection) = self.connection(client) {
                            connection.open.insert(address, id);
                        }
                    }
                    self.written.insert(id, fill);
                }
                if let Some(connection) = self.connection(client) {
                    connection.creating.insert(id);
                }
            }
            Reply::Get(reply) => {
                let mut handles = reply.handles.iter().flat_map(|handles| handles.iter());
                for (id, place) in &reply.objects {
                    let Some(place) = place else { continue };
                    if place.device == DeviceNum::HOST {
                        assert_eq!(id.0[0], 0);
                    } else {
                        let handle = handles.next().expect("each object on a device has one");
                        assert_eq!(handle.size_bytes, place.data_bytes + place.metadata_bytes);
                        self.look(client, *id, handle);
                    }
                    if let Some(connection) = self.connection(client) {
                        // The creator has it already, and sealed it.
                        connection.holds.insert(*id);
                    }
                }
                assert_eq!(handles.next(), None);
            }
            _ => {}
        }
    }

    fn look(&mut self, client: ClientId, id: ObjectId, handle: &DeviceHandle) {
        let Some(address) = address_of(handle) else { return };
        self.assert_closed(address, Some(id));
        let expected = bytes_of(self.written[&id], handle.size_bytes);
        assert_eq!(self.memory.blocks[&address][..expected.len()], expected, "contents of {id}");
        if let Some(connection) = self.connection(client) {
            connection.open.insert(address, id);
        }
    }

    fn disconnect(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        let index = self.rng.usize(0..self.connections.len());
        let connection = self.connections.swap_remove(index);
        self.store.handle_disconnect(connection.id, &mut self.memory);
        if connection.watched {
            self.processes.push((connection.id, connection.open));
        } else {
            assert!(connection.open.is_empty(), "whoever opens memory is watched");
        }
        self.settle();
    }

    fn end_process(&mut self) {
        if self.processes.is_empty() {
            return;
        }
        let index = self.rng.usize(0..self.processes.len());
        let is_certain = self.rng.u8(0..4) > 0;
        let (client, open) = self.processes.swap_remove(index);
        if !is_certain {
            // Nobody can tell: it may go on, and its memory may not be used again.
            self.processes.push((ClientId { index: u32::MAX, generation: u32::MAX }, open));
        }
        self.store.handle_process_ended(client, is_certain);
        self.settle();
    }

    fn finish_job(&mut self) {
        let Some(job) = self.jobs.pop_front() else { return };
        let failed = self.fails();
        let now = self.now();
        match job {
            Job::Allocate(transfer, device, size_bytes) => {
                let failed = failed || self.lost.contains(&device);
                let block = (!failed).then(|| self.memory.allocate(device, size_bytes));
                self.store.handle_allocated(transfer, block, &mut self.memory);
            }
            Job::Spill(transfer, key, block, contents_bytes) => {
                let is_lost = block.as_ref().is_some_and(|block| self.lost.contains(&block.device));
                let failed = failed || is_lost;
                if !failed {
                    let length = usize::try_from(contents_bytes).unwrap();
                    let contents = block.map_or(Vec::new(), |block| {
                        self.memory.blocks[&block.address][..length].to_vec()
                    });
                    self.copies.insert((key.id, key.number), contents);
                }
                self.store.handle_spilled(transfer, !failed, &mut self.memory);
            }
            Job::Restore(transfer, key, device, block, size_bytes) => {
                let has_copy = self.copies.contains_key(&(key.id, key.number));
                let failed = failed || self.lost.contains(&device) || !has_copy;
                let mut new = None;
                if !failed {
                    let contents = self.copies[&(key.id, key.number)].clone();
                    if block.is_none() && size_bytes > 0 {
                        new = Some(self.memory.allocate(device, size_bytes));
                    }
                    if let Some(block) = new.as_ref().or(block.as_ref()) {
                        let memory = self.memory.blocks.get_mut(&block.address).unwrap();
                        memory[..contents.len()].copy_from_slice(&contents);
                        self.restored += 1;
                    }
                }
                let memory = &mut self.memory;
                self.store.handle_block_restored(now, transfer, !failed, new, memory);
            }
            Job::Demote(key) => {
                assert!(self.has_external_store);
                if failed {
                    self.copies.remove(&(key.id, key.number));
                    self.store.handle_copy_lost(key);
                }
            }
            Job::SpillHost(transfer) => {
                self.store.handle_spilled(transfer, !failed, &mut self.memory);
            }
            Job::RestoreHost(transfer) => {
                self.store.handle_restored(now, transfer, !failed, &mut self.memory);
            }
        }
        self.settle();
    }

    /// Lets everything come to its end, and looks at what is left.
    fn close(&mut self) {
        self.fault_percent = 0;
        for _ in 0..10_000 {
            self.finish_job();
            let retry = self.connections.iter().position(|c| !c.paused && c.retry.is_some());
            if let Some(index) = retry {
                let create = self.connections[index].retry.take().unwrap();
                self.hand_in(index, &Request::Create(create), Some(create), true);
            } else if self.jobs.is_empty() && !self.store.has_work() {
                break;
            }
            if self.store.has_work() {
                self.store.work(&mut self.memory);
                self.settle();
            }
        }
        assert!(self.jobs.is_empty(), "nothing goes on for ever");
        let paused = self.connections.iter().find(|connection| connection.paused);
        let paused = paused.map(|connection| connection.last.clone());
        assert_eq!(paused, None, "nobody waits for ever");
        while !self.connections.is_empty() {
            self.disconnect();
        }
        while self.store.has_work() {
            self.store.work(&mut self.memory);
            self.settle();
        }
        while let Some((client, _)) = self.processes.pop() {
            self.store.handle_process_ended(client, true);
            self.settle();
        }
        let client = self.store.handle_connect();
        let now = self.now();
        for device in 0..3 {
            for number in 0..8 {
                let mut id = [0; 20];
                (id[0], id[1]) = (device, number);
                let request = Request::Delete(&[ObjectId(id)]);
                let _ = self.store.handle_request(now, client, &request, false, &mut self.memory);
                self.settle();
            }
        }
        while !self.jobs.is_empty() {
            self.finish_job();
        }
        assert_eq!(self.store.memory_bytes(), 0);
        for device in [DeviceNum(1), DeviceNum(2)] {
            assert_eq!(self.store.device_bytes(device), 0, "nothing is left on {device:?}");
        }
        assert!(self.copies.is_empty(), "no copy is left: {:?}", self.copies.keys());
    }
}

fn address_of(handle: &DeviceHandle) -> Option<u64> {
    let handle = handle.handle.as_ref()?;
    Some(u64::from_le_bytes(handle[..8].try_into().unwrap()))
}

#[test]
fn objects_on_devices_survive_everything() {
    let seeds = std::env::var("PLASMA_DEVICE_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let only = std::env::var("PLASMA_DEVICE_SEED").ok().and_then(|seed| seed.parse().ok());
    let range = only.map_or(0..seeds.unwrap_or(SEEDS), |seed: u64| seed..seed + 1);
    let mut restored = 0;
    for seed in range {
        let run = std::panic::AssertUnwindSafe(|| {
            let mut world = World::new(seed);
            for _ in 0..STEPS {
                world.step();
            }
            world.close();
            world.restored
        });
        match std::panic::catch_unwind(run) {
            Ok(count) => restored += count,
            Err(_) => panic!("seed {seed} fails; set PLASMA_DEVICE_SEED={seed}"),
        }
    }
    println!("{restored} objects came back to their devices");
    assert!(restored > 100 || only.is_some(), "enough objects come back to their devices");
}
