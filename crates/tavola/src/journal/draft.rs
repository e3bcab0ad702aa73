//! A record that is being written, in the form that `record` describes.

use super::record::{ChangeRecord, Content, EXPIRY, HEAD, Kind, MARKS, PIECES, VERSION, hash};
use crate::layout::fold;

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

#[cfg(test)]
mod tests {
    use super::super::record::{Op, RecordHead};
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
