//! Durable tables: their commands, and what other commands do with their directories.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::shell::{Ran, Shell};

/// Bytes before the records of a journal's file.
const HEAD: usize = 4096;

/// A shell, and a directory on a disk for durable tables.
pub struct Durable {
    pub shell: Shell,
    disk: TempDir,
}

impl Durable {
    pub fn new() -> Durable {
        Durable {
            shell: Shell::new(),
            disk: tempfile::tempdir().expect("a directory"),
        }
    }

    /// Creates a durable table. If the directory is in memory, there is a warning.
    pub fn create(&self, sync: &str) -> String {
        self.create_of(sync, "64M")
    }

    /// The same with a limit of its size.
    pub fn create_of(&self, sync: &str, max_size: &str) -> String {
        let home = self.home("users");
        let args = format!("create --durable {home} --sync {sync} --max-size {max_size}");
        let ran = self.shell.run(args.split(' '));
        assert_eq!(ran.code, 0, "{ran:?}");
        home
    }

    fn home(&self, name: &str) -> String {
        let path = self.disk.path().join(name);
        path.to_str().expect("a plain path").to_owned()
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        self.shell.run(args)
    }

    /// Removes what is in memory, as a restart of the machine does.
    pub fn lose_memory(&self) {
        for name in self.memory() {
            fs::remove_file(self.shell.path().join(name)).expect("the memory goes");
        }
    }

    pub fn memory(&self) -> Vec<OsString> {
        let entries = fs::read_dir(self.shell.path()).expect("the directory of tables");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let is_memory = |name: &OsString| name.to_string_lossy().starts_with("durable-");
        names.filter(is_memory).collect()
    }

    /// Returns the last file of the journal.
    fn journal(&self, home: &str) -> PathBuf {
        let entries = fs::read_dir(home).expect("the home");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        let is_journal = |path: &PathBuf| path.to_string_lossy().contains("/journal-");
        paths
            .filter(is_journal)
            .max()
            .expect("a file of the journal")
    }

    /// Flips a bit of the last file of the journal.
    fn flip(&self, home: &str, at: usize) {
        let path = self.journal(home);
        let mut bytes = fs::read(&path).expect("the file");
        bytes[at] ^= 1;
        fs::write(&path, bytes).expect("the file");
    }
}

#[test]
fn a_durable_table_survives_the_loss_of_its_memory() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "alice", "1"]).ok();
    durable
        .run(&["set", &home, "bob", "2", "--tag", "t", "--flags", "7"])
        .ok();
    durable.lose_memory();
    assert_eq!(durable.run(&["get", &home, "alice"]).text(), "1");
    durable.run(&["sync", &home]).ok();
    assert!(
        durable
            .run(&["snapshot", &home])
            .text()
            .ends_with(" written\n")
    );
    durable.lose_memory();
    assert_eq!(durable.run(&["count", &home]).text(), "2\n");
    durable.run(&["invalidate", &home, "t"]).ok();
    durable.lose_memory();
    assert_eq!(durable.run(&["ls", &home]).text(), "alice\n");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let durable = Durable::new();
    let home = durable.home("users");
    for (args, why) in [
        (vec!["create", "--durable", "users"], "write ./users"),
        (
            vec!["create", "--durable", &home, "--capacity", "1G"],
            "cannot be used with",
        ),
        (
            vec!["create", "--durable", &home, "--sync", "soon"],
            "neither commit nor os",
        ),
        (
            vec!["create", "--durable", &home, "--sync", "0"],
            "neither commit nor os",
        ),
        (vec!["create", &home, "--sync", "os"], "--durable"),
        (vec!["sync", &home], "there is no directory"),
        (vec!["keep", &home], "there is no directory"),
        (vec!["repair", &home], "--cut"),
        (vec!["keep"], "<DIR>"),
    ] {
        let ran = durable.run(&args);
        assert!(ran.code == 2 && ran.err.contains(why), "{args:?}: {ran:?}");
    }
    durable.run(&["set", "plain", "k", "v"]).ok();
    for command in ["sync", "snapshot", "journal", "keep"] {
        let error = durable.run(&[command, "plain"]).error();
        assert!(error.contains("not a durable table"), "{command}: {error}");
    }
    durable.create("os");
    let again = durable.run(&["create", "--durable", &home]);
    assert!(
        again.code == 2 && again.err.contains("already exists"),
        "{again:?}"
    );
    fs::create_dir(durable.home("full")).unwrap();
    fs::write(durable.home("full/notes"), "mine").unwrap();
    let full = durable.run(&["create", "--durable", &durable.home("full")]);
    assert!(full.code == 2 && full.err.contains("notes"), "{full:?}");
    let mut here = durable.shell.command(["get", "users", "k"]);
    let ran = Ran::of(here.current_dir(durable.disk.path()).output().unwrap());
    assert!(ran.error().contains("the durable table ./users?"));
    let long = "k".repeat(8193);
    let error = durable.run(&["set", &home, &long, "v"]).error();
    assert!(error.contains("at most 8192"), "{error}");
}

