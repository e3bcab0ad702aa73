//! Lines about clients that guess passwords.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::plan::Voice;

/// Between two lines: many guesses do not fill the log.
const REST: Duration = Duration::from_secs(1);

/// What was said, and what was not.
#[derive(Debug, Default)]
struct Said {
    last: Option<Instant>,
    /// Connections closed since then.
    more: u64,
}

/// Returns what is called for each connection that is closed after several wrong passwords.
pub fn warning(voice: Voice) -> impl Fn(Option<SocketAddr>) + Send + Sync {
    let said = Mutex::new(Said::default());
    move |address| {
        let line = said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next(address, Instant::now());
        if let Some(line) = line {
            voice.warn(&line);
        }
    }
}

impl Said {
    fn next(&mut self, address: Option<SocketAddr>, now: Instant) -> Option<String> {
        if self.last.is_some_and(|last| now < last + REST) {
            self.more += 1;
            return None;
        }
        self.last = Some(now);
        let from = match address {
            Some(address) => format!("from {address}"),
            None => "over a Unix socket".to_string(),
        };
        let more = match std::mem::take(&mut self.more) {
            0 => String::new(),
            more => format!("; and {more} others since the last such line"),
        };
        Some(format!(
            "closed a connection {from}: several wrong passwords{more}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_line_a_second_says_how_many_there_were() {
        let mut said = Said::default();
        let start = Instant::now();
        let address = Some(SocketAddr::from(([192, 0, 2, 1], 7)));
        let first = said.next(address, start).expect("a line");
        assert!(first.contains("192.0.2.1:7") && !first.contains("others"));
        assert_eq!(said.next(None, start + REST / 2), None);
        assert_eq!(said.next(None, start + REST / 2), None);
        let second = said.next(None, start + REST).expect("a line");
        assert!(
            second.contains("Unix") && second.contains("2 others"),
            "{second}"
        );
        let third = said.next(None, start + 2 * REST).expect("a line");
        assert!(!third.contains("others"), "{third}");
    }
}
