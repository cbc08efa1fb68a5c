//! What the original does with its arguments was found by running it; the texts here are its own
//! unless a test's name says otherwise.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use log::LevelFilter;

use super::flags::{self, dashed};
use super::*;

const PROGRAM: &str = "plasma-store-server";
const NEITHER: &str = "plasma-store-server: please specify socket for incoming connections \
                       with -s, and the amount of memory (in bytes) to use with -m\n";
const NO_SOCKET: &str =
    "plasma-store-server: please specify socket for incoming connections with -s\n";
const NO_MEMORY: &str =
    "plasma-store-server: please specify the amount of memory (in bytes) to use with -m\n";
const BAD_MEMORY: &str = "plasma-store-server: -m switch takes memory in bytes, with no \
                          letter suffix allowed\n";
const NO_HUGE_PATH: &str = "plasma-store-server: if you want to use hugepages, please specify \
                            path to huge pages filesystem with -d\n";

fn command(arguments: &[&str]) -> Result<Command, Exit> {
    let program = std::iter::once("/somewhere/else/plasma-store-server");
    parse(program.chain(arguments.iter().copied()).map(OsString::from))
}

fn with(arguments: &[&str]) -> Result<Config, Exit> {
    command(arguments).map(|command| match command {
        Command::Serve(config) => *config,
        other => panic!("{other:?}"),
    })
}

/// With a socket and a capacity in front.
fn good(arguments: &[&str]) -> Config {
    let all: Vec<&str> = ["-s", "/sock", "-m", "10000"].iter().chain(arguments).copied().collect();
    with(&all).expect("the arguments are good")
}

fn message(arguments: &[&str]) -> String {
    let exit = with(arguments).expect_err("the arguments are bad");
    assert_eq!((exit.code, exit.stdout.as_str()), (1, ""));
    // The capacity is told as soon as it was understood.
    match exit.stderr.split_once('\n') {
        Some((first, rest)) if first.starts_with("Allowing") => rest.to_owned(),
        _ => exit.stderr,
    }
}

#[test]
fn the_capacity_is_told_before_what_is_checked_later() {
    let exit = with(&["-m", "-1"]).expect_err("the socket is missing");
    let told = "Allowing the Plasma store to use up to -1e-09GB of memory.\n";
    assert_eq!(exit.stderr, format!("{told}{NEITHER}"));
}

#[test]
fn the_plain_case() {
    let expected = Config {
        socket: "/sock".into(),
        capacity_bytes: 10_000,
        backing: Backing::Memfd,
        external_store: None,
        log_level: LevelFilter::Info,
        program: PROGRAM.into(),
        limits: Limits::default(),
        access: Access::default(),
        zero_on_free: false,
        sandbox: false,
        cuda: Cuda::default(),
    };
    assert_eq!(with(&["-s", "/sock", "-m", "10000"]), Ok(expected.clone()));
    assert_eq!(with(&["--m=10000", "--s=/sock"]), Ok(expected.clone()));
    assert_eq!(with(&["-memory", "10KB", "--socket=/sock"]), Ok(expected));
}

