//! Frozen files: what was put is found, damage is noticed, bytes stay as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tavola_cdb::{Constant, Error, Followed, Format, Frozen, FrozenWriter, Keep, Put, Writer};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn directory() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = dir.path().join("file.frozen");
    (dir, path)
}

fn write(path: &Path, records: &Map) {
    let mut writer = FrozenWriter::create(path).unwrap();
    for (key, value) in records {
        writer.put(key, value).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), records.len() as u64);
}

fn read(frozen: &Frozen) -> Map {
    let records = frozen.records().map(Result::unwrap);
    records
        .map(|one| (one.key.to_vec().unwrap(), one.value.to_vec().unwrap()))
        .collect()
}

/// Keys and values of one length each.
fn uniform(count: u64, key: usize, value: usize) -> Map {
    let bytes = |n: u64, length: usize| {
        let all = n
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_be_bytes()
            .repeat(length / 8 + 1);
        all[..length].to_vec()
    };
    (0..count)
        .map(|n| (bytes(n, key), bytes(n ^ 7, value)))
        .collect()
}

/// Keys and values of many lengths.
fn varied(count: u64) -> Map {
    let key = |n: u64| {
        let mut key = n.to_string().into_bytes();
        key.resize(key.len() + (n as usize % 7) * (n as usize % 40), b'x');
        key
    };
    let value = |n: u64| vec![n as u8; n as usize * 37 % 500];
    (0..count).map(|n| (key(n), value(n))).collect()
}

fn assert_holds(path: &Path, records: &Map) {
    let frozen = Frozen::open(path).unwrap();
    assert_eq!(frozen.len(), records.len() as u64);
    for (key, value) in records {
        assert_eq!(
            frozen.get(key).unwrap().as_ref(),
            Some(value),
            "{}",
            key.escape_ascii()
        );
    }
    for absent in 0..2000u64 {
        let mut key = absent.to_le_bytes().to_vec();
        key.push(b'?');
        assert_eq!(frozen.get(&key).unwrap(), None);
        assert_eq!(
            frozen.get(&key[..8]).unwrap().is_some(),
            records.contains_key(&key[..8])
        );
    }
    assert_eq!(&read(&frozen), records);
    assert_eq!(frozen.check().unwrap(), records.len() as u64);
}

#[test]
fn what_is_put_is_found() {
    let mut many = vec![
        Map::new(),
        Map::from([(Vec::new(), Vec::new())]),
        Map::from([(Vec::new(), b"value".to_vec())]),
        Map::from([(b"key".to_vec(), Vec::new())]),
        varied(5000),
        varied(1),
    ];
    for (key, value) in [(8, 8), (1, 0), (3, 70), (20, 1), (8, 5000)] {
        many.push(uniform(if key == 1 { 200 } else { 3000 }, key, value));
    }
    for records in many {
        let (_dir, path) = directory();
        write(&path, &records);
        assert_holds(&path, &records);
    }
}

#[test]
fn a_small_record_takes_at_most_32_bytes() {
    let records = uniform(100_000, 8, 8);
    let (_dir, path) = directory();
    write(&path, &records);
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(bytes <= 32 * 100_000, "{bytes}");
}

#[test]
fn records_that_do_not_fit_into_the_memory_go_to_a_file() {
    let records = varied(5000);
    let (dir, path) = directory();
    let (_dir, whole) = directory();
    write(&whole, &records);
    let options = FrozenWriter::options()
        .memory_bytes(100_000)
        .sync(false)
        .mode(0o600);
    let mut writer = options.create(&path).unwrap();
    for (key, value) in &records {
        writer.put(key, value).unwrap();
    }
    writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), fs::read(&whole).unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_key_that_comes_again_has_its_last_value_or_its_first() {
    for (keep, wanted) in [(Keep::Last, 4u32), (Keep::First, 0)] {
        let (_dir, path) = directory();
        let mut writer = FrozenWriter::options().keep(keep).create(&path).unwrap();
        for round in 0..5u32 {
            for key in 0..1000u32 {
                writer
                    .put(key.to_le_bytes(), (round * 1000 + key).to_le_bytes())
                    .unwrap();
            }
        }
        assert_eq!(writer.finish().unwrap(), 1000);
        let expected = |key: u32| (wanted * 1000 + key).to_le_bytes().to_vec();
        let records = (0..1000u32).map(|key| (key.to_le_bytes().to_vec(), expected(key)));
        assert_holds(&path, &records.collect());
    }
}

/// The seed changes where keys are, and not which.
#[test]
fn the_same_records_and_seed_make_the_same_bytes() {
    let records = varied(500);
    let files = [0, 0, 1].map(|seed| {
        let (_dir, path) = directory();
        let mut writer = FrozenWriter::options().seed(seed).create(&path).unwrap();
        for (key, value) in &records {
            writer.put(key, value).unwrap();
        }
        writer.finish().unwrap();
        assert_holds(&path, &records);
        fs::read(&path).unwrap()
    });
    assert_eq!(files[0], files[1]);
    assert_ne!(files[0], files[2]);
}

