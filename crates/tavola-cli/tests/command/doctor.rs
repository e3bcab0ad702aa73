//! doctor: what it finds, and that it says what to do.

use std::fs;
use std::os::unix::fs::FileExt;

use crate::shell::{Ran, Shell};
use serde_json::Value;

/// The findings that need attention, without those of the machine the test runs on.
fn troubles(ran: &Ran) -> Vec<(String, String)> {
    let findings = ran.json()["findings"].as_array().unwrap().clone();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap().to_string();
    let ours = |one: &&Value| one["topic"] == "table" || one["topic"] == "directory";
    let bad = findings
        .iter()
        .filter(ours)
        .filter(|one| one["level"] == "attention");
    let bad: Vec<_> = bad
        .map(|one| (text(one, "message"), text(one, "advice")))
        .collect();
    assert!(bad.iter().all(|(_, advice)| !advice.is_empty()), "{bad:?}");
    bad
}

fn doctor(shell: &Shell) -> Ran {
    let ran = shell.run(["doctor", "--json"]);
    let any = ran.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .any(|one| one["level"] == "attention");
    assert_eq!(ran.code, i32::from(any), "{ran:?}");
    assert_eq!(ran.json()["good"], !any);
    ran
}

#[test]
fn sound_tables_need_no_attention() {
    let shell = Shell::new();
    assert!(troubles(&doctor(&shell)).is_empty());
    shell.run(["set", "t", "k", "v"]).ok();
    assert!(troubles(&doctor(&shell)).is_empty());
    let ran = shell.run(["doctor"]);
    let text = String::from_utf8(ran.out).unwrap();
    for topic in ["directory", "room", "limits", "huge pages", "table"] {
        assert!(text.contains(topic), "{topic}: {text}");
    }
    assert!(text.contains("t: 1 key"), "{text}");
}

#[test]
fn every_bad_file_is_reported_with_a_remedy() {
    let shell = Shell::new();
    fs::write(shell.path().join("foreign"), "not a table").unwrap();
    fs::write(shell.path().join("empty"), "").unwrap();
    shell.run(["create", "cut"]).ok();
    fs::OpenOptions::new()
        .write(true)
        .open(shell.path().join("cut"))
        .unwrap()
        .set_len(5000)
        .unwrap();
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 3, "{found:?}");
    for name in ["foreign", "empty", "cut"] {
        assert!(
            found.iter().any(|(message, _)| message.contains(name)),
            "{name}: {found:?}"
        );
    }
    assert!(shell.run(["doctor"]).out.ends_with(b"need attention\n"));
}

#[test]
fn a_table_of_another_version_is_reported() {
    let shell = Shell::new();
    shell.run(["create", "t"]).ok();
    let file = fs::OpenOptions::new()
        .write(true)
        .open(shell.path().join("t"))
        .unwrap();
    // The format version follows the magic word and the mark of the byte order.
    file.write_all_at(&99_u32.to_ne_bytes(), 12).unwrap();
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].0.contains("version 99") && found[0].1.contains("dump"),
        "{found:?}"
    );
    assert!(shell.run(["get", "t", "k"]).error().contains("version 99"));
}

#[test]
fn dead_participants_are_reported_until_maintenance() {
    let shell = Shell::new();
    let mut child = shell.attach("t");
    assert!(troubles(&doctor(&shell)).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].0.contains("died") && found[0].1.contains("tavola maintain t"),
        "{found:?}"
    );
    shell.run(["maintain", "t"]).ok();
    assert!(troubles(&doctor(&shell)).is_empty());
}

#[test]
fn a_table_near_its_limit_is_reported() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "4M"]).ok();
    let value = "x".repeat(1000);
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"{value}\"}}\n"))
        .collect();
    shell.feed(["load", "t"], lines.as_bytes()).error();
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("tavola resize"), "{found:?}");
}

#[test]
fn a_directory_that_everybody_may_change_is_reported() {
    let shell = Shell::new();
    shell.chmod("", 0o777);
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].1.contains("chmod"), "{found:?}");
}

#[test]
fn a_directory_of_another_user_is_reported() {
    let shell = Shell::new();
    if std::os::unix::fs::chown(shell.path(), Some(65_533), None).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    let found = troubles(&doctor(&shell));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].0.contains("belongs to user 65533"), "{found:?}");
    // A user that may not change its mode is not advised to.
    shell.chmod("", 0o777);
    let ran = shell.run_as_stranger(["doctor", "--json"]);
    let found = troubles(&ran);
    assert!(found[0].0.contains("everybody"), "{found:?}");
    assert!(found[0].1.contains("ask user 65533"), "{found:?}");
    assert!(!found[0].1.contains("chmod"), "{found:?}");
}

/// What is not a table of ours is not to be removed, and what damage there is not is not repaired.
#[test]
fn advice_fits_the_trouble() {
    let shell = Shell::new();
    fs::write(shell.path().join("foreign"), "not a table").unwrap();
    let found = troubles(&doctor(&shell));
    assert!(
        !found[0].1.contains("remove") && !found[0].1.contains("drop"),
        "{found:?}"
    );
    fs::remove_file(shell.path().join("foreign")).unwrap();
    shell.run(["set", "t", "k", "v"]).ok();
    // Less room for addresses than any mapping of the table takes.
    let tavola = env!("CARGO_BIN_EXE_tavola");
    let mut limited = std::process::Command::new("sh");
    let script = format!("ulimit -v 600000; exec {tavola} doctor --json");
    limited
        .args(["-c", &script])
        .env("TAVOLA_DIR", shell.path());
    let output = limited.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("--repair"), "{text}");
}

#[test]
fn a_directory_that_cannot_be_made_is_reported() {
    let shell = Shell::new();
    let below = shell.file("file", "").join("tables");
    let output = shell
        .command(["doctor"])
        .env("TAVOLA_DIR", &below)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .contains("TAVOLA_DIR")
    );
}
