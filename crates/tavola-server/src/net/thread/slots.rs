//! The connections of a thread, by tokens that are not mistaken for those of closed ones.

/// Where a connection is, and how often the place was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    index: u32,
    generation: u32,
}

impl Token {
    /// No thread has a connection of this token.
    pub(crate) const NOWHERE: Self = Self {
        index: u32::MAX,
        generation: u32::MAX,
    };

    pub(super) fn to_word(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(super) fn from_word(word: u64) -> Self {
        Self {
            index: word as u32,
            generation: (word >> 32) as u32,
        }
    }
}

/// Values by token.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns the token that the next value gets.
    pub(super) fn next(&mut self) -> Token {
        if self.free.is_empty() {
            // The limit of open files is below 2^32.
            self.free.push(self.slots.len() as u32);
            self.slots.push(Slot {
                generation: 0,
                value: None,
            });
        }
        let index = self.free[self.free.len() - 1];
        let generation = self.slots[index as usize].generation;
        Token { index, generation }
    }

    pub(super) fn insert(&mut self, value: T) -> Token {
        let token = self.next();
        self.free.pop();
        self.slots[token.index as usize].value = Some(value);
        token
    }

    pub(super) fn get(&self, token: Token) -> Option<&T> {
        let slot = self.slots.get(token.index as usize)?;
        let current = slot.generation == token.generation;
        slot.value.as_ref().filter(|_| current)
    }

    pub(super) fn get_mut(&mut self, token: Token) -> Option<&mut T> {
        let slot = self.slots.get_mut(token.index as usize)?;
        let current = slot.generation == token.generation;
        slot.value.as_mut().filter(|_| current)
    }

    pub(super) fn remove(&mut self, token: Token) -> Option<T> {
        self.get_mut(token)?;
        let slot = &mut self.slots[token.index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(token.index);
        slot.value.take()
    }

    pub(super) fn tokens(&self) -> Vec<Token> {
        self.iter().map(|(token, _)| token).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Token, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let token = Token {
                index: index as u32,
                generation: slot.generation,
            };
            Some((token, slot.value.as_ref()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_to_its_value_alone() {
        let mut slots = Slots::new();
        let one = slots.insert(1);
        let two = slots.insert(2);
        assert_eq!(slots.remove(one), Some(1));
        let next = slots.next();
        let three = slots.insert(3);
        assert_eq!(next, three);
        assert_eq!(one.index, three.index);
        assert_eq!(slots.get_mut(one), None);
        assert_eq!(slots.remove(one), None);
        assert_eq!(slots.get_mut(three), Some(&mut 3));
        assert_eq!(slots.tokens(), [three, two]);
        assert_eq!(slots.len(), 2);
        assert_eq!(Token::from_word(three.to_word()), three);
    }
}
