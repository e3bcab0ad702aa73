//! Keys and values, one at a time: create, get, set, add, del, incr, decr.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use crate::shell::{Shell, wait_until};
use serde_json::json;

#[test]
fn set_makes_the_table_and_get_finds_the_value() {
    let shell = Shell::new();
    assert!(
        shell
            .run(["set", "sessions", "alice", "one"])
            .ok()
            .is_empty()
    );
    assert_eq!(shell.run(["get", "sessions", "alice"]).ok(), b"one");
    shell.run(["set", "sessions", "alice", "two"]).ok();
    assert_eq!(shell.run(["get", "sessions", "alice"]).ok(), b"two");
    assert!(shell.run(["get", "sessions", "bob"]).missing().is_empty());
}

#[test]
fn an_absent_table_is_an_error_for_commands_that_do_not_create_it() {
    let shell = Shell::new();
    let commands: [&[&str]; 14] = [
        &["get", "none", "k"],
        &["ttl", "none", "k"],
        &["touch", "none", "k", "--never"],
        &["del", "none", "k"],
        &["incr", "none", "k", "--existing"],
        &["ls", "none"],
        &["stat", "none"],
        &["check", "none"],
        &["compact", "none"],
        &["maintain", "none"],
        &["dump", "none"],
        &["copy", "none", "new"],
        &["drop", "none"],
        &["check", "none", "--repair"],
    ];
    for command in commands {
        let sentence = shell.run(command).error();
        assert!(sentence.contains("none"), "{command:?}: {sentence}");
    }
    assert_eq!(fs::read_dir(shell.path()).unwrap().count(), 0);
}

#[test]
fn values_come_from_arguments_pipes_and_files_exactly() {
    let shell = Shell::new();
    let odd = b"\x00\xff line\nline\n";
    shell.feed(["set", "t", "pipe"], odd).ok();
    shell.feed(["set", "t", "dash", "-"], odd).ok();
    let file = shell.file("value", odd);
    let file = file.to_str().unwrap();
    shell.run(["set", "t", "file", "--file", file]).ok();
    shell
        .feed(["set", "t", "file dash", "--file", "-"], odd)
        .ok();
    for key in ["pipe", "dash", "file", "file dash"] {
        assert_eq!(shell.run(["get", "t", key]).ok(), odd, "{key}");
    }
    shell.run(["set", "t", "empty", ""]).ok();
    assert_eq!(shell.run(["get", "t", "empty"]).ok(), b"");
    shell.run(["set", "t", "negative", "-5"]).ok();
    assert_eq!(shell.run(["get", "t", "negative"]).ok(), b"-5");
    shell.run(["set", "t", "--", "--key", "--value"]).ok();
    assert_eq!(shell.run(["get", "t", "--", "--key"]).ok(), b"--value");
}

#[test]
fn a_value_from_a_file_that_is_not_there_is_an_error_and_makes_no_table() {
    let shell = Shell::new();
    let sentence = shell
        .run(["set", "t", "k", "--file", "/no/such/file"])
        .error();
    assert!(sentence.contains("/no/such/file"));
    assert!(!shell.path().join("t").exists());
}

