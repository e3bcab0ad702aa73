//! Values of many keys with flags and times, by one batch.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tavola_client::{Batch, Client, Error, GetOptions, Outcome, Sink};

/// Longer times are given to servers as seconds since 1970.
const LONGEST_RELATIVE_S: u64 = 30 * 24 * 60 * 60;

/// A key and what a server has under it.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    pub value: Vec<u8>,
    pub flags: u32,
    /// The seconds left; `None` if it does not expire.
    pub left_s: Option<u32>,
    pub outcome: Option<Outcome>,
}

/// What a get returns for each key, in their order.
pub struct Entries {
    pub all: Vec<Entry>,
}

impl Entries {
    /// Gets the values of keys, with the time they have left if `with_ttl`.
    pub fn get(client: &Client, keys: &[Vec<u8>], with_ttl: bool) -> Entries {
        let mut batch = Batch::new();
        let options = match with_ttl {
            true => GetOptions::with_ttl(),
            false => GetOptions::default(),
        };
        for key in keys {
            batch.get(key, options);
        }
        let mut entries = Entries {
            all: vec![Entry::default(); keys.len()],
        };
        client.execute(&mut batch, &mut entries);
        entries
    }
}

impl Sink for Entries {
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        let entry = &mut self.all[index];
        entry.flags = flags;
        entry.value.resize(len, 0);
        Some(&mut entry.value)
    }

    fn ttl(&mut self, index: usize, left_s: Option<u32>) {
        self.all[index].left_s = left_s;
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.all[index].outcome = Some(outcome);
    }
}

/// Outcomes alone.
pub struct Outcomes(pub Vec<Option<Outcome>>);

impl Outcomes {
    /// Executes a batch whose values are not needed.
    pub fn of(client: &Client, batch: &mut Batch<'_>) -> Outcomes {
        let mut outcomes = Outcomes(vec![None; batch.len()]);
        client.execute(batch, &mut outcomes);
        outcomes
    }
}

impl Sink for Outcomes {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.0[index] = Some(outcome);
    }
}

/// Says what went wrong with a request; `None` if nothing did.
pub fn fault(client: &Client, outcome: Option<&Outcome>) -> Option<String> {
    let Some(outcome) = outcome else {
        return Some("the request was not executed".to_string());
    };
    match client.checked(outcome.clone()).err()? {
        Error::Refused(why) => Some(why),
        Error::Unsent { server, why, .. } => Some(format!("nothing was sent to {server}: {why}")),
        Error::Unknown { server, why, .. } => {
            Some(format!("there is no answer from {server}: {why}"))
        }
        error => Some(error.to_string()),
    }
}

/// Returns a time from now on as servers read it: 0 is never, and is not what a short time becomes.
pub fn exptime(left: Option<Duration>) -> i32 {
    let Some(left) = left else {
        return 0;
    };
    let whole_s = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    let relative_s = whole_s.max(1);
    if relative_s <= LONGEST_RELATIVE_S {
        return relative_s as i32;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let date_s = now
        .map_or(0, |now| now.as_secs())
        .saturating_add(relative_s);
    // What is later than servers can write does not expire.
    i32::try_from(date_s).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_servers_read_them() {
        let seconds = |s| exptime(Some(Duration::from_secs(s)));
        assert_eq!(exptime(None), 0);
        assert_eq!(exptime(Some(Duration::from_millis(1))), 1);
        assert_eq!(seconds(0), 1);
        assert_eq!(seconds(60), 60);
        assert_eq!(seconds(LONGEST_RELATIVE_S), 2_592_000);
        assert!(seconds(LONGEST_RELATIVE_S + 1) > 1_700_000_000);
        assert_eq!(seconds(u64::from(u32::MAX)), 0);
    }
}
