//! A file that is begun again when it has become large.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file to append to, which is rotated when it has become large: `events.log` becomes
/// `events.log.1`, that becomes `events.log.2`, and so on. For [`LogText`](super::LogText).
///
/// # Crash
/// If the process is killed while it rotates, a number may be missing among the old files; no file
/// that is to be kept is lost.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    most: u64,
    keep: u32,
}

impl RotatingFile {
    /// Opens a file to append to it, and creates it if it is missing. Before a write that would
    /// make it larger than `rotate_bytes`, a new file is begun, and `keep` old ones stay.
    ///
    /// # Errors
    /// Those of opening the file.
    pub fn open(path: impl AsRef<Path>, rotate_bytes: Option<u64>, keep: u32) -> io::Result<Self> {
        let path = path.as_ref();
        let file = append(path)?;
        Ok(Self {
            bytes: file.metadata()?.len(),
            path: path.to_path_buf(),
            file,
            most: rotate_bytes.unwrap_or(u64::MAX),
            keep,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.file.flush()?;
        for number in (1..self.keep).rev() {
            moved(&self.numbered(number), &self.numbered(number + 1))?;
        }
        match self.keep {
            0 => fs::remove_file(&self.path)?,
            _ => moved(&self.path, &self.numbered(1))?,
        }
        self.file = append(&self.path)?;
        self.bytes = 0;
        Ok(())
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

fn append(path: &Path) -> io::Result<File> {
    File::options().append(true).create(true).open(path)
}

fn moved(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

impl Write for RotatingFile {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        if self.bytes > 0 && self.bytes.saturating_add(lines.len() as u64) > self.most {
            self.rotate()?;
        }
        // All of them: a rotation in the middle would cut a line.
        self.file.write_all(lines)?;
        self.bytes += lines.len() as u64;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_files_move_on_and_the_oldest_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let text = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        let mut file = RotatingFile::open(&path, Some(8), 2).unwrap();
        for line in [
            "one\n",
            "two\n",
            "three\n",
            "longer than all\n",
            "five\n",
            "six\n",
        ] {
            file.write_all(line.as_bytes()).unwrap();
        }
        assert_eq!(text("out").as_deref(), Some("six\n"));
        assert_eq!(text("out.1").as_deref(), Some("five\n"));
        assert_eq!(text("out.2").as_deref(), Some("longer than all\n"));
        assert_eq!(text("out.3"), None);
        // What is there counts.
        let mut file = RotatingFile::open(&path, Some(8), 0).unwrap();
        file.write_all(b"seven\n").unwrap();
        assert_eq!(text("out").as_deref(), Some("seven\n"));
        assert_eq!(text("out.1").as_deref(), Some("five\n"));
    }
}