#[test]
fn a_large_value_comes_back_whole() {
    let shell = Shell::new();
    let large: Vec<u8> = (0..5_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    shell.feed(["set", "t", "large"], &large).ok();
    assert!(shell.run(["get", "t", "large"]).ok() == large);
}

#[test]
fn keys_may_be_any_bytes() {
    let shell = Shell::new();
    let odd = OsStr::from_bytes(b"\xff\xfe\n\t ");
    let (t, v) = (OsStr::new("t"), OsStr::new("v"));
    shell.run([OsStr::new("set"), t, odd, v]).ok();
    assert_eq!(shell.run([OsStr::new("get"), t, odd]).ok(), b"v");
    assert_eq!(shell.run(["get", "t", "--hex", "fffe0A0920"]).ok(), b"v");
    assert_eq!(shell.run(["get", "t", "--base64", "//4KCSA="]).ok(), b"v");
    shell.run(["set", "t", "--hex", "00", "zero"]).ok();
    shell.run(["set", "t", "", "empty"]).ok();
    assert_eq!(shell.run(["get", "t", "--base64", "AA=="]).ok(), b"zero");
    assert_eq!(shell.run(["get", "t", ""]).ok(), b"empty");
    assert!(
        shell
            .run(["get", "t", "--hex", "0"])
            .error()
            .contains("--hex")
    );
    assert!(
        shell
            .run(["get", "t", "--base64", "?"])
            .error()
            .contains("--base64")
    );
}

#[test]
fn several_keys_come_in_their_order_and_a_missing_one_is_reported() {
    let shell = Shell::new();
    shell.run(["set", "t", "a", "1"]).ok();
    shell.run(["set", "t", "c", "3"]).ok();
    assert_eq!(shell.run(["get", "t", "c", "a"]).ok(), b"3\n1\n");
    assert_eq!(
        shell.run(["get", "t", "a", "b", "c"]).missing(),
        b"1\n(missing)\n3\n"
    );
    let out = shell.run(["get", "t", "a", "b", "c", "--json"]).missing();
    let lines: Vec<serde_json::Value> = String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(without_attributes)
        .collect();
    let expected = [
        json!({"key": "a", "value": "1"}),
        json!({"key": "b", "value": null}),
        json!({"key": "c", "value": "3"}),
    ];
    assert_eq!(lines, expected);
}

/// What `get --json` prints, without token, flags and time to live.
fn without_attributes(mut line: serde_json::Value) -> serde_json::Value {
    for name in ["token", "flags", "ttl_ms"] {
        line.as_object_mut().unwrap().remove(name);
    }
    line
}

#[test]
fn json_says_when_bytes_are_not_text() {
    let shell = Shell::new();
    shell.feed(["set", "t", "--hex", "ff"], b"\xfe\xfd").ok();
    let ran = shell.run(["get", "t", "--hex", "ff", "--json"]);
    assert_eq!(
        without_attributes(ran.json()),
        json!({"key_base64": "/w==", "value_base64": "/v0="})
    );
}

#[test]
fn add_stores_once() {
    let shell = Shell::new();
    shell.run(["add", "t", "k", "first"]).ok();
    shell.run(["add", "t", "k", "second"]).missing();
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"first");
}

#[test]
fn of_many_adds_at_once_one_wins() {
    let shell = Shell::new();
    let children: Vec<_> = (0..8)
        .map(|n| shell.spawn(["add", "t", "k", &n.to_string()]))
        .collect();
    let codes = children
        .into_iter()
        .map(|mut child| child.wait().unwrap().code().unwrap());
    let mut codes: Vec<i32> = codes.collect();
    codes.sort_unstable();
    assert_eq!(codes, [0, 1, 1, 1, 1, 1, 1, 1]);
}

#[test]
fn del_removes_keys_and_reports_missing_ones() {
    let shell = Shell::new();
    for key in ["a", "b", "c"] {
        shell.run(["set", "t", key, "v"]).ok();
    }
    shell.run(["del", "t", "a"]).ok();
    shell.run(["del", "t", "a"]).missing();
    shell.run(["del", "t", "b", "x", "c"]).missing();
    assert_eq!(shell.run(["ls", "t"]).ok(), b"");
}

#[test]
fn counters_count() {
    let shell = Shell::new();
    assert_eq!(shell.run(["incr", "t", "n"]).ok(), b"1\n");
    assert_eq!(shell.run(["incr", "t", "n", "41"]).ok(), b"42\n");
    assert_eq!(shell.run(["get", "t", "n"]).ok(), b"42");
    assert_eq!(shell.run(["decr", "t", "n", "2"]).ok(), b"40\n");
    assert_eq!(shell.run(["decr", "t", "n", "100"]).ok(), b"0\n");
    assert_eq!(
        shell
            .run(["incr", "t", "new", "5", "--initial", "100"])
            .ok(),
        b"100\n"
    );
    assert_eq!(
        shell
            .run(["incr", "t", "new", "5", "--initial", "100"])
            .ok(),
        b"105\n"
    );
    assert_eq!(
        shell.run(["decr", "t", "down", "--initial", "7"]).ok(),
        b"7\n"
    );
    assert_eq!(
        shell.run(["incr", "t", "none", "--existing"]).missing(),
        b""
    );
    assert_eq!(
        shell.run(["decr", "t", "none", "--existing"]).missing(),
        b""
    );
    assert_eq!(shell.run(["incr", "t", "n", "--existing"]).ok(), b"1\n");
    let ran = shell.run(["incr", "t", "n", "9", "--json"]);
    assert_eq!(ran.json(), json!({"key": "n", "value": 10}));
    shell.run(["set", "t", "text", "ten"]).ok();
    assert!(shell.run(["incr", "t", "text"]).error().contains("number"));
    shell.run(["set", "t", "set", "99"]).ok();
    assert_eq!(shell.run(["incr", "t", "set"]).ok(), b"100\n");
}

#[test]
fn counting_at_once_loses_nothing() {
    let shell = Shell::new();
    let children: Vec<_> = (0..16).map(|_| shell.spawn(["incr", "t", "n"])).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(shell.run(["get", "t", "n"]).ok(), b"16");
}

