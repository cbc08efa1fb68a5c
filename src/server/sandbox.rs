//! Giving up what the server does not need.
//!
//! Once it listens, the server opens no file but new segments, starts no program and makes no
//! connection. Whoever takes it over by a fault that nobody knows of should not be able to either.
//! Each part is a best effort: kernels differ in what they offer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use nix::libc;
use seccompiler::{SeccompAction, SeccompFilter, SeccompRule};

/// What became of each part.
#[derive(Debug)]
pub(super) struct Report {
    privileges: Result<(), String>,
    files: Result<(), String>,
    calls: Result<(), String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts =
            [("privileges", &self.privileges), ("files", &self.files), ("calls", &self.calls)];
        for (index, (name, result)) in parts.into_iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            match result {
                Ok(()) => write!(f, "{separator}{name} limited")?,
                Err(reason) => write!(f, "{separator}{name} not limited ({reason})")?,
            }
        }
        Ok(())
    }
}

/// Limits this thread and what it starts from now on. Files may be made in `segments` and removed
/// from `socket`, both folders.
pub(super) fn enter(socket: &Path, segments: Option<&Path>) -> Report {
    Report {
        privileges: nix::sys::prctl::set_no_new_privs().map_err(|error| error.to_string()),
        files: limit_files(socket, segments),
        calls: limit_calls(),
    }
}

fn limit_files(socket: &Path, segments: Option<&Path>) -> Result<(), String> {
    let words = |error: &dyn fmt::Display| error.to_string();
    let all = AccessFs::from_all(ABI::V5);
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(Ruleset::create)
        .map_err(|error| words(&error))?;
    let remove = PathFd::new(socket).map_err(|error| words(&error))?;
    ruleset = ruleset
        .add_rule(PathBeneath::new(remove, AccessFs::RemoveFile))
        .map_err(|error| words(&error))?;
    if let Some(segments) = segments {
        let folder = PathFd::new(segments).map_err(|error| words(&error))?;
        ruleset = ruleset.add_rule(PathBeneath::new(folder, all)).map_err(|error| words(&error))?;
    }
    let status = ruleset.restrict_self().map_err(|error| words(&error))?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("the kernel has no Landlock".to_owned()),
        RulesetStatus::PartiallyEnforced | RulesetStatus::FullyEnforced => Ok(()),
    }
}

/// System calls that the server has no use for and an intruder has.
const FORBIDDEN: [libc::c_long; 40] = [
    // Other programs.
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Other sockets than those that are accepted.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    // Other privileges.
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setgroups,
    libc::SYS_setfsuid,
    libc::SYS_setfsgid,
    libc::SYS_capset,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_open_by_handle_at,
];

fn limit_calls() -> Result<(), String> {
    let rules: BTreeMap<i64, Vec<SeccompRule>> =
        FORBIDDEN.into_iter().map(|number| (number, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "unknown processor".to_owned())?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .map_err(|error| error.to_string())?;
    let program: seccompiler::BpfProgram =
        filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    // All threads: the workers and the writer of the log have been started before.
    seccompiler::apply_filter_all_threads(&program).map_err(|error| error.to_string())
}
