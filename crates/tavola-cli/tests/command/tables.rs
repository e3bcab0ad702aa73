//! Whole tables: ls, stat, check, compact, maintain, resize, migrate, drop.

use std::fs;
use std::os::unix::fs::FileExt;

use crate::shell::{Shell, wait_until};
use serde_json::json;

#[test]
fn ls_lists_tables_by_name_with_their_numbers() {
    let shell = Shell::new();
    assert_eq!(shell.run(["ls"]).ok(), b"");
    shell.run(["set", "b", "key", "value"]).ok();
    shell.run(["create", "a"]).ok();
    fs::write(shell.path().join("foreign"), "not a table").unwrap();
    let text = shell.run(["ls"]).text();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert_eq!(rows[0][..3], ["a", "0", "0"]);
    assert_eq!(rows[1][..3], ["b", "1", "8"]);
    let text = shell.run(["ls", "--json"]).text();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["name"], "b");
    assert_eq!(last["keys"], 1);
    assert_eq!(last["payload_bytes"], 8);
    assert!(last["resident_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_table_of_fixed_lengths_reports_them_and_takes_no_others() {
    let shell = Shell::new();
    shell.run(["create", "t", "--fixed", "3,5"]).ok();
    shell.run(["set", "t", "key", "value"]).ok();
    assert_eq!(shell.run(["get", "t", "key"]).ok(), b"value");
    let refused = shell.run(["set", "t", "key", "other value"]).error();
    assert!(refused.contains("values of 5 bytes"), "{refused}");
    let text = shell.run(["stat", "t"]).text();
    assert!(text.contains("keys of 3 bytes, values of 5"), "{text}");
    let text = shell.run(["stat", "t", "--json"]).text();
    let stat: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&stat["key_bytes"], &stat["value_bytes"]),
        (&json!(3), &json!(5))
    );
    let refused = shell.run(["create", "u", "--fixed", "0,5"]).error();
    assert!(refused.contains("fixed"), "{refused}");
    shell.run(["create", "u", "--fixed", "3,5", "--uids"]).ok();
}

#[test]
fn a_damaged_table_does_not_hide_the_others() {
    let shell = Shell::new();
    shell.run(["set", "good", "k", "v"]).ok();
    shell.run(["set", "cut", "k", "v"]).ok();
    let file = fs::OpenOptions::new()
        .write(true)
        .open(shell.path().join("cut"))
        .unwrap();
    file.set_len(100).unwrap();
    let ran = shell.run(["ls"]);
    let text = String::from_utf8(ran.out.clone()).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("cut\t-\t-\t-\t"), "{text}");
    assert!(rows[1].starts_with("good\t1\t2\t"), "{text}");
    assert!(ran.error().contains("cut"));
}

#[test]
fn ls_lists_the_keys_that_begin_with_a_prefix() {
    let shell = Shell::new();
    for key in ["user:1", "user:2", "group:1", ""] {
        shell.run(["set", "t", key, "v"]).ok();
    }
    let sorted = |args: &[&str]| {
        let text = shell.run(args).text();
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&["ls", "t"]), ["", "group:1", "user:1", "user:2"]);
    assert_eq!(sorted(&["ls", "t", "user:"]), ["user:1", "user:2"]);
    assert!(sorted(&["ls", "t", "none"]).is_empty());
    assert_eq!(
        sorted(&["ls", "t", "--hex", "757365723a31"]),
        ["757365723a31"]
    );
    assert_eq!(
        sorted(&["ls", "t", "group", "--json"]),
        [r#"{"key":"group:1"}"#]
    );
    shell.run(["set", "t", "--hex", "ff0a", "v"]).ok();
    assert_eq!(sorted(&["ls", "t", "--base64", "/w=="]), ["/wo="]);
    assert_eq!(
        sorted(&["ls", "t", "--hex", "--json", "ff"]),
        [r#"{"key_base64":"/wo="}"#]
    );
}

/// A key that has a newline in it is one line anyway, and can be read back.
#[test]
fn ls_writes_each_key_on_a_line_of_its_own() {
    let shell = Shell::new();
    for key in ["a\nb", "tab\there", "back\\slash", "plain"] {
        shell.run(["set", "t", key, "v"]).ok();
    }
    let text = shell.run(["ls", "t"]).text();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["a\\nb", "back\\\\slash", "plain", "tab\\there"]);
    // A file that was put there under such a name.
    let name = shell.path().join("new\nline");
    fs::rename(shell.path().join("t"), &name).unwrap();
    let text = shell.run(["ls"]).text();
    assert!(text.starts_with("new\\nline\t4\t"), "{text:?}");
    assert_eq!(text.lines().count(), 1, "{text:?}");
}

