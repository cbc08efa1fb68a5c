//! The command line, checked, and every limit of the server with its reason.
//!
//! The syntax is that of the original, which uses gflags: one dash or two, the value behind `=` or
//! in the next argument, the last occurrence wins, and `-h` is not help. All errors of syntax are
//! collected and shown in the order of the flags' names; then the values are checked in the
//! original's order, and the first that is wrong ends the program. Where the original aborts, this
//! one says what is wrong and ends with status 1.
//!
//! Nothing here prints, or looks at the machine: [`parse`] is a function from arguments to a
//! [`Config`] or an [`Exit`].

mod flags;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use log::LevelFilter;

use crate::format_g::format_g6;

use flags::{SizeSyntax, Values};
pub use flags::{flags_markdown, help_text};

/// Capacities below this are refused. The original's allocator cannot start with less.
pub const MIN_CAPACITY_BYTES: u64 = 2048;

/// The longest path that fits into a socket address with the zero byte that ends it.
pub const MAX_SOCKET_PATH_BYTES: usize = 107;

/// The external stores that this program has.
const EXTERNAL_STORES: [&str; 1] = ["hashtable"];

/// A word for the program if it was started without a name.
const DEFAULT_PROGRAM: &str = "plasma-store-server";

// ---- what comes out ----

/// Everything that the command line decides, checked as far as that needs no look at the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where to listen.
    pub socket: PathBuf,
    /// How many bytes of data and metadata the store may hold. Fits into a signed 64-bit number,
    /// since that is what clients are told it in.
    pub capacity_bytes: u64,
    /// Where the shared memory comes from.
    pub backing: Backing,
    /// Where evicted objects go, if anywhere.
    pub external_store: Option<Endpoint>,
    /// The least important kind of log line that is still written.
    pub log_level: LevelFilter,
    /// The name the program was started under, without folders; messages begin with it.
    pub program: String,
    /// Bounds on what clients can make the server do.
    pub limits: Limits,
    /// Who may connect.
    pub access: Access,
    /// Whether the memory of an object is cleared before another one gets it.
    pub zero_on_free: bool,
    /// Whether the server gives up what it does not need once it is ready.
    pub sandbox: bool,
    /// What is done with GPUs.
    pub cuda: Cuda,
}

/// What the program was started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// To serve.
    Serve(Box<Config>),
    /// To find out whether GPU objects can work here.
    CudaDoctor,
    /// To be the second process of that, on this device.
    CudaDoctorPeer(usize),
}

/// What is done with GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuda {
    /// Which are served.
    pub devices: CudaDevices,
    /// How much of the memory of a device objects may take up; without a device's number it is for
    /// all others. The last one counts.
    pub memory: Vec<(Option<usize>, Amount)>,
    /// How much memory of each device is kept for objects to come when others have gone; by
    /// default a quarter of what objects may take up.
    pub cache_bytes: Option<u64>,
    /// How much host memory copies of evicted objects may take up; by default as much as the
    /// capacity.
    pub host_bytes: Option<u64>,
    /// Evicted objects are copied to host memory; if not, they are deleted.
    pub evicts_to_host: bool,
    /// Small objects may share a granule of a device's memory.
    pub packs_small: bool,
}

impl Config {
    /// How much host memory copies of objects that were evicted from GPUs may take up; `None` if
    /// such objects are deleted.
    #[must_use]
    pub fn parking_bytes(&self) -> Option<u64> {
        let cuda = &self.cuda;
        cuda.evicts_to_host.then(|| cuda.host_bytes.unwrap_or(self.capacity_bytes))
    }
}

impl Default for Cuda {
    fn default() -> Self {
        Self {
            devices: CudaDevices::All,
            memory: Vec::new(),
            cache_bytes: None,
            host_bytes: None,
            evicts_to_host: true,
            packs_small: false,
        }
    }
}

impl Cuda {
    /// How many bytes objects may take up on a device with so many in all.
    #[must_use]
    pub fn limit_bytes(&self, ordinal: usize, total_bytes: u64) -> u64 {
        let is_its = |number: Option<usize>| number.is_none_or(|number| number == ordinal);
        let given = self.memory.iter().rev();
        let mut fitting = given.filter(|(number, _)| is_its(*number));
        let amount = fitting.next().map_or(DEFAULT_CUDA_MEMORY, |(_, amount)| *amount);
        amount.of(total_bytes).min(total_bytes)
    }
}

