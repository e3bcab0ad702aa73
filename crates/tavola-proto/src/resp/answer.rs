//! What a server sends: each function appends a reply, or the head of one.

use crate::number;

/// The version of the protocol that a client has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// RESP2: no maps, one kind of nothing for strings and one for arrays.
    #[default]
    Two,
    /// RESP3.
    Three,
}

/// The answer to a command that was carried out and has nothing to say.
pub const OK: &[u8] = b"+OK\r\n";

/// Appends a word, without line ends.
pub fn simple(out: &mut Vec<u8>, word: &str) {
    debug_assert!(!word.contains(['\r', '\n']));
    line(out, b'+', word.as_bytes());
}

/// Appends an error: a code in capitals, a space, a sentence. Line ends become spaces, as in Redis.
pub fn error(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'-');
    out.extend(text.iter().map(|byte| match byte {
        b'\r' | b'\n' => b' ',
        other => *other,
    }));
    out.extend_from_slice(b"\r\n");
}

/// Appends a number.
pub fn integer(out: &mut Vec<u8>, value: i64) {
    out.push(b':');
    number::write(out, value);
    out.extend_from_slice(b"\r\n");
}

/// Appends a string of any bytes.
pub fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    head(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends nothing, in place of a string.
pub fn null(out: &mut Vec<u8>, version: Version) {
    out.extend_from_slice(match version {
        Version::Two => b"$-1\r\n",
        Version::Three => b"_\r\n",
    });
}

/// Appends a text for people: a string, of which RESP3 says that.
pub fn text(out: &mut Vec<u8>, version: Version, text: &str) {
    match version {
        Version::Two => bulk(out, text.as_bytes()),
        Version::Three => {
            head(out, b'=', text.len() + 4);
            out.extend_from_slice(b"txt:");
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
}

/// Appends the head of an array; as many replies follow.
pub fn array(out: &mut Vec<u8>, count: usize) {
    head(out, b'*', count);
}

/// Appends the head of a set; as many replies follow. RESP2 has arrays instead.
pub fn set(out: &mut Vec<u8>, version: Version, count: usize) {
    match version {
        Version::Two => head(out, b'*', count),
        Version::Three => head(out, b'~', count),
    }
}

/// Appends the head of a map; twice as many replies follow, keys and values. RESP2 has arrays
/// instead.
pub fn map(out: &mut Vec<u8>, version: Version, count: usize) {
    match version {
        Version::Two => head(out, b'*', 2 * count),
        Version::Three => head(out, b'%', count),
    }
}

fn head(out: &mut Vec<u8>, kind: u8, count: usize) {
    out.push(kind);
    number::write(out, count);
    out.extend_from_slice(b"\r\n");
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn an_error_is_one_line() {
        let error = |text: &str| written(|out| error(out, text.as_bytes()));
        assert_eq!(error("ERR a\r\n+OK\r\n"), "-ERR a  +OK  \r\n");
    }

    #[test]
    fn versions_differ_in_maps_texts_and_nothing() {
        use Version::{Three, Two};
        assert_eq!(written(|out| null(out, Two)), "$-1\r\n");
        assert_eq!(written(|out| null(out, Three)), "_\r\n");
        assert_eq!(written(|out| map(out, Two, 2)), "*4\r\n");
        assert_eq!(written(|out| map(out, Three, 2)), "%2\r\n");
        assert_eq!(written(|out| set(out, Two, 2)), "*2\r\n");
        assert_eq!(written(|out| set(out, Three, 2)), "~2\r\n");
        assert_eq!(written(|out| text(out, Two, "ab")), "$2\r\nab\r\n");
        assert_eq!(written(|out| text(out, Three, "ab")), "=6\r\ntxt:ab\r\n");
    }
}
