//! `tavola mc`: a client of servers at free ports.

mod placing;
mod progress;

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::serve::seat::{Seat, closed, connect};
use crate::shell::{Ran, Shell};

/// A fleet of servers, each with a table of its own, and a shell.
struct Fleet {
    shell: Shell,
    seats: Vec<Seat>,
    list: String,
}

impl Fleet {
    fn of(tables: &[&str]) -> Fleet {
        Fleet::with(tables, &[])
    }

    fn with(tables: &[&str], more: &[&str]) -> Fleet {
        let shell = Shell::new();
        let start = |table: &&str| {
            let pid_file = shell.path().join(format!(".pid-{table}"));
            let free = ["serve", table, "--listen", "127.0.0.1:0"];
            let mut command = shell.command([&free, more].concat());
            command.arg("--pid-file").arg(&pid_file);
            Seat::start(command, pid_file)
        };
        let mut seats: Vec<Seat> = tables.iter().map(start).collect();
        let addresses: Vec<String> = seats.iter_mut().map(Seat::address).collect();
        let list = addresses.join(",");
        Fleet { shell, seats, list }
    }

    /// Runs a command on all servers.
    fn mc(&self, args: &[&str]) -> Ran {
        self.feed(args, b"")
    }

    fn feed(&self, args: &[&str], input: &[u8]) -> Ran {
        let servers = ["--servers", &self.list];
        self.shell.feed([&["mc"], args, &servers].concat(), input)
    }

    fn addresses(&self) -> Vec<&str> {
        self.list.split(',').collect()
    }
}

#[test]
fn copies_are_kept_on_the_next_servers_and_outlive_one() {
    let mut fleet = Fleet::of(&["a", "b", "c"]);
    let mut set = vec!["set", "k", "one", "--replicas", "1"];
    fleet.mc(&set).ok();
    let has = |table: &str| fleet.shell.run(["get", table, "k"]).code == 0;
    let tables = ["a", "b", "c"].map(has);
    assert_eq!(tables.iter().filter(|has| **has).count(), 2, "{tables:?}");
    // The own server comes before the copy, in a circle.
    let own = (0..3).find(|at| tables[*at] && tables[(at + 1) % 3]);
    fleet.seats.remove(own.expect("neighbors"));
    fleet.mc(&["get", "k"]).error();
    assert_eq!(fleet.mc(&["get", "k", "--replicas", "1"]).ok(), b"one");
    fleet.mc(&["del", "k", "--replicas", "1"]).error();
    set[4] = "3";
    let refused = fleet.mc(&set).error();
    assert!(refused.contains("replicas"), "{refused}");
}

