//! What a server receives: commands.

use std::fmt;
use std::ops::Range;

use memchr::memchr;

use super::args::Args;
use super::inline;
use super::number::read_i64;

/// The bytes of the longest line, be it a command or a length.
const LINE_BYTES: usize = 64 * 1024;
/// The most words, and bytes of a word, before the client has said who it is: as in Redis.
const LOCKED_WORDS: i64 = 10;
const LOCKED_WORD_BYTES: i64 = 16 * 1024;
/// The most memory for words that is kept for the next command.
const KEPT_WORDS: usize = 1024;

/// How large a command may be. A decoder asks its caller to hold no more than `bytes`, and a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandLimits {
    /// The most words.
    pub words: usize,
    /// The bytes of the longest word.
    pub word_bytes: usize,
    /// The bytes of the whole command.
    pub bytes: usize,
}

impl Default for CommandLimits {
    /// 1,048,576 words, which have 1 MiB each and 64 MiB together.
    fn default() -> Self {
        Self {
            words: 1 << 20,
            word_bytes: 1 << 20,
            bytes: 64 << 20,
        }
    }
}

/// What is at the front of the bytes received. The caller drops the `used` bytes before it asks
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStep<'a> {
    /// A whole command.
    Command {
        /// Its words.
        args: Args<'a>,
        /// The bytes it took.
        used: usize,
    },
    /// A command without words, which is not answered.
    Nothing {
        /// The bytes it took.
        used: usize,
    },
    /// No command. Nobody knows where the next one begins: the connection is to be closed.
    Broken(ProtocolError),
    /// No whole command yet.
    More {
        /// The bytes, from the front of the input, without which the next step finds nothing.
        needed: usize,
    },
}

/// Why bytes are not a command. The text is that of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The number of words is not a number, or is too large.
    WordCount,
    /// The length of a word is not a number, or is too large.
    WordLength,
    /// The same, for a client that has not said who it is.
    LockedWordCount,
    /// The same, for a client that has not said who it is.
    LockedWordLength,
    /// A word begins with another byte than `$`.
    NotAWord(u8),
    /// A line of words is too long.
    LongLine,
    /// The line of a number of words is too long.
    LongWordCount,
    /// The line of the length of a word is too long.
    LongWordLength,
    /// A quote is not closed.
    Quotes,
    /// All words together are too long. Redis closes the connection without an answer.
    LongCommand,
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WordCount => "invalid multibulk length",
            Self::WordLength => "invalid bulk length",
            Self::LockedWordCount => "unauthenticated multibulk length",
            Self::LockedWordLength => "unauthenticated bulk length",
            Self::NotAWord(byte) => {
                // A line end would end the answer.
                let shown = match byte {
                    b'\r' | b'\n' => ' ',
                    byte if byte.is_ascii() => char::from(*byte),
                    _ => '?',
                };
                return write!(f, "expected '$', got '{shown}'");
            }
            Self::LongLine => "too big inline request",
            Self::LongWordCount => "too big mbulk count string",
            Self::LongWordLength => "too big bulk count string",
            Self::Quotes => "unbalanced quotes in request",
            Self::LongCommand => "request larger than the server accepts",
        })
    }
}

impl std::error::Error for ProtocolError {}

/// Decodes what one connection of a server receives.
///
/// Between two steps the bytes not yet used stay at the front of the input; more may be added at
/// its end. However they arrive, the steps other than [`CommandStep::More`] are the same.
#[derive(Clone, Debug)]
pub struct CommandDecoder {
    limits: CommandLimits,
    is_locked: bool,
    /// The words that are still to come; `None` between two commands.
    left: Option<usize>,
    /// The words found so far: in the input, or in `line`.
    words: Vec<Range<usize>>,
    /// The words of a command that is a line, without quotes.
    line: Vec<u8>,
    /// Where the next word begins.
    at: usize,
    /// The bytes, from `at`, among which no line ends.
    searched: usize,
    needed: usize,
}

/// The end of a part of a command.
enum Part {
    Done,
    Short { needed: usize },
}

