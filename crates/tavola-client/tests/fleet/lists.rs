//! The keys of servers, and the time that items have left.

use crate::servers::{Ours, Theirs};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use tavola_client::{
    Batch, Builder, Client, Error, GetOptions, Outcome, Protocol, Sink, StoreOptions,
};

/// Clients of a server of ours and, if it is installed, of memcached.
fn each_server(test: impl Fn(&dyn Fn() -> Builder)) {
    let ours = Ours::start();
    test(&|| ours.client());
    if let Some(theirs) = Theirs::start(&[]) {
        test(&|| Client::builder().server(&theirs.name, 1.0));
    }
}

#[test]
fn all_keys_of_a_server_are_listed_without_the_namespace() {
    each_server(|builder| {
        let client = builder().namespace("a:").build().expect("a client");
        let others = builder().namespace("b:").build().expect("a client");
        let names: BTreeSet<Vec<u8>> = (0..3000).map(|n| format!("k{n}%").into_bytes()).collect();
        for name in &names {
            let options = StoreOptions::ttl(500).without_reply();
            client.set(name, b"v", options).expect("held");
        }
        others
            .set(b"x", b"v", StoreOptions::ttl(500))
            .expect("stored");
        client.flush().expect("sent");
        for _ in 0..2 {
            let mut listed = BTreeSet::new();
            client
                .keys(0, &mut |key| assert!(listed.insert(key.to_vec())))
                .expect("a list");
            assert_eq!(listed, names);
            // The connection can be used on.
            assert!(client.get(b"k7%").expect("an answer").is_some());
        }
    });
}

/// A server that is busy with another list, as often as it is told, before it makes one.
fn busy(mut times: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            for line in lines.map_while(Result::ok) {
                let answer = match line.split(' ').next() {
                    Some("mn") => "MN\r\n",
                    _ if times > 0 => {
                        times -= 1;
                        "BUSY currently processing crawler request\r\n"
                    }
                    _ => "mg key\r\nEN\r\n",
                };
                if stream.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
        }
    });
    name
}

#[test]
fn a_server_that_is_busy_is_asked_again_until_the_time_for_an_answer_is_over() {
    let keys = |times, timeout| {
        let client = Client::builder().server(&busy(times), 1.0);
        let client = client.io_timeout(timeout).build().expect("a client");
        let mut listed = Vec::new();
        let result = client.keys(0, &mut |key| listed.push(key.to_vec()));
        (result, listed)
    };
    let (result, listed) = keys(3, Duration::from_secs(60));
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(listed, [b"key"]);
    let (result, listed) = keys(usize::MAX, Duration::from_millis(300));
    let refused = result.expect_err("busy").to_string();
    assert!(refused.contains("BUSY"), "{refused}");
    assert!(listed.is_empty());
}

#[test]
fn a_server_that_cannot_list_keys_says_so() {
    each_server(|builder| {
        let client = builder()
            .protocol(Protocol::Binary)
            .build()
            .expect("a client");
        let refused = client
            .keys(0, &mut |_| panic!("a key"))
            .expect_err("no list");
        assert!(matches!(refused, Error::Refused(_)), "{refused}");
    });
    let Some(theirs) = Theirs::start(&["-X"]) else {
        return;
    };
    let client = Client::builder()
        .server(&theirs.name, 1.0)
        .build()
        .expect("a client");
    let refused = client
        .keys(0, &mut |_| panic!("a key"))
        .expect_err("no list");
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
}

#[derive(Default)]
struct Times {
    left: Vec<(usize, Option<u32>)>,
    outcomes: Vec<(usize, Outcome)>,
}

impl Sink for Times {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn ttl(&mut self, index: usize, left_s: Option<u32>) {
        self.left.push((index, left_s));
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.outcomes.push((index, outcome));
    }
}

#[test]
fn gets_return_the_time_that_items_have_left() {
    each_server(|builder| {
        let client = builder().build().expect("a client");
        client
            .set(b"short", b"v", StoreOptions::ttl(100))
            .expect("stored");
        client
            .set(b"long", b"v", StoreOptions::default())
            .expect("stored");
        let mut batch = Batch::new();
        for key in [&b"short"[..], b"long", b"none"] {
            batch.get(key, GetOptions::with_ttl());
        }
        let mut times = Times::default();
        client.execute(&mut batch, &mut times);
        times.left.sort_unstable();
        let [(0, Some(left)), (1, None)] = times.left[..] else {
            panic!("{:?}", times.left);
        };
        assert!((98..=100).contains(&left), "{left}");
        assert!(times.outcomes.contains(&(2, Outcome::Miss)));
        for protocol in [Protocol::Text, Protocol::Binary] {
            let client = builder().protocol(protocol).build().expect("a client");
            let mut times = Times::default();
            client.execute(&mut batch, &mut times);
            assert_eq!(times.outcomes.len(), 3);
            for (_, outcome) in times.outcomes {
                assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
            }
        }
    });
}
