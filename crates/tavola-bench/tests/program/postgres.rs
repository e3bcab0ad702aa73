//! A PostgreSQL of a test's own, for as long as the test runs.

use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A cluster whose user `postgres` needs no password.
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    pub port: u16,
    server: Option<Child>,
}

impl Cluster {
    /// `None`: there is no PostgreSQL here.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            // Not by a macro, whose text is hidden if a test passes.
            let _ = writeln!(io::stderr(), "skipped: there is no initdb of PostgreSQL");
            return None;
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut cluster = Self {
            folder: tempfile::tempdir_in("/dev/shm").unwrap(),
            programs,
            port: listener.local_addr().unwrap().port(),
            server: None,
        };
        drop(listener);
        // Its user is another when this one is root.
        let mut open = Command::new("chmod");
        assert!(
            open.arg("777")
                .arg(cluster.path())
                .status()
                .unwrap()
                .success()
        );
        let mut make = cluster.command("initdb");
        make.args(["--no-sync", "--auth=trust", "--username=postgres"]);
        make.args(["--encoding=UTF8", "--locale=C"]);
        let made = make.arg("-D").arg(cluster.data()).output().unwrap();
        let errors = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "{errors}");
        let mut serve = cluster.command("postgres");
        serve.arg("-D").arg(cluster.data());
        serve.arg("-k").arg(cluster.path());
        serve.args(["-h", "127.0.0.1", "-p", &cluster.port.to_string()]);
        let errors = fs::File::create(cluster.path().join("errors")).unwrap();
        cluster.server = Some(serve.stdin(Stdio::null()).stderr(errors).spawn().unwrap());
        cluster.wait();
        Some(cluster)
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Of PostgreSQL, which does not run as root.
    pub fn command(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if rustix::process::geteuid().is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg("--").arg(program).current_dir(self.path());
        command.stdout(Stdio::null());
        command
    }

    fn wait(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        let ready = || {
            let text = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            text.lines().any(|line| line.trim() == "ready")
        };
        while !ready() {
            let errors = fs::read_to_string(self.path().join("errors")).unwrap();
            assert!(Instant::now() < until, "it does not start: {errors}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Returns the answer of the server to a statement.
    pub fn ask(&self, statement: &str) -> String {
        let mut ask = self.command("psql");
        ask.args(["-X", "-A", "-t", "-q", "-d", &self.url(), "-c", statement]);
        let output = ask.stdout(Stdio::piped()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Some(server) = &mut self.server else {
            return;
        };
        let pid = server.id().to_string();
        let _ = Command::new("kill").args(["-INT", &pid]).status();
        let until = Instant::now() + Duration::from_secs(10);
        while Instant::now() < until {
            match server.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                _ => return,
            }
        }
        let _ = server.kill();
        let _ = server.wait();
    }
}

fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?.flatten();
    let mut folders: Vec<_> = versions.map(|entry| entry.path().join("bin")).collect();
    folders.retain(|folder| folder.join("initdb").is_file());
    folders.sort();
    folders.pop()
}
