//! Where keys go, also if a server is down.

use rustix::process::Signal;

use super::Fleet;
use crate::shell::Shell;

#[test]
fn keys_of_a_server_that_is_down_fail_or_go_to_the_others() {
    let mut fleet = Fleet::of(&["a", "b"]);
    let keys: Vec<String> = (0..40).map(|n| format!("k{n}")).collect();
    for key in &keys {
        fleet.mc(&["set", key, "v"]).ok();
    }
    let on_b = fleet.shell.run(["ls", "b"]).text();
    let lost = on_b.lines().next().expect("a key on the second server");
    let kept = { keys.iter() }.find(|key| !on_b.lines().any(|line| line == key.as_str()));
    fleet.seats[1].signal(Signal::TERM);
    assert_eq!(fleet.seats[1].ended(), Some(0));
    fleet.mc(&["set", lost, "w"]).error();
    fleet.mc(&["set", lost, "w", "--on-down", "next"]).error();
    fleet.mc(&["get", lost, "--on-down", "next"]).missing();
    fleet.mc(&["set", lost, "w", "--on-down", "eject"]).ok();
    assert_eq!(fleet.mc(&["get", lost, "--on-down", "eject"]).ok(), b"w");
    assert_eq!(fleet.shell.run(["get", "a", lost]).ok(), b"w");
    let kept = kept.expect("a key on the first server");
    assert_eq!(fleet.mc(&["get", kept, "--on-down", "eject"]).ok(), b"v");
    let ran = fleet.mc(&["get", lost, "--on-down", "wait"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("fail, next or eject"), "{ran:?}");
}

#[test]
fn each_placement_is_one_that_the_help_names() {
    let shell = Shell::new();
    let help = shell.run(["mc", "get", "--help"]).text();
    let names = help
        .split_once("How keys are placed: ")
        .expect("the option")
        .1;
    let names = names.split_once(". HASH").expect("its end").0;
    let names: Vec<&str> = names
        .split([',', ' ', '\n'])
        .filter(|word| !word.is_empty())
        .collect();
    for name in [
        "ketama",
        "ketama-spy",
        "fast[:POINTS]",
        "dalli",
        "jump",
        "rendezvous",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for name in names.into_iter().filter(|name| *name != "or") {
        let name = name.split('[').next().expect("a name");
        let ran = shell.run(["mc", "get", "k", "-s", "127.0.0.1:1", "--placement", name]);
        assert!(ran.err.contains("127.0.0.1:1"), "{name}: {ran:?}");
    }
}
