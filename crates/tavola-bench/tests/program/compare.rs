//! The comparison: small runs, in which what is measured, left out and resumed is looked at.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::Shell;

/// A run of workload i with these arguments, its stores and results in the desk's folder.
fn compare(shell: &Shell, args: &[&str]) -> Output {
    command(shell, args).output().expect("the command starts")
}

fn command(shell: &Shell, args: &[&str]) -> Command {
    command_of(shell, "i", args)
}

fn command_of(shell: &Shell, workload: &str, args: &[&str]) -> Command {
    let path = |name: &str| {
        let path = shell.dir.path().join(name);
        fs::create_dir_all(&path).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let (out, stores) = (path("out"), path("stores"));
    let head = [
        "compare", "--quick", "--only", workload, "--repeat", "1", "--json",
    ];
    let mut command = shell.command(&head);
    command.args(["--out", &out, "--dir", &stores]).args(args);
    command
}

fn results(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).expect("the results are JSON")
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).unwrap().next().is_none()
}

#[test]
fn two_stores_are_compared_and_nothing_is_left_behind() {
    let shell = Shell::new();
    let output = compare(&shell, &["--peers", "std-mutex,tavola-rust"]);
    let results = results(&output);
    let file = fs::read(shell.dir.path().join("out/results.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&file).unwrap(), results);
    assert_eq!(results["schema"], 2);
    assert!(results["machine"]["cpus"].as_u64().unwrap() >= 1);
    let rows = results["rows"].as_array().unwrap();
    for peer in ["std-mutex", "tavola-rust"] {
        for phase in ["put", "mix", "get"] {
            let row = rows
                .iter()
                .find(|row| row["peer"] == peer && row["phase"] == phase)
                .unwrap_or_else(|| panic!("{peer} has no {phase}: {results}"));
            assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(row["verified"], true);
            assert_eq!(row["runs"].as_array().unwrap().len(), 1);
        }
    }
    assert_eq!(results["left_out"].as_array().unwrap().len(), 0);
    assert!(
        is_empty(&shell.dir.path().join("stores")),
        "stores are gone"
    );
    let out = fs::read_dir(shell.dir.path().join("out")).unwrap();
    let mut names: Vec<_> = out.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["report.html", "results.json"]);
}

/// Each value is read as it was put: in workload a keys come twice, in e once.
#[test]
fn constant_files_of_both_formats_are_compared() {
    crate::command::library();
    let shell = Shell::new();
    let peers = ["tavola-cdb", "tavola-frozen"];
    let mut command = command_of(&shell, "ae", &["--peers", &peers.join(",")]);
    let results = results(&command.output().unwrap());
    let found = results["peers"].as_array().unwrap();
    for (peer, found) in peers.iter().zip(found) {
        if found["skipped"] == "there is no C compiler" {
            println!("not tried: {found}");
            return;
        }
        assert_eq!(
            (&found["name"], &found["skipped"]),
            (&(*peer).into(), &Value::Null)
        );
    }
    let phases = ["a write_all", "a read_all", "e put", "e get", "e miss"];
    assert_has_rows(&results, &peers, &phases);
}

/// The client at memcached, at a server, and at a table without a server, has the row of pairs.
#[test]
fn the_client_of_servers_is_compared() {
    if Command::new("memcached").arg("-V").output().is_err() {
        println!("not tried: there is no memcached");
        return;
    }
    crate::command::tavola();
    let shell = Shell::new();
    let peers = ["memcached-client", "tavola-serve-client", "tavola-client"];
    let mut command = command_of(&shell, "d", &["--peers", &peers.join(",")]);
    let results = results(&command.output().unwrap());
    assert_has_rows(&results, &peers, &["d pairs"]);
}

/// Each peer has a row of each phase, whose answers were compared.
fn assert_has_rows(results: &Value, peers: &[&str], phases: &[&str]) {
    let rows = results["rows"].as_array().unwrap();
    let name = |row: &Value| {
        let parts = ["peer", "workload", "phase"].map(|part| row[part].as_str().unwrap());
        parts.join(" ")
    };
    for peer in peers {
        for phase in phases {
            let wanted = format!("{peer} {phase}");
            let row = rows.iter().find(|row| name(row) == wanted);
            let row = row.unwrap_or_else(|| panic!("no {wanted}: {results}"));
            assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
            assert_eq!(row["verified"], true, "{row}");
        }
    }
}

#[test]
fn a_missing_peer_is_skipped_with_the_reason() {
    let shell = Shell::new();
    let mut command = command(&shell, &["--peers", "lmdb,std-mutex"]);
    let results = results(&command.env("PATH", "/nowhere").output().unwrap());
    let peers = results["peers"].as_array().unwrap();
    let lmdb = peers.iter().find(|peer| peer["name"] == "lmdb").unwrap();
    assert_eq!(lmdb["skipped"], "there is no C compiler");
    let there = peers.iter().find(|peer| peer["name"] == "std-mutex");
    assert_eq!(there.unwrap()["skipped"], Value::Null);
    let rows = results["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["peer"] == "std-mutex") && !rows.is_empty());
}

/// A run that is asked to end writes what was measured by then.
#[test]
fn a_run_that_was_ended_has_what_it_measured() {
    let shell = Shell::new();
    let (out, stores) = (
        shell.dir.path().join("out"),
        shell.dir.path().join("stores"),
    );
    let args = "compare --quick --only ei --peers std-mutex --repeat 1000";
    let mut command = shell.command(&crate::words(args));
    command.arg("--out").arg(&out).arg("--dir").arg(&stores);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().starts_with("# 1/")));
    std::thread::sleep(Duration::from_secs(4));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    let file = fs::read(shell.dir.path().join("out/results.json")).unwrap();
    let results: Value = serde_json::from_slice(&file).unwrap();
    assert!(!results["rows"].as_array().unwrap().is_empty(), "{results}");
    assert!(is_empty(&stores), "stores are gone");
}

