//! The server of a store is killed under load: does it start again, and what has it kept?
//!
//! Two writers and a reader are at it when it gets SIGKILL. They must be told by an error, and not
//! wait for ever. Then it is started on what it has left behind, and every put that had returned
//! is looked for. Each kill is done on a server that is new and empty.

use std::thread;
use std::time::{Duration, Instant};

use super::kill::{OTHER, READER, VICTIM, is_busy};
use super::{Verdict, count};
use crate::Result;
use crate::compare::torment::Outcome;
use crate::compare::torment::board::Board;
use crate::compare::torment::ground::{Ground, KEYS};
use crate::compare::torment::job::{Job, Role};
use crate::compare::torment::program::{Member, signal_name};

/// The server lives so many milliseconds at least, once all are at work, and as many more at most.
const LIFE_MS: u64 = 150;

/// What happened so far.
#[derive(Debug, Default)]
struct Tally {
    kills: u32,
    /// Puts that had returned.
    puts: u64,
    /// Clients that waited for ever, and that died.
    hung: u32,
    died: u32,
    /// Times that it did not start, or could not be used.
    down: u32,
    /// The longest time from a kill until it served.
    away: Duration,
    good: u64,
    lost: u64,
    torn: u64,
    why: Option<String>,
}

impl Tally {
    fn because(&mut self, why: impl FnOnce() -> String) {
        self.why.get_or_insert_with(why);
    }
}

pub(in crate::compare::torment) fn run(ground: &mut Ground<'_>) -> Result<Verdict> {
    if !ground.subject.served {
        let why = "it has no server: its processes use it themselves";
        return Ok(Verdict::new(Outcome::NotApplicable, why, 0));
    }
    let mut tally = Tally::default();
    while tally.kills < ground.extent.server_kills && tally.down == 0 {
        ground.renew()?;
        if let Some(verdict) = once(ground, &mut tally)? {
            return Ok(verdict);
        }
    }
    // The next trial begins with an empty store.
    ground.renew()?;
    Ok(judge(&tally, ground.subject.as_run))
}

/// One kill. A verdict: the store cannot be tried like this at all.
fn once(ground: &mut Ground<'_>, tally: &mut Tally) -> Result<Option<Verdict>> {
    let (board, job) = ground.round()?;
    let mut clients = Vec::new();
    // A writer has put each of its keys once, so that all can be looked for.
    for (slot, role, prefixes, ops) in [
        (VICTIM, Role::Write, "a", KEYS),
        (OTHER, Role::Write, "b", KEYS),
        (READER, Role::Read, "ab", 1),
    ] {
        let mut client = ground.starter.start(&Job {
            slot,
            role,
            prefixes: prefixes.to_owned(),
            ..job.clone()
        })?;
        if !is_busy(&board, slot, ops, &mut client, ground.extent.bound)? {
            let ended = client.ended()?;
            ground.starter.kill(&mut client)?;
            return Ok(Verdict::of_fault(
                ended.as_ref(),
                "a client could not begin",
            ));
        }
        clients.push(client);
    }
    let more = job.seed.wrapping_mul(0x9E37_79B9) % LIFE_MS;
    thread::sleep(Duration::from_millis(LIFE_MS + more));
    ground.kill_server()?;
    let begun = Instant::now();
    tally.kills += 1;
    watch(ground, &board, &mut clients, tally)?;
    if let Err(why) = ground.start_server_again() {
        tally.down += 1;
        tally.because(|| why);
        return Ok(None);
    }
    tally.away = tally.away.max(begun.elapsed());
    for (slot, prefixes) in [(VICTIM, "a"), (OTHER, "b")] {
        let acked = board.notes(slot)?.acked;
        tally.puts += acked;
        let job = Job {
            role: Role::Verify,
            slot: OTHER + 1,
            prefixes: prefixes.to_owned(),
            from: acked,
            address: ground.address().to_owned(),
            ..job.clone()
        };
        look(ground, &job, tally)?;
    }
    Ok(None)
}

/// Its clients must notice, though they are never told to stop.
fn watch(
    ground: &mut Ground<'_>,
    board: &Board,
    clients: &mut [Member],
    tally: &mut Tally,
) -> Result<()> {
    // All have as long, and have had it when one has.
    let mut bound = ground.extent.mourning;
    for client in clients {
        match client.wait(bound)? {
            None => {
                tally.hung += 1;
                bound = Duration::ZERO;
                tally.because(|| "a client waited for its dead server".to_owned());
                ground.starter.kill(client)?;
            }
            Some(ended) => {
                if let Some(signal) = ended.signal {
                    tally.died += 1;
                    tally.because(|| format!("a client died of {}", signal_name(signal)));
                }
            }
        }
    }
    board.tell_to_stop()
}

