//! Verbs beyond set and get: changes by conditions and by commands, lists, names of tables.

use std::os::unix::fs::MetadataExt;

use crate::shell::Shell;
use serde_json::json;

#[test]
fn values_grow_at_both_ends_and_keep_what_is_beside_them() {
    let shell = Shell::new();
    shell.run(["append", "t", "k", "x", "--create"]).ok();
    shell.run(["touch", "t", "k", "--ttl", "1h"]).ok();
    shell.run(["append", "t", "k", "yz"]).ok();
    shell.feed(["prepend", "t", "k"], b"\x00").ok();
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"\x00xyz");
    assert_ne!(shell.run(["ttl", "t", "k"]).text(), "never\n");
    shell.run(["append", "t", "none", "x"]).missing();
    shell.run(["prepend", "t", "none", "x"]).missing();
    shell.run(["exists", "t", "none"]).missing();
    shell.run(["prepend", "none", "k", "x"]).error();
}

#[test]
fn replace_swap_and_take_find_the_old_value_or_not() {
    let shell = Shell::new();
    shell.run(["set", "t", "other", "x"]).ok();
    shell.run(["replace", "t", "k", "a"]).missing();
    assert!(shell.run(["swap", "t", "k", "a"]).missing().is_empty());
    assert_eq!(shell.run(["swap", "t", "k", "b"]).ok(), b"a");
    shell
        .run(["replace", "t", "k", "c", "--flags", "7", "--ttl", "1h"])
        .ok();
    assert_eq!(
        shell.run(["ttl", "t", "k", "--json"]).json()["flags"],
        json!(7)
    );
    assert_eq!(shell.run(["take", "t", "k"]).ok(), b"c");
    assert!(shell.run(["take", "t", "k"]).missing().is_empty());
    assert_eq!(shell.run(["ls", "t"]).text(), "other\n");
}

#[test]
fn cas_and_del_go_by_value_or_token() {
    let shell = Shell::new();
    shell.run(["create", "versions", "--versions"]).ok();
    for table in ["t", "versions"] {
        shell.run(["set", table, "k", "a"]).ok();
        let token = shell.run(["get", table, "k", "--token"]).text();
        let token = token.trim_end();
        let shown = shell.run(["get", table, "k", "--json"]).json();
        assert_eq!(shown["token"], json!(token));
        shell
            .run(["cas", table, "k", "b", "--if-token", token])
            .ok();
        shell
            .run(["cas", table, "k", "c", "--if-token", token])
            .missing();
        shell.run(["cas", table, "k", "c", "--if-value", "b"]).ok();
        shell
            .run(["cas", table, "k", "d", "--if-value", "b"])
            .missing();
        shell
            .run(["cas", table, "none", "d", "--if-value", ""])
            .missing();
        shell.run(["del", table, "k", "--if-value", "b"]).missing();
        assert_eq!(shell.run(["get", table, "k"]).ok(), b"c");
        shell.run(["del", table, "k", "--if-value", "c"]).ok();
        shell.run(["del", table, "k", "--if-value", "c"]).missing();
        assert_eq!(shell.run(["exists", table, "k"]).code, 1);
    }
    assert_eq!(shell.run(["cas", "t", "k", "v"]).code, 2);
    let wrong = shell.run(["cas", "t", "k", "v", "--if-token", "12"]);
    assert!(
        wrong.code == 2 && wrong.err.contains("--token"),
        "{wrong:?}"
    );
    let several = ["del", "t", "a", "b", "--if-value", "x"];
    assert!(shell.run(several).error().contains("one key"));
}