#[test]
fn keys_are_stored_read_counted_and_removed() {
    let fleet = Fleet::of(&["a", "b"]);
    fleet
        .mc(&["set", "k", "one", "--flags", "7", "--ttl", "1h"])
        .ok();
    assert_eq!(fleet.mc(&["get", "k"]).ok(), b"one");
    fleet.mc(&["add", "k", "two"]).missing();
    fleet.mc(&["replace", "k2", "two"]).missing();
    fleet.mc(&["add", "k2", "two"]).ok();
    fleet.mc(&["replace", "k2", "three"]).ok();
    fleet.mc(&["append", "k2", "!"]).ok();
    fleet.mc(&["prepend", "k2", "<"]).ok();
    fleet.mc(&["append", "none", "!"]).missing();
    assert_eq!(
        fleet.mc(&["get", "k", "k2", "none"]).missing(),
        b"one\n<three!\n(missing)\n"
    );
    let shown = fleet.mc(&["get", "k", "none", "--json"]);
    assert_eq!(shown.code, 1);
    let lines: Vec<&[u8]> = shown.out.split(|byte| *byte == b'\n').collect();
    let first: serde_json::Value = serde_json::from_slice(lines[0]).expect("JSON");
    assert_eq!(
        (&first["value"], &first["flags"]),
        (&json!("one"), &json!(7))
    );
    assert!((3500..=3600).contains(&first["ttl_s"].as_u64().expect("a time")));
    assert_eq!(lines[1], br#"{"key":"none","value":null}"#);
    fleet.mc(&["exists", "k", "k2"]).ok();
    fleet.mc(&["exists", "k", "none"]).missing();
    fleet.mc(&["touch", "k", "--never"]).ok();
    fleet.mc(&["touch", "none", "--ttl", "5"]).missing();
    let shown = fleet.mc(&["get", "k", "--json"]).json();
    assert_eq!(shown["ttl_s"], json!(null));
    fleet.mc(&["incr", "n"]).missing();
    assert_eq!(fleet.mc(&["incr", "n", "2", "--initial", "5"]).ok(), b"5\n");
    assert_eq!(fleet.mc(&["incr", "n", "2"]).ok(), b"7\n");
    assert_eq!(
        fleet.mc(&["decr", "n", "9", "--json"]).json()["value"],
        json!(0)
    );
    fleet.mc(&["del", "k", "k2"]).ok();
    fleet.mc(&["del", "k"]).missing();
}

#[test]
fn the_variable_names_the_servers() {
    let fleet = Fleet::of(&["a"]);
    let mut command = fleet.shell.command(["mc", "set", "k", "v"]);
    command.env("MEMCACHED_SERVERS", &fleet.list);
    Ran::of(command.output().expect("it runs")).ok();
    assert_eq!(fleet.shell.run(["get", "a", "k"]).text(), "v");
    let mut command = fleet.shell.command(["mc", "get", "k"]);
    command.env_remove("MEMCACHED_SERVERS");
    let why = Ran::of(command.output().expect("it runs")).error();
    assert!(why.contains("--servers"), "{why}");
}

#[test]
fn servers_are_asked_about_themselves() {
    let fleet = Fleet::of(&["a", "b"]);
    let text = fleet.mc(&["version"]).text();
    assert_eq!(
        text.lines().filter(|line| line.contains(": 1.6.")).count(),
        2
    );
    let text = fleet.mc(&["ping"]).text();
    assert_eq!(text.lines().filter(|line| line.contains("up")).count(), 2);
    let text = fleet.mc(&["stat"]).text();
    assert_eq!(
        text.lines()
            .filter(|line| line.contains("curr_items"))
            .count(),
        2
    );
    let one = [
        "mc",
        "stat",
        "settings",
        "--json",
        "--servers",
        fleet.addresses()[0],
    ];
    let shown = fleet.shell.run(one).json();
    assert!(shown["figures"]["maxconns"].is_string(), "{shown}");
    fleet.mc(&["set", "k", "v"]).ok();
    assert!(fleet.mc(&["flush"]).error().contains("--yes"));
    fleet.mc(&["flush", "--yes"]).ok();
    fleet.mc(&["get", "k"]).missing();
}

#[test]
fn a_server_that_is_down_is_an_error_and_the_others_answer() {
    let mut fleet = Fleet::of(&["a", "b"]);
    for n in 0..40 {
        fleet
            .mc(&["set", &format!("k{n}"), "v", "--placement", "jump"])
            .ok();
        if n >= 4 && fleet.shell.run(["count", "b"]).text().trim() != "0" {
            break;
        }
    }
    let seat = &mut fleet.seats[1];
    seat.signal(Signal::TERM);
    assert_eq!(seat.ended(), Some(0));
    let ran = fleet.mc(&["ping", "--json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains(fleet.addresses()[1]), "{ran:?}");
    assert!(
        String::from_utf8_lossy(&ran.out).contains("\"is_up\":true"),
        "{ran:?}"
    );
    let ran = fleet.mc(&["get", "k0", "k1", "k2", "k3", "k4", "--placement", "jump"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    // What a server did not answer is never shown as missing.
    assert!(
        !String::from_utf8_lossy(&ran.out).contains("missing"),
        "{ran:?}"
    );
}

#[test]
fn wrong_arguments_are_refused_with_the_remedy() {
    let shell = Shell::new();
    for (args, why) in [
        (vec!["get", "k", "--servers", "a:0"], "port"),
        (
            vec!["get", "k", "--servers", "a", "--placement", "modula:sha"],
            "murmur3",
        ),
        (
            vec!["get", "k", "--servers", "a", "--placement", "ring"],
            "ketama",
        ),
        (
            vec!["get", "k", "--servers", "a", "--user", "u"],
            "TAVOLA_MC_PASSWORD",
        ),
        (
            vec!["get", "k", "--servers", "a", "--timeout", "0"],
            "timeout",
        ),
        (
            vec!["dump", "--servers", "a", "--format", "csv"],
            "--values",
        ),
    ] {
        let mut command = shell.command([vec!["mc"], args.clone()].concat());
        command.env_remove("TAVOLA_MC_PASSWORD");
        let ran = Ran::of(command.output().expect("it runs"));
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.contains(why), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_dump_is_loaded_by_tables_and_fleets() {
    let fleet = Fleet::of(&["a", "b"]);
    let lines: String = (0..300)
        .map(|n| {
            format!(
                "{{\"key\":\"k{n}\",\"value\":\"v{n}\",\"flags\":{}}}\n",
                n % 5
            )
        })
        .collect();
    let ran = fleet.feed(&["load"], lines.as_bytes());
    assert_eq!(
        ran.ok(),
        b"300 loaded, 0 present, 0 missing, 0 refused, 0 failed\n"
    );
    let ran = fleet.feed(&["load", "--add", "--json"], lines.as_bytes());
    assert_eq!(ran.json()["present"], json!(300));
    let keys = fleet.mc(&["dump"]).text();
    assert_eq!(keys.lines().count(), 300);
    let first = fleet.mc(&["dump", "--json"]).text();
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert!(
        fleet
            .list
            .contains(first["server"].as_str().expect("a name"))
    );
    for format in ["jsonl", "binary", "memcached"] {
        let path = fleet.shell.path().join(".dump").display().to_string();
        fleet
            .mc(&["dump", "--values", &path, "--format", format])
            .ok();
        let table = format!("t-{format}");
        fleet
            .shell
            .run(["load", &table, &path, "--format", format])
            .ok();
        assert_eq!(fleet.shell.run(["count", &table]).text().trim(), "300");
        let shown = fleet.shell.run(["get", &table, "k7", "--json"]).json();
        assert_eq!(
            (&shown["value"], &shown["flags"]),
            (&json!("v7"), &json!(2))
        );
        fs::remove_file(&path).expect("it was written");
    }
}

#[test]
fn a_fleet_is_copied_with_flags_and_times_and_again_without_harm() {
    let old = Fleet::of(&["a", "b"]);
    let new = Fleet::of(&["c", "d", "e"]);
    for n in 0..20 {
        old.mc(&[
            "set",
            &format!("k{n}"),
            &format!("v{n}"),
            "--flags",
            "9",
            "--ttl",
            "2h",
        ])
        .ok();
    }
    old.mc(&["set", "endless", "v"]).ok();
    new.mc(&["set", "k3", "newer"]).ok();
    let copy = ["mc", "copy", &old.list, &new.list];
    let text = old.shell.run(copy).text();
    assert_eq!(
        text,
        "20 copied, 1 present, 0 missing, 0 refused, 0 failed\n"
    );
    assert_eq!(new.mc(&["get", "k3"]).ok(), b"newer");
    let shown = new.mc(&["get", "k4", "--json"]).json();
    assert_eq!(
        (&shown["value"], &shown["flags"]),
        (&json!("v4"), &json!(9))
    );
    assert!((7100..=7200).contains(&shown["ttl_s"].as_u64().expect("a time")));
    let shown = new.mc(&["get", "endless", "--json"]).json();
    assert_eq!(shown["ttl_s"], json!(null));
    let again = old.shell.run([&copy[..], &["--json"]].concat()).json();
    assert_eq!(
        (&again["copied"], &again["present"]),
        (&json!(0), &json!(21))
    );
    let over = old
        .shell
        .run([&copy[..], &["--overwrite", "--json"]].concat())
        .json();
    assert_eq!(over["copied"], json!(21));
    assert_eq!(new.mc(&["get", "k3"]).ok(), b"v3");
}

#[test]
fn a_copy_reports_what_servers_refuse_or_do_not_answer() {
    let old = Fleet::with(&["a"], &["--largest-value", "4M"]);
    let new = Fleet::of(&["c"]);
    old.feed(&["set", "large", "-"], &vec![b'x'; 2 << 20]).ok();
    old.mc(&["set", "small", "v"]).ok();
    let ran = old.shell.run(["mc", "copy", &old.list, &new.list]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        ran.out,
        b"1 copied, 0 present, 0 missing, 1 refused, 0 failed\n"
    );
    assert!(ran.err.contains("large"), "{ran:?}");
    // A port where nobody listens.
    let ran = old.shell.run(["mc", "copy", &old.list, "127.0.0.1:1"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(
        ran.out,
        b"0 copied, 0 present, 0 missing, 0 refused, 2 failed\n"
    );
    let ran = old.shell.run(["mc", "copy", "127.0.0.1:1", &new.list]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_user_logs_in_by_both_ways_and_the_password_is_never_an_argument() {
    let shell = Shell::new();
    let users = shell.file("users", "ann:secret\n").display().to_string();
    let right = shell.file("right", "secret\n").display().to_string();
    let wrong = shell.file("wrong", "secrex\n").display().to_string();
    let mut seat = Seat::serve(&shell, &["t", "--users", &users]);
    let address = seat.address();
    let mc = |more: &[&str]| {
        let first = ["mc", "set", "k", "v", "--servers", &address];
        shell.run([&first, more].concat())
    };
    assert_eq!(mc(&[]).code, 2);
    for how in ["sasl", "text"] {
        let user = ["--user", "ann", "--auth", how, "--password-file"];
        mc(&[&user[..], &[&right]].concat()).ok();
        assert_eq!(mc(&[&user[..], &[&wrong]].concat()).code, 2, "{how}");
        let mut command = shell.command(["mc", "get", "k", "--servers", &address]);
        command.args(&user[..4]).env("TAVOLA_MC_PASSWORD", "secret");
        assert_eq!(Ran::of(command.output().expect("it runs")).ok(), b"v");
    }
    assert_eq!(shell.run(["count", "t"]).text().trim(), "1");
    seat.signal(Signal::TERM);
    assert_eq!(seat.ended(), Some(0));
}

#[cfg(feature = "tls")]
#[test]
fn a_server_with_tls_is_trusted_by_its_authority_alone() {
    use crate::serve::tls_peer::Authority;
    let shell = Shell::new();
    let [authority, other] = [(); 2].map(|()| Authority::new());
    let (certificate, key) = authority.issue_files(shell.path(), "server");
    let files = [certificate, key].map(|path| path.display().to_string());
    let listed = ["t", "--tls-cert", &files[0], "--tls-key", &files[1]];
    let mut seat = Seat::serve(&shell, &listed);
    let address = seat.address().replace(" (TLS)", "");
    let mc = |authority: &Authority| {
        let ca = shell.file("ca", authority.pem()).display().to_string();
        shell.run([
            "mc",
            "set",
            "k",
            "v",
            "--servers",
            &address,
            "--tls-ca",
            &ca,
        ])
    };
    mc(&authority).ok();
    assert_eq!(shell.run(["get", "t", "k"]).text(), "v");
    assert_eq!(mc(&other).code, 2);
    seat.signal(Signal::TERM);
    assert_eq!(seat.ended(), Some(0));
}

#[test]
fn tables_are_copied_to_and_from_fleets() {
    let fleet = Fleet::of(&["a", "b"]);
    for n in 0..30 {
        fleet
            .shell
            .run(["set", "own", &format!("k{n}"), "v", "--ttl", "1h"])
            .ok();
    }
    let copied = fleet
        .shell
        .run(["mc", "copy", "tavola:own", &fleet.list])
        .text();
    assert_eq!(
        copied,
        "30 copied, 0 present, 0 missing, 0 refused, 0 failed\n"
    );
    let copied = fleet
        .shell
        .run(["mc", "copy", &fleet.list, "tavola:back"])
        .text();
    assert_eq!(
        copied,
        "30 copied, 0 present, 0 missing, 0 refused, 0 failed\n"
    );
    assert_eq!(fleet.shell.run(["get", "back", "k7"]).text(), "v");
    let left = fleet.shell.run(["ttl", "back", "k7"]).text();
    let left: f64 = left.trim().parse().expect("seconds");
    assert!((3500.0..=3600.0).contains(&left), "{left}");
    assert_eq!(
        fleet
            .shell
            .run(["mc", "get", "k7", "-s", "tavola:back"])
            .ok(),
        b"v"
    );
}

#[test]
fn slap_measures_and_counts() {
    let fleet = Fleet::of(&["a"]);
    let args = [
        "slap",
        "--seconds",
        "1s",
        "--threads",
        "2",
        "--batch",
        "10",
        "--keys",
        "50",
    ];
    let shown = fleet.mc(&[&args[..], &["--json"]].concat()).json();
    let number = |name: &str| shown[name].as_u64().expect(name);
    assert!(
        number("hits") > 0 && number("hits") <= number("gets"),
        "{shown}"
    );
    assert!(
        number("sets") > 0 && number("requests_per_second") > 0,
        "{shown}"
    );
    assert_eq!(number("failed"), 0);
    assert!(fleet.mc(&args).text().contains("requests a second"));
}

#[test]
fn a_unix_socket_is_a_server() {
    let shell = Shell::new();
    let unix = format!("unix:{}", shell.path().join(".socket").display());
    let pid_file = shell.path().join(".pid");
    let mut command = shell.command(["serve", "t", "--listen", &unix]);
    command.arg("--pid-file").arg(&pid_file);
    let mut seat = Seat::start(command, pid_file);
    let address = seat.address();
    shell.run(["mc", "set", "k", "v", "-s", &address]).ok();
    assert_eq!(shell.run(["mc", "get", "k", "-s", &address]).ok(), b"v");
    let line = connect(&address);
    seat.signal(Signal::TERM);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
}
