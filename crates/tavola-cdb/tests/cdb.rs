//! Files of all cdb formats: what was put is found, and is as other programs have it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tavola_cdb::{Cdb, Error, Followed, Format, Put, Stream, Writer};

const FORMATS: [Format; 3] = [Format::Cdb, Format::Cdb64, Format::Cdb64Long];

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most))
            .map(|_| self.below(256) as u8)
            .collect()
    }
}

/// In memory, as some tests write thousands of files.
fn directory() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = dir.path().join("file.cdb");
    (dir, path)
}

fn write(path: &Path, format: Format, records: &[(&[u8], &[u8])], put: Put) {
    let mut writer = Writer::options().format(format).create(path).unwrap();
    for (key, value) in records {
        writer.put(key, value, put).unwrap();
    }
    writer.finish().unwrap();
}

fn values(cdb: &Cdb, key: &[u8]) -> Vec<Vec<u8>> {
    cdb.find(key)
        .map(|record| record.unwrap().value.to_vec().unwrap())
        .collect()
}

fn all(cdb: &Cdb) -> Vec<(Vec<u8>, Vec<u8>)> {
    let records = cdb.records().map(Result::unwrap);
    records
        .map(|one| (one.key.to_vec().unwrap(), one.value.to_vec().unwrap()))
        .collect()
}

#[test]
fn what_is_put_is_found_in_every_format() {
    for format in FORMATS {
        let (_dir, path) = directory();
        let (mut random, mut expected) = (Random(7), BTreeMap::new());
        let mut writer = Writer::options().format(format).create(&path).unwrap();
        for n in 0..5000u32 {
            let mut key = random.bytes(20);
            key.extend(n.to_be_bytes());
            let value = random.bytes(60);
            assert!(!writer.put(&key, &value, Put::Add).unwrap());
            expected.insert(key, value);
        }
        writer.finish().unwrap();
        let cdb = Cdb::open(&path).unwrap();
        assert_eq!(cdb.len(), 5000);
        for (key, value) in &expected {
            assert_eq!(cdb.get(key).unwrap().as_ref(), Some(value));
            let other = [&key[..], b"x"].concat();
            assert_eq!(cdb.get(&other).unwrap(), None);
        }
        assert_eq!(all(&cdb).into_iter().collect::<BTreeMap<_, _>>(), expected);
        assert_eq!(cdb.check().unwrap(), 5000);
        let wanted = match format {
            Format::Cdb => Format::Cdb,
            _ => Format::Cdb64,
        };
        assert_eq!(cdb.format(), wanted);
    }
}

#[test]
fn an_empty_file_has_no_keys() {
    for format in FORMATS {
        let (_dir, path) = directory();
        write(&path, format, &[], Put::Add);
        let cdb = Cdb::open(&path).unwrap();
        assert!(cdb.is_empty());
        assert_eq!(cdb.get("").unwrap(), None);
        assert_eq!(cdb.records().count(), 0);
        assert_eq!(cdb.check().unwrap(), 0);
    }
}

#[test]
fn puts_treat_a_key_that_is_there_as_they_say() {
    let puts = [
        (
            Put::Add,
            vec!["one", "two", "three"],
            vec!["one", "two", "three"],
        ),
        (
            Put::Warn,
            vec!["one", "two", "three"],
            vec!["one", "two", "three"],
        ),
        (Put::Insert, vec!["one"], vec!["one"]),
        (Put::Replace, vec!["three"], vec!["three"]),
        (Put::ReplaceZero, vec!["three"], vec!["", "", "three"]),
    ];
    for format in FORMATS {
        for (put, found, in_order) in &puts {
            let (_dir, path) = directory();
            let mut writer = Writer::options().format(format).create(&path).unwrap();
            for (round, value) in ["one", "two", "three"].into_iter().enumerate() {
                let was_there = writer.put("key", value, *put).unwrap();
                assert_eq!(was_there, round > 0 && *put != Put::Add, "{put:?}");
                assert!(writer.contains("key").unwrap());
                writer.put(format!("other {round}"), "x", *put).unwrap();
            }
            assert!(!writer.contains("kez").unwrap());
            writer.finish().unwrap();
            let cdb = Cdb::open(&path).unwrap();
            let text = |value: Vec<u8>| String::from_utf8(value).unwrap();
            let values: Vec<String> = values(&cdb, b"key").into_iter().map(text).collect();
            assert_eq!(&values, found, "{put:?}");
            let records = all(&cdb)
                .into_iter()
                .filter(|(key, _)| !key.starts_with(b"other"));
            let values: Vec<String> = records.map(|(_, value)| text(value)).collect();
            let values: Vec<&str> = values
                .iter()
                .map(|value| value.trim_matches('\0'))
                .collect();
            assert_eq!(&values, in_order, "{put:?}");
            assert_eq!(cdb.check().unwrap(), found.len() as u64 + 3);
        }
    }
}

