//! Berkeley DB: `db_dump` and `db_load`.

use super::{assert_filled, fill, has, load, run, text};
use crate::shell::Shell;

#[test]
fn berkeley_db_makes_what_is_loaded_and_reads_what_is_dumped() {
    if !has("db_dump") || !has("db_load") {
        return;
    }
    let shell = Shell::new();
    fill(&shell, "words");
    let lines = ["-T", "-t", "btree"];
    for (format, options) in [("bdb", &[][..]), ("mdb-text", &lines)] {
        let dumped = shell.run(["dump", "words", "--format", format]).ok();
        let file = shell.path().join(format!(".{format}.db"));
        let args = options.iter().copied().chain([text(&file)]);
        run("db_load", &args.collect::<Vec<_>>(), &dumped);
        for option in [None, Some("-p")] {
            let args = option.into_iter().chain([text(&file)]);
            let printed = run("db_dump", &args.collect::<Vec<_>>(), b"");
            let table = format!("{format}{}", option.unwrap_or_default());
            load(&shell, &table, &printed, "mdb");
            assert_filled(&shell, &table);
        }
        let refused = shell.run(["load", "other", text(&file)]).error();
        assert!(refused.contains("db_dump"), "{refused}");
    }
}

/// A hash, whose keys come in another order, and its lines of the header.
#[test]
fn a_hash_of_berkeley_db_is_loaded() {
    if !has("db_dump") || !has("db_load") {
        return;
    }
    let shell = Shell::new();
    let file = shell.path().join(".hash.db");
    let pairs = b"one\nHello\ntwo\n\\00\n";
    run("db_load", &["-T", "-t", "hash", text(&file)], pairs);
    let refused = shell.run(["load", "other", text(&file)]).error();
    assert!(refused.contains("db_dump"), "{refused}");
    let printed = run("db_dump", &[text(&file)], b"");
    load(&shell, "t", &printed, "mdb");
    assert_eq!(shell.run(["get", "t", "one"]).ok(), b"Hello");
    assert_eq!(shell.run(["get", "t", "two"]).ok(), b"\0");
    // Numbered records have no keys.
    let file = shell.path().join(".recno.db");
    run("db_load", &["-T", "-t", "recno", text(&file)], b"one\n");
    let printed = run("db_dump", &[text(&file)], b"");
    let refused = shell.feed(["load", "other"], &printed);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("no keys"), "{}", refused.err);
}
