//! Files in memory, mapped.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::MetadataExt;
use std::ptr;

/// A mapped file.
pub(crate) struct Mapping {
    pub(crate) file: File,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Mapping {
    /// A new file of so many zeros.
    pub(crate) fn create(bytes: u64) -> io::Result<Self> {
        let name = CString::new("device memory").expect("it has no zero");
        // SAFETY: the name is a C string.
        let descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and nobody else's.
        let file = unsafe { File::from_raw_fd(descriptor) };
        file.set_len(bytes)?;
        Self::map(file, bytes)
    }

    /// The file that another process has open under a number, if it is still the same.
    pub(crate) fn open(pid: u32, descriptor: i32, inode: u64) -> io::Result<Self> {
        let path = format!("/proc/{pid}/fd/{descriptor}");
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let metadata = file.metadata()?;
        if metadata.ino() != inode {
            return Err(io::ErrorKind::NotFound.into());
        }
        Self::map(file, metadata.len())
    }

    fn map(file: File, bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let (access, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
        // SAFETY: a new mapping where the kernel wants it touches no other memory.
        let address =
            unsafe { libc::mmap(ptr::null_mut(), length, access, libc::MAP_SHARED, descriptor, 0) };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { file, address: address as u64, bytes })
    }

    pub(crate) fn inode(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.ino())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let length = usize::try_from(self.bytes).unwrap_or(0);
        // SAFETY: it was mapped with this address and length. Whoever still uses it has freed it.
        unsafe { libc::munmap(self.address as *mut libc::c_void, length) };
    }
}