#[test]
fn a_filter_changes_a_value_and_is_retried_on_conflict() {
    let shell = Shell::new();
    let update = |script: &str| shell.run(["update", "t", "k", "--", "sh", "-c", script]);
    update("printf 'new%s' \"$(cat)\"").ok();
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"new");
    // The command itself changes the key, once, so it runs twice.
    let tavola = env!("CARGO_BIN_EXE_tavola");
    let ran = shell.path().join(".ran");
    let ran = ran.display();
    update(&format!(
        "[ -e {ran} ] || {{ touch {ran}; {tavola} set t k other; }}; cat; echo !"
    ))
    .ok();
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"other!\n");
    let failed = update("echo x; exit 42");
    assert!(
        failed.code == 42 && failed.err.contains("not changed"),
        "{failed:?}"
    );
    assert_eq!(update("kill -9 $$").code, 137);
    let missing = shell.run(["update", "t", "k", "--", "/no/such/program"]);
    assert_eq!(missing.code, 127);
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"other!\n");
    // More than a pipe holds, both ways.
    shell.feed(["set", "t", "k"], &vec![b'x'; 1 << 20]).ok();
    shell.run(["update", "t", "k", "--", "cat"]).ok();
    assert_eq!(shell.run(["get", "t", "k"]).ok().len(), 1 << 20);
}

#[test]
fn parts_of_values_and_missing_keys_are_printed() {
    let shell = Shell::new();
    shell.run(["set", "t", "a", "0123456789"]).ok();
    shell.run(["set", "t", "b", "xy"]).ok();
    let part = |args: &[&str]| {
        let args = ["get", "t", "a"].iter().chain(args);
        shell.run(args).text()
    };
    assert_eq!(part(&["--start", "3"]), "3456789");
    assert_eq!(part(&["--start", "3", "--max", "4"]), "3456");
    assert_eq!(part(&["--start", "30", "--max", "4"]), "");
    assert_eq!(part(&["b", "--max", "1"]), "0\nx\n");
    let missing = shell.run(["get", "t", "a", "none", "b"]).missing();
    assert_eq!(missing, b"0123456789\n(missing)\nxy\n");
    let other = ["get", "t", "none", "b", "--missing", "-"];
    assert_eq!(shell.run(other).missing(), b"-\nxy\n");
}

#[test]
fn a_set_keeps_the_time_the_tags_or_both() {
    let shell = Shell::new();
    let facts = |key: &str| {
        let line = shell.run(["ls", "t", key, "--long"]).text();
        let fields: Vec<_> = line.trim_end().split('\t').map(str::to_string).collect();
        (fields[1] != "-", fields[2].clone(), fields[4..].to_vec())
    };
    let full = ["--ttl", "1h", "--flags", "7", "--tag", "x"];
    for key in ["ttl", "tags", "both", "none"] {
        shell.run(["set", "t", key, "v"].iter().chain(&full)).ok();
    }
    shell.run(["set", "t", "ttl", "w", "--keep-ttl"]).ok();
    shell.run(["set", "t", "tags", "w", "--keep-tags"]).ok();
    shell
        .run(["set", "t", "both", "w", "--keep-ttl", "--keep-tags"])
        .ok();
    shell.run(["set", "t", "none", "w"]).ok();
    let x = || vec!["x".to_string()];
    assert_eq!(facts("ttl"), (true, "0".to_string(), vec![]));
    assert_eq!(facts("tags"), (false, "0".to_string(), x()));
    assert_eq!(facts("both"), (true, "7".to_string(), x()));
    assert_eq!(facts("none"), (false, "0".to_string(), vec![]));
    assert_eq!(shell.run(["get", "t", "both"]).ok(), b"w");
    shell.run(["set", "t", "new", "v", "--keep-ttl"]).ok();
    let both = ["set", "t", "k", "v", "--keep-ttl", "--ttl", "1h"];
    assert_eq!(shell.run(both).code, 2);
}

#[test]
fn keys_expire_at_dates_and_not_at_once() {
    let shell = Shell::new();
    shell
        .run(["set", "t", "k", "v", "--expires", "2099-01-01"])
        .ok();
    let left: f64 = shell.run(["ttl", "t", "k"]).text().trim().parse().unwrap();
    assert!(left > 1e9, "{left}");
    for date in ["2099-01-01T10:00:00Z", "2099-01-01 10:00:00", "@4070908800"] {
        shell.run(["set", "t", "k", "v", "--expires", date]).ok();
    }
    for (option, value, words) in [
        ("--expires", "2001-01-01", "in the past"),
        ("--expires", "tomorrow", "not a date"),
        ("--ttl", "0", "tavola del"),
        ("--ttl", "0ms", "tavola del"),
    ] {
        let ran = shell.run(["set", "t", "k", "v", option, value]);
        assert!(ran.code == 2 && ran.err.contains(words), "{ran:?}");
    }
}

