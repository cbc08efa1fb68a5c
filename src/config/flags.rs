//! The table of flags, and what is made from it: the parser, the help text, the README's table.
//!
//! The parser follows gflags where that can be seen from outside, down to the words of its errors.
//! It only collects; whether the values make sense together is decided one level up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use log::LevelFilter;

use super::{Access, Amount, Cuda, CudaDevices, HugePageSize, Limits};

// ---- the flags ----

/// What a flag sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Socket,
    Memory(SizeSyntax),
    Directory,
    HugePages,
    ExternalStore,
    LogLevel,
    Limit(Limit),
    SocketMode,
    SocketGroup,
    AllowUid,
    AllowGid,
    ZeroOnFree,
    Sandbox,
    CudaDevices,
    CudaMemory,
    CudaCache,
    CudaHostMemory,
    CudaEvict,
    CudaPackSmall,
    CudaDoctor,
    CudaDoctorPeer,
    Help,
    Version,
}

/// A limit that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Connections,
    SmallBody,
    ListBody,
    PayloadBody,
    Output,
    Notifications,
    Ids,
    Gets,
    Objects,
    Segments,
}

impl Limit {
    fn of(self, limits: &mut Limits) -> &mut usize {
        match self {
            Self::Connections => &mut limits.max_connections,
            Self::SmallBody => &mut limits.max_small_body_bytes,
            Self::ListBody => &mut limits.max_list_body_bytes,
            Self::PayloadBody => &mut limits.max_payload_body_bytes,
            Self::Output => &mut limits.max_output_bytes,
            Self::Notifications => &mut limits.max_notification_bytes,
            Self::Ids => &mut limits.max_ids,
            Self::Gets => &mut limits.max_gets,
            Self::Objects => &mut limits.max_objects,
            Self::Segments => &mut limits.max_segments,
        }
    }
}

/// How an amount of memory may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeSyntax {
    /// A number of bytes, as the original reads it.
    Bytes,
    /// A number, with or without a unit.
    Units,
}

/// Which values a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Any text; the value is required.
    Text,
    /// Yes or no; the value can only follow `=`, and without one means yes.
    Switch,
    /// Like `Switch`, with sizes of pages as further values.
    HugePages,
    /// One of the log levels; the value is required.
    Level,
    /// A whole number from 1 up; the value is required.
    Count,
    /// A number of bytes, with or without a unit, from 1 up; the value is required.
    Size,
    /// The permissions of a file, as an octal number; the value is required.
    Mode,
    /// Numbers of users or groups, separated by commas; the value is required.
    Numbers,
    /// A number of bytes, with or without a unit, from 0 up; the value is required.
    SizeOrNone,
    /// Amounts of memory, separated by commas, with or without a device's number.
    DeviceMemory,
    /// Where evicted objects of a device go; the value is required.
    Evict,
    /// A number of a device. For the program itself: it is not shown.
    Hidden,
}

impl Kind {
    /// The word for it in messages.
    fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Switch => "bool",
            Self::HugePages => "huge page",
            Self::Level => "log level",
            Self::Count => "count",
            Self::Size => "size",
            Self::Mode => "file mode",
            Self::Numbers => "number list",
            Self::SizeOrNone => "size",
            Self::DeviceMemory => "device memory",
            Self::Evict => "eviction",
            Self::Hidden => "number",
        }
    }

    /// Whether the flag can stand alone, and be negated by a `no` in front of its name.
    fn is_switch(self) -> bool {
        matches!(self, Self::Switch | Self::HugePages)
    }
}

/// One line of the table of flags.
pub(super) struct Flag {
    target: Target,
    kind: Kind,
    /// All its names; `_` is accepted for `-`.
    pub(super) names: &'static [&'static str],
    /// Stands for the value in the help text, with the `=` where only that form exists.
    value: &'static str,
    /// For the single-letter flags, these are the original's words: an error message shows them.
    pub(super) help: &'static str,
}

