//! A logger process: writes lines, or carries those of others on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tavola::Log;

use super::Way;
use super::job::{Came, Job, Setup, Target, Task, Wrote};
use super::pen::{self, Pen};
use super::ways::kernel::{Datagrams, Receiver};
use super::ways::stamped::Stamped;
use super::ways::{appending, shared};
use crate::Result;
use crate::clock::monotonic_ns;
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};

/// Does what the leader at the other end of standard input says, until that end is closed.
///
/// # Errors
///
/// None that the leader has not been told, save that it is gone.
pub fn work() -> Result<()> {
    // What carries lines on listens in a thread of its own.
    duty::work(|setup: Setup, lines| log(&setup, std::mem::take(lines)))
}

fn log(setup: &Setup, lines: Lines) -> Result<()> {
    follow(setup.leader_pid, setup.cpu)?;
    match &setup.task {
        Task::Write { way, to, first } => Writers {
            setup,
            first: *first,
        }
        .over(*way, to, lines),
        Task::Drain { log, file } => {
            let (drain, file) = (Log::open(log)?.drain()?, appending(file)?);
            answer(&Answer::<Came>::Ready)?;
            let carried = shared::carry(drain, file, once_over(lines))?;
            answer(&Answer::Done(Came::Carried(carried)))
        }
        Task::Receive { socket, file, all } => {
            let receiver = Receiver::bind(socket, appending(file)?, setup.plan.text_bytes)?;
            answer(&Answer::<Came>::Ready)?;
            let carried = receiver.carry(*all, once_over(lines))?;
            answer(&Answer::Done(Came::Carried(carried)))
        }
    }
}

/// Whether the leader has said that it is over, or is gone.
fn once_over(mut lines: Lines) -> impl Fn() -> bool {
    let is_over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_over);
    thread::spawn(move || {
        let _ = lines.next::<Job>();
        told.store(true, Ordering::Relaxed);
    });
    move || is_over.load(Ordering::Relaxed)
}

/// The writers of this process.
struct Writers<'a> {
    setup: &'a Setup,
    first: u32,
}

impl Writers<'_> {
    fn over(&self, way: Way, to: &Target, lines: Lines) -> Result<()> {
        match to {
            Target::Log(path) => {
                // One handle, of which each thread has a clone.
                let log = shared::open(path)?;
                self.write(lines, || Ok(log.clone()), || {})
            }
            Target::Socket(name) => {
                let pen = || Ok(Stamped::new(Datagrams::to(name)?));
                self.write(lines, pen, || {})
            }
            Target::File(path) if way == Way::Write => {
                let pen = || Ok(Stamped::new(appending(path)?));
                self.write(lines, pen, || {})
            }
            Target::File(path) => self.over_appender(way, path, lines),
        }
    }

    #[cfg(feature = "peers")]
    fn over_appender(&self, way: Way, path: &Path, lines: Lines) -> Result<()> {
        use super::ways::events::{Appender, Events};

        let appender = Appender::new(way, appending(path)?);
        let all = self.setup.plan.share * u64::from(self.setup.plan.threads);
        let hand_over = || appender.wait_for(all);
        if way == Way::Tracing {
            appender.subscribe()?;
            return self.write(lines, || Ok(Events), hand_over);
        }
        let pen = || Ok(Stamped::new(appender.handle.clone()));
        self.write(lines, pen, hand_over)
    }

    #[cfg(not(feature = "peers"))]
    fn over_appender(&self, _: Way, _: &Path, _: Lines) -> Result<()> {
        Err(crate::Error::worker("it was built without peers"))
    }

    /// What was opened stays so until the leader has heard all.
    fn write<P: Pen>(
        &self,
        mut lines: Lines,
        pen: impl Fn() -> Result<P> + Sync,
        hand_over: impl Fn(),
    ) -> Result<()> {
        answer(&Answer::<Came>::Ready)?;
        while let Some(Job { start_ns }) = lines.next()? {
            let threads = pen::write_all(&self.setup.plan, self.first, start_ns, &pen)?;
            hand_over();
            let handed_ns = monotonic_ns();
            answer(&Answer::Done(Came::Wrote(Wrote { threads, handed_ns })))?;
        }
        Ok(())
    }
}
