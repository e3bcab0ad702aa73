//! Exact simulations of LRU and S3-FIFO, to hold a real table against.
//!
//! A cache has room for a number of items, at least one, whatever their sizes. A request for an
//! item that is missing puts it in, and another goes first if there is no room.

use std::collections::VecDeque;
use std::num::NonZero;

use lru::LruCache;

use super::Trace;

/// How many requests of a trace find their item in an LRU with room for `items`.
pub(super) fn lru_hits(trace: &Trace, items: u32) -> u64 {
    let room = NonZero::new(items as usize).expect("there is room for an item");
    let mut cache = LruCache::new(room);
    count(trace, |id| cache.put(id, ()).is_some())
}

/// The same in an S3-FIFO.
pub(super) fn s3fifo_hits(trace: &Trace, items: u32) -> u64 {
    let mut cache = S3Fifo::new(trace.keys, items);
    count(trace, |id| cache.request(id))
}

fn count(trace: &Trace, mut request: impl FnMut(u32) -> bool) -> u64 {
    trace.requests.iter().filter(|&&id| request(id)).count() as u64
}

/// What a count of requests ends at: it has two bits.
const MOST: u8 = 3;
/// Counts from here on lead from the small queue to the main one.
const ENOUGH: u8 = 2;

#[derive(Clone, Copy)]
enum State {
    Out,
    /// It left the small queue as the so many-th.
    Left(u64),
    /// In one of the queues; how often it was asked for since it came there.
    In(u8),
}

/// New items wait in a small queue, a tenth of the room; those asked for twice or more continue to
/// the main queue. The others are remembered while they are among the last that left, as many as
/// the main queue has: an item that returns then goes to the main queue at once. There is no queue
/// of these: each item that leaves gets the next number, so the place of one that has returned
/// stays taken until it would have left.
struct S3Fifo {
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    states: Vec<State>,
    items: usize,
    small_items: usize,
    left: u64,
}

impl S3Fifo {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            small: VecDeque::new(),
            main: VecDeque::new(),
            states: vec![State::Out; keys as usize],
            items: items as usize,
            small_items: (items as usize / 10).max(1),
            left: 0,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        let ghosts = (self.items - self.small_items) as u64;
        let returns = match &mut self.states[id as usize] {
            State::In(count) => {
                *count = (*count + 1).min(MOST);
                return true;
            }
            State::Left(number) => self.left - *number < ghosts,
            State::Out => false,
        };
        while self.small.len() + self.main.len() == self.items {
            match self.small.len() > self.small_items || self.main.is_empty() {
                true => self.leave_small(),
                false => self.leave_main(),
            }
        }
        match returns {
            true => self.main.push_back(id),
            false => self.small.push_back(id),
        }
        self.states[id as usize] = State::In(0);
        false
    }

    fn leave_small(&mut self) {
        let Some(id) = self.small.pop_front() else {
            return;
        };
        let state = &mut self.states[id as usize];
        if matches!(state, State::In(ENOUGH..)) {
            *state = State::In(0);
            self.main.push_back(id);
        } else {
            self.left += 1;
            *state = State::Left(self.left);
        }
    }

    fn leave_main(&mut self) {
        let Some(id) = self.main.pop_front() else {
            return;
        };
        match &mut self.states[id as usize] {
            State::In(count @ 1..) => {
                *count -= 1;
                self.main.push_back(id);
            }
            state => *state = State::Out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of each request: `+` a hit, `.` a miss.
    fn outcomes(cache: &mut S3Fifo, ids: &[u32]) -> String {
        let sign = |&id: &u32| if cache.request(id) { '+' } else { '.' };
        ids.iter().map(sign).collect()
    }

    #[test]
    fn once_more_is_not_enough_for_the_main_queue() {
        // Three places, one of them in the small queue, which holds more while main is empty. When
        // 3 comes, 0 goes to the main queue, and 1 goes out, asked for twice. 4 puts 2 out.
        let mut cache = S3Fifo::new(9, 3);
        let ids = [0, 0, 0, 1, 1, 2, 3, 4, 0];
        assert_eq!(outcomes(&mut cache, &ids), ".++.+...+");
        assert_eq!(outcomes(&mut cache, &[3, 4, 1]), "++.");
    }

    #[test]
    fn an_item_that_returns_while_it_is_remembered_goes_to_the_main_queue() {
        // 3 and 4 put 0 and 1 out. 0 returns to the main queue, for 2, and stays there while 5 and
        // 6 put out 3 and 4.
        let mut cache = S3Fifo::new(9, 3);
        let ids = [0, 1, 2, 3, 4, 0, 5, 6, 0];
        assert_eq!(outcomes(&mut cache, &ids), "........+");
        // 1 left as the second of five, and two are remembered: it is new again.
        assert_eq!(outcomes(&mut cache, &[1, 7, 8, 1]), "....");
    }
}