/// All flags, in the order of the help text. The parser has no other source.
pub(super) const FLAGS: [Flag; 34] = [
    Flag {
        target: Target::Socket,
        kind: Kind::Text,
        names: &["s", "socket"],
        value: " PATH",
        help: "socket name where the Plasma store will listen for requests, required",
    },
    Flag {
        target: Target::Memory(SizeSyntax::Bytes),
        kind: Kind::Text,
        names: &["m"],
        value: " BYTES",
        help: "amount of memory in bytes to use for Plasma store, required",
    },
    Flag {
        target: Target::Memory(SizeSyntax::Units),
        kind: Kind::Text,
        names: &["memory"],
        value: " SIZE",
        help: "like -m, and a unit may follow the number: B, KB, MB, GB, TB (powers of 1000), \
               KiB, MiB, GiB, TiB (powers of 1024)",
    },
    Flag {
        target: Target::Directory,
        kind: Kind::Text,
        names: &["d", "directory"],
        value: " FOLDER",
        help: "directory where to create the memory-backed file",
    },
    Flag {
        target: Target::HugePages,
        kind: Kind::Switch,
        names: &["h"],
        value: "",
        help: "whether to enable hugepage support",
    },
    Flag {
        target: Target::HugePages,
        kind: Kind::HugePages,
        names: &["hugepages"],
        value: "[=2M|1G]",
        help: "like -h; with -d the directory has to be a mount of huge pages, whose size of \
               pages is used, and without -d the memory is anonymous, in pages of 2M unless given",
    },
    Flag {
        target: Target::ExternalStore,
        kind: Kind::Text,
        names: &["e", "external-store"],
        value: " NAME:REST",
        help: "endpoint for external storage service, where objects evicted from Plasma store \
               can be written to, optional",
    },
    Flag {
        target: Target::LogLevel,
        kind: Kind::Level,
        names: &["log-level"],
        value: " LEVEL",
        help: "what is logged to the standard error output: error, warn, info (the default), \
               debug or trace",
    },
    Flag {
        target: Target::SocketMode,
        kind: Kind::Mode,
        names: &["socket-mode"],
        value: " MODE",
        help: "permissions of the socket, an octal number such as 660; by default the umask \
               decides",
    },
    Flag {
        target: Target::SocketGroup,
        kind: Kind::Text,
        names: &["socket-group"],
        value: " GROUP",
        help: "group that the socket belongs to, by name or number",
    },
    Flag {
        target: Target::AllowUid,
        kind: Kind::Numbers,
        names: &["allow-uid"],
        value: " UID,...",
        help: "serve only processes of these users; others are disconnected at once",
    },
    Flag {
        target: Target::AllowGid,
        kind: Kind::Numbers,
        names: &["allow-gid"],
        value: " GID,...",
        help: "serve only processes of these groups; with --allow-uid, being in either list is \
               enough",
    },
    Flag {
        target: Target::ZeroOnFree,
        kind: Kind::Switch,
        names: &["zero-on-free"],
        value: "",
        help: "clear the memory of an object before another one gets it",
    },
    Flag {
        target: Target::Sandbox,
        kind: Kind::Switch,
        names: &["sandbox"],
        value: "",
        help: "give up what the server does not need once it is ready: files, programs, the \
               network",
    },
    Flag {
        target: Target::Limit(Limit::Connections),
        kind: Kind::Count,
        names: &["max-connections"],
        value: " COUNT",
        help: "connections at a time; more wait until one ends (default 65536)",
    },
    Flag {
        target: Target::Limit(Limit::SmallBody),
        kind: Kind::Size,
        names: &["max-small-body"],
        value: " SIZE",
        help: "size of a request with one id or none (default 1MiB)",
    },
    Flag {
        target: Target::Limit(Limit::ListBody),
        kind: Kind::Size,
        names: &["max-list-body"],
        value: " SIZE",
        help: "size of a request that lists ids (default 64MiB)",
    },
    Flag {
        target: Target::Limit(Limit::PayloadBody),
        kind: Kind::Size,
        names: &["max-payload-body"],
        value: " SIZE",
        help: "size of a request with payloads; never more than the capacity and 16MiB (default \
               2GiB)",
    },
    Flag {
        target: Target::Limit(Limit::Output),
        kind: Kind::Size,
        names: &["max-output"],
        value: " SIZE",
        help: "replies that wait for one client to read them; beyond it is disconnected (default \
               64MiB)",
    },
    Flag {
        target: Target::Limit(Limit::Notifications),
        kind: Kind::Size,
        names: &["max-notifications"],
        value: " SIZE",
        help: "notifications that wait for one subscriber, about 140 bytes each; beyond the \
               subscription ends (default 64MiB)",
    },
    Flag {
        target: Target::Limit(Limit::Ids),
        kind: Kind::Count,
        names: &["max-ids"],
        value: " COUNT",
        help: "ids in one request (default 100000)",
    },
    Flag {
        target: Target::Limit(Limit::Gets),
        kind: Kind::Count,
        names: &["max-gets"],
        value: " COUNT",
        help: "gets of one connection that wait at a time (default 10000)",
    },
    Flag {
        target: Target::Limit(Limit::Objects),
        kind: Kind::Count,
        names: &["max-objects"],
        value: " COUNT",
        help: "objects in the store, empty and spilled ones included (default 4194304)",
    },
    Flag {
        target: Target::Limit(Limit::Segments),
        kind: Kind::Count,
        names: &["max-segments"],
        value: " COUNT",
        help: "segments of shared memory (default 64)",
    },
    Flag {
        target: Target::CudaDevices,
        kind: Kind::Text,
        names: &["cuda-devices"],
        value: " LIST",
        help: "GPUs to serve, by number or UUID, separated by commas; all (the default) or none",
    },
    Flag {
        target: Target::CudaMemory,
        kind: Kind::DeviceMemory,
        names: &["cuda-memory"],
        value: " [N=]SIZE,...",
        help: "memory that objects may take up on GPU N, or on each, as a size or in percent: \
               0=8GiB,1=50% (default 80%)",
    },
    Flag {
        target: Target::CudaCache,
        kind: Kind::SizeOrNone,
        names: &["cuda-cache"],
        value: " SIZE",
        help: "memory of each GPU that is kept for objects to come when others have gone (default \
               a quarter of --cuda-memory)",
    },
    Flag {
        target: Target::CudaEvict,
        kind: Kind::Evict,
        names: &["cuda-evict"],
        value: " WHERE",
        help: "what becomes of objects that a GPU has no room for: host (the default) copies them \
               to host memory, and from there to the external store if there is one, until they \
               are wanted again; delete deletes them",
    },
    Flag {
        target: Target::CudaHostMemory,
        kind: Kind::SizeOrNone,
        names: &["cuda-host-memory"],
        value: " SIZE",
        help: "host memory for such copies, beside the capacity; beyond it the oldest copies go \
               (default as much as the capacity)",
    },
    Flag {
        target: Target::CudaPackSmall,
        kind: Kind::Switch,
        names: &["cuda-pack-small"],
        value: "",
        help: "let small GPU objects share 2MiB of memory; whoever opens one of them can then \
               reach the others",
    },
    Flag {
        target: Target::CudaDoctor,
        kind: Kind::Switch,
        names: &["cuda-doctor"],
        value: "",
        help: "find out step by step whether GPU objects can work here, and end",
    },
    Flag {
        target: Target::CudaDoctorPeer,
        kind: Kind::Hidden,
        names: &["cuda-doctor-peer"],
        value: " N",
        help: "be the second process of --cuda-doctor",
    },
    Flag {
        target: Target::Help,
        kind: Kind::Switch,
        names: &["help", "helpshort", "helpfull"],
        value: "",
        help: "show this text; the exit status is 1, as it was in the original",
    },
    Flag {
        target: Target::Version,
        kind: Kind::Switch,
        names: &["version"],
        value: "",
        help: "show the version",
    },
];

