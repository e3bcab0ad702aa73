//! Connections by TLS: the same promises, and who is let in.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use tavola_server::{Listen, Options, Server, Tls, TlsFiles};
use tempfile::TempDir;

use crate::lines::{
    LONG, WAITS, ask, eventually, exactly, is_answered, line, port, reads_of_others, start,
    to_the_end, unless_late,
};
use crate::tls_peer::{Authority, Line, connect};

/// A server by TLS, and all that it takes.
struct Safe {
    folder: TempDir,
    authority: Authority,
    server: Server,
    tls: Arc<Tls>,
}

impl Safe {
    /// Shows its certificate and asks for none.
    fn start(options: Options) -> Safe {
        Safe::with(options, |_, files| files)
    }

    fn with(options: Options, change: impl FnOnce(&Authority, TlsFiles) -> TlsFiles) -> Safe {
        let folder = tempfile::tempdir().expect("a folder");
        let authority = Authority::new();
        let (certificate, key) = authority.issue_files(folder.path(), "server");
        let files = change(&authority, TlsFiles::new(certificate, key));
        let tls = Arc::new(Tls::read(files).expect("certificates"));
        let any = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
        let server = start(options.threads(1).listen_tls(any, &tls));
        Safe {
            folder,
            authority,
            server,
            tls,
        }
    }

    fn connect(&self) -> Line {
        self.connect_as(&self.authority.client(None))
            .expect("let in")
    }

    fn connect_as(&self, config: &Arc<ClientConfig>) -> std::io::Result<Line> {
        connect(port(&self.server), config)
    }

    /// Only who shows a paper of the server's own authority is let in.
    fn strict(is_optional: bool) -> Safe {
        let papers = tempfile::tempdir().expect("a folder");
        Safe::with(Options::new(), |authority, files| TlsFiles {
            clients: Some(authority.file(papers.path())),
            is_optional,
            ..files
        })
    }
}

/// Whether a client is served.
fn is_let_in(line: std::io::Result<Line>) -> bool {
    let Ok(mut line) = line else {
        return false;
    };
    // In TLS 1.3 the client is done before the server has looked at what it shows.
    let mut found = [0; 6];
    let asked = line.write_all(b"hello\n");
    asked.and_then(|()| line.read_exact(&mut found)).is_ok()
}

#[test]
fn requests_are_answered_by_tls() {
    let safe = Safe::start(Options::new());
    let mut client = safe.connect();
    assert_eq!(ask(&mut client, "one"), "one");
    assert_eq!(ask(&mut client, "close"), "bye");
    // The end is said, not only come to.
    assert_eq!(to_the_end(&mut client), b"");
    drop(client);
    eventually("closed", || safe.server.counters().current_connections == 0);
    let counters = safe.server.counters();
    assert_eq!((counters.bytes_read, counters.bytes_written), (10, 8));
    assert_eq!(counters.tls_sessions, 1);
    assert_eq!((counters.tls_handshake_errors, counters.tls_errors), (0, 0));
}

#[test]
fn both_versions_are_spoken_and_a_session_is_gone_on_with() {
    let safe = Safe::start(Options::new());
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = safe.authority.client_of(version);
        let before = safe.server.counters().tls_sessions;
        for _ in 0..3 {
            let mut client = safe.connect_as(&config).expect("let in");
            assert_eq!(ask(&mut client, "one"), "one");
            let spoken = client.conn.protocol_version();
            assert_eq!(spoken, Some(version.version));
        }
        assert_eq!(safe.server.counters().tls_sessions, before + 1);
    }
}

#[test]
fn large_values_go_in_both_directions() {
    let safe = Safe::start(Options::new().output_bound(100_000));
    let mut client = safe.connect();
    let value = vec![3; 5_000_000];
    client.write_all(b"value 5000000\n").expect("sent");
    client.write_all(&value).expect("sent");
    client.write_all(b"\n").expect("sent");
    assert_eq!(line(&mut client), "5000000 15000000");
    client.write_all(b"big 5000000\nlast\n").expect("sent");
    let mut expected = vec![b'b'; 5_000_000];
    expected.extend(b"\nlast\n");
    assert!(exactly(&mut client, expected.len()) == expected);
}

