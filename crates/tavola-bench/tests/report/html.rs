//! The page as text: well formed, whole, closed to the outside.

use std::collections::BTreeSet;
use std::fs;

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use tavola_bench::compare::{page, report::Results};

use crate::sample;

pub fn page_of(results: &Value) -> String {
    let text = results.to_string();
    let results: Results = serde_json::from_str(&text).expect("the sample is of schema 2");
    page::page(&results)
}

fn select<'a>(html: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    html.select(&selector).collect()
}

fn text(element: ElementRef) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn texts(html: &Html, selector: &str) -> Vec<String> {
    select(html, selector).into_iter().map(text).collect()
}

#[test]
fn the_page_is_well_formed() {
    for results in [sample::results(), sample::hostile()] {
        let html = Html::parse_document(&page_of(&results));
        assert_eq!(html.errors, Vec::<&str>::new());
        let mut ids = BTreeSet::new();
        for element in select(&html, "[id]") {
            let id = element.attr("id").unwrap_or_default();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
        }
        for link in select(&html, "a") {
            let href = link.attr("href").unwrap_or_default();
            let id = href.strip_prefix('#').expect("links stay on the page");
            assert!(ids.contains(id), "{href} leads nowhere");
        }
    }
}

#[test]
fn tables_tell_what_their_cells_are() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let tables = select(&html, "table");
    assert!(tables.len() > 20, "{}", tables.len());
    for heading in select(&html, "th") {
        assert!(heading.attr("scope").is_some(), "{}", text(heading));
    }
    for scroll in select(&html, ".scroll") {
        assert!(scroll.attr("aria-label").is_some() && scroll.attr("tabindex") == Some("0"));
    }
    let caption = Selector::parse("figcaption").expect("a selector");
    let charts = select(&html, "figure");
    assert!(charts.len() > 15, "{}", charts.len());
    for chart in charts {
        let captions: Vec<_> = chart.select(&caption).map(text).collect();
        assert!(
            matches!(&captions[..], [one] if !one.is_empty()),
            "{captions:?}"
        );
        assert!(chart.attr("data-chart").is_some());
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = page_of(&sample::hostile());
    let html = Html::parse_document(&page);
    let loads = "[src], [srcset], [data], [action], [background], [poster], iframe, object, embed, \
                 base, meta[http-equiv=refresh]";
    assert!(select(&html, loads).is_empty());
    let links: Vec<_> = select(&html, "link")
        .iter()
        .map(|l| l.attr("href"))
        .collect();
    assert!(
        links
            .iter()
            .all(|href| href.is_some_and(|href| href.starts_with("data:")))
    );
    for style in texts(&html, "style") {
        assert!(!style.contains("@import") && !style.contains("url("));
    }
    let policy = select(&html, "meta[http-equiv=Content-Security-Policy]");
    assert!(
        policy[0]
            .attr("content")
            .is_some_and(|policy| policy.starts_with("default-src 'none'"))
    );
}

#[test]
fn hostile_texts_stay_texts() {
    let html = Html::parse_document(&page_of(&sample::hostile()));
    let scripts = select(&html, "script").len();
    assert_eq!(
        scripts,
        select(
            &Html::parse_document(&page_of(&sample::results())),
            "script"
        )
        .len()
    );
    assert!(select(&html, "img, [onerror], [onfocus], [autofocus]").is_empty());
    let titles = texts(&html, "table.plain tbody th");
    for hostile in sample::HOSTILE.iter().take(4) {
        let told = hostile.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(titles.contains(&told), "{told} in {titles:?}");
    }
    let charts = texts(&html, "script#charts");
    assert!(serde_json::from_str::<Value>(&charts[0]).is_ok());
}