#[test]
fn lists_name_the_directory_and_not_the_memory() {
    let durable = Durable::new();
    let home = durable.create("50ms");
    durable.run(&["set", &home, "k", "v"]).ok();
    for args in [
        &["ls"][..],
        &["stat"],
        &["check"],
        &["maintain"],
        &["top", "--once"],
    ] {
        let text = durable.run(args).text();
        assert!(
            text.contains(&home) && !text.contains("durable-"),
            "{args:?}: {text}"
        );
    }
    let all = durable.memory();
    let memory = all[0].to_str().unwrap();
    for args in [&["drop", memory][..], &["rename", memory, "x"]] {
        let error = durable.run(args).error();
        assert!(error.contains("name that instead"), "{args:?}: {error}");
    }
    let stat = durable.run(&["stat", &home, "--json"]).json();
    assert_eq!(stat["durable"]["home"], home);
    assert_eq!(stat["durable"]["sync"], "50ms");
    assert!(stat["durable"]["failed_errno"].is_null());
    durable.run(&["set", "plain", "k", "v"]).ok();
    assert!(durable.run(&["stat", "plain", "--json"]).json()["durable"].is_null());
    let stat = durable.run(&["stat", &home]).text();
    for word in ["--sync 50ms", "since the last snapshot", "none yet"] {
        assert!(stat.contains(word), "{word}: {stat}");
    }
}

#[test]
fn copies_and_renames_do_what_they_say() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "k", "v"]).ok();
    durable.run(&["copy", &home, "plain"]).ok();
    assert_eq!(durable.run(&["get", "plain", "k"]).text(), "v");
    let error = durable.run(&["copy", "plain", &home]).error();
    assert!(error.contains("tavola load"), "{error}");
    let error = durable.run(&["migrate", &home]).error();
    assert!(error.contains("nothing to migrate"), "{error}");
    let new = durable.home("new");
    let mut user = durable.shell.attach(&home);
    let error = durable.run(&["rename", &home, &new]).error();
    assert!(error.contains("have it open"), "{error}");
    user.kill().and_then(|()| user.wait()).unwrap();
    durable.run(&["rename", &home, &new]).ok();
    assert!(durable.run(&["ls"]).text().contains(&new));
    assert_eq!(durable.run(&["get", &new, "k"]).text(), "v");
    // A copy of the directory is a table of its own.
    let twin = durable.home("twin");
    fs::create_dir(&twin).unwrap();
    for entry in fs::read_dir(&new).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, PathBuf::from(&twin).join(path.file_name().unwrap())).unwrap();
    }
    durable.run(&["set", &twin, "k", "other"]).ok();
    assert_eq!(durable.run(&["get", &new, "k"]).text(), "v");
    durable.run(&["drop", &new, &twin]).ok();
    assert!(durable.memory().is_empty());
    assert!(!PathBuf::from(&new).exists() && !PathBuf::from(&twin).exists());
}

#[test]
fn a_torn_tail_is_no_damage() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "k", "v"]).ok();
    let report = durable.run(&["journal", &home, "--json"]).json();
    assert_eq!(report["ending"]["is"], "whole");
    assert_eq!(
        (&report["in_memory"], &report["changes"]),
        (&true.into(), &1.into())
    );
    let end = report["end"].as_u64().unwrap() as usize % (16 << 20);
    durable.flip(&home, HEAD + end + 9);
    durable.lose_memory();
    let torn = durable.run(&["journal", &home, "--verify"]).text();
    assert!(torn.contains("torn") && torn.contains("journal-"), "{torn}");
    let repair = durable.run(&["repair", "--cut", &home]).text();
    assert!(repair.contains("nothing to repair"), "{repair}");
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "v");
}