#[test]
fn pipelines_in_records_of_any_size_are_answered_in_order() {
    let safe = Safe::start(Options::new());
    let requests: String = (0..400)
        .map(|number| format!("request {number}\n{}", "value 3\nabc\n".repeat(number % 2)))
        .collect();
    let answers: String = (0..400)
        .map(|number| format!("request {number}\n{}", "3 294\n".repeat(number % 2)))
        .collect();
    for step in [1, 7, 64, 4096, requests.len()] {
        let mut client = safe.connect();
        for part in requests.as_bytes().chunks(step) {
            client.write_all(part).expect("sent");
        }
        let found = exactly(&mut client, answers.len());
        assert!(found == answers.as_bytes(), "step {step}");
    }
}

#[test]
fn a_client_that_never_reads_is_not_read_from_and_others_are_served() {
    let safe = Safe::start(Options::new().output_bound(100_000));
    let mut deaf = safe.connect();
    let pause = Duration::from_millis(300);
    deaf.sock.set_write_timeout(Some(pause)).expect("set");
    let requests = "big 200\n".repeat(1000);
    let mut sent = 0;
    let mut other = safe.connect();
    assert_eq!(ask(&mut other, "hello"), "hello");
    // A server that stood still for a while has not stopped to read.
    let start = Instant::now();
    while deaf.write_all(requests.as_bytes()).is_ok() || reads_of_others(&safe.server, &mut other) {
        sent += requests.len();
        let is_bounded = sent < 1 << 30 && start.elapsed() < 3 * LONG;
        assert!(is_bounded, "read without end");
    }
}

#[test]
fn a_client_goes_by_its_own_authority_alone() {
    let safe = Safe::start(Options::new());
    let refused = safe.connect_as(&Authority::new().client(None));
    assert_eq!(
        refused.expect_err("not trusted").kind(),
        ErrorKind::InvalidData
    );
    assert_eq!(ask(&mut safe.connect(), "hello"), "hello");
    let count = || safe.server.counters().tls_handshake_errors;
    eventually("counted", || count() == 1);
}

#[test]
fn clients_show_a_certificate_where_they_must() {
    let (strict, mild) = (Safe::strict(false), Safe::strict(true));
    for (safe, bare) in [(strict, false), (mild, true)] {
        let trusted = &safe.authority;
        let known = trusted.client(Some(&trusted.issue("ann")));
        assert!(is_let_in(safe.connect_as(&known)));
        let stranger = Authority::new().issue("ann");
        let unknown = trusted.client(Some(&stranger));
        assert!(!is_let_in(safe.connect_as(&unknown)));
        assert_eq!(is_let_in(safe.connect_as(&trusted.client(None))), bare);
    }
}

#[test]
fn what_is_not_tls_ends_its_connection_and_no_other() {
    let safe = Safe::start(Options::new());
    let mut other = safe.connect();
    for bytes in [&b"get a\r\n"[..], b"\x16\x03\x01\xff\xff\0", &[0x80; 300]] {
        let mut plain = TcpStream::connect(port(&safe.server)).expect("connects");
        plain.write_all(bytes).expect("sent");
        let mut rest = Vec::new();
        // An alert at most, which is no answer to it.
        let _ = plain.read_to_end(&mut rest);
        assert!(rest.len() < 20, "{rest:?}");
        assert_eq!(ask(&mut other, "hello"), "hello");
    }
    // In the middle of what has begun well.
    let mut client = safe.connect();
    assert_eq!(ask(&mut client, "hello"), "hello");
    let record = [&b"\x17\x03\x03\0\x40"[..], &[7; 0x40]].concat();
    client.sock.write_all(&record).expect("sent");
    let mut rest = Vec::new();
    assert!(client.read_to_end(&mut rest).is_err());
    assert_eq!(ask(&mut other, "hello"), "hello");
    eventually("closed", || safe.server.counters().current_connections == 1);
    let counters = safe.server.counters();
    assert_eq!((counters.tls_handshake_errors, counters.tls_errors), (3, 1));
}