#[test]
fn a_sample_says_that_it_is_one_and_noise_is_told() {
    let mut results = sample::results();
    let banners =
        |results: &Value| texts(&Html::parse_document(&page_of(results)), ".banner").join(" ");
    let told = banners(&results);
    assert!(
        told.contains("Nothing here was measured") && told.contains("can't be trusted"),
        "{told}"
    );
    assert!(
        told.contains("varied by 21.0 %") && told.contains("A quick run"),
        "{told}"
    );
    results["sample"] = Value::Bool(false);
    results["quick"] = Value::Bool(false);
    results["noise"] =
        serde_json::json!({"trusted": true, "spin_spread": 0.013, "walk_spread": 0.02});
    let told = banners(&results);
    assert!(
        told.contains("The machine was quiet") && told.contains("1.3 %"),
        "{told}"
    );
    assert!(
        !told.contains("measured") && !told.contains("quick"),
        "{told}"
    );
    // Where nothing was timed, it does not matter.
    results["rows"] = serde_json::json!([]);
    let told = banners(&results);
    assert!(!told.contains("quiet"), "{told}");
}

#[test]
fn winners_are_named_whoever_they_are() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let lost = texts(&html, ".lost li");
    assert!(
        lost.iter()
            .any(|line| line.starts_with("papaya (in one process) in")
                && line.contains("It promises less: threads of one process only")),
        "{lost:?}"
    );
    // papaya is the fastest; who is behind it and still ahead of Tavola is named as well.
    assert!(
        lost.iter().any(|line| line.starts_with("TinyCDB")),
        "{lost:?}"
    );
    let said = texts(&html, "#winners > p").join(" ");
    assert!(said.contains("the best of its configurations"), "{said}");
    let verdicts = texts(&html, "#e-2 .verdict, article .verdict");
    assert!(
        verdicts
            .iter()
            .any(|line| line.contains("With the same guarantees: Tavola")),
        "{verdicts:?}"
    );
    let notes = texts(&html, "article > .notes li");
    assert!(
        notes.contains(&"Tavola, Rust: behind papaya, as a sample is".to_owned()),
        "{notes:?}"
    );
    let tallies = texts(&html, ".tally");
    assert_eq!(tallies.len(), 2);
    assert!(tallies[0].contains("Tavola is fastest in"), "{tallies:?}");
}

#[test]
fn how_often_stores_were_run_is_told_of_all() {
    let mut results = sample::results();
    let first = |results: &Value| {
        let html = Html::parse_document(&page_of(results));
        texts(&html, "#w-e .unit")[0].clone()
    };
    assert!(first(&results).starts_with("Median of 3 runs;"));
    results["rows"][0]["runs"] = serde_json::json!([1.0]);
    assert!(first(&results).starts_with("Median of up to 3 runs;"));
    let html = Html::parse_document(&page_of(&results));
    let timed = &texts(&html, "#w-f .unit")[0];
    assert!(timed.starts_with("Each percentile"), "{timed}");
}

#[test]
fn servers_are_counted_beside_their_clients() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let headings = texts(&html, "#w-d table.figures th");
    for heading in ["CPU an operation", "of it the server", "of the server"] {
        assert!(headings.contains(&heading.to_owned()), "{headings:?}");
    }
    let cells = texts(&html, "#w-d table.figures tr[data-peer=memcached-unix] td");
    for cell in ["16.8 µs", "7.25 µs", "5.00 MiB", "64.0 MiB"] {
        let there = |text: &String| text.replace('\u{a0}', " ") == cell;
        assert!(cells.iter().any(there), "{cell} in {cells:?}");
    }
    let told = |selector: &str| texts(&html, selector).contains(&"Unix, one CPU".to_owned());
    assert!(told("#w-c table.figures tr[data-peer=memcached-unix] td"));
    assert!(!told("#w-c table.figures tr[data-peer=apcu] td"));
    let units = texts(&html, "#w-d .unit");
    assert!(
        units.iter().all(|unit| unit.contains("client + server")),
        "{units:?}"
    );
    assert!(!texts(&html, "#w-e .unit")[0].contains("server"));
}

