//! S3-FIFO: newcomers wait in a small queue, and only those asked for more than once meanwhile go
//! on to the main one. The others are remembered while they are among the last that left so: who
//! returns then goes to the main queue at once.
//!
//! ```text
//! new ──► small, a tenth ── asked for twice or more ──► main, the rest ──► out
//!              │                                        ▲        │
//!              └─ else ──► ghost, as long as main ──────┘        └─ asked for: to its end again,
//!                          (numbers only)  asked for                its count one less
//! ```
//!
//! The ghost queue is no queue here: each item that leaves gets the next number, and is in the
//! queue while fewer numbers than the queue has places were given after its own. So the place of
//! one that has returned stays taken until it would have left.

use super::Simulation;
use super::lists::Lists;

const SMALL: u32 = 0;
const MAIN: u32 = 1;

/// What a count of requests ends at: it has two bits.
const MOST: u8 = 3;
/// Counts from here on lead from the small queue to the main one.
const ENOUGH: u8 = 2;

#[derive(Clone, Copy, Debug)]
enum State {
    Out,
    /// It left the small queue as the so many-th.
    Left(u64),
    /// In one of the queues; how often it was asked for since it came there.
    In(u8),
}

pub(in crate::trace) struct S3Fifo {
    lists: Lists,
    states: Vec<State>,
    items: u32,
    small_items: u32,
    /// How many have left the small queue for nowhere.
    left: u64,
}

impl S3Fifo {
    /// As many as the main queue has.
    fn ghosts(&self) -> u64 {
        u64::from(self.items - self.small_items)
    }

    /// Makes room for one.
    fn evict(&mut self) {
        while self.lists.len(SMALL) + self.lists.len(MAIN) == self.items {
            let is_over = self.lists.len(SMALL) > self.small_items;
            if is_over || self.lists.len(MAIN) == 0 {
                self.leave_small();
            } else {
                self.leave_main();
            }
        }
    }

    /// The oldest of the small queue goes on to the main one, or out.
    fn leave_small(&mut self) {
        let Some(id) = self.lists.pop_back(SMALL) else {
            return;
        };
        let state = &mut self.states[id as usize];
        if matches!(state, State::In(ENOUGH..)) {
            *state = State::In(0);
            self.lists.push_front(MAIN, id);
        } else {
            self.left += 1;
            *state = State::Left(self.left);
        }
    }

    /// The oldest of the main queue goes to its end again, or out.
    fn leave_main(&mut self) {
        let Some(id) = self.lists.pop_back(MAIN) else {
            return;
        };
        match &mut self.states[id as usize] {
            State::In(count @ 1..) => {
                *count -= 1;
                self.lists.push_front(MAIN, id);
            }
            state => *state = State::Out,
        }
    }
}

impl Simulation for S3Fifo {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            lists: Lists::new(keys, 2),
            states: vec![State::Out; keys as usize],
            items,
            small_items: (items / 10).max(1),
            left: 0,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        let ghosts = self.ghosts();
        let list = match &mut self.states[id as usize] {
            State::In(count) => {
                *count = (*count + 1).min(MOST);
                return true;
            }
            State::Left(number) if self.left - *number < ghosts => MAIN,
            _ => SMALL,
        };
        self.evict();
        self.lists.push_front(list, id);
        self.states[id as usize] = State::In(0);
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::twins::{compare, outcomes};
    use super::*;

    #[test]
    fn once_more_is_not_enough_for_the_main_queue() {
        // Three places, one of them in the small queue, which holds more while main is empty.
        let mut cache = S3Fifo::new(9, 3);
        // When 3 comes, 0 goes to the main queue, for it was asked for three times in all, and 1
        // goes out, asked for twice. 4 puts 2 out.
        let ids = [0, 0, 0, 1, 1, 2, 3, 4, 0];
        let found = outcomes(|id| cache.request(id), &ids);
        assert_eq!(found, ".++.+...+");
        assert_eq!(outcomes(|id| cache.request(id), &[3, 4, 1]), "++.");
    }

    #[test]
    fn who_returns_while_he_is_remembered_goes_to_the_main_queue() {
        let mut cache = S3Fifo::new(9, 3);
        // 3 and 4 put 0 and 1 out. 0 returns to the main queue, for 2, and stays there while 5 and
        // 6 put out 3 and 4.
        let ids = [0, 1, 2, 3, 4, 0, 5, 6, 0];
        let found = outcomes(|id| cache.request(id), &ids);
        assert_eq!(found, "........+");
        // 1 left as the second of five, and two are remembered: it is a newcomer, which goes when
        // two more have come.
        assert_eq!(outcomes(|id| cache.request(id), &[1, 7, 8, 1]), "....");
    }

    #[test]
    fn one_place_is_the_small_queue() {
        let mut cache = S3Fifo::new(3, 1);
        let found = outcomes(|id| cache.request(id), &[0, 0, 0, 1, 0, 0]);
        assert_eq!(found, ".++..+");
    }

    #[derive(Default)]
    struct Twin {
        small: VecDeque<(u32, u8)>,
        main: VecDeque<(u32, u8)>,
        /// The last that left, and whether each has returned since.
        ghost: VecDeque<(u32, bool)>,
    }

    impl Twin {
        /// One step of making room; whether an item went out.
        fn step(&mut self, small_items: usize, main_items: usize) -> bool {
            if self.small.len() <= small_items && !self.main.is_empty() {
                let (id, count) = self.main.pop_front().unwrap();
                if count > 0 {
                    self.main.push_back((id, count - 1));
                }
                return count == 0;
            }
            let (id, count) = self.small.pop_front().unwrap();
            if count >= 2 {
                self.main.push_back((id, 0));
                return false;
            }
            self.ghost.push_back((id, false));
            if self.ghost.len() > main_items {
                self.ghost.pop_front();
            }
            true
        }
    }

    #[test]
    fn as_three_queues_that_are_searched() {
        compare::<S3Fifo, _>(|items| {
            let small_items = (items / 10).max(1);
            let main_items = items - small_items;
            let mut twin = Twin::default();
            move |id| {
                let mut all = twin.small.iter_mut().chain(&mut twin.main);
                if let Some(entry) = all.find(|(other, _)| *other == id) {
                    entry.1 = (entry.1 + 1).min(3);
                    return true;
                }
                let mut ghosts = twin.ghost.iter_mut();
                let ghost = ghosts.find(|ghost| **ghost == (id, false));
                let returns = ghost.map(|ghost| ghost.1 = true).is_some();
                if twin.small.len() + twin.main.len() == items {
                    while !twin.step(small_items, main_items) {}
                }
                match returns {
                    true => twin.main.push_back((id, 0)),
                    false => twin.small.push_back((id, 0)),
                }
                false
            }
        });
    }
}
