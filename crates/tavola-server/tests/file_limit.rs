//! Too few open files: a process of its own, as the limit is the process's.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::ClockId;
use tavola_server::{Address, Listen, Options, Output, Peer, Served, Service, Thread, Worker};

struct Echo;

impl Service for Echo {
    type Worker = Echo;

    fn worker(&self, _thread: &Thread) -> Echo {
        Echo
    }
}

impl Worker for Echo {
    type Session = ();

    fn open(&mut self, _peer: &Peer) {}

    fn serve(&mut self, _session: &mut (), input: &[u8], output: &mut Output) -> Served {
        output.extend(input);
        Served::all(input)
    }
}

fn ask(client: &mut TcpStream) -> std::io::Result<()> {
    client.write_all(b"a")?;
    client.read_exact(&mut [0])
}

fn set_limit(current: u64) {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(current);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("lower than the hard limit");
}

/// The time that all threads of this process had a processor.
fn busy_time() -> Duration {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Opens the status of the thread that accepts connections, which later has no file to spare.
fn accept_status() -> File {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a list of threads");
    let mut paths = tasks.map(|task| task.expect("a thread").path());
    let is_acceptor = |path: &PathBuf| {
        let name = std::fs::read_to_string(path.join("comm"));
        name.is_ok_and(|name| name == "tavola-accept\n")
    };
    let path = paths.find(is_acceptor).expect("a thread of the server");
    File::open(path.join("status")).expect("it runs")
}

/// How often a thread went to sleep.
fn sleeps(status: &mut File) -> u64 {
    let mut text = String::new();
    status.rewind().expect("a file");
    status.read_to_string(&mut text).expect("it runs");
    let mut lines = text.lines();
    let switches = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    let switches = switches.expect("a field of it").trim();
    switches.parse().expect("a number")
}

#[test]
fn running_out_of_files_neither_ends_the_server_nor_spins() {
    let limit = getrlimit(Resource::Nofile).current;
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let server = Options::new()
        .threads(1)
        .max_connections(100)
        .listen(listen);
    let server = server.start(Echo).expect("starts");
    let Address::Tcp(address) = server.addresses()[0] else {
        panic!("an address of TCP");
    };
    let connect = || {
        let client = TcpStream::connect(address).expect("connects");
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("set");
        client
    };
    let mut first = connect();
    ask(&mut first).expect("served");
    let mut status = accept_status();
    // One file more: the client's own end. The server's end of it is one too many.
    let probe = File::open("/dev/null").expect("opens");
    let next = std::os::fd::AsRawFd::as_raw_fd(&probe) as u64;
    drop(probe);
    set_limit(next + 1);
    let mut waiting = connect();
    let start = Instant::now();
    while server.counters().accept_stops == 0 {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "never short of files"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    // A thread that spins never sleeps, or has the processor for most of the time. Neither depends
    // on how busy the machine is.
    let (start, busy, before) = (Instant::now(), busy_time(), sleeps(&mut status));
    while sleeps(&mut status) < before + 10 {
        assert!(start.elapsed() < Duration::from_secs(60), "never sleeps");
        std::thread::sleep(Duration::from_millis(50));
    }
    let busy = busy_time() - busy;
    assert!(busy < start.elapsed() / 5, "spins: {busy:?}");
    ask(&mut first).expect("served still");
    set_limit(limit.unwrap_or(1024));
    ask(&mut waiting).expect("served at last");
    assert_eq!(server.counters().current_connections, 2);
}
