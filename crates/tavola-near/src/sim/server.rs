//! The simulated server: what Redis does for a near cache, and a little worse.
//!
//! It works in turns. In a turn it reads its connections one after another, which takes time; a
//! write of somebody else may come in between. At the end of the turn it sends the answers, then
//! the pushes: so the answer to a beat can come before the push of an earlier write.

use super::history::History;
use super::random::Random;
use crate::resp::{Incoming, Reply};
use std::collections::{BTreeSet, VecDeque};

/// The keys that are used.
pub(super) const KEYS: usize = 5;

pub(super) fn key(index: usize) -> Vec<u8> {
    format!("key{index}").into_bytes()
}

fn index(key: &[u8]) -> usize {
    let name = std::str::from_utf8(key).expect("a name");
    name[3..].parse().expect("a number")
}

/// One direction of a connection. Bytes keep their order.
#[derive(Default)]
pub(super) struct Pipe {
    parts: VecDeque<(u64, Vec<u8>)>,
    last_us: u64,
}

impl Pipe {
    /// Sends bytes, in pieces that may come at different times.
    pub(super) fn send(&mut self, mut bytes: Vec<u8>, now_us: u64, random: &mut Random) {
        let mut delay_us = random.delay_us();
        while !bytes.is_empty() {
            let at = match random.once_in(3) {
                true => 1 + random.below(bytes.len() as u64) as usize,
                false => bytes.len(),
            };
            let rest = bytes.split_off(at);
            self.last_us = self.last_us.max(now_us + delay_us);
            self.parts.push_back((self.last_us, bytes));
            bytes = rest;
            // A lost packet holds up what comes behind it.
            delay_us = match random.once_in(40) {
                true => random.below(300_000),
                false => 0,
            };
        }
    }

    /// Returns what has arrived.
    pub(super) fn receive(&mut self, now_us: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self
            .parts
            .front()
            .is_some_and(|(at_us, _)| *at_us <= now_us)
        {
            let (_, part) = self.parts.pop_front().expect("it was there");
            bytes.extend(part);
        }
        bytes
    }
}

/// A connection as both ends see it.
#[derive(Default)]
pub(super) struct Connection {
    /// Never used again.
    pub(super) number: u64,
    pub(super) to_server: Pipe,
    pub(super) to_daemon: Pipe,
    incoming: Incoming,
    /// Answers of this turn.
    out: Vec<u8>,
    is_tracking: bool,
    /// Nothing is carried any more.
    pub(super) is_cut: bool,
    /// When the daemon learns of that.
    pub(super) end_us: Option<u64>,
}

#[derive(Default)]
pub(super) struct Server {
    pub(super) connections: Vec<Connection>,
    /// Connections that are read in this turn, the next one last.
    turn: Vec<usize>,
    /// Keys that changed in this turn.
    changed: BTreeSet<usize>,
    was_flushed: bool,
    versions: u64,
    accepted: u64,
    /// It is busy in the middle of a turn until then.
    busy_until_us: u64,
}

impl Server {
    /// Opens a connection.
    pub(super) fn accept(&mut self, now_us: u64, random: &mut Random) -> u64 {
        self.accepted += 1;
        let mut connection = Connection {
            number: self.accepted,
            ..Connection::default()
        };
        if random.once_in(3) {
            // It takes longer to be made.
            connection.to_server.last_us = now_us + random.below(100_000);
        }
        self.connections.push(connection);
        self.accepted
    }

    /// Keeps only some connections.
    pub(super) fn close(&mut self, is_open: impl Fn(&Connection) -> bool) {
        self.connections.retain(is_open);
    }

    /// Sends bytes of a daemon to the server.
    pub(super) fn send(&mut self, number: u64, bytes: Vec<u8>, now_us: u64, random: &mut Random) {
        let mut all = self.connections.iter_mut();
        let connection = all.find(|connection| connection.number == number);
        if let Some(connection) = connection.filter(|connection| !connection.is_cut) {
            connection.to_server.send(bytes, now_us, random);
        }
    }

