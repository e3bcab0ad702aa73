//! What of the page is shown: by workload, peer, language, and what is promised. The script of
//! the page makes it work; without one it is not there.

use maud::{Markup, html};

use super::{Run, promise, title_of};

pub(super) fn form(run: &Run) -> Markup {
    html! {
        (contents(run))
        details #filters open {
            summary { "What is shown" }
            form #filter autocomplete="off" hidden {
                (guarantees())
                (fieldset("Workloads", "workload", workloads(run)))
                (fieldset("Languages", "language", languages(run)))
                (fieldset("Peers", "peer", peers(run)))
                p.buttons {
                    button type="reset" { "Show all" }
                    button type="button" #none { "No peer but Tavola" }
                }
                p #shown role="status" {}
            }
        }
    }
}

fn guarantees() -> Markup {
    html! {
        label.only {
            input type="checkbox" name="same" value="yes";
            span {
                "Same guarantees only" br;
                small { "shared by processes, and safe when one is killed" }
            }
        }
    }
}

/// A value, and how it is written.
type Choice = (String, Markup);

fn fieldset(legend: &str, name: &str, choices: Vec<Choice>) -> Markup {
    html! {
        fieldset {
            legend { (legend) }
            @for (value, text) in choices {
                label { input type="checkbox" name=(name) value=(value) checked; span { (text) } }
            }
        }
    }
}

fn workloads(run: &Run) -> Vec<Choice> {
    let letters = run.letters().into_iter();
    letters
        .map(|letter| (letter.to_owned(), html! { (title_of(letter)) }))
        .collect()
}

fn languages(run: &Run) -> Vec<Choice> {
    let languages = run.languages().into_iter();
    languages
        .map(|language| (language.to_owned(), html! { (language) }))
        .collect()
}

fn peers(run: &Run) -> Vec<Choice> {
    let choice = |store: &super::Store| {
        let text = html! { (promise(store)) " " (store.title) };
        (store.name.to_owned(), text)
    };
    run.took_part().into_iter().map(choice).collect()
}

fn contents(run: &Run) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol {
                li { a href="#winners" { "Who is fastest" } }
                li { a href="#choose" { "When to use which" } }
                @if !run.results.torment.is_empty() { li { a href="#torment" { "Ill-treated" } } }
                @for letter in run.letters() {
                    li { a href={ "#w-" (letter) } { (title_of(letter)) } }
                }
                li { a href="#method" { "How it was measured" } }
            }
        }
    }
}
