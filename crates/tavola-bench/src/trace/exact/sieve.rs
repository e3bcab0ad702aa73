//! SIEVE: a queue in the order of arrival, and a hand that goes from the oldest to the newest and
//! puts out the first item that was not asked for since it passed. What it spares stays in place.

use super::Simulation;
use super::lists::Lists;

/// The list in the order of arrival, the newest at the front.
const ORDER: u32 = 0;

pub(in crate::trace) struct Sieve {
    lists: Lists,
    /// Whether each item is in, and then whether it was asked for since the hand passed.
    marks: Vec<Option<bool>>,
    /// Where the hand looks next; at the oldest when it has gone through.
    hand: Option<u32>,
    items: u32,
}

impl Sieve {
    fn evict(&mut self) {
        let mut at = self.hand;
        while let Some(id) = at.or_else(|| self.lists.back(ORDER)) {
            let before = self.lists.before(id);
            let mark = &mut self.marks[id as usize];
            if *mark == Some(false) {
                *mark = None;
                self.lists.remove(ORDER, id);
                self.hand = before;
                return;
            }
            *mark = Some(false);
            at = before;
        }
    }
}

impl Simulation for Sieve {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            lists: Lists::new(keys, 1),
            marks: vec![None; keys as usize],
            hand: None,
            items,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        if let Some(mark) = &mut self.marks[id as usize] {
            *mark = true;
            return true;
        }
        if self.lists.len(ORDER) == self.items {
            self.evict();
        }
        self.lists.push_front(ORDER, id);
        self.marks[id as usize] = Some(false);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::twins::{compare, outcomes};
    use super::*;

    #[test]
    fn what_the_hand_spared_stays_behind_it() {
        let mut cache = Sieve::new(6, 3);
        // 0 is spared and 1 goes for 3; the hand goes on with 2 for 4, then 3 for 5: 0 is there
        // though it was the oldest all the time, and not asked for since it was spared.
        let ids = [0, 1, 2, 0, 3, 4, 5, 0];
        let found = outcomes(|id| cache.request(id), &ids);
        assert_eq!(found, "...+...+");
        assert_eq!(outcomes(|id| cache.request(id), &[4, 5, 3]), "++.");
    }

    #[test]
    fn as_a_vector_and_the_index_of_the_hand() {
        compare::<Sieve, _>(|items| {
            // The oldest first.
            let mut order: Vec<(u32, bool)> = Vec::new();
            let mut hand = 0;
            move |id| {
                if let Some(entry) = order.iter_mut().find(|(other, _)| *other == id) {
                    entry.1 = true;
                    return true;
                }
                if order.len() == items {
                    while std::mem::take(&mut order[hand].1) {
                        hand = (hand + 1) % items;
                    }
                    order.remove(hand);
                    hand %= items;
                    if hand == order.len() {
                        // Gone through, unless the newcomer now stands where the hand is.
                        hand = 0;
                    }
                }
                order.push((id, false));
                false
            }
        });
    }
}