#[test]
fn create_takes_limits_and_a_mode() {
    let shell = Shell::new();
    shell
        .run([
            "create",
            "t",
            "--max-size",
            "64M",
            "--mode",
            "640",
            "--shards",
            "32",
        ])
        .ok();
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat["max_size"], 64 << 20);
    assert_eq!(stat["shards"], 32);
    let mode = fs::metadata(shell.path().join("t"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(shell.run(["create", "t"]).error().contains("exists"));
    assert_eq!(shell.run(["create", "u", "--shards", "3"]).code, 2);
    assert_eq!(shell.run(["create", "u", "--max-size", "big"]).code, 2);
    assert_eq!(shell.run(["create", "u", "--mode", "400"]).code, 2);
    assert!(!shell.path().join("u").exists());
}

#[test]
fn odd_names_work_or_are_refused_in_a_sentence() {
    let shell = Shell::new();
    for name in ["with space", "größe", "a.b-c_d", "*"] {
        shell.run(["set", name, "k", name]).ok();
        assert_eq!(shell.run(["get", name, "k"]).ok(), name.as_bytes());
    }
    for name in ["", ".hidden", "..", "line\nbreak", &"x".repeat(300)] {
        let sentence = shell.run(["set", name, "k", "v"]).error();
        assert!(sentence.contains("name"), "{sentence}");
    }
    let path = shell.path().join("sub");
    fs::create_dir(&path).unwrap();
    let path = path.join("by-path");
    let path = path.to_str().unwrap();
    shell.run(["set", path, "k", "v"]).ok();
    assert_eq!(shell.run(["get", path, "k"]).ok(), b"v");
}

#[test]
fn what_may_only_be_read_can_be_read_and_the_rest_is_refused() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    shell.chmod("", 0o755);
    shell.chmod("t", 0o444);
    assert_eq!(shell.run_as_stranger(["get", "t", "k"]).ok(), b"v");
    assert_eq!(shell.run_as_stranger(["ls", "t"]).ok(), b"k\n");
    assert!(
        shell
            .run_as_stranger(["check", "t"])
            .text()
            .contains("no problems")
    );
    assert!(
        shell
            .run_as_stranger(["set", "t", "k", "w"])
            .error()
            .contains("was refused")
    );
    assert!(
        shell
            .run_as_stranger(["check", "t", "--repair"])
            .error()
            .contains("was refused")
    );
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"v");
}

#[test]
fn in_a_directory_that_may_only_be_read_no_table_is_made() {
    let shell = Shell::new();
    shell.chmod("", 0o555);
    let sentence = shell.run_as_stranger(["set", "t", "k", "v"]).error();
    assert!(sentence.contains("was refused"), "{sentence}");
    assert_eq!(fs::read_dir(shell.path()).unwrap().count(), 0);
    shell.chmod("", 0o755);
}

#[test]
fn a_full_table_is_reported_and_stays_usable() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "4M"]).ok();
    shell.run(["set", "t", "k", "kept"]).ok();
    let sentence = shell.feed(["set", "t", "large"], &vec![1; 8 << 20]).error();
    assert!(sentence.contains("no room"), "{sentence}");
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"kept");
    shell.run(["set", "t", "k", "again"]).ok();
    assert_eq!(shell.run(["check", "t"]).code, 0);
}

#[test]
fn keys_expire_are_touched_and_keep_their_flags() {
    let shell = Shell::new();
    shell.run(["set", "t", "gone", "x", "--ttl", "1ms"]).ok();
    wait_until(|| shell.run(["exists", "t", "gone"]).code == 1);
    assert!(shell.run(["get", "t", "gone"]).missing().is_empty());
    assert!(shell.run(["ttl", "t", "gone"]).missing().is_empty());
    shell.run(["touch", "t", "gone", "--never"]).missing();
    shell
        .run(["add", "t", "gone", "y", "--ttl", "1h30m", "--flags", "7"])
        .ok();
    let left: f64 = shell
        .run(["ttl", "t", "gone"])
        .text()
        .trim()
        .parse()
        .unwrap();
    assert!(left > 5000.0 && left <= 5400.0, "{left}");
    shell.run(["touch", "t", "gone", "--ttl", "90"]).ok();
    let ttl = shell.run(["ttl", "t", "gone", "--json"]).json();
    assert!(ttl["ttl_ms"].as_u64().unwrap() <= 90_000);
    assert_eq!((&ttl["key"], &ttl["flags"]), (&json!("gone"), &json!(7)));
    shell.run(["touch", "t", "gone", "--never"]).ok();
    assert_eq!(shell.run(["ttl", "t", "gone"]).text(), "never\n");
    shell.run(["create", "short", "--ttl", "2h"]).ok();
    shell.run(["set", "short", "k", "v"]).ok();
    let ttl = shell.run(["ttl", "short", "k", "--json"]).json();
    assert!(ttl["ttl_ms"].as_u64().unwrap() <= 7_200_000);
    let stat = shell.run(["stat", "short", "--json"]).json();
    assert_eq!(
        (&stat["ttl_ms"], &stat["expired"]),
        (&json!(7_200_000), &json!(0))
    );
    shell
        .run(["create", "fixed", "--fixed", "8,8", "--ttl", "1"])
        .error();
}

