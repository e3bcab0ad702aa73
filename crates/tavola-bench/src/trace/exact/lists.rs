//! Doubly linked lists over dense numbers: each number is in one of them at most.

/// The lists. List `l` of `n` starts and ends at a node of its own behind those of the numbers.
pub(super) struct Lists {
    /// For each node the one before it, nearer to the front, and the one behind it.
    links: Vec<[u32; 2]>,
    keys: u32,
    lens: Vec<u32>,
}

const BEFORE: usize = 0;
const BEHIND: usize = 1;

impl Lists {
    /// `count` empty lists of the numbers below `keys`.
    pub(super) fn new(keys: u32, count: u32) -> Self {
        let nodes = keys.checked_add(count).expect("numbers leave some over");
        Self {
            links: (0..nodes).map(|node| [node, node]).collect(),
            keys,
            lens: vec![0; count as usize],
        }
    }

    pub(super) fn len(&self, list: u32) -> u32 {
        self.lens[list as usize]
    }

    /// Puts a number that is in no list at the front of `list`.
    pub(super) fn push_front(&mut self, list: u32, id: u32) {
        let head = self.keys + list;
        let first = self.links[head as usize][BEHIND];
        self.links[id as usize] = [head, first];
        self.links[head as usize][BEHIND] = id;
        self.links[first as usize][BEFORE] = id;
        self.lens[list as usize] += 1;
    }

    /// Takes a number out of `list`, which it is in.
    pub(super) fn remove(&mut self, list: u32, id: u32) {
        let [before, behind] = self.links[id as usize];
        self.links[before as usize][BEHIND] = behind;
        self.links[behind as usize][BEFORE] = before;
        self.lens[list as usize] -= 1;
    }

    /// The last of `list`.
    pub(super) fn back(&self, list: u32) -> Option<u32> {
        self.before(self.keys + list)
    }

    /// The one before a number in its list; none before the first.
    pub(super) fn before(&self, id: u32) -> Option<u32> {
        let before = self.links[id as usize][BEFORE];
        (before < self.keys).then_some(before)
    }

    pub(super) fn pop_back(&mut self, list: u32) -> Option<u32> {
        let id = self.back(list)?;
        self.remove(list, id);
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order_and_do_not_mix() {
        let mut lists = Lists::new(9, 2);
        assert_eq!((lists.back(0), lists.pop_back(1)), (None, None));
        for id in [0, 2, 4, 6] {
            lists.push_front(0, id);
            lists.push_front(1, id + 1);
        }
        lists.remove(0, 4);
        assert_eq!((lists.len(0), lists.len(1)), (3, 4));
        assert_eq!((lists.back(0), lists.before(0)), (Some(0), Some(2)));
        assert_eq!((lists.before(2), lists.before(6)), (Some(6), None));
        let all: Vec<u32> = std::iter::from_fn(|| lists.pop_back(1)).collect();
        assert_eq!(all, [1, 3, 5, 7]);
        assert_eq!((lists.len(0), lists.len(1)), (3, 0));
    }
}
