//! The results on a terminal.

use std::fmt::Write as _;

use tavola_bench::compare::report::{Results, Row};

/// Tables, one a case, the best first; then who took no part, and how steady the machine was.
pub(super) fn summary(results: &Results) -> String {
    let mut text = String::new();
    let machine = &results.machine;
    let _ = writeln!(
        text,
        "{} × {}, {} GiB, Linux {}, {}",
        machine.cpus,
        machine.cpu,
        machine.memory_bytes >> 30,
        machine.kernel,
        machine.system
    );
    for case in cases(&results.rows) {
        table(&mut text, results, &case);
    }
    torment(&mut text, results);
    for left in &results.left_out {
        let phase = match left.phase.as_str() {
            "" => String::new(),
            phase => format!(", {phase}"),
        };
        let (workload, title) = (&left.workload, &left.title);
        let _ = writeln!(
            text,
            "without {}: {workload} {title}{phase}: {}",
            left.peer, left.why
        );
    }
    for peer in &results.peers {
        if let Some(why) = &peer.skipped {
            let _ = writeln!(text, "not here: {}: {why}", peer.name);
        }
    }
    if !results.rows.is_empty() {
        text.push_str(&noise(results));
    }
    text
}

/// A line a trial, the trials one after the other.
fn torment(text: &mut String, results: &Results) {
    let mut trials: Vec<&str> = Vec::new();
    for row in &results.torment {
        if !trials.contains(&row.trial.as_str()) {
            trials.push(&row.trial);
        }
    }
    for trial in trials {
        let _ = writeln!(text, "\ntorment  {trial}");
        for row in results.torment.iter().filter(|row| row.trial == trial) {
            let _ = writeln!(text, "   {:<14}{:<16}{}", row.peer, row.outcome, row.detail);
        }
    }
}

fn noise(results: &Results) -> String {
    let noise = &results.noise;
    match &noise.why {
        Some(why) => format!("These figures cannot be relied on: {why}."),
        None => format!(
            "The machine was steady: {} looks at a fixed loop and a fixed walk through memory \
             varied by {:.0} % and {:.0} %.",
            noise.samples,
            noise.spin_spread * 100.0,
            noise.walk_spread * 100.0
        ),
    }
}

/// Workload, title and phase, in the order they come.
fn cases(rows: &[Row]) -> Vec<(String, String, String)> {
    let mut cases = Vec::new();
    for row in rows {
        let case = (row.workload.clone(), row.title.clone(), row.phase.clone());
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}

fn table(
    text: &mut String,
    results: &Results,
    (workload, title, phase): &(String, String, String),
) {
    let mut rows: Vec<&Row> = results
        .rows
        .iter()
        .filter(|row| &row.workload == workload && &row.title == title && &row.phase == phase)
        .collect();
    rows.sort_by(|one, other| one.median.total_cmp(&other.median));
    if rows[0].is_rate() {
        rows.reverse();
    }
    let _ = writeln!(text, "\n{workload}  {title}: {phase}");
    for row in rows {
        let peer = results.peers.iter().find(|peer| peer.name == row.peer);
        let title = peer.map_or(row.peer.as_str(), |peer| peer.title.as_str());
        let _ = writeln!(text, "   {title:<28}{}", figures(row));
    }
}

fn figures(row: &Row) -> String {
    let mut text = match row.latency.p50_ns {
        Some(_) => latencies(row),
        None => {
            let (factor, unit) = scale(&row.unit);
            let of = |value: f64| value / factor;
            let mut text = format!("{:>9.3} {unit}", of(row.median));
            if row.runs.len() > 1 {
                let _ = write!(text, "  ({:.3}–{:.3})", of(row.least), of(row.most));
            }
            text
        }
    };
    if let Some(bytes) = row.bytes_per_key {
        let _ = write!(text, "  {bytes:.0} B a key");
    }
    text.push_str(&cpu(row));
    if let Some(server) = row.server() {
        let _ = write!(text, "  server: {server}");
    }
    if row.shares.len() > 1 {
        let percent = |share: &f64| format!("{:.0}", share * 100.0);
        let parts: Vec<String> = row.shares.iter().map(percent).collect();
        let _ = write!(text, "  parts {} %", parts.join(" + "));
    }
    if let Some(ns) = row.pause_ns.filter(|_| row.workload == "e") {
        let _ = write!(text, "  pause {:.1} ms", ns as f64 / 1e6);
    }
    if let Some(note) = &row.note {
        let _ = write!(text, "  {note}");
    }
    text
}

/// CPU time an operation; with a server its memory as well.
fn cpu(row: &Row) -> String {
    let Some(own) = row.cpu_us_per_op else {
        return String::new();
    };
    let mut text = match row.server_cpu_us_per_op {
        Some(server) => format!("  CPU {own:.2} + {server:.2} µs (client + server)"),
        None => format!("  CPU {own:.2} µs"),
    };
    if let (Some(client), Some(server)) = (row.peak_rss_bytes, row.server_bytes) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let _ = write!(text, "  memory {:.1} + {:.1} MiB", mib(client), mib(server));
    }
    text
}