/// Any byte that is changed is noticed: by what reads it, and by `check`.
#[test]
fn each_changed_byte_is_noticed() {
    for records in [uniform(100, 8, 8), varied(20)] {
        let (_dir, path) = directory();
        write(&path, &records);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let checked = Frozen::open(&path).and_then(|frozen| {
                for (key, value) in records.iter().take(20) {
                    if let Ok(found) = frozen.get(key) {
                        assert_eq!(found.as_ref(), Some(value), "a wrong answer, byte {at}");
                    }
                }
                frozen.check()
            });
            assert!(checked.is_err(), "byte {at} of {}", whole.len());
        }
        for bytes in 0..whole.len() {
            fs::write(&path, &whole[..bytes]).unwrap();
            let error = Frozen::open(&path).unwrap_err();
            assert!(
                matches!(error, Error::NotConstant { .. }),
                "{bytes}: {error}"
            );
        }
    }
}

#[test]
fn a_file_that_is_shortened_is_an_error() {
    let records = uniform(20_000, 8, 8);
    let (_dir, path) = directory();
    write(&path, &records);
    let frozen = Frozen::open(&path).unwrap();
    assert!(frozen.size_bytes() > 100_000);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(50_000).unwrap();
    for key in records.keys().take(1000) {
        assert!(matches!(frozen.get(key), Err(Error::Lost { .. })));
    }
    assert!(
        frozen
            .records()
            .any(|record| matches!(record, Err(Error::Lost { .. })))
    );
}

#[test]
fn an_open_file_follows_a_replaced_one_when_asked() {
    let (_dir, path) = directory();
    write(&path, &Map::from([(b"key".to_vec(), b"old".to_vec())]));
    let mut frozen = Frozen::open(&path).unwrap();
    let followed = Followed::every(Frozen::open(&path).unwrap(), std::time::Duration::ZERO);
    assert!(!frozen.refresh().unwrap());
    write(&path, &Map::from([(b"key".to_vec(), b"new".to_vec())]));
    assert_eq!(frozen.get("key").unwrap().unwrap(), b"old");
    assert_eq!(
        followed.current().unwrap().get("key").unwrap().unwrap(),
        b"new"
    );
    assert!(frozen.refresh().unwrap());
    assert_eq!(frozen.get("key").unwrap().unwrap(), b"new");
}

/// The file in its place has another format each time.
#[test]
fn a_constant_file_of_any_format_is_refreshed_and_followed() {
    let (_dir, path) = directory();
    let put_cdb = |format, value: &str| {
        let mut writer = Writer::options().format(format).create(&path).unwrap();
        writer.put("key", value, Put::Add).unwrap();
        writer.finish().unwrap();
    };
    put_cdb(Format::Cdb, "one");
    let mut file = Constant::open(&path).unwrap();
    let followed = Followed::every(Constant::open(&path).unwrap(), std::time::Duration::ZERO);
    let kept = followed.current().unwrap();
    assert!(!file.refresh().unwrap() && !followed.refresh().unwrap());
    write(&path, &Map::from([(b"key".to_vec(), b"two".to_vec())]));
    assert_eq!(file.get("key").unwrap().unwrap(), b"one");
    assert_eq!(
        followed.current().unwrap().get("key").unwrap().unwrap(),
        b"two"
    );
    assert!(file.refresh().unwrap() && matches!(file, Constant::Frozen(_)));
    put_cdb(Format::Cdb64, "three");
    assert_eq!(file.get("key").unwrap().unwrap(), b"two");
    assert!(file.refresh().unwrap() && !file.refresh().unwrap());
    assert!(matches!(&file, Constant::Cdb(cdb) if cdb.format() == Format::Cdb64));
    // What has the name and is no such file is an error, and the file of before stays open.
    fs::write(path.with_extension("other"), "no constant file").unwrap();
    fs::rename(path.with_extension("other"), &path).unwrap();
    assert!(matches!(file.refresh(), Err(Error::NotConstant { .. })));
    assert!(matches!(followed.current(), Err(Error::NotConstant { .. })));
    assert_eq!(file.get("key").unwrap().unwrap(), b"three");
    assert_eq!(kept.get("key").unwrap().unwrap(), b"one");
}

/// The bytes of a small file of version 1: a change of the format needs a new version.
#[test]
fn the_bytes_of_version_1_stay() {
    let (_dir, path) = directory();
    let records = Map::from([
        (b"one".to_vec(), b"Hello".to_vec()),
        (b"two".to_vec(), b"Hi".to_vec()),
    ]);
    write(&path, &records);
    let bytes = fs::read(&path).unwrap();
    // Head, groups of one record each, an index of 257 numbers, a sum.
    assert_eq!(
        bytes.len(),
        128 + (1 + 1 + 2 + 8) + (1 + 1 + 2 + 5) + 257 * 4 + 8
    );
    let lengths = [[3, 5], [3, 2]];
    for (record, lengths) in [&b"oneHello"[..], b"twoHi"].into_iter().zip(lengths) {
        let at = bytes
            .windows(record.len())
            .position(|part| part == record)
            .unwrap();
        // A count of one, a tag, two lengths.
        assert_eq!((bytes[at - 4], &bytes[at - 2..at]), (1, &lengths[..]));
    }
    // The checksum of the head covers that of the sums, which cover all else.
    let sum = u64::from_le_bytes(bytes[120..128].try_into().unwrap());
    assert_eq!(sum, 5_106_648_243_197_819_018);
}
