//! Tables that go with a process.

use crate::shell::{Shell, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_table_goes_with_a_process_of_the_shell() {
    let shell = Shell::new();
    let mut owner = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = owner.id().to_string();
    for name in ["mine", "waited"] {
        shell.run(["create", name, "--lives-with", &pid]).ok();
    }
    shell.run(["set", "mine", "key", "value"]).ok();
    shell.run(["set", "plain", "key", "value"]).ok();
    assert_eq!(shell.run(["get", "mine", "key"]).ok(), b"value");
    let stat = shell.run(["stat", "mine"]).text();
    assert!(stat.contains(&format!("process {pid}")), "{stat}");
    let stat = shell.run(["stat", "mine", "--json"]).json();
    assert_eq!(stat["lives_with"], format!("process {pid}"));
    assert_eq!(
        shell.run(["stat", "plain", "--json"]).json()["lives_with"],
        json!(null)
    );
    // Waits for its end, and needs nobody who looks.
    let mut waiting = shell.command(["drop", "plain", "waited", "--after-pid", &pid]);
    let mut waiting = waiting.spawn().unwrap();
    assert_eq!(shell.run(["ls"]).text().lines().count(), 3);
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(waiting.wait().unwrap().success());
    assert!(!shell.path().join("plain").exists() && !shell.path().join("waited").exists());
    assert!(shell.path().join("mine").exists());
    assert_eq!(shell.run(["ls"]).text(), "");
    assert!(!shell.path().join("mine").exists());
    // A process that is gone is not waited for, and can own nothing.
    shell.run(["set", "plain", "key", "value"]).ok();
    shell.run(["drop", "plain", "--after-pid", &pid]).ok();
    shell.run(["get", "plain", "key"]).error();
    let refused = shell.run(["create", "mine", "--lives-with", &pid]).error();
    assert!(refused.contains(&pid), "{refused}");
    for wrong in ["0", "x"] {
        let ran = shell.run(["drop", "plain", "--after-pid", wrong]);
        assert_eq!(ran.code, 2);
        assert!(
            ran.err.contains("is not the number of a process"),
            "{}",
            ran.err
        );
    }
}

/// `tavola drop TABLE --after-pid OWNER`, which has begun to wait.
fn drop_after(shell: &Shell, table: &str, owner: u32) -> Child {
    let child = shell.spawn(["drop", table, "--after-pid", &owner.to_string()]);
    wait_until(|| {
        let files = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
        let mut places = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        places.any(|place| place.to_string_lossy().contains("[pidfd]"))
    });
    child
}

/// Kills the owner, which nobody has waited for, and checks that the drop ends soon after. Returns
/// what the drop said.
fn dropped_after_death(
    shell: &Shell,
    table: &str,
    mut dropping: Child,
    owner: &mut Child,
) -> String {
    let died = Instant::now();
    owner.kill().unwrap();
    wait_until(|| dropping.try_wait().unwrap().is_some());
    let elapsed = died.elapsed();
    let ended = dropping.wait_with_output().unwrap();
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
    assert!(ended.status.success(), "{ended:?}");
    assert!(!shell.path().join(table).exists());
    owner.wait().unwrap();
    String::from_utf8(ended.stderr).unwrap()
}

fn sleeper() -> Child {
    Command::new("sleep").arg("600").spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The letter of a process: `T` if it is stopped. `None` if there is no such process.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next()?.chars().next()
}

#[test]
fn a_table_stays_while_its_process_is_stopped_and_goes_when_it_is_killed() {
    let shell = Shell::new();
    let (mut owner, mut other) = (sleeper(), sleeper());
    shell.run(["create", "mine"]).ok();
    let mut dropping = drop_after(&shell, "mine", owner.id());
    for _ in 0..2 {
        signal(&owner, Signal::STOP);
        wait_until(|| state(owner.id()) == Some('T'));
        // Meanwhile the table of another process goes, whose drop began to wait later.
        shell.run(["create", "other"]).ok();
        let later = drop_after(&shell, "other", other.id());
        dropped_after_death(&shell, "other", later, &mut other);
        assert!(dropping.try_wait().unwrap().is_none());
        assert!(shell.path().join("mine").exists());
        signal(&owner, Signal::CONT);
        wait_until(|| state(owner.id()) == Some('S'));
        other = sleeper();
    }
    signal(&owner, Signal::STOP);
    wait_until(|| state(owner.id()) == Some('T'));
    let said = dropped_after_death(&shell, "mine", dropping, &mut owner);
    assert_eq!(said, "");
    other.kill().unwrap();
    other.wait().unwrap();
}

/// The child goes on with its table, which has lost its name.
#[test]
fn a_table_goes_with_its_process_though_a_forked_child_uses_it() {
    let shell = Shell::new();
    let mut command = Command::new("sh");
    command.args(["-c", "exec 3<&0; \"$0\" load t - <&3 & echo $!; wait"]);
    command.arg(env!("CARGO_BIN_EXE_tavola"));
    command.env("TAVOLA_DIR", shell.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut owner = command.spawn().unwrap();
    let mut line = String::new();
    let mut printed = BufReader::new(owner.stdout.take().unwrap());
    printed.read_line(&mut line).unwrap();
    let child: u32 = line.trim().parse().unwrap();
    // Enough for a first write, which attaches it.
    let mut input = owner.stdin.take().unwrap();
    for n in 0..2000 {
        writeln!(input, "{{\"key\":\"k{n}\",\"value\":\"v\"}}").unwrap();
    }
    wait_until(|| {
        let stat = shell.run(["stat", "t", "--json"]);
        let users = (stat.code == 0).then(|| stat.json()["participants"].clone());
        let users = users.as_ref().and_then(|users| users.as_array());
        users.is_some_and(|users| users.iter().any(|one| one["pid"] == child))
    });
    let dropping = drop_after(&shell, "t", owner.id());
    let said = dropped_after_death(&shell, "t", dropping, &mut owner);
    assert!(said.contains("still open in 1 process"), "{said}");
    assert!(!matches!(state(child), None | Some('Z')));
    drop(input);
    wait_until(|| matches!(state(child), None | Some('Z')));
}
