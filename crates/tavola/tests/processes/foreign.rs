//! Files that are no table, or another's: each is refused with an error that says what it is,
//! and left as it was.

use crate::support::format::Image;
use crate::support::part::{Actor, End, play, repeat_until_a_line_comes, say};
use crate::support::patience::{HANG_S, Watch};
use crate::support::process::{alarm, make_fifo};
use crate::support::{Dir, Random};
use std::os::unix::net::UnixListener;
use std::path::Path;
use tavola::{Error, Table, names};

/// A table of 1 MiB with some keys, and its bytes.
fn template(dir: &Dir) -> Image {
    let path = dir.table("template");
    let table = Table::options().max_size(1 << 20).create(&path).unwrap();
    for number in 0..500u32 {
        table.set(number.to_le_bytes(), b"some value").unwrap();
    }
    drop(table);
    Image::read(&path)
}

/// What the three ways to open a file say; they must agree.
fn refusal(path: &Path) -> Error {
    let read_only = Table::open_read_only(path).unwrap_err();
    let existing = Table::options().open_existing(path).unwrap_err();
    let either = Table::open(path).unwrap_err();
    for error in [&read_only, &existing] {
        assert_eq!(
            std::mem::discriminant(error),
            std::mem::discriminant(&either),
            "{error} — {either}"
        );
    }
    // Only what begins as a table is reported as one.
    let bytes = std::fs::read(path).unwrap();
    let is_table = bytes.starts_with(b"TavolaKV") || bytes.starts_with(b"VKalovaT");
    match Table::create(path) {
        Err(Error::AlreadyExists { .. }) => assert!(is_table && bytes.len() >= 8),
        Err(Error::NotATable { .. }) => assert!(!is_table),
        other => panic!("{other:?}"),
    }
    assert!(path.symlink_metadata().is_ok(), "the file is gone");
    either
}

fn refusal_of(dir: &Dir, bytes: &[u8]) -> Error {
    let path = dir.table("f");
    std::fs::write(&path, bytes).unwrap();
    let error = refusal(&path);
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the file was changed");
    error
}

#[test]
fn files_of_another_kind_are_no_tables() {
    let dir = Dir::new();
    let mut random = Random::new(1);
    let text = "Not a table.\n".repeat(10_000);
    let empty_table = vec![0; 1 << 20];
    let noise = random.bytes(1 << 16);
    for bytes in [
        &b""[..],
        b"T",
        b"TavolaKV",
        text.as_bytes(),
        &empty_table,
        &noise,
    ] {
        let error = refusal_of(&dir, bytes);
        assert!(matches!(error, Error::NotATable { .. }), "{error:?}");
    }
}

#[test]
fn a_table_cut_short_is_no_table() {
    let dir = Dir::new();
    let image = template(&dir);
    let mut random = Random::new(2);
    let steps = (0..64).map(|step| step * 4096);
    let anywhere = (0..200).map(|_| random.below(image.bytes.len() as u64) as usize);
    for len in steps.chain(anywhere).chain([image.bytes.len() - 1]) {
        let error = refusal_of(&dir, &image.bytes[..len]);
        assert!(matches!(error, Error::NotATable { .. }), "{len}: {error:?}");
    }
}

/// Zeroes where the file was cut and made as long again: the superblock is right, the rest is gone.
#[test]
fn a_table_cut_and_extended_says_so_or_is_empty() {
    let dir = Dir::new();
    let image = template(&dir);
    let path = dir.table("f");
    for step in 1..image.bytes.len() / 4096 {
        let mut bytes = image.bytes.clone();
        bytes[step * 4096..].fill(0);
        std::fs::write(&path, &bytes).unwrap();
        let table = Table::open(&path).unwrap();
        for number in 0..500u32 {
            match table.get(number.to_le_bytes()) {
                Ok(None) | Err(Error::Corrupt { .. }) => {}
                // The cut may go through a value, which has no checksum.
                Ok(Some(value)) => {
                    let own = b"some value";
                    let kept = value
                        .iter()
                        .zip(own)
                        .take_while(|(is, was)| is == was)
                        .count();
                    assert!(value.len() == own.len() && value[kept..].iter().all(|b| *b == 0));
                }
                Err(error) => panic!("{error}"),
            }
        }
        table.repair().unwrap();
        let report = table.check().unwrap();
        assert!(
            report.is_clean(),
            "cut at page {step}: {:?}",
            report.problems
        );
        table.set(b"new", b"value").unwrap();
    }
}

