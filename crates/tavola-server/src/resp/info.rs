//! INFO: the figures that there are, by the names that Redis has for them.

use std::fmt::{Display, Write};

use tavola_proto::resp::answer;

use super::VERSION;
use super::call::{After, Call, Done, is};
use super::config::policy;
use super::refusal::Refusal;
use crate::net::Address;

/// The bytes of the head of the reply.
const HEAD_BYTES: usize = 64;

/// The sections, in their order.
const SECTIONS: [(&str, Section); 6] = [
    ("server", server),
    ("clients", clients),
    ("memory", memory),
    ("stats", stats),
    ("replication", replication),
    ("keyspace", keyspace),
];

type Section = fn(&Call<'_>, &mut Report) -> Result<(), Refusal>;

/// The text that is written.
#[derive(Default)]
struct Report(String);

impl Report {
    fn line(&mut self, name: &str, value: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "{name}:{value}\r\n");
    }
}

pub(super) fn info(call: &mut Call<'_>) -> Done {
    let asked = call.args.after(1);
    let is_all = asked.len() == 0
        || asked.clone().any(|word| {
            ["all", "default", "everything"]
                .iter()
                .any(|all| is(word, all))
        });
    let mut report = Report::default();
    for (name, section) in SECTIONS {
        if !is_all && !asked.clone().any(|word| is(word, name)) {
            continue;
        }
        if !report.0.is_empty() {
            report.0.push_str("\r\n");
        }
        let title = name[..1].to_uppercase() + &name[1..];
        let _ = write!(report.0, "# {title}\r\n");
        section(call, &mut report)?;
    }
    let text = report.0;
    answer::text(
        call.output.room(HEAD_BYTES + text.len()),
        call.client.version,
        &text,
    );
    Ok(After::NextCommand)
}

fn server(call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    let port = call.work.meter.setup().addresses.get(call.client.listener);
    let port = match port {
        Some(Address::Tcp(address)) => address.port(),
        Some(Address::Unix(_)) | None => 0,
    };
    let uptime_s = call.work.shared.started.elapsed().as_secs();
    report.line("redis_version", VERSION);
    report.line("redis_mode", "standalone");
    report.line("tavola_version", env!("CARGO_PKG_VERSION"));
    report.line("os", "Linux");
    report.line("arch_bits", usize::BITS);
    report.line("process_id", std::process::id());
    report.line("tcp_port", port);
    report.line("uptime_in_seconds", uptime_s);
    report.line("uptime_in_days", uptime_s / 86_400);
    Ok(())
}

fn clients(call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    let net = call.work.meter.sum();
    report.line("connected_clients", net.current_connections);
    report.line("maxclients", call.work.meter.setup().max_connections);
    report.line("blocked_clients", 0);
    Ok(())
}

fn memory(call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    let stats = call.work.table().stats()?;
    report.line("used_memory", stats.resident_bytes);
    report.line("used_memory_dataset", stats.payload_bytes);
    report.line("maxmemory", stats.capacity.unwrap_or(0));
    report.line("maxmemory_policy", policy(stats.capacity.is_some()));
    Ok(())
}

fn stats(call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    let (net, stats) = (call.work.meter.sum(), call.work.table().stats()?);
    let tallies = &call.work.shared.tallies;
    report.line("total_connections_received", net.total_connections);
    report.line(
        "total_commands_processed",
        tallies.sum(|tally| &tally.commands),
    );
    report.line("total_net_input_bytes", net.bytes_read);
    report.line("total_net_output_bytes", net.bytes_written);
    report.line("rejected_connections", net.rejected_connections);
    report.line("expired_keys", stats.expired);
    report.line("evicted_keys", stats.evicted_new + stats.evicted_old);
    report.line("keyspace_hits", tallies.sum(|tally| &tally.hits));
    report.line("keyspace_misses", tallies.sum(|tally| &tally.misses));
    Ok(())
}

fn replication(_call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    report.line("role", "master");
    report.line("connected_slaves", 0);
    Ok(())
}

fn keyspace(call: &Call<'_>, report: &mut Report) -> Result<(), Refusal> {
    let keys = call.work.table().len()?;
    if keys > 0 {
        report.line("db0", format!("keys={keys},expires=0,avg_ttl=0"));
    }
    Ok(())
}
