//! What a hit costs beside a `get` of the same table, and a miss beside a `GET` of the server, in
//! nanoseconds: `hit redis://HOST:PORT`. It writes keys that begin with `tavola-hit:`.

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tavola::Table;
use tavola_near::{DaemonOptions, Near};

const KEYS: usize = 1000;
const ROUNDS: usize = 2000;
const TURNS: usize = 11;

/// Returns nanoseconds for each of the calls.
fn time(calls: usize, work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_nanos() as f64 / calls as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let upstream = std::env::args()
        .nth(1)
        .ok_or("usage: hit redis://HOST:PORT")?;
    let path = format!("/dev/shm/tavola-hit-{}", std::process::id());
    let table = Arc::new(Table::options().capacity(64 << 20).open(&path)?);
    let mut server = TcpStream::connect(upstream.trim_start_matches("redis://"))?;
    server.set_nodelay(true)?;
    let mut reply = [0; 4096];
    let keys: Vec<String> = (0..KEYS)
        .map(|key| format!("tavola-hit:{key:04}"))
        .collect();
    for key in &keys {
        server.write_all(format!("SET {key} 12345678\r\n").as_bytes())?;
        if server.read(&mut reply)? == 0 {
            return Err("the server closed the connection".into());
        }
    }
    let options = DaemonOptions::new(&upstream)?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| options.run(&table, &stop, &mut |_| ()));
        let ended = measure(&path, &keys, &mut server);
        stop.store(true, Ordering::Relaxed);
        ended
    })?;
    tavola::names::remove(&path)?;
    Ok(())
}

fn measure(
    path: &str,
    keys: &[String],
    server: &mut TcpStream,
) -> Result<(), Box<dyn std::error::Error>> {
    let near = loop {
        match Near::open(path) {
            Ok(near) if near.status().is_trusted => break near,
            _ => std::thread::yield_now(),
        }
    };
    let table = near.table();
    let mut value = Vec::new();
    let (mut hits, mut gets, mut misses, mut direct) = (vec![], vec![], vec![], vec![]);
    for _ in 0..TURNS {
        for key in keys {
            table.remove(key)?;
        }
        misses.push(time(KEYS, || {
            for key in keys {
                assert!(near.get_into(key, &mut value).expect("a value"));
            }
        }));
        let mut reply = [0; 4096];
        direct.push(time(KEYS, || {
            for key in keys {
                let request = format!("GET {key}\r\n");
                server.write_all(request.as_bytes()).expect("sent");
                assert!(server.read(&mut reply).expect("a reply") > 0);
            }
        }));
        gets.push(time(KEYS * ROUNDS, || {
            for key in (0..ROUNDS).flat_map(|_| keys) {
                assert!(table.get_into(black_box(key), &mut value).expect("a value"));
            }
        }));
        hits.push(time(KEYS * ROUNDS, || {
            for key in (0..ROUNDS).flat_map(|_| keys) {
                assert!(near.peek_into(black_box(key), &mut value).expect("a value"));
            }
        }));
    }
    println!("get of the table {:7.1} ns", median(gets));
    println!("hit              {:7.1} ns", median(hits));
    println!("GET of the server{:7.0} ns", median(direct));
    println!("miss             {:7.0} ns", median(misses));
    Ok(())
}
