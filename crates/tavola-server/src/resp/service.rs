//! The service: decodes the commands that arrive and carries them out in their order.

use std::sync::Arc;

use tavola::Table;
use tavola_proto::resp::{Args, CommandDecoder, CommandStep, ProtocolError, answer};

use super::KEY_BYTES;
use super::call::{After, Call, is};
use super::client::Client;
use super::commands;
use super::gets::{Gets, WaveSize};
use super::refusal::Refusal;
use super::rules::RespRules;
use super::scan::KeyList;
use super::work::{Shared, Work};
use crate::memcached::{MOST_WRONG, PAUSE};
use crate::net::{Next, Output, Peer, Served, Service, Thread, Worker};

/// The bytes of a reply without a value.
const REPLY_BYTES: usize = 256;

/// Serves a table to clients of Redis.
///
/// ```
/// use std::sync::Arc;
/// use tavola_server::Inside;
/// use tavola_server::resp::Resp;
///
/// let table = tavola::Table::options().max_size(1 << 20).private()?;
/// let inside = Inside::new(Resp::new(Arc::new(table)))?;
/// let mut line = inside.connect();
/// line.write(b"SET k v EX 60\r\nGET k\r\n");
/// let mut reply = [0; 100];
/// let count = line.read(&mut reply).expect("replies");
/// assert_eq!(&reply[..count], b"+OK\r\n$1\r\nv\r\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Resp {
    shared: Arc<Shared>,
}

/// The worker that serves the connections of one thread.
#[derive(Debug)]
pub struct RespWorker {
    work: Work,
    wave: WaveSize,
}

/// The state of one connection.
#[derive(Debug)]
pub struct RespSession {
    decoder: CommandDecoder,
    client: Client,
    wrong_passwords: u32,
    /// A KEYS under way; commands behind it wait.
    list: Option<Box<KeyList>>,
}

impl Resp {
    /// Serves `table`, values of 1 MiB at most, as for clients of memcached.
    pub fn new(table: Arc<Table>) -> Self {
        Self::with_rules(table, RespRules::default())
    }

    /// Serves `table` to clients that may do what `rules` say.
    pub fn with_rules(table: Arc<Table>, rules: RespRules) -> Self {
        Self {
            shared: Arc::new(Shared::new(table, rules)),
        }
    }
}

impl Service for Resp {
    type Worker = RespWorker;

    fn worker(&self, thread: &Thread) -> RespWorker {
        RespWorker {
            work: Work::new(Arc::clone(&self.shared), thread.meter.clone()),
            wave: WaveSize::default(),
        }
    }
}

impl Worker for RespWorker {
    type Session = RespSession;

    fn open(&mut self, peer: &Peer) -> RespSession {
        let rules = &self.work.shared.rules;
        let is_asked = rules.users.is_some();
        let mut decoder = CommandDecoder::new(rules.limits());
        decoder.set_locked(is_asked);
        RespSession {
            decoder,
            client: Client::new(self.work.shared.next_client(), peer, is_asked),
            wrong_passwords: 0,
            list: None,
        }
    }

    fn serve(&mut self, session: &mut RespSession, input: &[u8], output: &mut Output) -> Served {
        if let Some(list) = &mut session.list {
            let Some(reply) = list.step(&self.work) else {
                return Served {
                    consumed: 0,
                    next: Next::Again,
                };
            };
            session.list = None;
            match reply {
                Ok(reply) => output.push(reply),
                Err(refusal) => refusal.write(output.room(REPLY_BYTES)),
            }
        }
        let mut gets = Gets::new(session.client.version);
        let mut served = self.serve_commands(session, input, &mut gets, output);
        if let Err(error) = gets.read(&mut self.work, &mut self.wave, output) {
            served.next = fail(error.into(), output);
        }
        served
    }
}

