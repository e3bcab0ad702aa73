//! Models under the schedules of the checker shuttle: random ones, and such that change threads at
//! a few chosen accesses only (PCT), in two grains, with the same seeds each time.
//!
//! `TAVOLA_MODEL_TIMES` multiplies the number of schedules (0.5: half), `SHUTTLE_RANDOM_SEED`
//! chooses others.

use crate::layout::PAGE;
use crate::region::Region;
pub(super) use crate::sync::late::late;
use crate::sync::model::ignore;
pub(super) use crate::sync::model::quietly;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
pub(super) use shuttle::thread;
use shuttle::{Config, FailurePersistence, Runner};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Depths of PCT schedules: such a schedule changes threads once less, and where one waits.
const DEPTHS: [usize; 2] = [2, 4];

/// How often a model that is to see something is explored.
const ROUNDS: u64 = 4;

/// Where threads change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grain {
    /// At every access.
    Fine,
    /// At accesses outside the pages only: locks, heads, directories, page words. Scans, splits and
    /// merges are hundreds of bucket accesses for each of those.
    Coarse,
}

thread_local! {
    static GRAIN: Cell<Grain> = const { Cell::new(Grain::Fine) };
}

/// Runs a model under `schedules` schedules of each kind.
pub(super) fn explore(schedules: usize, model: impl Fn() + Send + Sync + 'static) {
    explore_round(0, schedules, times(), &Arc::new(model));
}

/// As [`explore`], under no fewer schedules, whatever was asked for.
pub(super) fn explore_fully(schedules: usize, model: impl Fn() + Send + Sync + 'static) {
    explore_until(|| true, schedules, model);
}

/// As [`explore_fully`], and under others, until all has been seen; three times as many more at
/// most.
pub(super) fn explore_until(
    all_is_seen: impl Fn() -> bool,
    schedules: usize,
    model: impl Fn() + Send + Sync + 'static,
) {
    let model = Arc::new(model);
    for round in 0..ROUNDS {
        explore_round(round, schedules, times().max(1.0), &model);
        if all_is_seen() {
            return;
        }
    }
}

fn times() -> f64 {
    std::env::var("TAVOLA_MODEL_TIMES").map_or(1.0, |n| n.parse().expect("a number"))
}

fn explore_round(
    round: u64,
    schedules: usize,
    times: f64,
    model: &Arc<impl Fn() + Send + Sync + 'static>,
) {
    let schedules = (schedules as f64 * times).ceil() as usize;
    for (grain, seed) in [(Grain::Fine, 1), (Grain::Coarse, 1 << 16)] {
        let seed = seed + (round << 32);
        GRAIN.set(grain);
        run(RandomScheduler::new_from_seed(seed, schedules), model);
        for depth in DEPTHS {
            let seed = seed + depth as u64;
            run(PctScheduler::new_from_seed(seed, depth, schedules), model);
        }
    }
}

/// Runs a model under one schedule.
pub(super) fn run_once(model: impl Fn() + Send + Sync + 'static) {
    run(RandomScheduler::new_from_seed(1, 1), &Arc::new(model));
}

fn run(scheduler: impl Scheduler + 'static, model: &Arc<impl Fn() + Send + Sync + 'static>) {
    let mut config = Config::new();
    config.stack_size = 256 << 10;
    config.silence_warnings = true;
    // Its seed determines a schedule, a schedule is thousands of lines.
    config.failure_persistence = FailurePersistence::None;
    let model = Arc::clone(model);
    Runner::new(scheduler, config).run(move || model());
}

/// The region of a model is made: says where in it threads change.
pub(super) fn open_up(region: &Region) {
    let first = u64::from(region.geometry().first_page) * PAGE;
    let pages = match GRAIN.get() {
        Grain::Fine => 0,
        Grain::Coarse => region.geometry().room - first,
    };
    ignore(region.bytes(first, pages), pages as usize);
}

/// Threads change in its pages, too, whichever the grain: models of what is there only.
pub(super) fn open_pages() {
    ignore(std::ptr::null(), 0);
}

/// Threads change in its pages, too, but not in these bytes of them.
pub(super) fn open_but(region: &Region, fine: Range<u64>, coarse: Range<u64>) {
    let closed = match GRAIN.get() {
        Grain::Fine => fine,
        Grain::Coarse => coarse,
    };
    let len = closed.end - closed.start;
    ignore(region.bytes(closed.start, len), len as usize);
}
