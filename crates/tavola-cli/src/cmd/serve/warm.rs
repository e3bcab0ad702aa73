//! A served table that starts warm: restored from a file at the start, and saved to it by a thread
//! of its own, now and then and at the end.
//!
//! The table is in shared memory and stays when the server ends. So the file is restored only into
//! another table than the one that was saved: after a restart of the machine, or if the table was
//! removed. The table that lives on knows better.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::process::setpriority_process;
use tavola::{Error, Table};
use tavola_server::memcached::Saves;

use super::plan::Voice;
use crate::cmd::restore::sentence;
use crate::error::CliError;

/// How much less the thread that saves is favoured than others: writers come first.
const NICE: i32 = 10;
/// How many files may be set aside.
const MOST_ASIDE: u32 = 100;

/// Where a table is saved, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotPlan {
    pub path: PathBuf,
    /// If this is `None`, only at the end.
    pub every: Option<Duration>,
}

impl SnapshotPlan {
    /// Returns what two flags ask for.
    pub fn of(path: Option<PathBuf>, every: Option<Duration>) -> Option<SnapshotPlan> {
        path.map(|path| SnapshotPlan { path, every })
    }
}

/// The thread and the file that a table is saved by.
pub struct Saver {
    path: PathBuf,
    table: Arc<Table>,
    saves: Arc<Saves>,
    voice: Voice,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// Whether to save at once, after what was found at the start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    /// The file is of this table, or there is none.
    Current,
    /// The table is another one than the file says, until it is saved.
    Restored,
}

impl Saver {
    /// Restores the table, unless another server hands it over, and begins to save it. Returns
    /// `None` if the file is damaged and cannot be set aside: then nothing is saved over it.
    pub fn begin(
        plan: &SnapshotPlan,
        table: &Arc<Table>,
        voice: Voice,
        is_handed_over: bool,
    ) -> Result<Option<Saver>, CliError> {
        if table.is_durable()? {
            return Err(CliError::Sentence(format!(
                "{} is a durable table, which is on disk anyway; leave the snapshot out",
                table.path().display()
            )));
        }
        let path = std::path::absolute(&plan.path).map_err(|source| CliError::Write {
            path: plan.path.clone(),
            source,
        })?;
        let found = match is_handed_over {
            true => Some(Found::Current),
            false => restore(&path, table, voice),
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let mut saver = Saver {
            saves: Arc::new(Saves::new(&path)),
            path,
            table: Arc::clone(table),
            voice,
            thread: None,
        };
        if plan.every.is_some() || found == Found::Restored {
            saver.start(plan.every, found);
        }
        Ok(Some(saver))
    }

    /// Returns what is counted of the saves.
    pub fn saves(&self) -> Arc<Saves> {
        Arc::clone(&self.saves)
    }

    fn start(&mut self, every: Option<Duration>, found: Found) {
        let (ending, ended) = channel();
        let (path, table) = (self.path.clone(), Arc::clone(&self.table));
        let (saves, voice) = (Arc::clone(&self.saves), self.voice);
        let started = thread::Builder::new()
            .name("tavola-save".to_string())
            .spawn(move || {
                // Linux has a priority for each thread; if it refuses, all are alike.
                let _ = setpriority_process(None, NICE);
                if found == Found::Restored {
                    save_or_warn(&path, &table, &saves, voice);
                }
                while is_due(&ended, every) {
                    save_or_warn(&path, &table, &saves, voice);
                }
            });
        match started {
            Ok(thread) => self.thread = Some((ending, thread)),
            Err(error) => voice_of_no_thread(self.voice, &error),
        }
    }

    /// Saves a last time, when all clients have their answers.
    pub fn finish(mut self) -> Result<(), CliError> {
        if let Some((ending, thread)) = self.thread.take() {
            drop(ending);
            let _ = thread.join();
        }
        let saved = save(&self.path, &self.table, &self.saves)?;
        self.voice.report(&saved);
        Ok(())
    }
}

fn voice_of_no_thread(voice: Voice, error: &io::Error) {
    voice.warn(&format!(
        "no thread to save the table could be started ({error}); it is saved at the end only"
    ));
}

/// Waits until it is time to save. Returns false if the server ends before.
fn is_due(ended: &Receiver<()>, every: Option<Duration>) -> bool {
    match every {
        Some(every) => ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout),
        None => false,
    }
}

fn save(path: &Path, table: &Table, saves: &Saves) -> Result<String, Error> {
    let saved = table.save(path).inspect_err(|_| saves.failed())?;
    saves.saved(saved.keys);
    Ok(format!("saved {} keys to {}", saved.keys, path.display()))
}

fn save_or_warn(path: &Path, table: &Table, saves: &Saves, voice: Voice) {
    match save(path, table, saves) {
        Ok(text) => voice.report(&text),
        Err(error) => voice.warn(&format!("{error}; the file of the last save stays")),
    }
}

/// Restores a table from a file, if there is one. Returns `None` if the file must not be replaced.
fn restore(path: &Path, table: &Table, voice: Voice) -> Option<Found> {
    let restored = match table.saved_file(path) {
        Ok(file) if file.is_of_table => {
            voice.report("the table is still in memory, so it is not restored");
            return Some(Found::Current);
        }
        Ok(_) => table.restore(path),
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Some(Found::Current);
        }
        Err(error) => Err(error),
    };
    let error = match restored {
        Ok(restored) if restored.left_out > 0 => {
            voice.warn(&sentence(&restored));
            return Some(Found::Restored);
        }
        Ok(restored) => {
            voice.report(&sentence(&restored));
            return Some(Found::Restored);
        }
        Err(error) => error,
    };
    match set_aside(path) {
        Ok(aside) => {
            voice.warn(&format!(
                "{error}; the table starts without it, and the file is now {}",
                aside.display()
            ));
            Some(Found::Current)
        }
        Err(why) => {
            voice.warn(&format!(
                "{error}; it cannot be renamed either ({why}), so the table is not saved: move \
                 the file, and restart the server"
            ));
            None
        }
    }
}

/// Gives a file a name that no other has: `FILE.damaged`, `FILE.damaged-2`, and so on.
fn set_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MOST_ASIDE {
        let mut name = path.as_os_str().to_os_string();
        name.push(match number {
            1 => ".damaged".to_string(),
            number => format!(".damaged-{number}"),
        });
        let aside = PathBuf::from(name);
        if aside.symlink_metadata().is_err() {
            std::fs::rename(path, &aside)?;
            return Ok(aside);
        }
    }
    Err(io::Error::other("too many files were set aside"))
}
