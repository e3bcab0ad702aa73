//! The cases, one after the other, as often as is asked for; what is reported are medians.

use serde::Serialize;
use serde_json::json;

use super::crew;
use super::{Config, Peer};
use crate::Result;
use crate::stats::median_run;

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A case, over all repetitions.
    Case(Case),
    /// A peer that was not measured.
    LeftOut(serde_json::Value),
}

/// A peer, a length of runs, touched or not: its repetition of median rate.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// Always `queue`.
    pub phase: &'static str,
    /// What the elements moved over.
    pub peer: Peer,
    /// Elements taken and sent at once, at most.
    pub run: usize,
    /// Whether all bytes of each element were read and rewritten at each end.
    pub touched: bool,
    /// Elements that moved.
    pub elements: u32,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Moves each way.
    pub moves: u64,
    /// Seconds from the start until all elements were back.
    pub seconds: f64,
    /// Million moves a second, each way.
    pub mops_each_way: f64,
    /// The rates of all repetitions, in the order they were made.
    pub runs: Vec<f64>,
}

/// What is played at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Game {
    pub(super) peer: Peer,
    pub(super) run: usize,
    pub(super) touched: bool,
}

/// What came out of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) moves: u64,
    pub(super) seconds: f64,
}

impl Score {
    fn mops(&self) -> f64 {
        self.moves as f64 / self.seconds / 1e6
    }
}

/// Runs it; `emit` is given each line as soon as the last repetition of its case has run.
///
/// # Errors
///
/// Whatever the pool or the system refuses, whatever `emit` returns, and a wrong answer.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    config.check()?;
    for peer in config.peers() {
        if let Some(left_out) = peer.left_out() {
            let line = json!({"phase": "queue", "peer": peer, "left_out": left_out});
            emit(&Line::LeftOut(line))?;
        }
    }
    let games = games(config);
    let mut scores: Vec<Vec<Score>> = vec![Vec::new(); games.len()];
    for turn in 1..=config.repeat {
        for (game, scores) in games.iter().zip(&mut scores) {
            scores.push(crew::play(config, game)?);
            if turn == config.repeat {
                emit(&Line::Case(case(config, game, scores)))?;
            }
        }
    }
    Ok(())
}

/// Peers change fastest, so that those with the same runs stand together.
fn games(config: &Config) -> Vec<Game> {
    let mut games = Vec::new();
    for touched in [false, true] {
        for &run in &config.runs {
            let there = config.peers().filter(|peer| peer.left_out().is_none());
            games.extend(there.map(|peer| Game { peer, run, touched }));
        }
    }
    games
}

fn case(config: &Config, game: &Game, scores: &[Score]) -> Case {
    let median = median_run(scores, Score::mops);
    Case {
        phase: "queue",
        peer: game.peer,
        run: game.run,
        touched: game.touched,
        elements: config.elements,
        element_bytes: config.element_bytes,
        moves: median.moves,
        seconds: median.seconds,
        mops_each_way: median.mops(),
        runs: scores.iter().map(Score::mops).collect(),
    }
}