/// Sets the checksum right, as somebody would who wants to be believed.
fn sign(image: &mut Image) {
    let mut sum = 0xCBF2_9CE4_8422_2325u64;
    let wide = |at: u64, image: &Image| image.word64(at);
    let narrow = |at: u64, image: &Image| u64::from(image.word32(at));
    let mut words = vec![wide(0, image), narrow(8, image), narrow(12, image)];
    words.extend([wide(16, image), wide(24, image)]);
    words.extend([32, 36, 40, 44].map(|at| narrow(at, image)));
    words.extend((48..120).step_by(8).map(|at| wide(at, image)));
    for word in words {
        sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        sum ^= sum >> 29;
    }
    image.bytes[120..128].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn the_checksum_written_down_here_is_the_library_s() {
    let dir = Dir::new();
    let mut image = template(&dir);
    let before = image.bytes.clone();
    sign(&mut image);
    assert_eq!(image.bytes, before);
}

#[test]
fn another_format_is_reported_with_its_version() {
    let dir = Dir::new();
    let mut image = template(&dir);
    for version in [0u32, 1, 77, u32::MAX] {
        image.bytes[12..16].copy_from_slice(&version.to_le_bytes());
        sign(&mut image);
        match refusal_of(&dir, &image.bytes) {
            Error::Version {
                found, expected: 2, ..
            } => assert_eq!(found, version),
            error => panic!("{error:?}"),
        }
    }
}

#[test]
fn the_other_byte_order_is_reported() {
    let dir = Dir::new();
    let mut image = template(&dir);
    for (at, len) in [(0, 8), (8, 4), (12, 4), (16, 8), (24, 8), (32, 4), (36, 4)] {
        image.bytes[at..at + len].reverse();
    }
    let error = refusal_of(&dir, &image.bytes);
    assert!(matches!(error, Error::Endianness { .. }), "{error:?}");
}

/// Every bit of what never changes; those that the checksum covers twice: as they fell, and signed.
#[test]
fn no_changed_bit_of_the_identity_is_believed() {
    let dir = Dir::new();
    let original = template(&dir);
    let path = dir.table("f");
    for bit in 0..128 * 8 {
        let mut image = Image {
            bytes: original.bytes.clone(),
        };
        image.flip(bit / 8, (bit % 8) as u32);
        let error = refusal_of(&dir, &image.bytes);
        let fits = matches!(
            error,
            Error::NotATable { .. } | Error::Version { .. } | Error::Endianness { .. }
        );
        assert!(fits, "bit {bit}: {error:?}");
        sign(&mut image);
        std::fs::write(&path, &image.bytes).unwrap();
        // A signed change of seed, uuid or time is a table like any other, without those keys; so
        // is one of the room, which the file's length does not show.
        let harmless = bit >= 44 * 8 || (24 * 8..32 * 8).contains(&bit);
        match Table::open(&path) {
            Ok(table) if harmless => {
                let _ = table.get(7u32.to_le_bytes());
                table.repair().unwrap();
                assert!(table.check().unwrap().is_clean());
            }
            Ok(_) => panic!("bit {bit} was believed"),
            Err(error) => assert!(!matches!(error, Error::Io { .. }), "bit {bit}: {error:?}"),
        }
    }
}

/// Sizes and counts that somebody signed who means harm.
#[test]
fn an_impossible_geometry_is_refused() {
    let dir = Dir::new();
    for (at, word) in [
        (24, 0u64),
        (24, 1),
        (24, 1 << 44),
        (24, u64::MAX),
        (24, (1 << 20) + (1 << 14)),
        (24, 16384),
    ] {
        let mut image = template(&dir);
        image.bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        sign(&mut image);
        let error = refusal_of(&dir, &image.bytes);
        assert!(
            matches!(error, Error::NotATable { .. }),
            "{word}: {error:?}"
        );
        std::fs::remove_file(dir.table("template")).unwrap();
    }
    for (at, word) in [
        (32, 11u32),
        (32, 31),
        (32, u32::MAX),
        (36, 25),
        (36, 0),
        (40, 0),
    ] {
        let mut image = template(&dir);
        image.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        sign(&mut image);
        let error = refusal_of(&dir, &image.bytes);
        assert!(matches!(error, Error::NotATable { .. }), "{at}: {error:?}");
        std::fs::remove_file(dir.table("template")).unwrap();
    }
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let dir = Dir::new();
    let _watch = Watch::begin();
    let folder = dir.table("folder");
    std::fs::create_dir(&folder).unwrap();
    let fifo = dir.table("fifo");
    make_fifo(&fifo);
    let socket = dir.table("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    for path in [&folder, &fifo, &socket] {
        for error in [
            Table::open_read_only(path).unwrap_err(),
            Table::options().open_existing(path).unwrap_err(),
            Table::open(path).unwrap_err(),
            Table::create(path).unwrap_err(),
            names::remove(path).unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::NotATable { .. }),
                "{path:?}: {error:?}"
            );
        }
        let kind = path.file_name().unwrap().to_str().unwrap();
        let kind = kind.replace("folder", "directory").replace("fifo", "FIFO");
        let sentence = Table::create(path).unwrap_err().to_string();
        assert!(sentence.contains(&format!("it is a {kind}")), "{sentence}");
        assert!(path.exists());
    }
}