#[test]
fn a_handshake_that_stalls_is_cut_off() {
    let timeout = Duration::from_secs(5);
    let safe = Safe::start(Options::new().handshake_timeout(timeout));
    let mut other = safe.connect();
    let begun = Instant::now();
    let mut stalled: Vec<TcpStream> = (0..20)
        .map(|_| TcpStream::connect(port(&safe.server)).expect("connects"))
        .collect();
    for (number, client) in stalled.iter_mut().enumerate() {
        if number % 2 == 0 {
            // Fails if it was cut off already.
            let _ = client.write_all(b"\x16\x03\x01\x01\0\x01");
        }
    }
    for client in &mut stalled {
        client.set_read_timeout(Some(LONG)).expect("set");
        let mut rest = Vec::new();
        // A reset is an end as well.
        let ended = client.read_to_end(&mut rest);
        let is_end =
            ended.map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true);
        assert!(is_end && rest.is_empty(), "{rest:?}");
    }
    assert!(begun.elapsed() >= timeout);
    // The one that is through may take its time.
    assert_eq!(ask(&mut other, "hello"), "hello");
    assert_eq!(safe.server.counters().tls_handshake_errors, 20);
}

#[test]
fn certificates_are_read_again_for_later_connections() {
    let safe = Safe::start(Options::new());
    let mut before = safe.connect();
    let next = Authority::new();
    let folder = safe.folder.path();
    next.issue_files(folder, "server");
    safe.tls.reread().expect("certificates");
    assert_eq!(ask(&mut before, "hello"), "hello");
    assert!(is_let_in(safe.connect_as(&next.client(None))));
    assert!(!is_let_in(safe.connect_as(&safe.authority.client(None))));
    // What cannot be served with changes nothing.
    let key = safe.tls.files().key.clone();
    let good = std::fs::read(&key).expect("a key");
    let other = Authority::new();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (_, foreign) = other.issue_files(elsewhere.path(), "server");
    for bad in [std::fs::read(foreign).expect("a key"), Vec::new()] {
        std::fs::write(&key, bad).expect("written");
        let said = safe.tls.reread().expect_err("no such key").to_string();
        assert!(said.starts_with(&key.display().to_string()), "{said}");
        assert!(is_let_in(safe.connect_as(&next.client(None))));
    }
    std::fs::write(&key, good).expect("written");
    safe.tls.reread().expect("certificates");
}

#[test]
fn a_drain_says_the_end_and_waits_for_handshakes() {
    unless_late(WAITS, || {
        let safe = Safe::start(Options::new());
        let mut idle = safe.connect();
        assert_eq!(ask(&mut idle, "hello"), "hello");
        let address = port(&safe.server);
        // Its handshake begins when the drain does.
        let late = TcpStream::connect(address).expect("connects");
        late.set_read_timeout(Some(LONG)).expect("set");
        eventually("accepted", || safe.server.counters().total_connections == 2);
        let config = safe.authority.client(None);
        let Safe { server, .. } = safe;
        let draining = std::thread::spawn(move || server.drain(LONG));
        // An end that is not said is an error to this client.
        assert_eq!(to_the_end(&mut idle), b"");
        let name = rustls::pki_types::ServerName::from(address.ip());
        let client = rustls::ClientConnection::new(config, name).expect("a client");
        let mut late = rustls::StreamOwned::new(client, late);
        let is_answered = is_answered(&mut late, "hello");
        if is_answered {
            assert_eq!(to_the_end(&mut late), b"");
            assert!(draining.join().expect("no panic").complete);
        }
        is_answered
    });
}

#[test]
fn a_connection_above_the_limit_gets_nothing_by_tls() {
    let safe = Safe::start(Options::new().max_connections(1).refuse_with(b"too many\n"));
    let mut first = safe.connect();
    assert_eq!(ask(&mut first, "hello"), "hello");
    let mut second = TcpStream::connect(port(&safe.server)).expect("connects");
    assert_eq!(to_the_end(&mut second), b"");
}