/// A table that cannot be read is listed with the reason.
#[test]
fn ls_shows_tables_that_cannot_be_read() {
    let shell = Shell::new();
    shell.run(["set", "open", "k", "v"]).ok();
    shell.run(["set", "shut", "k", "v"]).ok();
    fs::write(shell.path().join("no-table"), "x").unwrap();
    shell.chmod("", 0o755);
    shell.chmod("open", 0o644);
    shell.chmod("shut", 0o000);
    shell.chmod("no-table", 0o000);
    let ran = shell.run_as_stranger(["ls"]);
    let text = String::from_utf8(ran.out.clone()).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split('\t').collect()).collect();
    if rows.len() == 2 && rows[1].len() == 4 {
        println!("skipped: this user reads everything");
        return;
    }
    assert_eq!(
        (rows.len(), rows[0][..3].to_vec()),
        (2, vec!["open", "1", "2"]),
        "{text}"
    );
    assert_eq!(rows[1][..5], ["shut", "-", "-", "-", "-"], "{text}");
    assert!(rows[1][5].contains("was refused"), "{text}");
    assert!(ran.error().contains("shut"));
    let json = shell.run_as_stranger(["ls", "--json"]);
    let text = String::from_utf8(json.out).unwrap();
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["name"], "shut");
    assert!(
        last["error"].as_str().unwrap().contains("was refused"),
        "{last}"
    );
}

/// An object that has the name already is reported as what it is, at once, and left alone.
#[test]
fn create_says_what_has_the_name() {
    let shell = Shell::new();
    let fifo = shell.path().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::create_dir(shell.path().join("directory")).unwrap();
    fs::write(shell.path().join("text"), "some text").unwrap();
    fs::write(shell.path().join("empty"), "").unwrap();
    shell.run(["create", "table"]).ok();
    for (name, words) in [
        ("fifo", "it is a FIFO"),
        ("directory", "it is a directory"),
        ("text", "does not begin with the bytes of a table"),
        ("empty", "it is an empty file"),
        ("table", "already exists"),
    ] {
        for command in [
            &["create", name][..],
            &["set", name, "k", "v"],
            &["drop", name],
        ] {
            if name == "table" && command[0] != "create" {
                continue;
            }
            let sentence = shell.run(command).error();
            assert!(sentence.contains(words), "{command:?}: {sentence}");
            assert!(!sentence.contains("remove"), "{sentence}");
        }
        assert!(shell.path().join(name).exists());
    }
}

/// Another user's table in a directory where everybody may make files.
#[test]
fn a_table_of_another_user_in_a_public_directory_needs_any_owner() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    shell.chmod("", 0o777);
    shell.chmod("t", 0o666);
    let nobody = Some(65_533);
    if std::os::unix::fs::chown(shell.path().join("t"), nobody, None).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    for command in [
        &["get", "t", "k"][..],
        &["set", "t", "k", "w"],
        &["drop", "t"],
    ] {
        let sentence = shell.run(command).error();
        assert!(sentence.contains("belongs to user 65533"), "{sentence}");
        assert!(sentence.contains("--any-owner"), "{sentence}");
    }
    let ran = shell.run(["ls"]);
    assert!(ran.out.starts_with(b"t\t-\t-\t-\t"), "{ran:?}");
    assert_eq!(shell.run(["get", "t", "k", "--any-owner"]).ok(), b"v");
    assert!(
        shell
            .run(["ls", "--any-owner"])
            .text()
            .starts_with("t\t1\t")
    );
    shell.run(["--any-owner", "drop", "t"]).ok();
    assert!(!shell.path().join("t").exists());
}

