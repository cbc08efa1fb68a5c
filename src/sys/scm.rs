//! Bytes and descriptors over Unix sockets, never waiting.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, send, sendmsg};
use smallvec::SmallVec;

/// A message that brings a descriptor brings one. Room for two tells a peer that sends more, whose
/// surplus the kernel closes.
const MAX_RECEIVED: usize = 2;

/// Room for the control message that carries so many descriptors.
const CONTROL_BYTES: usize = 64;

/// What one [`receive`] brought.
#[derive(Debug)]
pub struct Received {
    /// How many bytes; 0 if the peer has closed.
    pub bytes: usize,
    /// The descriptors that came with them. They belong to the last of the bytes, since the kernel
    /// ends a read behind the bytes that a descriptor was sent with.
    pub descriptors: SmallVec<[OwnedFd; MAX_RECEIVED]>,
}

/// Receives what there is, up to the length of `buffer`.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if there is nothing; whatever else the kernel says.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut parts = [IoSliceMut::new(buffer)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control.0[..]), flags)?;
    let mut received = Received { bytes: message.bytes, descriptors: SmallVec::new() };
    // Fails if some were cut off; those that fit are listed all the same.
    let Ok(messages) = message.cmsgs() else {
        return Ok(received);
    };
    for control in messages {
        let ControlMessageOwned::ScmRights(numbers) = control else {
            continue;
        };
        for number in numbers {
            // Justification: the wrapper around the system call gives bare numbers.
            // SAFETY: the kernel has just opened this descriptor for us, and nobody else knows it.
            received.descriptors.push(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
    Ok(received)
}

/// A buffer for control messages, which have to be aligned.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Sends as many of the bytes as the socket takes and returns their number.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if it takes none now; whatever else the kernel says.
pub fn send_bytes(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    Ok(send(socket.as_raw_fd(), bytes, flags)?)
}

/// Sends one byte that brings a descriptor along.
///
/// # Errors
///
/// As for [`send_bytes`].
pub fn send_descriptor(socket: BorrowedFd<'_>, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    // What the original happens to send; nobody looks at it.
    let payload = [0x14];
    let numbers = [descriptor.as_raw_fd()];
    let control = [ControlMessage::ScmRights(&numbers)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&payload)], &control, flags, None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_descriptor_arrives_with_the_last_byte_of_a_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (mut sent, mut kept) = UnixStream::pair().unwrap();
        theirs.write_all(b"before").unwrap();
        send_descriptor(theirs.as_fd(), sent.as_fd()).unwrap();
        theirs.write_all(b"behind").unwrap();
        let mut buffer = [0; 100];
        let first = receive(ours.as_fd(), &mut buffer).unwrap();
        assert_eq!((first.bytes, first.descriptors.len()), (7, 1));
        sent.shutdown(std::net::Shutdown::Both).unwrap();
        drop(first);
        assert_eq!(kept.read(&mut [0]).unwrap(), 0, "the copy was closed with what it came in");
        sent.flush().unwrap();
        let second = receive(ours.as_fd(), &mut buffer).unwrap();
        assert_eq!((second.bytes, second.descriptors.len()), (6, 0));
        let none = receive(ours.as_fd(), &mut buffer).unwrap_err();
        assert_eq!(none.kind(), io::ErrorKind::WouldBlock);
        drop(theirs);
        assert_eq!(receive(ours.as_fd(), &mut buffer).unwrap().bytes, 0);
    }

    #[test]
    fn a_full_socket_is_no_reason_to_wait() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let bytes = vec![0; 1 << 20];
        let mut sent = 0;
        let error = loop {
            match send_bytes(ours.as_fd(), &bytes) {
                Ok(count) => sent += count,
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(sent > 0);
    }
}
