//! What a client sends.

use crate::number;

/// Appends a command: its name and its arguments, each of any bytes.
pub fn command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.push(b'*');
    number::write(out, words.len());
    out.extend_from_slice(b"\r\n");
    for word in words {
        super::answer::bulk(out, word);
    }
}
