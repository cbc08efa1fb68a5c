//! Chores of this repository, run as `cargo xtask COMMAND`.
//!
//! The crate has no dependencies, so that it builds in a second or two wherever cargo works.

#![allow(clippy::disallowed_methods, reason = "a chore runner starts programs and reads files")]

mod bench;
mod checks;
mod codegen;
mod command;
mod demo;
mod tally;
mod tidy;

use std::process::ExitCode;

/// What a chore returns: nothing, or one sentence that says what went wrong.
type Outcome = Result<(), String>;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  test               every check, cheap ones first; stops at the first that fails
  demo               start the store and share an array between two Python processes
  codegen [--check]  turn format/*.fbs into Rust; --check only compares with what is committed
  bench [--write]    count the instructions of the benchmarks, and compare with the baseline;
                     --write makes the result the baseline
  tidy               the rules about the source text that no other tool checks
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => checks::run_all(),
        ["demo"] => demo::run(),
        ["codegen"] => codegen::run(codegen::Mode::Write),
        ["codegen", "--check"] => codegen::run(codegen::Mode::Check),
        ["bench"] => bench::run(bench::Mode::Compare),
        ["bench", "--write"] => bench::run(bench::Mode::Write),
        ["tidy"] => tidy::run(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(format!("unknown command\n\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