/// The values that the arguments gave, and what was wrong with them.
pub(super) struct Values {
    pub(super) socket: OsString,
    pub(super) memory: Option<(SizeSyntax, OsString)>,
    pub(super) directory: Option<OsString>,
    pub(super) huge_pages: Option<HugePageSize>,
    pub(super) external_store: OsString,
    pub(super) log_level: LevelFilter,
    pub(super) limits: Limits,
    pub(super) access: Access,
    pub(super) zero_on_free: bool,
    pub(super) sandbox: bool,
    pub(super) cuda: Cuda,
    pub(super) wants_doctor: bool,
    pub(super) doctor_peer: Option<usize>,
    pub(super) wants_help: bool,
    pub(super) wants_version: bool,
    /// By name of the flag, since they are shown in that order, each name once.
    pub(super) errors: BTreeMap<Vec<u8>, String>,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            socket: OsString::new(),
            memory: None,
            directory: None,
            huge_pages: None,
            external_store: OsString::new(),
            log_level: LevelFilter::Info,
            limits: Limits::default(),
            access: Access::default(),
            zero_on_free: false,
            sandbox: false,
            cuda: Cuda::default(),
            wants_doctor: false,
            doctor_peer: None,
            wants_help: false,
            wants_version: false,
            errors: BTreeMap::new(),
        }
    }
}

