//! A victim, a finder, a survivor.

use super::{LOCK, PATIENCE, PERMITS, SEMAPHORE, is_usable, lock, semaphore};
use crate::args::Args;
use crate::board::{Board, Count, Of};
use crate::child::{Died, Found, Outcome, child, failed};
use crate::image::Image;
use crate::scratch::Scratch;
use crate::system::now_ns;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tavola::{Hold, Table, killpoint};

/// When a sample is wanted, one in so many points, and of their finders.
const SPARE: u64 = 9;
const SHORT: Duration = Duration::from_millis(1);

/// How far a victim came with the lock. What is between two of these is not known.
const HAS_IT: u64 = 1;
const GIVES_IT_BACK: u64 = 2;
const GAVE_IT_BACK: u64 = 3;

type Work = fn(&Table, &AtomicU64) -> Found<()>;

struct Case {
    name: &'static str,
    /// What is done to the file before: by a process that dies with what it holds.
    before: fn(&Table) -> Found<Vec<Hold>>,
    work: Work,
}

const CASES: [Case; 9] = [
    Case {
        name: "lock: make a lock and a semaphore",
        before: made,
        work: |table, _| {
            table.named_lock("another").map_err(failed)?;
            table.semaphore("one more", 2).map_err(failed)?;
            Ok(())
        },
    },
    Case {
        name: "lock: alone, twice",
        before: made,
        work: |table, progress| {
            alone(table, progress)?;
            alone(table, progress)
        },
    },
    Case {
        name: "lock: shared, twice at once",
        before: made,
        work: |table, _| {
            let lock = lock(table)?;
            let one = lock.share().map_err(failed)?;
            let other = lock.try_share().map_err(failed)?;
            drop((one, other));
            Ok(())
        },
    },
    Case {
        name: "lock: wait for one that shares it, in vain",
        before: made,
        work: |table, _| {
            let lock = lock(table)?;
            let shared = lock.share().map_err(failed)?;
            let alone = lock.lock_within(SHORT).map_err(failed)?;
            let is_missing = alone.is_none();
            drop((alone, shared));
            is_missing
                .then_some(())
                .ok_or_else(|| "a shared lock was had alone".to_owned())
        },
    },
    Case {
        name: "lock: wait for one that has it, in vain",
        before: made,
        work: |table, progress| {
            let lock = lock(table)?;
            let guard = lock.lock().map_err(failed)?;
            progress.store(HAS_IT, Relaxed);
            let again = lock.lock_within(SHORT).map_err(failed)?.is_some();
            let shared = lock.share_within(SHORT).map_err(failed)?.is_some();
            progress.store(GIVES_IT_BACK, Relaxed);
            drop(guard);
            progress.store(GAVE_IT_BACK, Relaxed);
            match again || shared {
                true => Err("a lock was had twice".to_owned()),
                false => Ok(()),
            }
        },
    },
    Case {
        name: "lock: take over from the dead",
        before: |table| {
            made(table)?;
            let guard = lock(table)?.lock().map_err(failed)?.into_hold();
            Ok(vec![guard])
        },
        work: alone,
    },
    Case {
        name: "lock: take over from the dead that share it",
        before: |table| {
            made(table)?;
            let lock = lock(table)?;
            let share = || Ok(lock.share().map_err(failed)?.into_hold());
            (0..3).map(|_| share()).collect()
        },
        work: alone,
    },
    Case {
        name: "semaphore: all permits",
        before: made,
        work: |table, _| {
            let semaphore = semaphore(table)?;
            for _ in 0..2 {
                let permits: Vec<_> = (0..PERMITS).map(|_| semaphore.acquire()).collect();
                let more = semaphore.acquire_within(SHORT).map_err(failed)?;
                if more.is_some() || permits.iter().any(Result::is_err) {
                    return Err("other permits than there are".to_owned());
                }
            }
            Ok(())
        },
    },
    Case {
        name: "semaphore: permits of the dead",
        before: |table| {
            made(table)?;
            let semaphore = semaphore(table)?;
            let acquire = || Ok(semaphore.acquire().map_err(failed)?.into_hold());
            (0..PERMITS).map(|_| acquire()).collect()
        },
        work: |table, _| {
            let semaphore = semaphore(table)?;
            let permit = semaphore.acquire().map_err(failed)?;
            match permit.owner_died() {
                true => Ok(()),
                false => Err("the permit of a dead process came without news".to_owned()),
            }
        },
    },
];

fn made(table: &Table) -> Found<Vec<Hold>> {
    lock(table)?;
    semaphore(table)?;
    // The first key of a table takes thousands of stores.
    table.set(b"key", b"first").map_err(failed)?;
    Ok(Vec::new())
}

/// Has the lock alone, and says so.
fn alone(table: &Table, progress: &AtomicU64) -> Found<()> {
    progress.store(0, Relaxed);
    let lock = lock(table)?;
    let guard = lock.lock_within(PATIENCE).map_err(failed)?;
    let guard = guard.ok_or("the lock is not free")?;
    progress.store(HAS_IT, Relaxed);
    // A store of the table's, so that there is a point here.
    table.set(b"key", b"value").map_err(failed)?;
    progress.store(GIVES_IT_BACK, Relaxed);
    drop(guard);
    progress.store(GAVE_IT_BACK, Relaxed);
    Ok(())
}

