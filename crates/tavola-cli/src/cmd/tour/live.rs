//! The live part: all processes work, a line of rates comes every second, some are killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tavola::Table;

use super::journal::Progress;
use super::records::Records;
use super::screen::{Row, Screen, duration};
use super::seats::Seats;
use super::verify::{self, Findings};
use crate::error::CliError;
use crate::units::{count, counted, size};

/// How often the leader looks at everybody.
const TICK: Duration = Duration::from_millis(10);
/// How long a process does nothing but write before it is killed, at most.
const BURST: Duration = Duration::from_millis(150);
/// How long a killed process's place stays empty, at most.
const VACANT: Duration = Duration::from_millis(600);

pub struct Live<'a> {
    pub table: &'a Table,
    pub records: &'a Records,
    pub seats: &'a mut Seats,
    pub screen: &'a Screen,
    pub seconds: f64,
    pub kills: u32,
    pub interrupted: Arc<AtomicBool>,
}

/// What the live part came to.
pub struct Outcome {
    /// Whether all that was looked at after each kill held.
    pub holds: bool,
    pub operations: u64,
}

/// What happens next to the process that is killed.
enum Fate {
    Chosen {
        seat: usize,
        dies: Instant,
    },
    Vacant {
        seat: usize,
        until: Instant,
        recoveries: u64,
    },
}

impl Live<'_> {
    /// None when it was interrupted.
    pub fn run(mut self) -> Result<Option<Outcome>, CliError> {
        self.screen.table_head()?;
        let begin = Instant::now();
        let end = begin + Duration::from_secs_f64(self.seconds);
        let mut rates = Rates::new(&self)?;
        let (mut killed, mut fate, mut holds) = (0, None, true);
        while Instant::now() < end || fate.is_some() || killed < self.kills {
            std::thread::sleep(TICK);
            if self.interrupted.load(Ordering::Relaxed) {
                return Ok(None);
            }
            self.seats.watch()?;
            if fate.is_none() && killed < self.kills && Instant::now() >= self.next(killed, begin) {
                fate = Some(self.choose(killed)?);
                killed += 1;
            }
            fate = match fate {
                Some(fate) => self.advance(fate, &mut holds)?,
                None => None,
            };
            rates.show_when_due(&self, begin)?;
        }
        let operations = rates.operations(&self)?;
        Ok(Some(Outcome { holds, operations }))
    }

    /// When the process after `killed` others is chosen: in the middle of the time, evenly.
    fn next(&self, killed: u32, begin: Instant) -> Instant {
        begin + Duration::from_secs_f64(self.seconds * 0.3) + self.pace() * killed
    }

    /// From one kill to the next.
    fn pace(&self) -> Duration {
        Duration::from_secs_f64(self.seconds * 0.45 / f64::from(self.kills.max(1)))
    }

    fn choose(&mut self, killed: u32) -> Result<Fate, CliError> {
        let seat = (std::process::id() + killed) as usize % self.seats.all.len();
        self.seats.write_only(seat)?;
        Ok(Fate::Chosen {
            seat,
            dies: Instant::now() + BURST.min(self.pace() / 5),
        })
    }

    fn advance(&mut self, fate: Fate, holds: &mut bool) -> Result<Option<Fate>, CliError> {
        match fate {
            Fate::Chosen { seat, dies } if Instant::now() >= dies => {
                let recoveries = self.table.stats()?.recoveries;
                *holds &= self.kill(seat)?;
                Ok(Some(Fate::Vacant {
                    seat,
                    until: Instant::now() + VACANT.min(self.pace() / 2),
                    recoveries,
                }))
            }
            Fate::Vacant {
                seat,
                until,
                recoveries,
            } if Instant::now() >= until => {
                self.report_survivors(seat, recoveries)?;
                self.seats.replace(seat)?;
                let seat = &self.seats.all[seat];
                self.screen.event(&format!(
                    "a new process (pid {}) takes its place and continues its work",
                    seat.pid().unwrap_or(0),
                ))?;
                Ok(None)
            }
            undecided => Ok(Some(undecided)),
        }
    }

    /// Kills, and compares at once what was acknowledged with what the table holds.
    fn kill(&mut self, number: usize) -> Result<bool, CliError> {
        let (name, pid) = (self.seats.all[number].name(), self.seats.all[number].pid());
        self.seats.kill(number)?;
        self.screen.event(&format!(
            "kill -9 {}: {name} was killed while writing; the others continue",
            pid.unwrap_or(0),
        ))?;
        let seat = &self.seats.all[number];
        let acknowledged = seat.acknowledged(self.records)?;
        let (table, records, seats) = (self.table, self.records, &*self.seats);
        let mut found = verify::edits_of(table, records, seats, seat, &acknowledged)?;
        found.add(verify::history_of(
            table,
            records,
            seats,
            seat,
            &acknowledged,
        )?);
        self.screen
            .event(&describe_findings(&name, found, seat.kills))?;
        Ok(found.hold(seat.kills))
    }

    fn report_survivors(&self, killed: usize, recoveries: u64) -> Result<(), CliError> {
        let others = self
            .seats
            .all
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != killed);
        let rounds: Vec<Progress> = others
            .map(|(_, seat)| seat.progress())
            .collect::<Result<_, _>>()?;
        let slowest = rounds
            .iter()
            .map(|one| one.slowest_round_ns)
            .max()
            .unwrap_or(0);
        let recovered = self.table.stats()?.recoveries - recoveries;
        let lock = match recovered {
            0 => "it held no lock".to_owned(),
            _ => format!(
                "{} it was writing to taken over and repaired",
                counted(recovered, "shard")
            ),
        };
        let rounds = format!(
            "slowest round of the others: {}, without waiting for a CPU",
            duration(slowest)
        );
        self.screen.event(&format!("{lock}; {rounds}"))
    }
}

