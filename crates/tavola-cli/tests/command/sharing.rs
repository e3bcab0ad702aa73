//! Tables that several users share by a group, and directories made for that.
//!
//! The tests run the command as users that have no name, by `setpriv`. Only root may do that; for
//! others nothing is tested.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::shell::{Ran, Shell, wait_until};
use rustix::process::{getegid, geteuid};
use tempfile::TempDir;

/// Two users, a group that both are in, and one that neither is in.
const ANN: u32 = 21_001;
const BOB: u32 = 21_002;
const WEB: u32 = 21_100;
const OTHER: u32 = 21_101;

/// The user that runs a command, and whether the user is in the group.
#[derive(Clone, Copy)]
struct Person {
    uid: u32,
    in_group: bool,
}

const fn member(uid: u32) -> Person {
    Person {
        uid,
        in_group: true,
    }
}

const fn stranger(uid: u32) -> Person {
    Person {
        uid,
        in_group: false,
    }
}

/// A place for tables that other users can reach, and a copy of the command that they may run.
struct Town {
    home: TempDir,
    program: PathBuf,
    _public: TempDir,
}

impl Town {
    /// Returns `None` for a user who cannot become another.
    fn new() -> Option<Town> {
        if !geteuid().is_root() {
            println!("skipped: only root can become another user");
            return None;
        }
        let home = tempfile::tempdir_in("/dev/shm").expect("a directory in /dev/shm");
        let public = tempfile::tempdir().expect("a public directory");
        for directory in [home.path(), public.path()] {
            set_mode(directory, 0o755);
        }
        let program = public.path().join("tavola");
        fs::copy(env!("CARGO_BIN_EXE_tavola"), &program).expect("a public copy");
        let town = Town {
            home,
            program,
            _public: public,
        };
        // Until it runs, a child of another thread may have the copy open.
        wait_until(|| town.run(stranger(ANN), "/", &["--version"]).code == 0);
        Some(town)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A directory that the group may write to.
    fn directory(&self, name: &str, mode: u32) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        chown(&path, None, Some(WEB)).unwrap();
        set_mode(&path, mode);
        path
    }

