//! Names of queues, and a handle's cache of them: the number of each queue by its name.

use crate::layout::QueueName;
use std::collections::HashMap;

/// QueueNames never change, so a handle reads each name once, even if it opens or adds many queues.
#[derive(Default)]
pub(super) struct QueueNames {
    seen: u32,
    numbers: HashMap<Vec<u8>, u32>,
}

impl QueueNames {
    /// Returns the number of the queue with that name, if it is one of the first `named`.
    pub(super) fn find(
        &mut self,
        name: &[u8],
        named: u32,
        name_of: impl Fn(u32) -> Vec<u8>,
    ) -> Option<u32> {
        if named < self.seen {
            // The count has fallen, which only a repair of damage does: start over.
            *self = Self::default();
        }
        while !self.numbers.contains_key(name) && self.seen < named {
            self.numbers.entry(name_of(self.seen)).or_insert(self.seen);
            self.seen += 1;
        }
        self.numbers.get(name).copied()
    }
}

/// Returns whether a queue can have this name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && QueueName::fits(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_name_is_read_once_and_damage_is_forgotten() {
        let (mut names, read) = (QueueNames::default(), Cell::new(0));
        let name_of = |queue| {
            read.set(read.get() + 1);
            format!("{queue}").into_bytes()
        };
        for number in 0..100 {
            let name = format!("{number}");
            assert_eq!(
                names.find(name.as_bytes(), 50, name_of),
                (number < 50).then_some(number)
            );
        }
        assert_eq!(
            (names.find(b"60", 100, name_of), read.get()),
            (Some(60), 61)
        );
        assert_eq!(names.find(b"60", 50, name_of), None);
        assert_eq!(names.find(b"60", 51, |_| b"60".to_vec()), Some(50));
    }
}