/// Against a list, with few keys and long values, so that gaps arise everywhere.
#[test]
fn replacing_leaves_what_a_list_has() {
    for seed in 1..30 {
        let (_dir, path) = directory();
        let (mut random, mut list) = (Random(seed), Vec::<(Vec<u8>, Vec<u8>)>::new());
        let mut writer = Writer::create(&path).unwrap();
        for _ in 0..200 {
            let key = vec![random.below(12) as u8];
            let value = random.bytes(3000);
            match random.below(4) {
                0 => drop(writer.put(&key, &value, Put::Add).unwrap()),
                _ => {
                    writer.put(&key, &value, Put::Replace).unwrap();
                    list.retain(|(known, _)| known != &key);
                }
            }
            list.push((key, value));
        }
        writer.finish().unwrap();
        let cdb = Cdb::open(&path).unwrap();
        assert_eq!(all(&cdb), list);
        for key in 0..12 {
            let of_key = list.iter().filter(|(known, _)| known == &[key]);
            let expected: Vec<Vec<u8>> = of_key.map(|(_, value)| value.clone()).collect();
            assert_eq!(values(&cdb, &[key]), expected);
        }
        assert_eq!(cdb.check().unwrap(), list.len() as u64);
    }
}

/// Hashes in 64 bits: `cdblib` of Python keeps 32 bits of them, `cdb64` of Go all.
#[test]
fn bytes_of_a_file_are_as_other_programs_write_them() {
    let (_dir, path) = directory();
    write(&path, Format::Cdb64, &[(b"hello world", b"x")], Put::Add);
    let bytes = fs::read(&path).unwrap();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let hash = u64::from(tavola_cdb::hash(b"hello world"));
    let table = (hash % 256) as usize * 16;
    assert_eq!((number(table), number(table + 8)), (4096 + 16 + 12, 2));
    assert_eq!((number(4096), number(4104)), (11, 1));
    let slot = 4096 + 16 + 12 + (hash >> 8) as usize % 2 * 16;
    assert_eq!((number(slot), number(slot + 8)), (hash, 4096));
    assert_eq!(bytes.len(), 4096 + 16 + 12 + 32);
    let before = bytes;
    write(
        &path,
        Format::Cdb64Long,
        &[(b"hello world", b"x")],
        Put::Add,
    );
    assert_ne!(fs::read(&path).unwrap(), before);
}

/// The records of the files in `data`.
fn records_of_data() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut records: Vec<(Vec<u8>, Vec<u8>)> = vec![
        (b"one".to_vec(), b"Hello".to_vec()),
        (b"two".to_vec(), Vec::new()),
        (Vec::new(), b"empty key".to_vec()),
        (b"many".to_vec(), b"1".to_vec()),
        (b"many".to_vec(), b"2".to_vec()),
        (b"many".to_vec(), b"3".to_vec()),
        ((0..=255).collect(), (0..=255).rev().collect()),
    ];
    records.extend((0..20).map(|n| (format!("key {n}").into_bytes(), vec![b'v'; n])));
    records
}

