//! What commands report of a table that waits, drops or keeps what is over: in `stat`, `top`, `ls`,
//! `doctor`, the exporter, and while a command waits.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

use crate::shell::{Shell, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Writes the locks of all shards as their holder would, or as free.
fn lock_all(shell: &Shell, table: &str, stat: &Value, holder: Option<&Value>) {
    let path = shell.path().join(table);
    let bytes = File::options()
        .read(true)
        .write(true)
        .open(path)
        .expect("the table");
    let shards = stat["shards"].as_u64().expect("a number");
    let word = holder.map_or(0, |holder| {
        let slot = holder["slot"].as_u64().expect("a number");
        let mut generation = [0; 4];
        let place = 4096 + 1536 * shards + 128 * slot;
        bytes.read_exact_at(&mut generation, place).expect("a slot");
        slot as u32 | u32::from_le_bytes(generation) << 12
    });
    for shard in 0..shards {
        let place = 4096 + 1536 * shard + 576;
        bytes
            .write_all_at(&word.to_le_bytes(), place)
            .expect("a lock");
    }
}

#[test]
fn the_holder_of_a_lock_is_named() {
    let shell = Shell::new();
    let mut child = shell.attach("t");
    let pid = child.id();
    let send = |signal| kill_process(Pid::from_child(&child), signal).expect("it runs");
    let stat = || shell.run(["stat", "t", "--json"]).json();
    assert_eq!(stat()["locked"], Value::Array(vec![]));
    send(Signal::STOP);
    wait_until(|| stat()["participants"][0]["stopped"] == true);
    let now = stat();
    lock_all(&shell, "t", &now, Some(&now["participants"][0]));

    let named = format!("is locked by pid {pid}, which is stopped, for more than");
    let busy = shell
        .run(["set", "t", "k", "v", "--lock-timeout", "50ms"])
        .error();
    assert!(busy.contains(&named), "{busy}");
    let locked = stat();
    assert_eq!(locked["locked"][0]["pid"], pid);
    let text = shell.run(["stat", "t"]).text();
    assert!(
        text.contains(&format!(
            "by pid {pid}, which is stopped: writers are waiting"
        )),
        "{text}"
    );
    let screen = shell.run(["top", "t", "--once"]).text();
    assert!(
        screen.contains("(stopped)") && screen.contains("locked  shard 0 by pid"),
        "{screen}"
    );
    let ran = shell.run(["doctor"]);
    let out = String::from_utf8_lossy(&ran.out);
    assert!(
        out.contains(&format!("continue it: kill -CONT {pid}")),
        "{out}"
    );

    // A command that waits says so, once, and continues when it can.
    let mut waits = shell.spawn(["set", "t", "k", "v"]);
    let mut warnings = waits.stderr.take().expect("a pipe");
    let mut first = [0; 9];
    warnings.read_exact(&mut first).expect("a message");
    lock_all(&shell, "t", &now, None);
    let mut rest = String::new();
    warnings.read_to_string(&mut rest).expect("text");
    assert_eq!(&first, b"tavola: w");
    let known = format!("aiting for pid {pid}, which is stopped (shard ");
    assert!(
        rest.starts_with(&known) && rest.lines().count() == 1,
        "{rest}"
    );
    assert!(waits.wait().expect("it ends").success());
    send(Signal::CONT);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
    assert_eq!(shell.run(["get", "t", "k"]).ok(), b"v");
}

#[test]
fn live_keys_are_distinguished_from_expired_ones() {
    let shell = Shell::new();
    let keys: String = (0..2000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"v\",\"tags\":[\"group\"]}}\n"))
        .collect();
    shell.feed(["load", "t", "-"], keys.as_bytes()).ok();
    shell.run(["set", "t", "stays", "v"]).ok();
    shell.run(["invalidate", "t", "group"]).ok();
    let stat = shell.run(["stat", "t", "--json"]).json();
    let over = stat["unreclaimed_keys"].as_u64().expect("a number");
    assert_eq!(stat["live_keys"], 1);
    assert!(over > 1000 && stat["keys"] == over + 1, "{stat}");
    let text = shell.run(["stat", "t"]).text();
    assert!(
        text.contains(" 1 live, ") && text.contains(" not yet reclaimed"),
        "{text}"
    );
    let screen = shell.run(["top", "t", "--once"]).text();
    assert!(screen.contains("keys    1 live, "), "{screen}");
    let tables = shell.run(["ls"]).text();
    let numbers: Vec<_> = tables.trim_end().split('\t').collect();
    assert_eq!((numbers[1], numbers.len()), ("1", 9), "{tables}");
    assert!(numbers[4].parse::<u64>().expect("a number") > 1000);
    let json = shell.run(["ls", "--json"]).json();
    assert_eq!(json["live_keys"], 1);
}

#[test]
fn dropped_lines_are_counted_and_shown() {
    let shell = Shell::new();
    let create = [
        "log",
        "create",
        "events",
        "--size",
        "64K",
        "--overload",
        "drop-newest",
    ];
    shell.run(create).ok();
    let lines: String = (0..5000).map(|n| format!("line {n}\n")).collect();
    let ran = shell.feed(["log", "write", "events"], lines.as_bytes());
    // There is no drain: each line is shown, whether or not there is room for it.
    assert_eq!((ran.code, ran.err.lines().count()), (0, 5000));
    let stat = shell.run(["stat", "events", "--json"]).json();
    let log = &stat["logs"][0];
    let number = |what: &str| log[what].as_u64().expect("a number");
    assert!(
        number("dropped") > 1000 && number("lines") + number("dropped") == 5000,
        "{log}"
    );
    assert_eq!(
        (&log["overload"], &log["has_drain"]),
        (&"drop-newest".into(), &false.into())
    );
    let dropped = format!(" {} dropped; ", units(number("dropped")));
    for args in [&["stat", "events"][..], &["top", "events", "--once"]] {
        let text = shell.run(args).text();
        assert!(text.contains(&dropped), "{text}");
    }
    // What fits is kept, for the drain that comes: the first lines.
    let drained = shell.run(["log", "drain", "events", "--once"]).text();
    let warnings = format!("-- {} lines were dropped --", number("dropped"));
    assert_eq!(
        drained.lines().count() as u64,
        number("lines") + 1,
        "{drained}"
    );
    assert!(
        drained.contains(&warnings) && drained.lines().next().expect("a line").ends_with("line 0")
    );
    let stat = shell.run(["stat", "events", "--json"]).json();
    assert_eq!(stat["logs"][0]["awaiting"], 0);
}

/// As numbers are written for people.
fn units(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}