#[test]
fn what_was_done_over_time_is_there_for_each_mix() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let charts: Value = serde_json::from_str(&texts(&html, "script#charts")[0]).expect("JSON");
    let charts = charts.as_array().expect("a list").iter();
    let charts: Vec<_> = charts.filter(|chart| chart["kind"] == "seconds").collect();
    assert_eq!(
        charts.len(),
        2 + 1 + 4,
        "of e one by one, of e by eight, of i"
    );
    for chart in &charts {
        let selector = format!(
            "article figure[data-chart={}]",
            chart["id"].as_str().expect("id")
        );
        assert_eq!(select(&html, &selector).len(), 1);
    }
    let eight = charts.iter().find(|chart| {
        chart["label"]
            .as_str()
            .is_some_and(|label| label.contains("8 processes"))
    });
    let mark = &eight.expect("eight processes")["marks"][0];
    let point = &mark["points"][3];
    let parts: f64 = point["parts"]
        .as_array()
        .expect("parts")
        .iter()
        .filter_map(Value::as_f64)
        .sum();
    assert_eq!(point["parts"].as_array().map(Vec::len), Some(8));
    assert_eq!(
        (point["x"].as_f64(), point["y"].as_f64()),
        (Some(0.7), Some(parts))
    );
    let told = mark["text"].as_str().expect("text").replace('\u{a0}', " ");
    assert!(told.ends_with("12 – 15 %"), "{told}");
}

#[test]
fn wrong_answers_and_absent_peers_are_told() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let wrong = texts(&html, "table.figures td.bad");
    assert_eq!(wrong.len(), 2);
    assert!(wrong[0].contains("gave wrong answers"));
    let absent = texts(&html, ".skipped li");
    assert!(
        absent.contains(&"Valkey: valkey-server is not installed".to_owned()),
        "{absent:?}"
    );
    assert!(
        absent
            .iter()
            .any(|line| line.contains("longer than its share")),
        "{absent:?}"
    );
}

#[test]
fn outcomes_have_words_and_not_only_colours() {
    let html = Html::parse_document(&page_of(&sample::results()));
    let cells = texts(&html, "table.torment td");
    for words in [
        "✓ holds",
        "✗ dies",
        "▲ grows",
        "✗ hangs",
        "✗ is ruined",
        "· does not apply",
    ] {
        assert!(
            cells.iter().any(|cell| cell.starts_with(words)),
            "{words}: {cells:?}"
        );
    }
    assert!(
        cells
            .iter()
            .any(|cell| cell.contains("dies not promised SIGBUS")),
        "{cells:?}"
    );
    let properties = texts(
        &html,
        "table.properties td.no, table.properties td.yes, table.properties td.partly",
    );
    assert!(properties.iter().all(|cell| {
        ["✓ yes", "◐ partly", "– no"]
            .iter()
            .any(|m| cell.starts_with(m))
    }));
}

#[test]
fn a_run_without_anything_makes_a_page_too() {
    let html = Html::parse_document(&page_of(&serde_json::json!({"schema": 1})));
    assert_eq!(html.errors, Vec::<&str>::new());
    assert_eq!(texts(&html, "h1").len(), 1);
}

#[test]
fn the_page_is_written_beside_its_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results.json");
    fs::write(&results, sample::results().to_string()).expect("written");
    let out = page::write(&results, None).expect("a page");
    assert_eq!(out, folder.path().join("report.html"));
    assert!(
        fs::read_to_string(&out)
            .expect("read")
            .starts_with("<!DOCTYPE html>")
    );
    // Results of before had the note at the put alone.
    let mut cut = sample::results();
    cut["rows"][0]["note"] = serde_json::json!("only 5 of 9 keys within its time");
    cut["rows"][0]["case"]["keys"] = serde_json::json!(9);
    fs::write(&results, cut.to_string()).expect("written");
    let read = page::read(&results).expect("results");
    let notes = read.rows.iter().filter_map(|row| row.note.as_deref());
    let marked = notes.filter(|note| note.starts_with("only the keys of a put"));
    assert_eq!(marked.count(), 3, "get, mix and miss");
    let other = folder.path().join("other.html");
    assert_eq!(page::write(&results, Some(&other)).expect("a page"), other);
    fs::write(&results, "{\"schema\": 2").expect("written");
    let error = page::write(&results, None).expect_err("no JSON");
    assert!(error.to_string().contains("results.json"), "{error}");
}
