//! The process that continues with what a dead one left, and looks at everything.

use super::builder::key;
use super::cache;
use super::case::Case;
use super::leases;
use super::left;
use super::tags;
use super::uids;
use super::versions;
use crate::board::{Board, Count, Of};
use crate::system::{Stopwatch, alarm};
use crate::value::Numbers;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::Table;
use tavola_model::{Held, Model, contents};

/// Seconds after which a survivor that still runs counts as hung.
const PATIENCE_S: u32 = 60;
/// How long the first write after a death may take.
const TAKEOVER_NS: u64 = 2_000_000_000;
/// What a survivor begins with: the ways by which a death is noticed.
const BEGINNINGS: u64 = 4;
/// Keys of survivors.
const PROBE: &[u8] = b"probe";
const LARGE_PROBE: &[u8] = b"large probe";

/// How a survivor goes about it.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Below [`BEGINNINGS`].
    pub(crate) beginning: u64,
    /// Whether it compacts the emptied table, which takes a second or two.
    pub(crate) compacts: bool,
    /// The point whose word of the board gets the kind of state that was found, if any.
    pub(crate) watched_point: Option<u64>,
}

impl Style {
    /// One of the ways; the same for the same number.
    pub(crate) fn drawn(number: u64) -> Self {
        Self {
            beginning: Numbers::new(number).below(BEGINNINGS),
            compacts: false,
            watched_point: None,
        }
    }
}

type Found<T> = Result<T, String>;

fn failed(error: tavola::Error) -> String {
    error.to_string()
}

/// The child's whole life. `done`: how many operations had returned.
pub(crate) fn run(
    case: &Case,
    path: &Path,
    board: &Board,
    lane: usize,
    done: usize,
    style: Style,
) -> Found<()> {
    alarm(PATIENCE_S);
    let mut model = before_recovery(case, path, done)?;
    let last = board.lane(lane, Of::Hint).load(Relaxed);
    uids::check(case, path, &model, done, last).map_err(|why| format!("before recovery, {why}"))?;
    versions::before(case, path).map_err(|why| format!("before recovery, {why}"))?;
    if let Some(word) = style.watched_point.and_then(|at| board.kind(at)) {
        word.store(left::kind(path)?, Relaxed);
    }
    let table = Table::options().open_existing(path).map_err(failed)?;
    if case.is_full {
        whole(&table, board)?;
    } else {
        begin(&table, board, case, &mut model, style)?;
        if case.is_leased {
            leases::pass_on(&table, case)?;
        }
        whole(&table, board)?;
        use_on(&table, case, &mut model)?;
    }
    versions::after(&table, case, &model)?;
    // Some look for what has expired now, the others when they have removed all else.
    let is_swept = style.beginning.is_multiple_of(2);
    if is_swept {
        expire(&table, case)?;
    }
    cache::thin(&table, case, &mut model)?;
    verify(&table, board, &model, case.expires && !is_swept)?;
    cache::is_within(&table, case)?;
    uids::check(case, path, &model, done, last)?;
    board.lane(lane, Of::Stop).store(1, Relaxed);
    if case.few {
        table.clear().map_err(failed)?;
        model.clear();
    }
    empty(&table, board, &model, case, style)
}

/// Lets go of all keys that have expired, where there may be any.
fn expire(table: &Table, case: &Case) -> Found<()> {
    match case.expires {
        true => table.remove_expired().map_err(failed),
        false => Ok(()),
    }
}

/// What a reader finds while nobody has recovered anything: all that had returned, and of the
/// operation under way the old state or the new one of each key. It must stay so.
pub(crate) fn before_recovery(case: &Case, path: &Path, done: usize) -> Found<Model> {
    let (mut model, pending) = case.after(done);
    let table = Table::open_read_only(path).map_err(failed)?;
    // Whether some keys have lost a tag that others have still.
    let (is_invalidated, mut states_met) = (case.invalidates(done), [false; 2]);
    // Whether some keys of a transaction have changed, and others have not.
    let (is_at_once, mut changed) = (case.is_at_once(done), [false; 2]);
    for (key, new) in pending {
        let found = table.get_entry(&key).map_err(failed)?;
        let is = |state: &Option<Held>| Held::are(state.as_ref(), found.as_ref());
        let states = [model.get(&key).cloned(), new];
        if states[0] != states[1] {
            changed[usize::from(is(&states[1]))] = true;
        }
        let may_be_gone = case.is_cache && found.is_none();
        let states = states.into_iter().chain(may_be_gone.then_some(None));
        let Some(state) = states.into_iter().find(is) else {
            let now = found.map(|entry| (entry.value.len(), entry.attributes, entry.marks));
            return Err(format!(
                "before recovery, {} holds neither what it had nor what it was to get: {now:?}",
                key.escape_ascii()
            ));
        };
        states_met[usize::from(state.is_none())] = true;
        match state {
            Some(held) => model.insert(key, held),
            None => model.remove(&key),
        };
    }
    if is_at_once && changed == [true; 2] {
        return Err("before recovery, a transaction has changed some of its keys".into());
    }
    if is_invalidated && states_met == [true; 2] {
        return Err("before recovery, some keys have lost a tag and others have it".into());
    }
    cache::thin(&table, case, &mut model)?;
    cache::has_last(case, &model, done)?;
    contents(&table, &model).map_err(|why| format!("before recovery, {why}"))?;
    Ok(model)
}

