//! The figures of a durable table, as `stat`, `top` and `doctor` show them: journal, snapshot,
//! syncs and state. The exporter's are beside its other tests.

use crate::durable::Durable;

#[test]
fn stat_top_and_doctor_show_journal_snapshot_syncs_and_state() {
    let durable = Durable::new();
    let home = durable.create("commit");
    let top = durable.run(&["top", &home, "--once"]).text();
    let fresh = "\ndurable snapshot none yet; state good\n";
    assert!(top.contains(fresh), "{top}");
    durable.run(&["set", &home, "k", "v"]).ok();
    durable.run(&["snapshot", &home]).ok();
    let shown = |args: &[&str], lines: &[&str]| {
        // The doctor may dislike something else on this machine.
        let text = String::from_utf8(durable.run(args).out).unwrap();
        for pattern in lines {
            let is_shown = |line: &str| {
                let mut rest = line;
                pattern.split('*').all(|part| {
                    let found = rest.find(part);
                    rest = found.map_or("", |at| &rest[at + part.len()..]);
                    found.is_some()
                })
            };
            assert!(text.lines().any(is_shown), "{args:?}: {pattern}: {text}");
        }
    };
    shown(
        &["stat", &home],
        &[
            "state * good",
            "journal * B since the last snapshot",
            "syncs * (*/s), * ms on average",
            "snapshot * B, * ago",
        ],
    );
    shown(
        &["top", &home, "--once"],
        &[
            "journal * B since the last snapshot, 0 B not on disk; * syncs/s of * ms",
            "durable snapshot * B, * ago; state good",
        ],
    );
    shown(
        &["doctor", &home],
        &["good; a journal of * B; snapshot: * B, * ago; syncs: * (*/s), * ms on average"],
    );
    let journal = &durable.run(&["stat", &home, "--json"]).json()["durable"];
    assert_eq!(journal["state"], "good");
    assert!(journal["syncs_per_s"].as_f64().unwrap() > 0.0, "{journal}");
    assert!(journal["snapshot_bytes"].as_u64().unwrap() > 0, "{journal}");
}