impl CommandDecoder {
    /// Returns the decoder of a new connection.
    pub fn new(limits: CommandLimits) -> Self {
        Self {
            limits,
            is_locked: false,
            left: None,
            words: Vec::new(),
            line: Vec::new(),
            at: 0,
            searched: 0,
            needed: 1,
        }
    }

    /// Lowers the limits of commands to those of Redis for clients that have not said who they are,
    /// or no longer.
    pub fn set_locked(&mut self, is_locked: bool) {
        self.is_locked = is_locked;
    }

    /// Returns what is at the front of `input`.
    pub fn step<'a>(&'a mut self, input: &'a [u8]) -> CommandStep<'a> {
        if input.len() < self.needed {
            let needed = self.needed;
            return CommandStep::More { needed };
        }
        let part = match (self.left, input[0]) {
            (None, b'*') => self.begin(input),
            (None, _) => self.read_line(input),
            (Some(_), _) => self.read_words(input),
        };
        match part {
            Err(error) => CommandStep::Broken(error),
            Ok(Part::Short { needed }) => {
                debug_assert!(needed > input.len());
                self.needed = needed;
                CommandStep::More { needed }
            }
            Ok(Part::Done) => {
                let used = self.at;
                self.reset();
                if self.words.is_empty() {
                    return CommandStep::Nothing { used };
                }
                let args = match input[0] {
                    b'*' => Args::in_input(input, &self.words),
                    _ => Args::in_line(&self.line, &self.words),
                };
                CommandStep::Command { args, used }
            }
        }
    }

    /// Forgets where it is in the command, but not its words.
    fn reset(&mut self) {
        self.left = None;
        self.at = 0;
        self.searched = 0;
        self.needed = 1;
    }

    /// Reads the number of words, and the words that are there.
    fn begin(&mut self, input: &[u8]) -> Result<Part, ProtocolError> {
        let Some((line, end)) = self.line_at(input, b'\r', ProtocolError::LongWordCount)? else {
            return Ok(one_more(input));
        };
        let count = read_i64(&input[line]).ok_or(ProtocolError::WordCount)?;
        if self.is_locked && count > LOCKED_WORDS {
            return Err(ProtocolError::LockedWordCount);
        }
        let count = usize::try_from(count).unwrap_or(0);
        if count > self.limits.words {
            return Err(ProtocolError::WordCount);
        }
        self.words.clear();
        self.words.shrink_to(KEPT_WORDS);
        self.line.clear();
        self.line.shrink_to(LINE_BYTES);
        self.at = end;
        self.searched = 0;
        self.left = Some(count);
        self.read_words(input)
    }

    fn read_words(&mut self, input: &[u8]) -> Result<Part, ProtocolError> {
        while let Some(left) = self.left.filter(|left| *left > 0) {
            let Some(first) = input.get(self.at) else {
                return Ok(one_more(input));
            };
            if *first != b'$' {
                return Err(ProtocolError::NotAWord(*first));
            }
            let found = self.line_at(input, b'\r', ProtocolError::LongWordLength)?;
            let Some((line, start)) = found else {
                return Ok(one_more(input));
            };
            let length = read_i64(&input[line]).ok_or(ProtocolError::WordLength)?;
            if self.is_locked && length > LOCKED_WORD_BYTES {
                return Err(ProtocolError::LockedWordLength);
            }
            let length = usize::try_from(length).map_err(|_| ProtocolError::WordLength)?;
            if length > self.limits.word_bytes {
                return Err(ProtocolError::WordLength);
            }
            // As in Redis, the two bytes after it need not be a line end.
            let end = start + length + 2;
            if end > self.limits.bytes {
                return Err(ProtocolError::LongCommand);
            }
            if input.len() < end {
                return Ok(Part::Short { needed: end });
            }
            self.words.push(start..start + length);
            self.at = end;
            self.searched = 0;
            self.left = Some(left - 1);
        }
        Ok(Part::Done)
    }