impl RespWorker {
    /// Carries out the commands of the input; keys of some GETs may be left in `gets`.
    fn serve_commands<'a>(
        &mut self,
        session: &mut RespSession,
        input: &'a [u8],
        gets: &mut Gets<'a>,
        output: &mut Output,
    ) -> Served {
        let mut consumed = 0;
        for _ in 0..self.work.shared.rules.commands.max(1) {
            if output.is_full() {
                break;
            }
            let rest = &input[consumed..];
            let next = match session.decoder.step(rest) {
                CommandStep::More { needed } => Some(Next::Read { at_least: needed }),
                CommandStep::Nothing { used } => {
                    consumed += used;
                    None
                }
                CommandStep::Broken(error) => {
                    let refused = gets.read(&mut self.work, &mut self.wave, output);
                    Some(match refused {
                        Ok(()) => refuse(error, output),
                        Err(error) => fail(error.into(), output),
                    })
                }
                CommandStep::Command { args, used } => {
                    consumed += used;
                    self.work.tally.commands.add(1);
                    let key = only_key(&args, rest).filter(|_| session.client.user.is_some());
                    let done = match key {
                        Some(key) => gets.push(key, &mut self.work, &mut self.wave, output),
                        None => gets.read(&mut self.work, &mut self.wave, output),
                    };
                    match (done, key) {
                        (Err(error), _) => Some(fail(error.into(), output)),
                        (Ok(()), Some(_)) => None,
                        (Ok(()), None) if is_http(&args) => Some(Next::Close),
                        (Ok(()), None) => {
                            let after = self.carry_out(&mut session.client, args, output);
                            gets.set_version(session.client.version);
                            self.end_command(session, after)
                        }
                    }
                }
            };
            if let Some(next) = next {
                return Served { consumed, next };
            }
        }
        Served {
            consumed,
            next: Next::Again,
        }
    }

    fn carry_out(&mut self, client: &mut Client, args: Args<'_>, output: &mut Output) -> After {
        let is_stranger = client.user.is_none();
        let done = match commands::choose(&self.work.shared, &args, is_stranger) {
            Err(refusal) => Err(refusal),
            Ok(command) => (command.run)(&mut Call {
                work: &mut self.work,
                client,
                args,
                output,
                command,
            }),
        };
        done.unwrap_or_else(|refusal| {
            refusal.write(output.room(REPLY_BYTES));
            After::NextCommand
        })
    }

    /// Ends a command. Returns `None` if the next one can follow.
    fn end_command(&self, session: &mut RespSession, after: After) -> Option<Next> {
        session.decoder.set_locked(session.client.user.is_none());
        match after {
            After::NextCommand => None,
            After::Quit => Some(Next::Close),
            After::WrongPassword => {
                session.wrong_passwords += 1;
                if session.wrong_passwords < MOST_WRONG || self.work.shared.rules.users.is_none() {
                    return None;
                }
                if let Some(report) = &self.work.shared.rules.on_guessing {
                    report(session.client.address);
                }
                Some(Next::CloseAfter(PAUSE))
            }
            After::List(list) => {
                session.list = Some(list);
                Some(Next::Again)
            }
        }
    }
}

/// Returns the key of a command that is a GET and nothing else, as it is in the input.
fn only_key<'a>(args: &Args<'_>, input: &'a [u8]) -> Option<&'a [u8]> {
    if args.len() != 2 || !is(&args[0], "get") || args[1].len() > KEY_BYTES {
        return None;
    }
    input.get(args.place_in_input(1)?)
}

/// Returns whether a command is a line of HTTP, by which a web page could make a browser send
/// commands. As in Redis, the connection is closed without a reply.
fn is_http(args: &Args<'_>) -> bool {
    is(&args[0], "post") || is(&args[0], "host:")
}

/// Writes why bytes are not a command. Returns that the connection ends.
fn refuse(error: ProtocolError, output: &mut Output) -> Next {
    let text = format!("ERR Protocol error: {error}");
    answer::error(output.room(REPLY_BYTES), text.as_bytes());
    Next::Close
}

/// Ends a connection of whose replies a part may be missing.
fn fail(refusal: Refusal, output: &mut Output) -> Next {
    refusal.write(output.room(REPLY_BYTES));
    Next::Close
}
