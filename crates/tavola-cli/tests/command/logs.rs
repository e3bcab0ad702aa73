//! `tavola log`: written by some, shown, followed and drained by others.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread;

use crate::shell::{Shell, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn end(child: &Child, signal: Signal) {
    let pid = Pid::from_child(child);
    kill_process(pid, signal).expect("it runs");
}

/// What follows level and writer in each line.
fn texts(out: &str) -> Vec<&str> {
    out.lines()
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().take(3).collect();
            let at = line.find(words[2]).expect("a writer") + words[2].len() + 1;
            &line[at..]
        })
        .collect()
}

fn write(shell: &Shell, args: &[&str]) {
    let ran = shell.run([&["log", "write"], args].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn what_one_process_writes_another_shows() {
    let shell = Shell::new();
    let missing = shell.run(["log", "show", "events"]).error();
    assert!(missing.contains("no table at"), "{missing}");
    let ran = shell.run(["log", "write", "events", "first", "--level", "warn"]);
    assert_eq!(ran.code, 0);
    // There is no drain.
    assert_eq!(texts(&ran.err), ["first"]);
    let ran = shell.feed(["log", "write", "events"], b"second\nthird\x1b\n\nlast");
    assert_eq!(ran.code, 0);
    let shown = shell.run(["log", "show", "events"]).text();
    assert_eq!(texts(&shown), ["first", "second", "third\\x1b", "", "last"]);
    let last = shell.run(["log", "show", "events", "-n", "2"]);
    assert_eq!(texts(&last.text()), ["", "last"]);
    let grave = shell.run(["log", "show", "events", "--level", "warn", "--json"]);
    let line = grave.json();
    assert_eq!(
        (&line["text"], &line["level"]),
        (&"first".into(), &"WARN".into())
    );
    assert!(line["pid"].as_u64() > Some(0) && line["unix_ns"].as_u64() > Some(0));
    let none = shell.run(["log", "show", "events", "--level", "error"]);
    assert_eq!(none.missing(), b"");
    let wrong = shell.run(["log", "show", "events", "--level", "loud"]);
    assert!(wrong.err.contains("'loud' is not a level"), "{wrong:?}");
}

#[test]
fn lines_in_the_short_form_have_the_time_since_the_first_and_a_number_for_each_writer() {
    let shell = Shell::new();
    for text in ["one", "two", "three"] {
        write(&shell, &["events", text]);
    }
    let shown = shell.run(["log", "show", "events", "--format", "short"]);
    let shown = shown.text();
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split(' ').collect())
        .collect();
    assert_eq!(lines[0], ["#0.000000", "1", "one"]);
    let rest: Vec<&[&str]> = lines.iter().map(|line| &line[1..]).collect();
    assert_eq!(rest, [["1", "one"], ["2", "two"], ["3", "three"]]);
    let seconds = |line: &[&str]| line[0].strip_prefix('#')?.parse::<f64>().ok();
    let seconds: Option<Vec<f64>> = lines.iter().map(|line| seconds(line)).collect();
    assert!(seconds.expect("seconds").is_sorted(), "{shown}");
    let both = shell.run(["log", "show", "events", "--format", "short", "--json"]);
    assert!(both.err.contains("cannot be used with"), "{both:?}");
}

#[test]
fn what_a_killed_writer_wrote_is_shown() {
    let shell = Shell::new();
    let mut command = shell.command(["log", "write", "events"]);
    let quiet = command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut writer = quiet.spawn().expect("the command starts");
    let mut input = writer.stdin.take().expect("a pipe");
    // As long as it takes them: it is killed while it writes.
    let feeding = thread::spawn(move || {
        let mut lines = 0..;
        while lines
            .next()
            .is_some_and(|n: u64| writeln!(input, "line {n}").is_ok())
        {}
    });
    let show = || shell.run(["log", "show", "events"]);
    wait_until(|| show().out.iter().filter(|&&byte| byte == b'\n').count() > 1000);
    end(&writer, Signal::KILL);
    let ended = writer.wait().expect("it ends");
    assert_eq!(ended.signal(), Some(Signal::KILL.as_raw()));
    feeding.join().expect("nobody reads on");
    let shown = show().text();
    let number = |text: &&str| text.strip_prefix("line ")?.parse::<u64>().ok();
    let numbers: Vec<_> = texts(&shown).iter().filter_map(number).collect();
    assert!(
        numbers.len() > 500 && numbers.len() == shown.lines().count(),
        "{shown}"
    );
    assert!(
        numbers.windows(2).all(|two| two[1] == two[0] + 1),
        "{numbers:?}"
    );
    let last = shell.run(["log", "show", "events", "-n", "1", "--json"]);
    assert_eq!(last.json()["pid"], u64::from(writer.id()));
    write(&shell, &["events", "and on it goes"]);
    let last = shell.run(["log", "show", "events", "-n", "1"]);
    assert_eq!(texts(&last.text()), ["and on it goes"]);
}

#[test]
fn a_log_stands_beside_a_table_too() {
    let shell = Shell::new();
    shell.run(["set", "t", "key", "value"]).ok();
    let none = shell.run(["log", "show", "t"]).error();
    assert!(none.contains("no log named"), "{none}");
    let args = [
        "log",
        "create",
        "t",
        "--log",
        "a",
        "--size",
        "64K",
        "--overload",
        "block",
    ];
    shell.run(args).ok();
    write(&shell, &["t", "--log", "a", "to a"]);
    // The only one needs no name; of two, one does.
    assert_eq!(texts(&shell.run(["log", "show", "t"]).text()), ["to a"]);
    write(&shell, &["t", "--log", "b", "to b"]);
    shell.run(["log", "show", "t"]).error();
    let of_b = shell.run(["log", "show", "t", "--log", "b"]);
    assert_eq!(texts(&of_b.text()), ["to b"]);
    assert_eq!(shell.run(["get", "t", "key"]).text(), "value");
    shell.run(["check", "t"]).ok();
    let again = shell.run(["log", "create", "t", "--log", "a"]).error();
    assert!(
        again.contains("a log named \"a\" exists already"),
        "{again}"
    );
}

#[test]
fn a_drain_writes_to_files_and_ends_in_good_order() {
    let shell = Shell::new();
    let path = shell.file("out", "");
    let file = path.to_str().expect("a name");
    shell.run(["log", "create", "events"]).ok();
    let rotated = ["--rotate", "1K", "--keep", "100"];
    let drain = shell.spawn([&["log", "drain", "events", "--file", file], &rotated[..]].concat());
    wait_until(|| {
        let ran = shell.run(["log", "write", "events", "hello"]);
        assert_eq!(ran.code, 0);
        ran.err.is_empty()
    });
    let second = shell.run(["log", "drain", "events"]).error();
    assert!(second.contains("already has a drain"), "{second}");
    let many: String = (0..500).map(|n| format!("line {n}\n")).collect();
    let ran = shell.feed(["log", "write", "events"], many.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    end(&drain, Signal::TERM);
    let ended = drain.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{ended:?}");
    let mut all = String::new();
    for old in (1..=100).rev() {
        let name = format!("{file}.{old}");
        all += &std::fs::read_to_string(name).unwrap_or_default();
    }
    all += &std::fs::read_to_string(&path).expect("the file");
    let texts = texts(&all);
    assert!(texts.contains(&"hello"));
    let lines: Vec<_> = texts.iter().filter(|t| t.starts_with("line ")).collect();
    let wanted: Vec<_> = (0..500).map(|n| format!("line {n}")).collect();
    assert_eq!(lines, wanted.iter().collect::<Vec<_>>());
    // What was written out is not written out again.
    let once = shell.run(["log", "drain", "events", "--once"]);
    assert_eq!(once.text(), "");
}

#[test]
fn what_a_killed_drain_left_the_next_writes_out() {
    let shell = Shell::new();
    let args = [
        "log",
        "create",
        "events",
        "--overload",
        "block",
        "--size",
        "64K",
    ];
    shell.run(args).ok();
    let mut drain = shell.spawn(["log", "drain", "events", "--json"]);
    let mut out = BufReader::new(drain.stdout.take().expect("a pipe"));
    wait_until(|| {
        shell
            .run(["log", "write", "events", "hello"])
            .err
            .is_empty()
    });
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(line["text"], "hello");
    end(&drain, Signal::KILL);
    drain.wait().expect("it ends");
    // More than there is room for: nobody waits for the dead.
    let many = "x".repeat(99) + "\n";
    let ran = shell.feed(["log", "write", "events"], many.repeat(2000).as_bytes());
    assert_eq!(ran.code, 0);
    let once = shell.run(["log", "drain", "events", "--once"]);
    assert!(!texts(&once.text()).is_empty());
}

#[test]
fn a_follower_sees_lines_as_they_come() {
    let shell = Shell::new();
    for n in 0..20 {
        write(&shell, &["events", &format!("old {n}")]);
    }
    let mut follow = shell.spawn(["log", "follow", "events", "-n", "3"]);
    let mut out = BufReader::new(follow.stdout.take().expect("a pipe"));
    let mut next = || {
        let mut line = String::new();
        out.read_line(&mut line).expect("a line");
        texts(&line)[0].to_owned()
    };
    assert_eq!([next(), next(), next()], ["old 17", "old 18", "old 19"]);
    for n in 0..5 {
        write(&shell, &["events", &format!("new {n}")]);
        assert_eq!(next(), format!("new {n}"));
    }
    end(&follow, Signal::INT);
    assert!(follow.wait().expect("it ends").success());
}
