//! TLS: the files by options of both commands, renewed, and with a successor.

use std::net::SocketAddr;
use std::path::Path;

use rustix::process::Signal;

use super::flags;
use super::seat::{Seat, ask, closed, connect, exists, is_answered, unless_late};
use super::tls_peer::{self, Authority, Line};
use crate::shell::{Shell, wait_until};

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// An address as the server says it, where it has TLS.
fn address(line: &str) -> SocketAddr {
    let address = line.strip_suffix(" (TLS)").expect("by TLS");
    address.parse().expect("an address")
}

/// A new client that trusts an authority.
fn client(address: SocketAddr, authority: &Authority) -> std::io::Result<Line> {
    tls_peer::connect(address, &authority.client(None))
}

#[test]
fn large_values_and_pipelines_go_in_both_directions() {
    let shell = Shell::new();
    let authority = Authority::new();
    let (certificate, key) = authority.issue_files(shell.path(), "server");
    let files = ["--tls-cert", text(&certificate), "--tls-key", text(&key)];
    let mut seat = Seat::serve(&shell, &[&["t"], &files[..]].concat());
    let mut line = client(address(&seat.address()), &authority).expect("let in");
    let value = "v".repeat(1 << 20);
    ask(
        &mut line,
        format!("set a 0 0 1048576\r\n{value}\r\n"),
        "STORED\r\n",
    );
    let found = format!("VALUE a 0 1048576\r\n{value}\r\nEND\r\n");
    ask(&mut line, "get a\r\n", &found);
    ask(&mut line, "get a\r\n".repeat(20), found.repeat(20));
    assert_eq!(shell.run(["get", "t", "a"]).text(), value);
    ask(&mut line, "get a\r\nquit\r\n", &found);
    closed(Box::new(line));
}

#[test]
fn certificates_are_read_again_and_a_successor_has_them() {
    let shell = Shell::new();
    let (first, next) = (Authority::new(), Authority::new());
    let (certificate, key) = first.issue_files(shell.path(), "server");
    let mut seat = Seat::serve(
        &shell,
        &[
            "t",
            "--tls-cert",
            text(&certificate),
            "--tls-key",
            text(&key),
            "--listen",
            "notls:127.0.0.1:0",
        ],
    );
    let addresses = seat.addresses();
    let (safe, plain) = (address(&addresses[0]), addresses[1].clone());
    let mut open = client(safe, &first).expect("let in");
    ask(&mut open, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    next.issue_files(shell.path(), "server");
    seat.signal(Signal::HUP);
    wait_until(|| client(safe, &next).is_ok());
    assert!(client(safe, &first).is_err());
    let all = "VALUE a 0 1\r\n1\r\nEND\r\n";
    // Earlier clients are still served.
    ask(&mut open, "get a\r\n", all);
    let number = seat.number();
    seat.signal(Signal::USR1);
    wait_until(|| {
        // Anyone who of the two accepts it.
        unless_late(|| {
            client(safe, &next).is_ok_and(|mut line| is_answered(&mut line, "get a\r\n", all))
        });
        seat.number() != number
    });
    closed(Box::new(open));
    assert_eq!(seat.ended(), Some(0));
    assert_eq!(seat.addresses(), addresses);
    ask(&mut client(safe, &next).expect("let in"), "get a\r\n", all);
    ask(&mut *connect(&plain), "get a\r\n", all);
}

#[test]
fn flags_of_memcached_let_in_clients_with_a_certificate() {
    let shell = Shell::new();
    let authority = Authority::new();
    let (certificate, key) = authority.issue_files(shell.path(), "server");
    let trusted = authority.file(shell.path());
    let options = format!(
        "ssl_chain_cert={},ssl_key={},ssl_ca_cert={},ssl_verify_mode=2",
        certificate.display(),
        key.display(),
        trusted.display()
    );
    let (pid, port) = (shell.path().join(".pid"), shell.path().join(".port"));
    let mut command = flags::command(&shell, &["-p", "-1", "--table", "m", "-Z", "-o", &options]);
    command
        .args(["-P", text(&pid)])
        .env("MEMCACHED_PORT_FILENAME", &port);
    let _seat = Seat::start(command, pid);
    wait_until(|| exists(&port));
    let line = std::fs::read_to_string(&port).expect("a file");
    let number = line.trim().strip_prefix("TCP INET: ").expect("a port");
    let address: SocketAddr = format!("127.0.0.1:{number}").parse().expect("a port");
    let known = authority.client(Some(&authority.issue("ann")));
    let mut line = tls_peer::connect(address, &known).expect("let in");
    ask(&mut line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    // A client without a certificate gets nothing.
    if let Ok(mut line) = client(address, &authority) {
        let sent = std::io::Write::write_all(&mut line, b"get a\r\n");
        let mut found = [0; 1];
        let read = sent.and_then(|()| std::io::Read::read_exact(&mut line, &mut found));
        assert!(read.is_err(), "{found:?}");
    }
    let figures = |line: &mut Line, topic: &str| {
        std::io::Write::write_all(line, format!("stats{topic}\r\n").as_bytes()).expect("sent");
        let mut all = Vec::new();
        while !all.ends_with(b"END\r\n") {
            let mut byte = [0; 1];
            std::io::Read::read_exact(line, &mut byte).expect("an answer");
            all.push(byte[0]);
        }
        String::from_utf8(all).expect("text")
    };
    let settings = figures(&mut line, " settings");
    let chain = format!("STAT ssl_chain_cert {}\r\n", certificate.display());
    for line in [
        "STAT ssl_enabled yes\r\n",
        "STAT ssl_verify_mode 3\r\n",
        &chain,
    ] {
        assert!(settings.contains(line), "{line}: {settings}");
    }
    let general = figures(&mut line, "");
    assert!(general.contains("STAT ssl_new_sessions 1\r\n"), "{general}");
    // Counted when that connection is gone.
    wait_until(|| figures(&mut line, "").contains("STAT ssl_handshake_errors 1\r\n"));
    // A client may ask for what SIGHUP does.
    Authority::new().issue_files(shell.path(), "server");
    ask(&mut line, "refresh_certs\r\n", "OK\r\n");
    assert!(tls_peer::connect(address, &known).is_err());
    std::fs::write(&key, "no key").expect("written");
    let said = format!("Error {}", key.display());
    ask(&mut line, "refresh_certs\r\n", said);
}
