//! What stores do when they are ill-treated.

use maud::{Markup, html};

use super::super::stores::Store;
use super::super::words;
use super::{Run, promise};
use crate::compare::report::TormentRow;

/// Trials in the order of the columns, with their headings and what is done.
const TRIALS: [(&str, &str, &str); 6] = [
    (
        "kill",
        "A writer is killed",
        "kill -9 amid a write: do readers go on, does it open, is what was written there?",
    ),
    (
        "full",
        "No room is left",
        "16 MiB of memory and not a byte more: an error, a death, or ruin?",
    ),
    (
        "limits",
        "Beyond its limits",
        "keys of 0 bytes to 1 MiB, values of 0 bytes to 64 MiB: taken, refused, or worse?",
    ),
    (
        "old-reader",
        "A reader that stays",
        "a walk is left open while keys change: does the store grow?",
    ),
    (
        "counters",
        "Four count together",
        "four processes increment the same counters: is every increment there?",
    ),
    (
        "server-kill",
        "Its server is killed",
        "kill -9 of a server under load: does it serve again, and is what was written there?",
    ),
];

pub(super) fn section(run: &Run) -> Markup {
    if run.results.torment.is_empty() {
        return html! {};
    }
    let trials: Vec<_> = TRIALS
        .into_iter()
        .filter(|(name, ..)| tried(run, name))
        .collect();
    let stores = run.took_part().into_iter();
    let stores =
        stores.filter(|store| run.results.torment.iter().any(|row| row.peer == store.name));
    html! {
        section #torment {
            h2 { "Ill-treated" }
            p {
                "Tried on this machine, in this run. An outcome that a store does not promise to
                 avoid is marked so: it is no fault of the store, but it is what you would get."
            }
            div.scroll tabindex="0" role="region" aria-label="Stores that are ill-treated" {
                table.torment {
                    thead { tr {
                        th scope="col" { "Store" }
                        @for (_, heading, what) in &trials {
                            th scope="col" { (heading) br; small { (what) } }
                        }
                    } }
                    tbody { @for store in stores { (line(run, store, &trials)) } }
                }
            }
        }
    }
}

fn tried(run: &Run, trial: &str) -> bool {
    run.results.torment.iter().any(|row| row.trial == trial)
}

fn line(run: &Run, store: &Store, trials: &[(&str, &str, &str)]) -> Markup {
    let of = |trial: &str| {
        let mut rows = run.results.torment.iter();
        rows.find(|row| row.peer == store.name && row.trial == trial)
    };
    html! {
        tr data-peer=(store.name) data-same=(store.same) class=[store.ours.then_some("us")] {
            th scope="row" { (promise(store)) " " (store.title) }
            @for (trial, heading, _) in trials { (cell(heading, of(trial))) }
        }
    }
}

fn cell(heading: &str, row: Option<&TormentRow>) -> Markup {
    let Some(row) = row else {
        return html! { td.neutral data-label=(heading) { "not tried" } };
    };
    let (sign, words, tone) = outcome(row);
    html! {
        td class=(tone) data-label=(heading) {
            strong.outcome { span aria-hidden="true" { (sign) } " " (words) }
            @if !row.promised && tone != "good" && tone != "neutral" {
                " " span.unpromised { "not promised" }
            }
            " "
            small {
                (row.detail)
                @if row.trials > 1 {
                    @let times = words::plural(row.trials as usize, "trial", "trials");
                    " " span.times { "(" (times) ")" }
                }
            }
        }
    }
}

/// The sign, the words and the tone of an outcome: what is good depends on what was done.
fn outcome(row: &TormentRow) -> (&'static str, &str, &'static str) {
    match (&*row.outcome, &*row.trial) {
        ("holds", _) => ("✓", "holds", "good"),
        ("refuses", "full" | "limits") => ("✓", "refuses, and keeps what it has", "good"),
        ("refuses", _) => ("✗", "refuses to open", "bad"),
        ("grows", _) => ("▲", "grows", "fair"),
        ("loses", "counters") => ("✗", "loses increments", "bad"),
        ("loses", _) => ("✗", "loses data", "bad"),
        ("hangs", _) => ("✗", "hangs", "bad"),
        ("dies", _) => ("✗", "dies", "bad"),
        ("ruined", _) => ("✗", "is ruined", "bad"),
        ("not applicable", _) => ("·", "does not apply", "neutral"),
        (other, _) => ("?", other, "neutral"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_words_and_a_tone() {
        for known in [
            "holds", "loses", "hangs", "dies", "refuses", "grows", "ruined",
        ] {
            for (trial, ..) in TRIALS {
                let row = TormentRow {
                    outcome: known.to_owned(),
                    trial: trial.to_owned(),
                    ..TormentRow::default()
                };
                assert_ne!(outcome(&row).2, "neutral", "{known}");
            }
        }
        let odd = TormentRow {
            outcome: "sings".to_owned(),
            ..TormentRow::default()
        };
        assert_eq!(outcome(&odd), ("?", "sings", "neutral"));
    }
}
