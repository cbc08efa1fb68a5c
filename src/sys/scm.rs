//! Bytes and descriptors over Unix sockets, never waiting.

use std::io::{self, IoSlice};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;
use nix::sys::socket::{ControlMessage, MsgFlags, send, sendmsg};
use smallvec::SmallVec;

/// A message that brings a descriptor brings one. Room for two tells a peer that sends more, whose
/// surplus the kernel closes.
const MAX_RECEIVED: usize = 2;

/// Room for the control message that carries so many descriptors: a header of 16 bytes and 4 bytes
/// for each.
const CONTROL_BYTES: usize = 16 + MAX_RECEIVED * size_of::<RawFd>();

/// What one [`receive`] brought.
#[derive(Debug)]
pub struct Received {
    /// How many bytes; 0 if the peer has closed.
    pub bytes: usize,
    /// The descriptors that came with them. They belong to the last of the bytes, since the kernel
    /// ends a read behind the bytes that a descriptor was sent with.
    pub descriptors: SmallVec<[OwnedFd; MAX_RECEIVED]>,
    /// Descriptors were sent, whether or not there was room for all of them, so that this read has
    /// ended early and there may be more bytes.
    pub ended_early: bool,
}

/// Receives what there is, up to the length of `buffer`.
///
/// # Errors
///
/// [`io::ErrorKind::WouldBlock`] if there is nothing; whatever else the kernel says.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // Justification: it has private fields on some systems, so that it cannot be written out.
    // SAFETY: all its fields are numbers and pointers, for which zeros are a value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL_BYTES as _;
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    // Justification: the safe wrapper gives up the descriptors that it did receive if there was no
    // room for others, and so loses them.
    // SAFETY: the header points to one buffer and one control buffer, both alive and as long as it
    // says, and to no address.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    let Ok(bytes) = usize::try_from(count) else { return Err(io::Error::last_os_error()) };
    let descriptors = take_descriptors(&header);
    let truncated = header.msg_flags & libc::MSG_CTRUNC != 0;
    let ended_early = truncated || !descriptors.is_empty();
    Ok(Received { bytes, descriptors, ended_early })
}

/// Takes over the descriptors in the control messages that the kernel has written.
fn take_descriptors(header: &libc::msghdr) -> SmallVec<[OwnedFd; MAX_RECEIVED]> {
    let mut descriptors = SmallVec::new();
    // Justification: control messages have a layout that only these macros know.
    // SAFETY: the header is as the kernel has left it, so its control buffer holds whole messages.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: the macros return null or a message inside of the control buffer, which is
        // aligned for it.
        let libc::cmsghdr { cmsg_len, cmsg_level, cmsg_type, .. } = unsafe { *message };
        if (cmsg_level, cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            // SAFETY: the data follows the header of the message.
            let data = unsafe { libc::CMSG_DATA(message) };
            // SAFETY: computes a size only.
            let header_bytes = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = (cmsg_len - header_bytes) / size_of::<RawFd>();
            for index in 0..count {
                // SAFETY: the message has so many numbers behind its header.
                let place = unsafe { data.cast::<RawFd>().add(index) };
                // SAFETY: as above; it need not be aligned.
                let number = unsafe { place.read_unaligned() };
                // SAFETY: the kernel has just opened this descriptor for us, and nobody else
                // knows it.
                descriptors.push(unsafe { OwnedFd::from_raw_fd(number) });
            }
        }
        // SAFETY: as for the first message.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    descriptors
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
    fn surplus_descriptors_are_closed() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (sent, mut kept) = UnixStream::pair().unwrap();
        let numbers = [sent.as_raw_fd(); 100];
        let control = [ControlMessage::ScmRights(&numbers)];
        let message = [IoSlice::new(b"many")];
        let flags = MsgFlags::empty();
        sendmsg::<()>(theirs.as_raw_fd(), &message, &control, flags, None).unwrap();
        drop(sent);
        let received = receive(ours.as_fd(), &mut [0; 100]).unwrap();
        assert_eq!((received.bytes, received.descriptors.len()), (4, MAX_RECEIVED));
        assert!(received.ended_early);
        drop(received);
        assert_eq!(kept.read(&mut [0]).unwrap(), 0, "no copy is left");
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
