//! Every check of the project in one command, the same here and on a build machine.
//!
//! Cheap checks come first, since the first failure ends the run. Each check that could pass by
//! finding nothing to do is made to fail then.

use std::process::Command;

use crate::command::{capture, cargo, program, release_server, root, succeed};
use crate::tally::Tally;
use crate::{Outcome, bench, codegen, tidy};

/// A title and what to do; tests that are run get counted.
type Step = (&'static str, fn(&mut Tally) -> Outcome);

const STEPS: [Step; 19] = [
    ("format", |_| succeed(&mut cargo("fmt --all --check"))),
    ("tidy", |_| tidy::run()),
    ("lints", |_| succeed(&mut clippy("--workspace --all-targets"))),
    ("library without features", |_| core_alone()),
    ("library with the feature os", |_| {
        succeed(&mut clippy("--lib --no-default-features --features os"))
    }),
    ("generated code is fresh", |_| codegen::run(codegen::Mode::Check)),
    ("tests", |tally| tally.run(&mut cargo("test --workspace"))),
    ("simulation", simulation),
    ("documentation", |_| documentation()),
    ("release build", |_| succeed(&mut cargo("build --release --package plasma-store"))),
    ("libraries of the server", |_| server_libraries()),
    ("benchmarks", |_| bench::check()),
    ("demo", |_| crate::demo::run()),
    ("compatibility", |tally| {
        tally.run(compat_tests().env("PLASMA_STORE_SERVER", release_server()))
    }),
    ("compatibility of the reference", |tally| tally.run(compat_tests().arg("--reference"))),
    ("client releases", client_releases),
    ("programs of others", programs_of_others),
    ("differential test", |_| {
        let mut differential = program(root().join("compat-tests/differential"));
        differential.args(["--seconds", "60"]).env("PLASMA_STORE_SERVER", release_server());
        succeed(&mut differential)
    }),
    ("fuzzing", |_| succeed(program(root().join("fuzz/run")).args(["--all", "60"]))),
];

/// What the library must not depend on without its features: the ways to the operating system.
const SYSTEM_CRATES: [&str; 4] = ["libc", "memmap2", "mio", "nix"];

/// Runs all steps up to the first failure, and prints the sums of all tests last.
pub(crate) fn run_all() -> Outcome {
    let mut tally = Tally::default();
    let mut outcome = Ok(());
    for (title, step) in STEPS {
        println!("==> {title}");
        if let Err(reason) = step(&mut tally) {
            // A failed step counts even if it is no test, so that the last line tells.
            tally.failed = tally.failed.max(1);
            outcome = Err(format!("{title}: {reason}"));
            break;
        }
    }
    if let Err(reason) = &outcome {
        println!("==> FAILED in {reason}");
    }
    let Tally { passed, failed, skipped } = tally;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    outcome
}

/// Clippy with warnings as errors, on what the options select. It builds what it looks at.
fn clippy(options: &str) -> Command {
    cargo(&format!("clippy {options} -- -D warnings"))
}

/// The core can do no I/O: it builds, and nothing in its dependency graph could.
fn core_alone() -> Outcome {
    succeed(&mut clippy("--lib --no-default-features"))?;
    let options = "--package plasma-store --edges normal --no-default-features --prefix none";
    let tree = capture(&mut cargo(&format!("tree {options}")))?;
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    if !names.contains(&"plasma-store") {
        return Err("cargo tree does not list the crate itself".into());
    }
    match SYSTEM_CRATES.into_iter().find(|name| names.contains(name)) {
        Some(name) => Err(format!("the core depends on {name}")),
        None => Ok(()),
    }
}

fn simulation(tally: &mut Tally) -> Outcome {
    let mut command = cargo("test --release --package plasma-store --test simulation");
    tally.run(command.env("PLASMA_SIM_SEEDS", "1000").env("PLASMA_SIM_STEPS", "500"))
}

fn documentation() -> Outcome {
    succeed(cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings"))
}

/// The server starts on any machine that has a C library, since it needs no other.
fn server_libraries() -> Outcome {
    let dynamic = capture(program("readelf").args(["--wide", "--dynamic"]).arg(release_server()))?;
    let needed = needed_libraries(&dynamic);
    if needed.is_empty() {
        return Err("readelf lists no library, not even the C library".into());
    }
    let is_allowed = |name: &str| {
        matches!(name, "libc.so.6" | "libm.so.6" | "libgcc_s.so.1") || name.starts_with("ld-linux")
    };
    match needed.into_iter().find(|name| !is_allowed(name)) {
        Some(name) => Err(format!("the server depends on {name}")),
        None => Ok(()),
    }
}

/// The names in lines like ` 0x1 (NEEDED)  Shared library: [libc.so.6]`.
fn needed_libraries(dynamic: &str) -> Vec<&str> {
    let lines = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    lines.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0)).collect()
}

/// The newest release, the oldest of its dialect, and one between. The full matrix takes longer.
fn client_releases(tally: &mut Tally) -> Outcome {
    let mut matrix = program(root().join("compat-tests/matrix"));
    matrix.args(["--releases", "11.0.0,6.0.1,0.17.1", "--if-available"]);
    tally.run(matrix.env("PLASMA_STORE_SERVER", release_server()))
}

/// The quick ones; the others take minutes to install.
fn programs_of_others(tally: &mut Tally) -> Outcome {
    let mut programs = program(root().join("compat-tests/programs/run"));
    programs.args(["--if-available", "brain-plasma", "stories"]);
    tally.run(programs.env("PLASMA_STORE_SERVER", release_server()))
}

fn compat_tests() -> Command {
    program(root().join("compat-tests/run"))
}

#[cfg(test)]
mod tests {
    use super::needed_libraries;

    #[test]
    fn libraries_are_found_in_the_output_of_readelf() {
        let text = "\
Dynamic section at offset 0x2d58 contains 28 entries:
  Tag        Type                         Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libgcc_s.so.1]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x000000000000000c (INIT)               0x1000
";
        assert_eq!(needed_libraries(text), ["libgcc_s.so.1", "libc.so.6"]);
    }
}
