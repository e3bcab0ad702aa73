//! CLOCK: a hand goes round and puts out the first item that was not asked for since it passed.

use super::Simulation;

const NOWHERE: u32 = u32::MAX;

pub(in crate::trace) struct Clock {
    /// The items round the clock, and whether each was asked for since the hand passed it.
    ring: Vec<(u32, bool)>,
    /// Where each item is in the ring.
    places: Vec<u32>,
    hand: usize,
    items: usize,
}

impl Clock {
    /// The place of the item that goes; the hand moves on behind it.
    fn evict(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = (at + 1) % self.items;
            let (id, was_asked_for) = &mut self.ring[at];
            if !std::mem::take(was_asked_for) {
                self.places[*id as usize] = NOWHERE;
                return at;
            }
        }
    }
}

impl Simulation for Clock {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            ring: Vec::with_capacity(items.min(keys) as usize),
            places: vec![NOWHERE; keys as usize],
            hand: 0,
            items: items as usize,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        let place = self.places[id as usize];
        if place != NOWHERE {
            self.ring[place as usize].1 = true;
            return true;
        }
        let at = if self.ring.len() < self.items {
            self.ring.push((id, false));
            self.ring.len() - 1
        } else {
            let at = self.evict();
            self.ring[at] = (id, false);
            at
        };
        self.places[id as usize] = at as u32;
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::super::twins::{compare, outcomes};
    use super::*;

    #[test]
    fn the_hand_spares_once_what_was_asked_for() {
        let mut cache = Clock::new(5, 3);
        // 0 is spared, so 3 puts 1 out; 4 puts 2 out. Now 0 is not spared again: 1 puts it out.
        let ids = [0, 1, 2, 0, 3, 0, 2, 3, 4, 0];
        // 0 1 2 in; 0 hit; 3 for 1 (0 is cleared); 0 hit; 2 hit; 3 hit; 4: the hand is at 2, clears
        // 2, 0 and 3, and puts 2 out; 0 is there.
        let found = outcomes(|id| cache.request(id), &ids);
        assert_eq!(found, "...+.+++.+");
        assert_eq!(outcomes(|id| cache.request(id), &[2, 3, 1]), "...");
    }

    /// A queue whose first goes back to the end when it was asked for.
    #[test]
    fn as_a_queue_with_a_second_chance() {
        compare::<Clock, _>(|items| {
            let mut queue: VecDeque<(u32, bool)> = VecDeque::new();
            move |id| {
                if let Some(entry) = queue.iter_mut().find(|(other, _)| *other == id) {
                    entry.1 = true;
                    return true;
                }
                if queue.len() == items {
                    while let Some((other, true)) = queue.pop_front() {
                        queue.push_back((other, false));
                    }
                }
                queue.push_back((id, false));
                false
            }
        });
    }
}
