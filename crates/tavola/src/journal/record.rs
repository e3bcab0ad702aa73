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
const EXPIRY: u8 = 1;
const VERSION: u8 = 2;
const MARKS: u8 = 4;
const PIECES: u8 = 8;

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

    fn code(self) -> u64 {
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

    fn code(self) -> u8 {
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

/// A record that is being written.
#[derive(Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    changes: u32,
    kind: u64,
    body: u64,
}

impl Draft {
    /// Begins a record, in the memory of the one before.
    pub(crate) fn begin(&mut self, kind: Kind) {
        self.bytes.clear();
        self.bytes.resize(HEAD, 0);
        (self.changes, self.kind) = (0, kind.code());
    }

    /// Makes room for so many bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve(bytes.saturating_sub(self.bytes.len()));
    }

    /// Returns how many bytes it has by now.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn changes(&self) -> u32 {
        self.changes
    }

    pub(crate) fn push_word(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a change.
    pub(crate) fn push_change(&mut self, change: &ChangeRecord<'_>) {
        let value = match change.content {
            Content::Here(value) => value,
            Content::Pieces { .. } => &[],
        };
        self.begin_change(change, change.key.len(), value.len());
        self.push_bytes(change.key);
        self.push_bytes(value);
        self.end_change();
    }

    /// Begins a change, of which the caller then adds the bytes of the key and of the value, which
    /// are that many.
    pub(crate) fn begin_change(
        &mut self,
        change: &ChangeRecord<'_>,
        key_len: usize,
        value_len: usize,
    ) {
        let (len, pieces) = match change.content {
            Content::Here(_) => (value_len as u32, 0),
            Content::Pieces { first, len } => (len, first),
        };
        let fields = [
            (EXPIRY, change.expiry_ms),
            (VERSION, change.version),
            (MARKS, u64::from(change.marks)),
            (PIECES, pieces),
        ];
        let has = fields.iter().filter(|(_, word)| *word != 0);
        let has: u8 = has.map(|(flag, _)| flag).sum();
        self.push_bytes(&[change.op.code(), has, change.tags.len() as u8, change.note]);
        for number in [key_len as u32, len, change.client] {
            self.push_bytes(&number.to_le_bytes());
        }
        for (_, word) in fields.iter().filter(|(_, word)| *word != 0) {
            self.push_word(*word);
        }
        for tag in &change.tags {
            self.push_bytes(&(tag.len() as u16).to_le_bytes());
            self.push_bytes(tag);
        }
    }

    /// Ends a change.
    pub(crate) fn end_change(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.changes += 1;
    }

    /// Returns the bytes of the changes, without a head.
    pub(crate) fn body(&self) -> &[u8] {
        &self.bytes[HEAD..]
    }

    /// Returns the memory of the record, to append bytes to.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the body.
    pub(crate) fn seal(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.body = hash(&self.bytes[HEAD..]);
    }

    /// Returns the bytes of the record at this position.
    pub(crate) fn at(&mut self, id: u64, position: u64, synced: u64) -> &[u8] {
        let first = self.len() | self.kind << 32 | u64::from(self.changes) << 40;
        let check = fold(&[self.body, id, first, position, synced]);
        for (i, word) in [first, position, synced, check].into_iter().enumerate() {
            self.bytes[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        &self.bytes
    }
}

fn hash(body: &[u8]) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(changes: &[ChangeRecord<'_>]) -> Draft {
        let mut draft = Draft::default();
        draft.begin(Kind::Commit);
        for change in changes {
            draft.push_change(change);
        }
        draft.seal();
        draft
    }

    fn full<'a>(key: &'a [u8]) -> ChangeRecord<'a> {
        ChangeRecord {
            content: Content::Here(b"a value"),
            client: 7,
            expiry_ms: 1_795_000_000_000,
            version: 5,
            note: 0x85,
            marks: 0xFF_FFFF,
            tags: vec![b"user:7", b""],
            ..ChangeRecord::of(Op::Set, key)
        }
    }

    #[test]
    fn records_survive() {
        let large = ChangeRecord {
            content: Content::Pieces {
                first: 640,
                len: u32::MAX,
            },
            ..ChangeRecord::of(Op::Set, b"large")
        };
        let all = [
            full(b"k"),
            ChangeRecord::of(Op::Remove, b"gone"),
            ChangeRecord::of(Op::Invalidate, b"tag"),
            large,
        ];
        let mut draft = draft(&all);
        let bytes = draft.at(9, 4096, 64).to_vec();
        assert!(bytes.len().is_multiple_of(8));
        let record = RecordHead::decode(&bytes, 4096)
            .and_then(|head| head.verify(9, &bytes))
            .unwrap();
        assert_eq!((record.position, record.synced), (4096, 64));
        let mut found = Vec::new();
        record.each_change(|change, _| found.push(change)).unwrap();
        assert_eq!(found, all);
    }

    #[test]
    fn every_flipped_bit_and_every_other_place_shows() {
        let mut draft = draft(&[full(b"k"), ChangeRecord::of(Op::Remove, b"gone")]);
        let bytes = draft.at(9, 4096, 64).to_vec();
        let read = |bytes: &[u8], id, position| {
            RecordHead::decode(bytes, position)
                .and_then(|head| head.verify(id, bytes))
                .is_some()
        };
        assert!(read(&bytes, 9, 4096));
        assert!(!read(&bytes, 8, 4096) && !read(&bytes, 9, 4104));
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!read(&flipped, 9, 4096), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(!read(&bytes[..len], 9, 4096), "{len} bytes");
        }
    }
}