/// Which GPUs are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CudaDevices {
    /// Whatever the driver finds.
    All,
    /// Those with these numbers or UUIDs; none if there are none.
    These(Vec<String>),
}

/// An amount of a device's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// In bytes.
    Bytes(u64),
    /// In percent of all that the device has.
    Percent(u64),
}

impl Amount {
    fn of(self, total_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            // To the byte: half of a device is to hold as many large pages as half of it has.
            Self::Percent(percent) => {
                let bytes = u128::from(total_bytes) * u128::from(percent) / 100;
                u64::try_from(bytes).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Room for the contexts of clients, and for what their programs have on the device besides.
const DEFAULT_CUDA_MEMORY: Amount = Amount::Percent(80);

/// Who may connect to the socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The permissions of the socket; by default the umask decides, as with the original.
    pub socket_mode: Option<u32>,
    /// The group of the socket, a name or a number.
    pub socket_group: Option<String>,
    /// The users whose processes are served; everybody's if neither list is given.
    pub allowed_uids: Option<Vec<u32>>,
    /// The groups whose processes are served.
    pub allowed_gids: Option<Vec<u32>>,
}

impl Access {
    /// Whether everybody is served who can open the socket.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.allowed_uids.is_none() && self.allowed_gids.is_none()
    }

    /// Whether a process of this user and group is served.
    #[must_use]
    pub fn allows(&self, uid: u32, gid: u32) -> bool {
        let listed = |list: &Option<Vec<u32>>, number| {
            list.as_ref().is_some_and(|list| list.contains(&number))
        };
        self.is_open() || listed(&self.allowed_uids, uid) || listed(&self.allowed_gids, gid)
    }
}

/// Where the shared memory comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Backing {
    /// An anonymous file in memory. The default: it is independent of any mount and its size.
    Memfd,
    /// A file in this folder.
    Directory(PathBuf),
    /// A file in this folder, which has to be on a file system of huge pages. The size of the
    /// pages is the file system's.
    HugeDirectory(PathBuf),
    /// An anonymous file of huge pages.
    HugeMemfd(HugePageSize),
}

impl Backing {
    /// Whether huge pages were asked for.
    #[must_use]
    pub fn has_huge_pages(&self) -> bool {
        matches!(self, Self::HugeDirectory(_) | Self::HugeMemfd(_))
    }
}

/// The sizes of huge pages that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HugePageSize {
    /// 2 MiB.
    TwoMib,
    /// 1 GiB.
    OneGib,
}

impl HugePageSize {
    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            Self::TwoMib => 2 << 20,
            Self::OneGib => 1 << 30,
        }
    }
}

/// An external store as given on the command line: `NAME:REST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Which kind of store; always one that exists.
    pub name: String,
    /// What follows the first colon, uninterpreted.
    pub rest: OsString,
}

/// A reason to end before anything was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit status.
    pub code: u8,
    /// What to write to the standard output; ends with a line feed unless it is empty.
    pub stdout: String,
    /// What to write to the standard error output; ends with a line feed unless it is empty.
    pub stderr: String,
}

impl Exit {
    fn output(code: u8, stdout: String) -> Self {
        Self { code, stdout, stderr: String::new() }
    }

    fn failure(stderr: String) -> Self {
        Self { code: 1, stdout: String::new(), stderr }
    }
}

