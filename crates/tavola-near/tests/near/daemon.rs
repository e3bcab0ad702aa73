//! A daemon as a process of its own: this program again, which runs one test.

use crate::wait_until;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tavola::Table;
use tavola_near::{DaemonOptions, Near};

const TABLE: &str = "TAVOLA_NEAR_TEST_TABLE";
const UPSTREAM: &str = "TAVOLA_NEAR_TEST_UPSTREAM";
/// `max_stale` of the daemons here.
pub const MAX_STALE: Duration = Duration::from_millis(200);

/// Returns the table of a near cache, which it creates.
pub fn table(path: &Path) -> Arc<Table> {
    let options = Table::options().capacity(8 << 20).max_size(64 << 20);
    Arc::new(options.open(path).expect("a table"))
}

/// Runs a daemon until it is killed, if this process was started for it.
#[test]
fn child() {
    let (Some(path), Ok(upstream)) = (std::env::var_os(TABLE), std::env::var(UPSTREAM)) else {
        return;
    };
    let options = DaemonOptions::new(&upstream).expect("an address");
    let options = options.max_stale(MAX_STALE);
    let never = AtomicBool::new(false);
    let ended = options.run(&table(Path::new(&path)), &never, &mut |_| ());
    panic!("a daemon ends when it is killed: {ended:?}");
}

/// A daemon, killed with the value.
pub struct Daemon {
    child: Child,
}

impl Daemon {
    pub fn start(table: &Path, upstream: &str) -> Self {
        let program = std::env::current_exe().expect("this program");
        let child = Command::new(program)
            .args(["--exact", "daemon::child", "--nocapture"])
            .env(TABLE, table)
            .env(UPSTREAM, upstream)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Self {
            child: child.expect("it starts"),
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it has ended");
    }
}

pub fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("it is a child that was not waited for");
}

/// Opens the near cache in a table, once a daemon has connected.
pub fn open(table: &Path) -> Near {
    let mut near = None;
    wait_until("a daemon works", || {
        near = Near::open(table).ok();
        near.as_ref().is_some_and(|near| near.status().is_trusted)
    });
    near.expect("opened")
}
