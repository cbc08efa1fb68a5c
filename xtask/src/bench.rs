//! Instruction counts of `benches/instructions`, and how they compare with the baseline.
//!
//! Each benchmark runs in a process of its own under callgrind, which counts nothing but the
//! function that the benchmarks run their loops in. See `benches/instructions/main.rs`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Outcome;
use crate::command::{cannot_start, capture, cargo, name, program, root, succeed, target_dir};

/// What to do with the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Show them beside the baseline, and require that both have the same benchmarks.
    Compare,
    /// Make them the baseline.
    Write,
}

/// Where the baseline is, from the root.
const BASELINE: &str = "benches/baseline.txt";

/// What callgrind counts in: the function `counted`, whatever its loop is.
const COUNTED: &str = "instructions::counted*";

/// The plainest copies of the C library's routines for memory, where it has several. Otherwise the
/// processor would choose, and counts would differ from machine to machine; and where it chooses
/// `rep movsb`, callgrind takes each byte for an instruction. Names that a release of the library
/// does not know have no effect.
const TUNABLES: &str = "glibc.cpu.hwcaps=-ERMS,-FSRM,-AVX,-AVX2,-AVX_Fast_Unaligned_Load,\
                        -AVX_Usable,-AVX2_Usable";

/// The number of instructions of one operation, in tenths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count(u64);

type Counts = BTreeMap<String, Count>;

/// A benchmark and how many operations it runs.
type Bench = (String, u64);

/// Counts, prints the table, and compares or writes. Needs valgrind.
pub(crate) fn run(mode: Mode) -> Outcome {
    let valgrind = valgrind_version()?
        .ok_or("valgrind is not installed, and nothing else here can count instructions")?;
    count(&build()?, &valgrind, mode)
}

/// Runs all benchmarks once as they are, so that they do not rot, and counts if valgrind is there.
pub(crate) fn check() -> Outcome {
    let executable = build()?;
    succeed(&mut program(&executable))?;
    match valgrind_version()? {
        Some(valgrind) => count(&executable, &valgrind, Mode::Compare),
        None => {
            println!("Instructions were not counted: valgrind is not installed.");
            Ok(())
        }
    }
}

/// The version that valgrind states; `None` if there is no valgrind.
fn valgrind_version() -> Result<Option<String>, String> {
    let mut command = program("valgrind");
    command.arg("--version").stdout(Stdio::piped());
    match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot_start(&command, &error)),
        Ok(child) => {
            let output = child.wait_with_output().map_err(|e| e.to_string())?;
            if !output.status.success() {
                return Err(format!("{} ended with {}", name(&command), output.status));
            }
            Ok(Some(String::from_utf8_lossy(&output.stdout).trim().into()))
        }
    }
}

/// Builds the benchmarks and returns their program.
fn build() -> Result<PathBuf, String> {
    let options = "--package plasma-store --bench instructions --no-run";
    let messages = capture(&mut cargo(&format!(
        "bench --quiet {options} --message-format json-render-diagnostics"
    )))?;
    executable(&messages).ok_or_else(|| "cargo does not say what it has built".into())
}

/// The program in cargo's messages, of which there is one object a line. The server is built too,
/// and may be named before or after it.
fn executable(messages: &str) -> Option<PathBuf> {
    let mut lines = messages.lines();
    lines.find_map(|line| {
        let (_, rest) = line.split_once("\"kind\":[\"bench\"]")?;
        let (_, rest) = rest.split_once("\"executable\":\"")?;
        Some(rest.split_once('"')?.0.into())
    })
}

fn count(executable: &Path, valgrind: &str, mode: Mode) -> Outcome {
    let folder = target_dir().join("bench");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let list = capture(program(executable).arg("--list"))?;
    let benches = list.lines().map(parse_bench).collect::<Result<Vec<_>, _>>()?;
    if benches.is_empty() {
        return Err("there are no benchmarks".into());
    }
    let counts = count_all(executable, &folder, &benches)?;
    let cargo_version = capture(&mut cargo("--version"))?;
    let (tools, arch) = (cargo_version.trim(), std::env::consts::ARCH);
    let conditions = format!("# Taken with {tools}, {valgrind}, {arch}.");
    let path = root().join(BASELINE);
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{BASELINE}: {error}")),
    };
    let baseline = parse_baseline(&before)?;
    print!("{}", table(&benches, &counts, &baseline));
    println!("Where they go: callgrind_annotate {}/NAME.out", folder.display());
    if mode == Mode::Write {
        return fs::write(&path, baseline_text(&conditions, &benches, &counts))
            .map_err(|error| format!("{BASELINE}: {error}"));
    }
    if !before.lines().any(|line| line == conditions) {
        println!("The baseline was taken with other tools, which moves counts.");
    }
    same_names(&counts, &baseline)
}

