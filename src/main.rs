//! `plasma-store-server`: started like the original, serves like the original.

use std::io::Write;
use std::process::ExitCode;

use plasma_store::config::Command;
use plasma_store::device::doctor;
use plasma_store::{config, logging, server};

fn main() -> ExitCode {
    let config = match config::parse(std::env::args_os()) {
        Ok(Command::Serve(config)) => config,
        Ok(Command::CudaDoctor) => return status(doctor::run(&mut std::io::stdout())),
        Ok(Command::CudaDoctorPeer(ordinal)) => {
            let (input, output) = (&mut std::io::stdin(), &mut std::io::stdout());
            return status(doctor::run_peer(ordinal, input, output));
        }
        Err(exit) => {
            // If even this cannot be written, the status still tells.
            let _ = std::io::stdout().write_all(exit.stdout.as_bytes());
            let _ = std::io::stderr().write_all(exit.stderr.as_bytes());
            return ExitCode::from(exit.code);
        }
    };
    if let Err(error) = logging::init(config.log_level) {
        let _ = writeln!(std::io::stderr(), "{}: cannot log: {error}", config.program);
        return ExitCode::FAILURE;
    }
    let result = server::run(&config);
    logging::shutdown();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{}: {error}", config.program);
            ExitCode::FAILURE
        }
    }
}

fn status(all_well: bool) -> ExitCode {
    if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
