//! `tavola save` and `tavola restore`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use crate::shell::{Shell, wait_until};

#[test]
fn keys_come_back_with_all_that_they_have() {
    let shell = Shell::new();
    let path = shell.path().join(".saved");
    let file = path.to_str().unwrap();
    shell
        .run(["set", "t", "a", "1", "--ttl", "1h", "--flags", "7"])
        .ok();
    shell.run(["set", "t", "b", "2", "--tag", "news"]).ok();
    assert!(
        shell
            .run(["save", "t", file])
            .text()
            .starts_with("saved 2 keys, ")
    );
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let dumped = |table| {
        let text = shell.run(["dump", table, "--format", "tsv"]).text();
        let mut lines: Vec<_> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(
        shell.run(["restore", file, "new"]).text(),
        "restored 2 keys\n"
    );
    assert_eq!(dumped("new"), dumped("t"));
    let entry = shell.run(["get", "new", "a", "--json"]).json();
    assert_eq!(entry["flags"], 7, "{entry}");
    shell.run(["invalidate", "new", "news"]).ok();
    shell.run(["get", "new", "b"]).missing();
    let text = shell.run(["restore", file, "t"]).text();
    assert_eq!(text, "restored 0 keys; 2 were there already\n");
    // The table that was saved knows that the tag is gone; another one does not.
    shell.run(["invalidate", "t", "news"]).ok();
    let text = shell.run(["restore", file, "t"]).text();
    assert_eq!(
        text,
        "restored 0 keys; 1 were there already; 1 have lost a tag\n"
    );
}

#[test]
fn a_file_is_checked_before_a_table_is_created() {
    let shell = Shell::new();
    let path = shell.path().join(".saved");
    let file = path.to_str().unwrap();
    shell.run(["set", "t", "a", "1"]).ok();
    shell.run(["save", "t", file]).ok();
    let verified = shell.run(["journal", "--verify", file]);
    assert!(verified.text().contains("1 key, "));
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = shell.run(["restore", file, "new"]).error();
    assert!(error.contains("damaged at byte"), "{error}");
    shell.run(["count", "new"]).error();
    let verified = shell.run(["journal", "--verify", file]);
    assert_eq!(verified.code, 1);
    let error = shell.run(["restore", "/no/such/file", "new"]).error();
    assert!(error.contains("No such file"), "{error}");
    let error = shell.run(["save", "t", "/no/such/file"]).error();
    assert!(error.contains("No such file"), "{error}");
}

#[test]
fn a_save_that_is_killed_leaves_the_file_before() {
    let shell = Shell::new();
    let path = shell.path().join(".saved");
    let (file, new) = (path.to_str().unwrap(), shell.path().join(".saved.new"));
    shell.run(["set", "small", "a", "1"]).ok();
    shell.run(["save", "small", file]).ok();
    let before = fs::read(&path).unwrap();
    let lines: String = (0..200_000)
        .map(|number| format!("key{number}\tvalue{number}\n"))
        .collect();
    let load = ["load", "large", "--format", "tsv", "-"];
    shell.feed(load, lines.as_bytes()).ok();
    let mut killed = 0;
    for _ in 0..20 {
        let mut child = shell.spawn(["save", "large", file]);
        wait_until(|| new.exists() || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        if child.wait().unwrap().signal().is_some() {
            assert_eq!(fs::read(&path).unwrap(), before);
            killed += 1;
        } else {
            // It was faster.
            shell.run(["save", "small", file]).ok();
            fs::write(&path, &before).unwrap();
        }
    }
    assert!(killed > 0, "no save was killed");
    // Its half of a file is overwritten.
    shell.run(["save", "large", file]).ok();
    assert!(!new.exists());
    assert!(shell.run(["journal", file]).text().contains("200,000 keys"));
}