/// A line of the list of benchmarks: the name and the number of operations.
fn parse_bench(line: &str) -> Result<Bench, String> {
    let parsed = line.split_once(' ').and_then(|(name, operations)| {
        let operations = operations.parse().ok().filter(|&operations| operations > 0)?;
        Some((name.to_owned(), operations))
    });
    parsed.ok_or_else(|| format!("what is the benchmark {line:?}?"))
}

/// Counts each benchmark, as many at a time as there are processors.
fn count_all(executable: &Path, folder: &Path, benches: &[Bench]) -> Result<Counts, String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counts = Counts::new();
        while let Some(bench) = benches.get(next.fetch_add(1, Ordering::Relaxed)) {
            counts.insert(bench.0.clone(), count_one(executable, folder, bench)?);
        }
        Ok(counts)
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Result<Counts, String>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |worker: thread::ScopedJoinHandle<'_, _>| worker.join().expect("no panic");
        workers.into_iter().map(join).collect()
    });
    let mut counts = Counts::new();
    for part in parts {
        counts.append(&mut part?);
    }
    if counts.len() != benches.len() {
        return Err("two benchmarks have the same name".into());
    }
    Ok(counts)
}

fn count_one(executable: &Path, folder: &Path, bench: &Bench) -> Result<Count, String> {
    let (name, operations) = bench;
    let profile = folder.join(format!("{}.out", name.replace('/', ".")));
    let mut command = program("valgrind");
    command
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(executable)
        .arg(name)
        .env("GLIBC_TUNABLES", TUNABLES);
    capture(&mut command)?;
    let text = fs::read(&profile).map_err(|e| format!("{}: {e}", profile.display()))?;
    match total(&String::from_utf8_lossy(&text)) {
        // The loop alone takes more than this.
        Some(total) if total >= *operations => Ok(Count::of(total, *operations)),
        _ => Err(format!("callgrind has not found what to count in {name}")),
    }
}

/// The sum in a profile of callgrind's.
fn total(profile: &str) -> Option<u64> {
    let mut lines = profile.lines();
    lines.find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok())
}

/// The counts by name; lines that begin with `#` are comments.
fn parse_baseline(text: &str) -> Result<Counts, String> {
    let mut counts = Counts::new();
    let lines = text.lines().zip(1..);
    for (line, number) in lines.filter(|(line, _)| !line.starts_with('#') && !line.is_empty()) {
        let parsed = line
            .split_once(' ')
            .and_then(|(name, count)| Some((name.to_owned(), Count::parse(count.trim())?)));
        let is_new = parsed.is_some_and(|(name, count)| counts.insert(name, count).is_none());
        if !is_new {
            return Err(format!("{BASELINE}:{number}: no name with a count, or a second time"));
        }
    }
    Ok(counts)
}

fn baseline_text(conditions: &str, benches: &[Bench], counts: &Counts) -> String {
    let mut text = format!(
        "# Instructions of one operation; written by `cargo xtask bench --write`.\n{conditions}\n"
    );
    for (name, _) in benches {
        text += &format!("{name} {}\n", counts[name]);
    }
    text
}

/// The counts as people read them, in the order of the benchmarks.
fn table(benches: &[Bench], counts: &Counts, baseline: &Counts) -> String {
    let title = "benchmark";
    let width = benches.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default().max(title.len());
    let mut text = format!("{title:width$}  instructions    baseline    change\n");
    for (name, _) in benches {
        let count = counts[name];
        let _ = match baseline.get(name) {
            Some(base) => {
                let change = count.change_percent(*base);
                writeln!(text, "{name:width$}  {count:>12}  {base:>10}  {change:>+7.2}%")
            }
            None => writeln!(text, "{name:width$}  {count:>12}  {:>10}", "none"),
        };
    }
    text
}

