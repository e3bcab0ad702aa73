//! The lives of a toy log: it runs a script, the power fails anywhere, it recovers and runs the
//! next script on what was left, and so on.

use super::super::simulated::SimulatedHome;
use super::super::simulated::check::{CutChoices, CutCount, check_all_cuts};
use super::super::simulated::fault::{CallKind, Fault};
use super::toy_log::{Mistake, ToyLog};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Append(usize),
    /// Two values, the second while the first is synced.
    AppendPair(usize),
    Snapshot,
    AppendFailedSync(usize),
    AppendShortWrite(usize),
    /// The process dies and starts again; the power stays.
    Restart,
}

/// The operations of one life, and how many cuts follow it.
#[derive(Clone, Copy)]
pub(super) struct Life<'a> {
    pub(super) script: &'a [Operation],
    pub(super) choices: CutChoices,
}

/// Runs lives one after the other, the next ones on all that the cuts of the ones before leave.
/// Adds what it judged to `count`. Fails with a story if something acknowledged is lost, or
/// something is there that never was.
pub(super) fn check_lives(
    lives: &[Life<'_>],
    mistake: Option<Mistake>,
    count: &mut CutCount,
) -> Result<(), String> {
    let home = SimulatedHome::new();
    live(&home, Expected::default(), lives, mistake, count)
}

/// The values that a recovered log may have: the beginning of `appended`, at least `acknowledged`.
#[derive(Clone, Default)]
struct Expected {
    appended: Vec<Vec<u8>>,
    acknowledged: usize,
    life: u8,
}

fn live(
    home: &SimulatedHome,
    expected: Expected,
    lives: &[Life<'_>],
    mistake: Option<Mistake>,
    count: &mut CutCount,
) -> Result<(), String> {
    let log = recover(home, &expected, mistake)?;
    let Some((life, later)) = lives.split_first() else {
        return Ok(());
    };
    let expected = Expected {
        appended: log.values.clone(),
        life: expected.life + 1,
        ..expected
    };
    let expected = run(home, log, expected, life.script, mistake)?;
    let judge = |home: SimulatedHome, acknowledged: &[u64]| {
        let acknowledged = acknowledged.iter().map(|n| *n as usize + 1).max();
        let expected = Expected {
            acknowledged: acknowledged.unwrap_or(0),
            ..expected.clone()
        };
        live(&home, expected, later, mistake, count)
    };
    let judged = check_all_cuts(&home.history(), life.choices, judge);
    *count += judged.map_err(|failure| failure.to_string())?;
    Ok(())
}

fn recover(
    home: &SimulatedHome,
    expected: &Expected,
    mistake: Option<Mistake>,
) -> Result<ToyLog, String> {
    let log = ToyLog::open(home, mistake)?;
    let found = log.values.len();
    if found < expected.acknowledged {
        let acknowledged = expected.acknowledged;
        return Err(format!(
            "{acknowledged} values were acknowledged, {found} are found"
        ));
    }
    for (at, value) in log.values.iter().enumerate() {
        if expected.appended.get(at) != Some(value) {
            return Err(format!("value {at} was never appended there"));
        }
    }
    Ok(log)
}

/// Runs a script. Returns what a recovery may find after it, or at any moment of it.
fn run(
    home: &SimulatedHome,
    mut log: ToyLog,
    mut expected: Expected,
    script: &[Operation],
    mistake: Option<Mistake>,
) -> Result<Expected, String> {
    let acknowledged = |home: &SimulatedHome| {
        let history = home.history();
        let last = history.acknowledged_by(history.len()).into_iter().max();
        last.map_or(0, |n| n as usize + 1)
    };
    for operation in script {
        if log.has_failed && *operation != Operation::Restart {
            continue;
        }
        let mut new_body = |size: usize| {
            let body = body_of(expected.appended.len(), expected.life, size);
            expected.appended.push(body.clone());
            body
        };
        let done = match *operation {
            Operation::Append(size) => log.append(new_body(size)),
            Operation::AppendPair(size) => {
                let first = new_body(size);
                log.append_pair(first, new_body(size))
            }
            Operation::Snapshot => log.snapshot(),
            Operation::AppendFailedSync(size) => {
                home.fail_next(CallKind::SyncData, Fault::new(libc::EIO));
                log.append(new_body(size))
            }
            Operation::AppendShortWrite(size) => {
                home.fail_next(CallKind::Write, Fault::after_bytes(libc::ENOSPC, size / 2));
                log.append(new_body(size))
            }
            Operation::Restart => {
                expected.acknowledged = acknowledged(home);
                log = recover(home, &expected, mistake)?;
                expected.appended.clone_from(&log.values);
                Ok(())
            }
        };
        // A fault on order may fail, nothing else.
        if !matches!(
            operation,
            Operation::AppendFailedSync(_) | Operation::AppendShortWrite(_)
        ) {
            done.map_err(|error| format!("{operation:?}: {error}"))?;
        }
        home.stop_failing();
    }
    Ok(expected)
}

/// A body that no other value has.
fn body_of(n: usize, life: u8, size: usize) -> Vec<u8> {
    let mut body = vec![b'a' + n as u8 % 26; size];
    body[0] = n as u8 + 1;
    body[1] = life;
    body[size - 1] = life + 100;
    body
}
