//! `flatc`, the FlatBuffers schema compiler, under cargo's control: it passes its arguments on.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let status = Command::new(flatc_fork::flatc()).args(std::env::args_os().skip(1)).status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cannot run {}: {error}", flatc_fork::flatc().display());
            ExitCode::FAILURE
        }
    }
}
