//! The trial of a power cut. The store is on a file system in a file behind a loop device. A busy
//! writer is killed, and only the bytes that have reached the file by then are kept: pages that the
//! system has in memory for that file system are lost, and so is shared memory.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::ground::{Ground, KEYS};
use super::kills::{Tally, VICTIM, cannot_begin, is_busy, kept, verify};
use super::{Outcome, Trying, Verdict, count};
use crate::{Error, Result};

/// Makes the disk and mounts it. Tables in memory are beside it, where a cut can remove them.
pub(super) const SCRIPT: &str = "truncate -s 96m \"$1.disk\" && mkfs.ext4 -q -F \"$1.disk\" && \
     mount -o loop \"$1.disk\" \"$1\" && rmdir \"$1/lost+found\" && mkdir -p \"$1.memory\" && \
     export TAVOLA_DIR=\"$1.memory\" && shift && exec \"$@\"";
/// A writer lives so many milliseconds at most, after it has put each key once.
const LIFE_MS: u64 = 60;

/// Cuts the power, again and again, until something is lost.
pub(super) fn of_disk(ground: &mut Ground<'_>) -> Trying<Verdict> {
    let mut tally = Tally::default();
    let mut last = 0;
    while tally.kills < ground.extent.server_kills && tally.broken() == 0 && !tally.loses() {
        last = cut_power(ground, &mut tally, last)?;
    }
    Ok(judge(&tally))
}

/// Returns the number of the last put that had returned.
fn cut_power(ground: &mut Ground<'_>, tally: &mut Tally, last: u64) -> Trying<u64> {
    let (board, mut job) = ground.round()?;
    job.from = last + 1;
    let bound = ground.extent.bound;
    let mut writer = ground.starter.start(&job)?;
    if !is_busy(&board, VICTIM, KEYS, &mut writer, bound)? {
        cannot_begin(ground, &mut writer, tally, "a writer could not begin")?;
        return Ok(last);
    }
    let life_ms = 1 + job.seed.wrapping_mul(0x9E37_79B9) % LIFE_MS;
    thread::sleep(Duration::from_millis(life_ms));
    ground.starter.kill(&mut writer)?;
    tally.kills += 1;
    let acked = board.notes(VICTIM)?.acked;
    lose_what_is_in_memory(ground)?;
    tally.puts += acked.saturating_sub(last);
    verify(ground, &job, "a", acked, bound * 2, tally)?;
    // The store has a few puts of the one who looked.
    Ok(acked + KEYS)
}

fn lose_what_is_in_memory(ground: &Ground<'_>) -> Result<()> {
    let mount = ground.store();
    let beside = |what: &str| {
        let mut path = mount.clone().into_os_string();
        path.push(what);
        PathBuf::from(path)
    };
    let (disk, left, memory) = (beside(".disk"), beside(".left"), beside(".memory"));
    call(
        Command::new("cp")
            .args(["--sparse=always"])
            .args([&disk, &left]),
    )?;
    call(Command::new("umount").arg(&mount))?;
    fs::rename(&left, &disk).map_err(Error::io("changing a disk"))?;
    call(
        Command::new("mount")
            .args(["-o", "loop"])
            .args([&disk, &mount]),
    )?;
    fs::remove_dir_all(&memory).map_err(Error::io("removing tables in memory"))?;
    fs::create_dir(&memory).map_err(Error::io("making a folder for tables in memory"))
}

fn call(command: &mut Command) -> Result<()> {
    let ended = command.output().map_err(Error::io("changing a disk"))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(Error::worker(format!("{command:?}: {said}")))
}

fn judge(tally: &Tally) -> Verdict {
    let outcome = match tally {
        Tally { unopened: 1.., .. } | Tally { unusable: 1.., .. } => Outcome::Ruined,
        Tally { hung: 1.., .. } => Outcome::Hangs,
        tally if tally.loses() => Outcome::Loses,
        _ => Outcome::Holds,
    };
    let cuts = count(tally.kills.into(), "power cut");
    let mut said = vec![format!("{cuts} under a writer")];
    match outcome {
        Outcome::Ruined => said.push("it could not be used afterwards".to_owned()),
        _ => said.push(kept(tally)),
    }
    said.extend(tally.why.clone());
    Verdict::new(outcome, said.join("; "), tally.kills)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_or_does_not_open_is_reported() {
        let tally = || Tally {
            kills: 3,
            puts: 900,
            good: 48,
            ..Tally::default()
        };
        let none = judge(&tally());
        assert_eq!(none.outcome, Outcome::Holds);
        let words = "3 power cuts under a writer; none of 48 values was lost, of 900 puts that \
                     had returned";
        assert_eq!(none.detail, words);
        let lost = Tally { lost: 2, ..tally() };
        assert_eq!(judge(&lost).outcome, Outcome::Loses);
        let ruined = Tally {
            unopened: 1,
            ..lost
        };
        assert_eq!(judge(&ruined).outcome, Outcome::Ruined);
    }
}