/// Files that other programs made: each record is found, and our writer makes the same bytes.
#[test]
fn files_of_other_programs_are_read_and_made_alike() {
    for (name, format) in [
        ("pure-cdb-4.0.0.cdb64", Format::Cdb64),
        ("go-cdb64-1320fef.cdb64", Format::Cdb64Long),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let theirs = path.join(name);
        let cdb = Cdb::open(&theirs).unwrap();
        let records = records_of_data();
        assert_eq!(all(&cdb), records, "{name}");
        assert_eq!(cdb.check().unwrap(), records.len() as u64);
        for (key, _) in &records {
            let of_key = records.iter().filter(|(known, _)| known == key);
            let expected: Vec<Vec<u8>> = of_key.map(|(_, value)| value.clone()).collect();
            assert_eq!(values(&cdb, key), expected, "{name}: {key:?}");
        }
        assert!(values(&cdb, b"missing").is_empty());
        let (_dir, ours) = directory();
        let pairs = records.iter().map(|(key, value)| (&key[..], &value[..]));
        write(&ours, format, &pairs.collect::<Vec<_>>(), Put::Add);
        assert_eq!(
            fs::read(&ours).unwrap(),
            fs::read(&theirs).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for format in FORMATS {
        let (_dir, path) = directory();
        write(&path, format, &[(b"one", b"1"), (b"two", b"2")], Put::Add);
        let whole = fs::read(&path).unwrap();
        for bytes in 0..whole.len() {
            fs::write(&path, &whole[..bytes]).unwrap();
            let error = Cdb::open(&path).unwrap_err();
            assert!(
                matches!(error, Error::NotConstant { .. }),
                "{bytes}: {error}"
            );
        }
        fs::write(&path, [&whole[..], b"garbage"].concat()).unwrap();
        assert_eq!(Cdb::open(&path).unwrap().get("two").unwrap().unwrap(), b"2");
    }
}

/// Any byte may be wrong: reads end, with an answer or an error.
#[test]
fn damage_is_an_answer_or_an_error() {
    let mut errors = 0;
    for format in FORMATS {
        let (_dir, path) = directory();
        let records: [(&[u8], &[u8]); 3] = [(b"one", b"1"), (b"two", b"2"), (b"one", b"3")];
        write(&path, format, &records, Put::Add);
        let whole = fs::read(&path).unwrap();
        let record = format == Format::Cdb;
        let from = if record { 2048 } else { 4096 };
        for at in from..whole.len() {
            for change in [1, 128, 255] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                fs::write(&path, &bytes).unwrap();
                let cdb = Cdb::open_as(&path, format).unwrap();
                for key in ["one", "two", "three"] {
                    errors += cdb.find(key.as_bytes()).filter(Result::is_err).count();
                }
                errors += cdb.records().filter(Result::is_err).count();
                errors += usize::from(cdb.check().is_err());
            }
        }
    }
    assert!(errors > 100, "{errors}");
}

#[test]
fn an_open_file_follows_a_replaced_one_when_asked() {
    let (_dir, path) = directory();
    write(&path, Format::Cdb, &[(b"key", b"old")], Put::Add);
    let mut cdb = Cdb::open(&path).unwrap();
    let at_once = Followed::every(Cdb::open(&path).unwrap(), std::time::Duration::ZERO);
    let in_an_hour = Followed::every(
        Cdb::open(&path).unwrap(),
        std::time::Duration::from_secs(3600),
    );
    assert!(!cdb.refresh().unwrap());
    write(&path, Format::Cdb64, &[(b"key", b"new")], Put::Add);
    assert_eq!(cdb.get("key").unwrap().unwrap(), b"old");
    assert_eq!(
        in_an_hour.current().unwrap().get("key").unwrap().unwrap(),
        b"old"
    );
    let before = at_once.current().unwrap();
    assert_eq!(before.get("key").unwrap().unwrap(), b"new");
    assert!(cdb.refresh().unwrap());
    assert_eq!(cdb.get("key").unwrap().unwrap(), b"new");
    fs::remove_file(&path).unwrap();
    assert!(cdb.refresh().is_err());
    assert!(at_once.current().is_err());
    assert_eq!(cdb.get("key").unwrap().unwrap(), b"new");
}

#[test]
fn a_stream_has_what_the_file_has() {
    for format in FORMATS {
        let (_dir, path) = directory();
        let records: Vec<_> = (0..500u32)
            .map(|n| (n.to_le_bytes(), vec![7; n as usize]))
            .collect();
        let borrowed: Vec<_> = records
            .iter()
            .map(|(key, value)| (&key[..], &value[..]))
            .collect();
        write(&path, format, &borrowed, Put::Add);
        let file = fs::File::open(&path).unwrap();
        let mut stream = Stream::new(file, &path, format).unwrap();
        for (key, value) in &borrowed {
            assert_eq!(stream.next_record().unwrap(), Some((*key, *value)));
        }
        assert_eq!(stream.next_record().unwrap(), None);
        let slots = stream.read_slots().unwrap();
        assert_eq!(slots.slots, 1000);
        assert_eq!(slots.distances.iter().sum::<u64>(), 500);
        let whole = fs::read(&path).unwrap();
        let cut = Stream::new(&whole[..whole.len() / 2], &path, format);
        let mut stream = cut.unwrap();
        let error = loop {
            match stream.next_record() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the end was not noticed"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::System { .. }), "{error}");
    }
}