/// A benchmark without a baseline, or the reverse, means that one of the two is out of date.
fn same_names(counts: &Counts, baseline: &Counts) -> Outcome {
    let mut findings = String::new();
    for name in counts.keys().filter(|name| !baseline.contains_key(*name)) {
        findings += &format!("{name} has no baseline; ");
    }
    for name in baseline.keys().filter(|name| !counts.contains_key(*name)) {
        findings += &format!("{name} has a baseline but was not run; ");
    }
    if findings.is_empty() {
        return Ok(());
    }
    Err(format!("{findings}`cargo xtask bench --write` brings {BASELINE} up to date"))
}

impl Count {
    fn of(total: u64, operations: u64) -> Self {
        Self((total * 10 + operations / 2) / operations)
    }

    fn parse(text: &str) -> Option<Self> {
        let (whole, tenths) = text.split_once('.')?;
        let tenths = tenths.parse().ok().filter(|tenths: &u64| *tenths < 10)?;
        whole.parse::<u64>().ok()?.checked_mul(10)?.checked_add(tenths).map(Self)
    }

    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    fn change_percent(self, before: Self) -> f64 {
        (self.0 as f64 / before.0 as f64 - 1.0) * 100.0
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{}", self.0 / 10, self.0 % 10))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn benches(names: &[&str]) -> Vec<Bench> {
        names.iter().map(|name| ((*name).to_owned(), 1)).collect()
    }

    #[test]
    fn the_program_is_found_in_cargos_messages() {
        let messages = "\
{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"lib\"]},\"executable\":null}
{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"bench\"]},\"executable\":\"/t/b-1\"}
{\"reason\":\"compiler-artifact\",\"target\":{\"kind\":[\"bin\"]},\"executable\":\"/t/server\"}
{\"reason\":\"build-finished\",\"success\":true}
";
        assert_eq!(executable(messages), Some("/t/b-1".into()));
        assert_eq!(executable("{\"executable\":null}\n"), None);
    }

    #[test]
    fn the_sum_is_found_in_a_profile() {
        let profile = "# callgrind format\nevents: Ir\nfn=(1) a\n16 400\n\ntotals: 1234567\n";
        assert_eq!(total(profile), Some(1_234_567));
        assert_eq!(total("events: Ir\n"), None);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let benches = benches(&["b/two", "a/one"]);
        let counts = Counts::from([
            ("a/one".to_owned(), Count::of(1234, 100)),
            ("b/two".to_owned(), Count::of(7, 1)),
        ]);
        let text = baseline_text("# Taken with care.", &benches, &counts);
        assert!(text.ends_with("# Taken with care.\nb/two 7.0\na/one 12.3\n"), "{text}");
        assert_eq!(parse_baseline(&text), Ok(counts));
    }

    #[test]
    fn a_baseline_with_anything_else_is_refused() {
        for text in ["a", "a 1", "a 1.10", "a x.1", "a 1.1 1", "a 1.0\na 1.0"] {
            assert!(parse_baseline(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn both_must_have_the_same_benchmarks() {
        let counts = |names: &[&str]| -> Counts {
            names.iter().map(|name| ((*name).to_owned(), Count(10))).collect()
        };
        assert_eq!(same_names(&counts(&["a", "b"]), &counts(&["b", "a"])), Ok(()));
        let reason = same_names(&counts(&["a", "b"]), &counts(&["a", "c"])).unwrap_err();
        assert!(reason.starts_with("b has no baseline; c has a baseline but was not run; "));
    }

    #[test]
    fn the_table_shows_changes_in_percent() {
        let counts = Counts::from([("a".to_owned(), Count(1030)), ("b".to_owned(), Count(5))]);
        let baseline = Counts::from([("a".to_owned(), Count(1000))]);
        let text = table(&benches(&["a", "b"]), &counts, &baseline);
        let expected = "\
benchmark  instructions    baseline    change
a                 103.0       100.0    +3.00%
b                   0.5        none
";
        assert_eq!(text, expected);
    }
}