// ---- parsing ----

impl Values {
    pub(super) fn collect(mut arguments: impl Iterator<Item = OsString>) -> Self {
        let mut values = Self::default();
        while let Some(argument) = arguments.next() {
            let bytes = argument.as_bytes();
            // A single dash is not a flag; what is not a flag is ignored.
            let Some(flag) = bytes.strip_prefix(b"-").filter(|rest| !rest.is_empty()) else {
                continue;
            };
            let flag = flag.strip_prefix(b"-").unwrap_or(flag);
            if flag.is_empty() {
                break;
            }
            let (key, value) = split_at_equals(flag);
            match find(key) {
                Err(error) => {
                    values.errors.insert(key.to_vec(), error);
                }
                Ok((flag, Negation::Plain)) => {
                    let given = value.map(OsStr::to_owned);
                    let in_need = given.is_none() && !flag.kind.is_switch();
                    let given = if in_need { arguments.next() } else { given };
                    if in_need && given.is_none() {
                        let (shown, help) = (argument.to_string_lossy(), flag.help);
                        values.errors.insert(
                            key.to_vec(),
                            format!(
                                "ERROR: flag '{shown}' is missing its argument; flag description: \
                                 {help}\n"
                            ),
                        );
                        break;
                    }
                    values.set(flag, given.as_deref().unwrap_or(OsStr::new("1")));
                }
                // A value behind a negated flag is ignored, whatever it is.
                Ok((flag, Negation::Negated)) => values.set(flag, OsStr::new("0")),
            }
        }
        values
    }

    /// Gives one flag its value, or notes why it cannot have it.
    fn set(&mut self, flag: &Flag, value: &OsStr) {
        let accepted = match flag.target {
            Target::Socket => store(&mut self.socket, Some(value.to_owned())),
            Target::Memory(syntax) => {
                store(&mut self.memory, Some(Some((syntax, value.to_owned()))))
            }
            Target::Directory => store(&mut self.directory, Some(Some(value.to_owned()))),
            Target::HugePages => store(&mut self.huge_pages, parse_huge_pages(flag.kind, value)),
            Target::ExternalStore => store(&mut self.external_store, Some(value.to_owned())),
            Target::LogLevel => store(&mut self.log_level, parse_level(value)),
            Target::Limit(limit) => {
                store(limit.of(&mut self.limits), parse_limit(flag.kind, value))
            }
            Target::SocketMode => store(&mut self.access.socket_mode, parse_mode(value).map(Some)),
            Target::SocketGroup => {
                store(&mut self.access.socket_group, value.to_str().map(|name| Some(name.into())))
            }
            Target::AllowUid => store(&mut self.access.allowed_uids, parse_numbers(value)),
            Target::AllowGid => store(&mut self.access.allowed_gids, parse_numbers(value)),
            Target::ZeroOnFree => store(&mut self.zero_on_free, parse_bool(value)),
            Target::Sandbox => store(&mut self.sandbox, parse_bool(value)),
            Target::CudaDevices => store(&mut self.cuda.devices, parse_devices(value)),
            Target::CudaMemory => store(&mut self.cuda.memory, parse_device_memory(value)),
            Target::CudaCache => store(&mut self.cuda.cache_bytes, parse_bytes_or_none(value)),
            Target::CudaHostMemory => store(&mut self.cuda.host_bytes, parse_bytes_or_none(value)),
            Target::CudaEvict => store(&mut self.cuda.evicts_to_host, parse_evict(value)),
            Target::CudaPackSmall => store(&mut self.cuda.packs_small, parse_bool(value)),
            Target::CudaDoctor => store(&mut self.wants_doctor, parse_bool(value)),
            Target::CudaDoctorPeer => {
                let ordinal = value.to_str().and_then(|number| number.parse().ok());
                store(&mut self.doctor_peer, ordinal.map(Some))
            }
            Target::Help => store(&mut self.wants_help, parse_bool(value)),
            Target::Version => store(&mut self.wants_version, parse_bool(value)),
        };
        if !accepted {
            let (kind, name) = (flag.kind.name(), flag.names[0]);
            let value = value.to_string_lossy();
            self.errors.insert(
                name.into(),
                format!("ERROR: illegal value '{value}' specified for {kind} flag '{name}'\n"),
            );
        }
    }
}