/// Bounds on what clients can make the server do or keep.
///
/// They are far beyond what known programs need; each says what it was measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at a time. Descriptors usually run out first; this bounds the tables where the
    /// descriptor limit is set to "unlimited".
    pub max_connections: usize,
    /// Bytes in the body of a request with one id or none. These take about 100; the rest is slack
    /// for clients that lay out their tables generously, or have a long name.
    pub max_small_body_bytes: usize,
    /// Bytes in the body of a request that lists ids, at 28 bytes each.
    pub max_list_body_bytes: usize,
    /// Bytes in the body of a request that carries payloads: offsets in a flatbuffer are signed
    /// 32-bit numbers, so none can be longer. What could never fit the store is not kept either.
    pub max_payload_body_bytes: usize,
    /// Bytes of replies that wait for one client to read them. Room for the list of half a million
    /// objects; a client that lets more pile up is disconnected.
    pub max_output_bytes: usize,
    /// Bytes of notifications that wait for one subscriber: about 490,000 of 136 bytes. The
    /// official tests leave 10,000 unread.
    pub max_notification_bytes: usize,
    /// Objects in the store, empty ones included, which cost the capacity nothing. Their entries
    /// take a few hundred bytes each, so this keeps the books near 1 GiB.
    pub max_objects: usize,
    /// Ids in one request. Serving a get of so many takes about 10 ms, in which nobody else is
    /// served; known programs ask for a few thousand at most.
    pub max_ids: usize,
    /// Gets of one connection that wait at a time, for ten times `max_ids` ids together. The
    /// official client has one.
    pub max_gets: usize,
    /// Segments of shared memory, each of which costs every client a descriptor and a mapping. One
    /// is enough unless memory comes from huge pages and is fragmented.
    pub max_segments: usize,
    /// Requests of one connection served before the next connection gets its turn. Small enough
    /// that a turn of small requests stays well below a millisecond.
    pub max_requests_per_turn: usize,
    /// Bytes asked for in one read from a connection, unless the rest of a long body is known to
    /// follow. Takes any burst of small requests in one call.
    pub read_chunk_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 65_536,
            max_small_body_bytes: 1 << 20,
            max_list_body_bytes: 64 << 20,
            max_payload_body_bytes: (1 << 31) - 1,
            max_output_bytes: 64 << 20,
            max_notification_bytes: 64 << 20,
            max_objects: 4 << 20,
            max_ids: 100_000,
            max_gets: 10_000,
            max_segments: 64,
            max_requests_per_turn: 64,
            read_chunk_bytes: 64 << 10,
        }
    }
}

// ---- log lines that repeat the configuration ----

/// The log line that tells the capacity, in the original's words.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "six digits are shown")]
pub fn memory_line(capacity_bytes: i64) -> String {
    let gigabytes = format_g6(capacity_bytes as f64 / 1e9);
    format!("Allowing the Plasma store to use up to {gigabytes}GB of memory.")
}

/// The log line that tells where the memory comes from, in the original's words where it has any.
#[must_use]
pub fn backing_line(backing: &Backing) -> String {
    let place = match backing {
        Backing::Memfd | Backing::HugeMemfd(_) => "anonymous shared memory".to_owned(),
        Backing::Directory(path) | Backing::HugeDirectory(path) => {
            format!("directory {}", path.display())
        }
    };
    let support = if backing.has_huge_pages() { "enabled" } else { "disabled" };
    format!("Starting object store with {place} and huge page support {support}")
}

/// The warning, in the original's words, that a folder has less free space than the capacity; a
/// tenth of the free space is left out of account.
#[must_use]
pub fn space_warning(directory: &Path, capacity_bytes: u64, free_bytes: u64) -> Option<String> {
    let available_bytes = free_bytes - free_bytes.div_ceil(10);
    (capacity_bytes > available_bytes).then(|| {
        format!(
            "System memory request exceeds memory available in {}. The request is for \
             {capacity_bytes} bytes, and the amount available is {available_bytes} bytes. You may \
             be able to free up space by deleting files in /dev/shm. If you are inside a Docker \
             container, you may need to pass an argument with the flag '--shm-size' to 'docker \
             run'.",
            directory.display()
        )
    })
}

// ---- from arguments to a configuration ----

/// Turns arguments, the program's name first, into what is to be done or a reason to end.
///
/// # Errors
///
/// An [`Exit`] with what to print, for wrong arguments as well as for `--help` and `--version`.
pub fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Command, Exit> {
    let program = program_name(arguments.next());
    let values = Values::collect(arguments);
    if values.wants_help {
        return Err(Exit::output(1, help_text(&program)));
    }
    if values.wants_version {
        let version = env!("CARGO_PKG_VERSION");
        return Err(Exit::output(0, format!("{program} version {version}\n")));
    }
    if !values.errors.is_empty() {
        return Err(Exit::failure(values.errors.into_values().collect()));
    }
    if let Some(ordinal) = values.doctor_peer {
        return Ok(Command::CudaDoctorPeer(ordinal));
    }
    if values.wants_doctor {
        return Ok(Command::CudaDoctor);
    }
    let (said, result) = check(&program, values);
    let result = result.map(|config| Command::Serve(Box::new(config)));
    result.map_err(|reason| Exit::failure(format!("{said}{program}: {reason}\n")))
}

