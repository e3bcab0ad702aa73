//! `tavola txn`: all changes of a script, or none.

use crate::shell::Shell;

#[test]
fn all_lines_happen_or_none() {
    let shell = Shell::new();
    shell.run(["set", "t", "alice", "10"]).ok();
    let script = b"# moves money\nexpect alice 10\n\nincr alice -4\nincr bob 4\nget bob\n";
    assert_eq!(shell.feed(["txn", "t"], script).text(), "4\n");
    assert_eq!(shell.run(["get", "t", "alice"]).ok(), b"6");
    // Alice does not have 10 any more.
    shell.feed(["txn", "t"], script).missing();
    assert_eq!(shell.run(["get", "t", "bob"]).ok(), b"4");
    let script = b"set c 'two words'\nadd d x\nappend c !\ndel bob\nexpect-missing bob\n";
    shell.feed(["txn", "t", "-"], script).ok();
    assert_eq!(shell.run(["get", "t", "c"]).ok(), b"two words!");
    shell.run(["exists", "t", "bob"]).missing();
    for refused in ["add d y", "append none x", "expect-missing d", "get none"] {
        let script = format!("set c changed\n{refused}\n");
        shell.feed(["txn", "t"], script.as_bytes()).missing();
        assert_eq!(shell.run(["get", "t", "c"]).ok(), b"two words!");
    }
}

#[test]
fn a_wrong_line_is_named_and_changes_nothing() {
    let shell = Shell::new();
    shell.run(["set", "t", "text", "abc"]).ok();
    for (line, why) in [
        ("incr text", "line 2: the value is not"),
        ("incr n x", "line 2: 'incr' takes a whole number"),
        ("set a", "line 2: 'set' has another number of words"),
        (
            "frobnicate a",
            "line 2: 'frobnicate' is no line of a transaction",
        ),
    ] {
        let script = format!("set a 1\n{line}\n");
        let error = shell.feed(["txn", "t"], script.as_bytes()).error();
        assert!(error.contains(why), "{error}");
        shell.run(["exists", "t", "a"]).missing();
    }
    shell.run(["create", "cache", "--capacity", "1M"]).ok();
    let error = shell.feed(["txn", "cache"], b"set a 1\n").error();
    assert!(error.contains("without a capacity"), "{error}");
}
