//! `clients`: tavola-client beside other clients of memcached.

use super::{Shell, number, words};

#[test]
fn this_client_is_measured_beside_others() {
    let shell = Shell::new();
    let lines = shell.lines(&words("clients --json --repeat 2 --millis 5 --cpus one"));
    if !lines[0]["left_out"].is_null() {
        eprintln!("left out: {}", lines[0]["left_out"]);
        return;
    }
    let (told, lines): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|line| line["load"].is_null());
    let mut peers = vec!["libmemcached"];
    match told.first() {
        Some(line) => eprintln!("left out: {}", line["left_out"]),
        None => peers.push("Cache::Memcached::Fast"),
    }
    let loads = ["wait", "joined", "mget", "mget-4", "line", "sets", "batch"];
    let runs: Vec<_> = { lines.iter() }
        .map(|line| {
            (
                line["load"].as_str().unwrap(),
                line["peer"].as_str().unwrap(),
            )
        })
        .collect();
    let wanted = loads.map(|load| peers.iter().map(|peer| (load, *peer)).collect());
    let wanted: Vec<_> = Vec::<Vec<_>>::from(wanted).concat();
    assert_eq!(runs, [wanted.clone(), wanted].concat());
    for line in &lines {
        assert!(number(line, "us") > 0.0 && number(line, "their_us") > 0.0);
        assert!(number(line, "least") <= number(line, "most"));
        assert_eq!(number(line, "rounds"), 2.0);
    }
}
