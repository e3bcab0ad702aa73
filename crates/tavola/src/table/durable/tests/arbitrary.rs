//! Records whose checks are right and whose content is arbitrary: an error, or a table that is
//! whole. (Arbitrary bytes as files are the fuzz target `durable`.)

use super::{SEGMENT, contents, create, home_of, open};
use crate::engine::OnDamage;
use crate::journal::{ChangeRecord, Content, Draft, Home, Kind, Op, TABLE, name_of, snapshot_name};
use crate::sys::disk::HomeDir;
use crate::sys::disk::simulated::{SimulatedHome, count_of};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// A number that is small, at a limit, or anything.
    fn any(&mut self) -> u64 {
        match self.below(4) {
            0 => self.below(4),
            1 => u64::MAX - self.below(3),
            2 => 1 << self.below(64),
            _ => self.below(u64::MAX >> 34),
        }
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let len = self.below(most);
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

const OPS: [Op; 5] = [
    Op::Set,
    Op::Remove,
    Op::Value,
    Op::Attributes,
    Op::Invalidate,
];

/// A record of some kind, at this position of a journal.
fn record(numbers: &mut Numbers, position: u64) -> Vec<u8> {
    let mut draft = Draft::default();
    match numbers.below(8) {
        0 => {
            draft.begin(Kind::Piece);
            draft.push_word([0, position, numbers.any()][numbers.below(3) as usize]);
            draft.push_bytes(&numbers.bytes(200));
        }
        1 => {
            draft.begin(if numbers.below(2) == 0 {
                Kind::Clock
            } else {
                Kind::Foot
            });
            (0..numbers.below(4)).for_each(|_| draft.push_word(numbers.any()));
        }
        2 => {
            // Not made of changes.
            draft.begin(Kind::Commit);
            draft.push_bytes(&numbers.bytes(60));
        }
        _ => changes(numbers, &mut draft),
    }
    draft.seal();
    let mut bytes = draft.at(home_of().id, position, 0).to_vec();
    if numbers.below(10) == 0 {
        // Sealed with something else in the body.
        let at = 32 + numbers.below((bytes.len() as u64 - 32).max(1)) as usize;
        if at < bytes.len() {
            bytes[at] ^= 1 << numbers.below(8);
            let body = bytes[32..].to_vec();
            let mut draft = Draft::default();
            draft.begin(Kind::Commit);
            draft.push_bytes(&body);
            draft.seal();
            bytes = draft.at(home_of().id, position, 0).to_vec();
        }
    }
    bytes
}

fn changes(numbers: &mut Numbers, draft: &mut Draft) {
    draft.begin(Kind::Commit);
    for _ in 0..numbers.below(4) {
        let (key, value) = (numbers.bytes(6), numbers.bytes(80));
        let tags = [numbers.bytes(4), numbers.bytes(300)];
        let mut change = ChangeRecord::of(OPS[numbers.below(5) as usize], &key);
        change.content = match numbers.below(4) {
            0 => Content::Pieces {
                first: numbers.any(),
                len: numbers.any() as u32,
            },
            _ => Content::Here(&value),
        };
        (change.client, change.marks) = (numbers.any() as u32, numbers.any() as u32);
        (change.expiry_ms, change.version) = (numbers.any(), numbers.any());
        let count = numbers.below(3) as usize;
        change.tags = tags[..count].iter().map(Vec::as_slice).collect();
        draft.push_change(&change);
    }
}

fn judge(home: &SimulatedHome, what: &str) -> bool {
    let mut is_open = false;
    for damage in [OnDamage::Refuse, OnDamage::Cut] {
        let left = SimulatedHome::from_image(home.image(), Vec::new());
        let Ok(table) = open(&left, damage) else {
            continue;
        };
        is_open = true;
        let report = table.check().unwrap();
        assert!(report.is_clean(), "{what}: {:?}", report.problems);
        let found = contents(&table);
        table.set("after", "1").unwrap();
        drop(table);
        let table = open(&left, OnDamage::Refuse).unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut again = contents(&table);
        again.remove(b"after".as_slice());
        let mut found = found;
        found.remove(b"after".as_slice());
        assert_eq!(again, found, "{what}");
    }
    is_open
}

#[test]
fn records_of_arbitrary_content_are_refused_or_make_a_table() {
    let start = SimulatedHome::new();
    drop(create(&start).unwrap());
    let mut opened = 0;
    for seed in 0..count_of(1500, 150) as u64 {
        let mut numbers = Numbers(seed);
        let home = SimulatedHome::from_image(start.image(), Vec::new());
        let mut bytes = Vec::new();
        while bytes.len() < 900 {
            let position = 2 * SEGMENT + bytes.len() as u64;
            bytes.extend(record(&mut numbers, position));
            if numbers.below(3) == 0 {
                break;
            }
        }
        bytes.truncate(SEGMENT as usize);
        let file = home.open(&name_of(2)).unwrap();
        file.write_all_at(&bytes, 4096).unwrap();
        opened += u32::from(judge(&home, &format!("seed {seed}")));
    }
    assert!(opened > count_of(200, 10) as u32, "{opened} were opened");
}

/// The same bytes as a snapshot, with a head that is right.
#[test]
fn snapshots_of_arbitrary_content_are_refused_or_make_a_table() {
    let start = SimulatedHome::new();
    let table = create(&start).unwrap();
    table.snapshot().unwrap();
    drop(table);
    let name = snapshot_name(2 * SEGMENT);
    let mut opened = 0;
    for seed in 0..count_of(1000, 100) as u64 {
        let mut numbers = Numbers(seed);
        let home = SimulatedHome::from_image(start.image(), Vec::new());
        let mut bytes = Vec::new();
        for _ in 0..numbers.below(5) {
            bytes.extend(record(&mut numbers, 64 + bytes.len() as u64));
        }
        if numbers.below(3) > 0 {
            let mut foot = Draft::default();
            foot.begin(Kind::Foot);
            for word in [2 * SEGMENT, numbers.any(), numbers.any()] {
                foot.push_word(word);
            }
            foot.seal();
            let at = 64 + bytes.len() as u64;
            bytes.extend(foot.at(home_of().id, at, 0));
        }
        let file = home.open(&name).unwrap();
        file.write_all_at(&bytes, 64).unwrap();
        opened += u32::from(judge(&home, &format!("seed {seed}")));
    }
    assert!(opened > count_of(50, 2) as u32, "{opened} were opened");
}

/// A file `table` whose checksum is right, and whose numbers are arbitrary.
#[test]
fn options_of_arbitrary_content_are_refused_or_make_a_table() {
    let start = SimulatedHome::new();
    drop(create(&start).unwrap());
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let home = SimulatedHome::from_image(start.image(), Vec::new());
        let lengths = (numbers.below(70_000) as u32, numbers.any() as u32);
        let strange = Home {
            max_size: [4 << 20, numbers.below(64 << 20)][numbers.below(2) as usize],
            segment: [SEGMENT, numbers.any() % (1 << 22)][numbers.below(2) as usize].max(1),
            shards: numbers.any() as u32,
            fixed: (numbers.below(2) == 0).then_some((lengths.0, lengths.1, seed % 2 == 0)),
            ttl_ms: numbers.any(),
            ..home_of()
        };
        strange.write(&home).unwrap();
        assert!(home.image().contains_key(TABLE));
        let _ = open(&home, OnDamage::Refuse).map(|table| {
            let _ = table.set("key", "1");
            let _ = contents(&table);
        });
    }
}
