//! A process that only reads, beside the one that is killed and the one that continues.

use super::case::Case;
use crate::board::{Board, Count, Of};
use crate::system::alarm;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use tavola::Table;

const PATIENCE_S: u32 = 120;

/// Reads until it is asked to stop: keys nobody touches have their value, others one of theirs.
pub(crate) fn run(case: &Case, path: &Path, board: &Board, lane: usize) -> Result<(), String> {
    alarm(PATIENCE_S);
    let stop = board.lane(lane, Of::Stop);
    let allowed = case.allowed();
    let table = Table::open_read_only(path).map_err(|error| error.to_string())?;
    let mut value = Vec::new();
    let mut reads = 0u64;
    'all: while stop.load(Relaxed) == 0 {
        let touched = allowed.iter().map(|(key, states)| (key, &states[..]));
        let keys = case.model.keys().filter(|key| !allowed.contains_key(*key));
        for (key, states) in touched.chain(keys.map(|key| (key, &[][..]))) {
            let there = table.get_into(key, &mut value);
            if stop.load(Relaxed) != 0 {
                break 'all;
            }
            let there = there.map_err(|error| format!("{}: {error}", key.escape_ascii()))?;
            let found = there.then_some(&value[..]);
            let is_right = match states {
                [] => found == case.model.get(key).map(|value| &value[..]),
                states => states.iter().any(|state| state.as_deref() == found),
            };
            if !(is_right || case.is_cache && found.is_none()) {
                let len = found.map(<[u8]>::len);
                return Err(format!(
                    "{} was read wrong: {len:?} bytes",
                    key.escape_ascii()
                ));
            }
            reads += 1;
        }
        for (key, hint) in case.hints.iter().flat_map(|hints| hints.iter()) {
            let there = table.get_by_uid_into(*hint, &mut value);
            if stop.load(Relaxed) != 0 {
                break 'all;
            }
            let there =
                there.map_err(|error| format!("{}, by uid: {error}", key.escape_ascii()))?;
            let found = there.then_some(&value[..]);
            let is_right = match allowed.get(key) {
                None => found == case.model.get(key).map(|value| &value[..]),
                Some(states) => states.iter().any(|state| state.as_deref() == found),
            };
            if !(is_right || case.is_cache && found.is_none()) {
                let len = found.map(<[u8]>::len);
                let key = key.escape_ascii();
                return Err(format!("{key} was read wrong by its uid: {len:?} bytes"));
            }
            reads += 1;
        }
    }
    board.add(Count::ReadsBeside, reads);
    Ok(())
}
