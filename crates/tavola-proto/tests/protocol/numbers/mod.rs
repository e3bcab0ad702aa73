//! Numbers that are the same in every run, and what is made of them.

/// A generator of numbers (xorshift).
pub struct Numbers(u64);

impl Numbers {
    pub fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// A number of any length in digits.
    pub fn wide(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    pub fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.coin().then(|| make(self))
    }

    /// Bytes of any value, up to as many.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let count = self.below(most + 1);
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// A key that may stand in a line.
    pub fn plain_key(&mut self) -> Vec<u8> {
        let most = self.pick(&[3, 20, 250]);
        let count = 1 + self.below(most);
        let mut byte = || match self.next() as u8 {
            wrong @ (0..=b' ' | 0x7f) => wrong / 2 + b'A',
            byte => byte,
        };
        (0..count).map(|_| byte()).collect()
    }

    /// A key of any bytes, not too long for base64.
    pub fn any_key(&mut self) -> Vec<u8> {
        let most = self.pick(&[3, 20, 186]);
        let count = 1 + self.below(most);
        (0..count).map(|_| self.next() as u8).collect()
    }
}