fn latencies(row: &Row) -> String {
    let ns = |value: Option<u64>| value.map_or(String::new(), |ns| format!("{ns} ns"));
    let latency = &row.latency;
    format!(
        "p50 {:>11}  p99 {:>11}  p99.9 {:>12}  max {:>13}",
        ns(latency.p50_ns),
        ns(latency.p99_ns),
        ns(latency.p999_ns),
        ns(latency.max_ns)
    )
}

fn scale(unit: &str) -> (f64, &str) {
    match unit {
        "ops/s" => (1e6, "M/s"),
        "us/op" => (1.0, "µs"),
        unit => (1.0, unit),
    }
}

#[cfg(test)]
mod tests {
    use tavola_bench::compare::job::{Placement, Transport};
    use tavola_bench::compare::report::PeerRow;

    use super::*;

    #[test]
    fn the_best_stands_first_and_what_is_missing_is_told() {
        let row = |peer: &str, median: f64| Row {
            workload: "e".to_owned(),
            title: "1 M keys".to_owned(),
            phase: "get".to_owned(),
            peer: peer.to_owned(),
            unit: "ops/s".to_owned(),
            median,
            ..Row::default()
        };
        let results = Results {
            rows: vec![row("slow", 1e6), row("fast", 5e6)],
            peers: vec![PeerRow {
                name: "gone".to_owned(),
                skipped: Some("no header".to_owned()),
                ..PeerRow::default()
            }],
            ..Results::default()
        };
        let text = summary(&results);
        let (fast, slow) = (text.find("fast").unwrap(), text.find("slow").unwrap());
        assert!(fast < slow, "{text}");
        assert!(
            text.contains("5.000 M/s") && text.contains("gone: no header"),
            "{text}"
        );
    }

    #[test]
    fn parts_and_the_longest_pause_stand_beside_the_rate() {
        let row = Row {
            workload: "e".to_owned(),
            unit: "ops/s".to_owned(),
            median: 1e6,
            shares: vec![0.25, 0.75],
            pause_ns: Some(1_500_000),
            ..Row::default()
        };
        let text = figures(&row);
        assert!(
            text.contains("1.000 M/s  parts 25 + 75 %  pause 1.5 ms"),
            "{text}"
        );
    }

    #[test]
    fn a_server_is_counted_beside_its_client() {
        let mut row = Row {
            unit: "us/op".to_owned(),
            median: 20.0,
            cpu_us_per_op: Some(12.5),
            peak_rss_bytes: Some(3 << 20),
            ..Row::default()
        };
        assert!(figures(&row).ends_with("20.000 µs  CPU 12.50 µs"));
        row.server_cpu_us_per_op = Some(7.25);
        row.server_bytes = Some(9 << 20);
        let text = figures(&row);
        let told = "CPU 12.50 + 7.25 µs (client + server)  memory 3.0 + 9.0 MiB";
        assert!(text.ends_with(told), "{text}");
        row.placement = Some(Placement::One);
        row.transport = Some(Transport::Unix);
        assert!(figures(&row).ends_with("MiB  server: Unix, one CPU"));
    }

    #[test]
    fn where_less_is_better_the_least_stands_first() {
        let row = |peer: &str, median: f64| Row {
            unit: "us/op".to_owned(),
            peer: peer.to_owned(),
            median,
            ..Row::default()
        };
        let results = Results {
            rows: vec![row("slow", 9.0), row("fast", 2.0)],
            ..Results::default()
        };
        let text = summary(&results);
        assert!(
            text.find("fast").unwrap() < text.find("slow").unwrap(),
            "{text}"
        );
    }
}