#[test]
fn damage_is_found_and_cut_if_the_loss_is_accepted() {
    let durable = Durable::new();
    let home = durable.create("commit");
    for key in ["a", "b", "c", "d"] {
        durable.run(&["set", &home, key, "a value"]).ok();
    }
    let report = durable.run(&["journal", &home, "--json"]).json();
    let length = (report["end"].as_u64().unwrap() % (16 << 20)) as usize;
    durable.flip(&home, HEAD + length / 2);

    // In memory nothing is lost.
    let found = durable.run(&["journal", &home]);
    assert!(
        found.code == 1 && found.out.ends_with(b"were on disk\n"),
        "{found:?}"
    );
    let healed = durable.run(&["repair", "--cut", &home]).text();
    assert!(
        healed.contains("a snapshot replaces") && healed.contains("4 keys"),
        "{healed}"
    );
    durable.run(&["journal", &home]).ok();
    cut_what_is_lost(&durable, &home);
}

/// Damages the files of a table that has four keys in its snapshot, and cuts them.
fn cut_what_is_lost(durable: &Durable, home: &str) {
    for key in ["e", "f", "g", "h"] {
        durable.run(&["set", home, key, "a value"]).ok();
    }
    let report = durable.run(&["journal", home, "--json"]).json();
    let (from, end) = (&report["snapshot_position"], &report["end"]);
    let middle = (from.as_u64().unwrap() + end.as_u64().unwrap()) / 2;
    durable.flip(home, HEAD + middle as usize % (16 << 20));
    durable.lose_memory();
    let error = durable.run(&["get", home, "a"]).error();
    assert!(
        error.contains("damaged") && error.contains("repair --cut"),
        "{error}"
    );
    let doctor = durable.run(&["doctor", home]);
    let text = String::from_utf8(doctor.out).unwrap();
    assert!(
        doctor.code == 1 && text.contains("tavola repair --cut"),
        "{text}"
    );

    let refused = durable.run(&["repair", "--cut", home]);
    let text = String::from_utf8(refused.out).unwrap();
    assert!(
        refused.code == 2 && text.contains("lost: all that"),
        "{text}"
    );
    assert!(
        refused.err.contains("nothing was changed"),
        "{}",
        refused.err
    );
    durable.run(&["get", home, "a"]).error();
    let cut = durable.run(&["repair", "--cut", home, "--yes"]).text();
    assert!(cut.contains("repaired: the table has"), "{cut}");
    let keys = || {
        let text = durable.run(&["ls", home]).text();
        let mut keys: Vec<char> = text.chars().filter(|key| *key != '\n').collect();
        keys.sort_unstable();
        keys
    };
    let left = keys();
    assert!(
        left.starts_with(&['a', 'b', 'c', 'd']) && left.len() < 8,
        "{left:?}"
    );
    durable.lose_memory();
    durable.run(&["journal", home]).ok();
    assert_eq!(keys(), left);
}

#[test]
fn a_snapshot_is_repaired_unless_its_head_is_damaged() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "lost", "v"]).ok();
    durable.run(&["set", &home, "k", "v"]).ok();
    durable.run(&["snapshot", &home]).ok();
    durable.run(&["set", &home, "k", "later"]).ok();
    durable.lose_memory();
    let entries = fs::read_dir(&home).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    let snapshot = paths.find(|path| path.to_string_lossy().contains("snapshot-"));
    let snapshot = snapshot.unwrap();
    let flip = |at: usize| {
        let mut bytes = fs::read(&snapshot).unwrap();
        bytes[at] ^= 1;
        fs::write(&snapshot, bytes).unwrap();
    };
    flip(20);
    let ran = durable.run(&["repair", "--cut", "--yes", &home]);
    assert!(
        ran.code == 2 && ran.err.contains("its head is damaged") && ran.err.contains("a backup"),
        "{ran:?}"
    );
    flip(20);
    flip(100);
    let report = durable.run(&["journal", &home, "--verify"]);
    let text = String::from_utf8(report.out).unwrap();
    assert!(
        report.code == 1 && text.contains("its check is wrong"),
        "{text}"
    );
    let refused = durable.run(&["get", &home, "k"]).error();
    assert!(refused.contains("damaged"), "{refused}");
    let text = durable.run(&["repair", "--cut", "--yes", &home]).text();
    assert!(text.contains("lost: 2 keys in the damaged part"), "{text}");
    assert!(text.contains("repaired: the table has 1 key"), "{text}");
    assert_eq!(durable.run(&["get", &home, "k"]).text(), "later");
    durable.lose_memory();
    assert_eq!(durable.run(&["keys", &home]).text(), "k\n");
}