    fn command(&self, person: Person, tables: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new("setpriv");
        let Person { uid, in_group } = person;
        command.arg(format!("--reuid={uid}"));
        command.arg(format!("--regid={uid}"));
        command.arg(match in_group {
            true => format!("--groups={WEB}"),
            false => "--clear-groups".to_string(),
        });
        command.arg("--").arg(&self.program).args(args);
        command.env("TAVOLA_DIR", tables.as_ref()).current_dir("/");
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, person: Person, tables: impl AsRef<Path>, args: &[&str]) -> Ran {
        let output = self.command(person, tables, args).output();
        Ran::of(output.expect("setpriv runs"))
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn rights(path: impl AsRef<Path>) -> (u32, u32) {
    let found = fs::metadata(path).expect("it is there");
    (found.gid(), found.mode() & 0o7777)
}

/// Asserts that a command failed and said each of these.
fn assert_reported(ran: &Ran, words: &[&str]) {
    let said = &ran.err;
    assert_eq!(ran.code, 2, "{ran:?}");
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn members_of_the_group_use_a_table_and_others_get_an_error_that_names_what_is_missing() {
    let Some(town) = Town::new() else { return };
    // Without setgid, only --group gives the table its group.
    let tables = town.directory("tables", 0o770);
    let (ann, bob) = (member(ANN), member(BOB));
    let web = WEB.to_string();
    let create = ["create", "pages", "--mode", "660", "--group", &web];
    town.run(ann, &tables, &create).ok();
    assert_eq!(rights(tables.join("pages")), (WEB, 0o660));
    town.run(ann, &tables, &["set", "pages", "/", "hello"]).ok();
    town.run(bob, &tables, &["set", "pages", "/", "from bob"])
        .ok();
    assert_eq!(
        town.run(ann, &tables, &["get", "pages", "/"]).out,
        b"from bob"
    );

    let refused = town.run(stranger(BOB), &tables, &["get", "pages", "/"]);
    assert_reported(&refused, &["not in that group", "usermod -aG 21100"]);
    let other = OTHER.to_string();
    let refused = town.run(ann, &tables, &["create", "x", "--group", &other]);
    assert_reported(
        &refused,
        &["group 21101", "user 21001 is not in that group"],
    );
    assert!(!tables.join("x").exists());

    town.run(ann, &tables, &["create", "mine"]).ok();
    let refused = town.run(bob, &tables, &["set", "mine", "a", "b"]);
    assert_reported(
        &refused,
        &["mode 600", "chgrp GROUP", "chmod 660", "tavola dir create"],
    );
    chown(tables.join("mine"), None, Some(WEB)).unwrap();
    let refused = town.run(bob, &tables, &["get", "mine", "a"]);
    assert_reported(&refused, &["user 21001 can run: chmod 640"]);
}

#[test]
fn a_user_continues_after_another_user_was_killed() {
    let Some(town) = Town::new() else { return };
    let tables = town.directory("tables", 0o2770);
    let mut command = town.command(member(ANN), &tables, &["load", "t", "--mode", "660"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let written = write_until_killed(&mut child, || {
        let ran = town.run(member(BOB), &tables, &["count", "t"]);
        ran.code == 0 && ran.out != b"0\n"
    });
    assert!(written > 0);
    town.run(member(BOB), &tables, &["set", "t", "bob", "lives"])
        .ok();
    let checked = town.run(member(BOB), &tables, &["check", "t"]).ok();
    assert!(String::from_utf8_lossy(&checked).contains("no problems"));
}

/// As the unit of the package does: a server of one user, and local programs of the group.
#[test]
fn a_served_table_is_used_by_local_members_of_the_group() {
    let Some(town) = Town::new() else { return };
    let tables = town.directory("tables", 0o2770);
    let socket = tables.join(".socket");
    let flags = ["memcached", "--mode", "660", "--table", "sessions", "-s"];
    let args = [&flags[..], &[socket.to_str().unwrap()]].concat();
    let mut server = town.command(member(ANN), &tables, &args).spawn().unwrap();
    let local = |args: &[&str]| town.run(member(BOB), &tables, args);
    // The table is there, and the key is missing.
    wait_until(|| local(&["get", "sessions", "bob"]).code == 1);
    local(&["set", "sessions", "bob", "hi"]).ok();
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(rights(tables.join("sessions")), (WEB, 0o660));
    assert_eq!(local(&["get", "sessions", "bob"]).out, b"hi");
}

/// Writes entries to a `load` without a pause, kills it in the middle as soon as `is_time`, and
/// returns how many entries were written.
fn write_until_killed(child: &mut Child, mut is_time: impl FnMut() -> bool) -> u64 {
    let mut input = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let lines = (0_u64..).take_while(|n| {
                writeln!(input, "{{\"key\":\"k{}\",\"value\":\"{n}\"}}", n % 5000).is_ok()
            });
            lines.count() as u64
        });
        wait_until(&mut is_time);
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
        writer.join().expect("a writer")
    })
}

#[test]
fn every_command_that_creates_a_table_takes_mode_and_group() {
    let shell = Shell::new();
    let group = match geteuid().is_root() {
        true => WEB,
        false => getegid().as_raw(),
    };
    let (number, root) = (group.to_string(), "root".to_string());
    let given = ["--mode", "640", "--group", &number];
    let with = |words: &[&str]| [words, &given].concat().join("\0");
    let file = shell.file("in", "{\"key\":\"a\",\"value\":\"b\"}\n");
    let socket = shell.path().join(".socket");
    let listen = format!("unix:{}", socket.display());
    let socket = socket.to_str().unwrap();
    for (table, words) in [
        ("created", with(&["create", "created"])),
        ("set", with(&["set", "set", "a", "b"])),
        ("loaded", with(&["load", "loaded", file.to_str().unwrap()])),
        ("logged", with(&["log", "create", "logged"])),
        ("queued", with(&["queue", "create", "queued"])),
    ] {
        shell.run(words.split('\0')).ok();
        assert_eq!(rights(shell.path().join(table)), (group, 0o640), "{table}");
    }
    for (table, words) in [
        ("served", with(&["serve", "served", "--listen", &listen])),
        ("drained", with(&["log", "drain", "drained"])),
        (
            "cached",
            with(&["memcached", "-u", &root, "-s", socket, "--table", "cached"]),
        ),
    ] {
        let mut child = shell.spawn(words.split('\0'));
        let table = shell.path().join(table);
        wait_until(|| table.exists() || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(rights(&table), (group, 0o640), "{}", table.display());
    }
    // A group alone lets its members write.
    shell
        .run(["set", "alone", "a", "b", "--group", &number])
        .ok();
    assert_eq!(rights(shell.path().join("alone")), (group, 0o660));
    let refused = shell.run(["create", "x", "--group", "no-such-group"]);
    assert_reported(&refused, &["groupadd no-such-group"]);
}

#[test]
fn a_directory_for_a_group_is_created_by_one_command() {
    let Some(town) = Town::new() else { return };
    let (path, web) = (town.path("web"), WEB.to_string());
    let text = path.to_str().unwrap();
    let shell = Shell::new();
    let create = ["dir", "create", text, "--group", &web];
    let ran = shell.run(create).ok();
    let said = String::from_utf8_lossy(&ran);
    assert!(
        said.contains("mode 2770") && said.contains("usermod -aG 21100"),
        "{said}"
    );
    assert!(said.contains(&format!("TAVOLA_DIR={text}")), "{said}");
    assert_eq!(rights(&path), (WEB, 0o2770));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
    // New tables get the group without being asked to.
    town.run(member(ANN), &path, &["create", "t", "--mode", "660"])
        .ok();
    assert_eq!(rights(path.join("t")), (WEB, 0o660));
    town.run(member(BOB), &path, &["set", "t", "a", "b"]).ok();

    // It repairs what it finds, and prints the line for the next boot alone.
    set_mode(&path, 0o755);
    let ran = shell.run([&create[..], &["--tmpfiles"]].concat()).ok();
    assert_eq!(rights(&path), (WEB, 0o2770));
    let line = format!("d {text} 2770 root {WEB} -\n");
    assert_eq!(String::from_utf8_lossy(&ran), line);
    let file = town.path("web.conf");
    let option = format!("--tmpfiles={}", file.display());
    shell.run([&create[..], &[&option]].concat()).ok();
    assert!(fs::read_to_string(&file).unwrap().ends_with(&line));
}

#[test]
fn a_directory_that_cannot_be_shared_is_refused() {
    let Some(town) = Town::new() else { return };
    let web = WEB.to_string();
    let ours = town.directory("ours", 0o2770);
    set_mode(town.home.path(), 0o1777);
    let refused = |person, path: &Path, group: &str, words: &[&str]| {
        let args = ["dir", "create", path.to_str().unwrap(), "--group", group];
        assert_reported(&town.run(person, "/", &args), words);
    };
    refused(member(ANN), &ours, &web, &["belongs to user root"]);
    let new = town.path("new");
    refused(member(ANN), &new, "21101", &["not in it", "usermod"]);
    assert!(!new.exists());
    let link = town.path("link");
    symlink(&ours, &link).unwrap();
    refused(member(ANN), &link, &web, &["not a directory"]);
    File::create(town.path("file")).unwrap();
    refused(member(ANN), &town.path("file"), &web, &["not a directory"]);
    let private = Path::new("/dev/shm/tavola-21001");
    refused(
        member(ANN),
        private,
        &web,
        &["private directory of one user"],
    );
    assert!(!private.exists());
}

#[test]
fn doctor_says_what_a_shared_directory_lacks() {
    let Some(town) = Town::new() else { return };
    let tables = town.directory("tables", 0o2770);
    let doctor = |person| {
        let ran = town.run(person, &tables, &["doctor"]);
        String::from_utf8_lossy(&ran.out).into_owned()
    };
    let said = doctor(stranger(BOB));
    assert!(said.contains("this process is not in it"), "{said}");
    assert!(said.contains("usermod -aG 21100 21002"), "{said}");
    town.run(member(ANN), &tables, &["create", "mine"]).ok();
    let said = doctor(member(BOB));
    assert!(said.contains("nobody is in that group"), "{said}");
    assert!(
        said.contains("members of group 21100 cannot read: mine"),
        "{said}"
    );
    set_mode(&tables, 0o770);
    let said = doctor(member(BOB));
    assert!(said.contains("ask its owner to run: chmod g+s"), "{said}");
}
