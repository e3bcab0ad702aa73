//! Reading again before the epoll is asked.

use super::Token;

/// Turns in a row at most that a connection has without a wait.
const IN_A_ROW: u32 = 8;
/// Rounds that are let pass at most before it is tried again whether guessing pays.
const MOST_PASSED: u32 = 64;

/// Who was alone in a round mostly asks next. Where client and server share a CPU, the client runs
/// while its answer is being sent, and its next request is there when that call returns: reading
/// at once spares asking the epoll. Elsewhere it has to be waited for; a guess that was wrong is
/// paid for by a number of rounds without any, twice as many each time.
#[derive(Debug, Default)]
pub(super) struct Guess {
    lone: Option<Token>,
    in_a_row: u32,
    /// Rounds that are still to pass.
    to_pass: u32,
    /// As many as passed after the last guess that was wrong.
    passed: u32,
}

impl Guess {
    /// A round has begun; `lone`: who was alone in it.
    pub(super) fn begin(&mut self, lone: Option<Token>) {
        self.in_a_row = 0;
        self.lone = lone.filter(|_| self.to_pass == 0);
        self.to_pass = self.to_pass.saturating_sub(1);
    }

    /// Who is to be read without a wait.
    pub(super) fn next(&mut self) -> Option<Token> {
        self.in_a_row += 1;
        let lone = self.lone.take();
        lone.filter(|_| self.in_a_row <= IN_A_ROW)
    }

    /// Whether something came from it.
    pub(super) fn was(&mut self, is_right: bool, token: Token) {
        if is_right {
            self.lone = Some(token);
            self.passed = 0;
        } else {
            self.passed = (2 * self.passed).clamp(1, MOST_PASSED);
            self.to_pass = self.passed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_guesses_go_on_for_some_turns_and_wrong_ones_become_rarer() {
        let token = Token::from_word(7);
        let mut guess = Guess::default();
        assert_eq!(guess.next(), None);
        guess.begin(Some(token));
        for _ in 0..IN_A_ROW {
            assert_eq!(guess.next(), Some(token));
            guess.was(true, token);
        }
        assert_eq!(guess.next(), None, "others have their turn");
        guess.begin(None);
        assert_eq!(guess.next(), None, "nobody was alone");
        for passed in [1, 2, 4, 8, 16, 32, 64, 64] {
            guess.begin(Some(token));
            assert_eq!(guess.next(), Some(token));
            guess.was(false, token);
            for _ in 0..passed {
                assert_eq!(guess.next(), None);
                guess.begin(Some(token));
            }
        }
    }
}
