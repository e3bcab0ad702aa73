//! Records: what is written to the journal and to snapshots, byte by byte.
//!
//! ```text
//! word 0   bytes of the record, a multiple of 8: 0-31; kind: 32-39; changes: 40-63
//! word 1   position: where the record begins
//! word 2   synced: records before this position were on disk when it was written
//! word 3   check: of the body, and of words 0 to 2
//! body
//! ```
//!
//! | kind | body |
//! |---|---|
//! | COMMIT (1) | changes, which happened at one moment |
//! | PIECE (2) | the position of the first piece of the value, 0 in that one; bytes of the value |
//! | CLOCK (3) | the time of the table's clock, in milliseconds |
//! | FOOT (4) | of a snapshot: the end of the records that it needs, keys, the highest version |
//! | ABOUT (5) | of a saved file: see `saved` |
//! | TAG (6) | of a saved file: a tag's handle when it was saved; its name |
//!
//! A change:
//!
//! ```text
//! op u8, fields u8, tags u8, note u8, bytes of the key u32, bytes of the value u32, flags u32
//! expiry u64, version u64, marks u64, position of the first piece u64: those in `fields`
//! tags: bytes of the name u16, name, for each
//! key, value (if it is not in pieces), zeroes up to a multiple of 8
//! ```
//!
//! The note is 0 except in a saved file.
//!
//! All changes are absolute, so that a change can be made again. A record whose position or check
//! is wrong does not count.

use crate::layout::fold;
use rapidhash::v3::RapidSecrets;

/// Bytes before the body.
pub(crate) const HEAD: usize = 32;
/// Bytes of the longest piece of a value.
pub(crate) const MOST_PIECE: usize = 32 << 10;
/// Bytes of the longest key of a durable table.
pub(crate) const MOST_KEY: usize = 8 << 10;
pub(super) const EXPIRY: u8 = 1;
pub(super) const VERSION: u8 = 2;
pub(super) const MARKS: u8 = 4;
pub(super) const PIECES: u8 = 8;

const SECRETS: RapidSecrets = RapidSecrets::seed(0x5461_766F_6C61);

/// The kind of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Commit = 1,
    Piece,
    Clock,
    Foot,
    About,
    Tag,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Commit,
        Self::Piece,
        Self::Clock,
        Self::Foot,
        Self::About,
        Self::Tag,
    ];

    pub(super) fn code(self) -> u64 {
        self as u64
    }

    fn of(code: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// The change of a key, or of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    /// It gets this value, and these attributes and tags only.
    Set,
    /// It is removed.
    Remove,
    /// It gets this value, and keeps the rest.
    Value,
    /// It gets these attributes, and keeps value, version and tags.
    Attributes,
    /// The key is the name of a tag, and all keys with it are removed.
    Invalidate,
}

impl Op {
    const ALL: [Self; 5] = [
        Self::Set,
        Self::Remove,
        Self::Value,
        Self::Attributes,
        Self::Invalidate,
    ];

    pub(super) fn code(self) -> u8 {
        match self {
            Self::Set => 1,
            Self::Remove => 2,
            Self::Value => 3,
            Self::Attributes => 4,
            Self::Invalidate => 5,
        }
    }
}

/// The value of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content<'a> {
    Here(&'a [u8]),
    /// In pieces, of which the first one is at this position: so many bytes.
    Pieces {
        first: u64,
        len: u32,
    },
}

/// A change of one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ChangeRecord<'a> {
    pub(crate) op: Op,
    /// A saved file has a note beside, see `saved`.
    pub(crate) note: u8,
    pub(crate) key: &'a [u8],
    pub(crate) content: Content<'a>,
    pub(crate) client: u32,
    pub(crate) expiry_ms: u64,
    pub(crate) version: u64,
    pub(crate) marks: u32,
    pub(crate) tags: Vec<&'a [u8]>,
}

impl<'a> ChangeRecord<'a> {
    /// Returns a change without value, attributes and tags.
    pub(crate) fn of(op: Op, key: &'a [u8]) -> Self {
        Self {
            op,
            note: 0,
            key,
            content: Content::Here(&[]),
            client: 0,
            expiry_ms: 0,
            version: 0,
            marks: 0,
            tags: Vec::new(),
        }
    }
}

