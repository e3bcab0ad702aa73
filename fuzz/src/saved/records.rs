//! The records of a saved file, taken apart and sealed again.
//!
//! Nearly every changed byte makes a check wrong, and the file is refused for that. So a file can
//! also be sealed after its records were changed: then the reader meets content that no table has
//! written. The checks are computed here a second time, from the description of the format; that
//! both sides agree is asserted with the file of a table.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};

/// Bytes of the file's head, and of a record's.
const FILE_HEAD: usize = 64;
const HEAD: usize = 32;
const SECRETS: RapidSecrets = RapidSecrets::seed(0x5461_766F_6C61);

/// A record without the words that say where it is.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) kind: u8,
    /// How many changes it says that it has.
    pub(super) changes: u32,
    pub(super) body: Vec<u8>,
}

/// A file.
#[derive(Clone)]
pub(super) struct File {
    /// The words of its head: magic, id, position, clock.
    pub(super) head: [u64; 4],
    pub(super) records: Vec<Record>,
}

fn word(bytes: &[u8], number: usize) -> u64 {
    let word = &bytes[8 * number..8 * number + 8];
    u64::from_le_bytes(word.try_into().expect("eight bytes"))
}

fn fold(words: &[u64]) -> u64 {
    words.iter().fold(0xCBF2_9CE4_8422_2325, |sum, word| {
        let sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        sum ^ sum >> 29
    })
}

impl File {
    /// Takes a whole file apart.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut records = Vec::new();
        let mut at = FILE_HEAD;
        while at < bytes.len() {
            let first = word(&bytes[at..], 0);
            let end = at + first as u32 as usize;
            records.push(Record {
                kind: (first >> 32) as u8,
                changes: (first >> 40) as u32,
                body: bytes[at + HEAD..end].to_vec(),
            });
            at = end;
        }
        Self {
            head: [0, 1, 2, 3].map(|number| word(bytes, number)),
            records,
        }
    }

    /// Returns the bytes of the file, with right positions and checks.
    pub(super) fn sealed(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        for word in self.head.iter().chain([&fold(&self.head)]) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.resize(FILE_HEAD, 0);
        let id = self.head[1];
        for record in &self.records {
            let mut body = record.body.clone();
            body.resize(body.len().next_multiple_of(8), 0);
            let hash = rapidhash_v3_inline::<true, false, false>(&body, &SECRETS);
            let len = (HEAD + body.len()) as u64;
            let first = len | u64::from(record.kind) << 32 | u64::from(record.changes) << 40;
            let position = bytes.len() as u64;
            let check = fold(&[hash, id, first, position, 0]);
            for word in [first, position, 0, check] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(body);
        }
        bytes
    }
}
