//! What a reader that misses and the daemon say to each other, on a Unix socket beside the table.
//!
//! ```text
//! request   key length (4)  key
//! answer    status (1)  deadline in ms (8)  length (4)  value or reason
//! ```
//!
//! Numbers are little-endian. One request at a time is on the way on a connection.

use crate::engine::{Answer, Answered};
use crate::error::{NearError, Result};
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The longest key.
pub(crate) const MOST_KEY: usize = 1 << 20;
const VALUE: u8 = 0;
const MISSING: u8 = 1;
const FAILED: u8 = 2;

/// Returns the path of the socket of a table's daemon.
pub(crate) fn socket_path(table: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(table.file_name().unwrap_or_default());
    name.push(".near");
    table.with_file_name(name)
}

pub(crate) fn write_request(out: &mut Vec<u8>, key: &[u8]) -> Result<()> {
    if key.len() > MOST_KEY {
        return Err(NearError::KeyTooLong { bytes: key.len() });
    }
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    Ok(())
}

/// A request that is not one: the connection ends.
pub(crate) struct Malformed;

/// Takes a complete request from the beginning of the bytes. Returns its key.
pub(crate) fn take_request(bytes: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Malformed> {
    let Some((head, rest)) = bytes.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let len = u32::from_le_bytes(*head) as usize;
    if len > MOST_KEY {
        return Err(Malformed);
    }
    let key = rest.get(..len).map(<[u8]>::to_vec);
    if key.is_some() {
        bytes.drain(..4 + len);
    }
    Ok(key)
}

pub(crate) fn write_answer(out: &mut Vec<u8>, answered: &Answered) {
    let (status, bytes): (u8, &[u8]) = match &answered.answer {
        Answer::Value(value) => (VALUE, value),
        Answer::Missing => (MISSING, &[]),
        Answer::Failed(why) => (FAILED, why.as_bytes()),
    };
    out.push(status);
    out.extend_from_slice(&answered.deadline_ms.to_le_bytes());
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// What a daemon answered, as a reader gets it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The value is in the reader's buffer.
    Value,
    Missing,
    Failed,
}

/// Reads an answer; a value or reason into `out`. Returns it with its deadline.
pub(crate) fn read_answer(stream: &mut impl Read, out: &mut Vec<u8>) -> io::Result<(Heard, u64)> {
    let mut head = [0; 13];
    stream.read_exact(&mut head)?;
    let deadline_ms = u64::from_le_bytes(head[1..9].try_into().expect("8 bytes"));
    let len = u32::from_le_bytes(head[9..].try_into().expect("4 bytes"));
    out.clear();
    let read = stream.take(u64::from(len)).read_to_end(out)?;
    if read < len as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let heard = match head[0] {
        VALUE => Heard::Value,
        MISSING => Heard::Missing,
        FAILED => Heard::Failed,
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok((heard, deadline_ms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn requests_come_out_however_they_are_split() {
        let mut sent = Vec::new();
        write_request(&mut sent, b"").expect("short");
        write_request(&mut sent, b"key").expect("short");
        let (mut bytes, mut keys) = (Vec::new(), Vec::new());
        for byte in sent {
            bytes.push(byte);
            if let Ok(Some(key)) = take_request(&mut bytes) {
                keys.push(key);
            }
        }
        assert_eq!(keys, [b"".to_vec(), b"key".to_vec()]);
        assert!(take_request(&mut vec![0xFF; 8]).is_err());
        let long = vec![0; MOST_KEY + 1];
        let refused = write_request(&mut Vec::new(), &long);
        assert!(matches!(refused, Err(NearError::KeyTooLong { .. })));
    }

    #[test]
    fn answers_come_back_as_they_were() {
        for (answer, heard, text) in [
            (Answer::Value(Rc::from(&b"v"[..])), Heard::Value, &b"v"[..]),
            (Answer::Missing, Heard::Missing, b""),
            (Answer::Failed(Rc::from("no")), Heard::Failed, b"no"),
        ] {
            let mut bytes = Vec::new();
            let answered = Answered {
                asker: 1,
                answer,
                deadline_ms: 77,
            };
            write_answer(&mut bytes, &answered);
            let mut out = Vec::new();
            let read = read_answer(&mut bytes.as_slice(), &mut out).expect("an answer");
            assert_eq!((read, out.as_slice()), ((heard, 77), text));
            let cut = &bytes[..bytes.len() - 1];
            assert!(read_answer(&mut &cut[..], &mut out).is_err());
        }
    }

    #[test]
    fn the_socket_is_a_hidden_file_beside_the_table() {
        assert_eq!(socket_path(Path::new("/d/t")), Path::new("/d/.t.near"));
    }
}