/// Replaces a value by another one, if there is one, and says whether there was.
fn store<T>(place: &mut T, value: Option<T>) -> bool {
    value.map(|value| *place = value).is_some()
}

/// Splits `name=value`; without a `=` there is no value, behind it there is one, if empty.
fn split_at_equals(flag: &[u8]) -> (&[u8], Option<&OsStr>) {
    match flag.iter().position(|&byte| byte == b'=') {
        Some(at) => (&flag[..at], Some(OsStr::from_bytes(&flag[at + 1..]))),
        None => (flag, None),
    }
}

/// Whether a flag was named as it is or with a `no` in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Negation {
    Plain,
    Negated,
}

/// Finds the flag that a name stands for, or the words that say why there is none.
fn find(key: &[u8]) -> Result<(&'static Flag, Negation), String> {
    if let Some(flag) = find_exactly(key) {
        return Ok((flag, Negation::Plain));
    }
    let shown = String::from_utf8_lossy(key);
    match key.strip_prefix(b"no").and_then(find_exactly) {
        Some(flag) if flag.kind.is_switch() => Ok((flag, Negation::Negated)),
        Some(flag) => Err(format!(
            "ERROR: boolean value ({shown}) specified for {} command line flag\n",
            flag.kind.name()
        )),
        None => Err(format!("ERROR: unknown command line flag '{shown}'\n")),
    }
}

pub(super) fn find_exactly(key: &[u8]) -> Option<&'static Flag> {
    let dashed = |byte: &u8| if *byte == b'_' { b'-' } else { *byte };
    FLAGS.iter().find(|flag| flag.names.iter().any(|name| name.bytes().eq(key.iter().map(dashed))))
}

// ---- values ----

fn parse_bool(value: &OsStr) -> Option<bool> {
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    if is_one_of(["1", "t", "true", "y", "yes"]) {
        return Some(true);
    }
    is_one_of(["0", "f", "false", "n", "no"]).then_some(false)
}

/// The outer option says whether the value is legal, the inner one is the setting.
#[expect(clippy::option_option, reason = "legal and switched off differ from illegal")]
fn parse_huge_pages(kind: Kind, value: &OsStr) -> Option<Option<HugePageSize>> {
    if kind == Kind::HugePages && value.eq_ignore_ascii_case("2M") {
        return Some(Some(HugePageSize::TwoMib));
    }
    if kind == Kind::HugePages && value.eq_ignore_ascii_case("1G") {
        return Some(Some(HugePageSize::OneGib));
    }
    parse_bool(value).map(|on| on.then_some(HugePageSize::TwoMib))
}

fn parse_limit(kind: Kind, value: &OsStr) -> Option<usize> {
    let number = match kind {
        Kind::Size => parse_size(value.as_bytes())?,
        _ => value.to_str()?.parse().ok()?,
    };
    usize::try_from(number).ok().filter(|number| *number > 0)
}

fn parse_mode(value: &OsStr) -> Option<u32> {
    u32::from_str_radix(value.to_str()?, 8).ok().filter(|mode| *mode <= 0o777)
}

/// The outer option says whether the value is legal; a list is never empty.
#[expect(clippy::option_option, reason = "legal and left out differ from illegal")]
fn parse_numbers(value: &OsStr) -> Option<Option<Vec<u32>>> {
    let numbers = value.to_str()?.split(',').map(|number| number.trim().parse().ok());
    numbers.collect::<Option<Vec<u32>>>().map(Some)
}

fn parse_devices(value: &OsStr) -> Option<CudaDevices> {
    match value.to_str()? {
        "all" => Some(CudaDevices::All),
        "none" => Some(CudaDevices::These(Vec::new())),
        list => {
            let names: Vec<String> = list.split(',').map(|name| name.trim().into()).collect();
            let is_name = |name: &String| {
                name.starts_with("GPU-") || name.starts_with("MIG-") || name.parse::<u16>().is_ok()
            };
            names.iter().all(is_name).then_some(CudaDevices::These(names))
        }
    }
}