/// Returns the part of the check that is of the body.
pub(super) fn hash(body: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3_inline::<true, false, false>(body, &SECRETS)
}

/// A record that was read and checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) kind: Kind,
    pub(crate) changes: u32,
    pub(crate) position: u64,
    pub(crate) synced: u64,
    pub(crate) body: &'a [u8],
}

/// The head of a record, before its body is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordHead {
    words: [u64; 4],
    kind: Kind,
}

impl RecordHead {
    /// Decodes the head of a record that begins at this position. Returns `None` if there is none.
    pub(crate) fn decode(bytes: &[u8], position: u64) -> Option<Self> {
        let head = bytes.get(..HEAD)?;
        let word = |i: usize| word_at(head, 8 * i).unwrap_or(0);
        let words = [word(0), word(1), word(2), word(3)];
        let kind = Kind::of(words[0] >> 32 & 0xFF)?;
        let head = Self { words, kind };
        let is_right = words[1] == position && head.len() >= HEAD && head.len().is_multiple_of(8);
        is_right.then_some(head)
    }

    /// Returns the bytes of the record.
    pub(crate) fn len(&self) -> usize {
        self.words[0] as u32 as usize
    }

    /// Returns the record, if its body fits the check.
    pub(crate) fn verify(self, id: u64, bytes: &[u8]) -> Option<Record<'_>> {
        let body = bytes.get(HEAD..self.len())?;
        let [first, position, synced, check] = self.words;
        let is_right = check == fold(&[hash(body), id, first, position, synced]);
        is_right.then_some(Record {
            kind: self.kind,
            changes: (first >> 40) as u32,
            position,
            synced,
            body,
        })
    }
}

/// Returns the word at an offset.
pub(crate) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

impl<'a> Record<'a> {
    /// Returns its bytes.
    pub(crate) fn len(&self) -> u64 {
        (HEAD + self.body.len()) as u64
    }

    /// Calls `each` for each change, with its bytes. Returns `None` if the body is not made of as
    /// many changes as the head says: then it was written wrongly.
    pub(crate) fn each_change(
        &self,
        mut each: impl FnMut(ChangeRecord<'a>, &'a [u8]),
    ) -> Option<()> {
        let mut rest = self.body;
        for _ in 0..self.changes {
            let (change, after) = decode_change(rest)?;
            let bytes = &rest[..rest.len() - after.len()];
            rest = after;
            each(change, bytes);
        }
        rest.is_empty().then_some(())
    }

    /// Returns the words of a record that has only words.
    pub(crate) fn word(&self, number: usize) -> Option<u64> {
        word_at(self.body, 8 * number)
    }
}

struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(part)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn word_if(&mut self, fields: u8, flag: u8) -> Option<u64> {
        match fields & flag {
            0 => Some(0),
            _ => Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
        }
    }
}

/// Decodes the first of several changes, and returns it with the bytes behind it.
pub(crate) fn decode_change(bytes: &[u8]) -> Option<(ChangeRecord<'_>, &[u8])> {
    let mut parts = Parts(bytes);
    let first = parts.take(4)?;
    let op = Op::ALL.into_iter().find(|op| op.code() == first[0])?;
    let (fields, tags) = (first[1], first[2]);
    let (key_len, value_len, client) = (parts.number()?, parts.number()?, parts.number()?);
    let expiry_ms = parts.word_if(fields, EXPIRY)?;
    let version = parts.word_if(fields, VERSION)?;
    let marks = parts.word_if(fields, MARKS)? as u32;
    let pieces = parts.word_if(fields, PIECES)?;
    let mut names = Vec::with_capacity(usize::from(tags));
    for _ in 0..tags {
        let len = u16::from_le_bytes(parts.take(2)?.try_into().ok()?);
        names.push(parts.take(usize::from(len))?);
    }
    let key = parts.take(key_len as usize)?;
    let content = match fields & PIECES {
        0 => Content::Here(parts.take(value_len as usize)?),
        _ => Content::Pieces {
            first: pieces,
            len: value_len,
        },
    };
    let used = bytes.len() - parts.0.len();
    parts.take(used.next_multiple_of(8) - used)?;
    let change = ChangeRecord {
        op,
        note: first[3],
        key,
        content,
        client,
        expiry_ms,
        version,
        marks,
        tags: names,
    };
    Some((change, parts.0))
}
