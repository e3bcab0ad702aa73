//! A player process: plays one side of one game.

use tavola::QueuePool;

use super::job::{Done, Go, Meeting, Setup};
use super::turns::{self, Way};
use super::ways::pool::Pool;
use super::ways::stream::Stream;
use crate::Result;
use crate::crew::Answer;
use crate::duty::{self, Lines, answer, follow};

/// Does what the leader at the other end of standard input says, until that end is closed.
///
/// # Errors
///
/// None that the leader has not been told, save that it is gone.
pub fn work() -> Result<()> {
    duty::work(|setup: Setup, lines| play(&setup, lines))
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
        Meeting::Services(_) => Err(crate::Error::worker("it was built without peers")),
    }
}

/// The way stays open until the leader has heard both sides.
fn play_over(mut way: impl Way, setup: &Setup, lines: &mut Lines) -> Result<()> {
    answer(&Answer::<Done>::Ready)?;
    while let Some(Go { start_ns }) = lines.next()? {
        let done = turns::play(setup.side, &mut way, &setup.plan, start_ns)?;
        answer(&Answer::Done(done))?;
    }
    Ok(())
}
