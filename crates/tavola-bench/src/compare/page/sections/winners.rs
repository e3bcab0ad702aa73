//! Who is fastest in each case, and where another store than Tavola is.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::contests::{Contest, Outcome, Standing};
use super::super::stores::Store;
use super::super::words;
use super::{Run, counted, promise, title_of};

pub(super) fn section(run: &Run) -> Markup {
    let compared: Vec<&Contest> = run.contests.iter().collect();
    html! {
        section #winners {
            h2 { "Who is fastest" }
            p {
                "In each case Tavola stands with the best of its configurations that took part, "
                "which is named. Every other store that is ahead of it is named below."
            }
            div.tallies {
                (tally("With the same guarantees", &compared, true))
                (tally("Of all stores", &compared, false))
            }
            (elsewhere(&compared))
            (table(run, &compared))
        }
    }
}

/// How often who is ahead, in a line and in a bar of three parts.
fn tally(title: &str, contests: &[&Contest], same: bool) -> Markup {
    let standings = contests.iter().filter_map(|contest| contest.standing(same));
    let outcomes: Vec<Outcome> = standings.map(|standing| standing.outcome()).collect();
    let count = |wanted| {
        outcomes
            .iter()
            .filter(|outcome| **outcome == wanted)
            .count()
    };
    let (ours, level, other) = (
        count(Outcome::Ours),
        count(Outcome::Level),
        count(Outcome::Other),
    );
    html! {
        div.tally {
            h3 { (title) }
            @if outcomes.is_empty() {
                p { "Nothing to compare Tavola with." }
            } @else {
                p.share aria-hidden="true" {
                    @for (name, part) in [("ours", ours), ("level", level), ("other", other)] {
                        @if part > 0 { span class=(name) style={ "flex-grow:" (part) } {} }
                    }
                }
                p {
                    "Tavola is fastest in " strong { (ours) " of " (counted(outcomes.len())) }
                    @if level > 0 { ", level with another in " strong { (level) } }
                    ", slower in " strong { (other) } "."
                }
            }
        }
    }
}

/// Where a peer wins, said plainly: first those that promise as much.
fn elsewhere(contests: &[&Contest]) -> Markup {
    html! {
        h3 #elsewhere { "Where another store is faster" }
        (lost("with the same guarantees", &behind(contests, true)))
        (lost("with fewer guarantees", &behind(contests, false)))
    }
}

/// A case that Tavola lost.
type Lost<'a> = (&'a Contest<'a>, Standing<'a>);

/// The cases in which each other store is ahead, by its title: of those with the same guarantees,
/// or of the others.
fn behind<'a>(contests: &[&'a Contest<'a>], same: bool) -> BTreeMap<&'a str, Vec<Lost<'a>>> {
    let mut lost: BTreeMap<&str, Vec<Lost>> = BTreeMap::new();
    for contest in contests {
        for standing in contest
            .ahead()
            .filter(|ahead| ahead.other.store.same == same)
        {
            let title = &*standing.other.label;
            lost.entry(title).or_default().push((contest, standing));
        }
    }
    lost
}

fn lost(which: &str, lost: &BTreeMap<&str, Vec<Lost>>) -> Markup {
    html! {
        @if lost.is_empty() {
            p { "No store " (which) " is faster in any case." }
        } @else {
            p { "Stores " (which) " that are faster somewhere:" }
            ul.lost { @for (title, cases) in lost { li { (lost_to(title, cases)) } } }
        }
    }
}

fn lost_to(title: &str, cases: &[Lost]) -> Markup {
    let ratios = cases.iter().map(|(_, standing)| 1.0 / standing.ratio);
    let least = ratios.clone().fold(f64::INFINITY, f64::min);
    let most = ratios.fold(0.0, f64::max);
    let store = cases.first().map(|(_, standing)| standing.other.store);
    let lacks = store.and_then(Store::lacks);
    let spared = store.and_then(Store::spared).filter(|_| lacks.is_none());
    html! {
        strong { (title) }
        @if let Some(spared) = spared { ", " (spared) "," }
        " in " (words::plural(cases.len(), "case", "cases")) ", "
        @if cases.len() > 1 { (words::ratio(least)) " to " }
        (words::ratio(most)) " as fast as Tavola"
        @if let Some(lacks) = lacks { ". It promises less: " (lacks) }
        "."
        details open {
            summary { "Where" }
            ul {
                @for (contest, standing) in cases { li data-workload=(contest.first.workload) {
                    a href={ "#" (contest.id) } { (contest.first.title) ", " (contest.first.phase) }
                    ": " (words::ratio(1.0 / standing.ratio)) " " (standing.ours.label)
                } }
            }
        }
    }
}

fn table(run: &Run, contests: &[&Contest]) -> Markup {
    html! {
        h3 { "Case by case" }
        div.scroll tabindex="0" role="region" aria-label="Who is fastest, case by case" {
            table.winners {
                thead { tr {
                    th scope="col" { "Case" } th scope="col" { "Phase" }
                    th scope="col" { "With the same guarantees" } th scope="col" { "Of all stores" }
                } }
                @for letter in run.letters() {
                    tbody data-workload=(letter) {
                        tr.group { th scope="rowgroup" colspan="4" { (title_of(letter)) } }
                        @for contest in contests.iter().filter(|c| c.first.workload == letter) {
                            (line(contest))
                        }
                    }
                }
            }
        }
    }
}

fn line(contest: &Contest) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href={ "#" (contest.id) } { (contest.first.title) }
                @for condition in contest.conditions() { br; small { (condition) } }
            }
            td { (contest.first.phase) }
            (cell(contest, true))
            (cell(contest, false))
        }
    }
}

fn cell(contest: &Contest, same: bool) -> Markup {
    let Some(standing) = contest.standing(same) else {
        let alone = contest
            .entries
            .first()
            .filter(|entry| !same || entry.store.same);
        return html! {
            td.none {
                @match alone {
                    Some(entry) => { (entry.label) " " small { "nobody to compare with" } },
                    None => "–",
                }
            }
        };
    };
    let (ours, other) = (&standing.ours.label, standing.other);
    html! {
        @match standing.outcome() {
            Outcome::Ours => td.ours {
                strong { (ours) } br;
                small {
                    (words::ratio(standing.ratio)) " " (promise(other.store)) " " (other.label)
                }
            },
            Outcome::Level => td.level {
                strong { "level" } br;
                small { (ours) " and " (promise(other.store)) " " (other.label) }
            },
            Outcome::Other => td.other {
                strong { (other.label) } " " (promise(other.store)) br;
                small { (words::ratio(1.0 / standing.ratio)) " " (ours) }
            },
        }
    }
}
