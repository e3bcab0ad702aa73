//! A new file in the place of an old one: written beside it, synced, renamed, the directory synced.
//!
//! A process that is killed on the way leaves the old file as it was, and perhaps the new one under
//! its temporary name. After [`Output::finish`] the new file is there, also after a power failure.
//!
//! Bytes are appended through a buffer. What was written can be read and changed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, Result};

const BUFFER_BYTES: usize = 256 << 10;
/// The mode of a new file, less the mask of the process.
const MODE: u32 = 0o666;

/// Where the new file is until it is whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Temporary {
    /// Under a name of its own in the directory of the file.
    #[default]
    Beside,
    /// Under this name. What has the name is removed.
    Named(PathBuf),
    /// In its place at once. What was there is removed first.
    InPlace,
}

/// How a file is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Making {
    pub(crate) temporary: Temporary,
    /// The mode of the file, whatever the mask of the process is.
    pub(crate) mode: Option<u32>,
    /// Returns from `finish` without a sync to the disk.
    pub(crate) is_unsynced: bool,
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    /// The name that the file gets.
    path: PathBuf,
    /// The name that the file has; `None` once it has the other one.
    temporary: Option<PathBuf>,
    is_unsynced: bool,
    buffer: Vec<u8>,
    /// How many bytes are in the file, before those of the buffer.
    flushed: u64,
}

impl Output {
    pub(crate) fn create(path: &Path, making: &Making) -> Result<Output> {
        let temporary = match &making.temporary {
            Temporary::Beside => unique_name(path),
            Temporary::Named(name) => name.clone(),
            Temporary::InPlace => path.to_path_buf(),
        };
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::of("cannot replace", &temporary)(error));
            }
            _ => {}
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(making.mode.unwrap_or(MODE))
            .custom_flags(libc::O_NOFOLLOW)
            .open(&temporary)
            .map_err(Error::of("cannot create", &temporary))?;
        let output = Output {
            file,
            path: path.to_path_buf(),
            temporary: (temporary != path).then_some(temporary),
            is_unsynced: making.is_unsynced,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            flushed: 0,
        };
        if let Some(mode) = making.mode {
            let rights = fs::Permissions::from_mode(mode);
            let failed = output.failure("cannot set the mode of");
            output.file.set_permissions(rights).map_err(failed)?;
        }
        Ok(output)
    }

    /// Returns the name that the file gets.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn failure(&self, action: &'static str) -> impl FnOnce(io::Error) -> Error + use<'_> {
        Error::of(action, self.temporary.as_deref().unwrap_or(&self.path))
    }

    /// Returns the length of the file so far.
    pub(crate) fn end(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
            if bytes.len() >= BUFFER_BYTES {
                self.write_at(bytes, self.flushed)?;
                self.flushed += bytes.len() as u64;
                return Ok(());
            }
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.write_at(&self.buffer, self.flushed)?;
        self.flushed += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        let written = self.file.write_all_at(bytes, at);
        written.map_err(self.failure("cannot write to"))
    }

    /// Reads bytes that were written.
    pub(crate) fn read(&mut self, bytes: &mut [u8], at: u64) -> Result<()> {
        if let Some(from) = at.checked_sub(self.flushed) {
            let from = from as usize;
            if let Some(buffered) = self.buffer.get(from..from + bytes.len()) {
                bytes.copy_from_slice(buffered);
                return Ok(());
            }
        }
        self.flush()?;
        let read = self.file.read_exact_at(bytes, at);
        read.map_err(self.failure("cannot read from"))
    }

    /// Changes bytes that were written.
    pub(crate) fn change(&mut self, bytes: &[u8], at: u64) -> Result<()> {
        if let Some(from) = at.checked_sub(self.flushed) {
            let from = from as usize;
            if let Some(buffered) = self.buffer.get_mut(from..from + bytes.len()) {
                buffered.copy_from_slice(bytes);
                return Ok(());
            }
        }
        self.flush()?;
        self.write_at(bytes, at)
    }

    /// Forgets what was written from here on.
    pub(crate) fn cut(&mut self, end: u64) {
        match end.checked_sub(self.flushed) {
            Some(kept) => self.buffer.truncate(kept as usize),
            None => {
                self.buffer.clear();
                self.flushed = end;
            }
        }
    }

    /// Leaves a hole, as if so many bytes had been written.
    #[cfg(test)]
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.flush().unwrap();
        self.flushed += bytes;
    }

    /// Makes the file whole: gives it its length and its name, and has it on the disk.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        let cut = self.file.set_len(self.flushed);
        cut.map_err(self.failure("cannot set the length of"))?;
        if !self.is_unsynced {
            let synced = self.file.sync_all();
            synced.map_err(self.failure("cannot sync"))?;
        }
        if let Some(temporary) = &self.temporary {
            let renamed = fs::rename(temporary, &self.path);
            renamed.map_err(Error::of("cannot rename a new file to", &self.path))?;
            self.temporary = None;
        }
        if !self.is_unsynced {
            let directory = directory_of(&self.path);
            let synced = File::open(directory).and_then(|directory| directory.sync_all());
            synced.map_err(Error::of("cannot sync the directory", directory))?;
        }
        Ok(())
    }
}

/// Removes a file that was not finished.
impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // It is of no use, and nobody is left to read an error.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns the directory that a file is in.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a name beside a file that no other writer uses.
fn unique_name(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let count = COUNT.fetch_add(1, Relaxed);
    name.push(format!(".{}-{count}.new", std::process::id()));
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(dir: &Path) -> Output {
        Output::create(&dir.join("file"), &Making::default()).unwrap()
    }

    #[test]
    fn what_was_written_can_be_read_changed_and_cut() {
        let dir = tempfile::tempdir().unwrap();
        let mut output = output(dir.path());
        let mut expected: Vec<u8> = Vec::new();
        for round in 0..40u8 {
            let bytes = vec![round; 1 << (round % 20)];
            output.append(&bytes).unwrap();
            expected.extend(&bytes);
            let at = expected.len() / 3;
            let mut read = vec![0; expected.len() / 2];
            output.read(&mut read, at as u64).unwrap();
            assert_eq!(read, expected[at..at + read.len()]);
            output.change(&[255], at as u64).unwrap();
            expected[at] = 255;
            if round % 7 == 0 {
                expected.truncate(expected.len() * 9 / 10);
                output.cut(expected.len() as u64);
            }
            assert_eq!(output.end(), expected.len() as u64);
        }
        output.finish().unwrap();
        assert_eq!(fs::read(dir.path().join("file")).unwrap(), expected);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_finished_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "old").unwrap();
        let mut output = output(dir.path());
        output.append(b"new").unwrap();
        drop(output);
        assert_eq!(fs::read(dir.path().join("file")).unwrap(), b"old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_link_is_followed_and_the_mode_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let temporary = dir.path().join("temporary");
        std::os::unix::fs::symlink(&victim, &temporary).unwrap();
        let making = Making {
            temporary: Temporary::Named(temporary),
            mode: Some(0o640),
            is_unsynced: true,
        };
        let path = dir.path().join("file");
        Output::create(&path, &making).unwrap().finish().unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