fn program_name(first: Option<OsString>) -> String {
    let first = first.unwrap_or_else(|| DEFAULT_PROGRAM.into());
    let name = first.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

// ---- checks ----

/// Checks the values in the original's order. The error lacks the program's name, and comes with
/// what is said before it: the original tells the capacity as soon as it has understood it.
fn check(program: &str, mut values: Values) -> (String, Result<Config, String>) {
    match capacity(values.memory.take()) {
        Ok(capacity) => {
            let said = capacity.map_or_else(String::new, |bytes| memory_line(bytes) + "\n");
            (said, check_rest(program, capacity.filter(|bytes| *bytes != -1), values))
        }
        Err(reason) => (String::new(), Err(reason)),
    }
}

fn check_rest(program: &str, capacity: Option<i64>, values: Values) -> Result<Config, String> {
    let (socket, capacity) = match (values.socket.is_empty(), capacity) {
        (true, None) => {
            return Err("please specify socket for incoming connections with -s, and the amount \
                        of memory (in bytes) to use with -m"
                .into());
        }
        (true, Some(_)) => {
            return Err("please specify socket for incoming connections with -s".into());
        }
        (false, None) => {
            return Err("please specify the amount of memory (in bytes) to use with -m".into());
        }
        (false, Some(capacity)) => (PathBuf::from(values.socket), capacity),
    };
    let backing = backing(values.directory, values.huge_pages)?;
    let external_store = endpoint(values.external_store)?;
    let capacity_bytes = u64::try_from(capacity).unwrap_or(0);
    if capacity_bytes < MIN_CAPACITY_BYTES {
        return Err(format!(
            "the amount of memory to use is {capacity} bytes, but has to be at least \
             {MIN_CAPACITY_BYTES} bytes"
        ));
    }
    let path_bytes = socket.as_os_str().len();
    if path_bytes > MAX_SOCKET_PATH_BYTES {
        return Err(format!(
            "the socket's path is {path_bytes} bytes long, but at most {MAX_SOCKET_PATH_BYTES} \
             are possible"
        ));
    }
    Ok(Config {
        socket,
        capacity_bytes,
        backing,
        external_store,
        log_level: values.log_level,
        program: program.to_owned(),
        limits: values.limits,
        access: values.access,
        zero_on_free: values.zero_on_free,
        sandbox: values.sandbox,
        cuda: values.cuda,
    })
}

/// The capacity; `None` if it was not given. An empty text counts as not given, as in the original,
/// where -1 does so as well, but only after it was understood.
fn capacity(memory: Option<(SizeSyntax, OsString)>) -> Result<Option<i64>, String> {
    let Some((syntax, text)) = memory.filter(|(_, text)| !text.is_empty()) else {
        return Ok(None);
    };
    let capacity = match syntax {
        SizeSyntax::Bytes => flags::parse_bytes(text.as_bytes())
            .ok_or("-m switch takes memory in bytes, with no letter suffix allowed")?,
        SizeSyntax::Units => flags::parse_size(text.as_bytes()).ok_or(
            "--memory takes a whole number, with one of these units or none behind it: B, KB, MB, \
             GB, TB, KiB, MiB, GiB, TiB",
        )?,
    };
    Ok(Some(capacity))
}

fn backing(
    directory: Option<OsString>,
    huge_pages: Option<HugePageSize>,
) -> Result<Backing, String> {
    match (directory, huge_pages) {
        (None, None) => Ok(Backing::Memfd),
        (None, Some(size)) => Ok(Backing::HugeMemfd(size)),
        (Some(path), Some(_)) if path.is_empty() => Err("if you want to use hugepages, please \
             specify path to huge pages filesystem with -d"
            .into()),
        (Some(path), None) if path.is_empty() => {
            Err("the directory for the memory-backed file, given with -d, is empty".into())
        }
        (Some(path), None) => Ok(Backing::Directory(path.into())),
        (Some(path), Some(_)) => Ok(Backing::HugeDirectory(path.into())),
    }
}

fn endpoint(text: OsString) -> Result<Option<Endpoint>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let bytes = text.as_bytes();
    let Some(colon) = bytes.iter().position(|&byte| byte == b':') else {
        return Err(format!("malformed endpoint \"{}\": NAME:REST expected", text.display()));
    };
    let name = String::from_utf8_lossy(&bytes[..colon]).into_owned();
    if !EXTERNAL_STORES.contains(&name.as_str()) {
        return Err(format!("no such external store \"{name}\""));
    }
    let rest = OsString::from_vec(bytes[colon + 1..].to_vec());
    Ok(Some(Endpoint { name, rest }))
}
