//! The page in a browser: drawn without a complaint, filtered by keyboard, in light and dark, on
//! a phone, on paper, without scripts.
//!
//! `TAVOLA_PICTURES=DIR` keeps pictures and the page to look at.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::browser::{self, Browser};
use crate::html::page_of;
use crate::sample;

/// One browser at a time: each is several busy processes.
static TURN: Mutex<()> = Mutex::new(());

struct Look {
    browser: Browser,
    file: PathBuf,
    _folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

/// The page of `results` in a browser; nothing where there is none, which is said.
fn look(results: &Value) -> Option<Look> {
    let Some(program) = browser::program() else {
        // Not by a macro, whose words the test's runner would keep to itself.
        let said = b"skipped: no Chromium here (scripts/setup report installs one)\n";
        std::io::stderr().write_all(said).expect("stderr");
        return None;
    };
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    fs::write(&file, page_of(results)).expect("written");
    let mut look = Look {
        browser: Browser::start(&program),
        file,
        _folder: folder,
        _turn: turn,
    };
    look.browser.size(1280, 900);
    look.open();
    Some(look)
}

impl Look {
    fn open(&mut self) {
        let file = self.file.clone();
        self.browser.open(&file);
        self.browser.settle();
    }

    fn ask(&mut self, expression: &str) -> Value {
        self.browser.ask(expression)
    }

    fn count(&mut self, selector: &str) -> u64 {
        let visible = format!(
            "[...document.querySelectorAll({})].filter(e => e.checkVisibility()).length",
            json!(selector)
        );
        self.ask(&visible).as_u64().expect("a count")
    }

    fn keep(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("TAVOLA_PICTURES") else {
            return;
        };
        fs::copy(&self.file, PathBuf::from(&folder).join("report.html")).expect("kept");
        let picture = self.browser.picture();
        fs::write(PathBuf::from(folder).join(name), picture).expect("a picture is kept");
    }

    fn no_complaints(&self) {
        assert_eq!(self.browser.complaints(), Vec::<String>::new());
    }
}

/// Texts whose colour is too close to what is behind them, with the ratio (WCAG, AA).
const PALE: &str = include_str!("pale.js");

#[test]
fn all_charts_are_drawn_without_a_complaint() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    assert_eq!(look.ask("document.documentElement.dataset.drawn"), "yes");
    look.ask("document.querySelectorAll('details').forEach(d => d.open = true)");
    look.browser.settle();
    let charts = look.ask("JSON.parse(document.getElementById('charts').textContent).length");
    assert!(charts.as_u64().is_some_and(|count| count > 15), "{charts}");
    assert_eq!(json!(look.count("figure .chart > svg")), charts);
    let inside = look.ask(
        "[...document.querySelectorAll('figure')].every(f => {
        const [f1, s] = [f.getBoundingClientRect(), f.querySelector('svg').getBoundingClientRect()];
        return s.width > 200 && s.height > 50 && s.right <= f1.right + 1; })",
    );
    assert_eq!(inside, true);
    look.no_complaints();
}

#[test]
fn filters_work_from_the_keyboard() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    let all = look.count("article");
    tab_to(&mut look, "same");
    look.keep("focus.png");
    look.browser.press(" ", 32);
    look.browser.settle();
    assert_eq!(look.count("tr[data-same=false]"), 0);
    let fewer = "[...document.querySelectorAll('svg text')]
        .filter(t => t.textContent.includes('○')).length";
    assert_eq!(look.ask(fewer), 0);
    assert!(look.count("tr[data-peer=lmdb]") > 0);
    look.browser.press(" ", 32);
    look.browser.settle();
    assert_ne!(look.ask(fewer), 0);
    tab_to(&mut look, "workload");
    look.browser.press(" ", 32);
    look.browser.settle();
    assert_eq!(look.count("#w-e"), 0);
    assert!(look.count("article") < all && look.count("#w-c") == 1);
    look.ask(
        "document.querySelector('input[value=lmdb]').click();
              document.querySelector('input[value=PHP]').click()",
    );
    look.browser.settle();
    assert_eq!(look.count("tr[data-peer=lmdb]"), 0);
    assert_eq!(look.count("tr[data-language=PHP]"), 0);
    assert_eq!(look.count("#w-c article"), 0);
    let told = look.ask("document.getElementById('shown').textContent");
    assert!(
        told.as_str()
            .is_some_and(|told| told.ends_with("figures are shown")),
        "{told}"
    );
    look.ask("document.querySelector('button[type=reset]').click()");
    look.ask("new Promise(done => setTimeout(done, 50))");
    look.browser.settle();
    assert_eq!(look.count("article"), all);
    look.no_complaints();
}

