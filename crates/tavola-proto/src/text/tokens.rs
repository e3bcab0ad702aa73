//! The words of a line.

use memchr::memchr;

use super::line::Line;

/// More words than these are not distinguished; memcached's table of them has this size.
const MOST: usize = 23;
/// The bytes of a word that is short.
const SHORT: usize = 16;
/// What follows in a line is not looked at for words, which memcached counts in 16 bits.
const LONGEST_LINE: usize = 65_533;

/// The words of a line in order, up to as many as memcached knows. Only spaces part them.
pub(crate) struct Tokens<'a> {
    line: &'a [u8],
    /// Where each word begins and ends.
    places: [(u16, u16); MOST],
    count: usize,
}

impl<'a> Tokens<'a> {
    /// The words of a line without its end.
    pub(crate) fn new(line: &'a [u8]) -> Self {
        let line = &line[..line.len().min(LONGEST_LINE)];
        let mut tokens = Self {
            line,
            places: [(0, 0); MOST],
            count: 0,
        };
        let mut start = 0;
        while tokens.count < MOST {
            while line.get(start) == Some(&b' ') {
                start += 1;
            }
            if start == line.len() {
                break;
            }
            let rest = &line[start..];
            let length = rest.iter().position(|byte| *byte == b' ');
            let end = start + length.unwrap_or(rest.len());
            // Both fit: the line was cut to what 16 bits can count.
            tokens.places[tokens.count] = (start as u16, end as u16);
            tokens.count += 1;
            start = end;
        }
        tokens
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'a [u8]> {
        let (start, end) = self.places[..self.count].get(index)?;
        Some(&self.line[usize::from(*start)..usize::from(*end)])
    }

    /// The line from the word at `index` on, empty where there is none.
    pub(crate) fn rest(&self, index: usize) -> &'a [u8] {
        let place = self.places[..self.count].get(index);
        place.map_or(&[], |(start, _)| &self.line[usize::from(*start)..])
    }

    /// The same of the whole `line`, however far behind.
    pub(crate) fn rest_of(&self, line: &Line<'a>, index: usize) -> &'a [u8] {
        let place = self.places[..self.count].get(index);
        place.map_or(&[], |(start, _)| &line.text[usize::from(*start)..])
    }

    /// Whether the last word asks for no reply, wherever that makes sense or not.
    pub(crate) fn ask_for_no_reply(&self) -> bool {
        self.count > 0 && self.get(self.count - 1) == Some(b"noreply")
    }
}

/// A line from its second word on, where the first, of so many bytes, begins it.
pub(crate) fn rest_behind(line: &[u8], first: usize) -> Option<&[u8]> {
    let searched = &line[first..line.len().min(LONGEST_LINE)];
    let gap = searched.iter().position(|byte| *byte != b' ')?;
    Some(&line[first + gap..])
}

/// The words of a line or of a part of it, without a bound on their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// The words in `text`, which has no line end.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self(text)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|byte| *byte != b' ')?;
        let rest = &self.0[start..];
        let (word, rest) = rest.split_at(find_space(rest));
        self.0 = rest;
        Some(word)
    }
}

/// Returns where the first space is, or the end. Most words are short: to prepare a fast search
/// takes longer than to look at each byte.
pub(crate) fn find_space(text: &[u8]) -> usize {
    for (place, byte) in text.iter().take(SHORT).enumerate() {
        if *byte == b' ' {
            return place;
        }
    }
    let far = text.get(SHORT..).unwrap_or_default();
    memchr(b' ', far).map_or(text.len(), |place| SHORT + place)
}

/// Whether `word` is a beginning of `name`, which is how memcached compares most words that
/// follow a command.
pub(crate) fn abbreviates(word: &[u8], name: &str) -> bool {
    name.as_bytes().starts_with(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_part_words_and_nothing_else_does() {
        let tokens = Tokens::new(b"  get a\tb  c\0 ");
        let found: Vec<_> = (0..).map_while(|index| tokens.get(index)).collect();
        assert_eq!(found, [&b"get"[..], b"a\tb", b"c\0"]);
        assert_eq!(tokens.rest(1), b"a\tb  c\0 ");
        assert_eq!(tokens.rest(3), b"");
        assert_eq!(Words::new(b"  a  b ").collect::<Vec<_>>(), [b"a", b"b"]);
        assert_eq!(Words::new(b"   ").next(), None);
        for length in SHORT - 1..=SHORT + 1 {
            let line = [&vec![b'x'; length][..], b" y"].concat();
            assert_eq!(Words::new(&line).next(), Some(&line[..length]));
            let words = Words::new(&line[..length]).collect::<Vec<_>>();
            assert_eq!(words, [&line[..length]]);
        }
    }

    #[test]
    fn words_are_counted_up_to_a_bound() {
        let line = b"x ".repeat(MOST + 5);
        assert_eq!(Tokens::new(&line).count(), MOST);
        assert_eq!(Words::new(&line).count(), MOST + 5);
        let mut line = b"x ".repeat(MOST - 1);
        line.extend_from_slice(b"noreply more");
        assert!(Tokens::new(&line).ask_for_no_reply());
    }

    #[test]
    fn the_rest_begins_with_the_second_word() {
        assert_eq!(rest_behind(b"get  a  b ", 3), Some(&b"a  b "[..]));
        for none in [&b"get"[..], b"get  "] {
            assert_eq!(rest_behind(none, 3), None);
        }
    }

    #[test]
    fn text_beyond_the_longest_line_is_not_searched() {
        let mut line = b"get".to_vec();
        line.resize(LONGEST_LINE, b' ');
        line.push(b'a');
        assert_eq!(Tokens::new(&line).count(), 1);
        assert_eq!(rest_behind(&line, 3), None);
        line.remove(3);
        assert_eq!(rest_behind(&line, 3), Some(&b"a"[..]));
    }
}
