//! Reading again before the epoll is asked.

use super::Token;

/// Turns in a row at most that a connection has without a wait. What they leave in a Unix socket is
/// freed at the end of them, in the time of one trip.
pub(super) const IN_A_ROW: u32 = 6;
/// Rounds that are let pass at most before it is tried again whether guessing pays.
const MOST_PASSED: u32 = 64;

/// Who was alone in a round mostly asks next. Where client and server share a CPU, the client runs
/// while its answer is being sent, and its next request is there when that call returns: reading
/// at once spares asking the epoll. Elsewhere it has to be waited for; a guess that was wrong after
/// another is paid for by a number of rounds without any, twice as many each time.
#[derive(Debug, Default)]
pub(super) struct Guess {
    lone: Option<Token>,
    /// The last guess was right.
    was_right: bool,
    /// Rounds that are still to pass.
    to_pass: u32,
    /// As many as passed after the last guess that was wrong.
    passed: u32,
}

impl Guess {
    /// A round begins; true: who is alone in it is to be read again.
    pub(super) fn begin(&mut self) -> bool {
        let pays = self.pays();
        self.to_pass = self.to_pass.saturating_sub(1);
        pays
    }

    /// Who was alone in a round that is to be followed by reading again.
    pub(super) fn asks_next(&mut self, lone: Option<Token>) {
        self.lone = lone;
    }

    /// Who is to be read without a wait, once.
    pub(super) fn who(&mut self) -> Option<Token> {
        self.lone.take()
    }

    /// Whether guesses are right in general.
    pub(super) fn pays(&self) -> bool {
        self.to_pass == 0
    }

    /// Whether something came.
    pub(super) fn was(&mut self, is_right: bool) {
        if is_right {
            self.passed = 0;
        } else if !self.was_right {
            self.passed = (2 * self.passed).clamp(1, MOST_PASSED);
            self.to_pass = self.passed;
        }
        self.was_right = is_right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_guesses_become_rarer() {
        let token = Token::from_word(7);
        let mut guess = Guess::default();
        assert_eq!(guess.who(), None);
        for passed in [1, 2, 4, 8, 16, 32, 64, 64] {
            assert!(guess.begin());
            guess.asks_next(Some(token));
            assert_eq!(guess.who(), Some(token));
            assert_eq!(guess.who(), None, "it was read");
            assert!(guess.pays());
            guess.was(false);
            assert!(!guess.pays());
            for _ in 0..passed {
                assert!(!guess.begin());
            }
        }
        assert!(guess.begin());
        guess.was(true);
        guess.was(false);
        assert!(
            guess.begin(),
            "one that is wrong now and then costs nothing"
        );
        guess.was(false);
        assert!(!guess.begin());
        assert!(guess.begin(), "they begin anew");
    }
}
