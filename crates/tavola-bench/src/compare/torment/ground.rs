//! Where one trial of one store takes place: its folder, its processes, its server.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::job::{Answer, Board, Job, Role};
use super::processes::{Ended, Member, Program, Starter};
use super::stores::{Company, Subject};
use super::{Stop, Trying, Verdict};
use crate::compare::usage::file_bytes;
use crate::{Error, Result};

/// Keys of each writer.
pub(super) const KEYS: u64 = 16;
/// A process that takes longer than its trial's bound ends by itself some time after.
const SPARE: u32 = 4;

/// A server that a store is asked through, and that can be made again.
pub(in crate::compare) trait Served {
    /// Stops it and starts an empty one; its address.
    fn renew(&mut self) -> Result<String>;
    /// Kills it by SIGKILL. What it has written stays.
    fn kill(&mut self) -> Result<()>;
    /// Starts it on what it has left behind; its address, or why it does not start.
    fn start_again(&mut self) -> std::result::Result<String, String>;
    /// What the data takes, and where it is.
    fn size(&self) -> (u64, &'static str);
    /// How another process makes one in `folder` with its data in `room`, as the worker understands
    /// it, or `None` if its data is in no folder.
    fn within(&self, room: &Path, folder: &Path) -> Option<String>;
}

/// How large trials are, and how long they may take.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Extent {
    /// Kills of a writer.
    pub(super) kills: u32,
    /// Kills of a server.
    pub(super) server_kills: u32,
    /// A started process that has done nothing after this time hangs.
    pub(super) bound: Duration,
    /// A process that does nothing for this time after another has died hangs.
    pub(super) mourning: Duration,
    /// Puts beside an old reader, and how long they may take.
    pub(super) churn: u64,
    pub(super) churn_time: Duration,
    /// Increments of each of the four processes.
    pub(super) increments: u64,
}

pub(super) struct Ground<'a> {
    pub(super) subject: Subject,
    pub(super) extent: Extent,
    pub(super) starter: Starter,
    folder: PathBuf,
    server: Option<&'a mut dyn Served>,
    address: String,
    rounds: u64,
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        subject: Subject,
        extent: Extent,
        program: &Program,
        folder: &Path,
        server: Option<&'a mut dyn Served>,
    ) -> Result<Self> {
        let mut ground = Self {
            subject,
            extent,
            starter: Starter::new(program, &folder.join("desk"))?,
            folder: folder.to_owned(),
            server,
            address: String::new(),
            rounds: 0,
        };
        ground.serve()?;
        Ok(ground)
    }

    fn serve(&mut self) -> Result<()> {
        if let Some(server) = &mut self.server {
            self.address = server.renew()?;
        }
        Ok(())
    }

    pub(super) fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Takes the store away; the next to open it makes a new one.
    pub(super) fn renew(&mut self) -> Result<()> {
        match fs::remove_dir_all(self.store()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("removing a store")(error));
            }
            _ => {}
        }
        self.starter.renew()?;
        self.serve()
    }

    /// Has a process do a job, which must answer.
    pub(super) fn answer(&mut self, job: &Job, bound: Duration, doing: &str) -> Trying<Answer> {
        let ended = self.starter.run(job, bound)?;
        answered(ended, doing)
    }

    /// Waits for the answer of a process; kills it if it does not end in time.
    pub(super) fn answer_of(
        &mut self,
        member: &mut Member,
        bound: Duration,
        doing: &str,
    ) -> Trying<Answer> {
        let ended = member.wait(bound)?;
        if ended.is_none() {
            self.starter.kill(member)?;
        }
        answered(ended, doing)
    }

    /// A new board, and a job with it.
    pub(super) fn round(&mut self) -> Result<(Board, Job)> {
        self.rounds += 1;
        let path = self.folder.join(format!("board-{}", self.rounds));
        fs::create_dir_all(&self.folder).map_err(Error::io("making a folder for a trial"))?;
        let board = Board::create(&path)?;
        let job = Job {
            peer: self.subject.name.to_owned(),
            role: Role::Write,
            store: self.store(),
            address: self.address.clone(),
            board: path,
            slot: 1,
            prefixes: "a".to_owned(),
            keys: KEYS,
            value_bytes: self.subject.value_bytes,
            key_bytes: 0,
            from: 1,
            ops: 0,
            millis: (self.extent.bound * SPARE).as_millis() as u64,
            alone: u8::from(self.subject.company == Company::Alone),
            seed: self.rounds,
            out: PathBuf::new(),
        };
        Ok((board, job))
    }

    /// Of the server.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn kill_server(&mut self) -> Result<()> {
        self.server.as_mut().map_or(Ok(()), |server| server.kill())
    }

    pub(super) fn start_server_again(&mut self) -> std::result::Result<(), String> {
        if let Some(server) = &mut self.server {
            self.address = server.start_again()?;
        }
        Ok(())
    }

    /// See [`Served::within`].
    pub(super) fn server_within(&self, room: &Path) -> Option<String> {
        let server = self.server.as_ref()?;
        server.within(room, &self.folder.join("server"))
    }

    /// What the data takes, and where it is.
    pub(super) fn size(&self) -> (u64, &'static str) {
        match &self.server {
            Some(server) => server.size(),
            None => (file_bytes(&self.store()), "its files"),
        }
    }
}

fn answered(ended: Option<Ended>, doing: &str) -> Trying<Answer> {
    match Verdict::of_fault(ended.as_ref(), doing) {
        Some(verdict) => Err(Stop::Verdict(verdict)),
        None => Ok(ended.and_then(|ended| ended.answer).unwrap_or_default()),
    }
}