#[test]
fn keys_with_a_tag_are_gone_together() {
    let shell = Shell::new();
    for (key, tag) in [("a", "x"), ("b", "x"), ("c", "y")] {
        shell.run(["set", "t", key, "1", "--tag", tag]).ok();
    }
    shell
        .run(["set", "t", "d", "1", "--tag", "x", "--tag", "z"])
        .ok();
    let tags = || {
        let text = shell.run(["stat", "t"]).text();
        let number = shell.run(["stat", "t", "--json"]).json()["tags"].as_u64();
        assert!(
            text.contains(&format!("\n  tags          {}\n", number.unwrap())),
            "{text}"
        );
        number
    };
    assert_eq!(tags(), Some(3));
    shell.run(["invalidate", "t", "x"]).ok();
    assert_eq!(tags(), Some(2));
    for key in ["a", "b", "d"] {
        assert!(shell.run(["get", "t", key]).missing().is_empty());
    }
    assert_eq!(shell.run(["get", "t", "c"]).ok(), b"1");
    assert_eq!(shell.run(["ls", "t"]).text(), "c\n");
    shell.run(["invalidate", "t", "x"]).missing();
    shell.run(["invalidate", "t", "never", "y"]).missing();
    shell.run(["get", "t", "c"]).missing();
    shell.run(["invalidate", "nowhere", "x"]).error();
    shell.run(["add", "t", "e", "1", "--tag", "w"]).ok();
    let late = ["add", "t", "e", "2", "--tag", "v"];
    assert!(shell.run(late).missing().is_empty());
    shell.run(["invalidate", "t", "v"]).ok();
    assert_eq!(shell.run(["get", "t", "e"]).ok(), b"1");
    shell.run(["invalidate", "t", "w"]).ok();
    shell.run(["get", "t", "e"]).missing();
    shell.run(late).ok();
    let many: Vec<String> = (0..17).map(|i| format!("--tag={i}")).collect();
    let args = ["set", "t", "k", "v"].into_iter();
    let sentence = shell
        .run(args.chain(many.iter().map(|tag| &tag[..])))
        .error();
    assert!(sentence.contains("16 tags"), "{sentence}");
    shell.run(["create", "fixed", "--fixed", "8,8"]).ok();
    shell.run(["set", "fixed", "12345678", "12345678"]).ok();
    shell
        .run(["set", "fixed", "12345678", "12345678", "--tag", "x"])
        .error();
}

#[test]
fn a_new_counter_gets_a_time_and_another_keeps_its_own() {
    let shell = Shell::new();
    let left = |key| shell.run(["ttl", "t", key, "--json"]).json()["ttl_ms"].as_u64();
    let count = |args: &[&str]| shell.run(args.iter().copied()).text();
    assert_eq!(count(&["incr", "t", "up", "5", "--ttl", "1h"]), "5\n");
    assert!(left("up").unwrap() > 3_000_000);
    assert_eq!(count(&["incr", "t", "up", "--ttl", "10s"]), "6\n");
    assert!(left("up").unwrap() > 3_000_000);
    assert_eq!(count(&["decr", "t", "down", "--ttl", "1h"]), "0\n");
    let from = ["decr", "t", "from", "3", "--initial", "100", "--ttl", "1h"];
    assert_eq!(
        (count(&from), count(&from)),
        ("100\n".into(), "97\n".into())
    );
    assert!(left("down").is_some() && left("from").is_some());
    assert_eq!(count(&["incr", "t", "plain"]), "1\n");
    assert_eq!(shell.run(["ttl", "t", "plain"]).text(), "never\n");
    assert_eq!(count(&["incr", "t", "short", "9", "--ttl", "1ms"]), "9\n");
    wait_until(|| shell.run(["exists", "t", "short"]).code == 1);
    assert_eq!(count(&["incr", "t", "short", "9"]), "9\n");
    let both = ["incr", "t", "up", "--existing", "--ttl", "1h"];
    assert_eq!(shell.run(both).code, 2);
}
