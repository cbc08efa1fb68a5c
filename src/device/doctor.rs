//! Finds out whether GPU objects can work here, step by step.
//!
//! It does what the server and a client do, with a pattern that can be checked: it allocates
//! memory, exports it, and starts a second process that opens it, looks at it and closes it.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use super::driver::{Context, Driver};
use crate::ids::DeviceBlock;

/// The argument that makes the program the second process.
pub const PEER_FLAG: &str = "--cuda-doctor-peer";

const SIZE_BYTES: u64 = 2 << 20;

/// The byte that lies at a place of the block.
fn pattern(place: usize) -> u8 {
    u8::try_from(place % 251).unwrap_or_default()
}

type Outcome = Result<String, (String, &'static str)>;

/// Runs all steps, and writes a line for each. Whether all went well.
pub fn run(out: &mut impl Write) -> bool {
    let mut say = |step: &str, outcome: &Outcome| {
        let (word, text) = match outcome {
            Ok(text) => ("ok", text.clone()),
            Err((error, meaning)) => ("FAILED", format!("{error}\n        {meaning}")),
        };
        let _ = writeln!(out, "{word:>7} {step}: {text}");
        outcome.is_ok()
    };
    let driver = Driver::load();
    let loaded = driver.map_err(|error| error.to_string()).map(|driver| {
        let version = driver.version();
        format!("for CUDA {}.{}", version / 1000, version % 1000 / 10)
    });
    let meaning = "Without a driver that works there are no GPU objects; host objects are served. \
                   In a container, the devices and the driver's library have to be passed in.";
    if !say("driver", &loaded.map_err(|error| (error, meaning))) {
        return false;
    }
    let Ok(driver) = driver else { return false };
    let devices = match driver.devices() {
        Ok(devices) => devices,
        Err(error) => return say("devices", &Err((error.to_string(), "They cannot be listed."))),
    };
    let mut all_well = say("devices", &Ok(format!("{} found", devices.len())));
    for device in devices {
        let name = format!("device {}", device.ordinal);
        let text = format!("{}, {}, {} bytes", device.name, device.uuid_text(), device.total_bytes);
        say(&name, &Ok(text));
        let steps = |step: &str, outcome: &Outcome| say(&format!("{name}, {step}"), outcome);
        all_well &= examine(driver, device.ordinal, steps);
    }
    all_well
}

fn failed<E: ToString>(meaning: &'static str) -> impl FnOnce(E) -> (String, &'static str) {
    move |error| (error.to_string(), meaning)
}

fn examine(driver: Driver, ordinal: usize, mut say: impl FnMut(&str, &Outcome) -> bool) -> bool {
    let opened = driver.open(ordinal).map_err(failed(
        "The device is there but refuses work: it may be in exclusive mode, out of memory, or \
         broken; nvidia-smi may know more.",
    ));
    let context = match opened {
        Ok(context) => context,
        Err(error) => return say("context", &Err(error)),
    };
    let memory = context.memory().map(|(free, _)| format!("{free} bytes of memory are free"));
    say("context", &memory.map_err(failed("The device does not tell its memory.")));
    let allocated = context.allocate(SIZE_BYTES).map_err(failed(
        "Memory cannot be allocated or not be exported. CUDA IPC does not work on all systems, \
         for instance not under WSL.",
    ));
    let (address, handle) = match allocated {
        Ok(allocated) => allocated,
        Err(error) => return say("export", &Err(error)),
    };
    say("export", &Ok(format!("{SIZE_BYTES} bytes")));
    let size = usize::try_from(SIZE_BYTES).unwrap_or_default();
    let contents: Vec<u8> = (0..size).map(pattern).collect();
    let written = context.copy_in(&contents, address).map(|()| "a pattern".to_owned());
    let mut all_well = say("write", &written.map_err(failed("The device does not take data.")));
    all_well &= say("open in another process", &start_peer(ordinal, handle));
    let freed = context.free(address).map(|()| "done".to_owned());
    all_well & say("free", &freed.map_err(failed("The memory cannot be given back.")))
}

/// What the second process finds.
fn start_peer(ordinal: usize, handle: [u8; DeviceBlock::HANDLE_BYTES]) -> Outcome {
    let cannot = "The program cannot start itself again, which is no fault of the device.";
    let program = std::env::current_exe().map_err(failed(cannot))?;
    #[expect(clippy::disallowed_methods, reason = "a second process is what this is about")]
    let peer = Command::new(program)
        .args([PEER_FLAG, &ordinal.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut peer = peer.map_err(failed(cannot))?;
    if let Some(mut input) = peer.stdin.take() {
        input.write_all(&handle).map_err(failed(cannot))?;
    }
    let output = peer.wait_with_output().map_err(failed(cannot))?;
    let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err((
        text,
        "Clients will not be able to open GPU objects. They need the same devices as the server, \
         and in containers the same IPC and process namespaces (--ipc=host, --pid=host).",
    ))
}

/// The second process: opens the handle that comes by `input`, and writes to `out` what it found.
/// Whether all was as it should be.
pub fn run_peer(ordinal: usize, input: &mut impl Read, out: &mut impl Write) -> bool {
    let mut handle = [0; DeviceBlock::HANDLE_BYTES];
    let result = match input.read_exact(&mut handle) {
        Ok(()) => look(ordinal, handle),
        Err(error) => Err(format!("no handle has come: {error}")),
    };
    let (Ok(text) | Err(text)) = &result;
    let _ = writeln!(out, "{text}");
    result.is_ok()
}

fn look(ordinal: usize, handle: [u8; DeviceBlock::HANDLE_BYTES]) -> Result<String, String> {
    let driver = Driver::load().map_err(|error| error.to_string())?;
    let words = |error: super::driver::CudaError| error.to_string();
    let context = driver.open(ordinal).map_err(words)?;
    let address = context.open_handle(handle).map_err(words)?;
    let mut text = check_contents(&context, address)?;
    let (start, length) = context.range(address).map_err(words)?;
    let exposed_bytes = (start + length).saturating_sub(address + SIZE_BYTES);
    let _ = write!(text, ", {exposed_bytes} bytes of neighbours exposed");
    context.close_handle(address).map_err(words)?;
    let mut byte = [0];
    if context.copy_out(address, &mut byte).is_ok() {
        return Err(text + ", but it is still open after it was closed");
    }
    if start != address || exposed_bytes > 0 {
        return Err(text);
    }
    Ok(text + ", closed")
}

fn check_contents(context: &Context, address: u64) -> Result<String, String> {
    let size = usize::try_from(SIZE_BYTES).unwrap_or_default();
    let mut contents = vec![0; size];
    context.copy_out(address, &mut contents).map_err(|error| error.to_string())?;
    let wrong = contents.iter().enumerate().filter(|(place, byte)| pattern(*place) != **byte);
    match wrong.count() {
        0 => Ok("the pattern is there".to_owned()),
        wrong => Err(format!("{wrong} of {size} bytes are wrong")),
    }
}
