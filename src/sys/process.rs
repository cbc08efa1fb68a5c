//! The process at the other end of a socket.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::libc;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

/// The number of the socket option that gives a descriptor of the peer; Linux 6.5 and later.
const SO_PEERPIDFD: libc::c_int = 77;

/// Opens a descriptor of the process that has connected to a socket; it becomes readable when that
/// process has ended.
///
/// # Errors
///
/// If the kernel has no such descriptors, or the process is in another world of process numbers.
/// [`io::ErrorKind::NotFound`] says that it has ended already.
pub fn open_peer(socket: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let mut number: libc::c_int = -1;
    let mut length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or_default();
    // SAFETY: the kernel writes at most `length` bytes to the number, and then the new length.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut number).cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        return to_owned(number);
    }
    // An older kernel: by number, which in theory may have passed on to another process.
    let pid = getsockopt(&socket, PeerCredentials)?.pid();
    if pid <= 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: the call takes two numbers and gives a new descriptor or an error.
    let number = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if number < 0 {
        let error = io::Error::last_os_error();
        let has_ended = error.raw_os_error() == Some(libc::ESRCH);
        return Err(if has_ended { io::ErrorKind::NotFound.into() } else { error });
    }
    to_owned(libc::c_int::try_from(number).unwrap_or(-1))
}

fn to_owned(number: libc::c_int) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: the kernel has just made this descriptor for us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
