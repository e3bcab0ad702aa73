//! Two containers that share a table: each has mounts and process ids of its own, and both mount
//! one directory. Where that is not permitted, nothing is tested.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::shell::{Ran, Shell, wait_until};

/// Mounts the shared directory where the container keeps its tables, then becomes the command.
const MOUNT: &str = r#"
set -e
mount --bind "$1" "$2"
shift 2
exec "$@"
"#;

struct Host(Shell);

impl Host {
    /// Returns `None` where no namespaces can be made.
    fn new() -> Option<Host> {
        let shell = Shell::new();
        for part in [".shared", ".one", ".two"] {
            fs::create_dir(shell.path().join(part)).expect("a directory");
        }
        let host = Host(shell);
        let can = host.run(".one", &["--version"]).code == 0;
        if !can {
            println!("skipped: no namespaces can be made here");
        }
        can.then_some(host)
    }

    /// The command in a container of its own, which has its tables at `tables`.
    fn command(&self, tables: &str, args: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        if !rustix::process::geteuid().is_root() {
            command.arg("--map-root-user");
        }
        let path = |name: &str| self.0.path().join(name);
        command.args(["--", "sh", "-c", MOUNT, "sh"]);
        command.arg(path(".shared")).arg(path(tables));
        command.arg(env!("CARGO_BIN_EXE_tavola")).args(args);
        command.env("TAVOLA_DIR", path(tables)).stdin(Stdio::null());
        command
    }

    fn run(&self, tables: &str, args: &[&str]) -> Ran {
        Ran::of(self.command(tables, args).output().expect("unshare runs"))
    }
}

#[test]
fn a_container_continues_after_another_one_was_killed() {
    let Some(host) = Host::new() else { return };
    let mut command = host.command(".one", &["load", "t"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let mut numbers = 0_u64..;
            let mut next = || {
                let n = numbers.next().unwrap_or(0);
                writeln!(input, "{{\"key\":\"k{}\",\"value\":\"{n}\"}}", n % 5000)
            };
            while next().is_ok() {}
        });
        // The other container sees the keys, and the process that it cannot name.
        wait_until(|| host.run(".two", &["get", "t", "k4999"]).code == 0);
        let stat = host.run(".two", &["stat", "t"]).ok();
        let stat = String::from_utf8_lossy(&stat).into_owned();
        assert!(stat.contains("in another pid namespace"), "{stat}");
        host.run(".two", &["set", "t", "two", "beside"]).ok();
        // Amid its writes.
        child.kill().expect("a child of ours");
        child.wait().expect("a child of ours");
        writer.join().expect("a writer");
    });
    host.run(".two", &["set", "t", "two", "after"]).ok();
    assert_eq!(host.run(".two", &["get", "t", "two"]).out, b"after");
    let checked = host.run(".two", &["check", "t"]).ok();
    let checked = String::from_utf8_lossy(&checked).into_owned();
    assert!(checked.contains("no problems; 5,001 keys"), "{checked}");
    // The file is where the host has it, too.
    assert!(host.0.path().join(".shared/t").exists());
    assert!(!host.0.path().join(".two/t").exists());
}