    /// Changes a key.
    pub(super) fn write(&mut self, key: usize, history: &mut History, now_us: u64, removes: bool) {
        self.versions += 1;
        let state = (!removes).then_some(self.versions);
        history.write(key, now_us, state);
        self.changed.insert(key);
    }

    /// Removes all keys.
    pub(super) fn flush(&mut self, history: &mut History, now_us: u64) {
        (0..KEYS).for_each(|key| history.write(key, now_us, None));
        self.was_flushed = true;
        self.changed.clear();
    }

    /// Does the next part of a turn.
    pub(super) fn step(&mut self, history: &History, now_us: u64, random: &mut Random) {
        if now_us < self.busy_until_us {
            return;
        }
        if random.once_in(1000) {
            self.busy_until_us = now_us + random.below(80_000);
        }
        let Some(index) = self.turn.pop() else {
            self.end_turn(now_us, random);
            self.turn = (0..self.connections.len()).collect();
            for at in (1..self.turn.len()).rev() {
                self.turn.swap(at, random.below(at as u64 + 1) as usize);
            }
            return;
        };
        if let Some(connection) = self.connections.get_mut(index)
            && !connection.is_cut
        {
            connection.read(history, now_us);
        }
    }

    fn end_turn(&mut self, now_us: u64, random: &mut Random) {
        for connection in &mut self.connections {
            let answers = connection.out.len();
            if connection.is_tracking {
                if self.was_flushed {
                    let push = b">2\r\n$10\r\ninvalidate\r\n_\r\n";
                    connection.out.extend_from_slice(push);
                }
                for index in &self.changed {
                    let push = format!(
                        ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\n{}\r\n",
                        String::from_utf8(key(*index)).expect("a name")
                    );
                    connection.out.extend_from_slice(push.as_bytes());
                }
            }
            let out = std::mem::take(&mut connection.out);
            if !connection.is_cut {
                connection.send(out, answers, now_us, random);
            }
        }
        self.changed.clear();
        self.was_flushed = false;
    }
}

impl Connection {
    /// Sends answers, and the pushes behind them. The packet of the pushes may be lost: then it is
    /// sent again later.
    fn send(&mut self, mut out: Vec<u8>, answers: usize, now_us: u64, random: &mut Random) {
        let pushes = out.split_off(answers);
        let is_lost = !out.is_empty() && !pushes.is_empty() && random.once_in(3);
        self.to_daemon.send(out, now_us, random);
        if is_lost {
            self.to_daemon.last_us = self.to_daemon.last_us.max(now_us + random.below(300_000));
        }
        self.to_daemon.send(pushes, now_us, random);
    }

    fn read(&mut self, history: &History, now_us: u64) {
        self.incoming.add(&self.to_server.receive(now_us));
        while let Some(request) = self.incoming.next().expect("RESP") {
            let Reply::List(words) = request else {
                panic!("no command: {request:?}");
            };
            let word = |at: usize| match &words[at] {
                Reply::Bytes(word) => word.as_slice(),
                other => panic!("no word: {other:?}"),
            };
            match word(0) {
                b"HELLO" => self.out.extend_from_slice(b"%1\r\n+proto\r\n:3\r\n"),
                b"CLIENT" => {
                    self.is_tracking = true;
                    self.out.extend_from_slice(b"+OK\r\n");
                }
                b"ROLE" => self
                    .out
                    .extend_from_slice(b"*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n"),
                b"PTTL" => self.out.extend_from_slice(b":-1\r\n"),
                b"GET" => match history.newest(index(word(1))) {
                    None => self.out.extend_from_slice(b"_\r\n"),
                    Some(version) => {
                        let value = version.to_string();
                        let reply = format!("${}\r\n{value}\r\n", value.len());
                        self.out.extend_from_slice(reply.as_bytes());
                    }
                },
                other => panic!("no such command: {other:?}"),
            }
        }
    }
}
