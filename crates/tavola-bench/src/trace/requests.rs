//! A trace: which item is asked for, one request after the other; and its file.
//!
//! A file has a number of 4 bytes a request, little-endian, and may be packed by xz. Numbers are
//! given anew in the order in which they come first, so they are dense whatever the file has.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use lzma_rust2::XzReader;

use crate::{Error, Result};

/// Requests for items that are numbered densely, in the order in which they come first.
pub(super) struct Trace {
    name: String,
    requests: Vec<u32>,
    keys: u32,
}

impl Trace {
    pub(super) fn new(name: impl Into<String>, mut ids: Vec<u32>) -> Self {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for id in &mut ids {
            let next = numbers.len() as u32;
            *id = *numbers.entry(*id).or_insert(next);
        }
        Self {
            name: name.into(),
            requests: ids,
            keys: numbers.len() as u32,
        }
    }

    /// Reads a file; what its name has before the first dot is the name of the trace.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let refuse = |why: String| Error::Trace {
            path: path.to_owned(),
            why,
        };
        let file = fs::read(path).map_err(|source| refuse(source.to_string()))?;
        let bytes = if path.extension() == Some(OsStr::new("xz")) {
            unpack(&file).map_err(|source| {
                refuse(format!(
                    "cannot be unpacked ({source}); test it with 'xz -t', or unpack it by hand"
                ))
            })?
        } else {
            file
        };
        let ids = ids(&bytes).map_err(refuse)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').find(|part| !part.is_empty());
        Ok(Self::new(stem.unwrap_or(&name), ids))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn requests(&self) -> &[u32] {
        &self.requests
    }

    /// How many different items it asks for: their numbers are below.
    pub(super) fn keys(&self) -> u32 {
        self.keys
    }
}

fn unpack(file: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::copy(&mut XzReader::new(file, true), &mut bytes)?;
    Ok(bytes)
}

fn ids(bytes: &[u8]) -> std::result::Result<Vec<u32>, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!(
            "its {} bytes are no multiple of 4; a trace has a little-endian number of 4 bytes for \
             each request (if it is packed by xz, its name must end in .xz)",
            bytes.len()
        ));
    }
    if words.is_empty() {
        return Err("it is empty; name a trace with at least one request".to_owned());
    }
    Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The requests 5, 9, 5, 5, 70000 as `xz` packs them.
    const PACKED: &[u8] = b"\
        \xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\
        \x74\x2f\xe5\xa3\xe0\x00\x13\x00\x10\x5d\x00\x02\x80\x36\xc0\xb8\x09\xea\xd5\xd4\
        \x81\x74\xff\xf6\x1f\xa0\x00\x00\xc1\xe7\x63\x61\x04\x5a\x22\x02\x00\x01\x2c\x14\
        \xf8\x0a\x6d\x03\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a";

    fn read(name: &str, bytes: &[u8]) -> Result<Trace> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        Trace::read(&path)
    }

    fn plain() -> Vec<u8> {
        let ids = [5_u32, 9, 5, 5, 70_000];
        ids.iter().flat_map(|id| id.to_le_bytes()).collect()
    }

    #[test]
    fn numbers_are_dense_in_the_order_in_which_they_come_first() {
        for (name, bytes) in [("few.u32", plain()), ("few.u32.xz", PACKED.to_vec())] {
            let trace = read(name, &bytes).unwrap();
            assert_eq!(trace.requests(), [0, 1, 0, 0, 2]);
            assert_eq!((trace.name(), trace.keys()), ("few", 3));
        }
    }

    #[test]
    fn files_that_are_no_traces_are_refused_with_the_reason() {
        let refused = |name: &str, bytes: &[u8], why: &str| {
            let error = read(name, bytes).err().expect("refused").to_string();
            assert!(error.contains(why) && error.contains(name), "{error}");
        };
        refused("odd.u32", &plain()[1..], "multiple of 4");
        refused("empty.u32", &[], "empty");
        refused("plain.xz", &plain(), "cannot be unpacked");
        for len in [1, 20, PACKED.len() / 2, PACKED.len() - 1] {
            refused("short.xz", &PACKED[..len], "cannot be unpacked");
        }
        for at in [0, 30, PACKED.len() / 2, PACKED.len() - 1] {
            let mut changed = PACKED.to_vec();
            changed[at] ^= 0x10;
            refused("changed.xz", &changed, "cannot be unpacked");
        }
        let error = Trace::read(Path::new("/no/such/trace")).err().unwrap();
        assert!(error.to_string().contains("/no/such/trace"), "{error}");
    }
}
