//! What is listened on.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tavola_server::{Address, Error, Listen, Options, from_environment};

use crate::lines::{
    LONG, Lines, WAITS, ask, connect, eventually, is_answered, options, port, start, unless_late,
};

/// How long one server waits for another that starts in the same folder.
const FOLDER_WAIT: Duration = Duration::from_secs(1);

/// Names the child of the test of inherited sockets.
const CHILD: &str = "sockets::handed_over_by_environment";

fn unix(path: &Path, mode: u32) -> Options {
    let path = path.to_path_buf();
    Options::new()
        .threads(1)
        .listen(Listen::Unix { path, mode })
}

fn refused(options: Options) -> Error {
    options.start(Lines::default()).expect_err("does not start")
}

/// What a dead server leaves. A child that another test is just starting holds the socket for a
/// moment longer.
fn leave_stale(path: &Path) {
    drop(UnixListener::bind(path).expect("bound"));
    eventually("stale", || UnixStream::connect(path).is_err());
}

#[test]
fn a_unix_socket_has_its_mode_and_goes_with_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    for mode in [0o600, 0o666, 0o770] {
        let server = start(unix(&path, mode));
        let found = fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(found & 0o777, mode);
        assert_eq!(
            ask(&mut UnixStream::connect(&path).expect("connects"), "a"),
            "a"
        );
        server.stop();
        assert!(!path.exists());
    }
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    leave_stale(&path);
    assert!(path.exists());
    let server = start(unix(&path, 0o700));
    let error = refused(unix(&path, 0o700));
    assert!(matches!(error, Error::AddressInUse { .. }), "{error}");
    assert!(error.to_string().contains("stop it, or choose another"));
    assert_eq!(
        ask(&mut UnixStream::connect(&path).expect("connects"), "a"),
        "a"
    );
    drop(server);
    assert!(!path.exists());
}

#[test]
fn of_servers_that_start_at_once_one_wins() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    for _ in 0..1000 {
        leave_stale(&path);
        let begun = Instant::now();
        let servers: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| unix(&path, 0o700).start(Lines::default())))
                .collect();
            starts
                .into_iter()
                .map(|one| one.join().expect("no panic"))
                .collect()
        });
        let winners = servers.iter().filter(|one| one.is_ok()).count();
        if winners != 1 && begun.elapsed() >= FOLDER_WAIT {
            // One that waits for another for that long continues without it: this machine stood
            // still.
            drop(servers);
            let _ = fs::remove_file(&path);
            continue;
        }
        assert_eq!(winners, 1);
        assert_eq!(
            ask(&mut UnixStream::connect(&path).expect("connects"), "a"),
            "a"
        );
    }
}

#[test]
fn what_is_no_socket_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, "precious").expect("written");
    let error = refused(unix(&path, 0o700));
    assert!(matches!(error, Error::NotASocket { .. }), "{error}");
    assert_eq!(fs::read(&path).expect("still there"), b"precious");
    let long = folder.path().join("x".repeat(200));
    assert!(matches!(refused(unix(&long, 0o700)), Error::BadPath { .. }));
    let nowhere = folder.path().join("no/folder/socket");
    assert!(matches!(
        refused(unix(&nowhere, 0o700)),
        Error::BadPath { .. }
    ));
}

#[test]
fn unusable_addresses_are_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("bound");
    let taken = taken.local_addr().map(|address| (taken, address));
    let (_taken, address) = taken.expect("an address");
    let error = refused(Options::new().listen(Listen::Tcp(address)));
    assert!(matches!(error, Error::AddressInUse { .. }), "{error}");
    let foreign: SocketAddr = "192.0.2.1:0".parse().expect("an address");
    let error = refused(Options::new().listen(Listen::Tcp(foreign)));
    assert!(
        matches!(error, Error::AddressNotAvailable { .. }),
        "{error}"
    );
    assert!(matches!(refused(Options::new()), Error::NothingToListenOn));
    let many = options().max_connections(usize::MAX / 2);
    assert!(matches!(refused(many), Error::FileLimit { .. }));
}