#[test]
fn what_cannot_be_is_refused() {
    let shell = Shell::new();
    for (args, word) in [
        (["--peers", "nobody"], "nobody"),
        (["--only", "x"], "no workload x"),
        (["--repeat", "0"], "at least 1"),
    ] {
        let mut command = shell.command(&["compare", "--quick"]);
        command.arg("--out").arg(shell.dir.path().join("out"));
        let output = command.args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(word), "{errors}");
    }
}

#[test]
fn a_page_gets_its_table() {
    let shell = Shell::new();
    let page = shell.dir.path().join("page.md");
    let text = "# Page\n<!-- compare -->\nold\n<!-- end of compare -->\nafter\n";
    fs::write(&page, text).unwrap();
    let args = ["--peers", "std-mutex", "--page", page.to_str().unwrap()];
    // A run without the figures of the table leaves the page as it is, and says so.
    let output = compare(&shell, &args);
    assert!(String::from_utf8_lossy(&output.stderr).contains("page.md stays as it is"));
    results(&output);
    assert_eq!(fs::read_to_string(&page).unwrap(), text);
    results(&command_of(&shell, "e", &args).output().unwrap());
    let written = fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("# Page\n") && written.ends_with("\nafter\n"));
    assert!(
        written.contains("HashMap in Mutex") && !written.contains("\nold\n"),
        "{written}"
    );
    // Also without measuring anything.
    fs::write(&page, text).unwrap();
    let again = |page: &Path| {
        let mut command = shell.command(&["compare", "--report-only"]);
        command.arg(shell.dir.path().join("out/results.json"));
        command.arg("--page").arg(page).output().unwrap()
    };
    assert!(again(&page).status.success());
    assert_eq!(fs::read_to_string(&page).unwrap(), written);
    fs::write(&page, "no marks").unwrap();
    assert_eq!(again(&page).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&page).unwrap(), "no marks");
}