#[test]
fn stat_prints_numbers_in_words_and_in_json() {
    let shell = Shell::new();
    for n in 0..100 {
        shell.run(["incr", "t", &format!("counter {n}")]).ok();
    }
    shell.run(["set", "t", "k", "v"]).ok();
    let text = shell.run(["stat", "t"]).text();
    assert!(text.contains("101"), "{text}");
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat["keys"], 101);
    assert_eq!(stat["recoveries"], 0);
    assert_eq!(stat["uuid"].as_str().unwrap().len(), 36);
    assert!(stat["resident_bytes"].as_u64() <= stat["max_size"].as_u64());
    assert_eq!(stat["participants"], json!([]));
    let used = stat["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| class["used"].as_u64());
    assert_eq!(used.map(Option::unwrap).sum::<u64>(), 101);
}

#[test]
fn stat_lists_participants() {
    let shell = Shell::new();
    let mut child = shell.attach("t");
    let stat = shell.run(["stat", "t", "--json"]).json();
    let participants = stat["participants"].as_array().unwrap();
    assert_eq!(participants.len(), 1);
    assert_eq!(participants[0]["alive"], true);
    assert!(
        participants[0]["command"]
            .as_str()
            .unwrap()
            .contains("load")
    );
    let text = shell.run(["stat", "t"]).text();
    assert!(text.contains(&child.id().to_string()), "{text}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat["participants"], json!([]));
}

#[test]
fn check_finds_nothing_in_a_sound_table() {
    let shell = Shell::new();
    let lines: String = (0..5000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"v{n}\"}}\n"))
        .collect();
    shell.feed(["load", "t"], lines.as_bytes()).ok();
    assert!(
        shell
            .run(["check", "t"])
            .text()
            .contains("no problems; 5,000 keys")
    );
    let report = shell.run(["check", "t", "--json"]).json();
    assert_eq!(report["clean"], true);
    assert_eq!(report["keys"], 5000);
    assert_eq!(report["bytes_in_use"], report["bytes_reachable"]);
    assert_eq!(report["problems"], json!([]));
    assert!(
        shell
            .run(["check", "t", "--repair"])
            .text()
            .contains("no problems")
    );
    assert_eq!(shell.run(["get", "t", "k4999"]).ok(), b"v4999");
}

#[test]
fn compact_and_maintain_give_memory_back() {
    let shell = Shell::new();
    let value = "x".repeat(1000);
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"{value}\"}}\n"))
        .collect();
    shell.feed(["load", "t"], lines.as_bytes()).ok();
    let resident = || {
        shell.run(["stat", "t", "--json"]).json()["resident_bytes"]
            .as_u64()
            .unwrap()
    };
    let full = resident();
    assert!(full > 20_000_000, "{full}");
    assert!(
        shell
            .run(["maintain", "t"])
            .text()
            .contains("returned to the system")
    );
    for chunk in (0..20_000).collect::<Vec<u32>>().chunks(1000) {
        let keys = chunk.iter().map(|n| format!("k{n}"));
        shell
            .run(["del".to_string(), "t".to_string()].into_iter().chain(keys))
            .ok();
    }
    assert!(
        shell
            .run(["compact", "t"])
            .text()
            .contains("returned to the system")
    );
    assert!(resident() < full / 10, "{} of {full}", resident());
}

#[test]
fn a_killed_participant_is_reported_until_maintenance() {
    let shell = Shell::new();
    let mut child = shell.attach("t");
    child.kill().unwrap();
    child.wait().unwrap();
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat["participants"][0]["alive"], false);
    assert!(
        shell
            .run(["maintain", "t"])
            .text()
            .contains("1 dead participant removed")
    );
    let stat = shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat["participants"], json!([]));
}

#[test]
fn drop_removes_tables_and_nothing_else() {
    let shell = Shell::new();
    shell.run(["set", "a", "k", "v"]).ok();
    shell.run(["set", "b", "k", "v"]).ok();
    shell.run(["drop", "a", "b"]).ok();
    assert_eq!(shell.run(["ls"]).ok(), b"");
    assert!(shell.run(["drop", "a"]).error().contains("no table"));
    shell.run(["drop", "a", "--if-exists"]).ok();
    fs::write(shell.path().join("foreign"), "not a table").unwrap();
    shell.run(["drop", "foreign"]).error();
    assert!(shell.path().join("foreign").exists());
}

#[test]
fn dropping_a_table_in_use_is_reported_and_a_new_one_is_empty() {
    let shell = Shell::new();
    let mut child = shell.attach("t");
    let ran = shell.run(["drop", "t"]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("open in 1 process"), "{}", ran.err);
    shell.run(["create", "t"]).ok();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(shell.run(["ls", "t"]).ok(), b"");
}