#[test]
fn sockets_that_were_handed_over_are_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = tcp.local_addr().expect("bound");
    let unix = UnixListener::bind(&path).expect("bound");
    let options = Options::new().threads(1);
    let options = options.listen(Listen::Descriptor(tcp.into()));
    let server = start(options.listen(Listen::Descriptor(unix.into())));
    assert_eq!(server.addresses()[0], Address::Tcp(address));
    assert_eq!(server.addresses()[1], Address::Unix(path.clone()));
    assert_eq!(ask(&mut connect(&server), "a"), "a");
    assert_eq!(
        ask(&mut UnixStream::connect(&path).expect("connects"), "b"),
        "b"
    );
    server.stop();
    // Anyone who made the file is to remove it.
    assert!(path.exists());
}

#[test]
fn descriptors_that_do_not_listen_are_refused() {
    let (one, _other) = UnixStream::pair().expect("a pair");
    let file = fs::File::open("/dev/null").expect("is there");
    let descriptors: [OwnedFd; 2] = [one.into(), file.into()];
    for descriptor in descriptors {
        let options = Options::new().listen(Listen::Descriptor(descriptor));
        assert!(matches!(refused(options), Error::NotListening { .. }));
    }
}

#[test]
fn a_successor_takes_over_without_a_connection_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let unix = Listen::Unix {
        path: path.clone(),
        mode: 0o700,
    };
    let mut old = start(options().listen(unix));
    let address = port(&old);
    let mut sockets = Options::new().threads(1);
    for socket in old.sockets().expect("copied") {
        sockets = sockets.listen(Listen::Succeeded(socket));
    }
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut count = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) || count < 10 {
                unless_late(WAITS, || {
                    let mut client = TcpStream::connect(address).expect("never refused");
                    client.set_read_timeout(Some(LONG)).expect("set");
                    is_answered(&mut client, "a")
                });
                count += 1;
            }
        });
        let new = start(sockets);
        old.hand_over();
        assert!(old.drain(LONG).complete);
        assert!(path.exists());
        let mut client = UnixStream::connect(&path).expect("connects");
        assert_eq!(ask(&mut client, "b"), "b");
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        asking.join().expect("no panic");
        assert!(new.counters().total_connections > 0);
    });
    // The file was the successor's to remove.
    assert!(!path.exists());
}

/// Runs alone in a child of the next test, which hands a socket over; else nothing is handed over.
#[test]
fn handed_over_by_environment() {
    let sockets = from_environment().expect("makes sense");
    let Ok(address) = std::env::var("TAVOLA_TEST_ADDRESS") else {
        assert!(sockets.is_empty());
        return;
    };
    assert_eq!(sockets.len(), 1);
    assert!(from_environment().expect("makes sense").is_empty());
    let mut options = Options::new().threads(1);
    for socket in sockets {
        options = options.listen(socket);
    }
    let server = start(options);
    assert_eq!(server.addresses()[0].to_string(), address);
    assert_eq!(ask(&mut connect(&server), "a"), "a");
}

#[test]
fn socket_activation_works() {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = tcp.local_addr().expect("bound").to_string();
    let own = std::env::current_exe().expect("known");
    // The shell knows its process number, which stays the same in `exec`.
    let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" --exact \"$1\" 3<&0 0</dev/null";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(own)
        .arg(CHILD)
        .env("TAVOLA_TEST_ADDRESS", address)
        .stdin(Stdio::from(OwnedFd::from(tcp)))
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// A client that went without a word, as when its machine lost power, is known by nothing else.
#[test]
fn the_system_asks_silent_clients_whether_they_live() {
    let server = start(options());
    let mut client = connect(&server);
    assert_eq!(ask(&mut client, "a"), "a");
    let here = format!(":{:04X}", port(&server).port());
    eventually("a timer of keepalive", || {
        let table = fs::read_to_string("/proc/net/tcp").expect("is there");
        table.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // Established (01), and the timer of keepalive (02) runs.
            fields[1].ends_with(&here) && fields[3] == "01" && fields[5].starts_with("02:")
        })
    });
}
