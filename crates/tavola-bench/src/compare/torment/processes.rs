//! Processes of a trial: started, watched, killed; none outlives its trial.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::job::{Answer, Job};
use crate::{Error, Result, crew};

const GLANCE: Duration = Duration::from_millis(1);

/// How to start a process that takes a job as its last argument.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The program.
    pub program: PathBuf,
    /// What is before the job.
    pub args: Vec<String>,
    /// The store lives in the memory of this process and those that it forks: so it is started
    /// once, and gets lines on its input that say what to fork and what to kill.
    pub forks: bool,
}

impl Program {
    /// This one, as a process of the torment table.
    pub(in crate::compare) fn own() -> Result<Self> {
        Ok(Self {
            program: crew::program()?,
            args: vec!["compare-torment".to_owned()],
            forks: false,
        })
    }
}

/// How a process ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    /// By this signal.
    pub(super) signal: Option<i32>,
    /// What it answered.
    pub(super) answer: Option<Answer>,
    /// The last line of its complaints.
    pub(super) complaint: Option<String>,
}

impl Ended {
    /// Why the store could not be used, if so.
    pub(super) fn fault(&self) -> Option<String> {
        match (&self.answer, self.signal) {
            (Some(answer), _) => answer.error.clone(),
            (None, Some(signal)) => Some(format!("it died of {}", signal_name(signal))),
            (None, None) => Some(match &self.complaint {
                Some(line) => line.clone(),
                None => "it ended without an answer".to_owned(),
            }),
        }
    }
}

pub(super) fn signal_name(signal: i32) -> String {
    match signal {
        4 => "SIGILL".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        14 => "SIGALRM".to_owned(),
        other => format!("signal {other}"),
    }
}

/// Starts the processes of a trial.
pub(super) struct Starter {
    program: Program,
    /// Where answers and complaints go.
    folder: PathBuf,
    host: Option<Host>,
    count: u64,
}

/// The process that forks the others.
struct Host {
    child: Child,
    input: ChildStdin,
}

impl Starter {
    pub(super) fn new(program: &Program, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).map_err(Error::io("making a folder for a trial"))?;
        let mut starter = Self {
            program: program.clone(),
            folder: folder.to_owned(),
            host: None,
            count: 0,
        };
        starter.renew()?;
        Ok(starter)
    }

    /// A store in the memory of the processes is gone with its host: a new one begins.
    pub(super) fn renew(&mut self) -> Result<()> {
        self.host = None;
        if self.program.forks {
            let mut command = self.command();
            command
                .arg("host")
                .stdin(Stdio::piped())
                .stdout(Stdio::null());
            command.stderr(self.file("host.err")?);
            let mut child = command.spawn().map_err(Error::io("starting a process"))?;
            let input = child.stdin.take().expect("the input is piped");
            self.host = Some(Host { child, input });
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.program);
        command.args(&self.program.args);
        command
    }

    fn file(&self, name: &str) -> Result<File> {
        File::create(self.folder.join(name)).map_err(Error::io("making a file for a trial"))
    }

    pub(super) fn start(&mut self, job: &Job) -> Result<Member> {
        self.count += 1;
        let name = format!("{}", self.count);
        let out = self.folder.join(format!("{name}.out"));
        let err = self.folder.join(format!("{name}.err"));
        let job = Job {
            out: out.clone(),
            ..job.clone()
        };
        let text = serde_json::to_string(&job).expect("jobs have a JSON form");
        if let Some(host) = &mut self.host {
            host.write_line(&format!("start {text}\n"))?;
            let end = self.folder.join(format!("{name}.out.end"));
            return Ok(Member {
                out,
                err,
                life: Life::Forked { end },
            });
        }
        let mut command = self.command();
        command.arg(text).stdin(Stdio::null());
        command.stdout(self.file(&format!("{name}.out"))?);
        command.stderr(self.file(&format!("{name}.err"))?);
        let child = command.spawn().map_err(Error::io("starting a process"))?;
        Ok(Member {
            out,
            err,
            life: Life::Spawned(child),
        })
    }

    /// Starts a process and waits for its end. Returns `None` if it did not end in time and was
    /// killed.
    pub(super) fn run(&mut self, job: &Job, bound: Duration) -> Result<Option<Ended>> {
        let mut member = self.start(job)?;
        match member.wait(bound)? {
            Some(ended) => Ok(Some(ended)),
            None => {
                self.kill(&mut member)?;
                Ok(None)
            }
        }
    }

    /// SIGKILL, and waits until it is gone.
    pub(super) fn kill(&mut self, member: &mut Member) -> Result<()> {
        match &mut member.life {
            Life::Spawned(child) => {
                child.kill().map_err(Error::io("killing a process"))?;
                child.wait().map_err(Error::io("waiting for a process"))?;
            }
            Life::Forked { .. } => {
                if let Some(host) = &mut self.host {
                    host.write_line(&format!("kill {}\n", member.out.display()))?;
                }
                member.wait(Duration::from_secs(5))?;
            }
        }
        Ok(())
    }
}

impl Host {
    fn write_line(&mut self, line: &str) -> Result<()> {
        let written = self.input.write_all(line.as_bytes());
        written.map_err(Error::io("asking a process to fork or to kill"))
    }
}

impl Drop for Host {
    /// It kills whom it has forked when its input ends.
    fn drop(&mut self) {
        let _ = self.write_line("end\n");
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(GLANCE);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum Life {
    Spawned(Child),
    /// The host writes how it ended to this file.
    Forked {
        end: PathBuf,
    },
}

/// A process of a trial.
pub(super) struct Member {
    out: PathBuf,
    err: PathBuf,
    life: Life,
}

impl Member {
    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Result<Option<Ended>> {
        let signal = match &mut self.life {
            Life::Spawned(child) => {
                match child
                    .try_wait()
                    .map_err(Error::io("waiting for a process"))?
                {
                    None => return Ok(None),
                    Some(status) => status.signal(),
                }
            }
            Life::Forked { end } => match fs::read_to_string(end) {
                Ok(text) if text.ends_with('\n') => {
                    text.trim().parse().ok().filter(|signal| *signal != 0)
                }
                _ => return Ok(None),
            },
        };
        let text = fs::read_to_string(&self.out).unwrap_or_default();
        let answer = text
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str(line).ok());
        let complaints = fs::read(&self.err).unwrap_or_default();
        let complaints = String::from_utf8_lossy(&complaints);
        let line = complaints
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty());
        let complaint = line.map(|line| line.chars().take(200).collect());
        Ok(Some(Ended {
            signal,
            answer,
            complaint,
        }))
    }

    /// Waits for its end, but not forever.
    pub(super) fn wait(&mut self, bound: Duration) -> Result<Option<Ended>> {
        wait_until(bound, || self.ended())
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Life::Spawned(child) = &mut self.life {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Asks again and again until there is an answer, or time is up.
pub(super) fn wait_until<T>(
    bound: Duration,
    mut ask: impl FnMut() -> Result<Option<T>>,
) -> Result<Option<T>> {
    let deadline = Instant::now() + bound;
    loop {
        if let Some(answer) = ask()? {
            return Ok(Some(answer));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(GLANCE);
    }
}
