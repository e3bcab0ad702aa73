//! Exact simulations of LRU and S3-FIFO, to hold a real table against.
//!
//! A cache has room for a number of items, at least one, whatever their sizes. A request for an
//! item that is missing puts it in, and another goes first if there is no room.

use std::collections::VecDeque;

use super::Trace;

/// How many requests of a trace find their item in an LRU with room for `items`.
pub(super) fn lru_hits(trace: &Trace, items: u32) -> u64 {
    let mut cache = Lru::new(trace.keys(), items.max(1));
    count(trace, |id| cache.request(id))
}

/// The same in an S3-FIFO.
pub(super) fn s3fifo_hits(trace: &Trace, items: u32) -> u64 {
    let mut cache = S3Fifo::new(trace.keys(), items.max(1));
    count(trace, |id| cache.request(id))
}

fn count(trace: &Trace, mut request: impl FnMut(u32) -> bool) -> u64 {
    let found = trace.requests().iter().filter(|&&id| request(id));
    found.count() as u64
}

/// The item that was not asked for the longest is evicted. The queue has every request; only the
/// latest of an item counts.
struct Lru {
    requests: VecDeque<(u32, u64)>,
    /// The number of an item's latest request; 0 if it is not in the cache.
    latest: Vec<u64>,
    made: u64,
    len: u32,
    items: u32,
}

impl Lru {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            requests: VecDeque::new(),
            latest: vec![0; keys as usize],
            made: 0,
            len: 0,
            items,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        let hit = self.latest[id as usize] != 0;
        if !hit {
            self.len += 1;
        }
        while self.len > self.items
            && let Some((oldest, number)) = self.requests.pop_front()
        {
            if self.latest[oldest as usize] == number {
                self.latest[oldest as usize] = 0;
                self.len -= 1;
            }
        }
        self.made += 1;
        self.latest[id as usize] = self.made;
        self.requests.push_back((id, self.made));
        hit
    }
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

/// New items wait in a small queue, a tenth of the room; those asked for twice or more go on to the
/// main queue. The others are remembered while they are among the last that left, as many as the
/// main queue has: an item that returns then goes to the main queue at once. There is no queue of
/// these: each item that leaves gets the next number, so the place of one that has returned stays
/// taken until it would have left.
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
    fn outcomes(mut request: impl FnMut(u32) -> bool, ids: &[u32]) -> String {
        let sign = |&id: &u32| if request(id) { '+' } else { '.' };
        ids.iter().map(sign).collect()
    }

    #[test]
    fn lru_evicts_the_item_not_asked_for_the_longest() {
        let mut cache = Lru::new(4, 2);
        // 1 is asked for again, so 2 puts 0 out; then 0 puts 1 out, 1 puts 2 out.
        let ids = [0, 1, 1, 2, 1, 2, 0, 2, 1];
        assert_eq!(outcomes(|id| cache.request(id), &ids), "..+.++.+.");
        let mut chance = super::super::chance::Chance::new(7);
        let ids: Vec<u32> = (0..3000).map(|_| chance.below(40) as u32).collect();
        let (mut cache, mut order) = (Lru::new(40, 11), Vec::new());
        for &id in &ids {
            let at = order.iter().position(|&other| other == id);
            match at {
                Some(at) => drop(order.remove(at)),
                None if order.len() == 11 => drop(order.remove(0)),
                None => {}
            }
            order.push(id);
            assert_eq!(cache.request(id), at.is_some());
        }
    }

    #[test]
    fn once_more_is_not_enough_for_the_main_queue() {
        // Three places, one of them in the small queue, which holds more while main is empty. When
        // 3 comes, 0 goes to the main queue, and 1 goes out, asked for twice. 4 puts 2 out.
        let mut cache = S3Fifo::new(9, 3);
        let ids = [0, 0, 0, 1, 1, 2, 3, 4, 0];
        assert_eq!(outcomes(|id| cache.request(id), &ids), ".++.+...+");
        assert_eq!(outcomes(|id| cache.request(id), &[3, 4, 1]), "++.");
    }

    #[test]
    fn an_item_that_returns_while_it_is_remembered_goes_to_the_main_queue() {
        // 3 and 4 put 0 and 1 out. 0 returns to the main queue, for 2, and stays there while 5 and
        // 6 put out 3 and 4.
        let mut cache = S3Fifo::new(9, 3);
        let ids = [0, 1, 2, 3, 4, 0, 5, 6, 0];
        assert_eq!(outcomes(|id| cache.request(id), &ids), "........+");
        // 1 left as the second of five, and two are remembered: it is new again.
        assert_eq!(outcomes(|id| cache.request(id), &[1, 7, 8, 1]), "....");
    }
}
