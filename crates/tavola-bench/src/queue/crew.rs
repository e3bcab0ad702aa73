//! The leader of a game: has two players meet, start, and tell what they did.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity};

use super::case::{Game, Score};
use super::job::{Answer, Done, Go, Meeting, Plan, Setup, Side};
use super::ways::pool;
use super::{Config, Peer};
use crate::clock::monotonic_ns;
use crate::kv::Placement;
use crate::member::{Member, out_of_turn};
use crate::scratch::Scratch;
use crate::{Error, Result};

/// Between the last word to the players and the common start.
const LEAD_NS: u64 = 3_000_000;
const SIDES: [Side; 2] = [Side::Starter, Side::Returner];

/// Plays a game once.
pub(super) fn play(config: &Config, game: &Game) -> Result<Score> {
    let plan = Plan {
        elements: config.elements,
        element_bytes: config.element_bytes as usize,
        run: game.run,
        touched: game.touched,
        moves: config.moves,
        limit_ns: (config.seconds * 1e9) as u64,
    };
    match game.peer {
        Peer::Tavola => over_pool(config, &plan),
        Peer::ArrayQueue => over_threads(config, &plan),
        Peer::Socket => {
            let meeting = Meeting::Socket(unique_name());
            over_meetings(config, &plan, [meeting.clone(), meeting])
        }
        Peer::Pipe => over_pipes(config, &plan),
        Peer::Iceoryx2 => {
            let meeting = Meeting::Services(unique_name());
            over_meetings(config, &plan, [meeting.clone(), meeting])
        }
    }
}

fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("tavola-bench-{}-{count}", std::process::id())
}

fn over_pool(config: &Config, plan: &Plan) -> Result<Score> {
    let options = pool::options(config.elements, config.element_bytes);
    let (mut scratch, pool) = Scratch::create_pool(config.dir.as_deref(), &options)?;
    let meeting = Meeting::Pool(PathBuf::from(scratch.name()));
    let players = Players::start(config, plan, [meeting.clone(), meeting])?;
    scratch.unlink()?;
    let score = players.play()?;
    pool::check(&pool)?;
    Ok(score)
}

fn over_pipes(config: &Config, plan: &Plan) -> Result<Score> {
    let pipe = || std::io::pipe().map_err(Error::io("making a pipe"));
    let (there, back) = (pipe()?, pipe()?);
    let path = |end: &dyn AsRawFd| {
        let (leader, end) = (std::process::id(), end.as_raw_fd());
        PathBuf::from(format!("/proc/{leader}/fd/{end}"))
    };
    let starter = Meeting::Pipes {
        input: path(&back.0),
        output: path(&there.1),
    };
    let returner = Meeting::Pipes {
        input: path(&there.0),
        output: path(&back.1),
    };
    let players = Players::start(config, plan, [starter, returner])?;
    // A side whose other side is gone sees the end of its pipe.
    drop((there, back));
    players.play()
}

fn over_meetings(config: &Config, plan: &Plan, meetings: [Meeting; 2]) -> Result<Score> {
    Players::start(config, plan, meetings)?.play()
}

/// The starter first.
struct Players(Vec<Member>);

impl Players {
    fn start(config: &Config, plan: &Plan, meetings: [Meeting; 2]) -> Result<Self> {
        let cpus = cpus(config.placement)?;
        let mut players = Self(Vec::new());
        for ((side, meeting), cpu) in SIDES.into_iter().zip(meetings).zip(cpus) {
            let mut player = Member::start(&config.worker)?;
            player.send(&Setup {
                leader_pid: std::process::id(),
                cpu,
                side,
                meeting,
                plan: plan.clone(),
            })?;
            players.0.push(player);
        }
        // The starter may wait for the returner.
        for at in [1, 0] {
            match players.hear(at)? {
                Answer::Ready => {}
                _ => return Err(out_of_turn()),
            }
        }
        Ok(players)
    }

    fn play(mut self) -> Result<Score> {
        let start_ns = monotonic_ns() + LEAD_NS;
        for player in &mut self.0 {
            player.send(&Go { start_ns })?;
        }
        let (starter, returner) = (self.done(0), self.done(1));
        let score = score(starter, returner)?;
        self.0.into_iter().try_for_each(Member::dismiss)?;
        Ok(score)
    }

    fn done(&mut self, at: usize) -> Result<Done> {
        match self.hear(at)? {
            Answer::Done(done) => Ok(done),
            _ => Err(out_of_turn()),
        }
    }

