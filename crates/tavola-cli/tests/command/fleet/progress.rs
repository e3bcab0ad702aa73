//! Progress, on a terminal.

use std::io::Write;

use super::Fleet;
use crate::terminal;

#[test]
fn progress_is_shown_on_a_terminal_only() {
    let fleet = Fleet::of(&["a", "b"]);
    let mut lines = Vec::new();
    for n in 0..20_000 {
        writeln!(lines, "{{\"key\":\"k{n}\",\"value\":\"v{n}\"}}").expect("a line");
    }
    let file = fleet.shell.file("lines.jsonl", &lines);
    let file = file.to_str().expect("a plain name");
    let [keys, values] = [".keys", ".values"].map(|name| fleet.shell.path().join(name));
    let [keys, values] = [&keys, &values].map(|path| path.to_str().expect("a plain name"));
    let servers = fleet.addresses();
    let both = fleet.list.as_str();
    let cases: [(&[&str], &str); 5] = [
        (&["load", file, "-s", servers[0]], "KiB of 642.36 KiB"),
        (&["dump", keys, "-s", both], "keys, "),
        (&["dump", "--values", values, "-s", both], "of 20,000 keys"),
        (&["copy", servers[0], servers[1]], "of 20,000 keys"),
        (&["slap", "--seconds", "1s", "-s", both], "of 1 s, "),
    ];
    for (args, shown) in cases {
        let args = [&["mc"], args].concat();
        let (code, seen) = terminal::run(&fleet.shell, &args);
        assert_eq!(code, 0, "{seen}");
        assert!(seen.contains(shown), "{args:?}: {seen}");
        let ran = fleet.shell.run(&args);
        assert!(!ran.err.contains(shown), "{ran:?}");
    }
}
