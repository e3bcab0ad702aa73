//! The location of a table: a name in a directory that is open and was checked. All operations go
//! through the directory's descriptor, so nobody can replace the directory after the check.
//!
//! A path that is checked and then used may lead elsewhere the second time. So the directory is
//! opened once, without following a link that another user made, and its owner and mode are read
//! from the descriptor. The table's file is made, opened, listed and removed through that
//! descriptor. In a directory where everybody may make files, such as `/tmp`, another user may have
//! put a table or a link before: there only files and links of this user and of root are accepted,
//! unless the caller trusts all owners.

use super::cause::explained;
use super::paths::{directory, is_default_directory, path_of};
use crate::error::{Error, Result};
use crate::layout::{MAGIC, MAX_SIZE, MIN_SIZE, PAGE};
use crate::sys::file::{
    FileInfo, FileRights, Links, NameInDir, OpenDir, create_named_in, create_unnamed, is_trusted,
    len_and_blocks, link, publish_named, publish_unnamed, read_at, rename, rename_named, split,
};
use crate::sys::process::{effective_uid, generation};
use std::ffi::{CStr, CString, OsStr};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A name in an open directory. The file need not be there.
#[derive(Debug)]
pub(crate) struct Location {
    dir: OpenDir,
    name: CString,
    path: PathBuf,
    /// Everybody may make files in the directory, and not all owners are trusted.
    is_guarded: bool,
}