/// No advice to remove a file that may be anything.
#[test]
fn a_file_that_is_not_a_table_is_not_to_be_removed() {
    let error = Table::open_read_only("/etc/passwd").unwrap_err();
    assert!(matches!(error, Error::NotATable { .. }), "{error:?}");
    let sentence = error.to_string();
    assert!(
        !sentence.contains("remove") && !sentence.contains("drop"),
        "{sentence}"
    );
}

#[test]
fn links_are_followed_and_loops_are_refused() {
    use std::os::unix::fs::symlink;
    let dir = Dir::new();
    let table = Table::options()
        .max_size(1 << 20)
        .create(dir.table("t"))
        .unwrap();
    table.set(b"key", b"value").unwrap();
    symlink(dir.table("t"), dir.table("link")).unwrap();
    let linked = Table::open(dir.table("link")).unwrap();
    assert_eq!(linked.get(b"key").unwrap().unwrap(), b"value");
    symlink(dir.table("loop"), dir.table("loop")).unwrap();
    assert!(Table::open(dir.table("loop")).is_err());
    symlink(dir.table("nowhere"), dir.table("dangling")).unwrap();
    let error = Table::open_read_only(dir.table("dangling")).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error:?}");
    // No table can be made there, which is said by what is there.
    for outcome in [
        Table::open(dir.table("dangling")),
        Table::create(dir.table("dangling")),
    ] {
        let sentence = outcome.unwrap_err().to_string();
        assert!(sentence.contains("link to a missing file"), "{sentence}");
    }
}

/// An actor: reads a table until it is asked to end.
fn reader(args: &[String]) {
    alarm(HANG_S);
    let table = Table::open_read_only(&args[0]).unwrap();
    // The first look maps the table; of a file that was cut before, it says so.
    table.check().unwrap();
    say("reading");
    repeat_until_a_line_comes(|_| {
        let _ = table.check();
    });
    // Told at once: it reads what is left of the file anyway.
    let _ = table.check();
}

/// The file shrinks while it is in use: nothing but the system's signal can come of that, for the
/// process that reads on and no other. The file made whole again serves the next one.
#[test]
fn a_file_cut_while_it_is_read_ends_that_reader_alone() {
    play(&[("reader", reader)]);
    let test = "a_file_cut_while_it_is_read_ends_that_reader_alone";
    let dir = Dir::new();
    let image = template(&dir);
    let path = dir.table("f");
    image.write(&path);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for pages in [0, 1, 3, 10] {
        let mut actor = Actor::start(test, "reader", &[path.to_str().unwrap()]);
        assert_eq!(actor.hear(), "reading");
        file.set_len(4096 * pages).unwrap();
        assert_eq!(actor.end(), End::Signal(libc::SIGBUS));
        image.write(&path);
    }
    let table = Table::open(&path).unwrap();
    assert!(table.check().unwrap().is_clean());
    assert_eq!(
        table.get(7u32.to_le_bytes()).unwrap().unwrap(),
        b"some value"
    );
}
