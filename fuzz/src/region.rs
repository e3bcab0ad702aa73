//! A table's file with changed bytes: whatever they say, no panic, no access outside, no endless
//! loop; and once repaired, a clean table that takes writes.

use crate::image::{Area, Image};
use crate::op::{Op, many};
use crate::template::{hints, template, write_to};
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use rustix::fs::MemfdFlags;
use std::collections::HashSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use tavola::{Error, Hint, Table};

const MOST_CHANGES: usize = 24;
const MOST_OPS: usize = 40;

/// One change of some bytes.
#[derive(Arbitrary, Debug)]
struct Change {
    area: Area,
    at: u32,
    how: How,
}

#[derive(Arbitrary, Debug)]
enum How {
    Flip(u8),
    Byte(u8),
    Half(u32),
    Word(u64),
    /// Eight bytes of another place: words that mean something, where they do not belong.
    From(Area, u32),
}

impl Change {
    fn apply(&self, image: &mut Image) {
        let whole = template();
        let at = whole.place(self.area, self.at as usize);
        match self.how {
            How::Flip(bit) => {
                let byte = image.word32(at) as u8 ^ 1 << (bit % 8);
                image.put(at, &[byte]);
            }
            How::Byte(byte) => image.put(at, &[byte]),
            How::Half(half) => image.put(at & !3, &half.to_le_bytes()),
            How::Word(word) => image.put(at & !7, &word.to_le_bytes()),
            How::From(area, from) => {
                let from = whole.place(area, from as usize) & !7;
                image.put(at & !7, &image.word64(from).to_le_bytes());
            }
        }
    }
}

/// The file of memory that is damaged, and its path in this process.
fn file() -> &'static (File, PathBuf) {
    static FILE: OnceLock<(File, PathBuf)> = OnceLock::new();
    FILE.get_or_init(|| {
        let file = rustix::fs::memfd_create("tavola-fuzz", MemfdFlags::CLOEXEC);
        let file = File::from(file.expect("a file of memory"));
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        (file, path)
    })
}

/// Damages the table as the input says, uses it, repairs it and uses it again.
///
/// # Panics
/// When something is wrong with the library.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let mut image = template().clone();
    let count = usize::from(u8::arbitrary(&mut source).unwrap_or(0));
    for _ in 0..count % MOST_CHANGES {
        let Ok(change) = Change::arbitrary(&mut source) else {
            break;
        };
        change.apply(&mut image);
    }
    if count >= 128 {
        // As somebody would who wants to be believed.
        image.seal();
    }
    image.free_own_locks();
    let (file, path) = file();
    write_to(file, &image);
    within_limit(|| {
        let table = match Table::open(path) {
            Ok(table) => table,
            Err(Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }) => {
                return;
            }
            Err(error) => panic!("{error}"),
        };
        use_damaged(&table, &mut source);
    });
}

