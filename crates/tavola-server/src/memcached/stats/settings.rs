//! `stats settings`.

use std::fmt::Display;
use std::sync::atomic::Ordering::Relaxed;

use tavola::Result;
use tavola_proto::Protocol;

use super::{Reporter, limit};
use crate::memcached::watch::WAITING_BYTES;
use crate::memcached::work::Work;
use crate::net::{Address, TLS_OUTPUT_BYTES};

/// Reports how the server and the table are set up. Settings that only memcached has are reported
/// as off, as 0, or as an empty list.
pub(in crate::memcached) fn settings(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    listening(work, report)?;
    serving(work, report)?;
    keeping(work, report);
    tls(work, report);
    report("num_napi_ids", &0);
    let saves = work.shared.rules.saves.as_deref();
    let memory_file = saves.map_or(work.table().path(), |saves| saves.path());
    report("memory_file", &memory_file.display());
    report("client_flags_size", &size_of::<u32>());
    Ok(())
}

fn listening(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    let stats = work.table().stats()?;
    let setup = work.meter.setup();
    let tcp = setup.addresses.iter().find_map(|address| match address {
        Address::Tcp(address) => Some(address),
        Address::Unix(_) => None,
    });
    let unix = setup.addresses.iter().find_map(|address| match address {
        Address::Unix(path) => Some(path.display().to_string()),
        Address::Tcp(_) => None,
    });
    report("maxbytes", &limit(&stats));
    report("maxconns", &setup.max_connections);
    report("tcpport", &tcp.map_or(0, |address| address.port()));
    report("udpport", &0);
    match tcp.map(|address| address.ip()) {
        Some(ip) if !ip.is_unspecified() => report("inter", &ip),
        _ => report("inter", &"NULL"),
    }
    report("verbosity", &work.shared.verbosity.load(Relaxed));
    report("oldest", &0);
    report("evictions", &on(stats.capacity.is_some()));
    report("domain_socket", &unix.as_deref().unwrap_or("NULL"));
    let mode = setup.socket_mode.unwrap_or(0o700);
    report("umask", &format_args!("{mode:o}"));
    report(
        "shutdown_command",
        &yes(work.shared.rules.shutdown.is_some()),
    );
    // Blocks become an eighth larger from class to class.
    report("growth_factor", &"1.12");
    report("chunk_size", &8);
    Ok(())
}

fn serving(work: &Work, report: &mut Reporter<'_>) -> Result<()> {
    let setup = work.meter.setup();
    report("num_threads", &work.shared.tallies.threads());
    report("num_threads_per_udp", &0);
    report("stat_key_prefix", &work.shared.prefixes.delimiter());
    report("detail_enabled", &yes(work.shared.prefixes.is_on()));
    report("reqs_per_event", &work.shared.rules.requests);
    // Without versions the unique number is a hash of the value.
    report("cas_enabled", &yes(work.table().stats()?.has_versions));
    report("tcp_backlog", &setup.backlog);
    let protocol = work.shared.rules.protocol;
    let spoken = match protocol {
        None => "auto-negotiate",
        Some(Protocol::Text) => "ascii",
        Some(Protocol::Binary) => "binary",
    };
    report("binding_protocol", &spoken);
    let asks = work.shared.rules.users.is_some();
    report(
        "auth_enabled_sasl",
        &yes(asks && protocol != Some(Protocol::Text)),
    );
    report(
        "auth_enabled_ascii",
        &yes(asks && protocol != Some(Protocol::Binary)),
    );
    report("item_size_max", &work.shared.rules.value_bytes);
    report("maxconns_fast", &yes(setup.refuses));
    report("hashpower_init", &0);
    Ok(())
}

/// Reports how memory is used, and the settings of memcached for it.
fn keeping(work: &Work, report: &mut Reporter<'_>) {
    let crawler = &work.shared.crawler;
    let idle_s = work
        .meter
        .setup()
        .idle_timeout
        .map_or(0, |time| time.as_secs());
    let figures: [(&str, &dyn Display); 26] = [
        ("slab_reassign", &"no"),
        ("slab_automove", &0),
        ("slab_automove_ratio", &"0.00"),
        ("slab_automove_window", &0),
        ("slab_chunk_max", &16_352),
        ("lru_crawler", &yes(crawler.is_on())),
        ("lru_crawler_sleep", &crawler.sleep_us.load(Relaxed)),
        ("lru_crawler_tocrawl", &crawler.to_crawl.load(Relaxed)),
        ("tail_repair_time", &0),
        ("flush_enabled", &yes(work.shared.rules.flush)),
        ("dump_enabled", &yes(work.shared.rules.dumps)),
        ("hash_algorithm", &"rapidhash"),
        ("lru_maintainer_thread", &"no"),
        ("lru_segmented", &"no"),
        ("hot_lru_pct", &0),
        ("warm_lru_pct", &0),
        ("hot_max_factor", &"0.00"),
        ("warm_max_factor", &"0.00"),
        ("temp_lru", &"no"),
        ("temporary_ttl", &0),
        ("idle_timeout", &idle_s),
        ("watcher_logbuf_size", &WAITING_BYTES),
        ("worker_logbuf_size", &0),
        ("read_buf_mem_limit", &0),
        ("track_sizes", &"no"),
        ("inline_ascii_response", &"no"),
    ];
    for (name, value) in figures {
        report(name, value);
    }
}

fn tls(work: &Work, report: &mut Reporter<'_>) {
    let tls = work.meter.setup().tls();
    let files = tls.map(|tls| tls.files());
    let chain = files.map(|files| files.certificates.display());
    let key = files.map(|files| files.key.display());
    let clients = files.and_then(|files| files.clients.as_ref());
    // As OpenSSL numbers them: 1 asks clients for a certificate, and 2 more requires one.
    let verifies = files.map_or(0, |files| match &files.clients {
        None => 0,
        Some(_) if files.is_optional => 1,
        Some(_) => 3,
    });
    let least = match files.is_some_and(|files| files.is_newest_only) {
        true => "tlsv1.3",
        false => "tlsv1.2",
    };
    report("ssl_enabled", &yes(tls.is_some()));
    report_or(report, "ssl_chain_cert", chain, "(null)");
    report_or(report, "ssl_key", key, "(null)");
    report("ssl_verify_mode", &verifies);
    // 1 is PEM.
    report("ssl_keyformat", &1);
    report("ssl_ciphers", &"NULL");
    report_or(
        report,
        "ssl_ca_cert",
        clients.map(|path| path.display()),
        "NULL",
    );
    report("ssl_wbuf_size", &TLS_OUTPUT_BYTES);
    report("ssl_session_cache", &yes(tls.is_some()));
    report("ssl_kernel_tls", &"no");
    report("ssl_min_version", &least);
}

fn report_or(report: &mut Reporter<'_>, name: &str, value: Option<impl Display>, none: &str) {
    match value {
        Some(value) => report(name, &value),
        None => report(name, &none),
    }
}

fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