impl Location {
    /// Returns the location of a table of this name, whether it exists or not.
    ///
    /// # Errors
    /// [`Error::BadName`]; [`Error::NotFound`] if the directory does not exist;
    /// [`Error::Permission`] if it is not safe to use.
    pub(crate) fn of(name: &OsStr, any_owner: bool) -> Result<Self> {
        let path = path_of(name)?;
        let failed = |source| explained("opening the table", &path, source);
        let (folder, last) = split(path.as_os_str().as_bytes());
        let folder = Path::new(OsStr::from_bytes(folder.unwrap_or(b".")));
        let name = CString::new(last).map_err(|source| failed(source.into()))?;
        let dir = match folder == directory() {
            true => open_named_directory(any_owner, failed)?,
            false => OpenDir::open(folder, Links::Followed).map_err(failed)?,
        };
        let is_guarded = !any_owner && dir.info().map_err(failed)?.mode & 0o002 != 0;
        Ok(Self {
            dir,
            name,
            path,
            is_guarded,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file, see [`crate::sys::file::open`].
    pub(crate) fn open(&self, writable: bool) -> io::Result<OwnedFd> {
        let fd = self.dir.open_file(&self.name, writable, self.links())?;
        self.check_owner(&len_and_blocks(fd.as_fd())?)?;
        Ok(fd)
    }

    fn links(&self) -> Links {
        match self.is_guarded {
            true => Links::Trusted,
            false => Links::Followed,
        }
    }

    fn check_owner(&self, info: &FileInfo) -> io::Result<()> {
        if !self.is_guarded || is_trusted(info.uid) {
            return Ok(());
        }
        let whose = info.uid;
        let why = format!(
            "it belongs to user {whose} and is in a world-writable directory; if you trust that \
            user, allow it with any_owner (--any-owner)"
        );
        Err(io::Error::new(ErrorKind::PermissionDenied, why))
    }

    /// Creates a file without a name; if the file system has no such files, with a temporary name.
    pub(super) fn create(&self, rights: FileRights) -> io::Result<(OwnedFd, Option<CString>)> {
        if let Some(fd) = create_unnamed(self.dir.as_fd(), rights)? {
            return Ok((fd, None));
        }
        let temporary = temporary_name(&self.name);
        // A creator with this pid left it when it died; no other process uses the name.
        let _ = self.dir.unlink(&temporary);
        let fd = create_named_in(self.dir.as_fd(), &temporary, rights)?;
        Ok((fd, Some(temporary)))
    }

    /// Gives a new file its name; fails with `AlreadyExists` if another file has that name.
    pub(super) fn publish(&self, fd: BorrowedFd<'_>, temporary: Option<&CStr>) -> io::Result<()> {
        let dir = self.dir.as_fd();
        match temporary {
            None => publish_unnamed(fd, dir, &self.name),
            Some(temporary) => publish_named(dir, temporary, &self.name),
        }
    }

    /// Returns the directory, and the name in it.
    pub(super) fn parts(&self) -> (&OpenDir, &CStr) {
        (&self.dir, &self.name)
    }

    pub(super) fn remove_temporary(&self, temporary: &CStr) {
        let _ = self.dir.unlink(temporary);
    }

    /// Returns why no table can be made here: what already has the name.
    pub(super) fn occupant(&self) -> Option<Error> {
        let path = || self.path.clone();
        let not_a_table = |why: &str| {
            let (path, why) = (path(), why.to_string());
            Some(Error::NotATable { path, why })
        };
        self.dir.info_of(&self.name, false).ok()?;
        let info = match self.dir.info_of(&self.name, true) {
            Ok(info) => info,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // The file that had the name may be gone by now.
                let is_link = self
                    .dir
                    .info_of(&self.name, false)
                    .is_ok_and(|info| info.kind == libc::S_IFLNK);
                return match is_link {
                    true => not_a_table("it is a symbolic link to a missing file"),
                    false => Some(Error::AlreadyExists { path: path() }),
                };
            }
            Err(source) => return Some(explained("making the table", &self.path, source)),
        };
        if !info.is_regular {
            return not_a_table(kind_of(&info));
        }
        match self.open(false).map(|fd| has_magic(fd.as_fd())) {
            Ok(false) => not_a_table(kind_of(&info)),
            Err(error) if is_ours(&error) => Some(explained("making the table", &self.path, error)),
            // Nothing more is known of a file that may not be read.
            _ => Some(Error::AlreadyExists { path: path() }),
        }
    }

    /// Refuses to keep this file under a name that another file has.
    pub(crate) fn check_kept(&self, kept: &Self) -> Result<()> {
        match kept.dir.info_of(&kept.name, false) {
            Ok(info) if !self.is_same(&info) => Err(Error::AlreadyExists {
                path: kept.path.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns whether the name, or the link of that name, leads to this file.
    pub(super) fn leads_to(&self, info: &FileInfo) -> bool {
        let found = self.dir.info_of(&self.name, true);
        found.is_ok_and(|found| (found.dev, found.ino) == (info.dev, info.ino))
    }

    fn is_same(&self, info: &FileInfo) -> bool {
        let own = self.dir.info_of(&self.name, false);
        own.is_ok_and(|own| (own.dev, own.ino) == (info.dev, info.ino))
    }

    /// Gives this name to the file `new`, which loses its own; `kept` becomes the name of the file
    /// that had it. All three are in one directory. A death in between leaves the old file with
    /// both names.
    pub(crate) fn replace_by(&self, new: &Self, kept: &Self) -> Result<()> {
        self.check_kept(kept)?;
        let failed = |source| explained("replacing the table", &self.path, source);
        match link(self.dir.as_fd(), &self.name, &kept.name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => self.check_kept(kept)?,
        }
        rename(self.dir.as_fd(), &new.name, &self.name).map_err(failed)
    }

    /// Removes the name of a table.
    pub(super) fn remove(&self) -> Result<()> {
        let failed = |source| explained("removing the table", &self.path, source);
        self.check_is_table(failed)?;
        // If two processes remove it at once, one finds here that the name is gone.
        self.dir.unlink(&self.name).map_err(failed)
    }

    /// Gives a table the name of another location, unless another file has that name.
    pub(super) fn rename(&self, to: &Self) -> Result<()> {
        let failed = |source| explained("renaming the table", &self.path, source);
        self.check_is_table(failed)?;
        match rename_named(self.name_in_dir(), to.name_in_dir()) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let path = to.path.clone();
                Err(to.occupant().unwrap_or(Error::AlreadyExists { path }))
            }
            renamed => renamed.map_err(failed),
        }
    }

    fn name_in_dir(&self) -> NameInDir<'_> {
        NameInDir {
            dir: self.dir.as_fd(),
            name: &self.name,
        }
    }

    /// Returns an error if the name is not that of a table.
    fn check_is_table(&self, failed: impl Fn(io::Error) -> Error) -> Result<()> {
        let foreign = |info: &FileInfo| Error::NotATable {
            path: self.path.clone(),
            why: kind_of(info).to_string(),
        };
        let info = self.dir.info_of(&self.name, true).map_err(&failed)?;
        if !info.is_regular {
            return Err(foreign(&info));
        }
        let file = self.open(false).map_err(&failed)?;
        match has_magic(file.as_fd()) {
            true => Ok(()),
            false => Err(foreign(&info)),
        }
    }
}

/// Returns the paths of all tables in the directory of named tables, sorted.
pub(super) fn list() -> Result<Vec<PathBuf>> {
    let folder = directory();
    let failed = |source| explained("listing the tables", &folder, source);
    let dir = match open_named_directory(false, failed) {
        Err(Error::NotFound { .. }) => return Ok(Vec::new()),
        outcome => outcome?,
    };
    let is_guarded = dir.info().map_err(failed)?.mode & 0o002 != 0;
    let mut here = Location {
        dir,
        name: CString::default(),
        path: folder.clone(),
        is_guarded,
    };
    let mut tables = Vec::new();
    for name in here.dir.names().map_err(failed)? {
        here.name = name;
        if here.is_table() {
            tables.push(folder.join(OsStr::from_bytes(here.name.to_bytes())));
        }
    }
    tables.sort();
    Ok(tables)
}

impl Location {
    /// Returns whether the name is that of a table, or of a file that may be one: it cannot be
    /// opened, and its length is possible for a table.
    fn is_table(&self) -> bool {
        if self.name.to_bytes().starts_with(b".") {
            return false;
        }
        let Ok(info) = self.dir.info_of(&self.name, true) else {
            return false;
        };
        let is_long_enough = (MIN_SIZE..=MAX_SIZE).contains(&info.len);
        let has_length = is_long_enough && info.len.is_multiple_of(PAGE);
        match info.is_regular.then(|| self.open(false)) {
            Some(Ok(file)) => has_magic(file.as_fd()),
            Some(Err(error)) => has_length && error.kind() != ErrorKind::NotFound,
            None => false,
        }
    }
}

/// Opens the directory of named tables, if it is safe. The default directory is in a place where
/// everybody may make it: so it must be this user's own, no one else may write to it, and it must
/// not be a link. A directory that the user named may belong to others, but a link to it must be
/// trusted.
fn open_named_directory(any_owner: bool, failed: impl Fn(io::Error) -> Error) -> Result<OpenDir> {
    let path = directory();
    let is_default = is_default_directory();
    let links = match (is_default, any_owner) {
        (true, _) => Links::Refused,
        (false, false) => Links::Trusted,
        (false, true) => Links::Followed,
    };
    let refused = |source: io::Error| match is_ours(&source) {
        true => explained("opening the directory of tables", &path, source),
        false => failed(source),
    };
    let dir = OpenDir::open(&path, links).map_err(refused)?;
    let info = dir.info().map_err(refused)?;
    match is_default.then(|| unsafe_for_default(&info)).flatten() {
        Some(why) => Err(refused(io::Error::new(ErrorKind::PermissionDenied, why))),
        None => Ok(dir),
    }
}

/// Returns why a directory cannot be the default one.
fn unsafe_for_default(info: &FileInfo) -> Option<String> {
    let (owner, me, mode) = (info.uid, effective_uid(), info.mode);
    if owner != me {
        return Some(format!(
            "it belongs to user {owner}, but this process runs as user {me}; set TAVOLA_DIR to a \
            directory of your own"
        ));
    }
    (mode & 0o022 != 0).then(|| {
        format!(
            "other users may write to it (mode {mode:o}); run chmod 700 on it, or set \
            TAVOLA_DIR"
        )
    })
}

/// Returns whether this library refused access, and not the system.
fn is_ours(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

fn has_magic(file: BorrowedFd<'_>) -> bool {
    let mut magic = [0; 8];
    let is_read = read_at(file, &mut magic, 0).is_ok_and(|count| count == magic.len());
    let word = u64::from_ne_bytes(magic);
    is_read && (word == MAGIC || word == MAGIC.swap_bytes())
}

/// Returns what a file is that is not a table.
pub(super) fn kind_of(info: &FileInfo) -> &'static str {
    match info.kind {
        libc::S_IFREG if info.len == 0 => "it is an empty file",
        libc::S_IFREG => "it does not begin with the bytes of a table",
        libc::S_IFDIR => "it is a directory",
        libc::S_IFIFO => "it is a FIFO",
        libc::S_IFSOCK => "it is a socket",
        _ => "it is a device",
    }
}

fn temporary_name(name: &CStr) -> CString {
    let (pid, generation) = (std::process::id(), generation());
    let mut temporary = [b".", name.to_bytes()].concat();
    temporary.extend(format!(".new-{pid}-{generation:x}").bytes());
    CString::new(temporary).unwrap_or_default()
}
