//! LRU: out goes the item that was not asked for the longest.

use super::Simulation;
use super::lists::Lists;

/// The list in the order of the last requests, the latest at the front.
const ORDER: u32 = 0;

pub(in crate::trace) struct Lru {
    lists: Lists,
    is_in: Vec<bool>,
    items: u32,
}

impl Simulation for Lru {
    fn new(keys: u32, items: u32) -> Self {
        Self {
            lists: Lists::new(keys, 1),
            is_in: vec![false; keys as usize],
            items,
        }
    }

    fn request(&mut self, id: u32) -> bool {
        let hit = self.is_in[id as usize];
        if hit {
            self.lists.remove(ORDER, id);
        } else if self.lists.len(ORDER) == self.items
            && let Some(oldest) = self.lists.pop_back(ORDER)
        {
            self.is_in[oldest as usize] = false;
        }
        self.lists.push_front(ORDER, id);
        self.is_in[id as usize] = true;
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::super::twins::{compare, outcomes};
    use super::*;

    #[test]
    fn the_one_not_asked_for_the_longest_goes() {
        let mut cache = Lru::new(4, 2);
        // 1 is asked for again, so 2 puts 0 out; then 0 puts 1 out, 1 puts 2 out.
        let ids = [0, 1, 1, 2, 1, 2, 0, 2, 1];
        let found = outcomes(|id| cache.request(id), &ids);
        assert_eq!(found, "..+.++.+.");
    }

    #[test]
    fn as_a_vector_that_is_searched() {
        compare::<Lru, _>(|items| {
            let mut order: Vec<u32> = Vec::new();
            move |id| {
                let at = order.iter().position(|&other| other == id);
                if let Some(at) = at {
                    order.remove(at);
                } else if order.len() == items {
                    order.remove(0);
                }
                order.push(id);
                at.is_some()
            }
        });
    }
}
