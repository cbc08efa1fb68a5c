//! The store at work: two processes of the official client share an array.

use crate::Outcome;
use crate::command::{capture, cargo, program, release_server, root, succeed};

/// Builds the server and runs `compat-tests/demo.py` with it.
pub(crate) fn run() -> Outcome {
    succeed(&mut cargo("build --release --package plasma-store"))?;
    println!("Preparing the official client (fetched once, some minutes) ...");
    let said = capture(program(root().join("compat-tests/run")).arg("--setup-only"))?;
    let python = said.lines().last().ok_or("compat-tests/run did not tell its Python")?;
    succeed(program(python.trim()).arg("compat-tests/demo.py").arg(release_server()))
}
