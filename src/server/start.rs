//! From a checked configuration to a server that runs, and its end.

use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::path::Path;

use mio::{Interest, Poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::gpus::{self, Found, Gpus, Processes};
use super::host::Host;
use super::listener::Listener;
use super::sandbox;
use super::signals::Signals;
use super::worker::Worker;
use super::{Accepting, Clock, LISTENER, SIGNALS, Server, Warnings, Workers};
use crate::config::{self, Backing, Config};
use crate::external;
use crate::protocol::encode::Encoder;
use crate::protocol::frame::BodyLimits;
use crate::store::{Store, StoreConfig};
use crate::sys::arena;

/// Requests that carry payloads may be longer than the capacity by this much: what stands around
/// the payloads, at about 80 bytes an object, for 200,000 objects in a batch.
const PAYLOAD_OVERHEAD_BYTES: u64 = 16 << 20;

/// The gets of a connection that wait may name so many times the ids that one may name.
const WAITING_REQUESTS: usize = 10;

/// Why the server could not start: one sentence for whoever started it.
#[derive(Debug)]
pub struct StartError(String);

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Turns an error into a sentence that says what could not be done.
fn failed<E: fmt::Display>(what: impl fmt::Display) -> impl FnOnce(E) -> StartError {
    move |error| StartError(format!("{what}: {error}"))
}

/// Starts a server and serves until SIGTERM or SIGINT.
///
/// # Errors
///
/// If it cannot start, or the poll fails.
pub fn run(config: &Config) -> Result<(), StartError> {
    let signals = Signals::new().map_err(failed("cannot take over signals"))?;
    set_process_name();
    raise_descriptor_limit();
    log::info!("{}", config::memory_line(config.capacity_bytes.cast_signed()));
    log::info!("{}", config::backing_line(&config.backing));
    warn_of_space(config);
    let mut server = start(config, signals)?;
    if config.sandbox {
        log::info!("sandbox: {}", enter_sandbox(config));
    }
    log::info!(
        "ready: {} bytes in {} at {}, version {}",
        config.capacity_bytes,
        describe(&config.backing),
        config.socket.display(),
        env!("CARGO_PKG_VERSION"),
    );
    let signal = server.serve().map_err(failed("the poll failed"))?;
    log::info!("{signal} Signal received, closing Plasma Server...");
    Ok(())
}

fn start(config: &Config, signals: Signals) -> Result<Server, StartError> {
    let found = Found::look(&config.cuda).map_err(StartError)?;
    let mut host = Host::new(config, tight_group_bytes(config));
    let store = new_store(config, found.limits_bytes(), &mut host)?;
    let poll = Poll::new().map_err(failed("cannot poll"))?;
    let store_outside = config.external_store.as_ref().map(|endpoint| {
        let opened = external::open(&endpoint.name, &endpoint.rest);
        opened.ok_or_else(|| StartError(format!("no such external store \"{}\"", endpoint.name)))
    });
    let store_outside = store_outside.transpose()?;
    let gpus = |reports: &_, external: Option<&Worker>| {
        let external = external.map(Worker::jobs);
        Gpus::start(found, config, reports, external)
    };
    let Workers { memory, external, gpus, reports } =
        Workers::start(&poll, store_outside, gpus).map_err(failed("cannot start a thread"))?;
    host.gpus = gpus;
    let mut listener = Listener::bind(&config.socket, &config.access)
        .map_err(failed(format_args!("cannot listen at {}", config.socket.display())))?;
    let registry = poll.registry();
    registry
        .register(&mut listener.socket, LISTENER, Interest::READABLE)
        .map_err(failed("cannot poll the socket"))?;
    signals.register(registry, SIGNALS).map_err(failed("cannot poll signals"))?;
    let mut clock = Clock::new();
    clock.update();
    Ok(Server {
        poll,
        listener,
        signals,
        store,
        host,
        limits: config.limits,
        body_limits: BodyLimits {
            small_bytes: config.limits.max_small_body_bytes as u64,
            list_bytes: config.limits.max_list_body_bytes as u64,
            payload_bytes: config
                .capacity_bytes
                .saturating_add(PAYLOAD_OVERHEAD_BYTES)
                .min(config.limits.max_payload_body_bytes as u64),
        },
        encoder: Encoder::new(),
        connections: Vec::new(),
        processes: Processes::default(),
        connection_count: 0,
        ready: VecDeque::new(),
        dirty: Vec::new(),
        subscribers: Vec::new(),
        newcomers: VecDeque::new(),
        chunk: vec![0; config.limits.read_chunk_bytes],
        frame: Vec::new(),
        memory_worker: memory,
        external_worker: external,
        reports,
        clock,
        accepting: Accepting::default(),
        access: config.access.clone(),
        zero_on_free: config.zero_on_free,
        warnings: Warnings::default(),
    })
}

fn enter_sandbox(config: &Config) -> sandbox::Report {
    let segments = match &config.backing {
        Backing::Directory(directory) | Backing::HugeDirectory(directory) => Some(&**directory),
        Backing::Memfd | Backing::HugeMemfd(_) => None,
    };
    let socket = match config.socket.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    sandbox::enter(socket, segments)
}

/// The store with its first segment. Failing to get that is worth a better sentence than later
/// ones.
fn new_store(
    config: &Config,
    device_bytes: Vec<u64>,
    host: &mut Host,
) -> Result<Store, StartError> {
    let segment = host.create_segment(config.capacity_bytes).map_err(failed(format_args!(
        "cannot get {} bytes of shared memory from {}",
        config.capacity_bytes,
        describe(&config.backing),
    )))?;
    let store_config = StoreConfig {
        capacity_bytes: config.capacity_bytes,
        max_objects: config.limits.max_objects,
        max_gets: config.limits.max_gets,
        max_waiting_ids: config.limits.max_ids.saturating_mul(WAITING_REQUESTS),
        zero_on_free: config.zero_on_free,
        has_external_store: config.external_store.is_some(),
        device_bytes,
        device_granule_bytes: gpus::granule_bytes(&config.cuda),
        parking_bytes: config.parking_bytes(),
        ..StoreConfig::default()
    };
    Ok(Store::new(store_config, host.push_segment(segment)))
}

fn describe(backing: &Backing) -> String {
    match backing {
        Backing::Memfd => "anonymous memory".to_owned(),
        Backing::HugeMemfd(size) => format!("anonymous huge pages of {} bytes", size.bytes()),
        Backing::Directory(directory) => directory.display().to_string(),
        Backing::HugeDirectory(directory) => format!("huge pages of {}", directory.display()),
    }
}

/// Tells if the capacity is more than there is. That is no error: many start the store with a
/// number that is only meant to be large.
fn warn_of_space(config: &Config) {
    match &config.backing {
        Backing::Directory(directory) => {
            let free_bytes = arena::free_bytes(directory);
            let warning = free_bytes.ok().and_then(|free_bytes| {
                config::space_warning(directory, config.capacity_bytes, free_bytes)
            });
            if let Some(warning) = warning {
                log::warn!("{warning}");
            }
        }
        Backing::Memfd => {
            let capacity_bytes = config.capacity_bytes;
            if let Some(bytes) = available_memory_bytes().filter(|bytes| *bytes < capacity_bytes) {
                log::warn!(
                    "the capacity of {capacity_bytes} bytes is more than the {bytes} bytes of \
                     memory that the machine has available"
                );
            }
            if let Some(bytes) = tight_group_bytes(config) {
                log::warn!(
                    "the capacity of {capacity_bytes} bytes is more than the memory control group \
                     of the server may use: objects will take up no more than {bytes} bytes"
                );
            }
        }
        Backing::HugeMemfd(_) | Backing::HugeDirectory(_) => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where the kernel says it")]
fn available_memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What objects may take up if the capacity is more than a control group of this process may use.
/// A group at its limit loses a process, so an eighth of it is left for what is no object.
fn tight_group_bytes(config: &Config) -> Option<u64> {
    let limit_bytes = match config.backing {
        Backing::Memfd => group_limit_bytes(Path::new("/"))?,
        _ => return None,
    };
    (limit_bytes < config.capacity_bytes).then_some(limit_bytes - limit_bytes / 8)
}

/// What the control groups of this process let it use, whichever of their two versions counts
/// memory. Pages count for the group of who touches them first, which is often a client; but most
/// often clients and server are in one container, and in one group.
#[expect(clippy::disallowed_methods, reason = "this is where the kernel says it")]
fn group_limit_bytes(root: &Path) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let limits = groups.lines().filter_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        let (folder, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            "memory" => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        let group = Path::new(group.trim_start_matches('/'));
        // The groups around this one have limits too; in a container only the last part is there.
        let limit = |folder: &Path| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok();
        group.ancestors().filter_map(|group| limit(&root.join(folder).join(group))).min()
    });
    limits.min()
}

/// Many programs look for the server by its process name.
#[expect(clippy::disallowed_methods, reason = "this is where the kernel says it")]
fn set_process_name() {
    let name = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    if !name.starts_with("plasma")
        && let Err(error) = nix::sys::prctl::set_name(c"plasma_store")
    {
        log::debug!("cannot set the process name: {error}");
    }
}

/// The limit that is in force at first is often meant for programs that use `select`.
fn raise_descriptor_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, most)| setrlimit(Resource::RLIMIT_NOFILE, most, most));
    if let Err(error) = raised {
        log::debug!("cannot raise the limit on descriptors: {error}");
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "files that the kernel would show")]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_all_groups_counts() {
        let root = std::env::temp_dir().join(format!("plasma-groups-{}", std::process::id()));
        let files = [
            ("proc/self/cgroup", "0::/a/b\n9:cpu,cpuacct:/x\n4:memory:/c\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/memory.max", "5000\n"),
            ("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "7000\n"),
        ];
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(group_limit_bytes(&root), Some(5000));
        fs::remove_file(root.join("sys/fs/cgroup/a/memory.max")).unwrap();
        assert_eq!(group_limit_bytes(&root), Some(7000));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(group_limit_bytes(&root), None);
    }
}
