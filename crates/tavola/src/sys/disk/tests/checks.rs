//! The enumeration of choices, and the check of all cuts.

use super::super::HomeDir;
use super::super::simulated::SimulatedHome;
use super::super::simulated::check::{CutChoices, CutCount, check_all_cuts};
use super::super::simulated::choice::{Choice, EveryChoice};
use std::collections::BTreeSet;

#[test]
fn every_sequence_of_answers_comes_once() {
    let mut choice = EveryChoice::default();
    let mut seen = BTreeSet::new();
    loop {
        // How many questions there are depends on the first answer.
        let first = choice.pick(3);
        let mut answers = vec![first];
        answers.extend((0..first).map(|_| choice.pick(2)));
        assert!(seen.insert(answers));
        if !choice.advance() {
            break;
        }
    }
    assert_eq!(seen.len(), 1 + 2 + 4);
    let mut choice = EveryChoice::default();
    assert!(!choice.advance());
}

/// A home in which a file is written, acknowledged, then synced.
fn hasty_home() -> SimulatedHome {
    let home = SimulatedHome::new();
    let file = home.create("a").unwrap();
    home.sync().unwrap();
    file.write_all_at(&[b'x'; 1024], 0).unwrap();
    home.acknowledge(5);
    file.sync_data().unwrap();
    home
}

#[test]
fn all_moments_are_judged_with_what_was_acknowledged() {
    let history = hasty_home().history();
    let mut judged = Vec::new();
    let choices = CutChoices::Exhaustive { limit: 1000 };
    let count = check_all_cuts(&history, choices, |home, acknowledged| {
        assert_eq!(home.history().acknowledged_by(0), acknowledged);
        judged.push(acknowledged.len());
        Ok(())
    });
    let count = count.unwrap();
    // Before all; with a name that is not synced; with one that is; with lengths 0, 256, 512, 768,
    // 1024 and one or two sectors of two versions, twice; at the end.
    let written = 1 + 2 + 2 + 4 + 4;
    let cuts = 1 + 2 + 1 + written + written + 1;
    let unfinished = 0;
    assert_eq!(
        count,
        CutCount {
            moments: 6,
            cuts,
            unfinished
        }
    );
    assert_eq!(judged.len(), cuts);
    assert_eq!(judged.iter().sum::<usize>(), written + 1);
    let few = CutChoices::Exhaustive { limit: 3 };
    let count = check_all_cuts(&history, few, |_, _| Ok(())).unwrap();
    assert_eq!((count.cuts, count.unfinished), (11, 2));
    let random = CutChoices::Random { seed: 1, count: 10 };
    let count = check_all_cuts(&history, random, |_, _| Ok(())).unwrap();
    assert_eq!((count.moments, count.cuts), (6, 60));
}

#[test]
fn a_failure_says_what_was_called_and_what_is_left() {
    let history = hasty_home().history();
    let choices = CutChoices::Exhaustive { limit: 1000 };
    let failure = check_all_cuts(&history, choices, |home, acknowledged| {
        let bytes = home.image().remove("a").unwrap_or_default();
        match acknowledged.is_empty() || bytes.iter().filter(|byte| **byte == b'x').count() > 600 {
            true => Ok(()),
            false if bytes.len() < 1024 => Ok(()),
            false => Err("the file is not there".to_string()),
        }
    });
    let failure = failure.unwrap_err();
    assert_eq!(
        (failure.after, failure.acknowledged.as_slice()),
        (5, &[5][..])
    );
    let text = "refused after 26 accepted cuts of this history:
    1  create \"a\", file 0
    2  begin to sync the directory
    3  end the sync of the directory of step 2
    4  write file 0 (\"a\") bytes 0 to 1024
    5  acknowledge operation 5
       the power fails
       \"a\" (file 0): sector at 0 is the one of before
       \"a\" (file 0): sector at 512 is the one of before
       left: \"a\", 1024 bytes
       acknowledged: [5]
  the file is not there";
    assert_eq!(failure.to_string(), text);
}

#[test]
fn a_panic_of_the_judge_is_a_failure() {
    let history = hasty_home().history();
    let choices = CutChoices::Random { seed: 1, count: 1 };
    let failure = check_all_cuts(&history, choices, |home, _| {
        assert!(home.names().unwrap().is_empty(), "a panic that is expected");
        Ok(())
    });
    assert!(failure.unwrap_err().message.contains("panic"));
}
