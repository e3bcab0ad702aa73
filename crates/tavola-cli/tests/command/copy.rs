//! `tavola copy`: a whole copy of a table in use; and what `check` says of a copy made by `cp`.

use crate::shell::Shell;

#[test]
fn a_copy_has_the_keys_and_never_replaces_a_file() {
    let shell = Shell::new();
    for number in 0..100 {
        let (key, value) = (format!("k{number}"), format!("v{number}"));
        shell.run(["set", "t", &key, &value, "--ttl", "1h"]).ok();
    }
    let mut attached = shell.attach("t");
    let said = shell.run(["copy", "t", "new"]).text();
    assert!(said.contains(" keys from t to "), "{said}");
    assert_eq!(shell.run(["get", "new", "k999"]).ok(), b"v");
    let path = shell.path().join("elsewhere");
    shell.run(["copy", "t", path.to_str().unwrap()]).ok();
    let check = shell.run(["check", "elsewhere"]).text();
    assert!(check.contains("no problems; "), "{check}");
    let refused = shell.run(["copy", "t", "new"]).error();
    assert!(refused.contains("already exists"), "{refused}");
    attached.kill().unwrap();
    attached.wait().unwrap();
}

#[test]
fn what_is_beside_the_keys_is_named_as_left_out() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    tavola::LogOptions::new()
        .create_in(
            &tavola::Table::open(shell.path().join("t")).unwrap(),
            "audit",
        )
        .unwrap();
    let ran = shell.run(["copy", "t", "new"]);
    assert!(
        ran.err.contains("1 log of t is not copied: audit"),
        "{}",
        ran.err
    );
    assert_eq!(shell.run(["get", "new", "k"]).ok(), b"v");
}

#[test]
fn a_copy_by_cp_of_a_table_in_use_is_never_without_problems() {
    let shell = Shell::new();
    // All bytes of the file are copied, also those that take no memory.
    shell.run(["create", "t", "--max-size", "8M"]).ok();
    let mut attached = shell.attach("t");
    std::fs::copy(shell.path().join("t"), shell.path().join("bytes")).unwrap();
    for args in [
        &["check", "bytes"][..],
        &["check", "bytes", "--repair"],
        &["check", "bytes"],
    ] {
        let ran = shell.run(args);
        let said = String::from_utf8(ran.out.clone()).unwrap();
        assert_eq!(ran.code, 1, "{said}");
        assert!(said.contains("values may be torn"), "{said}");
        assert!(!said.contains("no problems"), "{said}");
    }
    let json = shell.run(["check", "bytes", "--json"]).json();
    assert_eq!(json["copied_in_use"], true);
    // The table itself is not a copy, by another name either.
    attached.kill().unwrap();
    attached.wait().unwrap();
    std::fs::rename(shell.path().join("t"), shell.path().join("moved")).unwrap();
    let said = shell.run(["check", "moved"]).text();
    assert!(said.contains("no problems"), "{said}");
}
