//! The progress of a rebuild, on a terminal.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::durable::Durable;
use crate::terminal::{terminal, watch};

/// Bytes of keys in the journal, of which progress is reported every 4 MiB.
const BYTES: u64 = 48 << 20;

/// Returns how many bytes a process has read so far.
fn bytes_read(pid: u32) -> Option<u64> {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    io.strip_prefix("rchar: ")?.lines().next()?.parse().ok()
}

/// Rebuilds the table at a terminal, stopped amid it for longer than a rebuild that is not shown;
/// `None` if it was done before it could be stopped.
fn rebuild(durable: &Durable, home: &str) -> Option<String> {
    durable.lose_memory();
    let (near, far) = terminal();
    let mut command = durable.shell.command(["count", home]);
    command.stdout(far()).stderr(far()).env("TERM", "xterm");
    let mut child = command.spawn().unwrap();
    drop((command, far));
    let seen = watch(near);
    let pid = child.id();
    while bytes_read(pid).is_some_and(|bytes| bytes < BYTES / 4) {}
    let child_id = Pid::from_child(&child);
    // A process that has ended is there until it is waited for.
    kill_process(child_id, Signal::STOP).unwrap();
    let was_amid_it = bytes_read(pid).is_some_and(|bytes| bytes < BYTES / 2);
    sleep(Duration::from_millis(700));
    kill_process(child_id, Signal::CONT).unwrap();
    assert!(child.wait().unwrap().success());
    let seen = seen.join().unwrap();
    assert!(seen.ends_with("48\r\n"), "{seen}");
    was_amid_it.then_some(seen)
}

#[test]
fn a_rebuild_that_takes_a_while_is_shown_on_a_terminal() {
    let durable = Durable::new();
    let home = durable.create_of("os", "256M");
    let value = "v".repeat(1 << 20);
    for n in 0..BYTES >> 20 {
        durable
            .shell
            .feed(["set", &home, &format!("k{n}")], value.as_bytes());
    }
    durable.run(&["sync", &home]).ok();
    let mut tries = (0..20).filter_map(|_| rebuild(&durable, &home));
    let seen = tries.next().expect("one of them is stopped amid it");
    let shown = format!("rebuilding {home}");
    assert!(
        seen.contains(&shown) && seen.contains("of at most"),
        "{seen}"
    );
    // Elsewhere nothing is shown.
    durable.lose_memory();
    let ran = durable.run(&["count", &home]);
    assert_eq!(ran.err, "");
    assert_eq!(ran.text(), "48\n");
}
