//! RESP3 as a client speaks it: commands into bytes, bytes into replies in their order. Pushes keep
//! their places among the replies, which rule N3 needs.
//!
//! The rest of the crate knows only [`Reply`]; the decoder is that of `redis-protocol`.

use redis_protocol::resp3::decode::complete::decode;
use redis_protocol::resp3::types::OwnedFrame;

/// More unread bytes than this end the connection: a value has 512 MiB at most.
const MOST_UNREAD: usize = 600 << 20;

/// One reply or push.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Bytes(Vec<u8>),
    Null,
    Number(i64),
    Error(String),
    List(Vec<Reply>),
    Push(Vec<Reply>),
    /// One that no command of a near cache asks for, or a map of the greeting.
    Other,
}

impl From<OwnedFrame> for Reply {
    fn from(frame: OwnedFrame) -> Self {
        let list = |frames: Vec<OwnedFrame>| frames.into_iter().map(Reply::from).collect();
        match frame {
            OwnedFrame::BlobString { data, .. } | OwnedFrame::SimpleString { data, .. } => {
                Self::Bytes(data)
            }
            OwnedFrame::Null => Self::Null,
            OwnedFrame::Number { data, .. } => Self::Number(data),
            OwnedFrame::SimpleError { data, .. } => Self::Error(data),
            OwnedFrame::BlobError { data, .. } => {
                Self::Error(String::from_utf8_lossy(&data).into_owned())
            }
            OwnedFrame::Array { data, .. } => Self::List(list(data)),
            OwnedFrame::Push { data, .. } => Self::Push(list(data)),
            _ => Self::Other,
        }
    }
}

/// Appends a command.
pub(crate) fn command(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// Bytes that were received, and not read yet.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    /// Where the next reply begins.
    start: usize,
}

impl Incoming {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // What was read is dropped before more comes, not after each reply.
        self.bytes.drain(..std::mem::take(&mut self.start));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next complete reply.
    pub(crate) fn next(&mut self) -> Result<Option<Reply>, String> {
        let unread = &self.bytes[self.start..];
        if unread.is_empty() {
            return Ok(None);
        }
        match decode(unread) {
            Ok(Some((frame, len))) => {
                self.start += len;
                Ok(Some(Reply::from(frame)))
            }
            Ok(None) if unread.len() <= MOST_UNREAD => Ok(None),
            Ok(None) => Err("it sent a reply that is too long".to_owned()),
            Err(error) => Err(format!("it does not speak RESP3 ({error})")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], piece: usize) -> Vec<Reply> {
        let (mut incoming, mut replies) = (Incoming::default(), Vec::new());
        for part in bytes.chunks(piece) {
            incoming.add(part);
            while let Some(reply) = incoming.next().expect("RESP3") {
                replies.push(reply);
            }
        }
        replies
    }

    #[test]
    fn replies_and_pushes_keep_their_order_however_they_are_split() {
        let bytes =
            b"+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n$3\r\na\r\n\r\n_\r\n:-2\r\n\
                      -ERR no\r\n>2\r\n+invalidate\r\n_\r\n*2\r\n$6\r\nmaster\r\n:7\r\n";
        let text = |text: &str| Reply::Bytes(text.as_bytes().to_vec());
        let expected = [
            text("OK"),
            Reply::Push(vec![text("invalidate"), Reply::List(vec![text("k")])]),
            text("a\r\n"),
            Reply::Null,
            Reply::Number(-2),
            Reply::Error("ERR no".to_owned()),
            Reply::Push(vec![text("invalidate"), Reply::Null]),
            Reply::List(vec![text("master"), Reply::Number(7)]),
        ];
        for piece in 1..=bytes.len() {
            assert_eq!(all(bytes, piece), expected, "pieces of {piece}");
        }
    }

    #[test]
    fn what_is_not_resp_is_an_error() {
        let mut incoming = Incoming::default();
        incoming.add(b"HTTP/1.1 400 Bad Request\r\n");
        assert!(incoming.next().is_err());
    }

    #[test]
    fn a_command_is_an_array_of_bulk_strings() {
        let mut out = Vec::new();
        command(&mut out, &[b"GET", b"a\r\n"]);
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$3\r\na\r\n\r\n");
    }
}
