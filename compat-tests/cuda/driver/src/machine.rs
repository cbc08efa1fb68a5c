//! What all processes together use of each device: a file for each process in the shared folder.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// What this process uses of each device, in bytes.
#[derive(Default)]
pub(crate) struct Usage {
    folder: Option<PathBuf>,
    own_bytes: Vec<u64>,
}

impl Usage {
    pub(crate) fn new(folder: Option<&Path>, devices: usize) -> Self {
        Self { folder: folder.map(Path::to_owned), own_bytes: vec![0; devices] }
    }

    /// Takes so much more of a device, if that leaves all processes within `total_bytes`.
    pub(crate) fn take(&mut self, device: usize, bytes: u64, total_bytes: u64) -> bool {
        let _lock = self.lock();
        if self.used_bytes(device) + bytes > total_bytes {
            return false;
        }
        self.own_bytes[device] += bytes;
        self.publish();
        true
    }

    pub(crate) fn give_back(&mut self, device: usize, bytes: u64) {
        let _lock = self.lock();
        self.own_bytes[device] -= bytes;
        self.publish();
    }

    /// What is used of a device. A process that is gone uses nothing.
    pub(crate) fn used_bytes(&self, device: usize) -> u64 {
        let Some(folder) = &self.folder else { return self.own_bytes[device] };
        let own = process_name();
        let mut used_bytes = self.own_bytes[device];
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(process) = name.strip_prefix("uses-") else { continue };
            if process == own {
                continue;
            }
            let pid = process.split('-').next().unwrap_or_default();
            if name_of(pid).as_deref() != Some(process) {
                let _ = fs::remove_file(entry.path());
                continue;
            }
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            let bytes = text.split_whitespace().nth(device).and_then(|word| word.parse().ok());
            used_bytes += bytes.unwrap_or(0);
        }
        used_bytes
    }

    fn publish(&self) {
        let Some(folder) = &self.folder else { return };
        let numbers: Vec<String> = self.own_bytes.iter().map(u64::to_string).collect();
        let _ = fs::write(folder.join(format!("uses-{}", process_name())), numbers.join(" "));
    }

    /// Held until it is dropped, which the kernel sees to if the process dies.
    fn lock(&self) -> Option<File> {
        let file = File::create(self.folder.as_ref()?.join("lock")).ok()?;
        // SAFETY: the descriptor is open as long as `file` is there.
        unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) };
        Some(file)
    }
}

fn process_name() -> String {
    name_of(&std::process::id().to_string()).unwrap_or_default()
}

/// The number of a process and when it was started, which together are never used again. Nothing if
/// it is gone, or only waits for its parent to notice.
fn name_of(pid: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    Some(format!("{pid}-{}", fields.get(19)?))
}
