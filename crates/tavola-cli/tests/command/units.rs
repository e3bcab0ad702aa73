//! The units for systemd: `systemd-analyze verify` accepts them, and their commands are accepted by
//! the program.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn units() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/systemd");
    let all = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_unit = |path: &PathBuf| {
        let end = path.extension().unwrap_or_default();
        ["service", "socket", "timer"]
            .iter()
            .any(|kind| end == *kind)
    };
    let mut units: Vec<PathBuf> = all.filter(is_unit).collect();
    units.sort();
    units
}

#[test]
fn systemd_accepts_the_units() {
    let has = Command::new("systemd-analyze").arg("--version").output();
    if !has.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: there is no systemd-analyze");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let bin = work.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["tavola", "tavola-memcached"] {
        symlink(env!("CARGO_BIN_EXE_tavola"), bin.join(name)).unwrap();
    }
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no", "--recursive-errors=no"]);
    for unit in units() {
        let text = fs::read_to_string(&unit).unwrap();
        let text = text.replace("@PREFIX@", work.path().to_str().unwrap());
        let copy = work.path().join(unit.file_name().unwrap());
        fs::write(&copy, text).unwrap();
        verify.arg(copy);
    }
    verify.env("SYSTEMD_UNIT_PATH", format!("{}:", work.path().display()));
    let ran = verify.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    let ours: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("tavola"))
        .collect();
    assert!(ran.status.success() && ours.is_empty(), "{said}");
}

#[test]
fn the_program_accepts_what_the_units_run() {
    let mut count = 0;
    for unit in units() {
        let text = fs::read_to_string(&unit).unwrap();
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let Some(line) = value("ExecStart=@PREFIX@/bin/") else {
            continue;
        };
        let options = value("Environment=\"OPTIONS=").unwrap_or_default();
        let line = line.replace("$OPTIONS", options.trim_end_matches('"'));
        let line = line
            .replace("%i", "events")
            .replace("tavola-memcached", "tavola memcached");
        // With --help a command reads all of its arguments and does nothing else.
        let mut tavola = Command::new(env!("CARGO_BIN_EXE_tavola"));
        let ran = tavola
            .args(line.split_whitespace().skip(1))
            .arg("--help")
            .output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{line}: {ran:?}");
        // The tables of all units are in one directory, which the group shares.
        assert!(
            text.contains("TAVOLA_DIR=/dev/shm/tavola\n"),
            "{}",
            unit.display()
        );
        count += 1;
    }
    assert_eq!(count, 5);
}

#[test]
fn the_directory_of_the_units_is_for_their_group() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/systemd");
    let text = fs::read_to_string(folder.join("tavola.tmpfiles")).unwrap();
    assert!(
        text.ends_with("d /dev/shm/tavola 2770 tavola tavola -\n"),
        "{text}"
    );
    let users = fs::read_to_string(folder.join("tavola.sysusers")).unwrap();
    assert!(
        users.lines().any(|line| line.starts_with("u tavola ")),
        "{users}"
    );
}
