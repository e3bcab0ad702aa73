//! Help, errors of usage, completions and man pages.

use std::fs;
use std::process::Command;

use crate::shell::Shell;

const COMMANDS: [&str; 49] = [
    "near",
    "sync",
    "snapshot",
    "journal",
    "repair",
    "keep",
    "get",
    "set",
    "add",
    "replace",
    "append",
    "prepend",
    "swap",
    "take",
    "cas",
    "update",
    "exists",
    "count",
    "clear",
    "rename",
    "help",
    "invalidate",
    "lock",
    "queue",
    "shell",
    "batch",
    "status",
    "del",
    "incr",
    "decr",
    "compute",
    "create",
    "ls",
    "stat",
    "set-capacity",
    "resize",
    "drop",
    "copy",
    "migrate",
    "dump",
    "load",
    "check",
    "compact",
    "maintain",
    "doctor",
    "serve",
    "tour",
    "completions",
    "man",
];

#[test]
fn the_overview_names_every_command_and_each_has_examples() {
    let shell = Shell::new();
    let overview = shell.run(["--help"]).text();
    for command in COMMANDS {
        assert!(
            overview.contains(&format!("\n  {command} ")),
            "{command}: {overview}"
        );
        let help = shell.run([command, "--help"]).text();
        assert!(help.contains(&format!("Usage: tavola {command}")), "{help}");
        assert!(help.contains("Examples:"), "{help}");
    }
    let bare = shell.run::<&str>([]);
    assert_eq!((bare.code, bare.err.contains("Usage:")), (2, true));
    assert!(shell.run(["--version"]).text().starts_with("tavola "));
}

#[test]
fn errors_of_usage_are_ours_and_exit_with_two() {
    let shell = Shell::new();
    let wrong: [&[&str]; 6] = [
        &["nonsense"],
        &["get", "t"],
        &["set", "t"],
        &["stat", "t", "--bogus"],
        &["incr", "t", "k", "many"],
        &["get", "t", "k", "--hex", "--base64"],
    ];
    for args in wrong {
        let ran = shell.run(args);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.err.starts_with("tavola: "), "{}", ran.err);
        assert!(ran.out.is_empty());
    }
}

#[test]
fn a_small_benchmark_measures_the_common_calls() {
    let shell = Shell::new();
    let table = shell.run(["bench", "--keys", "5K"]).text();
    assert!(
        table.starts_with("5,000 keys, values of 8 bytes\n"),
        "{table}"
    );
    let phases: Vec<&str> = table.lines().skip(1).map(|line| line.trim_end()).collect();
    for (phase, name) in phases
        .iter()
        .zip(["set", "overwrite", "get", "miss", "get_many"])
    {
        assert!(
            phase.starts_with(name) && phase.contains(" ns a key"),
            "{table}"
        );
    }
    assert_eq!(phases.len(), 6);
    let document = shell
        .run(["bench", "--keys", "1K", "--value-bytes", "100", "--json"])
        .json();
    assert!(document["get_ns"].as_f64().unwrap() > 0.0, "{document}");
    let help = shell.run(["bench", "--help"]).text();
    assert!(help.contains("tavola-bench"), "{help}");
}

#[test]
fn completions_are_made_for_every_shell() {
    let shell = Shell::new();
    for (name, mark) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef tavola"),
        ("fish", "complete -c tavola"),
    ] {
        let script = shell.run(["completions", name]).text();
        assert!(script.contains(mark), "{name}");
        assert!(
            COMMANDS.iter().all(|command| script.contains(command)),
            "{name}"
        );
    }
    assert_eq!(shell.run(["completions", "sh"]).code, 2);
}

#[test]
fn there_is_a_man_page_for_every_command() {
    let shell = Shell::new();
    let pages = shell.path().join("share/man1");
    shell.run(["man", pages.to_str().unwrap()]).ok();
    for command in COMMANDS {
        let page = fs::read_to_string(pages.join(format!("tavola-{command}.1"))).unwrap();
        assert!(
            page.contains(".SH NAME") && page.contains(".SH EXAMPLES"),
            "{command}"
        );
        for section in ["\"EXIT STATUS\"", "ENVIRONMENT", "FILES"] {
            assert!(
                page.contains(&format!(".SH {section}\n")),
                "{command}: {page}"
            );
        }
        assert!(page.contains("TAVOLA_DIR"), "{command}");
    }
    assert!(pages.join("tavola.1").exists());
    assert!(pages.join("tavola-memcached.1").exists());
    let below_a_file = shell.file("file", "").join("man1");
    shell.run(["man", below_a_file.to_str().unwrap()]).error();
}

#[test]
fn under_the_name_tavola_cdb_it_is_the_command_cdb() {
    let shell = Shell::new();
    let file = shell.path().join(".people.cdb");
    let path = file.to_str().unwrap();
    shell.feed(["cdb", "-c", path], b"+3,5:one->Hello\n\n").ok();
    let link = shell.path().join("tavola-cdb");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_tavola"), &link).unwrap();
    let query = |key| {
        Command::new(&link)
            .args(["-q", path, key])
            .output()
            .unwrap()
    };
    let found = query("one");
    assert_eq!(
        (found.status.code(), &found.stdout[..]),
        (Some(0), &b"Hello"[..])
    );
    assert_eq!(query("two").status.code(), Some(100));
}
