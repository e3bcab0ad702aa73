//! LMDB: `mdb_dump` and `mdb_load`.

use super::{assert_filled, fill, load, load_as, run, text};
use crate::shell::Shell;

#[test]
fn lmdb_makes_what_is_loaded_and_reads_what_is_dumped() {
    let shell = Shell::new();
    fill(&shell, "words");
    let dumped = shell.run(["dump", "words", "--format", "mdb"]).ok();
    let environment = tempfile::tempdir().unwrap();
    run("mdb_load", &[text(environment.path())], &dumped);
    let printed = run("mdb_dump", &[text(environment.path())], b"");
    load(&shell, "back", &printed, "mdb");
    assert_filled(&shell, "back");
    let file = environment.path().join("data.mdb");
    let refused = shell.run(["load", "other", text(&file)]).error();
    assert!(refused.contains("mdb_dump -n"), "{refused}");
}

/// As text; without backslashes, which `mdb_dump` does not escape in some versions.
#[test]
fn lmdb_prints_what_is_loaded() {
    let shell = Shell::new();
    let value = (0..=255).filter(|byte| *byte != b'\\').collect::<Vec<u8>>();
    shell.feed(["set", "t", "größe\n", "-"], &value).ok();
    let dumped = shell.run(["dump", "t", "--format", "mdb"]).ok();
    let environment = tempfile::tempdir().unwrap();
    run("mdb_load", &[text(environment.path())], &dumped);
    let printed = run("mdb_dump", &["-p", text(environment.path())], b"");
    load(&shell, "back", &printed, "mdb");
    assert_eq!(shell.run(["get", "back", "größe\n"]).ok(), value);
}

/// As text that `mdb_load` reads, with all bytes.
#[test]
fn lmdb_reads_what_is_dumped_as_text() {
    let shell = Shell::new();
    fill(&shell, "words");
    for (format, option) in [("mdb-print", None), ("mdb-text", Some("-T"))] {
        let dumped = shell.run(["dump", "words", "--format", format]).ok();
        assert!(
            dumped
                .iter()
                .all(|byte| matches!(byte, b'\n' | b' '..=b'~'))
        );
        let environment = tempfile::tempdir().unwrap();
        if option.is_some() {
            // Without a header, its size is the one that it has already.
            run("mdb_load", &[text(environment.path())], EMPTY);
        }
        let args = option.into_iter().chain([text(environment.path())]);
        run("mdb_load", &args.collect::<Vec<_>>(), &dumped);
        let printed = run("mdb_dump", &[text(environment.path())], b"");
        load(&shell, format, &printed, "mdb");
        assert_filled(&shell, format);
        load_as(&shell, &format!("own-{format}"), &dumped, format);
        assert_filled(&shell, &format!("own-{format}"));
    }
}

/// An environment of 1 GiB without a key.
const EMPTY: &[u8] = b"VERSION=3\nformat=print\ntype=btree\nmapsize=1073741824\nHEADER=END\n\
    DATA=END\n";

/// Text that a person wrote, and `--keep`, as LMDB's own programs have them. Two backslashes come
/// first: after another escape, `mdb_load` 0.9.24 has another byte in their place.
#[test]
fn pairs_of_lines_are_loaded_and_keys_kept_as_by_lmdb() {
    let shell = Shell::new();
    let environment = tempfile::tempdir().unwrap();
    let place = text(environment.path());
    let first = b"one\n  Hello \ntwo\n\\\\\\00\\5c\xc3\xbc\nDATA=END\n\n";
    let second = b"two\nnew\nthree\nnew\n";
    run("mdb_load", &["-T", place], first);
    run("mdb_load", &["-T", "-N", place], second);
    load_as(&shell, "own", first, "mdb-text");
    let ran = shell.feed(["load", "own", "-f", "mdb-text", "--keep"], second);
    assert_eq!((ran.code, &ran.err[..]), (0, ""));
    let printed = run("mdb_dump", &[place], b"");
    load(&shell, "theirs", &printed, "mdb");
    for table in ["own", "theirs"] {
        let table = tavola::Table::open(shell.path().join(table)).unwrap();
        assert_eq!(table.len().unwrap(), 4);
        for (key, value) in [
            ("one", &b"  Hello "[..]),
            ("two", b"\\\0\\\xc3\xbc"),
            ("DATA=END", b""),
            ("three", b"new"),
        ] {
            assert_eq!(table.get(key).unwrap().as_deref(), Some(value), "{key}");
        }
    }
    // Without it, they get the new value.
    load_as(&shell, "own", second, "mdb-text");
    assert_eq!(shell.run(["get", "own", "two"]).ok(), b"new");
}