#[test]
fn what_stores_did_over_time_is_drawn_and_filtered() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    // The case of eight processes: a row a store, a band a process.
    let chart = "const chart = JSON.parse(document.getElementById('charts').textContent)
            .find(c => c.kind === 'seconds' && c.label.includes('8 processes'));
        const figure = document.getElementById('figure-' + chart.id);
        const svg = figure.querySelector('svg');
        const bands = [...svg.querySelectorAll('g[aria-label=area] path')];
        const texts = [...svg.querySelectorAll('text')].map(t => t.textContent);";
    let told = format!(
        "(() => {{ {chart} return {{stores: chart.marks.length, bands: bands.length,
            drawn: bands.filter(b => b.getBoundingClientRect().width > 200).length,
            lmdb: texts.filter(t => t.includes('LMDB')).length,
            fewer: texts.filter(t => t.includes('○')).length,
            shares: texts.filter(t => t.endsWith(' – 15\u{a0}%')).length,
            seconds: texts.includes('seconds')}} }})()"
    );
    let all = look.ask(&told);
    let stores = all["stores"].as_u64().expect("a count");
    assert_eq!(all["bands"], 8 * stores);
    assert_eq!(
        (&all["drawn"], &all["shares"]),
        (&json!(8 * stores), &json!(stores))
    );
    assert_eq!((&all["lmdb"], &all["seconds"]), (&json!(1), &json!(true)));
    assert_ne!(all["fewer"], 0);
    look.ask("document.querySelector('input[value=lmdb]').click()");
    look.browser.settle();
    let without = look.ask(&told);
    assert_eq!(
        (&without["lmdb"], &without["bands"]),
        (&json!(0), &json!(8 * (stores - 1)))
    );
    look.ask("document.querySelector('input[name=same]').click()");
    look.browser.settle();
    let same = look.ask(&told);
    assert_eq!(same["fewer"], 0);
    assert!(
        same["bands"]
            .as_u64()
            .is_some_and(|bands| bands > 0 && bands < 8 * (stores - 1))
    );
    look.browser.size(360, 780);
    look.open();
    assert_eq!(look.ask(&told)["bands"], 8 * stores, "on a phone, too");
    look.no_complaints();
}

/// Presses Tab until an input of that name has the focus.
fn tab_to(look: &mut Look, name: &str) {
    look.ask("document.activeElement.blur()");
    for _ in 0..60 {
        look.browser.press("Tab", 9);
        if look.ask("document.activeElement.name") == name {
            return;
        }
    }
    panic!("no way to {name} by Tab");
}

#[test]
fn light_and_dark_can_be_read() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    look.ask("document.querySelectorAll('details').forEach(d => d.open = true)");
    for scheme in ["light", "dark"] {
        look.browser.scheme(scheme);
        look.browser.settle();
        assert_eq!(look.ask(PALE), json!([]), "{scheme}");
    }
    for scheme in ["light", "dark"] {
        look.browser.scheme(scheme);
        look.open();
        look.keep(&format!("{scheme}.png"));
    }
    look.no_complaints();
}

#[test]
fn a_phone_shows_all_of_it() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    for width in [360, 768] {
        look.browser.size(width, 780);
        look.open();
        let wide = look.ask("document.scrollingElement.scrollWidth");
        assert!(
            wide.as_u64().is_some_and(|wide| wide <= width.into()),
            "{wide} of {width}"
        );
        let out = look.ask(
            "[...document.querySelectorAll('svg text')].filter(t => {
            const [b, f] = [t.getBoundingClientRect(), t.closest('figure').getBoundingClientRect()];
            return b.width > 0 && (b.right > f.right + 2 || b.left < f.left - 2);
        }).map(t => t.textContent)",
        );
        assert_eq!(out, json!([]), "texts beyond their chart at {width}");
        look.keep(&format!("{width}.png"));
    }
    look.no_complaints();
}

#[test]
fn paper_takes_it() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    let pdf = look.browser.pdf();
    assert!(
        pdf.starts_with(b"%PDF") && pdf.len() > 50_000,
        "{}",
        pdf.len()
    );
    if let Some(folder) = std::env::var_os("TAVOLA_PICTURES") {
        fs::write(PathBuf::from(folder).join("report.pdf"), pdf).expect("kept");
    }
    look.browser
        .call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    assert_eq!((look.count("aside"), look.count("article details")), (0, 0));
    assert!(look.count("figure svg") > 5);
    look.no_complaints();
}

#[test]
fn without_scripts_the_tables_remain() {
    let Some(mut look) = look(&sample::results()) else {
        return;
    };
    look.browser.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    let file = look.file.clone();
    look.browser.open(&file);
    assert_eq!(
        look.ask("document.documentElement.dataset.drawn || null"),
        Value::Null
    );
    assert_eq!((look.count("figure"), look.count("#filter")), (0, 0));
    assert!(look.count("table.figures tbody tr") > 300);
    assert_eq!(
        (look.count("table.torment"), look.count("table.properties")),
        (1, 1)
    );
    look.no_complaints();
}

#[test]
fn hostile_texts_do_nothing() {
    let Some(mut look) = look(&sample::hostile()) else {
        return;
    };
    assert_eq!(look.ask("typeof window.hit"), "undefined");
    assert_eq!(look.ask("document.documentElement.dataset.drawn"), "yes");
    assert!(look.count("figure svg") > 5);
    look.no_complaints();
}
