//! Where a reply ends in the bytes that a client receives.

use memchr::memchr;

use super::reply::{Head, NotAReply, Replies, Reply, head};

/// How much a server may send at once. A decoder asks its caller to hold no more than `bytes`, and
/// a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyLimits {
    /// The bytes of the longest string.
    pub string_bytes: usize,
    /// The bytes of a whole reply.
    pub bytes: usize,
    /// The bytes that a line may have before its end.
    pub line_bytes: usize,
    /// How many arrays, maps and sets may be in each other.
    pub depth: usize,
}

impl Default for ReplyLimits {
    /// Strings of 512 MiB, as Redis has them, in replies of 1 GiB; lines of 64 KiB; 16 levels.
    fn default() -> Self {
        Self {
            string_bytes: 512 << 20,
            bytes: 1 << 30,
            line_bytes: 64 << 10,
            depth: 16,
        }
    }
}

/// What is at the front of the bytes received. The caller drops the `used` bytes before it asks
/// again.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyStep<'a> {
    /// A whole reply.
    Reply {
        /// The reply. Attributes before it or in it, which RESP3 allows, are passed over.
        reply: Reply<'a>,
        /// The bytes it took.
        used: usize,
    },
    /// No whole reply yet.
    More {
        /// The bytes, from the front of the input, without which the next step finds nothing.
        needed: usize,
    },
}

/// Decodes what one connection of a client receives.
///
/// Between two steps the bytes not yet used stay at the front of the input; more may be added at
/// its end. However they arrive, the steps other than [`ReplyStep::More`] are the same.
#[derive(Clone, Debug)]
pub struct ReplyDecoder {
    limits: ReplyLimits,
    /// The replies still to come at each level of the reply at the front.
    open: Vec<usize>,
    /// Where the next part of the reply begins.
    at: usize,
    /// The bytes, from `at`, among which no line ends.
    searched: usize,
    needed: usize,
}

impl ReplyDecoder {
    /// Returns the decoder of a new connection.
    pub fn new(limits: ReplyLimits) -> Self {
        Self {
            limits,
            open: Vec::new(),
            at: 0,
            searched: 0,
            needed: 1,
        }
    }

