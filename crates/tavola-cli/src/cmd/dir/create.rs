//! `tavola dir create`: a directory whose tables a group shares.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::fs::{Gid, Mode, OFlags, RawMode, fchmod, fchown, fstat, mkdir, open};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::tmpfiles;
use crate::error::CliError;
use crate::output::{Output, printable};
use crate::{args, owner};

/// The largest table that the check creates; it takes less than that.
const CHECKED_BYTES: u64 = 1 << 20;

/// Create a directory of tables for a group
///
/// The directory belongs to the user who runs this and to the group. Its mode is 2770: members of
/// the group create, open and remove tables in it, and each new table gets the group. An existing
/// directory of yours gets this group and mode. The parent directory must exist. At the end, the
/// command creates a table in the directory and removes it, to check that this works.
#[derive(clap::Args)]
pub struct Args {
    /// The directory, best in /dev/shm
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The group, by name or number
    #[arg(long, value_name = "GROUP", value_parser = owner::parse_group)]
    group: u32,
    /// Which users may use the directory, as for chmod
    #[arg(long, value_name = "OCTAL", value_parser = parse_mode, default_value = "2770")]
    mode: u32,
    /// Also print the line of tmpfiles.d that creates the directory at boot, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    tmpfiles: Option<Option<PathBuf>>,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let path = absolute(&args.path)?;
    refuse_private(&path)?;
    let line = match args.tmpfiles {
        Some(_) => Some(tmpfiles::line(&path, args.mode, args.group)?),
        None => None,
    };
    make(&path, args)?;
    args::warn_of(path.join("table").as_os_str());
    check(&path, args.group)?;
    let mut out = Output::new();
    match (&args.tmpfiles, line) {
        // Nothing else, so that it can be sent to a file.
        (Some(None), Some(line)) => out.line(line)?,
        (Some(Some(file)), Some(line)) => {
            tmpfiles::write(file, &line)?;
            report(&mut out, &path, args)?;
            out.line(format!("{} creates it at boot", file.display()))?;
        }
        _ => report(&mut out, &path, args)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn report(out: &mut Output, path: &Path, args: &Args) -> Result<(), CliError> {
    let (group, mode, path) = (owner::group_name(args.group), args.mode, shown(path));
    out.line(format!("{path}: group {group}, mode {mode:o}"))?;
    match &owner::members(args.group)[..] {
        [] => out.line(format!(
            "nobody is in group {group} yet; run: usermod -aG {group} USER"
        ))?,
        members => out.line(format!("members: {}", members.join(", ")))?,
    }
    out.line(format!("each program needs: TAVOLA_DIR={path}"))
}

fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    let made = std::path::absolute(path).map_err(|source| failed(path, source));
    // Without a slash at the end, which would follow a symbolic link.
    made.map(|path| path.components().collect())
}

/// Refuses a directory that Tavola uses for one user only. It must not be writable by others.
fn refuse_private(path: &Path) -> Result<(), CliError> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let uid = name.strip_prefix(b"tavola-");
    let is_uid = uid.is_some_and(|uid| !uid.is_empty() && uid.iter().all(u8::is_ascii_digit));
    match is_uid && path.parent() == Some(Path::new("/dev/shm")) {
        true => Err(CliError::Sentence(format!(
            "{} is the private directory of one user; choose another path, as /dev/shm/shared",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// Creates the directory if it is missing, with its group and mode. If that fails, a directory that
/// was created is removed.
fn make(path: &Path, args: &Args) -> Result<(), CliError> {
    let is_new = match mkdir(path, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(failed(path, errno.into())),
    };
    give_rights(path, args).inspect_err(|_| {
        if is_new {
            let _ = fs::remove_dir(path);
        }
    })
}

/// Gives the directory its group and mode through a descriptor, so that nobody can put another
/// directory or a link in its place meanwhile.
fn give_rights(path: &Path, args: &Args) -> Result<(), CliError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = match open(path, flags, Mode::empty()) {
        Err(Errno::NOTDIR | Errno::LOOP) => {
            let what = "exists and is not a directory; choose another path";
            return Err(CliError::Sentence(format!("{} {what}", shown(path))));
        }
        opened => opened.map_err(|errno| failed(path, errno.into()))?,
    };
    let (me, found) = (geteuid(), fstat(&dir).map_err(io::Error::from));
    let found = found.map_err(|source| failed(path, source))?;
    if found.st_uid != me.as_raw() && !me.is_root() {
        return Err(CliError::Sentence(format!(
            "{} exists and belongs to user {}; choose another path, or let that user run this",
            shown(path),
            owner::name_of(found.st_uid)
        )));
    }
    let group = owner::group_name(args.group);
    fchown(&dir, None, Some(Gid::from_raw(args.group))).map_err(|errno| match errno {
        Errno::PERM => CliError::Sentence(format!(
            "{} cannot have group {group}, because user {} is not in it; \
             run this as root, or run: usermod -aG {group} USER, and log in again",
            shown(path),
            owner::name_of(me.as_raw())
        )),
        errno => failed(path, errno.into()),
    })?;
    let mode = Mode::from_raw_mode(args.mode as RawMode);
    fchmod(&dir, mode).map_err(|errno| failed(path, errno.into()))
}

/// Creates a table in the directory and removes it.
fn check(path: &Path, group: u32) -> Result<(), CliError> {
    let table = path.join(format!(".check-{}", std::process::id()));
    let made = args::options().max_size(CHECKED_BYTES).create(&table);
    let found = fs::metadata(&table).map(|file| file.gid());
    let _ = fs::remove_file(&table);
    drop(made?);
    match found {
        Ok(found) if found == group => Ok(()),
        Ok(found) => Err(CliError::Sentence(format!(
            "a table in {} gets group {} and not {}; create tables with --group, \
             or choose a directory on tmpfs",
            shown(path),
            owner::group_name(found),
            owner::group_name(group)
        ))),
        Err(source) => Err(failed(path, source)),
    }
}

fn failed(path: &Path, source: io::Error) -> CliError {
    let path = path.to_path_buf();
    CliError::Write { path, source }
}

fn shown(path: &Path) -> String {
    printable(path.as_os_str().as_bytes()).into_owned()
}

fn parse_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode & 0o2700 == 0o2700 && mode <= 0o3777 && mode & 0o002 == 0 => Ok(mode),
        _ => Err(format!(
            "'{text}' is not a mode of a shared directory, as 2770 or 2750 is: with setgid, \
             all rights of the owner, and no right to write for all users"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_has_setgid_and_does_not_let_all_users_write() {
        for good in ["2770", "2750", "02775", "3770"] {
            assert!(parse_mode(good).is_ok(), "{good}");
        }
        for wrong in ["", "770", "2777", "2070", "4770", "9"] {
            assert!(parse_mode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_private_directory_of_a_user_is_not_shared() {
        let refused = |path: &str| refuse_private(Path::new(path)).is_err();
        assert!(refused("/dev/shm/tavola-1000"));
        for fine in ["/dev/shm/tavola", "/dev/shm/tavola-web", "/run/tavola-1000"] {
            assert!(!refused(fine), "{fine}");
        }
    }
}
