//! When to use which: what each store promises, and whom it suits.

use maud::{Markup, html};

use super::super::stores::Store;
use super::{Run, promise};
use crate::compare::report::{Answer, Properties, Property};

pub(super) fn section(run: &Run) -> Markup {
    let stores = run.took_part();
    let known: Vec<(&Store, &Properties)> = stores
        .iter()
        .filter_map(|store| Some((*store, store.properties?)))
        .collect();
    let Some((_, first)) = known.first() else {
        return html! {};
    };
    html! {
        section #choose {
            h2 { "When to use which" }
            p.key {
                "Each answer is for the store as it is run here: in memory, without waiting for a
                 disk. " q { "can" } " tells what other options or another place make of it."
            }
            div.scroll tabindex="0" role="region" aria-label="Properties of the stores" {
                table.properties {
                    thead { tr {
                        th scope="col" { "Store" }
                        @for (heading, _) in first.columns() { th scope="col" { (heading) } }
                    } }
                    tbody { @for (store, properties) in &known { (line(store, properties)) } }
                }
            }
        }
    }
}

fn line(store: &Store, properties: &Properties) -> Markup {
    html! {
        tr data-peer=(store.name) data-same=(store.same) class=[store.ours.then_some("us")] {
            th.wide scope="row" {
                (promise(store)) " " (store.title)
                @if let Some(profile) = store.profile {
                    " " small { "Take it when " (profile.choose) }
                }
            }
            @for (heading, property) in properties.columns() { (cell(heading, property)) }
        }
    }
}

fn cell(heading: &str, property: &Property) -> Markup {
    let better = property.can > property.run;
    html! {
        td class=(name(property.run)) data-label=(heading) {
            span.answer {
                (mark(property.run))
                @if better { span.can { ", can" @if property.can == Answer::Partly { " partly" } } }
            }
            @if !property.note.is_empty() { " " small { (property.note) } }
        }
    }
}

fn mark(answer: Answer) -> Markup {
    let (sign, word) = match answer {
        Answer::Yes => ("✓", "yes"),
        Answer::Partly => ("◐", "partly"),
        Answer::No => ("–", "no"),
    };
    html! {
        span class={ "mark " (name(answer)) } { span aria-hidden="true" { (sign) } " " (word) }
    }
}

fn name(answer: Answer) -> &'static str {
    match answer {
        Answer::Yes => "yes",
        Answer::Partly => "partly",
        Answer::No => "no",
    }
}