/// Kills, full disks and the rest, on a table and on what it is compared with.
#[test]
fn the_torment_of_a_table_is_reported() {
    let shell = Shell::new();
    let args = ["--only", "torment", "--peers", "tavola"];
    let path = |name: &str| shell.dir.path().join(name).into_os_string();
    let mut command = shell.command(&["compare", "--quick", "--json"]);
    command.args(args).arg("--out").arg(path("out"));
    let first = results(&command.arg("--dir").arg(path("stores")).output().unwrap());
    let rows = first["torment"].as_array().unwrap();
    let trials: Vec<_> = rows
        .iter()
        .map(|row| row["trial"].as_str().unwrap())
        .collect();
    let all = [
        "kill",
        "full",
        "limits",
        "old-reader",
        "counters",
        "server-kill",
    ];
    assert_eq!(trials, all);
    for row in rows {
        // Where nothing can be mounted the second is not tried; there is no server to kill.
        let fine = ["holds", "refuses", "not applicable"];
        assert!(fine.contains(&row["outcome"].as_str().unwrap()), "{row}");
        assert_eq!(
            (&row["peer"], &row["promised"]),
            (&"tavola".into(), &true.into())
        );
    }
    assert_eq!(rows[0]["outcome"], "holds", "{}", rows[0]);
    assert_eq!(rows[0]["trials"], 12);
    assert_eq!(first["rows"].as_array().unwrap().len(), 0);
    assert!(
        is_empty(&shell.dir.path().join("stores")),
        "stores are gone"
    );
}

/// Of durable stores what a power cut leaves; one that does not sync loses something.
#[test]
fn the_torment_of_durable_tables_is_reported() {
    let shell = Shell::new();
    let mut command = shell.command(&["compare", "--quick", "--json"]);
    command.args(["--only", "torment", "--peers", "tavola-commit,tavola-os"]);
    let results = results(&command.arg("--out").arg(shell.dir.path()).output().unwrap());
    let rows = results["torment"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (row, outcome) in rows.iter().zip(["holds", "loses"]) {
        assert_eq!(row["trial"], "power-cut");
        // Where nothing can be mounted it is not tried.
        let fine = [outcome, "not applicable"];
        assert!(fine.contains(&row["outcome"].as_str().unwrap()), "{row}");
        assert_eq!(row["promised"], outcome == "holds");
    }
}

/// Of servers also what they have kept when they are killed.
#[test]
#[ignore = "`make test-long` runs it"]
fn the_torment_of_servers_is_reported() {
    crate::command::tavola();
    let shell = Shell::new();
    let mut command = shell.command(&["compare", "--quick", "--json"]);
    command.args(["--only", "torment", "--peers", "postgres-unix,tavola-serve"]);
    let output = command.arg("--out").arg(shell.dir.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let results = results(&output);
    let rows = results["torment"].as_array().unwrap();
    let of = |peer: &str, trial: &str| {
        rows.iter()
            .find(|row| row["peer"] == peer && row["trial"] == trial)
    };
    for peer in ["postgres-unix", "tavola-serve"] {
        // A peer that is not tried is listed with what it lacks.
        if let Some(why) = errors.lines().find_map(|line| {
            let why = line.strip_prefix("# without ")?.strip_prefix(peer)?;
            why.strip_prefix(": ")
        }) {
            println!("not tried: {peer}: {why}");
            assert!(why.contains("there is no") || why.contains("it needs"));
            continue;
        }
        for trial in ["kill", "counters", "server-kill"] {
            let row = of(peer, trial).unwrap();
            assert_eq!(row["outcome"], "holds", "{row}");
        }
        // Where nothing can be mounted it is not tried.
        let full = of(peer, "full").unwrap();
        let fine = ["holds", "refuses", "not applicable"];
        assert!(fine.contains(&full["outcome"].as_str().unwrap()), "{full}");
    }
    if let Some(row) = of("postgres-unix", "old-reader") {
        // A snapshot that stays keeps all old versions.
        assert_eq!(row["outcome"], "grows", "{row}");
    }
    if let Some(row) = of("tavola-serve", "server-kill") {
        let detail = row["detail"].as_str().unwrap();
        assert!(detail.contains("none of 96 values was lost"), "{detail}");
    }
}
