//! What pages show of the command: their blocks for the shell run, one after the other.

mod shell;

use std::fs;
use std::path::Path;
use std::process::Command;

use shell::Shell;

fn read(page: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(page)).unwrap()
}

/// The blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = read(page);
    let fence = format!("\n```{language}\n");
    let after = text.split(&fence).skip(1);
    let block = |rest: &str| rest.split("\n```").next().unwrap().to_string();
    let all: Vec<String> = after.map(block).collect();
    assert!(!all.is_empty(), "no blocks in {page}");
    all
}

/// Runs a script where the command is found and has tables of its own; what it printed.
fn run(script: &str) -> String {
    let tavola = Path::new(env!("CARGO_BIN_EXE_tavola"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", tavola.parent().unwrap().display());
    let shell = Shell::new();
    let ran = Command::new("sh")
        .args(["-e", "-c", script])
        .env("TAVOLA_DIR", shell.path())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.is_empty(), "{script}: {said}");
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn commands_for_who_comes_from_a_cache_run() {
    for page in [
        "docs/guide/coming-from-memcached.md",
        "docs/guide/coming-from-apcu.md",
    ] {
        let out = run(&blocks(page, "sh").join("\n"));
        assert!(out.starts_with("here1\n"), "{page}: {out}");
        assert!(out.contains("  capacity "), "{page}: {out}");
    }
}

/// Its commands print what it says, but for the memory that is taken.
#[test]
fn the_readme_makes_a_cache() {
    let mut shown = blocks("README.md", "console");
    shown.retain(|block| block.contains("--capacity"));
    assert_eq!(shown.len(), 1);
    let (commands, printed): (Vec<&str>, Vec<&str>) =
        shown[0].lines().partition(|line| line.starts_with("$ "));
    let script: Vec<&str> = commands.iter().map(|line| &line[2..]).collect();
    let without_memory = |text: &str| match text.split_once(" of ") {
        Some((_, rest)) => format!("takes ... of {rest}"),
        None => text.to_string(),
    };
    // On a terminal there is an end of line after a value.
    let out = run(&script.join("\n")).replace("</p>takes", "</p>\ntakes");
    let printed: Vec<String> = printed.iter().map(|line| without_memory(line)).collect();
    let out: Vec<String> = out.lines().map(without_memory).collect();
    assert_eq!(out, printed);
}