#[test]
fn doctor_looks_at_where_the_directory_is() {
    let shell = Shell::new();
    let home = shell.path().join("home").to_str().unwrap().to_owned();
    let created = shell.run(["create", "--durable", &home, "--max-size", "64M"]);
    assert!(
        created.code == 0 && created.err.contains("in memory"),
        "{created:?}"
    );
    let found = shell.run(["doctor"]);
    let text = String::from_utf8(found.out).unwrap();
    assert!(
        found.code == 1 && text.contains("a restart of the machine empties"),
        "{text}"
    );
    fs::remove_dir_all(&home).unwrap();
    let text = String::from_utf8(shell.run(["doctor"]).out).unwrap();
    assert!(
        text.contains("is gone, but its table is still in memory"),
        "{text}"
    );
}

#[test]
fn the_exporter_has_the_state_of_journals() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "k", "v"]).ok();
    durable.run(&["snapshot", &home]).ok();
    let mut exporter = durable.shell.spawn(["exporter", "--listen", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(exporter.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().strip_prefix("serving http://").unwrap();
    let address = address.strip_suffix("/metrics").unwrap();
    let page = get(address);
    for sample in [
        "tavola_journal_failed{table=\"HOME\"} 0\n",
        "tavola_journal_unsynced_bytes{table=\"HOME\"} 0\n",
        "tavola_syncs_total{table=\"HOME\"} ",
        "tavola_snapshot_timestamp_seconds{table=\"HOME\"} 1",
    ] {
        let sample = sample.replace("HOME", &home);
        assert!(page.contains(&sample), "{sample}: {page}");
    }
    end(&mut exporter);
}

/// Returns the page of an exporter.
fn get(address: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    page
}

pub fn end(child: &mut std::process::Child) -> std::process::ExitStatus {
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::TERM).unwrap();
    child.wait().unwrap()
}

#[test]
fn several_commands_at_once_rebuild_a_table_once() {
    let durable = Durable::new();
    let home = durable.create("commit");
    durable.run(&["set", &home, "n", "0"]).ok();
    durable.lose_memory();
    let commands: Vec<_> = (0..8)
        .map(|_| durable.shell.spawn(["incr", &home, "n"]))
        .collect();
    let mut seen: Vec<String> = commands
        .into_iter()
        .map(|one| Ran::of(one.wait_with_output().unwrap()).text())
        .collect();
    seen.sort();
    let all: Vec<String> = (1..=8).map(|n| format!("{n}\n")).collect();
    assert_eq!(seen, all);
    assert_eq!(durable.memory().len(), 1);
    let two = ["snapshot", "snapshot"].map(|command| durable.shell.spawn([command, &home]));
    let codes = two.map(|one| one.wait_with_output().unwrap().status.code().unwrap());
    assert!(
        codes.contains(&0) && codes.iter().all(|code| *code < 2),
        "{codes:?}"
    );
    durable.lose_memory();
    assert_eq!(durable.run(&["get", &home, "n"]).text(), "8");
}

#[test]
fn the_right_to_read_is_enough_to_read() {
    let durable = Durable::new();
    let home = durable.home("users");
    durable.run(&["create", "--durable", &home, "--mode", "644"]);
    durable.run(&["set", &home, "k", "v"]).ok();
    durable.shell.chmod("", 0o755);
    let public = fs::Permissions::from_mode(0o755);
    fs::set_permissions(durable.disk.path(), public).unwrap();
    let stranger = |args: &[&str]| durable.shell.run_as_stranger(args);
    assert_eq!(stranger(&["get", &home, "k"]).text(), "v");
    assert!(stranger(&["stat", &home]).text().contains("--sync commit"));
    stranger(&["journal", &home]).ok();
    if rustix::process::geteuid().is_root() {
        let error = stranger(&["set", &home, "k", "w"]).error();
        assert!(error.contains("denied"), "{error}");
    }
}

#[test]
fn a_shell_works_on_durable_tables() {
    let durable = Durable::new();
    let home = durable.create("os");
    let script = format!("set {home} a 1\nincr {home} a\nsync {home}\nget {home} a\n");
    let ran = durable.shell.feed(["batch"], script.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    durable.lose_memory();
    assert_eq!(durable.run(&["get", &home, "a"]).text(), "2");
}
