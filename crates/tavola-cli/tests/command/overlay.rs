//! On overlayfs, as in a container, each command that opens a table prints a warning.
//!
//! The overlay is mounted for the command alone, in a mount namespace of its own. Where that is
//! not permitted, nothing is tested.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use crate::shell::{Shell, wait_until};

/// Mounts the overlay, then becomes the command.
const MOUNT: &str = r#"
set -e
mount -t overlay overlay -o "lowerdir=$1/.lower,upperdir=$1/.upper,workdir=$1/.work" "$1/.merged"
shift
exec "$@"
"#;

/// A shell whose tables are on overlayfs.
struct Overlay(Shell);

impl Overlay {
    /// Returns `None` where no overlay can be mounted.
    fn new() -> Option<Overlay> {
        let shell = Shell::new();
        for part in [".lower", ".upper", ".work", ".merged"] {
            fs::create_dir(shell.path().join(part)).expect("a directory");
        }
        let overlay = Overlay(shell);
        let tried = overlay.wrap(&Command::new("true")).output();
        let can_mount = tried.is_ok_and(|tried| tried.status.success());
        if !can_mount {
            println!("skipped: no overlay can be mounted here");
        }
        can_mount.then_some(overlay)
    }

    /// The same command, in a namespace with the overlay.
    fn wrap(&self, command: &Command) -> Command {
        let mut wrapped = Command::new("unshare");
        let is_root = rustix::process::geteuid().is_root();
        wrapped.args(if is_root { &["-m"][..] } else { &["-m", "-r"] });
        wrapped.args(["--", "sh", "-c", MOUNT, "sh"]);
        wrapped.arg(self.0.path()).arg(command.get_program());
        wrapped.args(command.get_args());
        wrapped.env("TAVOLA_DIR", self.0.path().join(".merged"));
        wrapped.stdin(Stdio::null());
        wrapped
    }

    fn command(&self, args: &[&str]) -> Command {
        self.wrap(&self.0.command(args))
    }

    /// What a command that ends prints on standard error.
    fn said(&self, args: &[&str]) -> String {
        let output = self.command(args).output().expect("it runs");
        String::from_utf8(output.stderr).expect("text")
    }

    /// What a command that does not end prints on standard error first; it is killed then.
    fn first_said(&self, args: &[&str]) -> String {
        let said = self.0.path().join(".said");
        let mut command = self.command(args);
        command.stderr(File::create(&said).expect("a file"));
        let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let mut text = String::new();
        let mut has_ended = false;
        wait_until(|| {
            has_ended = child.try_wait().expect("a child of ours").is_some();
            text = fs::read_to_string(&said).expect("text");
            has_ended || text.ends_with('\n')
        });
        // Otherwise it continues when the test ends.
        let _ = child.kill();
        let _ = child.wait();
        assert!(!has_ended, "{args:?}: {text}");
        text
    }
}

/// How many lines of a text are the warning.
fn warnings(program: &str, said: &str) -> usize {
    let start = format!("{program}: warning: ");
    let of = said.lines().filter(|line| line.starts_with(&start));
    of.filter(|line| line.contains("is on overlayfs") && line.contains("TAVOLA_DIR"))
        .count()
}

#[test]
fn commands_for_keys_and_logs_warn_once() {
    let Some(overlay) = Overlay::new() else {
        return;
    };
    for args in [
        &["set", "t", "k", "v"][..],
        &["get", "t", "k"],
        &["log", "create", "made"],
        &["log", "write", "events", "text"],
        &["log", "show", "events"],
        &["log", "drain", "events", "--once"],
        &["log", "write", "t", "--log", "beside", "text"],
    ] {
        let said = overlay.said(args);
        assert_eq!(warnings("tavola", &said), 1, "{args:?}: {said}");
    }
}

#[test]
fn long_running_commands_warn_once() {
    let Some(overlay) = Overlay::new() else {
        return;
    };
    overlay.said(&["log", "create", "events"]);
    for (program, args) in [
        ("tavola", &["log", "follow", "events"][..]),
        ("tavola", &["serve", "t", "--listen", "127.0.0.1:0"]),
        ("tavola", &["exporter", "--listen", "127.0.0.1:0"]),
        ("tavola", &["exporter", "--listen", "127.0.0.1:0", "t"]),
        ("tavola-memcached", &["memcached", "-p", "-1", "-u", "root"]),
    ] {
        let said = overlay.first_said(args);
        assert_eq!(warnings(program, &said), 1, "{args:?}: {said}");
    }
}
