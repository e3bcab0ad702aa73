//! Sockets that are handed over by systemd's conventions, and notices to systemd.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::seat::{Seat, ask, connect};
use crate::shell::{Shell, wait_until};

/// The shell knows its process number, which stays the same in `exec`.
const SCRIPT: &str = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\" 3<&0 0</dev/null";

fn activated(shell: &Shell, socket: TcpListener, more: &[&str]) -> Seat {
    let pid = shell.path().join(".pid");
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, env!("CARGO_BIN_EXE_tavola"), "serve", "t"]);
    command.args(more).arg("--pid-file").arg(&pid);
    command.env("TAVOLA_DIR", shell.path());
    command.env("NOTIFY_SOCKET", shell.path().join(".notify"));
    command.stdin(Stdio::from(OwnedFd::from(socket)));
    Seat::start(command, pid)
}

/// The next notice to systemd.
fn receive_notice(notices: &UnixDatagram) -> String {
    let mut text = [0; 200];
    let size = notices.recv(&mut text).expect("a notice");
    String::from_utf8(text[..size].to_vec()).expect("text")
}

#[test]
fn a_socket_that_is_handed_over_is_served_and_handed_on() {
    let shell = Shell::new();
    let notices = UnixDatagram::bind(shell.path().join(".notify")).expect("bound");
    let patience = std::time::Duration::from_secs(60);
    notices.set_read_timeout(Some(patience)).expect("a time");
    let socket = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = socket.local_addr().expect("bound").to_string();
    // Anyone who came before the server is served, too.
    let mut early = connect(&address);
    let mut seat = activated(&shell, socket, &[]);
    assert_eq!(seat.address(), address);
    ask(&mut *early, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    assert_eq!(receive_notice(&notices), "READY=1");
    let first = seat.number();
    seat.signal(Signal::USR1);
    assert_eq!(seat.ended(), Some(0));
    let second = seat.number().expect("its number");
    assert_ne!(Some(second), first);
    assert_eq!(receive_notice(&notices), "READY=1");
    assert_eq!(receive_notice(&notices), format!("MAINPID={second}"));
    let all = "VALUE a 0 1\r\n1\r\nEND\r\n";
    ask(&mut *connect(&address), "get a\r\n", all);
    seat.signal(Signal::TERM);
    assert_eq!(receive_notice(&notices), "STOPPING=1");
    wait_until(|| seat.number().is_none());
}

#[test]
fn a_socket_open_to_all_is_refused_even_if_it_was_handed_over() {
    let shell = Shell::new();
    let socket = TcpListener::bind("0.0.0.0:0").expect("bound");
    let mut seat = activated(&shell, socket, &[]);
    assert_eq!(seat.ended(), Some(2));
    let socket = TcpListener::bind("0.0.0.0:0").expect("bound");
    let port = socket.local_addr().expect("bound").port();
    let mut seat = activated(&shell, socket, &["--insecure"]);
    assert_eq!(seat.addresses(), [format!("0.0.0.0:{port}")]);
    let address = format!("127.0.0.1:{port}");
    ask(
        &mut *connect(&address),
        "set a 0 0 1\r\n1\r\n",
        "STORED\r\n",
    );
}