    fn hear(&mut self, at: usize) -> Result<Answer> {
        match self.0[at].hear(at, "queue")? {
            Answer::Failed { wrong, what } => Err(Error::told(wrong, "queue", what)),
            answer => Ok(answer),
        }
    }
}

/// What both did must fit; of two errors, a wrong answer tells more than what came of it.
fn score(starter: Result<Done>, returner: Result<Done>) -> Result<Score> {
    let (starter, returner) = match (starter, returner) {
        (Ok(starter), Ok(returner)) => (starter, returner),
        (_, Err(error @ Error::WrongAnswer { .. })) => return Err(error),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    if (starter.sent, starter.taken) != (returner.taken, returner.sent) {
        return Err(Error::WrongAnswer {
            phase: "queue".to_owned(),
            what: format!(
                "{} elements were sent there and {} came, {} were sent back and {} came",
                starter.sent, returner.taken, returner.sent, starter.taken
            ),
        });
    }
    Ok(Score {
        moves: starter.sent,
        seconds: (starter.end_ns - starter.begin_ns).max(1) as f64 / 1e9,
    })
}

/// Both sides' CPUs: two different ones of those this process may use, where there are two.
fn cpus(placement: Placement) -> Result<[Option<usize>; 2]> {
    match placement {
        Placement::Free => Ok([None; 2]),
        Placement::One(cpu) => Ok([Some(cpu); 2]),
        Placement::Spread => {
            let usable = sched_getaffinity(None).map_err(|error| Error::Io {
                doing: "asking for the CPUs",
                source: error.into(),
            })?;
            let mut usable = (0..CpuSet::MAX_CPU).filter(|&cpu| usable.is_set(cpu));
            let first = usable.next();
            Ok([first, usable.next().or(first)])
        }
    }
}

#[cfg(feature = "peers")]
fn over_threads(config: &Config, plan: &Plan) -> Result<Score> {
    let sides = super::ways::array::Array::pair(plan);
    let sides = sides.into_iter().zip(cpus(config.placement)?);
    let start_ns = monotonic_ns() + LEAD_NS;
    let play = |((side, mut way), cpu)| {
        crate::duty::stay_on(cpu)?;
        super::turns::play(side, &mut way, plan, start_ns)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = sides.map(|side| scope.spawn(move || play(side))).collect();
        let mut done = threads.into_iter().map(|thread| thread.join());
        let mut next = || {
            let joined = done.next().expect("there are two sides");
            joined.expect("the threads do not panic")
        };
        let (starter, returner) = (next(), next());
        score(starter, returner)
    })
}

#[cfg(not(feature = "peers"))]
fn over_threads(_: &Config, _: &Plan) -> Result<Score> {
    Err(Error::Worker {
        what: "it was built without peers".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(sent: u64, taken: u64) -> Result<Done> {
        Ok(Done {
            begin_ns: 1_000_000_000,
            end_ns: 3_000_000_000,
            sent,
            taken,
        })
    }

    #[test]
    fn both_sides_must_tell_the_same() {
        let (moves, seconds) = (7, 2.0);
        assert_eq!(
            score(done(7, 7), done(7, 7)).unwrap(),
            Score { moves, seconds }
        );
        for (starter, returner) in [((7, 7), (7, 8)), ((7, 7), (6, 7)), ((8, 7), (7, 7))] {
            let both = (done(starter.0, starter.1), done(returner.0, returner.1));
            let error = score(both.0, both.1).unwrap_err();
            assert!(matches!(error, Error::WrongAnswer { .. }), "{error}");
        }
    }

    #[test]
    fn a_wrong_answer_is_told_before_what_came_of_it() {
        let lost = || {
            Err(Error::Worker {
                what: "nothing came".to_owned(),
            })
        };
        let wrong = Err(Error::WrongAnswer {
            phase: "queue".to_owned(),
            what: "other bytes".to_owned(),
        });
        assert!(matches!(
            score(lost(), wrong),
            Err(Error::WrongAnswer { .. })
        ));
        assert!(matches!(
            score(lost(), done(1, 1)),
            Err(Error::Worker { .. })
        ));
    }

    #[test]
    fn sides_stay_on_cpus_that_are_there() {
        let [starter, returner] = cpus(Placement::Spread).unwrap();
        let count = std::thread::available_parallelism().unwrap().get();
        assert!(starter.is_some() && returner.is_some());
        assert_eq!(starter == returner, count == 1);
        assert_eq!(cpus(Placement::One(0)).unwrap(), [Some(0); 2]);
    }
}
