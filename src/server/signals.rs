//! Signals as events of the loop.

use std::io;
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The signals that end the server.
const ENDING: [Signal; 2] = [Signal::SIGTERM, Signal::SIGINT];

/// A descriptor that is readable when a signal has come.
#[derive(Debug)]
pub(super) struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Takes over the signals that end the server, for this thread and all that it starts, so that
    /// none is lost between two waits. A limit on file sizes becomes an error, too, instead of a
    /// signal; SIGPIPE was turned into one by the start of the program.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub(super) fn new() -> io::Result<Self> {
        let ending: SigSet = ENDING.into_iter().collect();
        let mut blocked = ending;
        blocked.add(Signal::SIGXFSZ);
        blocked.thread_block()?;
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        Ok(Self { descriptor: SignalFd::with_flags(&ending, flags)? })
    }

    /// Has the poll tell when one has come.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub(super) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.descriptor.as_raw_fd()), token, Interest::READABLE)
    }

    /// The name of a signal that has come.
    pub(super) fn take(&self) -> Option<&'static str> {
        let info = self.descriptor.read_signal().ok()??;
        let number = i32::try_from(info.ssi_signo).ok()?;
        Signal::try_from(number).ok().map(Signal::as_str)
    }
}
