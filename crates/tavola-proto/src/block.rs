//! The data that follows the line of a request to store.

use crate::decoder::Outcome;
use crate::refusal::Refusal;

/// The line end after the data.
pub(crate) const END: &[u8] = b"\r\n";

/// What is behind a line.
pub(crate) enum Block<'a> {
    /// All of it, and where it ends.
    Whole { data: &'a [u8], used: usize },
    /// Not all of it yet, or something else than a line end after it.
    Other(Outcome<'a>),
}

/// Reads `size` bytes and a line end from `input`, after a line of `line_bytes`. Data that ends
/// wrongly is refused; what follows it is read as a request.
pub(crate) fn read<'a>(
    input: &'a [u8],
    line_bytes: usize,
    size: usize,
    is_silent: bool,
) -> Block<'a> {
    let used = line_bytes + size + END.len();
    let Some(block) = input.get(line_bytes..used) else {
        return Block::Other(Outcome::ShortValue { needed: used });
    };
    match block.strip_suffix(END) {
        Some(data) => Block::Whole { data, used },
        None => Block::Other(Outcome::Refused {
            refusal: if is_silent {
                Refusal::silent()
            } else {
                Refusal::line("CLIENT_ERROR bad data chunk")
            },
            used,
        }),
    }
}
