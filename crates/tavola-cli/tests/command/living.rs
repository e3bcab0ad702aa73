//! Tables that go with a process.

use crate::shell::Shell;
use serde_json::json;
use std::process::Command;

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