fn parse_device_memory(value: &OsStr) -> Option<Vec<(Option<usize>, Amount)>> {
    let parse_one = |part: &str| {
        let (number, amount) = match part.trim().split_once('=') {
            Some((number, amount)) => (Some(number.parse().ok()?), amount),
            None => (None, part.trim()),
        };
        let amount = match amount.strip_suffix('%') {
            Some(percent) => {
                Amount::Percent(percent.parse().ok().filter(|percent| (1..=100).contains(percent))?)
            }
            None => Amount::Bytes(u64::try_from(parse_size(amount.as_bytes())?).ok()?),
        };
        Some((number, amount))
    };
    value.to_str()?.split(',').map(parse_one).collect()
}

/// The outer option says whether the value is legal.
#[expect(clippy::option_option, reason = "legal and left out differ from illegal")]
fn parse_bytes_or_none(value: &OsStr) -> Option<Option<u64>> {
    u64::try_from(parse_size(value.as_bytes())?).ok().map(Some)
}

fn parse_evict(value: &OsStr) -> Option<bool> {
    match value.to_str()? {
        "host" => Some(true),
        "delete" => Some(false),
        _ => None,
    }
}

fn parse_level(value: &OsStr) -> Option<LevelFilter> {
    // Without "off": whoever wants no log has a better place to send it.
    let level: LevelFilter = value.to_str()?.parse().ok()?;
    (level != LevelFilter::Off).then_some(level)
}

/// Reads a number of bytes as C's `scanf` does: blanks and a sign may precede it, nothing may
/// follow, and what is out of range becomes the nearest number in range.
pub(super) fn parse_bytes(text: &[u8]) -> Option<i64> {
    let is_blank = |byte: u8| byte == b' ' || (b'\t'..=b'\r').contains(&byte);
    let start = text.iter().position(|&byte| !is_blank(byte))?;
    let (is_negative, digits) = match &text[start..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let magnitude = i64::try_from(parse_digits(digits)?).unwrap_or(i64::MAX);
    // One more than the magnitude can be exists on the negative side; all of them are refused.
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Reads a number of bytes with a unit behind it, or none. Out of range is an error here.
pub(super) fn parse_size(text: &[u8]) -> Option<i64> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_uppercase();
    let (base, power) = match unit.as_slice() {
        b"" | b"B" => (1, 0),
        b"KB" => (1000, 1),
        b"MB" => (1000, 2),
        b"GB" => (1000, 3),
        b"TB" => (1000, 4),
        b"KIB" => (1024, 1),
        b"MIB" => (1024, 2),
        b"GIB" => (1024, 3),
        b"TIB" => (1024, 4),
        _ => return None,
    };
    let bytes = parse_digits(digits)?.checked_mul(u128::pow(base, power))?;
    i64::try_from(bytes).ok()
}

/// Reads one or more decimal digits and nothing else; stays at the largest number on overflow.
fn parse_digits(digits: &[u8]) -> Option<u128> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u128, |number, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(digit.into()))
    })
}

// ---- texts made from the table of flags ----

/// The help text.
#[must_use]
pub fn help_text(program: &str) -> String {
    let mut text = format!(
        "{program}: shared-memory store for the clients of Apache Arrow Plasma.\n\
         Usage: {program} -s PATH -m BYTES [FLAG ...]\n\n\
         A flag has one dash or two; its value is the next argument or follows a '='.\n\n"
    );
    for flag in shown() {
        let names: Vec<String> = flag.names.iter().map(|name| dashed(name)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{}", names.join(", "), flag.value);
        for line in wrap(flag.help, 72) {
            let _ = writeln!(text, "      {line}");
        }
    }
    text
}

/// The flags as a table in Markdown, for the README.
#[must_use]
pub fn flags_markdown() -> String {
    let mut text = String::from("| flag | meaning |\n| --- | --- |\n");
    for flag in shown() {
        let names: Vec<String> = flag.names.iter().map(|name| dashed(name)).collect();
        let shown = format!("{}{}", names.join(", "), flag.value).replace('|', "\\|");
        let _ = writeln!(text, "| `{shown}` | {} |", flag.help);
    }
    text
}

/// The flags that users are told of.
pub(super) fn shown() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(|flag| flag.kind != Kind::Hidden)
}

pub(super) fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}

/// Breaks a text at blanks into lines of at most `width` characters, if its words allow it.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