fn use_damaged(table: &Table, source: &mut Unstructured<'_>) {
    let mut told = hints().to_vec();
    for _ in 0..MOST_OPS {
        let Ok(op) = Op::arbitrary(source) else {
            break;
        };
        tolerate(play(table, &op, &mut told));
        if source.is_empty() {
            break;
        }
    }
    tolerate(table.check().map(drop));
    table.repair().expect("a repair");
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
    for entry in table.iter() {
        let (key, value) = entry.expect("an entry of a repaired table");
        let got = table.get(&key).expect("a key of a repaired table");
        assert!(got.as_ref() == Some(&value), "a walk and a get differ");
    }
    name_all(table);
    match table.set(b"after", b"all") {
        Ok(()) => assert_eq!(table.get(b"after").unwrap().unwrap(), b"all"),
        Err(Error::Full { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    let report = table.check().expect("a check");
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// Every key of a repaired table has a uid or gets one, unless there is no room, and the answers
/// by uid are those by key.
fn name_all(table: &Table) {
    let keys: Vec<_> = table.iter().map(|entry| entry.unwrap().0).collect();
    let mut uids = HashSet::new();
    for key in keys {
        let value = table.get(&key).expect("a key of a repaired table");
        let hint = match table.uid_of(&key) {
            Ok(hint) => hint.expect("a uid of a key that is there"),
            Err(Error::Full { .. }) => break,
            Err(error) => panic!("{error}"),
        };
        assert!(uids.insert(hint.uid()), "two keys have one uid");
        for asked in [hint, hint.uid().into()] {
            let named = table.get_by_uid(asked).expect("a uid of a repaired table");
            assert!(named == value, "the answers by uid and by key differ");
            assert_eq!(table.key_of_uid(asked).unwrap().as_ref(), Some(&key));
        }
        assert!(table.get(&key).unwrap() == value, "lost by its uid");
    }
}

/// Damage may be told; nothing else may go wrong.
fn tolerate(outcome: tavola::Result<()>) {
    match outcome {
        Ok(()) | Err(Error::Corrupt { .. } | Error::Full { .. } | Error::NotACounter) => {}
        Err(error) => panic!("{error}"),
    }
}

fn play(table: &Table, op: &Op, told: &mut Vec<Hint>) -> tavola::Result<()> {
    match op {
        Op::Get(key) => table.get(&key.bytes()).map(drop),
        Op::Contains(key) => table.contains(&key.bytes()).map(drop),
        Op::Set(key, value) => table.set(&key.bytes(), &value.bytes()),
        Op::Add(key, value) => table.add(&key.bytes(), &value.bytes()).map(drop),
        Op::Replace(key, value) => table.replace(&key.bytes(), &value.bytes()).map(drop),
        Op::Append(key, value) => table.append(&key.bytes(), &value.bytes()).map(drop),
        Op::Prepend(key, value) => table.prepend(&key.bytes(), &value.bytes()).map(drop),
        Op::Swap(key, value) => table.swap(&key.bytes(), &value.bytes()).map(drop),
        Op::Remove(key) => table.remove(&key.bytes()).map(drop),
        Op::Take(key) => table.take(&key.bytes()).map(drop),
        Op::Update(key, value) => {
            let turned = |old: Option<&[u8]>| old.is_none().then(|| value.bytes());
            table.update(&key.bytes(), turned).map(drop)
        }
        Op::Incr(key, by) => table.incr(&key.bytes(), *by).map(drop),
        Op::Decr(key, by) => table.decr(&key.bytes(), *by).map(drop),
        Op::CompareAndSwap(key, value, _) => match table.get_with_token(&key.bytes())? {
            Some((_, token)) => table
                .compare_and_swap(&key.bytes(), token, &value.bytes())
                .map(drop),
            None => Ok(()),
        },
        Op::SetMany(first, count) => {
            let pairs: Vec<_> = many(*first, *count)
                .into_iter()
                .map(|key| (key, key))
                .collect();
            table.set_many(&pairs)
        }
        Op::RemoveMany(first, count) => many(*first, *count)
            .iter()
            .try_for_each(|key| table.remove(key).map(drop)),
        Op::GetMany(first, count) => table.get_many(&many(*first, *count), |_, _| {}),
        Op::SetUid(key, value) => {
            told.push(table.set_uid(&key.bytes(), &value.bytes())?);
            Ok(())
        }
        Op::UidOf(key) => {
            told.extend(table.uid_of(&key.bytes())?);
            Ok(())
        }
        Op::GetByUid(uid) => table.get_by_uid(uid.hint(told)).map(drop),
        Op::SetByUid(uid, value) => table.set_by_uid(uid.hint(told), &value.bytes()).map(drop),
        Op::RemoveByUid(uid) => table.remove_by_uid(uid.hint(told)).map(drop),
        Op::KeyOfUid(uid) => table.key_of_uid(uid.hint(told)).map(drop),
        Op::SetUidMany(first, count) => many(*first, *count).iter().try_for_each(|key| {
            told.push(table.set_uid(key, key)?);
            Ok(())
        }),
        Op::Walk => table.iter().try_for_each(|entry| entry.map(drop)),
        Op::Check => table.check().map(drop),
        Op::Clear => table.clear(),
        Op::Maintain => table.maintain(1 << 20).map(drop),
        Op::Stats => table.stats().map(drop),
    }
}
