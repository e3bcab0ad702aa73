//! Patterns as Redis matches keys with them: `*`, `?`, `[ab]`, `[^a-z]`, and a backslash before a
//! byte that stands for itself.

/// Returns whether a pattern matches the whole of a text. The work is at most the product of the
/// two lengths. As in Redis, no pattern except `*` and an empty one matches an empty text.
pub(super) fn is_match(pattern: &[u8], text: &[u8], ignores_case: bool) -> bool {
    if text.is_empty() {
        return matches!(pattern, b"" | b"*");
    }
    let (mut pattern_at, mut text_at) = (0, 0);
    // Behind the last star, and the text that it has taken so far.
    let mut star = None;
    loop {
        if pattern.get(pattern_at) == Some(&b'*') {
            pattern_at += 1;
            star = Some((pattern_at, text_at));
            continue;
        }
        let step = match text.get(text_at) {
            None if pattern_at == pattern.len() => return true,
            None => return false,
            Some(byte) => one(&pattern[pattern_at..], *byte, ignores_case),
        };
        match (step, star) {
            (Some(length), _) => {
                pattern_at += length;
                text_at += 1;
            }
            (None, None) => return false,
            (None, Some((behind, taken))) => {
                pattern_at = behind;
                text_at = taken + 1;
                star = Some((behind, text_at));
            }
        }
    }
}

/// Returns the bytes of the pattern that match one byte of the text, or `None` if they do not.
fn one(pattern: &[u8], byte: u8, ignores_case: bool) -> Option<usize> {
    let fold = |byte: u8| match ignores_case {
        true => byte.to_ascii_lowercase(),
        false => byte,
    };
    match *pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', ..] => {
            let (is_in, length) = class(pattern, fold(byte), fold);
            is_in.then_some(length)
        }
        [b'\\', escaped, ..] => (fold(escaped) == fold(byte)).then_some(2),
        [other, ..] => (fold(other) == fold(byte)).then_some(1),
    }
}

/// Returns whether the class at the front of a pattern has a byte, and its length. One that is not
/// closed ends with the pattern.
fn class(pattern: &[u8], byte: u8, fold: impl Fn(u8) -> u8) -> (bool, usize) {
    let is_negated = pattern.get(1) == Some(&b'^');
    let mut at = 1 + usize::from(is_negated);
    let mut is_in = false;
    loop {
        match pattern[at.min(pattern.len())..] {
            [] => break,
            [b'\\', escaped, ..] => {
                is_in |= fold(escaped) == byte;
                at += 2;
            }
            [b']', ..] => {
                at += 1;
                break;
            }
            [first, b'-', last, ..] => {
                let (first, last) = (fold(first.min(last)), fold(first.max(last)));
                is_in |= (first..=last).contains(&byte);
                at += 3;
            }
            [other, ..] => {
                is_in |= fold(other) == byte;
                at += 1;
            }
        }
    }
    (is_in != is_negated, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "abc", true),
            ("", "", true),
            ("**", "", false),
            ("", "a", false),
            ("a", "a", true),
            ("a", "b", false),
            ("a", "ab", false),
            ("ab", "a", false),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeeello", true),
            ("h*llo", "hellx", false),
            ("*b*c", "abbbxc", true),
            ("**a", "ba", true),
            ("h[ae]llo", "hallo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]", "hb", true),
            ("h[c-a]", "hb", true),
            ("h[a-c]", "hd", false),
            ("h[", "h", false),
            ("h[a", "ha", true),
            ("h[]", "ha", false),
            ("h[\\]]", "h]", true),
            ("h\\*", "h*", true),
            ("h\\*", "hx", false),
            ("h\\", "h\\", true),
            ("*\\", "a\\", true),
        ] {
            let found = is_match(pattern.as_bytes(), text.as_bytes(), false);
            assert_eq!(found, expected, "{pattern} {text}");
        }
        assert!(is_match(b"MAX*", b"maxmemory", true));
        assert!(is_match(b"[A-C]x", b"bX", true));
        assert!(!is_match(b"MAX*", b"maxmemory", false));
    }

    /// A pattern that takes exponential time by the way of calls within calls.
    #[test]
    fn a_hostile_pattern_takes_bounded_time() {
        let pattern = "a*".repeat(500) + "b";
        assert!(!is_match(pattern.as_bytes(), &[b'a'; 8000], false));
    }
}
