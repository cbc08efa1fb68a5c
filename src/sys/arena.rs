//! Segments: the files in shared memory that objects lie in.
//!
//! Every client maps a segment writable, so other processes may change any byte of it at any time.
//! Its bytes are therefore never a Rust reference here: they are copied in and out. What belongs to
//! the store's books is never kept in a segment.
//!
//! Clients can also shrink a file that they were given, unless it is sealed against that, and
//! touching what is no longer there kills a process. So only sealed segments are written through a
//! mapping; the others through system calls, which just fail.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use memmap2::MmapRaw;
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, FcntlArg, SealFlag, fallocate, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::statfs::{HUGETLBFS_MAGIC, fstatfs};
use nix::sys::uio::{RemoteIoVec, process_vm_writev};

/// Where segments come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArenaKind {
    /// Anonymous memory, sealed against shrinking. It depends on no mount and no mount's size.
    Memfd,
    /// Anonymous memory of huge pages of so many bytes, sealed likewise.
    HugeMemfd(u64),
    /// Unnamed files in a folder.
    Directory(PathBuf),
    /// Unnamed files in a folder of a file system of huge pages.
    HugeDirectory(PathBuf),
}

/// Makes segments of one kind.
#[derive(Debug)]
pub struct Arena {
    kind: ArenaKind,
}

/// How a segment is written.
#[derive(Debug)]
enum Access {
    /// Through the mapping: nobody can shrink the file.
    Sealed(MmapRaw),
    /// Through the mapping, by a system call that fails where there is no memory. File systems of
    /// huge pages have no other way to write. The mapping also keeps the pages reserved.
    Checked(MmapRaw),
    /// Through the file.
    File,
}

/// One segment.
#[derive(Debug)]
pub struct Segment {
    file: File,
    access: Access,
    range_bytes: u64,
    /// Its pages are huge, and all were reserved when it was created.
    is_huge: bool,
}

/// How much more a segment's file system can take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Space {
    /// What the file takes up now, in bytes.
    pub used_bytes: u64,
    /// What is free besides, in bytes.
    pub free_bytes: u64,
}

impl Arena {
    /// An arena whose segments come from there. Nothing is created yet.
    #[must_use]
    pub fn new(kind: ArenaKind) -> Self {
        Self { kind }
    }

    /// Whether a segment costs nothing until its pages are touched, so that it may as well be
    /// several times larger than what is needed.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self.kind, ArenaKind::Memfd | ArenaKind::Directory(_))
    }

    /// Whether segments are on a file system that can run out of room.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        matches!(self.kind, ArenaKind::Directory(_))
    }

    /// Creates a segment of at least `range_bytes`; with huge pages it is rounded up to whole ones.
    ///
    /// # Errors
    ///
    /// If the folder, the limits of the process or the supply of huge pages do not allow it.
    pub fn create_segment(&self, range_bytes: u64) -> io::Result<Segment> {
        match &self.kind {
            ArenaKind::Memfd => sealed_segment(MFdFlags::empty(), range_bytes),
            ArenaKind::HugeMemfd(page_bytes) => {
                let size_flag = huge_page_flag(*page_bytes)?;
                let range_bytes = round_up(range_bytes, *page_bytes)?;
                let segment = sealed_segment(MFdFlags::MFD_HUGETLB | size_flag, range_bytes)?;
                Ok(Segment { is_huge: true, ..segment })
            }
            ArenaKind::Directory(directory) => {
                let file = unnamed_file(directory)?;
                file.set_len(range_bytes)?;
                Ok(Segment { file, access: Access::File, range_bytes, is_huge: false })
            }
            ArenaKind::HugeDirectory(directory) => {
                let file = unnamed_file(directory)?;
                let file_system = fstatfs(&file)?;
                if file_system.filesystem_type() != HUGETLBFS_MAGIC {
                    return Err(io::Error::other("it is not on a file system of huge pages"));
                }
                let page_bytes = u64::try_from(file_system.block_size()).unwrap_or(2 << 20);
                let range_bytes = round_up(range_bytes, page_bytes)?;
                file.set_len(range_bytes)?;
                let access = Access::Checked(MmapRaw::map_raw(&file)?);
                Ok(Segment { file, access, range_bytes, is_huge: true })
            }
        }
    }
}

impl Segment {
    /// How many bytes of the file may be mapped.
    #[must_use]
    pub fn range_bytes(&self) -> u64 {
        self.range_bytes
    }

