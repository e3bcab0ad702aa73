//! Commands that are a line of words, as people type them.

use std::ops::Range;

/// Splits a line into words, which are appended to `bytes`. Words are separated by white space.
/// `"a b\n\x00"` may have escapes, `'a b\''` only that of its quote. Returns false if a quote is
/// not closed, or is not followed by white space.
pub(super) fn split(line: &[u8], bytes: &mut Vec<u8>, words: &mut Vec<Range<usize>>) -> bool {
    let mut rest = line;
    loop {
        let Some(start) = rest.iter().position(|byte| !is_space(*byte)) else {
            return true;
        };
        rest = &rest[start..];
        // As in C, a zero ends the line.
        if rest[0] == 0 {
            return true;
        }
        let begin = bytes.len();
        match word(rest, bytes) {
            Some(left) => rest = left,
            None => return false,
        }
        words.push(begin..bytes.len());
    }
}

/// Appends the word at the front of `rest`, and returns what is behind it.
fn word<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            0 => return Some(rest),
            _ if is_space(byte) => return Some(rest),
            b'"' => return ended(double_quoted(behind, out)?),
            b'\'' => return ended(single_quoted(behind, out)?),
            _ => out.push(byte),
        }
        rest = behind;
    }
    Some(rest)
}

/// Returns what is behind a quote, unless that is the next word already.
fn ended(rest: &[u8]) -> Option<&[u8]> {
    let is_ended = rest
        .first()
        .is_none_or(|byte| is_space(*byte) || *byte == 0);
    is_ended.then_some(rest)
}

fn double_quoted<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', b'x', high, low, rest @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                out.push(digit(*high) << 4 | digit(*low));
                rest
            }
            [b'\\', escaped, rest @ ..] => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest
            }
            [] | [0, ..] => return None,
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [b'\'', rest @ ..] => return Some(rest),
            [b'\\', b'\'', rest @ ..] => {
                out.push(b'\'');
                rest
            }
            [] | [0, ..] => return None,
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
}

fn digit(hex: u8) -> u8 {
    char::from(hex).to_digit(16).unwrap_or(0) as u8
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
        let (mut bytes, mut words) = (Vec::new(), Vec::new());
        let is_valid = split(line, &mut bytes, &mut words);
        is_valid.then(|| {
            let words = words.into_iter();
            words.map(|range| bytes[range].to_vec()).collect()
        })
    }

    #[test]
    fn words_may_be_quoted() {
        for (line, expected) in [
            (&b""[..], &[][..]),
            (b"  \t ", &[]),
            (b"set a b", &[&b"set"[..], b"a", b"b"]),
            (b"  set\ta   b ", &[b"set", b"a", b"b"]),
            (br#"set "a b" 'c d'"#, &[b"set", b"a b", b"c d"]),
            (br#""\x00\xfF\n\q\"" ''"#, &[b"\0\xff\nq\"", b""]),
            (br#"'\n\'' x"#, &[br"\n'", b"x"]),
            (br#"a"b c""#, &[b"ab c"]),
            (br#""\xg0""#, &[b"xg0"]),
            (b"a\0b", &[b"a"]),
        ] {
            let expected: Vec<_> = expected.iter().map(|word| word.to_vec()).collect();
            assert_eq!(words(line), Some(expected), "{}", line.escape_ascii());
        }
        for wrong in [
            &b"\"a"[..],
            b"'a",
            b"\"a\"b",
            b"'a'b",
            b"a \"",
            b"\"\\",
            b"\"a\0\"",
        ] {
            assert_eq!(words(wrong), None, "{}", wrong.escape_ascii());
        }
    }
}
