//! Where, when and how: the head of the page, and its last section.

use maud::{Markup, html};

use super::super::words;
use super::Run;
use crate::compare::report::Results;

pub(super) fn head(run: &Run) -> Markup {
    let results = run.results;
    let part = run.took_part().len();
    html! {
        header.top {
            p.kicker { "tavola-bench compare" }
            h1 { "Which store should I use for this?" }
            p.lead {
                "Tavola and " (words::plural(part.saturating_sub(1), "other peer", "other peers"))
                ", same work, same run, on this machine: "
                (counted(results)) "."
            }
            (banners(results))
        }
    }
}

fn counted(results: &Results) -> String {
    let machine = &results.machine;
    let cpu = if machine.cpu.is_empty() {
        "an unnamed processor"
    } else {
        &machine.cpu
    };
    let cpus = words::plural(machine.cpus, "CPU", "CPUs");
    format!(
        "{cpu}, {cpus}, {}",
        words::bytes(machine.memory_bytes as f64)
    )
}

/// What must be known before a figure is read.
fn banners(results: &Results) -> Markup {
    let noise = &results.noise;
    html! {
        @if results.sample {
            p.banner.bad role="note" {
                strong { "Sample figures. " }
                "They were made up to try out this page. Nothing here was measured."
            }
        }
        @if results.rows.is_empty() {
            // Nothing was timed: what became of ill-treated stores does not depend on others.
        } @else if !noise.trusted {
            p.banner.bad role="note" {
                strong { "These figures can't be trusted. " }
                @if let Some(why) = &noise.why { (why) " " }
                "Run it again when the machine has nothing else to do."
            }
        } @else if !results.sample {
            p.banner.good role="note" {
                strong { "The machine was quiet. " }
                "Fixed work between the runs took the same time within "
                (percent(noise.spin_spread)) " (a loop) and " (percent(noise.walk_spread))
                " (a walk through memory)."
            }
        }
        @if results.quick {
            p.banner.fair role="note" {
                strong { "A quick run. " }
                "Few keys, few repetitions: good for the large differences, not for the small."
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}\u{a0}%", share * 100.0)
}

pub(super) fn section(run: &Run) -> Markup {
    html! {
        section #method {
            h2 { "How it was measured" }
            (method())
            h3 { "The machine" }
            (facts(run.results))
            h3 { "The peers" }
            (peers(run))
            (left_out(run))
        }
    }
}

fn method() -> Markup {
    html! {
        ul.method {
            li { "Every peer is the real thing, used as its own documentation advises. Making the
                  key and the value, the call and the comparison of the answer are all within the
                  time, by the same code for all programs of a language; those in Ruby and PHP make
                  keys and values before a pass." }
            li { "The repetitions of all peers are interleaved, so that a slow minute of the machine
                  meets all of them. The bar is the median, the line on it reaches from the least to
                  the most. A store's first turn in a case is its warm-up and does not count, if it
                  took less than 2 s; of a longer one the first part is a small share. A quick run
                  has no warm-ups." }
            li { "Programs are pinned to CPUs. Where a client and a server run, and whether a set
                  waits for its answer, is a part of the case, or stands in the row." }
            li { "CPU time and memory are those of the program that was timed. Where it asks a
                  server that the run started, the CPU time of all processes of the server is added,
                  and shown by itself; their memory (PSS, with their files in memory) stands beside
                  the client's." }
            li { "Bytes a key are those of the store's files, in memory or on a disk, and of a
                  server what its processes and files have grown by." }
            li { "Every answer is looked at. A peer that gave a wrong one has no figure, and is
                  named." }
            li { "Two stores whose runs overlap are called level, and also those within 10 % where
                  one of them was run but once. Otherwise the faster one is named, whoever it
                  is." }
            li { "● marks stores that processes share, all writing, and that survive "
                 code { "kill -9" } " of one of them. ○ marks those that promise less: they may be
                  right for you, and have had an easier task." }
        }
    }
}

fn facts(results: &Results) -> Markup {
    let machine = &results.machine;
    let noise = &results.noise;
    let facts = [
        ("Processor", machine.cpu.clone()),
        ("CPUs used", machine.cpus.to_string()),
        ("Memory", words::bytes(machine.memory_bytes as f64)),
        (
            "Virtual",
            if machine.is_virtual { "yes" } else { "no" }.to_owned(),
        ),
        ("System", machine.system.clone()),
        ("Kernel", machine.kernel.clone()),
        ("Clock", machine.clock.clone()),
        ("Tavola", results.tavola.clone()),
        ("Begun", results.started.clone()),
        ("Took", words::time(results.seconds * 1e9)),
        ("A loop varied by", percent(noise.spin_spread)),
        ("A walk through memory by", percent(noise.walk_spread)),
    ];
    html! {
        dl.facts {
            @for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
                div { dt { (name) } dd { (value) } }
            }
        }
    }
}

fn peers(run: &Run) -> Markup {
    let skipped = run.results.peers.iter();
    let skipped: Vec<_> = skipped
        .filter_map(|peer| Some((peer, peer.skipped.as_ref()?)))
        .collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Peers" {
            table.plain {
                thead { tr {
                    th scope="col" { "Peer" } th scope="col" { "Version" }
                    th scope="col" { "Language" } th scope="col" { "How it was set up" }
                } }
                tbody {
                    @for store in run.took_part() {
                        @if let Some(peer) = store.peer {
                            tr data-peer=(store.name) {
                                th scope="row" { (store.title) } td { (peer.version) }
                                td { (peer.language) } td { (peer.configuration) }
                            }
                        }
                    }
                }
            }
        }
        @if !skipped.is_empty() {
            h3 { "Not there" }
            ul.skipped {
                @for (peer, why) in &skipped {
                    @let name = if peer.title.is_empty() { &peer.name } else { &peer.title };
                    li { strong { (name) } ": " (why) }
                }
            }
        }
    }
}

/// Cases that a peer did not take part in, or did not get through.
fn left_out(run: &Run) -> Markup {
    let left_out = &run.results.left_out;
    html! {
        @if !left_out.is_empty() {
            details open {
                summary { (words::plural(left_out.len(), "case", "cases")) " without a figure" }
                ul.skipped {
                    @for case in left_out {
                        @let store = run.stores.get(&*case.peer);
                        @let title = store.map_or(&*case.peer, |store| store.title);
                        li {
                            strong { (title) } ", " (case.title)
                            @if !case.phase.is_empty() { ", " (case.phase) }
                            ": " (case.why)
                        }
                    }
                }
            }
        }
    }
}
