//! The leader of a game: has two players meet, start, and tell what they did.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::case::{Game, Score};
use super::job::{Done, Go, Meeting, Plan, Setup, Side};
use super::ways::pool;
use super::{Config, Peer};
use crate::crew::Crew;
use crate::duty::usable_cpus;
use crate::scratch::Scratch;
use crate::{Error, Result};

/// Between the last word to the threads and their common start.
#[cfg(feature = "peers")]
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
    let crew = players(config, plan, [meeting.clone(), meeting])?;
    scratch.unlink()?;
    let score = played(crew)?;
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
    let crew = players(config, plan, [starter, returner])?;
    // A side whose other side is gone sees the end of its pipe.
    drop((there, back));
    played(crew)
}

fn over_meetings(config: &Config, plan: &Plan, meetings: [Meeting; 2]) -> Result<Score> {
    played(players(config, plan, meetings)?)
}

fn players(config: &Config, plan: &Plan, meetings: [Meeting; 2]) -> Result<Crew<Go, Done>> {
    let mut crew = Crew::new("queue");
    for ((side, meeting), cpu) in SIDES.into_iter().zip(meetings).zip(cpus(config.cpu)?) {
        let setup = Setup {
            leader_pid: std::process::id(),
            cpu,
            side,
            meeting,
            plan: plan.clone(),
        };
        crew.hire("player", &setup)?;
    }
    // The starter may wait for the returner.
    crew.ready(1)?;
    crew.ready(0)?;
    Ok(crew)
}

fn played(mut crew: Crew<Go, Done>) -> Result<Score> {
    let go = Go {
        start_ns: crew.start_ns(),
    };
    crew.tell(0, &go)?;
    crew.tell(1, &go)?;
    let (starter, returner) = (crew.done(0), crew.done(1));
    let score = score(starter, returner)?;
    crew.end()?;
    Ok(score)
}

/// What both did must fit; of two errors, a wrong answer tells more than what came of it.
fn score(starter: Result<Done>, returner: Result<Done>) -> Result<Score> {
    let (starter, returner) = match (starter, returner) {
        (Ok(starter), Ok(returner)) => (starter, returner),
        (_, Err(error @ Error::WrongAnswer { .. })) => return Err(error),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    if (starter.sent, starter.taken) != (returner.taken, returner.sent) {
        let what = format!(
            "{} elements were sent there and {} came, {} were sent back and {} came",
            starter.sent, returner.taken, returner.sent, starter.taken
        );
        return Err(Error::wrong("queue", what));
    }
    Ok(Score {
        moves: starter.sent,
        seconds: (starter.end_ns - starter.begin_ns).max(1) as f64 / 1e9,
    })
}

/// Both sides' CPUs: two different ones of those this process may use, where there are two.
fn cpus(cpu: Option<usize>) -> Result<[Option<usize>; 2]> {
    if cpu.is_some() {
        return Ok([cpu; 2]);
    }
    let usable = usable_cpus()?;
    let first = usable.first().copied();
    Ok([first, usable.get(1).copied().or(first)])
}

#[cfg(feature = "peers")]
fn over_threads(config: &Config, plan: &Plan) -> Result<Score> {
    let sides = super::ways::array::Array::pair(plan);
    let sides = sides.into_iter().zip(cpus(config.cpu)?);
    let start_ns = crate::clock::monotonic_ns() + LEAD_NS;
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
    Err(Error::worker("it was built without peers"))
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
        let lost = || Err(Error::worker("nothing came"));
        let wrong = Err(Error::wrong("queue", "other bytes"));
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
        let [starter, returner] = cpus(None).unwrap();
        let count = std::thread::available_parallelism().unwrap().get();
        assert!(starter.is_some() && returner.is_some());
        assert_eq!(starter == returner, count == 1);
        assert_eq!(cpus(Some(0)).unwrap(), [Some(0); 2]);
    }
}