struct Points<'a> {
    board: &'a Board,
    path: PathBuf,
    /// Of points and finders, one in so many.
    step: u64,
}

pub(super) fn run(args: &Args, board: &Board, scratch: &Scratch) -> Outcome<()> {
    let points = Points {
        board,
        path: scratch.path("locks"),
        step: if args.every_point() { 1 } else { SPARE },
    };
    for case in &CASES {
        if args
            .only
            .as_deref()
            .is_none_or(|only| case.name.contains(only))
        {
            points.case(case)?;
        }
    }
    Ok(())
}

/// A file, as one that died with what it held left it.
fn start(path: &Path, board: &Board, case: &Case) -> Outcome<Image> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    child(board, case.name, "the one before", || {
        let options = Table::options().max_size(2 << 20).shards(1);
        let table = options.create(path).map_err(failed)?;
        let holds = (case.before)(&table)?;
        // It ends with them, and attached.
        std::mem::forget((table, holds));
        Ok(())
    })?;
    Ok(Image::load(path)?)
}

impl Points<'_> {
    fn case(&self, case: &Case) -> Outcome<()> {
        let began = now_ns();
        let image = start(&self.path, self.board, case)?;
        let (mut point, mut killed, mut finders) = (1, 0, 0);
        loop {
            image.store(&self.path)?;
            let end = self.kill(case, point)?;
            let came = self.progress().load(Relaxed);
            self.survivor(case, point, 0, expected(came))?;
            if let Died::No = end {
                break;
            }
            killed += 1;
            let mut j = 1 + point % self.step;
            loop {
                image.store(&self.path)?;
                self.kill(case, point)?;
                if let Died::No = self.finder(case, point, j)? {
                    break;
                }
                finders += 1;
                // The finder may have had the lock, or only the news of the death.
                self.survivor(case, point, j, None)?;
                j += self.step;
            }
            point += self.step;
        }
        println!(
            "  {:<46} killed at {killed} points, {finders} finders killed, {:.1} s",
            case.name,
            (now_ns() - began) as f64 / 1e9
        );
        Ok(())
    }

    fn progress(&self) -> &'static AtomicU64 {
        self.board.lane(0, Of::Acknowledged)
    }

    fn kill(&self, case: &Case, k: u64) -> Outcome<Died> {
        let progress = self.progress();
        progress.store(0, Relaxed);
        let name = format!("the victim of point {k}");
        child(self.board, case.name, &name, || {
            let table = Table::open(&self.path).map_err(failed)?;
            killpoint::die_at(k);
            let outcome = (case.work)(&table, progress);
            killpoint::die_at(0);
            outcome
        })
    }

    fn finder(&self, case: &Case, k: u64, j: u64) -> Outcome<Died> {
        let name = format!("point {k}: the finder {j}");
        child(self.board, case.name, &name, || {
            let table = Table::open(&self.path).map_err(failed)?;
            killpoint::die_at(j);
            let outcome = finds(&table, j);
            killpoint::die_at(0);
            outcome
        })
    }

    /// `news`: whether the death of a holder must be reported, if that is known.
    fn survivor(&self, case: &Case, k: u64, j: u64, news: Option<bool>) -> Outcome<()> {
        let name = format!("point {k}, finder {j}: the survivor");
        child(self.board, case.name, &name, || {
            let table = Table::open(&self.path).map_err(failed)?;
            let owner_died = is_usable(&table)?;
            match news {
                Some(news) if news != owner_died => {
                    Err(format!("the death of a holder was reported: {owner_died}"))
                }
                _ => Ok(()),
            }
        })?;
        self.board.add(Count::Survived, 1);
        Ok(())
    }
}

/// Whether the next holder must learn of a death, by how far the victim came.
fn expected(came: u64) -> Option<bool> {
    match came {
        HAS_IT => Some(true),
        GAVE_IT_BACK => Some(false),
        _ => None,
    }
}

/// Takes what is there, by one of several ways.
fn finds(table: &Table, turn: u64) -> Found<()> {
    let lock = table.named_lock(LOCK).map_err(failed)?;
    let semaphore = table.semaphore(SEMAPHORE, PERMITS).map_err(failed)?;
    let taken = match turn % 3 {
        0 => lock.lock_within(PATIENCE).map_err(failed)?.is_some(),
        1 => lock.share_within(PATIENCE).map_err(failed)?.is_some(),
        _ => {
            let permits: Vec<_> = (0..PERMITS)
                .map(|_| semaphore.acquire_within(PATIENCE))
                .collect();
            permits.iter().all(|permit| matches!(permit, Ok(Some(_))))
        }
    };
    match taken {
        true => Ok(()),
        false => Err("what the dead held is not free".to_owned()),
    }
}
