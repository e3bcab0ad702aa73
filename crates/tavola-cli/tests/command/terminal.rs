//! What people see: the command with a pseudo-terminal at its ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::{self, JoinHandle};

use crate::shell::Shell;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A terminal of 100 columns; gives its near end and something that opens its far one.
pub fn terminal() -> (OwnedFd, impl Fn() -> File) {
    let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
        .expect("a pseudo-terminal");
    grantpt(&near).expect("its far end is ours");
    unlockpt(&near).expect("its far end opens");
    let size = Winsize {
        ws_row: 30,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&near, size).expect("a size");
    let name = ptsname(&near, Vec::new()).expect("its far end has a name");
    let far = move || {
        let name = name.to_str().expect("a plain name");
        OpenOptions::new()
            .read(true)
            .write(true)
            .open(name)
            .expect("its far end")
    };
    (near, far)
}

/// Everything that is written to the terminal until nobody holds its far end.
pub fn watch(near: OwnedFd) -> JoinHandle<String> {
    thread::spawn(move || {
        let (mut near, mut seen, mut piece) = (File::from(near), Vec::new(), [0; 4096]);
        // Linux ends a terminal that nobody holds with an error.
        while let Ok(count @ 1..) = near.read(&mut piece) {
            seen.extend_from_slice(&piece[..count]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    })
}

/// Runs the command at a terminal; gives its exit code and all that was seen.
pub fn run(shell: &Shell, args: &[&str]) -> (i32, String) {
    let (near, far) = terminal();
    let mut command = shell.command(args);
    command
        .stdin(far())
        .stdout(far())
        .stderr(far())
        .env("TERM", "xterm");
    let mut child = command.spawn().expect("the command starts");
    drop((command, far));
    let seen = watch(near);
    let code = child
        .wait()
        .expect("the command ends")
        .code()
        .expect("not by a signal");
    (code, seen.join().expect("the watch ends"))
}

#[test]
fn values_and_keys_are_made_for_eyes() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    assert_eq!(run(&shell, &["get", "t", "k"]), (0, "v\r\n".to_string()));
    let (code, seen) = run(&shell, &["get", "t", "none"]);
    assert!(code == 1 && seen.contains("missing"), "{seen}");
    shell.run(["del", "t", "k"]).ok();
    shell.run(["set", "t", "--hex", "1b5b326a", "v"]).ok();
    assert_eq!(run(&shell, &["ls", "t"]), (0, "\\x1b[2j\r\n".to_string()));
    let (code, seen) = run(&shell, &["ls"]);
    assert!(
        code == 0 && seen.contains("TABLE") && seen.contains("KEYS"),
        "{seen}"
    );
}

#[test]
fn nothing_waits_for_a_person_to_type_a_value() {
    let shell = Shell::new();
    for args in [&["set", "t", "k"][..], &["add", "t", "k"], &["load", "t"]] {
        let (code, seen) = run(&shell, args);
        assert!(
            code == 2 && seen.starts_with("tavola: the ") && seen.contains(" is missing: "),
            "{args:?}: {seen}"
        );
    }
    assert!(!shell.path().join("t").exists());
}

#[test]
fn a_binary_dump_spares_the_terminal() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    let (code, seen) = run(&shell, &["dump", "t", "--format", "binary"]);
    assert!(
        code == 2 && seen.starts_with("tavola: a binary dump cannot be written"),
        "{seen}"
    );
    let (code, seen) = run(&shell, &["dump", "t"]);
    assert_eq!(
        (code, seen.as_str()),
        (0, "{\"key\":\"k\",\"value\":\"v\"}\r\n")
    );
}

/// A file of 200,000 entries.
fn many_lines(shell: &Shell) -> PathBuf {
    let mut lines = Vec::new();
    for n in 0..200_000 {
        writeln!(lines, "{{\"key\":\"k{n}\",\"value\":\"v{n}\"}}").unwrap();
    }
    shell.file("lines.jsonl", &lines)
}

#[test]
fn a_load_shows_a_bar_and_what_it_did_on_a_terminal_only() {
    let shell = Shell::new();
    let file = many_lines(&shell);
    let file = file.to_str().unwrap();
    let (code, seen) = run(&shell, &["load", "t", file]);
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("MiB of"), "no bar: {seen}");
    assert!(seen.contains("loaded 200,000 entries into t"), "{seen}");
    shell.run(["load", "t", file]).ok();
}

#[test]
fn a_dump_shows_a_bar_on_a_terminal_only() {
    let shell = Shell::new();
    let file = many_lines(&shell);
    shell.run(["load", "t", file.to_str().unwrap()]).ok();
    let to = shell.path().join(".dumped");
    let args = ["dump", "t", to.to_str().unwrap()];
    let (code, seen) = run(&shell, &args);
    assert_eq!(code, 0, "{seen}");
    assert!(seen.contains("of 200,000 keys"), "no bar: {seen}");
    shell.run(args).ok();
    // At its ends a terminal for what people see, and none for the entries.
    let (near, far) = terminal();
    let mut command = shell.command(["dump", "t"]);
    command
        .stdout(Stdio::null())
        .stderr(far())
        .env("TERM", "xterm");
    let mut child = command.spawn().unwrap();
    drop((command, far));
    let seen = watch(near);
    assert!(child.wait().unwrap().success());
    assert!(seen.join().unwrap().contains("of 200,000 keys"));
}