#[test]
fn a_reader_that_goes_away_ends_a_listing_quietly() {
    let shell = Shell::new();
    let key = "k".repeat(200);
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"key\":\"{key}{n}\",\"value\":\"\"}}\n"))
        .collect();
    shell.feed(["load", "t"], lines.as_bytes()).ok();
    for command in [
        &["ls", "t"][..],
        &["dump", "t"],
        &["dump", "t", "--format", "binary"],
    ] {
        let mut child = shell.spawn(command);
        drop(child.stdout.take());
        wait_until(|| child.try_wait().unwrap().is_some());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn check_finds_damage_and_repair_keeps_the_rest() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "64M"]).ok();
    for n in 0..50 {
        shell.run(["set", "t", &format!("key {n}"), "value"]).ok();
    }
    shell
        .run(["set", "t", "the one to be damaged", "value"])
        .ok();
    let path = shell.path().join("t");
    let bytes = fs::read(&path).unwrap();
    let key = b"the one to be damaged";
    let at = bytes
        .windows(key.len())
        .position(|window| window == key)
        .unwrap();
    // The header of an item is right before its key.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0xff; 8], at as u64 - 8).unwrap();
    let ran = shell.run(["check", "t"]);
    assert!(
        String::from_utf8_lossy(&ran.out).contains("tavola check t --repair"),
        "{ran:?}"
    );
    ran.missing();
    let ran = shell.run(["check", "t", "--json"]);
    assert_eq!(ran.json()["clean"], false);
    assert_eq!(
        ran.json()["problem_count"],
        ran.json()["problems"].as_array().unwrap().len()
    );
    // What can be read is printed anyway.
    for command in ["dump", "ls"] {
        let ran = shell.run([command, "t"]);
        let lines = String::from_utf8_lossy(&ran.out).lines().count();
        assert_eq!(lines, 50, "{command}");
        assert!(ran.error().contains("damaged"), "{command}");
    }
    let text = shell.run(["check", "t", "--repair"]).text();
    assert!(
        text.contains("before the repair") && text.contains("no problems"),
        "{text}"
    );
    assert!(shell.run(["check", "t"]).text().contains("50 keys"));
    assert_eq!(shell.run(["dump", "t"]).text().lines().count(), 50);
    shell.run(["get", "t", "the one to be damaged"]).missing();
    assert_eq!(shell.run(["get", "t", "key 49"]).ok(), b"value");
}

#[test]
fn resize_raises_what_a_table_may_grow_to() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "1M"]).ok();
    let text = shell.run(["resize", "t", "8M"]).text();
    assert_eq!(text, "t may now grow to 8 MiB; it was 1 MiB\n");
    assert_eq!(
        shell.run(["stat", "t", "--json"]).json()["max_size"],
        8 << 20
    );
    let lower = shell.run(["resize", "t", "1M"]).error();
    assert!(lower.contains("only be raised"), "{lower}");
    let large = shell.run(["resize", "t", "1G"]).error();
    assert!(large.contains("tavola dump"), "{large}");
    assert_eq!(shell.run(["resize", "t", "much"]).code, 2);
    shell.run(["resize", "missing", "4M"]).error();
}

#[test]
fn migrate_leaves_a_table_of_the_present_format_alone() {
    let shell = Shell::new();
    shell.run(["set", "t", "key", "value"]).ok();
    let text = shell.run(["migrate", "t"]).text();
    assert_eq!(text, "t already has format 2\n");
    assert_eq!(shell.run(["get", "t", "key"]).ok(), b"value");
    shell.run(["migrate", "missing"]).error();
}

/// Its programs have fewer addresses than a table may have bytes.
#[test]
fn a_table_is_used_under_valgrind() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    for (args, out) in [
        (&["get", "t", "k"][..], &b"v"[..]),
        (&["set", "new", "k", "v"], b""),
    ] {
        let mut valgrind = std::process::Command::new("valgrind");
        let command = shell.command(args);
        valgrind
            .args(["--quiet", "--error-exitcode=9"])
            .arg(command.get_program())
            .args(args);
        valgrind.env("TAVOLA_DIR", shell.path());
        let ran = valgrind
            .output()
            .expect("valgrind; run: scripts/setup test");
        assert!(ran.status.success() && ran.stdout == out, "{ran:?}");
    }
}