    /// The file, to be sent to clients.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Copies `bytes` into the segment.
    ///
    /// # Errors
    ///
    /// If there is no memory for them, or a client has shrunk the file.
    ///
    /// # Panics
    ///
    /// If they would not lie in the segment.
    pub fn write_at(&self, bytes: &[u8], offset_bytes: u64) -> io::Result<()> {
        let length = bytes.len() as u64;
        let fits = offset_bytes.checked_add(length).is_some_and(|end| end <= self.range_bytes);
        assert!(fits, "extents lie in their segment");
        let offset = usize::try_from(offset_bytes).expect("segments fit the address space");
        match &self.access {
            Access::File => self.file.write_all_at(bytes, offset_bytes),
            Access::Checked(map) => write_checked(map, bytes, offset),
            Access::Sealed(map) => {
                // Justification: a system call for each small object would cost more than all other
                // work on it, and a slice over memory that clients write would be unsound.
                // SAFETY: the map covers `range_bytes`, which were checked above, and the seals
                // keep the file that long, so the destination is mapped memory. The source is
                // memory of this process that no client can reach, so the two do not overlap.
                // No reference to the destination exists here; a client that writes there at the
                // same time breaks its own object only.
                unsafe { copy_in(map.as_mut_ptr(), offset, bytes) };
                Ok(())
            }
        }
    }

    /// Copies bytes out of the segment.
    ///
    /// # Errors
    ///
    /// If a client has shrunk the file.
    pub fn read_at(&self, bytes: &mut [u8], offset_bytes: u64) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset_bytes)
    }

    /// Puts memory behind a stretch. May take long: about a second for a GiB.
    ///
    /// # Errors
    ///
    /// If there is none. A file system that cannot reserve is not held against the caller.
    pub fn reserve(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        let (offset, length) = (to_off(offset_bytes)?, to_off(length_bytes)?);
        loop {
            match fallocate(&self.file, FallocateFlags::empty(), offset, length) {
                Err(Errno::EINTR) => {}
                Err(Errno::EOPNOTSUPP) | Ok(()) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives the memory behind a stretch back to the system. What is on it may be lost. Huge pages
    /// stay: the reservation would be lost with them, and a client that touches the stretch later
    /// could be killed for it.
    ///
    /// # Errors
    ///
    /// If the file system cannot do that.
    pub fn release(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        if self.is_huge {
            return Ok(());
        }
        let mode = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        fallocate(&self.file, mode, to_off(offset_bytes)?, to_off(length_bytes)?)?;
        Ok(())
    }

    /// Makes a stretch read as zeros.
    ///
    /// # Errors
    ///
    /// If it cannot be done; the stretch is as it was then, or partly cleared.
    pub fn clear(&self, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
        if !self.is_huge && self.release(offset_bytes, length_bytes).is_ok() {
            return Ok(());
        }
        let zeros = vec![0; 1 << 20];
        let mut done_bytes = 0;
        while done_bytes < length_bytes {
            let left = usize::try_from(length_bytes - done_bytes).unwrap_or(usize::MAX);
            let part = &zeros[..left.min(zeros.len())];
            self.write_at(part, offset_bytes + done_bytes)?;
            done_bytes += part.len() as u64;
        }
        Ok(())
    }

    /// What the file takes up and what it could still get.
    ///
    /// # Errors
    ///
    /// If the file system does not say.
    pub fn space(&self) -> io::Result<Space> {
        // The unit of this field is 512 bytes whatever the file system's blocks are.
        let used_bytes = self.file.metadata()?.blocks() * 512;
        let file_system = nix::sys::statvfs::fstatvfs(&self.file)?;
        let free_bytes = file_system.blocks_available() * file_system.fragment_size();
        Ok(Space { used_bytes, free_bytes })
    }
}

/// The free bytes of the file system that a folder is on.
///
/// # Errors
///
/// If the folder cannot be looked at.
pub fn free_bytes(directory: &Path) -> io::Result<u64> {
    let file_system = nix::sys::statvfs::statvfs(directory)?;
    Ok(file_system.blocks_available() * file_system.fragment_size())
}

/// Copies bytes to `offset` behind `start`.
///
/// # Safety
///
/// `offset` and the length of `bytes` must lie in one mapping that begins at `start` and is
/// writable, and `bytes` must not be part of it.
unsafe fn copy_in(start: *mut u8, offset: usize, bytes: &[u8]) {
    // SAFETY: the caller keeps the offset in the mapping.
    let target = unsafe { start.add(offset) };
    // SAFETY: the caller keeps the end in the mapping and the two apart.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
}

/// Has the kernel copy into a mapping of this process, so that a missing page is an error.
fn write_checked(map: &MmapRaw, bytes: &[u8], offset: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let local = [IoSlice::new(&bytes[done..])];
        let base = map.as_mut_ptr().addr() + offset + done;
        let remote = [RemoteIoVec { base, len: bytes.len() - done }];
        match process_vm_writev(nix::unistd::Pid::this(), &local, &remote)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => done += count,
        }
    }
    Ok(())
}

/// Anonymous memory of a fixed size.
fn sealed_segment(flags: MFdFlags, range_bytes: u64) -> io::Result<Segment> {
    let flags = flags | MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let file = File::from(memfd_create("plasma", flags)?);
    file.set_len(range_bytes)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    let access = Access::Sealed(MmapRaw::map_raw(&file)?);
    Ok(Segment { file, access, range_bytes, is_huge: false })
}

