//! The bytes of a table's file, kept in a sparse file and copied as often as needed.
//!
//! A copy of a file that processes were killed on is as good as the file itself: what a dead
//! process leaves is bytes, and its record locks are gone. The bytes stay out of this process's own
//! memory, which is copied with every fork.

use rustix::fs::{SeekFrom, seek};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;

const BLOCK: usize = 4096;

/// A sparse file nobody writes to.
#[derive(Clone)]
pub(crate) struct Image {
    file: Rc<File>,
    len: u64,
    /// Offset and length of what is not zero.
    pieces: Rc<[(u64, usize)]>,
}

impl Image {
    /// A copy of the file at `path`, without a name: it is gone when nobody holds it.
    pub(crate) fn load(path: &Path) -> io::Result<Self> {
        let original = File::open(path)?;
        let len = original.metadata()?.len();
        let name = path.with_extension("image");
        let file = new_file(&name, len)?;
        std::fs::remove_file(&name)?;
        let mut pieces: Vec<(u64, usize)> = Vec::new();
        let mut block = [0; BLOCK];
        let mut at = 0;
        while let Ok(from) = seek(&original, SeekFrom::Data(at)) {
            at = seek(&original, SeekFrom::Hole(from))?;
            for offset in (from..at).step_by(BLOCK) {
                original.read_exact_at(&mut block, offset)?;
                if block.iter().all(|byte| *byte == 0) {
                    continue;
                }
                file.write_all_at(&block, offset)?;
                match pieces.last_mut() {
                    Some((start, len)) if *start + *len as u64 == offset => *len += BLOCK,
                    _ => pieces.push((offset, BLOCK)),
                }
            }
        }
        Ok(Self {
            file: Rc::new(file),
            len,
            pieces: pieces.into(),
        })
    }

    /// Writes a new file; one of that name is unlinked first, so that nobody who still has it
    /// mapped sees it change.
    pub(crate) fn store(&self, path: &Path) -> io::Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = new_file(path, self.len)?;
        let most = self.pieces.iter().map(|(_, len)| *len).max().unwrap_or(0);
        let mut bytes = vec![0; most];
        for (offset, len) in self.pieces.iter() {
            self.file.read_exact_at(&mut bytes[..*len], *offset)?;
            file.write_all_at(&bytes[..*len], *offset)?;
        }
        Ok(())
    }
}

fn new_file(path: &Path, len: u64) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).open(path)?;
    file.set_len(len)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_file_survives() {
        let dir = crate::scratch::Scratch::new().unwrap();
        let (one, two) = (dir.path("one"), dir.path("two"));
        let file = new_file(&one, 1 << 20).unwrap();
        file.write_all_at(b"abc", 5000).unwrap();
        file.write_all_at(b"xyz", 900_000).unwrap();
        let image = Image::load(&one).unwrap();
        assert_eq!(image.pieces.len(), 2);
        image.store(&two).unwrap();
        image.store(&two).unwrap();
        assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    }
}
