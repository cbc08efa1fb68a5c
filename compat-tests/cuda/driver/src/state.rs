//! What the driver knows in this process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code;
use crate::faults::{Faults, is_final};
use crate::machine::Usage;
use crate::memory::Mapping;

/// Allocations below this share pieces of this size.
const PIECE_BYTES: u64 = 2 << 20;

/// Where allocations in a piece begin.
const ALIGNMENT_BYTES: u64 = 512;

pub(crate) const HANDLE_BYTES: usize = 64;

thread_local! {
    /// The devices of the contexts of this thread, the current one last.
    static CONTEXTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn with_contexts<T>(change: impl FnOnce(&mut Vec<usize>) -> T) -> T {
    CONTEXTS.with_borrow_mut(change)
}

/// An allocation of this process.
struct Allocation {
    device: usize,
    bytes: u64,
    /// The memory that it is in, alone or with others.
    piece: Rc<Mapping>,
}

/// Memory of another process.
struct Opened {
    device: usize,
    bytes: u64,
    mapping: Mapping,
    handle: [u8; HANDLE_BYTES],
    count: u32,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) is_initialised: bool,
    pub(crate) folder: Option<PathBuf>,
    /// The memory of each device, in bytes.
    pub(crate) devices: Vec<u64>,
    pub(crate) faults: Faults,
    /// What everything on a device that has failed for good answers.
    pub(crate) lost: Vec<Option<i32>>,
    pub(crate) usage: Usage,
    allocations: BTreeMap<u64, Allocation>,
    /// The piece of each device that small allocations are taken from, and how much of it was.
    small: Vec<Option<(Rc<Mapping>, u64)>>,
    opened: BTreeMap<u64, Opened>,
    pub(crate) host: BTreeMap<u64, u64>,
}

// SAFETY: the counts of `Rc` are changed only with the one lock of the state held.
unsafe impl Send for State {}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state, made from the environment at the first call.
pub(crate) fn lock() -> MutexGuard<'static, Option<State>> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if state.is_none() {
        *state = Some(State::from_environment());
    }
    state
}

impl State {
    fn from_environment() -> Self {
        let folder = env::var_os("STAND_IN_CUDA_DIR").map(PathBuf::from);
        let text = env::var("STAND_IN_CUDA_DEVICES").unwrap_or_else(|_| "1024".to_owned());
        let all: Vec<u64> = text.split(',').filter_map(|word| word.trim().parse().ok()).collect();
        // Only which devices there are; all of them are alike but for their memory.
        let devices: Vec<u64> = match env::var("CUDA_VISIBLE_DEVICES") {
            Ok(visible) => visible
                .split(',')
                .map_while(|word| all.get(word.trim().parse::<usize>().ok()?).copied())
                .collect(),
            Err(_) => all,
        };
        let count = devices.len();
        Self {
            usage: Usage::new(folder.as_deref(), count),
            folder,
            devices: devices.iter().map(|mebibytes| mebibytes << 20).collect(),
            lost: vec![None; count],
            small: (0..count).map(|_| None).collect(),
            ..Self::default()
        }
    }

    /// Notes a code that a call answers.
    pub(crate) fn note(&mut self, device: Option<usize>, code: i32) {
        if let Some(device) = device
            && is_final(code)
        {
            self.lost[device] = Some(code);
        }
    }

    pub(crate) fn allocate(&mut self, device: usize, bytes: u64) -> Result<u64, i32> {
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        let is_small = bytes < PIECE_BYTES;
        if is_small && let Some((piece, used_bytes)) = &mut self.small[device] {
            let start = used_bytes.next_multiple_of(ALIGNMENT_BYTES);
            if start + bytes <= piece.bytes {
                *used_bytes = start + bytes;
                let (address, piece) = (piece.address + start, Rc::clone(piece));
                let allocation = Allocation { device, bytes, piece };
                self.allocations.insert(address, allocation);
                return Ok(address);
            }
        }
        let charged_bytes = bytes.checked_next_multiple_of(PIECE_BYTES);
        let charged_bytes = charged_bytes.ok_or(code::OUT_OF_MEMORY)?;
        if !self.usage.take(device, charged_bytes, self.devices[device]) {
            return Err(code::OUT_OF_MEMORY);
        }
        let Ok(piece) = Mapping::create(charged_bytes) else {
            self.usage.give_back(device, charged_bytes);
            return Err(code::OUT_OF_MEMORY);
        };
        let (address, piece) = (piece.address, Rc::new(piece));
        if is_small {
            self.small[device] = Some((Rc::clone(&piece), bytes));
        }
        self.allocations.insert(address, Allocation { device, bytes, piece });
        Ok(address)
    }