    /// Returns what is at the front of `input`.
    ///
    /// # Errors
    /// If it is no reply, or above a limit.
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Result<ReplyStep<'a>, NotAReply> {
        if input.len() < self.needed {
            let needed = self.needed;
            return Ok(ReplyStep::More { needed });
        }
        if let Some(needed) = self.pass_over(input)? {
            debug_assert!(needed > input.len());
            self.needed = needed;
            return Ok(ReplyStep::More { needed });
        }
        let used = std::mem::take(&mut self.at);
        self.searched = 0;
        self.needed = 1;
        let reply = Replies::one(&input[..used])
            .next()
            .ok_or(NotAReply::Malformed)?;
        Ok(ReplyStep::Reply { reply, used })
    }

    /// Continues to the end of the reply. Returns how many bytes are needed if it is not there.
    fn pass_over(&mut self, input: &[u8]) -> Result<Option<usize>, NotAReply> {
        if self.at == 0 && self.open.is_empty() {
            self.open.push(1);
        }
        while let Some(left) = self.open.last_mut() {
            if *left == 0 {
                self.open.pop();
                continue;
            }
            let Some((line, end)) = self.line(input)? else {
                return Ok(Some(input.len() + 1));
            };
            let end = match head(line)? {
                Head::Scalar(_) => end,
                Head::String { length, .. } if length > self.limits.string_bytes => {
                    return Err(NotAReply::TooLarge);
                }
                Head::String { length, .. } => end + length + 2,
                Head::Several { kind, count } => {
                    // Attributes do not take the place of the reply after them.
                    if kind != b'|' {
                        self.finish_one();
                    }
                    if self.open.len() > self.limits.depth {
                        return Err(NotAReply::TooDeep);
                    }
                    if count > self.limits.bytes {
                        return Err(NotAReply::TooLarge);
                    }
                    self.open.push(count);
                    self.go_to(end);
                    continue;
                }
            };
            if end > self.limits.bytes {
                return Err(NotAReply::TooLarge);
            }
            if end > input.len() {
                return Ok(Some(end));
            }
            if input[end - 2..end] != *b"\r\n" {
                return Err(NotAReply::Malformed);
            }
            self.finish_one();
            self.go_to(end);
        }
        Ok(None)
    }

    fn finish_one(&mut self) {
        if let Some(left) = self.open.last_mut() {
            *left -= 1;
        }
    }

    fn go_to(&mut self, at: usize) {
        self.at = at;
        self.searched = 0;
    }

    /// Returns the line at `self.at` without its end, and where the next one begins.
    fn line<'a>(&mut self, input: &'a [u8]) -> Result<Option<(&'a [u8], usize)>, NotAReply> {
        let from = self.at + self.searched;
        let found = memchr(b'\n', input.get(from..).unwrap_or_default());
        let end = found.map_or(input.len(), |found| from + found + 1);
        if end - self.at > self.limits.line_bytes {
            return Err(NotAReply::LongLine);
        }
        if end > self.limits.bytes {
            return Err(NotAReply::TooLarge);
        }
        self.searched = end - self.at;
        if found.is_none() {
            return Ok(None);
        }
        // A string that is awaited is announced by the same line again.
        self.searched -= 1;
        match input[self.at..end].strip_suffix(b"\r\n") {
            Some(line) => Ok(Some((line, end))),
            None => Err(NotAReply::Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ReplyLimits = ReplyLimits {
        string_bytes: 20,
        bytes: 100,
        line_bytes: 30,
        depth: 3,
    };

    /// Decodes what arrives in pieces of `size` bytes. Returns what was found as text, and the
    /// bytes that are left.
    fn decoded(sent: &[u8], size: usize) -> (Vec<String>, Result<usize, NotAReply>) {
        let (mut decoder, mut input, mut replies) =
            (ReplyDecoder::new(LIMITS), Vec::new(), Vec::new());
        for piece in sent.chunks(size) {
            input.extend_from_slice(piece);
            loop {
                match decoder.step(&input) {
                    Ok(ReplyStep::More { needed }) => {
                        assert!(needed > input.len());
                        break;
                    }
                    Ok(ReplyStep::Reply { reply, used }) => {
                        replies.push(shown(&reply));
                        input.drain(..used);
                    }
                    Err(error) => return (replies, Err(error)),
                }
            }
        }
        (replies, Ok(input.len()))
    }

    fn shown(reply: &Reply<'_>) -> String {
        let all = |kind: &str, replies: &Replies<'_>| {
            let inner: Vec<_> = replies.clone().map(|reply| shown(&reply)).collect();
            assert_eq!(inner.len(), replies.len());
            format!("{kind}[{}]", inner.join(" "))
        };
        match reply {
            Reply::Bulk(bytes) => format!("'{}'", bytes.escape_ascii()),
            Reply::Simple(word) => format!("+{}", word.escape_ascii()),
            Reply::Error(text) => format!("-{}", text.escape_ascii()),
            Reply::Array(inner) => all("*", inner),
            Reply::Map(inner) => all("%", inner),
            Reply::Set(inner) => all("~", inner),
            Reply::Push(inner) => all(">", inner),
            Reply::Double(text) | Reply::BigNumber(text) => text.escape_ascii().to_string(),
            Reply::Text { kind, text } => {
                format!("{}:{}", kind.escape_ascii(), text.escape_ascii())
            }
            other => format!("{other:?}"),
        }
    }

    fn alike(sent: &str) -> (Vec<String>, Result<usize, NotAReply>) {
        let whole = decoded(sent.as_bytes(), sent.len().max(1));
        for size in [1, 2, 3, 7] {
            assert_eq!(decoded(sent.as_bytes(), size), whole, "{sent:?}");
        }
        whole
    }

    #[test]
    fn replies_are_found_however_they_arrive() {
        for (sent, expected, left) in [
            ("", &[][..], 0),
            (
                "+OK\r\n-ERR a b\r\n:-7\r\n",
                &["+OK", "-ERR a b", "Integer(-7)"],
                0,
            ),
            (
                "$2\r\na\n\r\n$0\r\n\r\n$-1\r\n*-1\r\n_\r\n",
                &["'a\\n'", "''", "Null", "Null", "Null"],
                0,
            ),
            (
                "*0\r\n*2\r\n:1\r\n*1\r\n+a\r\n",
                &["*[]", "*[Integer(1) *[+a]]"],
                0,
            ),
            (
                "%1\r\n+b\r\n:1\r\n~1\r\n+a\r\n",
                &["%[+b Integer(1)]", "~[+a]"],
                0,
            ),
            (
                ">2\r\n+a\r\n*1\r\n$1\r\nk\r\n+OK\r\n",
                &[">[+a *['k']]", "+OK"],
                0,
            ),
            (
                "#t\r\n,1.5\r\n(12345678901234567890\r\n",
                &["Boolean(true)", "1.5", "12345678901234567890"],
                0,
            ),
            ("=6\r\ntxt:ab\r\n!5\r\nERR x\r\n", &["txt:ab", "-ERR x"], 0),
            (
                "|1\r\n+a\r\n+b\r\n*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n+c\r\n+d\r\n",
                &["*[+c +d]"],
                0,
            ),
            ("+O", &[], 2),
            ("*2\r\n+a\r\n", &[], 8),
        ] {
            assert_eq!(alike(sent).1, Ok(left), "{sent:?}");
            assert_eq!(alike(sent).0, expected, "{sent:?}");
        }
    }

    #[test]
    fn what_is_no_reply_ends_the_connection() {
        for (sent, error) in [
            ("VALUE a 0 1\r\n", NotAReply::Malformed),
            ("\r\n", NotAReply::Malformed),
            ("+OK\n", NotAReply::Malformed),
            (":x\r\n", NotAReply::Malformed),
            ("$-2\r\n", NotAReply::Malformed),
            ("$?\r\n", NotAReply::Malformed),
            ("$1\r\nabc\r\n", NotAReply::Malformed),
            ("$1\r\nabc", NotAReply::Malformed),
            ("=3\r\ntxt\r\n", NotAReply::Malformed),
            ("$21\r\n", NotAReply::TooLarge),
            ("%9223372036854775807\r\n", NotAReply::TooLarge),
            (
                "*9\r\n$20\r\n01234567890123456789\r\n$20\r\n01234567890123456789\r\n\
              $20\r\n01234567890123456789\r\n$20\r\n01234567890123456789\r\n",
                NotAReply::TooLarge,
            ),
            (
                "+0123456789012345678901234567890123456789\r\n",
                NotAReply::LongLine,
            ),
            ("*1\r\n*1\r\n*1\r\n*1\r\n", NotAReply::TooDeep),
        ] {
            assert_eq!(alike(sent).1, Err(error), "{sent:?}");
        }
    }

    #[test]
    fn depth_costs_no_stack_and_little_memory() {
        let mut decoder = ReplyDecoder::new(ReplyLimits {
            depth: 100_000,
            ..ReplyLimits::default()
        });
        let sent = "*1\r\n".repeat(100_000) + "+a\r\n";
        let found = decoder.step(sent.as_bytes());
        assert!(matches!(found, Ok(ReplyStep::Reply { used, .. }) if used == sent.len()));
    }
}
