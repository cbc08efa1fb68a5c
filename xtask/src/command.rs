//! Where things are, and how programs are started.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The folder that cargo builds into.
pub(crate) fn target_dir() -> PathBuf {
    // A relative value means relative to where cargo is run, and that is always the root here.
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The server as `cargo build --release` leaves it.
pub(crate) fn release_server() -> PathBuf {
    target_dir().join("release").join("plasma-store-server")
}

/// The cargo that runs us, started at the root.
pub(crate) fn cargo(arguments: &str) -> Command {
    let mut command = program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments.split_whitespace());
    command
}

/// Any other program, started at the root.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root());
    command
}

/// Runs a command that writes to our own output, and requires success.
pub(crate) fn succeed(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", name(command))) }
}

/// Runs a command, requires success and returns what it wrote to its standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String, String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", name(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed no text", name(command)))
}

/// The sentence for a program that could not even be started.
pub(crate) fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", name(command))
}

/// The command as a person would type it, for messages.
pub(crate) fn name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