    pub(crate) fn free(&mut self, address: u64) -> Result<(), i32> {
        let allocation = self.allocations.remove(&address).ok_or(code::INVALID_VALUE)?;
        let device = allocation.device;
        // The piece that small ones are taken from goes with the last of them.
        if let Some((piece, _)) = &self.small[device]
            && Rc::ptr_eq(piece, &allocation.piece)
            && Rc::strong_count(piece) == 2
        {
            self.small[device] = None;
        }
        match Rc::try_unwrap(allocation.piece) {
            Ok(piece) => self.usage.give_back(device, piece.bytes),
            // Others in the same piece: the last of them gives it back.
            Err(_piece) => {}
        }
        Ok(())
    }

    /// The start, the length and the device of what an address lies in.
    pub(crate) fn range(&self, address: u64) -> Option<(u64, u64, usize)> {
        let own = self.allocations.range(..=address).next_back();
        let own = own.map(|(start, it)| (*start, it.bytes, it.device));
        let opened = self.opened.range(..=address).next_back();
        let opened = opened.map(|(start, it)| (*start, it.bytes, it.device));
        own.into_iter().chain(opened).find(|(start, bytes, _)| address - start < *bytes)
    }

    /// Whether a copy may touch these bytes of a device. Like a real device, this lets a process
    /// reach all of the piece that it has opened a part of.
    pub(crate) fn check(&self, address: u64, bytes: u64) -> Result<(), i32> {
        let pieces = self.allocations.values().map(|it| (it.piece.address, it.piece.bytes));
        let opened = self.opened.values().map(|it| (it.mapping.address, it.mapping.bytes));
        let end = address.checked_add(bytes).ok_or(code::INVALID_VALUE)?;
        let lies_in = |(start, length): (u64, u64)| address >= start && end <= start + length;
        if pieces.chain(opened).any(lies_in) { Ok(()) } else { Err(code::INVALID_VALUE) }
    }

    pub(crate) fn export(&self, address: u64) -> Result<[u8; HANDLE_BYTES], i32> {
        // Of an address inside it is the handle of the whole.
        let (start, bytes, device) = self.range(address).ok_or(code::INVALID_VALUE)?;
        let piece = &self.allocations.get(&start).ok_or(code::INVALID_VALUE)?.piece;
        let number = |value: u64| value.to_le_bytes();
        let descriptor = u64::try_from(piece.file.as_raw_fd()).map_err(|_| code::INVALID_VALUE)?;
        let mut handle = [0; HANDLE_BYTES];
        let fields = [
            u64::from(std::process::id()),
            descriptor,
            piece.inode(),
            start - piece.address,
            bytes,
            device as u64,
        ];
        for (place, field) in handle.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&number(field));
        }
        Ok(handle)
    }

    pub(crate) fn open(&mut self, handle: [u8; HANDLE_BYTES]) -> Result<u64, i32> {
        let opened = self.opened.iter_mut().find(|(_, opened)| opened.handle == handle);
        if let Some((address, opened)) = opened {
            opened.count += 1;
            return Ok(*address);
        }
        let field = |place: usize| {
            let bytes = handle[place * 8..place * 8 + 8].try_into().expect("eight of them");
            u64::from_le_bytes(bytes)
        };
        let pid = u32::try_from(field(0)).map_err(|_| code::INVALID_VALUE)?;
        if pid == std::process::id() {
            return Err(code::INVALID_CONTEXT);
        }
        let descriptor = i32::try_from(field(1)).map_err(|_| code::INVALID_VALUE)?;
        let mapping = Mapping::open(pid, descriptor, field(2)).map_err(|_| code::INVALID_VALUE)?;
        let (start, bytes) = (field(3), field(4));
        let device = usize::try_from(field(5)).map_err(|_| code::INVALID_VALUE)?;
        if start.checked_add(bytes).is_none_or(|end| end > mapping.bytes)
            || device >= self.devices.len()
        {
            return Err(code::INVALID_VALUE);
        }
        let address = mapping.address + start;
        self.opened.insert(address, Opened { device, bytes, mapping, handle, count: 1 });
        Ok(address)
    }

    pub(crate) fn close(&mut self, address: u64) -> Result<(), i32> {
        let opened = self.opened.get_mut(&address).ok_or(code::INVALID_VALUE)?;
        opened.count -= 1;
        if opened.count == 0 {
            self.opened.remove(&address);
        }
        Ok(())
    }
}