#[test]
fn syntax_errors_are_those_of_the_original() {
    let missing_memory = "is missing its argument; flag description: amount of memory in \
                          bytes to use for Plasma store, required\n";
    let missing = |flag: &str, help: &str| {
        format!("ERROR: flag '{flag}' is missing its argument; flag description: {help}\n")
    };
    let table: [(&[&str], String); 21] = [
        (&["-x"], "ERROR: unknown command line flag 'x'\n".into()),
        (&["--xyz=3"], "ERROR: unknown command line flag 'xyz'\n".into()),
        (&["-m1000"], "ERROR: unknown command line flag 'm1000'\n".into()),
        (&["---m", "5"], "ERROR: unknown command line flag '-m'\n".into()),
        (&["--=3"], "ERROR: unknown command line flag ''\n".into()),
        (&["--no"], "ERROR: unknown command line flag 'no'\n".into()),
        (&["-nox"], "ERROR: unknown command line flag 'nox'\n".into()),
        (&["-H"], "ERROR: unknown command line flag 'H'\n".into()),
        (&["-x'y"], "ERROR: unknown command line flag 'x'y'\n".into()),
        (
            &["-y", "-x"],
            "ERROR: unknown command line flag 'x'\nERROR: unknown command line \
                         flag 'y'\n"
                .into(),
        ),
        (&["-x", "-x"], "ERROR: unknown command line flag 'x'\n".into()),
        (&["-m"], format!("ERROR: flag '-m' {missing_memory}")),
        (&["-m", "5000", "--m"], format!("ERROR: flag '--m' {missing_memory}")),
        (
            &["-x", "-m"],
            format!(
                "ERROR: flag '-m' {missing_memory}ERROR: unknown command \
                                 line flag 'x'\n"
            ),
        ),
        (
            &["-s"],
            missing(
                "-s",
                "socket name where the Plasma store will listen for requests, \
                                 required",
            ),
        ),
        (&["-d"], missing("-d", "directory where to create the memory-backed file")),
        (
            &["-e"],
            missing(
                "-e",
                "endpoint for external storage service, where objects evicted \
                                 from Plasma store can be written to, optional",
            ),
        ),
        (&["-nom"], "ERROR: boolean value (nom) specified for string command line flag\n".into()),
        (
            &["-h=maybe", "-m", "1"],
            "ERROR: illegal value 'maybe' specified for bool flag \
                                    'h'\n"
                .into(),
        ),
        (&["-h=", "-h"], "ERROR: illegal value '' specified for bool flag 'h'\n".into()),
        (&["-h=2M"], "ERROR: illegal value '2M' specified for bool flag 'h'\n".into()),
    ];
    for (arguments, expected) in table {
        assert_eq!(message(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn missing_and_wrong_values_are_reported_as_by_the_original() {
    let table: [(&[&str], &str); 27] = [
        (&[], NEITHER),
        (&["--"], NEITHER),
        (&["--", "-m", "5000"], NEITHER),
        (&["-m", "", "-s", ""], NEITHER),
        (&["-h", "-d", ""], NEITHER),
        (&["-noh", "-e", ""], NEITHER),
        (&["-m", "5000", "--", "-s", "x"], NO_SOCKET),
        (&["a", "-", "-m", "5000", "b"], NO_SOCKET),
        (&["-m", " +30000"], NO_SOCKET),
        (&["-m", "\t12"], NO_SOCKET),
        (&["-m=99999999999999999999"], NO_SOCKET),
        (&["-m=9999999999999999999999999999999999999999999999"], NO_SOCKET),
        (&["-h=t", "-noh=maybe", "-m=1"], NO_SOCKET),
        (&["-s", "a"], NO_MEMORY),
        (&["-s", "a", "-m", ""], NO_MEMORY),
        (&["-s", "a", "-m", "-1"], NO_MEMORY),
        (&["-m", "1g"], BAD_MEMORY),
        (&["-m", "1.5"], BAD_MEMORY),
        (&["-m", "1000 "], BAD_MEMORY),
        (&["-m", "0x10"], BAD_MEMORY),
        (&["-m", "+-3"], BAD_MEMORY),
        (&["-m", " "], BAD_MEMORY),
        (&["-m", "-s"], BAD_MEMORY),
        (&["--m=5=6"], BAD_MEMORY),
        (&["-s", "a", "-m", "10000", "-h", "-d", ""], NO_HUGE_PATH),
        (&["-s", "a", "-m", "4", "-h=TRUE", "-d=", "-e", "x"], NO_HUGE_PATH),
        (
            &["-s", "a", "-m", "1000", "-e", "foo://x"],
            "plasma-store-server: no such external store \"foo\"\n",
        ),
    ];
    for (arguments, expected) in table {
        assert_eq!(message(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn where_the_original_aborts_there_is_a_sentence() {
    let long_path = format!("/{}", "x".repeat(MAX_SOCKET_PATH_BYTES));
    let table: [(&[&str], &str); 9] = [
        (&["-s=a", "-m=9999", "-d="], "given with -d, is empty"),
        (&["-s=a", "-m=9999", "-e=foo"], "malformed endpoint \"foo\""),
        (&["-s=a", "-m=1000", "-e=foo"], "malformed endpoint \"foo\""),
        (&["-s=a", "-m=2047"], "is 2047 bytes, but has to be at least 2048 bytes"),
        (&["-s=a", "-m=0"], "is 0 bytes,"),
        (&["-s=a", "-m=-2"], "is -2 bytes,"),
        (&["-s", &long_path, "-m=0"], "is 0 bytes,"),
        (&["-s", &long_path, "-m=9999"], "is 108 bytes long, but at most 107"),
        (&["-s=a", "--memory=1kb"], "is 1000 bytes,"),
    ];
    for (arguments, expected) in table {
        let message = message(arguments);
        assert!(message.starts_with("plasma-store-server: "), "{message}");
        assert!(message.ends_with('\n') && message.contains(expected), "{message}");
    }
    assert_eq!(
        with(&["-s", &long_path[1..], "-m=2048"]).map(|config| config.capacity_bytes),
        Ok(2048)
    );
}

#[test]
fn sizes_with_units() {
    let table: [(&str, Option<i64>); 18] = [
        ("0", Some(0)),
        ("12345", Some(12_345)),
        ("7B", Some(7)),
        ("7KB", Some(7000)),
        ("7mb", Some(7_000_000)),
        ("7GB", Some(7_000_000_000)),
        ("7TB", Some(7_000_000_000_000)),
        ("7KiB", Some(7 << 10)),
        ("7MiB", Some(7 << 20)),
        ("7gib", Some(7 << 30)),
        ("7TiB", Some(7 << 40)),
        ("9223372036854775807", Some(i64::MAX)),
        ("9223372036854775808", None),
        ("340282366920938463463374607431768211456TiB", None),
        ("GB", None),
        ("1.5GB", None),
        ("-1", None),
        ("1 GB", None),
    ];
    for (text, expected) in table {
        assert_eq!(flags::parse_size(text.as_bytes()), expected, "{text}");
    }
    assert!(message(&["-s=a", "--memory=1Q"]).contains("--memory takes a whole number"));
}

#[test]
fn the_last_occurrence_wins_across_names() {
    let config = good(&["--memory=1MB", "-m=4096", "--directory=/a", "-d", "/b", "--socket=x"]);
    assert_eq!(config.capacity_bytes, 4096);
    assert_eq!(config.backing, Backing::Directory("/b".into()));
    assert_eq!(config.socket, Path::new("x"));
}

#[test]
fn huge_pages() {
    let two = Backing::HugeMemfd(HugePageSize::TwoMib);
    let one = Backing::HugeMemfd(HugePageSize::OneGib);
    let table: [(&[&str], Backing); 12] = [
        (&["-h"], two.clone()),
        // The value of a switch is never the next argument.
        (&["-h", "false"], two.clone()),
        (&["-h=NO"], Backing::Memfd),
        (&["-h", "-noh"], Backing::Memfd),
        (&["--hugepages"], two.clone()),
        (&["--hugepages=y"], two.clone()),
        (&["--hugepages=2m"], two.clone()),
        (&["--hugepages=1G"], one),
        (&["--hugepages=1G", "--hugepages"], two),
        (&["--hugepages=1G", "--nohugepages"], Backing::Memfd),
        (&["-h", "-d", "/mnt"], Backing::HugeDirectory("/mnt".into())),
        (&["-h=f", "-d", "/mnt"], Backing::Directory("/mnt".into())),
    ];
    for (arguments, expected) in table {
        assert_eq!(good(arguments).backing, expected, "{arguments:?}");
    }
    let expected = "ERROR: illegal value '4M' specified for huge page flag 'hugepages'\n";
    assert_eq!(message(&["--hugepages=4M"]), expected);
    assert_eq!(HugePageSize::TwoMib.bytes(), 2_097_152);
    assert_eq!(HugePageSize::OneGib.bytes(), 1_073_741_824);
}

#[test]
fn external_stores() {
    let endpoint = |rest: &str| Some(Endpoint { name: "hashtable".into(), rest: rest.into() });
    assert_eq!(good(&["-e", "hashtable://a:b"]).external_store, endpoint("//a:b"));
    assert_eq!(good(&["--external_store=hashtable:"]).external_store, endpoint(""));
    assert_eq!(good(&["-external-store", ""]).external_store, None);
    assert!(message(&["-s=a", "-m=9999", "-e=:x"]).ends_with("no such external store \"\"\n"));
}

#[test]
fn log_levels() {
    assert_eq!(good(&["--log-level=debug"]).log_level, LevelFilter::Debug);
    assert_eq!(good(&["--log_level", "ERROR"]).log_level, LevelFilter::Error);
    let expected = "ERROR: illegal value 'off' specified for log level flag 'log-level'\n";
    assert_eq!(message(&["--log-level=off"]), expected);
}

#[test]
fn arguments_need_not_be_text() {
    let bytes = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let arguments = [&b"p"[..], b"-s", b"/\xff", b"-d=/\xfe", b"-m=9999", b"-e=hashtable:\xfd"];
    let command = parse(arguments.into_iter().map(bytes)).expect("the arguments are good");
    let Command::Serve(config) = command else { panic!("{command:?}") };
    assert_eq!(config.socket.as_os_str(), bytes(b"/\xff"));
    assert_eq!(config.backing, Backing::Directory(bytes(b"/\xfe").into()));
    assert_eq!(config.external_store.expect("one was given").rest, bytes(b"\xfd"));
    for bad in [&b"-\xff=1"[..], b"-h=\xff", b"--log-level=\xff"] {
        let exit = parse([&b"p"[..], bad].into_iter().map(bytes)).expect_err("it is bad");
        assert!(exit.stderr.starts_with("ERROR: ") && exit.stderr.contains('\u{fffd}'));
    }
}

#[test]
fn help_and_version_come_before_any_error() {
    for arguments in [["--help", "-x"], ["-m=x", "-helpshort"], ["--version", "--helpfull"]] {
        let exit = with(&arguments).expect_err("help was asked for");
        assert_eq!((exit.code, exit.stderr.as_str()), (1, ""));
        assert_eq!(exit.stdout, help_text(PROGRAM));
    }
    let exit = with(&["-m=1x", "-version", "-x"]).expect_err("the version was asked for");
    let expected = format!("plasma-store-server version {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(exit, Exit::output(0, expected));
    assert_eq!(message(&["--help", "--nohelp", "-version=0"]), NEITHER);
}

#[test]
fn the_program_is_known_by_its_last_name() {
    let name = |first: &str| program_name(Some(first.into()));
    assert_eq!(name("plasma_store"), "plasma_store");
    assert_eq!(name("./a/plasma_store"), "plasma_store");
    assert_eq!(program_name(None), PROGRAM);
    assert_eq!(parse(std::iter::empty()).expect_err("nothing was given").stderr, NEITHER);
}

#[test]
fn every_flag_is_in_the_texts() {
    let (help, table) = (help_text(PROGRAM), flags_markdown());
    assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    for name in flags::shown().flat_map(|flag| flag.names) {
        assert!(help.contains(&dashed(name)) && table.contains(&dashed(name)), "{name}");
        assert!(flags::find_exactly(name.as_bytes()).is_some_and(|flag| flag.names.contains(name)));
    }
    assert!(flags::FLAGS.iter().all(|flag| !flag.help.is_empty()));
    assert_eq!(table.lines().count(), flags::shown().count() + 2);
}

#[test]
fn log_lines_have_the_original_words() {
    let text = "Allowing the Plasma store to use up to 0.01GB of memory.";
    assert_eq!(memory_line(10_000_000), text);
    assert!(memory_line(1 << 30).contains(" 1.07374GB "));
    assert!(memory_line(2048).contains(" 2.048e-06GB "));
    assert_eq!(
        backing_line(&Backing::Directory("/dev/shm".into())),
        "Starting object store with directory /dev/shm and huge page support disabled"
    );
    assert_eq!(
        backing_line(&Backing::HugeDirectory("/mnt".into())),
        "Starting object store with directory /mnt and huge page support enabled"
    );
    assert!(backing_line(&Backing::Memfd).contains("anonymous"));
    assert!(backing_line(&Backing::HugeMemfd(HugePageSize::OneGib)).ends_with("enabled"));
}

#[test]
fn space_is_short_above_nine_tenths() {
    let warning = |capacity, free| space_warning(Path::new("/dev/shm"), capacity, free);
    assert_eq!(warning(90, 100), None);
    assert_eq!(warning(0, 0), None);
    assert!(warning(1, 1).is_some());
    let text = warning(91, 105).filter(|text| text.contains("is 94 bytes"));
    assert_eq!(text, None, "94 suffice for 91");
    let expected = "System memory request exceeds memory available in /dev/shm. The request is \
                    for 95 bytes, and the amount available is 94 bytes. You may be able to \
                    free up space by deleting files in /dev/shm. If you are inside a Docker \
                    container, you may need to pass an argument with the flag '--shm-size' to \
                    'docker run'.";
    assert_eq!(warning(95, 105).as_deref(), Some(expected));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test can bring the page up to date")]
fn readme_lists_the_flags() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let page = std::fs::read_to_string(path).expect("there is a README");
    let (before, rest) = page.split_once("<!-- flags: ").expect("flags begin somewhere");
    let (marker, rest) = rest.split_once('\n').expect("the marker is a line");
    let (_, behind) = rest.split_once("<!-- end of flags -->").expect("flags end somewhere");
    let table = flags_markdown();
    let current = format!("{before}<!-- flags: {marker}\n\n{table}\n<!-- end of flags -->{behind}");
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, &current).expect("README can be written");
    } else {
        assert!(page == current, "README is out of date; UPDATE_README=1 cargo test readme");
    }
}

#[test]
fn gpus() {
    let cuda = |arguments: &[&str]| good(arguments).cuda;
    let these =
        |names: &[&str]| CudaDevices::These(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(cuda(&["--cuda-devices=none"]).devices, these(&[]));
    assert_eq!(cuda(&["--cuda-devices", "1, GPU-ab"]).devices, these(&["1", "GPU-ab"]));
    let limits = cuda(&["--cuda-memory", "50%,0=8GiB,2=10%"]);
    let found = [0, 1, 2].map(|ordinal| limits.limit_bytes(ordinal, 100 << 30));
    assert_eq!(found, [8 << 30, 50 << 30, 10 << 30]);
    assert_eq!(cuda(&[]).limit_bytes(0, 1000), 800);
    assert_eq!(cuda(&["--cuda-memory=9GB"]).limit_bytes(0, 1000), 1000);
    assert_eq!(cuda(&["--cuda-cache", "0"]).cache_bytes, Some(0));
    assert!(!cuda(&["--cuda-evict=delete"]).evicts_to_host);
    for bad in [
        "--cuda-devices=x",
        "--cuda-memory=0%",
        "--cuda-memory=a=1GB",
        "--cuda-memory=",
        "--cuda-evict=no",
        "--cuda-cache=-1",
        "--cuda-host-memory=some",
    ] {
        assert!(message(&[bad]).starts_with("ERROR: illegal value"), "{bad}");
    }
    assert_eq!(command(&["--cuda-doctor"]), Ok(Command::CudaDoctor));
}