/// Notices the death, in one of the ways there are.
fn begin(table: &Table, board: &Board, case: &Case, model: &mut Model, style: Style) -> Found<()> {
    let (key, len) = if style.beginning == 3 {
        (LARGE_PROBE, 50_000)
    } else {
        (PROBE, 30)
    };
    match style.beginning {
        1 => whole(table, board)?,
        2 => drop(table.reclaim().map_err(failed)?),
        _ => {}
    }
    let (key, value) = case.pair(key, 1, len);
    let watch = Stopwatch::start();
    table
        .set(&key, &value)
        .map_err(|error| format!("the first write: {error}"))?;
    let took = watch.took_ns();
    board
        .count(Count::SlowestTakeoverNs)
        .fetch_max(took, Relaxed);
    if took > TAKEOVER_NS {
        return Err(format!("the first write took {} ms", took / 1_000_000));
    }
    cache::has(table, case, &key)?;
    model.insert(key.into(), Held::plain(&value));
    Ok(())
}

/// The check is clean, and what is in use is what can be reached.
fn whole(table: &Table, board: &Board) -> Found<()> {
    board.add(Count::Checks, 1);
    tavola_model::whole(table)
}

/// `has_expired`: keys that have expired may still be there, and counted.
fn verify(table: &Table, board: &Board, model: &Model, has_expired: bool) -> Found<()> {
    contents(table, model)?;
    let keys = table.len().map_err(failed)?;
    let holds = model.len() as u64;
    if keys != holds && !(has_expired && keys > holds) {
        return Err(format!(
            "the table counts {keys} keys and holds {}",
            model.len()
        ));
    }
    whole(table, board)
}

/// New keys, small and large, as many as the case wants; some are overwritten, some removed.
fn use_on(table: &Table, case: &Case, model: &mut Model) -> Found<()> {
    let mut set = |key: &[u8], version, len| {
        let (key, value) = case.pair(key, version, len);
        table
            .set(&key, &value)
            .map_err(|error| format!("a later write: {error}"))?;
        cache::has(table, case, &key)?;
        model.insert(key.into(), Held::plain(&value));
        Found::Ok(())
    };
    for number in 0..case.growth {
        set(&later(number), 1, 20)?;
    }
    for version in 1..3 {
        set(LARGE_PROBE, version, 30_000 * version as usize)?;
    }
    for number in (0..case.growth).step_by(3) {
        let (key, _) = case.pair(&later(number), 1, 20);
        if !table.remove(&key).map_err(failed)? && !case.is_cache {
            return Err(format!(
                "{} was not there to be removed",
                key.escape_ascii()
            ));
        }
        model.remove(&key[..]);
    }
    Ok(())
}

/// A key that is set afterwards; as long as keys of fixed lengths are.
fn later(number: u32) -> Vec<u8> {
    [b"later ", &key(number)[..]].concat()
}

/// Removes everything: nothing may stay behind.
fn empty(table: &Table, board: &Board, model: &Model, case: &Case, style: Style) -> Found<()> {
    for key in model.keys() {
        if !table.remove(key).map_err(failed)? && !case.is_cache {
            return Err(format!(
                "{} was not there to be removed",
                key.escape_ascii()
            ));
        }
    }
    tags::end(table)?;
    expire(table, case)?;
    verify(table, board, &Model::default(), false)?;
    if !style.compacts {
        return Ok(());
    }
    table.compact().map_err(failed)?;
    verify(table, board, &Model::default(), false)?;
    let stats = table.stats().map_err(failed)?;
    let bytes = stats.index_bytes + stats.slab_bytes + stats.large_bytes + stats.uid_bytes;
    match bytes + stats.free_bytes {
        0 => Ok(()),
        left => Err(format!(
            "{left} bytes stay in an emptied and compacted table"
        )),
    }
}
