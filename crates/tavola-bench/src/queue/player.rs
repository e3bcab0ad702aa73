//! A player process: plays one side of one game.

use tavola::QueuePool;

use super::job::{Answer, Go, Meeting, Setup};
use super::turns::{self, Way};
use super::ways::pool::Pool;
use super::ways::stream::Stream;
use crate::duty::{Lines, answer, follow};
use crate::{Error, Result};

/// Does what the leader at the other end of standard input says, until that end is closed.
///
/// # Errors
///
/// None that the leader has not been told, save that it is gone.
pub fn work() -> Result<()> {
    let mut lines = Lines::new();
    let Some(setup) = lines.next::<Setup>()? else {
        return Ok(());
    };
    match play(&setup, &mut lines) {
        Ok(()) => Ok(()),
        Err(Error::WrongAnswer { what, .. }) => answer(&Answer::Failed { wrong: true, what }),
        Err(error) => answer(&Answer::Failed {
            wrong: false,
            what: error.to_string(),
        }),
    }
}

fn play(setup: &Setup, lines: &mut Lines) -> Result<()> {
    follow(setup.leader_pid, setup.cpu)?;
    let (side, plan) = (setup.side, &setup.plan);
    match &setup.meeting {
        Meeting::Pool(path) => {
            let way = Pool::open(QueuePool::open(path)?, side, plan)?;
            play_over(way, setup, lines)
        }
        Meeting::Socket(name) => play_over(Stream::by_socket(name, side, plan)?, setup, lines),
        Meeting::Pipes { input, output } => {
            let way = Stream::by_pipes((input, output), side, plan)?;
            play_over(way, setup, lines)
        }
        #[cfg(feature = "peers")]
        Meeting::Services(name) => {
            let way = super::ways::iceoryx::Services::open(name, side, plan)?;
            play_over(way, setup, lines)
        }
        #[cfg(not(feature = "peers"))]
        Meeting::Services(_) => Err(Error::Worker {
            what: "it was built without peers".to_owned(),
        }),
    }
}

/// The way stays open until the leader has heard both sides.
fn play_over(mut way: impl Way, setup: &Setup, lines: &mut Lines) -> Result<()> {
    answer(&Answer::Ready)?;
    while let Some(Go { start_ns }) = lines.next()? {
        let done = turns::play(setup.side, &mut way, &setup.plan, start_ns)?;
        answer(&Answer::Done(done))?;
    }
    Ok(())
}