/// A file in a folder that no path leads to, so that nothing is left behind however we end.
#[expect(clippy::disallowed_methods, reason = "segments are files")]
fn unnamed_file(directory: &Path) -> io::Result<File> {
    let unnamed = OpenOptions::new()
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_TMPFILE | nix::libc::O_CLOEXEC)
        .open(directory);
    match unnamed {
        // Not every file system has such files.
        Err(error) if needs_a_name(&error) => {
            let template = directory.join("plasmaXXXXXX");
            let (descriptor, path): (OwnedFd, PathBuf) = nix::unistd::mkstemp(&template)?;
            std::fs::remove_file(path)?;
            Ok(File::from(descriptor))
        }
        result => result,
    }
}

fn needs_a_name(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    matches!(code, Some(Errno::EOPNOTSUPP | Errno::EISDIR | Errno::EINVAL))
}

fn huge_page_flag(page_bytes: u64) -> io::Result<MFdFlags> {
    match page_bytes {
        0x20_0000 => Ok(MFdFlags::MFD_HUGE_2MB),
        0x4000_0000 => Ok(MFdFlags::MFD_HUGE_1GB),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn round_up(bytes: u64, unit_bytes: u64) -> io::Result<u64> {
    bytes.checked_next_multiple_of(unit_bytes).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn to_off(bytes: u64) -> io::Result<i64> {
    i64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder on a disk; the tests work on any file system.
    fn directory() -> PathBuf {
        std::env::temp_dir()
    }

    #[test]
    fn what_is_written_is_read() {
        for kind in [ArenaKind::Memfd, ArenaKind::Directory(directory())] {
            let segment = Arena::new(kind.clone()).create_segment(1 << 20).unwrap();
            segment.write_at(b"object", 4090).unwrap();
            let mut bytes = [0; 6];
            segment.read_at(&mut bytes, 4090).unwrap();
            assert_eq!(&bytes, b"object", "{kind:?}");
        }
    }

    #[test]
    fn a_segment_takes_memory_only_where_it_was_touched() {
        let segment = Arena::new(ArenaKind::Memfd).create_segment(1 << 40).unwrap();
        let used = |segment: &Segment| segment.space().unwrap().used_bytes;
        assert_eq!(used(&segment), 0);
        segment.write_at(&[1; 8192], 1 << 39).unwrap();
        assert!((8192..1 << 20).contains(&used(&segment)));
        segment.release(1 << 39, 8192).unwrap();
        assert_eq!(used(&segment), 0);
        segment.reserve(0, 1 << 16).unwrap();
        assert!(used(&segment) >= 1 << 16);
    }

    #[test]
    fn what_is_cleared_reads_as_zeros() {
        for kind in [ArenaKind::Memfd, ArenaKind::Directory(directory())] {
            let segment = Arena::new(kind.clone()).create_segment(4 << 20).unwrap();
            segment.write_at(&vec![7; 3 << 20], 100).unwrap();
            segment.clear(200, (3 << 20) - 300).unwrap();
            let mut bytes = vec![1; 3 << 20];
            segment.read_at(&mut bytes, 100).unwrap();
            let (kept, cleared) = bytes.split_at(100);
            assert!(kept.iter().all(|byte| *byte == 7), "{kind:?}");
            let (cleared, kept) = cleared.split_at((3 << 20) - 300);
            assert!(cleared.iter().all(|byte| *byte == 0), "{kind:?}");
            assert!(kept.iter().all(|byte| *byte == 7), "{kind:?}");
        }
    }

    #[test]
    fn clients_cannot_shrink_a_memfd() {
        let segment = Arena::new(ArenaKind::Memfd).create_segment(1 << 20).unwrap();
        let theirs = File::from(segment.descriptor().try_clone_to_owned().unwrap());
        assert!(theirs.set_len(0).is_err());
        assert!(theirs.set_len(1 << 30).is_err());
    }

    #[test]
    fn a_shrunk_file_is_an_error_and_no_signal() {
        let segment =
            Arena::new(ArenaKind::Directory(directory())).create_segment(1 << 20).unwrap();
        let theirs = File::from(segment.descriptor().try_clone_to_owned().unwrap());
        theirs.set_len(0).unwrap();
        assert!(segment.read_at(&mut [0; 10], 4096).is_err());
        segment.write_at(&[1; 10], 4096).unwrap();
    }

    #[test]
    fn a_folder_that_is_none_is_an_error() {
        let missing = directory().join("there-is-no-such-folder");
        assert!(Arena::new(ArenaKind::Directory(missing)).create_segment(4096).is_err());
        let ordinary = ArenaKind::HugeDirectory(directory());
        let error = Arena::new(ordinary).create_segment(4096).unwrap_err();
        assert_eq!(error.to_string(), "it is not on a file system of huge pages");
    }
}
