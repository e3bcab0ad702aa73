//! All states that the keys of the server have had, and the judgement of reads.

/// What a key was from some moment on: its value, or `None` if it was missing.
type State = Option<u64>;

/// The states of each key in the order of their times.
pub(super) struct History {
    keys: Vec<Vec<(u64, State)>>,
}

impl History {
    /// Every key is missing from the beginning.
    pub(super) fn new(keys: usize) -> Self {
        Self {
            keys: vec![vec![(0, None)]; keys],
        }
    }

    pub(super) fn write(&mut self, key: usize, now_us: u64, state: State) {
        self.keys[key].push((now_us, state));
    }

    pub(super) fn newest(&self, key: usize) -> State {
        self.keys[key].last().expect("it has one").1
    }

    /// Judges a read that ended at `now_us`: the key must have had that state at some moment within
    /// the bound. Returns what is wrong.
    pub(super) fn judge(
        &self,
        key: usize,
        state: State,
        now_us: u64,
        bound_us: u64,
    ) -> Option<String> {
        let states = &self.keys[key];
        let earliest_us = now_us.saturating_sub(bound_us);
        let mut ended_us = u64::MAX;
        for &(from_us, had) in states.iter().rev() {
            if ended_us < earliest_us {
                break;
            }
            if had == state {
                return None;
            }
            ended_us = from_us;
        }
        let at = states.iter().rposition(|(_, had)| *had == state);
        let until_us = at.and_then(|at| states.get(at + 1)).map(|(us, _)| *us);
        Some(format!(
            "key {key}: {state:?} was read at {now_us} us, but was the newest until {until_us:?} us"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_counts_until_the_bound_after_its_end() {
        let mut history = History::new(1);
        history.write(0, 100, Some(1));
        history.write(0, 200, Some(2));
        for (state, now_us, is_good) in [
            (Some(2), 200, true),
            (Some(2), 999, true),
            (Some(1), 250, true),
            (Some(1), 251, false),
            (None, 150, true),
            (None, 151, false),
            (Some(3), 210, false),
        ] {
            let wrong = history.judge(0, state, now_us, 50);
            assert_eq!(wrong.is_none(), is_good, "{state:?} at {now_us}: {wrong:?}");
        }
    }
}
