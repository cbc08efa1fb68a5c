//! Runs inputs without libFuzzer and without its instrumentation, and says how long each takes:
//! `cargo run --release --example replay -- TARGET FILE...`.
//!
//! With `--show` it shows what the bytes mean instead.

#![allow(clippy::disallowed_methods, reason = "this program reads files and tells times")]

use std::process::ExitCode;
use std::time::Instant;

use plasma_store_fuzz::{allocator, frames, requests, store};

/// Of a target: what runs an input, and what shows it.
type Functions = (fn(&[u8]), fn(&[u8]) -> String);

fn functions(target: &str) -> Option<Functions> {
    match target {
        "frames" => Some((frames::run, frames::describe)),
        "requests" => Some((requests::run, requests::describe)),
        "store" => Some((store::run, store::describe)),
        "allocator" => Some((allocator::run, allocator::describe)),
        _ => None,
    }
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let shows = arguments.first().is_some_and(|first| first == "--show");
    if shows {
        arguments.remove(0);
    }
    let Some(((run, describe), files)) = arguments
        .split_first()
        .and_then(|(target, files)| Some((functions(target)?, files)))
        .filter(|(_, files)| !files.is_empty())
    else {
        eprintln!("usage: replay [--show] frames|requests|store|allocator FILE...");
        return ExitCode::FAILURE;
    };
    for file in files {
        let data = match std::fs::read(file) {
            Ok(data) => data,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        };
        if shows {
            println!("{}", describe(&data));
        } else {
            let started = Instant::now();
            run(&data);
            println!("{:>10.3?} {file}", started.elapsed());
        }
    }
    ExitCode::SUCCESS
}
