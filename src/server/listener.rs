//! The socket that clients connect to, and the file that stands for it.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mio::net::{UnixListener, UnixStream};
use nix::sys::stat::{Mode, umask};
use nix::unistd::Group;

use crate::config::Access;

/// A listening socket that removes its file when it ends.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) socket: UnixListener,
    path: PathBuf,
    /// The file's device and number, so that no other is removed.
    identity: Option<(u64, u64)>,
}

/// Why there is no listening at a path.
#[derive(Debug)]
pub(super) enum ListenError {
    /// A server answers there.
    InUse,
    /// Something is there that is neither a dead socket nor an empty file.
    Occupied(&'static str),
    /// There is no group of that name.
    NoGroup(String),
    /// The system refuses.
    System(io::Error),
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse => f.write_str("another server is listening there"),
            Self::Occupied(what) => write!(f, "there is {what}, which is left alone"),
            Self::NoGroup(name) => write!(f, "there is no group {name}"),
            Self::System(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for ListenError {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl Listener {
    /// Listens at `path`. What a dead server has left there is replaced, and so is an empty file:
    /// there are programs that make one to have a name nobody else has.
    ///
    /// # Errors
    ///
    /// If something else is there, or the system refuses.
    #[expect(clippy::disallowed_methods, reason = "this is the socket that everything is about")]
    pub(super) fn bind(path: &Path, access: &Access) -> Result<Self, ListenError> {
        let group = access.socket_group.as_deref().map(find_group).transpose()?;
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
            Ok(metadata) => {
                check_replaceable(path, &metadata)?;
                fs::remove_file(path)?;
            }
        }
        // Until it has the mode and the group that it is to have, nobody but us may connect.
        let restricted = access.socket_mode.is_some() || group.is_some();
        let umask = restricted.then(|| umask(Mode::from_bits_truncate(0o177)));
        let socket = UnixListener::bind(path);
        let default_mode = umask.map(|before| {
            nix::sys::stat::umask(before);
            0o777 & !before.bits()
        });
        let identity = fs::symlink_metadata(path).ok().map(|metadata| identity(&metadata));
        let listener = Self { socket: socket?, path: path.to_owned(), identity };
        if group.is_some() {
            std::os::unix::fs::chown(path, None, group)?;
        }
        if let Some(mode) = access.socket_mode.or(default_mode) {
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        Ok(listener)
    }
}

impl Drop for Listener {
    #[expect(clippy::disallowed_methods, reason = "the file was made by `bind`")]
    fn drop(&mut self) {
        let now = fs::symlink_metadata(&self.path).ok().map(|metadata| identity(&metadata));
        if now.is_some()
            && now == self.identity
            && let Err(error) = fs::remove_file(&self.path)
        {
            log::warn!("cannot remove the socket {}: {error}", self.path.display());
        }
    }
}

/// The number of a group that was given by name or number.
fn find_group(name: &str) -> Result<u32, ListenError> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    match Group::from_name(name).map_err(io::Error::from)? {
        Some(group) => Ok(group.gid.as_raw()),
        None => Err(ListenError::NoGroup(name.to_owned())),
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn check_replaceable(path: &Path, metadata: &Metadata) -> Result<(), ListenError> {
    let file_type = metadata.file_type();
    if file_type.is_socket() {
        // Does not wait, even if a live server's queue is full.
        return match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Ok(_) => Err(ListenError::InUse),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(ListenError::InUse),
            Err(error) => Err(error.into()),
        };
    }
    let what = match () {
        () if file_type.is_file() && metadata.len() == 0 => return Ok(()),
        () if file_type.is_file() => "a file with contents",
        () if file_type.is_dir() => "a directory",
        () if file_type.is_symlink() => "a symbolic link",
        () => "something that is no socket",
    };
    Err(ListenError::Occupied(what))
}
