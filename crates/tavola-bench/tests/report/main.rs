//! The report in a headless Chromium, on a desktop and on a phone: drawn without an error, and
//! everything of the results is on it. Without Chromium the test says so and passes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const SAMPLE: &str = include_str!("sample.json");
/// Stands at the head of the report: collects what goes wrong in it.
const WATCH: &str = "<script>window.errors = [];
    addEventListener('error', event => window.errors.push(String(event.message)));
    addEventListener('securitypolicyviolation', event => window.errors.push(event.blockedURI));
    </script></head>";

/// Stores, and how fast they are made up to be.
const SPEEDS: [(&str, &str, f64); 4] = [
    ("tavola", "C", 6e6),
    ("tavola-frozen", "C", 2e7),
    ("lmdb", "C", 1e6),
    ("papaya", "C", 9e6),
];

/// The sample with rows of each workload; figures follow from the store's speed alone.
fn sample() -> Value {
    let mut rows = Vec::new();
    let cases = "abcdefghi"
        .chars()
        .flat_map(|letter| [(letter, 1), (letter, 2)]);
    for (letter, size) in cases {
        for phase in ["put", "mix"] {
            for (peer, language, speed) in SPEEDS {
                let median = speed / f64::from(size);
                let case = json!({"keys": 1000 * size, "value_bytes": 16 * size, "procs": size,
                    "timed": letter == 'f', "slice_ms": 200});
                let cdf = json!([[100, 0.5], [200, 0.99], [900, 0.9999]]);
                rows.push(json!({
                    "workload": letter, "title": format!("size {size}"), "phase": phase,
                    "unit": "ops/s", "case": case, "peer": peer, "language": language,
                    "median": median, "least": 0.9 * median, "most": 1.1 * median,
                    "runs": [0.9 * median, median, 1.1 * median], "verified": true,
                    "shares": [0.5, 0.5], "per_second": [[100, 200, 150], [100, 150, 200]],
                    "cdf": if letter == 'f' { cdf } else { json!([]) },
                    "p99_ns": (letter == 'f').then_some((1e9 / median) as u64),
                }));
            }
        }
    }
    rows[0]["verified"] = json!(false);
    let mut sample: Value = serde_json::from_str(SAMPLE).expect("the sample is JSON");
    sample["rows"] = Value::Array(rows);
    sample
}

/// `CHROMIUM`, or what `PATH` has.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut files =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    files.find(|file| file.is_file())
}

/// Puts the report into a frame of this width, and returns what is found in it. A window of a
/// browser cannot be as narrow as a phone.
fn measure(program: &Path, report: &str, width: u32) -> Value {
    let framed = report.replace("</head>", WATCH);
    let framed = framed.replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<!DOCTYPE html><meta charset='utf-8'><iframe width={width} height=800 srcdoc=\"{framed}\">
        </iframe><pre id='measured'></pre><script>onload = () => setTimeout(() => {{
        const frame = document.querySelector('iframe'), page = frame.contentDocument;
        const measured = {{errors: frame.contentWindow.errors, text: page.body.innerText,
            drawn: page.documentElement.dataset.drawn, wide: page.documentElement.scrollWidth,
            widest: [...page.body.querySelectorAll(':not(.scroll *)')]
                .filter(e => e.getBoundingClientRect().right > frame.contentWindow.innerWidth)
                .map(e => e.tagName + '.' + e.className + '#' + e.id).slice(0, 9),
            charts: page.querySelectorAll('figure').length,
            canvases: page.querySelectorAll('figure canvas').length}};
        frame.remove(); document.getElementById('measured').textContent =
            encodeURIComponent(JSON.stringify(measured)); }}, 500)</script>"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("outer.html");
    fs::write(&file, outer).expect("written");
    let output = Command::new(program)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .env("HOME", folder.path())
        .stderr(Stdio::null())
        .output()
        .expect("Chromium starts");
    let page = String::from_utf8_lossy(&output.stdout);
    let measured = page
        .split_once("<pre id=\"measured\">")
        .and_then(|(_, rest)| rest.split_once('<'));
    let (measured, _) = measured.unwrap_or_else(|| panic!("nothing is measured: {page:.400}"));
    serde_json::from_str(&decoded(measured)).unwrap_or_else(|why| panic!("{why}: {measured:.400}"))
}

/// The text of which `encodeURIComponent` made this.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        let digits: Option<Vec<u8>> = (byte == b'%').then(|| rest.by_ref().take(2).collect());
        bytes.push(digits.map_or(byte, |digits| {
            let digits = std::str::from_utf8(&digits).expect("two digits");
            u8::from_str_radix(digits, 16).expect("two hexadecimal digits")
        }));
    }
    String::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn the_report_shows_all_of_the_results_on_desktop_and_phone() {
    let Some(program) = chromium() else {
        println!("skipped: no Chromium here (scripts/setup report installs one)");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results.json");
    fs::write(&results, sample().to_string()).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tavola-bench"));
    let made = command
        .args(["compare", "--report-only"])
        .arg(&results)
        .output();
    assert!(made.expect("it starts").status.success(), "of this schema");
    let report = fs::read_to_string(folder.path().join("report.html")).expect("a report");
    for width in [1280, 360] {
        let measured = measure(&program, &report, width);
        assert_eq!(measured["errors"], json!([]), "{width}");
        assert_eq!(measured["drawn"], "yes");
        assert!(
            measured["wide"].as_u64().expect("pixels") <= width.into(),
            "{}",
            measured["widest"]
        );
        assert!(
            measured["charts"].as_u64() > Some(15),
            "{}",
            measured["charts"]
        );
        assert_eq!(measured["charts"], measured["canvases"]);
        let text = measured["text"].as_str().expect("a text");
        for wanted in [
            "Many keys",
            "keys grows",
            "values grow",
            "processes join",
            "single calls",
            "companies",
            "8 KB",
            "4 KB",
            "a client",
            "Tavola",
            "Tavola, frozen",
            "LMDB",
            "papaya & map",
            "Valkey: valkey-server is not installed",
            "longer than its share",
            "It opened each time",
            "Sample <b>processor</b>",
            "gave wrong answers",
            "Take it when",
            "</script><script>",
            "A loop varied by 21 %",
            "Tavola is fastest",
            "behind papaya & map (1.50\u{a0}×), whose memory goes with its process",
        ] {
            assert!(text.contains(wanted), "{width}: no '{wanted}' in {text}");
        }
        let constant = "a constant file counts for no other store's verdict";
        assert!(!text.contains("Tavola, frozen is fastest"), "{constant}");
    }
}
