//! The command works with a stack of 64 KiB, which `ulimit -s 64` leaves it.

use std::process::Command;

use crate::shell::Shell;

/// Runs the command under `ulimit -s 64`; gives its exit code and both outputs.
fn run(shell: &Shell, args: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -s 64 && exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_tavola"))
        .args(args)
        .env("TAVOLA_DIR", shell.path())
        .output()
        .expect("a shell");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}

#[test]
fn every_kind_of_command_works_with_a_small_stack() {
    let shell = Shell::new();
    let done: [&[&str]; 26] = [
        &["--version"],
        &["--help"],
        &["serve", "--help"],
        &["create", "t", "--max-size", "64M", "--versions"],
        &["set", "t", "k", "v", "--tag", "a", "--ttl", "1h"],
        &["get", "t", "k"],
        &["incr", "t", "n"],
        &["ttl", "t", "k"],
        &["touch", "t", "k", "--ttl", "2h"],
        &["ls", "t"],
        &["stat", "t"],
        &["stat", "t", "--json"],
        &["check", "t"],
        &["check", "t", "--repair"],
        &["compact", "t"],
        &["maintain", "t"],
        &["copy", "t", "copied"],
        &["dump", "t"],
        &["dump", "t", "--format", "binary"],
        &["invalidate", "t", "a"],
        &["compute", "t", "c", "--", "echo", "x"],
        &["log", "write", "l", "a line"],
        &["log", "show", "l"],
        &["completions", "bash"],
        &["create", "c", "--capacity", "16M"],
        &["set-capacity", "c", "8M"],
    ];
    for args in done {
        let (code, said) = run(&shell, args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
    }
    let pages = shell.path().join("pages");
    let (code, said) = run(&shell, &["man", pages.to_str().unwrap()]);
    assert_eq!(code, Some(0), "man: {said}");
    // Its findings depend on the machine.
    let (code, said) = run(&shell, &["doctor"]);
    assert!(matches!(code, Some(0 | 1)), "doctor: {said}");
    for args in [&["nonsense"][..], &["get"]] {
        let (code, said) = run(&shell, args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
    }
}
