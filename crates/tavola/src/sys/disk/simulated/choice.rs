//! Choices: what is left to chance when the power fails, decided one question at a time.

/// Answers the questions of a cut: did this change of a name happen, how long is this file, which
/// version of this sector is on the disk.
///
/// Answers are ordered by age: 0 is the oldest state that is possible, the last one the newest.
pub(crate) trait Choice {
    /// Returns a number below `count`, which is at least 1.
    fn pick(&mut self, count: usize) -> usize;

    /// Returns a length from the first to the last of `likely`, which ascends and is not empty.
    fn pick_length(&mut self, likely: &[u64]) -> u64 {
        likely[self.pick(likely.len())]
    }
}

/// Every sequence of answers, each exactly once: an odometer whose last digit turns first.
///
/// How many digits there are, and how far each goes, is learned from the questions: other answers
/// to earlier questions may lead to other questions.
#[derive(Default)]
pub(crate) struct EveryChoice {
    digits: Vec<Digit>,
    asked: usize,
}

struct Digit {
    value: usize,
    count: usize,
}

impl EveryChoice {
    /// Turns to the next sequence. Returns false if there is no other one.
    pub(crate) fn advance(&mut self) -> bool {
        assert_eq!(self.asked, self.digits.len(), "fewer questions than before");
        self.asked = 0;
        while let Some(last) = self.digits.last_mut() {
            if last.value + 1 < last.count {
                last.value += 1;
                return true;
            }
            self.digits.pop();
        }
        false
    }
}

impl Choice for EveryChoice {
    fn pick(&mut self, count: usize) -> usize {
        if self.asked == self.digits.len() {
            self.digits.push(Digit { value: 0, count });
        }
        let digit = &self.digits[self.asked];
        assert_eq!(digit.count, count, "another question than before");
        self.asked += 1;
        digit.value
    }
}

/// Random answers from a seed.
///
/// With many questions, independent answers never leave all old or all new, so two thirds of the
/// sequences lean to one side.
pub(crate) struct RandomChoice {
    state: u64,
    lean: Lean,
}

#[derive(Clone, Copy)]
enum Lean {
    Even,
    Old,
    New,
}

impl RandomChoice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut choice = Self {
            state: seed,
            lean: Lean::Even,
        };
        choice.begin_cut();
        choice
    }

    /// Decides which way the next cut leans.
    pub(crate) fn begin_cut(&mut self) {
        self.lean = [Lean::Even, Lean::Old, Lean::New][self.below(3) as usize];
    }

    /// Returns a number below `count`, without a lean.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count
    }
}

impl Choice for RandomChoice {
    fn pick(&mut self, count: usize) -> usize {
        let leans = self.below(8) != 0;
        match self.lean {
            Lean::Old if leans => 0,
            Lean::New if leans => count - 1,
            _ => self.below(count as u64) as usize,
        }
    }

    /// Picks a likely length three times out of four, otherwise any.
    fn pick_length(&mut self, likely: &[u64]) -> u64 {
        let (first, last) = (likely[0], likely[likely.len() - 1]);
        match self.below(4) {
            0 => first + self.below(last - first + 1),
            _ => likely[self.pick(likely.len())],
        }
    }
}

/// The answers of another choice, written down as they are given.
pub(super) struct RecordedChoice<'a> {
    inner: &'a mut dyn Choice,
    answers: Vec<u64>,
}

impl<'a> RecordedChoice<'a> {
    pub(super) fn new(inner: &'a mut dyn Choice) -> Self {
        let answers = Vec::new();
        Self { inner, answers }
    }

    pub(super) fn into_repeated(self) -> RepeatedChoice {
        let answers = self.answers.into_iter();
        RepeatedChoice { answers }
    }
}

impl Choice for RecordedChoice<'_> {
    fn pick(&mut self, count: usize) -> usize {
        let answer = self.inner.pick(count);
        self.answers.push(answer as u64);
        answer
    }

    fn pick_length(&mut self, likely: &[u64]) -> u64 {
        let answer = self.inner.pick_length(likely);
        self.answers.push(answer);
        answer
    }
}

/// Recorded answers, given a second time to the same questions.
pub(super) struct RepeatedChoice {
    answers: std::vec::IntoIter<u64>,
}

impl RepeatedChoice {
    fn next(&mut self) -> u64 {
        self.answers.next().expect("more questions than recorded")
    }
}

impl Choice for RepeatedChoice {
    fn pick(&mut self, _count: usize) -> usize {
        self.next() as usize
    }

    fn pick_length(&mut self, _likely: &[u64]) -> u64 {
        self.next()
    }
}
