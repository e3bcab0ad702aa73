//! Durable tables whose users do not see the same: another memory, or a directory on a read-only
//! mount.
//!
//! The mounts are those of a namespace of the command alone. Where none can be made, nothing is
//! tested.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::durable::{Durable, end};
use crate::shell::Ran;

/// Mounts an empty memory where the tables are, then becomes the command.
const OTHER_MEMORY: &str = r#"mount -t tmpfs tmpfs "$TAVOLA_DIR" || exit 99; exec "$@""#;

const ELSEWHERE: &str = "is in use by processes whose shared memory this process cannot reach";

/// Makes the directory of the durable table read-only, then becomes the command.
const READ_ONLY: &str = r#"
mount --bind "$USERS" "$USERS" && mount -o remount,bind,ro "$USERS" || exit 99
exec "$@"
"#;

/// The command in a mount namespace, after a script has run there.
fn command(durable: &Durable, script: &str, args: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--", "sh", "-c", script, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_tavola")).args(args);
    command
        .env("TAVOLA_DIR", durable.shell.path())
        .env("USERS", args.last().expect("a directory"))
        .stdin(Stdio::null());
    command
}

/// Runs the command there, with the directory as its last argument; returns `None` where no
/// namespace or mount can be made.
fn run(durable: &Durable, script: &str, args: &[&str]) -> Option<Ran> {
    let ran = Ran::of(command(durable, script, args).output().ok()?);
    if ran.code == 99 || ran.err.contains("unshare:") {
        println!("skipped: no mounts can be made here");
        return None;
    }
    Some(ran)
}

/// Starts `tavola keep` with another memory, and returns when it has the table.
fn keep_elsewhere(durable: &Durable, home: &str) -> Child {
    let mut keeper = command(durable, OTHER_MEMORY, &["keep", home]);
    let mut keeper = keeper.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let mut lines = BufReader::new(keeper.stdout.as_mut().expect("a pipe"));
    lines.read_line(&mut line).expect("a line");
    assert!(line.starts_with("keeping "), "{line}");
    keeper
}

#[test]
fn containers_with_another_memory_each_are_refused_with_the_reason() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "k", "v"]).ok();
    let Some(counted) = run(&durable, OTHER_MEMORY, &["count", &home]) else {
        return;
    };
    assert_eq!(counted.text(), "1\n");
    let mut keeper = keep_elsewhere(&durable, &home);
    for args in [&["get", &home, "k"][..], &["set", &home, "k", "w"]] {
        let error = durable.run(args).error();
        assert!(error.contains(ELSEWHERE), "{args:?}: {error}");
    }
    // A third one has neither of the two memories.
    let third = run(&durable, OTHER_MEMORY, &["count", &home]).expect("as before");
    assert!(third.error().contains(ELSEWHERE));
    assert!(end(&mut keeper).success());
    // When its users are gone, the next one rebuilds it from the files.
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "v");
}

#[test]
fn a_directory_on_a_read_only_mount_is_read_and_refuses_writes() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "k", "v"]).ok();
    let Some(read) = run(&durable, READ_ONLY, &["count", &home]) else {
        return;
    };
    assert_eq!(read.text(), "1\n");
    let refused = |args: &[&str]| {
        let ran = run(&durable, READ_ONLY, args).expect("as before");
        let error = ran.error();
        assert!(error.contains("read-only file system"), "{args:?}: {error}");
        assert!(error.contains("by its path"), "{args:?}: {error}");
    };
    for command in ["clear", "snapshot", "sync"] {
        refused(&[command, &home]);
    }
    // It cannot be rebuilt there, and nothing of it is lost by that.
    durable.lose_memory();
    refused(&["count", &home]);
    refused(&["clear", &home]);
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "v");
    let journal = durable.run(&["journal", "--verify", &home]).text();
    assert!(journal.contains("nothing is missing"), "{journal}");
}
