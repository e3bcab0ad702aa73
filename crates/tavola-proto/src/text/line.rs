//! Where a line ends, and how long it may be.

use crate::limits::Limits;

/// Commands whose lines may be long, as they name many keys.
const OF_KEYS: [&[u8]; 4] = [b"get ", b"gets ", b"gat ", b"gats "];

/// A line at the front of the input.
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub(crate) text: &'a [u8],
    /// Its bytes, its end counted.
    pub(crate) bytes: usize,
}

pub(crate) enum Found<'a> {
    Line(Line<'a>),
    /// No line end so far.
    Short,
    /// No line end where the latest one could be, after these bytes.
    TooLong(usize),
}

/// Finds the first line end. `searched` is how far it is known that there is none, and is
/// brought up to date.
pub(crate) fn find<'a>(input: &'a [u8], searched: &mut usize, limits: &Limits) -> Found<'a> {
    let longest = if is_of_keys(input) {
        limits.keys_line_bytes
    } else {
        limits.line_bytes
    };
    find_of(input, searched, longest)
}

/// Whether the line at the front may name many keys.
pub(super) fn is_of_keys(input: &[u8]) -> bool {
    OF_KEYS.iter().any(|name| input.starts_with(name))
}

/// The same where a line may have `longest` bytes before its end, whatever it is.
pub(crate) fn find_of<'a>(input: &'a [u8], searched: &mut usize, longest: usize) -> Found<'a> {
    let until = input.len().min(longest.saturating_add(1));
    let from = (*searched).min(until);
    let Some(at) = memchr::memchr(b'\n', &input[from..until]) else {
        *searched = until;
        return if input.len() > longest {
            Found::TooLong(until)
        } else {
            Found::Short
        };
    };
    let end = from + at;
    *searched = end;
    let text = &input[..end];
    Found::Line(Line {
        text: text.strip_suffix(b"\r").unwrap_or(text),
        bytes: end + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        value_bytes: 10,
        swallow_bytes: 100,
        line_bytes: 8,
        keys_line_bytes: 12,
    };

    /// The bytes of the line found, its end counted.
    fn bytes(input: &[u8], searched: usize) -> Result<usize, bool> {
        match find(input, &mut { searched }, &LIMITS) {
            Found::Line(line) => Ok(line.bytes),
            Found::Short => Err(false),
            Found::TooLong(_) => Err(true),
        }
    }

    #[test]
    fn a_line_may_have_as_many_bytes_as_the_limit_before_its_end() {
        assert_eq!(bytes(b"xxxxxxxx", 0), Err(false));
        assert_eq!(bytes(b"xxxxxxxx\n", 0), Ok(9));
        assert_eq!(bytes(b"xxxxxxxxx", 0), Err(true));
        assert_eq!(bytes(b"xxxxxxxxx\n", 0), Err(true));
        assert_eq!(bytes(b"gat 0 xxxxxx\n", 0), Ok(13));
        assert_eq!(bytes(b"get xxxxxxxxx\n", 0), Err(true));
    }

    #[test]
    fn what_was_searched_is_not_searched_again() {
        let mut searched = 0;
        assert!(matches!(find(b"abc", &mut searched, &LIMITS), Found::Short));
        assert_eq!(searched, 3);
        // A line end that is where none was before shows where the search began.
        assert_eq!(bytes(b"a\nb\n", searched), Ok(4));
    }
}
