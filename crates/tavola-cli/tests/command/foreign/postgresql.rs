//! PostgreSQL: rows that `COPY` of a real server takes and prints.

use super::cluster::Cluster;
use super::feed;
use crate::shell::Shell;

/// Text of all kinds: what `COPY` escapes, what looks like its escapes, and empty values.
fn rows() -> Vec<(String, String)> {
    let every: String = ('\u{1}'..='\u{7f}').collect();
    let mut rows: Vec<_> = [
        ("plain", "Grüße, 🦀"),
        ("empty", ""),
        ("\\N", "\\."),
        ("\\.", "\\N"),
        ("back\\slash\\", "\\t\\x41\\101\\"),
        ("tab\tkey", "line\nbreak\r\n\u{8}\u{b}\u{c}"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .into();
    rows.push((every.clone(), every.repeat(500)));
    rows.extend((0..1000).map(|n| (format!("key {n}"), "ü".repeat(n))));
    rows
}

#[test]
fn postgresql_takes_what_is_dumped_and_its_own_rows_are_loaded() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let shell = Shell::new();
    let table = tavola::Table::open(shell.path().join("words")).unwrap();
    for (key, value) in rows() {
        table.set(key, value).unwrap();
    }
    cluster.ask("CREATE TABLE words (key text PRIMARY KEY, value text NOT NULL)");
    let dumped = shell.run(["dump", "words", "--format", "pgcopy"]).ok();
    copy(&cluster, "COPY words FROM STDIN", &dumped);

    // Not by COPY, whose escapes are what is tried.
    let hex = |text: &str| {
        let digits = text.bytes().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    };
    let mut expected: Vec<_> = rows()
        .iter()
        .map(|(key, value)| format!("{}|{}", hex(key), hex(value)))
        .collect();
    expected.sort();
    let stored = cluster.ask(
        "SELECT encode(convert_to(key, 'UTF8'), 'hex') || '|' || \
         encode(convert_to(value, 'UTF8'), 'hex') FROM words ORDER BY 1",
    );
    assert!(stored.lines().eq(&expected), "the server has other rows");

    let printed = copy(&cluster, "COPY words TO STDOUT", b"");
    shell
        .feed(["load", "back", "--format", "pgcopy"], &printed)
        .ok();
    let back = tavola::Table::open(shell.path().join("back")).unwrap();
    assert_eq!(back.len().unwrap(), rows().len() as u64);
    for (key, value) in rows() {
        assert_eq!(back.get(&key).unwrap(), Some(value.into_bytes()), "{key:?}");
    }
}

/// Runs a `COPY` with this input, and returns what it printed.
fn copy(cluster: &Cluster, statement: &str, input: &[u8]) -> Vec<u8> {
    let mut psql = cluster.command("psql");
    psql.args(["-X", "-q", "-d", &cluster.url(), "-c", statement]);
    feed(psql, input)
}
