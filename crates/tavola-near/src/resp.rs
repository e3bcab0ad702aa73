//! RESP3 as a client speaks it: commands into bytes, bytes into replies in their order. Pushes keep
//! their places among the replies, which rule N3 needs.
//!
//! Replies own their bytes here: the buffer they came in takes the next ones meanwhile.

use tavola_proto::resp as proto;

pub(crate) use proto::ask::command;

/// One reply or push.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Bytes(Vec<u8>),
    Null,
    Number(i64),
    Error(String),
    List(Vec<Reply>),
    Push(Vec<Reply>),
    /// Each key, then its value.
    Map(Vec<Reply>),
    /// One that no command of a near cache asks for.
    Other,
}

impl From<proto::Reply<'_>> for Reply {
    fn from(reply: proto::Reply<'_>) -> Self {
        match reply {
            proto::Reply::Bulk(bytes) | proto::Reply::Simple(bytes) => Self::Bytes(bytes.to_vec()),
            proto::Reply::Null => Self::Null,
            proto::Reply::Integer(number) => Self::Number(number),
            proto::Reply::Error(text) => Self::Error(String::from_utf8_lossy(text).into_owned()),
            proto::Reply::Array(replies) => Self::List(replies.map(Reply::from).collect()),
            proto::Reply::Map(replies) => Self::Map(replies.map(Reply::from).collect()),
            proto::Reply::Push(replies) => Self::Push(replies.map(Reply::from).collect()),
            _ => Self::Other,
        }
    }
}

/// Bytes that were received, and not read yet.
#[derive(Debug)]
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    /// Where the next reply begins.
    start: usize,
    decoder: proto::ReplyDecoder,
}

impl Default for Incoming {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            decoder: proto::ReplyDecoder::new(proto::ReplyLimits::default()),
        }
    }
}

impl Incoming {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // What was read is dropped before more comes, not after each reply.
        self.bytes.drain(..std::mem::take(&mut self.start));
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next complete reply.
    pub(crate) fn next(&mut self) -> Result<Option<Reply>, String> {
        match self.decoder.step(&self.bytes[self.start..]) {
            Ok(proto::ReplyStep::Reply { reply, used }) => {
                self.start += used;
                Ok(Some(Reply::from(reply)))
            }
            Ok(proto::ReplyStep::More { .. }) => Ok(None),
            Err(why) => Err(format!("it does not speak RESP3 ({why})")),
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
}