fn describe_findings(name: &str, found: Findings, kills: u32) -> String {
    let writes = format!(
        "{} of {name} acknowledged",
        counted(found.acknowledged, "write")
    );
    match found.hold(kills) {
        true if found.landed == 0 => format!("{writes}: all present"),
        true => {
            format!(
                "{writes}: all present, plus {} it did not acknowledge",
                count(found.landed)
            )
        }
        false => format!(
            "{writes}: {} LOST, {} WRONG, {} unacknowledged but present",
            count(found.lost),
            count(found.wrong),
            count(found.landed),
        ),
    }
}

/// What has changed since the last line.
struct Rates {
    at: Instant,
    lines: u32,
    operations: Vec<u64>,
    memory: u64,
}

impl Rates {
    fn new(live: &Live<'_>) -> Result<Self, CliError> {
        let memory = live.table.stats()?.resident_bytes;
        let operations = vec![0; live.seats.all.len()];
        let mut rates = Self {
            at: Instant::now(),
            lines: 0,
            operations,
            memory,
        };
        rates.operations = rates.now(live)?;
        Ok(rates)
    }

    fn now(&self, live: &Live<'_>) -> Result<Vec<u64>, CliError> {
        live.seats
            .all
            .iter()
            .map(|seat| Ok(seat.progress()?.operations))
            .collect()
    }

    fn operations(&self, live: &Live<'_>) -> Result<u64, CliError> {
        Ok(self.now(live)?.iter().sum())
    }

    fn show_when_due(&mut self, live: &Live<'_>, begin: Instant) -> Result<(), CliError> {
        if begin.elapsed() < Duration::from_secs(u64::from(self.lines) + 1) {
            return Ok(());
        }
        self.lines += 1;
        let seconds = self.at.elapsed().as_secs_f64();
        self.at = Instant::now();
        let stats = live.table.stats()?;
        let operations = self.now(live)?;
        let done = operations
            .iter()
            .zip(&self.operations)
            .map(|(now, before)| now - before);
        let seats = live.seats.all.iter();
        let rates = done
            .zip(seats)
            .map(|(done, seat)| seat.pid().map(|_| done as f64 / seconds))
            .collect();
        let row = Row {
            second: begin.elapsed().as_secs_f64(),
            rates,
            keys: count(stats.keys),
            memory: size(stats.resident_bytes),
            growth: growth(self.memory, stats.resident_bytes),
        };
        self.operations = operations;
        self.memory = stats.resident_bytes;
        live.screen.row(&row)
    }
}

fn growth(before: u64, now: u64) -> String {
    match now >= before {
        true => format!("+{}", size(now - before)),
        false => format!("-{}", size(before - now)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_has_a_sign() {
        assert_eq!(growth(1024, 2048), "+1 KiB");
        assert_eq!(growth(2048, 1024), "-1 KiB");
        assert_eq!(growth(5, 5), "+0 B");
    }

    #[test]
    fn a_loss_is_reported_in_capitals() {
        let good = Findings {
            acknowledged: 3,
            landed: 1,
            ..Findings::default()
        };
        assert!(describe_findings("p1", good, 1).contains("all present"));
        let bad = Findings { lost: 1, ..good };
        assert!(describe_findings("p1", bad, 1).contains("1 LOST"));
    }
}
