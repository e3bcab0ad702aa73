//! `tavola top`: what is on a terminal while a table is used, and what is left there after.

mod seat;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use crate::shell::{Shell, wait_until};
use rustix::process::Signal;
use seat::{Seat, at_terminal, sit};
use tavola::Table;

/// Somebody who reads and writes a table until it is dropped: three of four reads are hits.
struct Busy {
    done: Arc<AtomicU64>,
    end: Arc<AtomicBool>,
    work: Option<JoinHandle<()>>,
}

impl Busy {
    fn with(shell: &Shell, name: &str) -> Busy {
        let table = Table::options()
            .open_existing(shell.path().join(name))
            .unwrap();
        let end = Arc::new(AtomicBool::new(false));
        let done = Arc::new(AtomicU64::new(0));
        let (ended, counter) = (Arc::clone(&end), Arc::clone(&done));
        let work = thread::spawn(move || {
            for n in 0_u64.. {
                table
                    .set(format!("k{}", n % 300).as_bytes(), b"value")
                    .unwrap();
                for other in 0..8 {
                    // Of keys that are there, and one of four that is not.
                    let key = if other % 4 == 0 {
                        "none".to_string()
                    } else {
                        format!("k{}", n % 300)
                    };
                    table.get(key.as_bytes()).unwrap();
                }
                counter.store(n, Ordering::Relaxed);
                if ended.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        let work = Some(work);
        Busy { done, end, work }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        self.work.take().unwrap().join().unwrap();
    }
}

/// A cache that is used.
fn busy_cache() -> (Shell, Busy) {
    let shell = Shell::new();
    shell.run(["create", "c", "--capacity", "8M"]).ok();
    let busy = Busy::with(&shell, "c");
    // Enough calls that some were timed.
    wait_until(|| busy.done.load(Ordering::Relaxed) > 10_000);
    (shell, busy)
}

const QUICK: [&str; 4] = ["top", "c", "--interval", "0.2"];

/// The first number of that row, if there is one.
fn hit_ratio(row: &str) -> Option<f64> {
    row.strip_prefix("hit ratio")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// A row with single spaces.
fn words(row: &str) -> String {
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_essentials_fit_on_80_by_24() {
    let (shell, _busy) = busy_cache();
    let seat = Seat::new(&shell, &QUICK, 80, 24);
    let modes = seat.modes();
    let pid = format!("{:>8}", std::process::id());
    // Between two looks there may have been no read, and of a frame the end may still be to come.
    let rows = seat.wait("a chart, latencies and a hit ratio", |rows| {
        let all = rows.join("\n");
        all.matches('█').count() > 4
            && all.contains("latency, 60 s")
            && all.contains(&pid)
            && rows.len() == 24
            && rows[23].starts_with("q quit   p pause   every 0.2 s")
            && hit_ratio(&rows[6]).is_some_and(|ratio| ratio > 70.0 && ratio < 80.0)
    });
    assert!(
        rows[0].starts_with("tavola top: c  a cache of 1 shard, made "),
        "{rows:?}"
    );
    assert!(rows[1].starts_with("keys    300 (") && rows[2].contains(" of 8 MiB: index "));
    assert_eq!(words(&rows[4]), "now 10 s 60 s in all hit ratio over time");
    for (row, begin) in [
        (5, "reads/s"),
        (6, "hit ratio"),
        (7, "writes/s"),
        (8, "evicted/s"),
    ] {
        assert!(rows[row].starts_with(begin), "{rows:?}");
    }
    assert!(
        rows[5].contains(" M ") || rows[5].contains(" k "),
        "{}",
        rows[5]
    );
    assert!(rows[11].contains("p50     p99   p99.9     blocks     memory    used"));
    // Where the clock is slow, a read takes microseconds.
    let times = [" ns", " us", " ms"].map(|unit| rows[12].contains(unit));
    assert!(
        rows[12].starts_with("reads ") && times.contains(&true),
        "{rows:?}"
    );
    assert!(rows[14].starts_with("writes "), "{rows:?}");
    assert_eq!(
        words(&rows[17]),
        "pid reads/s writes/s 1 process shard writes/s of all"
    );
    assert!(
        rows[18].starts_with(&pid) && rows[18].contains("  command-"),
        "{rows:?}"
    );
    assert!(rows[18].ends_with(" 100.0 %"), "{rows:?}");
    assert!(seat.bytes().contains("\x1b[38;5;"), "no colour");
    seat.press("q");
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn more_is_seen_on_120_by_40() {
    let (shell, _busy) = busy_cache();
    let mut command = at_terminal(&shell, &QUICK);
    command.env("NO_COLOR", "1");
    let seat = Seat::of(command, 120, 40);
    let modes = seat.modes();
    let rows = seat.wait("histograms", |rows| {
        let mut bars = rows
            .iter()
            .skip_while(|row| words(row) != "within reads writes")
            .take(5);
        rows.len() == 40 && bars.any(|row| row.contains("s ██") && row.contains(" %"))
    });
    let shards = "shard writes/s of all keys evicted/s";
    assert!(
        rows.iter().any(|row| words(row).ends_with(shards)),
        "{rows:?}"
    );
    assert!(
        !seat.bytes().contains("\x1b[38;"),
        "colours in spite of NO_COLOR"
    );
    // In raw mode Ctrl-C is a key.
    seat.press("\x03");
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn it_fits_in_a_window_of_any_size() {
    let (shell, _busy) = busy_cache();
    let seat = Seat::new(&shell, &QUICK, 120, 40);
    let modes = seat.modes();
    seat.wait("all of it", |rows| {
        rows.len() == 40 && rows[39].starts_with("q quit")
    });
    for (columns, rows) in [(80, 24), (40, 12), (20, 5), (7, 2), (1, 1), (300, 90)] {
        seat.resize(columns, rows);
        let (columns, rows): (usize, usize) = (columns.into(), rows.into());
        let keys = &"q quit   p pause"[..columns.min(16)];
        let title = &"tavola top: c  a cache"[..columns.min(22)];
        seat.wait(&format!("{columns} x {rows}"), |all| {
            let above = |row: &String| rows == 1 || row.starts_with(title.trim_end());
            all.len() == rows
                && all.first().is_some_and(above)
                && all[rows - 1].starts_with(keys.trim_end())
        });
    }
    seat.press("\x1b[A\x1b[Bx");
    seat.resize(80, 24);
    seat.wait("80 x 24", |all| {
        all.len() == 24 && all[23].starts_with("q quit")
    });
    seat.press("pq");
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn it_pauses_and_continues() {
    let (shell, busy) = busy_cache();
    let seat = Seat::new(&shell, &QUICK, 80, 24);
    let modes = seat.modes();
    seat.wait_for("every 0.2 s");
    seat.press("p");
    seat.wait_for("PAUSED");
    drop(busy);
    shell.run(["set", "c", "another", "one"]).ok();
    let rows = seat.wait_for("PAUSED");
    assert!(rows[1].starts_with("keys    300 "), "{rows:?}");
    seat.press(" ");
    seat.wait("a look", |rows| rows[1].starts_with("keys    301 "));
    seat.signal(Signal::TERM);
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn a_table_that_goes_and_comes_is_reported() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    let seat = Seat::new(&shell, &["top", "t", "--interval", "0.2"], 80, 24);
    let modes = seat.modes();
    seat.wait_for("a table of 32 shards");
    seat.wait_for("changes per second over time");
    seat.wait_for("measured in caches only");
    shell.run(["drop", "t"]).ok();
    let rows = seat.wait_for("waiting for it to come back");
    assert!(rows.join(" ").contains("there is no table"), "{rows:?}");
    shell.run(["set", "t", "k", "v"]).ok();
    shell.run(["set", "t", "l", "v"]).ok();
    seat.wait("the other table", |rows| rows[1].starts_with("keys    2 "));
    seat.wait_for("a new table of this name: statistics restarted");
    // Dropped and made again between two looks.
    seat.press("p");
    seat.wait_for("PAUSED");
    shell.run(["drop", "t"]).ok();
    shell.run(["set", "t", "k", "v"]).ok();
    seat.press("p");
    seat.wait("the third table", |rows| rows[1].starts_with("keys    1"));
    seat.press("q");
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn dead_processes_are_shown_and_shards_by_their_writes() {
    let shell = Shell::new();
    let mut victim = shell.attach("t");
    victim.kill().unwrap();
    victim.wait().unwrap();
    let seat = Seat::new(&shell, &["top", "t", "-i", "0.2", "-n", "9999"], 80, 24);
    let modes = seat.modes();
    let rows = seat.wait_for("1 process, 1 dead");
    let line = format!("{:>8}", victim.id());
    assert!(
        rows.iter()
            .any(|row| row.starts_with(&line) && row.contains("(dead;"))
    );
    let table = Table::options()
        .open_existing(shell.path().join("t"))
        .unwrap();
    let numbers: Vec<u64> = (0..20_000).collect();
    let one_key = |_: &u64| table.set(b"k1", b"x").unwrap();
    // One shard has all the writes of some look.
    seat.wait("a hot shard", |rows| {
        numbers.iter().for_each(one_key);
        rows.iter().any(|row| row.ends_with(" 100.0 %"))
    });
    seat.press("q");
    assert_eq!(seat.ends_well(&modes), 0);
}

#[test]
fn it_ends_with_its_terminal_and_after_the_given_count() {
    let (shell, _busy) = busy_cache();
    let (mut child, near, far) = sit(at_terminal(&shell, &QUICK), 80, 24);
    let mut begin = [0; 8];
    File::from(near).read_exact(&mut begin).expect("it draws");
    drop(far);
    // Nobody has the near end any more.
    wait_until(|| child.try_wait().expect("a child of ours").is_some());
    let args = [&QUICK[..], &["--count", "2"]].concat();
    let counted = Seat::new(&shell, &args, 80, 24);
    let modes = counted.modes();
    assert_eq!(counted.ends_well(&modes), 0);
}

#[test]
fn it_is_text_where_there_is_no_terminal() {
    let (shell, _busy) = busy_cache();
    let cases: [(&[&str], usize); 3] = [
        (&["--once"], 1),
        (&["--count", "2"], 2),
        (&["--batch", "-n", "2"], 2),
    ];
    for (args, count) in cases {
        let args = [&QUICK[..], args].concat();
        let ran = shell.command(&args).env("LC_ALL", "C").output().unwrap();
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(text.matches("\nreads/s ").count(), count, "{text}");
        for part in [
            "tavola top: c  a cache",
            "latency, ",
            "within reads",
            "1 process\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.is_ascii() && !text.contains('\x1b'), "{text}");
        assert!(text.contains("##"), "{text}");
    }
    // The screen has room for every line: how many there are depends on the latencies.
    let seat = Seat::new(&shell, &[&QUICK[..], &["--once"]].concat(), 120, 100);
    seat.wait_for("tavola top: c");
    assert!(!seat.bytes().contains('\x1b'));
}

#[test]
fn it_changes_nothing() {
    let shell = Shell::new();
    assert!(
        shell
            .run(["top", "none"])
            .error()
            .contains("there is no table")
    );
    assert_eq!(shell.run(["top", "t", "--interval", "0"]).code, 2);
    shell.run(["set", "t", "k", "v"]).ok();
    shell.chmod("", 0o755);
    shell.chmod("t", 0o444);
    let ran = shell.run_as_stranger(["top", "t", "--once"]);
    assert!(ran.text().contains("0 processes"));
}