#[test]
fn counters_take_negative_steps() {
    let shell = Shell::new();
    let count = |args: &[&str]| shell.run(args.iter().copied()).text();
    assert_eq!(count(&["incr", "t", "k", "10"]), "10\n");
    assert_eq!(count(&["incr", "t", "k", "-3"]), "7\n");
    assert_eq!(count(&["decr", "t", "k", "-3"]), "10\n");
    assert_eq!(count(&["incr", "t", "k", "-30"]), "0\n");
    assert_eq!(count(&["incr", "t", "new", "-3"]), "0\n");
    assert_eq!(shell.run(["incr", "t", "k", "1.5"]).code, 2);
}

#[test]
fn keys_are_listed_by_pattern_and_counted() {
    let shell = Shell::new();
    for key in ["user:1", "user:2", "user:2:cart", "page"] {
        shell.run(["set", "t", key, "value"]).ok();
    }
    let list = |args: &[&str]| {
        let mut lines: Vec<_> = shell
            .run(["ls", "t"].iter().chain(args))
            .text()
            .lines()
            .map(str::to_string)
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(list(&["user:"]).len(), 3);
    assert_eq!(list(&["user:?"]), ["user:1", "user:2"]);
    assert_eq!(list(&["*:cart"]), ["user:2:cart"]);
    assert_eq!(list(&["--limit", "2"]).len(), 2);
    assert_eq!(list(&["user:", "--count"]), ["3"]);
    assert_eq!(shell.run(["ls", "t", "page", "-0"]).ok(), b"page\0");
    assert_eq!(list(&["page", "-l"]), ["5\t-\t0\tpage"]);
    let long = shell.run(["ls", "t", "page", "--long", "--json"]).json();
    assert_eq!(
        (&long["value_bytes"], &long["ttl_ms"]),
        (&json!(5), &json!(null))
    );
    assert_eq!(shell.run(["count", "t"]).text(), "4\n");
    assert_eq!(shell.run(["count", "t", "*2*"]).text(), "2\n");
    assert_eq!(shell.run(["keys", "t", "page"]).text(), "page\n");
    assert!(
        shell
            .run(["ls", "t", "["])
            .error()
            .contains("not a pattern")
    );
    shell.run(["clear", "t"]).ok();
    assert_eq!(shell.run(["count", "t"]).text(), "0\n");
    assert_eq!(shell.run(["ls", "t", "--count"]).text(), "0\n");
}

#[test]
fn tables_are_renamed_and_no_other_is_replaced() {
    let shell = Shell::new();
    shell.run(["set", "a", "k", "first"]).ok();
    shell.run(["set", "b", "k", "second"]).ok();
    let taken = shell.run(["rename", "a", "b"]).error();
    assert!(taken.contains("/b"), "{taken}");
    shell.run(["rename", "a", "c"]).ok();
    assert_eq!(shell.run(["get", "c", "k"]).ok(), b"first");
    assert_eq!(shell.run(["get", "b", "k"]).ok(), b"second");
    shell.run(["get", "a", "k"]).error();
    shell.run(["rename", "a", "d"]).error();
    std::fs::write(shell.path().join("text"), "no table").unwrap();
    shell.run(["rename", "text", "d"]).error();
    assert!(shell.run(["rename", "c", "text"]).error().contains("text"));
    assert_eq!(
        std::fs::read(shell.path().join("text")).unwrap(),
        b"no table"
    );
    let other = tempfile::tempdir_in("/tmp").unwrap();
    let to = other.path().join("t");
    if other.path().metadata().unwrap().dev() != shell.path().metadata().unwrap().dev() {
        let sentence = shell.run(["rename", "c", to.to_str().unwrap()]).error();
        assert!(sentence.contains("tavola copy"), "{sentence}");
    }
}

#[test]
fn a_log_and_a_cache_are_listed_as_such_and_a_log_has_no_keys() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    shell.run(["create", "c", "--capacity", "8M"]).ok();
    shell.run(["log", "create", "events"]).ok();
    let list = shell.run(["ls"]).text();
    let kinds: Vec<_> = list
        .lines()
        .map(|line| line.split('\t').nth(5).unwrap().to_string())
        .collect();
    assert_eq!(kinds, ["cache", "log", "table"]);
    let mut modes = list.lines().map(|line| line.split('\t').nth(7));
    assert!(modes.all(|mode| mode == Some("600")), "{list}");
    for args in [
        &["get", "events", "k"][..],
        &["ls", "events"],
        &["set", "events", "k", "v"],
        &["count", "events"],
        &["del", "events", "k"],
        &["dump", "events"],
    ] {
        let sentence = shell.run(args).error();
        assert!(sentence.contains("tavola log"), "{args:?}: {sentence}");
    }
    shell.run(["stat", "events"]).ok();
}