    /// Reads a command that is a line of words.
    fn read_line(&mut self, input: &[u8]) -> Result<Part, ProtocolError> {
        let end = memchr(b'\n', &input[self.searched..]).map(|at| self.searched + at);
        let Some(end) = end else {
            if input.len() > LINE_BYTES {
                return Err(ProtocolError::LongLine);
            }
            self.searched = input.len();
            return Ok(one_more(input));
        };
        if end > LINE_BYTES {
            return Err(ProtocolError::LongLine);
        }
        let line = &input[..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.words.clear();
        self.line.clear();
        if !inline::split(line, &mut self.line, &mut self.words) {
            return Err(ProtocolError::Quotes);
        }
        self.at = end + 1;
        Ok(Part::Done)
    }

    /// Finds the line after the byte at `self.at`, which ends at `last` and one more byte. Returns
    /// where it is, and where the next one begins.
    fn line_at(
        &mut self,
        input: &[u8],
        last: u8,
        too_long: ProtocolError,
    ) -> Result<Option<(Range<usize>, usize)>, ProtocolError> {
        let from = self.at + self.searched.max(1);
        let end = memchr(last, input.get(from..).unwrap_or_default()).map(|found| from + found);
        let length = end.unwrap_or(input.len()) - self.at;
        if length > LINE_BYTES {
            return Err(too_long);
        }
        match end {
            Some(end) if end + 2 <= input.len() => Ok(Some((self.at + 1..end, end + 2))),
            Some(_) => {
                self.searched = length;
                Ok(None)
            }
            None => {
                self.searched = length.max(1);
                Ok(None)
            }
        }
    }
}

/// Waits for the rest of something whose length is not known.
fn one_more(input: &[u8]) -> Part {
    let needed = input.len() + 1;
    Part::Short { needed }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: CommandLimits = CommandLimits {
        words: 20,
        word_bytes: 20_000,
        bytes: 25_000,
    };

    /// Decodes what arrives in pieces of `size` bytes. Returns the commands, and the error or the
    /// number of bytes that are left.
    fn decoded(
        decoder: &CommandDecoder,
        sent: &[u8],
        size: usize,
    ) -> (Vec<Vec<Vec<u8>>>, Result<usize, ProtocolError>) {
        let (mut decoder, mut input, mut commands) = (decoder.clone(), Vec::new(), Vec::new());
        for piece in sent.chunks(size) {
            input.extend_from_slice(piece);
            loop {
                let used = match decoder.step(&input) {
                    CommandStep::More { needed } => {
                        assert!(needed > input.len());
                        break;
                    }
                    CommandStep::Broken(error) => return (commands, Err(error)),
                    CommandStep::Nothing { used } => used,
                    CommandStep::Command { args, used } => {
                        commands.push(args.iter().map(<[u8]>::to_vec).collect());
                        used
                    }
                };
                assert!(used > 0);
                input.drain(..used);
            }
        }
        (commands, Ok(input.len()))
    }

    fn alike(sent: &[u8]) -> (Vec<Vec<Vec<u8>>>, Result<usize, ProtocolError>) {
        let decoder = CommandDecoder::new(LIMITS);
        let whole = decoded(&decoder, sent, sent.len().max(1));
        for size in [1, 2, 3, 7] {
            assert_eq!(
                decoded(&decoder, sent, size),
                whole,
                "{}",
                sent.escape_ascii()
            );
        }
        whole
    }

    #[test]
    fn commands_are_found_however_they_arrive() {
        let words = |words: &[&str]| -> Vec<Vec<u8>> {
            words.iter().map(|word| word.as_bytes().to_vec()).collect()
        };
        for (sent, expected, left) in [
            (&b""[..], vec![], 0),
            (b"*1\r\n$4\r\nPING\r\n", vec![words(&["PING"])], 0),
            (
                b"*2\r\n$3\r\nGET\r\n$0\r\n\r\nPING\r\n*1\r\n$1\r\na\r\n*1\r\n$",
                vec![words(&["GET", ""]), words(&["PING"]), words(&["a"])],
                5,
            ),
            (
                b"*0\r\n*-1\r\n\r\n \n*1\r\n$1\r\na\r\n",
                vec![words(&["a"])],
                0,
            ),
            (
                b"get 'a b'\n\nx\r\n",
                vec![words(&["get", "a b"]), words(&["x"])],
                0,
            ),
            (b"''\r\n", vec![words(&[""])], 0),
            (b"*1\r\n$3\r\na\r\nxx", vec![words(&["a\r\n"])], 0),
            (
                b"*3\r\n$10\r\n0123456789\r\n$1\r\na\r\n$0\r\n\r\n",
                vec![words(&["0123456789", "a", ""])],
                0,
            ),
            (b"get a", vec![], 5),
        ] {
            assert_eq!(alike(sent), (expected, Ok(left)), "{}", sent.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_command_is_said_in_the_words_of_redis() {
        let long = [b'a'; LINE_BYTES + 1];
        let long_of = |start: &str| [start.as_bytes(), &long].concat();
        for (sent, error) in [
            (b"*x\r\n".to_vec(), "invalid multibulk length"),
            (b"*21\r\n".to_vec(), "invalid multibulk length"),
            (b"*01\r\n".to_vec(), "invalid multibulk length"),
            (b"*1\r\n:1\r\n".to_vec(), "expected '$', got ':'"),
            (b"*1\r\n\r\n\r\n".to_vec(), "expected '$', got ' '"),
            (b"*1\r\n\xff\r\n".to_vec(), "expected '$', got '?'"),
            (b"*1\r\n$-1\r\n".to_vec(), "invalid bulk length"),
            (b"*1\r\n$20001\r\n".to_vec(), "invalid bulk length"),
            (b"*1\r\n$\r\n".to_vec(), "invalid bulk length"),
            (b"\"a\r\n".to_vec(), "unbalanced quotes in request"),
            (long.to_vec(), "too big inline request"),
            (long_of("*"), "too big mbulk count string"),
            (long_of("*1\r\n$"), "too big bulk count string"),
        ] {
            let (commands, end) = alike(&sent);
            assert!(commands.is_empty());
            assert_eq!(
                end.map_err(|error| error.to_string()),
                Err(error.to_string())
            );
        }
    }

    #[test]
    fn all_words_together_are_bounded() {
        let word = format!("$10000\r\n{}\r\n", "x".repeat(10_000));
        let two = format!("*2\r\n{word}{word}");
        let (commands, end) = alike(two.as_bytes());
        assert_eq!((commands.len(), end), (1, Ok(0)));
        let three = format!("*3\r\n{word}{word}{word}");
        assert_eq!(alike(three.as_bytes()).1, Err(ProtocolError::LongCommand));
    }

    #[test]
    fn strangers_may_send_less() {
        let mut decoder = CommandDecoder::new(LIMITS);
        decoder.set_locked(true);
        let end = |sent: &str| decoded(&decoder, sent.as_bytes(), 5).1;
        assert_eq!(end("*11\r\n"), Err(ProtocolError::LockedWordCount));
        assert_eq!(
            end("*1\r\n$16385\r\n"),
            Err(ProtocolError::LockedWordLength)
        );
        assert_eq!(end("*10\r\n$16384\r\n"), Ok(13));
        decoder.set_locked(false);
        let end = |sent: &str| decoded(&decoder, sent.as_bytes(), 5).1;
        assert_eq!(end("*11\r\n$16385\r\n"), Ok(13));
    }

    /// A value is collected without a call in between.
    #[test]
    fn the_bytes_needed_are_known() {
        let mut decoder = CommandDecoder::new(LIMITS);
        let needed = |decoder: &mut CommandDecoder, input: &[u8]| match decoder.step(input) {
            CommandStep::More { needed } => needed,
            other => panic!("{other:?}"),
        };
        assert_eq!(needed(&mut decoder, b""), 1);
        assert_eq!(needed(&mut decoder, b"*2\r\n"), 5);
        assert_eq!(needed(&mut decoder, b"*2\r\n$10000\r\nx"), 12 + 10_002);
    }
}
