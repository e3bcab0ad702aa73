//! Names of servers are looked up for each connection, and all of their addresses are tried.

use super::counts::{name_of, start};
use crate::batch::StoreOptions;
use crate::client::Client;
use crate::conn::set_resolver;
use std::cell::RefCell;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::Duration;
use tavola_server::Server;

fn address(server: &Server) -> SocketAddr {
    name_of(server).parse().expect("an address")
}

/// An address that refuses connections.
fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}

#[test]
fn a_name_is_looked_up_for_each_connection_and_its_addresses_are_tried_in_turn() {
    let [(first, first_client), (second, second_client)] = [start(), start()];
    for (client, value) in [(&first_client, b"first "), (&second_client, b"second")] {
        let stored = client.set(b"key", value, StoreOptions::default());
        stored.expect("stored");
    }
    let found = Rc::new(RefCell::new(vec![nobody(), address(&first)]));
    let asked = Rc::new(RefCell::new(Vec::new()));
    let (here, names) = (Rc::clone(&found), Rc::clone(&asked));
    set_resolver(Box::new(move |name| {
        names.borrow_mut().push(name.to_string());
        here.borrow().clone()
    }));
    let time = Duration::from_secs(60);
    let client = Client::builder()
        .server("cache.example:11211", 1.0)
        .io_timeout(time)
        .connect_timeout(time)
        .build()
        .expect("a client");
    let get = || {
        client
            .get(b"key")
            .expect("an answer")
            .expect("a value")
            .data
    };
    assert_eq!(get(), b"first ", "the second address");
    assert_eq!(get(), b"first ", "the same connection");
    assert_eq!(asked.borrow()[..], ["cache.example"]);
    *found.borrow_mut() = vec![nobody(), nobody(), address(&second)];
    first.stop();
    assert_eq!(get(), b"second", "the new address");
    assert_eq!(asked.borrow()[..], ["cache.example"; 2]);
    second.stop();
}