#[test]
fn help_aliases_and_hints_lead_to_a_command() {
    let shell = Shell::new();
    assert_eq!(
        shell.run(["help", "set"]).text(),
        shell.run(["set", "--help"]).text()
    );
    assert_eq!(shell.run(["help"]).text(), shell.run(["--help"]).text());
    assert!(shell.run(["help", "log", "drain"]).text().contains("drain"));
    shell.run(["set", "t", "k", "v"]).ok();
    shell.run(["expire", "t", "k", "--ttl", "1h"]).ok();
    shell.run(["rm", "t", "k"]).ok();
    for (word, here) in [
        ("delete", "'tavola del'"),
        ("flushall", "'tavola clear'"),
        ("gte", "'get'"),
        ("refresh", "has the name now"),
        ("stta", "'stat'"),
    ] {
        let ran = shell.run([word, "t"]);
        assert!(ran.code == 2 && ran.err.contains(here), "{ran:?}");
        let ran = shell.run(["help", word]);
        assert!(ran.code == 2 && ran.err.contains(here), "{ran:?}");
    }
}

#[test]
fn all_tables_are_shown_checked_and_maintained_without_a_name() {
    let shell = Shell::new();
    assert_eq!(shell.run(["check"]).text(), "");
    for table in ["a", "b"] {
        shell.run(["set", table, "k", "v"]).ok();
    }
    shell.run(["queue", "create", "q"]).ok();
    let stat = shell.run(["stat"]).text();
    let lines: Vec<_> = stat.lines().collect();
    assert!(
        lines[0].starts_with("a\t1\t") && lines[2].starts_with("q\t"),
        "{stat}"
    );
    assert!(
        stat.contains("\nb  (") && stat.contains("queue 'jobs'"),
        "{stat}"
    );
    assert_eq!(shell.run(["stat", "--json"]).text().lines().count(), 3);
    let check = shell.run(["check"]).text();
    assert_eq!(check.lines().count(), 3);
    assert!(
        check.lines().all(|line| line.contains("no problems")),
        "{check}"
    );
    let maintain = shell.run(["maintain"]).text();
    assert!(
        maintain.contains("a:\n") && maintain.contains("q:\n"),
        "{maintain}"
    );
    let top = shell.run(["top", "--once"]).text();
    assert!(
        top.contains("3 tables") && top.contains("CHANGES/S"),
        "{top}"
    );
}

#[test]
fn a_status_is_one_page() {
    let shell = Shell::new();
    shell.run(["set", "sessions", "k", "v"]).ok();
    shell.run(["create", "c", "--capacity", "8M"]).ok();
    let ran = shell.run(["status"]);
    let text = String::from_utf8(ran.out).unwrap();
    assert!(text.contains("2 tables with 1 key, "), "{text}");
    assert!(
        text.contains("sessions  table") && text.contains(" of 8 MiB"),
        "{text}"
    );
    let status = shell.run(["status", "--json"]).json();
    assert_eq!(status["tables"][1]["name"], json!("sessions"));
    let is_good = status["attention"].as_array().unwrap().is_empty();
    assert_eq!(ran.code, if is_good { 0 } else { 1 }, "{status}");
    let mut dead = shell.attach("dead");
    dead.kill().unwrap();
    dead.wait().unwrap();
    let ran = shell.run(["status"]);
    let text = String::from_utf8(ran.out).unwrap();
    assert!(
        ran.code == 1 && text.contains("died while attached"),
        "{text}"
    );
}
