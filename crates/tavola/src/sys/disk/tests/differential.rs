//! The real disk and the simulated one give the same answers to the same calls.

use super::super::simulated::SimulatedHome;
use super::super::simulated::choice::RandomChoice;
use super::super::{DiskFile, HomeDir, RealHome};
use crate::sys::testing::TempDir;
use std::io;
use std::sync::Arc;

fn real_home() -> (TempDir, RealHome) {
    let dir = TempDir::new();
    let home = RealHome::of_mode(&dir.path(""), 0o600).unwrap();
    (dir, home)
}

/// Runs `body` on a simulated home and on a real one.
fn on_both(body: impl Fn(&dyn HomeDir)) {
    body(&SimulatedHome::new());
    let (_dir, home) = real_home();
    body(&home);
}

fn read_all(file: &dyn DiskFile) -> Vec<u8> {
    let mut bytes = vec![0; file.len().unwrap() as usize + 1];
    let count = file.read_at(&mut bytes, 0).unwrap();
    bytes.truncate(count);
    bytes
}

fn sorted_names(home: &dyn HomeDir) -> Vec<String> {
    let mut names = home.names().unwrap();
    names.sort();
    names
}

fn errno<T>(result: io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn a_file_has_what_was_written_and_zeros_between() {
    on_both(|home| {
        let file = home.create("a").unwrap();
        assert_eq!(file.len().unwrap(), 0);
        file.write_all_at(b"end", 1000).unwrap();
        file.write_all_at(b"begin", 0).unwrap();
        file.write_all_at(b"", 5000).unwrap();
        assert_eq!(file.len().unwrap(), 1003);
        let bytes = read_all(&*home.open("a").unwrap());
        assert_eq!(bytes[..5], *b"begin");
        assert!(bytes[5..1000].iter().all(|byte| *byte == 0));
        assert_eq!(bytes[1000..], *b"end");
    });
}

#[test]
fn a_read_is_short_only_at_the_end() {
    on_both(|home| {
        let file = home.create("a").unwrap();
        file.write_all_at(&[7; 100], 0).unwrap();
        let mut out = [1; 60];
        assert_eq!(file.read_at(&mut out, 20).unwrap(), 60);
        assert_eq!(out, [7; 60]);
        assert_eq!(file.read_at(&mut out, 90).unwrap(), 10);
        assert_eq!(file.read_at(&mut out, 100).unwrap(), 0);
        assert_eq!(file.read_at(&mut out, 5000).unwrap(), 0);
    });
}

#[test]
fn names_that_exist_or_are_missing_are_refused() {
    on_both(|home| {
        home.create("a").unwrap();
        assert_eq!(errno(home.create("a")), Some(libc::EEXIST));
        assert_eq!(errno(home.open("b")), Some(libc::ENOENT));
        assert_eq!(errno(home.rename("b", "a")), Some(libc::ENOENT));
        assert_eq!(errno(home.remove("b")), Some(libc::ENOENT));
        assert_eq!(sorted_names(home), ["a"]);
    });
}

#[test]
fn a_rename_replaces_and_an_open_file_stays() {
    on_both(|home| {
        let (a, b) = (home.create("a").unwrap(), home.create("b").unwrap());
        a.write_all_at(b"a", 0).unwrap();
        b.write_all_at(b"b", 0).unwrap();
        home.rename("a", "a").unwrap();
        home.rename("a", "b").unwrap();
        assert_eq!(sorted_names(home), ["b"]);
        assert_eq!(read_all(&*home.open("b").unwrap()), b"a");
        b.write_all_at(b"still there", 0).unwrap();
        b.sync_data().unwrap();
        assert_eq!(read_all(&*b), b"still there");
        home.remove("b").unwrap();
        a.write_all_at(b"too", 1).unwrap();
        assert_eq!(read_all(&*a), b"atoo");
        home.sync().unwrap();
        assert_eq!(sorted_names(home).len(), 0);
    });
}

#[test]
fn a_home_is_used_by_threads() {
    on_both(|home| {
        let file = home.create("a").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let file = file.clone();
                scope.spawn(move || {
                    for round in 0..50 {
                        let offset = (round * 4 + u64::from(thread)) * 10;
                        file.write_all_at(&[thread + 1; 10], offset).unwrap();
                        file.sync_data().unwrap();
                    }
                });
            }
        });
        let bytes = read_all(&*file);
        assert_eq!(bytes.len(), 2000);
        for (at, byte) in bytes.iter().enumerate() {
            assert_eq!(usize::from(*byte), at / 10 % 4 + 1);
        }
    });
}

#[test]
fn a_real_home_is_a_directory_and_gives_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new();
    let missing = RealHome::of_mode(&dir.path("missing"), 0o600);
    assert_eq!(errno(missing), Some(libc::ENOENT));
    let home = RealHome::of_mode(&dir.path(""), 0o600).unwrap();
    home.create("a").unwrap();
    let mode = std::fs::metadata(dir.path("a")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    assert_eq!(
        errno(RealHome::of_mode(&dir.path("a"), 0o600)),
        Some(libc::ENOTDIR)
    );
}

/// The files that were opened on both disks, in the same order.
type OpenFiles = Vec<(Arc<dyn DiskFile>, Arc<dyn DiskFile>)>;

/// Makes one random call on both disks, and compares the answers.
fn make_call(
    random: &mut RandomChoice,
    simulated: &SimulatedHome,
    real: &RealHome,
    files: &mut OpenFiles,
) {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let [name, to] = [(); 2].map(|()| NAMES[random.below(4) as usize]);
    let both: [&dyn HomeDir; 2] = [simulated, real];
    match random.below(9) {
        0 | 1 => {
            let [first, second] = both.map(|home| home.create(name));
            match (first, second) {
                (Ok(first), Ok(second)) => files.push((first, second)),
                (first, second) => assert_eq!(errno(first), errno(second)),
            }
        }
        2 => {
            let [first, second] = both.map(|home| home.open(name));
            match (first, second) {
                (Ok(first), Ok(second)) => files.push((first, second)),
                (first, second) => assert_eq!(errno(first), errno(second)),
            }
        }
        3 => {
            let [first, second] = both.map(|home| errno(home.rename(name, to)));
            assert_eq!(first, second);
        }
        4 => {
            let [first, second] = both.map(|home| errno(home.remove(name)));
            assert_eq!(first, second);
        }
        5 => both.iter().for_each(|home| home.sync().unwrap()),
        _ if files.is_empty() => {}
        _ => {
            let (first, second) = &files[random.below(files.len() as u64) as usize];
            let bytes: Vec<u8> = (0..random.below(1500)).map(|at| at as u8 | 1).collect();
            let offset = random.below(3000);
            for file in [first, second] {
                file.write_all_at(&bytes, offset).unwrap();
                if offset.is_multiple_of(3) {
                    file.sync_data().unwrap();
                }
            }
            assert_eq!(read_all(&**first), read_all(&**second));
        }
    }
}

#[test]
fn random_calls_leave_the_same_files() {
    for seed in 0..40 {
        let mut random = RandomChoice::new(seed);
        let simulated = SimulatedHome::new();
        let (_dir, real) = real_home();
        let mut files = OpenFiles::new();
        for _ in 0..80 {
            make_call(&mut random, &simulated, &real, &mut files);
        }
        assert_eq!(sorted_names(&simulated), sorted_names(&real), "seed {seed}");
        for (name, bytes) in simulated.image() {
            let other = real.open(&name).unwrap();
            assert_eq!(*bytes, read_all(&*other), "seed {seed}, {name}");
            assert_eq!(other.len().unwrap(), bytes.len() as u64);
        }
    }
}
