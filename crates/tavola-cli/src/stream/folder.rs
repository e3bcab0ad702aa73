//! A folder: a file a key.
//!
//! `%` and two hexadecimal digits in a file's name are a byte of the key; so is every byte that
//! cannot be in a name, or that would lead to another folder. Files in folders below have keys with
//! a `/`. Time to live, flags and tags of a key are left out.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{BadInput, Batch, Beside, Sink, Source};

/// The most bytes of a file's name.
const LONGEST: usize = 255;

/// Writes a file a key into a new or empty folder.
pub struct Writer {
    folder: PathBuf,
}

impl Writer {
    pub fn new(folder: &Path) -> io::Result<Writer> {
        fs::create_dir_all(folder)?;
        if fs::read_dir(folder)?.next().is_some() {
            return Err(io::Error::other("the folder is not empty"));
        }
        Ok(Writer {
            folder: folder.to_path_buf(),
        })
    }
}

impl Sink for Writer {
    fn entry(&mut self, key: &[u8], value: &[u8], _: &Beside) -> io::Result<()> {
        let name = name_of(key);
        if name.len() > LONGEST {
            let why = format!(
                "a key of {} bytes is too long for the name of a file; use another format",
                key.len()
            );
            return Err(io::Error::other(why));
        }
        // A key that comes twice, as another process has changed it, has its last value.
        File::create(self.folder.join(OsStr::from_bytes(&name)))?.write_all(value)
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn name_of(key: &[u8]) -> Vec<u8> {
    if key.is_empty() {
        // No other key has this name: a `%` in a key is written as `%25`.
        return b"%".to_vec();
    }
    let mut name = Vec::with_capacity(key.len());
    for (at, byte) in key.iter().enumerate() {
        let is_escaped = matches!(byte, b'/' | b'%' | b'\\') || byte.is_ascii_control();
        if is_escaped || (at == 0 && *byte == b'.') {
            name.extend(format!("%{byte:02X}").bytes());
        } else {
            name.push(*byte);
        }
    }
    name
}

fn key_of(name: &[u8]) -> Vec<u8> {
    if name == b"%" {
        return Vec::new();
    }
    let digit = |at: usize| {
        name.get(at)
            .and_then(|letter| char::from(*letter).to_digit(16))
    };
    let (mut key, mut at) = (Vec::with_capacity(name.len()), 0);
    while at < name.len() {
        match (name[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                key.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                key.push(byte);
                at += 1;
            }
        }
    }
    key
}

/// Reads all files of a folder and of the folders below it. Links are not followed.
pub struct Reader {
    root: PathBuf,
    /// Folders that are not read yet.
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Reader {
    pub fn new(root: &Path) -> Reader {
        Reader {
            root: root.to_path_buf(),
            folders: vec![root.to_path_buf()],
            files: Vec::new(),
        }
    }

    fn next_file(&mut self) -> Result<Option<PathBuf>, BadInput> {
        loop {
            if let Some(file) = self.files.pop() {
                return Ok(Some(file));
            }
            let Some(folder) = self.folders.pop() else {
                return Ok(None);
            };
            let at = |source| BadInput::File {
                path: folder.clone(),
                source,
            };
            for entry in fs::read_dir(&folder).map_err(at)? {
                let entry = entry.map_err(at)?;
                let kind = entry.file_type().map_err(at)?;
                match () {
                    () if kind.is_dir() => self.folders.push(entry.path()),
                    () if kind.is_file() => self.files.push(entry.path()),
                    () => {}
                }
            }
        }
    }
}

impl Source for Reader {
    fn next(&mut self, batch: &mut Batch) -> Result<bool, BadInput> {
        let Some(path) = self.next_file()? else {
            return Ok(false);
        };
        let value = fs::read(&path).map_err(|source| BadInput::File {
            path: path.clone(),
            source,
        })?;
        let name = path.strip_prefix(&self.root).unwrap_or(&path);
        batch.push(
            &key_of(name.as_os_str().as_bytes()),
            &value,
            Beside::default(),
        );
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_from_its_name_and_no_name_leads_elsewhere() {
        let all: Vec<u8> = (0..80).collect();
        let keys = [
            &b""[..],
            b"%",
            b"..",
            ".größe".as_bytes(),
            b"../../etc/passwd",
            b"%41",
            &all,
        ];
        for key in keys {
            let name = name_of(key);
            assert_eq!(key_of(&name), key);
            assert!(!name.contains(&b'/') && !name.starts_with(b".") && !name.contains(&0));
        }
        assert_eq!(key_of(b"100%.txt"), b"100%.txt");
        assert_eq!(key_of(b"a/b%2Fc"), b"a/b/c");
    }
}
