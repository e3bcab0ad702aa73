//! Constant files beside TinyCDB: each phase has a line for each file, and goals are judged.

use serde_json::Value;

use super::{Shell, number, words};

const FILES: [&str; 3] = ["tinycdb", "cdb", "frozen"];

#[test]
fn constant_files_are_measured_beside_tinycdb() {
    let shell = Shell::new();
    let dir = shell.dir.path().to_str().unwrap();
    let args = words("cdb --json --repeat 2 --keys 20K,3000 --dir");
    let lines = shell.lines(&[&args[..], &[dir]].concat());
    if !lines[0]["left_out"].is_null() {
        println!("left out: {}", lines[0]["left_out"]);
        return;
    }
    let phases = ["build", "first", "scan", "get", "bytes"];
    let mut rest = lines.iter();
    for keys in [20_000.0, 3_000.0] {
        for (phase, file) in phases
            .iter()
            .flat_map(|phase| FILES.map(|file| (phase, file)))
        {
            let line = rest.next().expect("a line for each file");
            assert_eq!(
                (&line["phase"], &line["file"]),
                (&(*phase).into(), &file.into())
            );
            assert_eq!((number(line, "keys"), number(line, "rounds")), (keys, 2.0));
            assert!(number(line, "least") <= number(line, "ratio"), "{line}");
            assert!(number(line, "ratio") <= number(line, "most"), "{line}");
            assert!(file != "tinycdb" || number(line, "ratio") == 1.0, "{line}");
            check_goal(line);
        }
    }
    assert!(rest.next().is_none());
    let bytes = |file: &str| {
        let is_it = |line: &&Value| line["phase"] == "bytes" && line["file"] == file;
        number(lines.iter().find(is_it).unwrap(), "bytes_per_key")
    };
    // Two numbers for a record and for each of two slots, and 256 of the head.
    let cdb = 40.0 + 2048.0 / 20_000.0;
    assert_eq!((bytes("tinycdb"), bytes("cdb")), (cdb, cdb));
    assert!(bytes("frozen") > 16.0 && bytes("frozen") <= 32.0);
}

/// A goal is met when the figure that it names reaches it.
fn check_goal(line: &Value) {
    let ratio = number(line, "ratio");
    let wanted = match (
        line["file"].as_str().unwrap(),
        line["phase"].as_str().unwrap(),
    ) {
        ("frozen", "build") => Some(("ratio 1", ratio >= 1.0)),
        ("frozen", "scan") => Some(("100 mops", number(line, "mops") >= 100.0)),
        ("frozen", "get") => Some(("ratio 1.3", ratio >= 1.3)),
        ("frozen", "bytes") => Some(("32 bytes", number(line, "bytes_per_key") <= 32.0)),
        _ => None,
    };
    match wanted {
        Some((goal, is_met)) => {
            assert_eq!(
                (&line["goal"], &line["met"]),
                (&goal.into(), &is_met.into()),
                "{line}"
            );
        }
        None => assert!(line["goal"].is_null() && line["met"].is_null(), "{line}"),
    }
}

#[test]
fn numbers_of_keys_that_do_not_fit_are_refused() {
    for keys in ["0", "200M"] {
        let output = Shell::new().run(&["cdb", "--keys", keys]);
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("--keys: from 1 to 100M"), "{errors}");
    }
}
