//! The page from top to bottom; each section a file.

use std::collections::BTreeSet;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::contests::Contest;
use super::stores::{Store, Stores};
use super::words;
use super::workloads;
use crate::compare::report::Results;

mod choose;
mod figures;
mod filters;
mod machine;
mod torment;
mod winners;

const STYLE: &str = concat!(
    include_str!("../assets/page.css"),
    include_str!("../assets/tables.css"),
    include_str!("../assets/print.css"),
);
/// The libraries first. They are as published: see assets/vendor/README.md.
const SCRIPTS: [&str; 6] = [
    include_str!("../assets/vendor/d3.min.js"),
    include_str!("../assets/vendor/plot.umd.min.js"),
    include_str!("../assets/bars.js"),
    include_str!("../assets/lines.js"),
    include_str!("../assets/seconds.js"),
    include_str!("../assets/page.js"),
];
const LICENCES: &str = include_str!("../assets/vendor/LICENSES.txt");
/// Nothing may be loaded from anywhere, whatever the results hold.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";
/// An empty icon, so that none is asked for.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E";

/// A run, sorted out.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) results: &'a Results,
    pub(super) stores: &'a Stores<'a>,
    pub(super) contests: &'a [Contest<'a>],
}

impl<'a> Run<'a> {
    /// The stores that took part, Tavola first, then by title.
    fn took_part(&self) -> Vec<&'a Store<'a>> {
        let skipped = |store: &Store| store.peer.is_some_and(|peer| peer.skipped.is_some());
        let part = self.stores.values().filter(|store| !skipped(store));
        let mut stores: Vec<_> = part.collect();
        stores.sort_by_key(|store| (!store.ours, store.title.to_lowercase()));
        stores
    }

    /// The workloads there are figures of, in the order of the page.
    fn letters(&self) -> Vec<&'a str> {
        let mut letters: Vec<&str> = Vec::new();
        for contest in self.contests {
            let letter = &*contest.first.workload;
            if !letters.contains(&letter) {
                letters.push(letter);
            }
        }
        letters
    }

    fn languages(&self) -> BTreeSet<&'a str> {
        let rows = self.contests.iter().flat_map(|contest| &contest.entries);
        let languages = rows.map(|entry| &*entry.row.language);
        languages.filter(|language| !language.is_empty()).collect()
    }
}

pub(super) fn document(run: &Run) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Tavola beside other stores, " (run.results.started) }
                link rel="icon" href=(ICON);
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "To the figures" }
                (machine::head(run))
                div.page {
                    aside { (filters::form(run)) }
                    main #content tabindex="-1" { (sections(run)) }
                }
                (foot())
                (scripts(run))
            }
        }
    }
}

fn sections(run: &Run) -> Markup {
    html! {
        (winners::section(run))
        (choose::section(run))
        (torment::section(run))
        @for letter in run.letters() { (figures::section(run, letter)) }
        (machine::section(run))
    }
}

fn foot() -> Markup {
    html! {
        footer {
            p {
                "Made by " code { "tavola-bench compare" } ". The page loads nothing: its figures, "
                "styles and scripts are all in it."
            }
            details {
                summary { "Licences of the libraries that draw the charts" }
                pre { (LICENCES) }
            }
        }
    }
}

/// The figures for the charts, then who draws them. In JSON a `<` can be written otherwise, and
/// so nothing that a result holds ends the element.
fn scripts(run: &Run) -> Markup {
    let charts: Vec<_> = run
        .letters()
        .into_iter()
        .flat_map(|letter| figures::charts(run, letter))
        .collect();
    let charts = serde_json::to_string(&charts).unwrap_or_else(|_| "[]".to_owned());
    let charts = charts.replace('<', "\\u003c");
    html! {
        script #charts type="application/json" { (PreEscaped(charts)) }
        @for script in SCRIPTS { script { (PreEscaped(script)) } }
    }
}

/// A store's title with a sign for what it promises: a full circle, or an empty one.
fn promise(store: &Store) -> Markup {
    html! {
        @if store.same {
            span.promise.same title="shared by processes, and safe when one is killed" { "●" }
        } @else {
            span.promise title="promises less" { "○" }
        }
    }
}

fn title_of(letter: &str) -> String {
    let known = workloads::workload(letter).map(|workload| workload.title.to_owned());
    known.unwrap_or_else(|| format!("Workload {letter}"))
}

/// A heading for the tables of a section.
fn counted(count: usize) -> String {
    words::plural(count, "comparison", "comparisons")
}