/// Looks for what had been written.
fn look(ground: &mut Ground<'_>, job: &Job, tally: &mut Tally) -> Result<()> {
    let ended = ground.starter.run(job, ground.extent.bound * 2)?;
    let Some(ended) = ended else {
        tally.down += 1;
        tally.because(|| "who asked it afterwards hung".to_owned());
        return Ok(());
    };
    match (&ended.answer, ended.fault()) {
        (Some(answer), None) if answer.works => {
            tally.good += answer.good;
            tally.lost += answer.lost;
            tally.torn += answer.torn;
        }
        (Some(answer), None) => {
            tally.down += 1;
            tally.because(|| format!("a put afterwards did not work: {}", answer.means));
        }
        (_, why) => {
            tally.down += 1;
            tally.because(|| format!("asking it afterwards: {}", why.unwrap_or_default()));
        }
    }
    Ok(())
}

fn judge(tally: &Tally, as_run: &str) -> Verdict {
    let outcome = match tally {
        Tally { down: 1.., .. } => Outcome::Ruined,
        Tally { hung: 1.., .. } => Outcome::Hangs,
        Tally { died: 1.., .. } => Outcome::Dies,
        Tally { lost: 1.., .. } | Tally { torn: 1.., .. } => Outcome::Loses,
        _ => Outcome::Holds,
    };
    let mut said = vec![format!(
        "{} of the server under load",
        count(tally.kills.into(), "kill")
    )];
    if tally.down > 0 {
        said.push("it did not serve again".to_owned());
    } else {
        let away = tally.away.as_millis();
        said.push(format!("each time it served again, within {away} ms"));
        said.push(kept(tally));
    }
    if tally.hung > 0 {
        said.push(format!("{} hung", count(tally.hung.into(), "client")));
    }
    if !as_run.is_empty() {
        said.push(format!("as it is run here: {as_run}"));
    }
    said.extend(tally.why.clone());
    Verdict::new(outcome, said.join("; "), tally.kills)
}

/// What has become of the values of the keys that were written, over and over.
fn kept(tally: &Tally) -> String {
    let Tally {
        puts,
        good,
        lost,
        torn,
        ..
    } = *tally;
    let all = good + lost + torn;
    let torn = match torn {
        0 => String::new(),
        torn => format!(", {torn} cut short or mixed"),
    };
    let fate = match lost {
        0 => format!("none of {all} values was lost{torn}"),
        lost if lost == all => format!("all {all} values were lost"),
        lost => format!("{lost} of {all} values were lost or older{torn}"),
    };
    format!("{fate}, of {puts} puts that had returned")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        Tally {
            kills: 3,
            puts: 900,
            good: 96,
            ..Tally::default()
        }
    }

    #[test]
    fn what_is_worst_counts() {
        let outcome = |tally: &Tally| judge(tally, "").outcome;
        assert_eq!(outcome(&tally()), Outcome::Holds);
        let lost = Tally { lost: 1, ..tally() };
        assert_eq!(outcome(&lost), Outcome::Loses);
        let torn = Tally { torn: 1, ..tally() };
        assert_eq!(outcome(&torn), Outcome::Loses);
        let hung = Tally { hung: 1, ..lost };
        assert_eq!(outcome(&hung), Outcome::Hangs);
        let down = Tally { down: 1, ..hung };
        assert_eq!(outcome(&down), Outcome::Ruined);
    }

    #[test]
    fn what_is_lost_is_told_with_how_it_was_run() {
        let said = |tally: &Tally| judge(tally, "no log").detail;
        let none = said(&tally());
        let words = "none of 96 values was lost, of 900 puts that had returned; \
                     as it is run here: no log";
        assert!(none.ends_with(words), "{none}");
        let all = Tally {
            good: 0,
            lost: 96,
            ..tally()
        };
        assert!(said(&all).contains("all 96 values were lost"));
        let some = Tally { lost: 4, ..tally() };
        assert!(said(&some).contains("4 of 100 values were lost or older"));
    }
}
