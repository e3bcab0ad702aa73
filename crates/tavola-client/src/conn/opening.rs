//! A connection in the making: nobody has to wait for it, so several are made at once, and one to a
//! server that is down is left alone until the server answers.

use super::auth::{Greeted, Greeting};
use super::broken::Broken;
use super::stream::{Address, Stream, addresses};
use super::{Conn, Wait, wait_for};
use crate::options::{Protocol as Chosen, Settings};
#[cfg(feature = "table")]
use crate::server::Endpoint;
use crate::server::Server;
use rustix::event::{PollFd, PollFlags};
use std::time::Instant;
use tavola_proto::{AnswerHead, AnswerLimits, Protocol};

/// A connection in the making.
#[derive(Debug)]
pub(crate) struct Opening {
    /// Addresses not tried yet, the next one last.
    addresses: Vec<Address>,
    state: OpeningState,
    pub(crate) began: Instant,
}

/// How far a connection in the making has come.
#[derive(Debug)]
enum OpeningState {
    Connecting(Stream),
    Greeting {
        conn: Box<Conn>,
        greeting: Greeting,
    },
    /// A connection to a table, which is ready at once.
    #[cfg(feature = "table")]
    Table(Box<Conn>),
}

/// How far it has come.
#[derive(Debug)]
pub(crate) enum Progress {
    Ready(Box<Conn>),
    Waiting(Opening),
}

impl Opening {
    /// Looks up the server and begins to connect.
    pub(crate) fn begin(server: &Server, settings: &Settings) -> Result<Self, Broken> {
        #[cfg(feature = "table")]
        if let Endpoint::Table(site) = server.endpoint() {
            let stream = Stream::of_table(site.connect(settings.max_value)?);
            let conn = Conn::new(stream, limits(settings), Protocol::Text);
            return Ok(Self {
                addresses: Vec::new(),
                state: OpeningState::Table(Box::new(conn)),
                began: Instant::now(),
            });
        }
        let mut addresses = addresses(server)?;
        addresses.reverse();
        let state = OpeningState::next(&mut addresses, server, settings)?;
        Ok(Self {
            addresses,
            state,
            began: Instant::now(),
        })
    }

    /// Continues as far as it can without waiting.
    pub(crate) fn advance(
        mut self,
        server: &Server,
        settings: &Settings,
    ) -> Result<Progress, Broken> {
        loop {
            let step = match self.state {
                OpeningState::Connecting(stream) => {
                    if !is_ready(&stream) {
                        self.state = OpeningState::Connecting(stream);
                        return Ok(Progress::Waiting(self));
                    }
                    let finished = stream.finish_connect(settings);
                    finished.and_then(|()| OpeningState::greet(stream, settings))
                }
                #[cfg(feature = "table")]
                OpeningState::Table(conn) => return Ok(Progress::Ready(conn)),
                OpeningState::Greeting { conn, greeting } => {
                    match greet_on(conn, greeting, settings)? {
                        Next::Ready(conn) => return Ok(Progress::Ready(conn)),
                        Next::Waiting(conn, greeting) => {
                            self.state = OpeningState::Greeting { conn, greeting };
                            return Ok(Progress::Waiting(self));
                        }
                    }
                }
            };
            self.state = match step {
                Ok(state) => state,
                Err(broken) if self.addresses.is_empty() => return Err(broken),
                Err(_) => OpeningState::next(&mut self.addresses, server, settings)?,
            };
        }
    }

    /// Continues until it is ready.
    pub(crate) fn finish(
        mut self,
        server: &Server,
        settings: &Settings,
        deadline: Instant,
    ) -> Result<Box<Conn>, Broken> {
        loop {
            self = match self.advance(server, settings)? {
                Progress::Ready(conn) => return Ok(conn),
                Progress::Waiting(opening) => opening,
            };
            let mut fds: Vec<_> = self.poll_fd().into_iter().collect();
            if !wait_for(&mut fds, deadline) {
                return Err(Broken::silent(match self.state {
                    OpeningState::Connecting(_) => "it could not be connected to in time",
                    _ => "it did not answer the first request in time",
                }));
            }
        }
    }

    /// Returns what to wait for; `None` if nothing has to be waited for.
    pub(crate) fn poll_fd(&self) -> Option<PollFd<'_>> {
        match &self.state {
            OpeningState::Connecting(stream) => {
                Some(PollFd::from_borrowed_fd(stream.fd()?, PollFlags::OUT))
            }
            OpeningState::Greeting { conn, .. } => conn.poll_fd(),
            #[cfg(feature = "table")]
            OpeningState::Table(_) => None,
        }
    }
}

impl OpeningState {
    /// Connects to the first of the addresses that does not refuse at once.
    fn next(
        addresses: &mut Vec<Address>,
        server: &Server,
        settings: &Settings,
    ) -> Result<Self, Broken> {
        let mut last = Broken::silent("its name has no address");
        while let Some(address) = addresses.pop() {
            match Stream::connect(&address, server, settings) {
                Ok((stream, true)) => return Self::greet(stream, settings),
                Ok((stream, false)) => return Ok(Self::Connecting(stream)),
                Err(broken) => last = broken,
            }
        }
        Err(last)
    }

    fn greet(stream: Stream, settings: &Settings) -> Result<Self, Broken> {
        let protocol = match settings.protocol {
            Chosen::Binary => Protocol::Binary,
            _ => Protocol::Text,
        };
        let mut conn = Box::new(Conn::new(stream, limits(settings), protocol));
        let greeting = Greeting::first(settings);
        greeting.write(&mut conn.output, settings)?;
        Ok(Self::Greeting { conn, greeting })
    }
}

fn limits(settings: &Settings) -> AnswerLimits {
    AnswerLimits {
        value_bytes: settings.max_value,
        ..AnswerLimits::default()
    }
}

enum Next {
    Ready(Box<Conn>),
    Waiting(Box<Conn>, Greeting),
}

/// Sends greetings and reads their answers, as far as that goes without waiting.
fn greet_on(
    mut conn: Box<Conn>,
    mut greeting: Greeting,
    settings: &Settings,
) -> Result<Next, Broken> {
    loop {
        conn.send()?;
        let greeted = match conn.decoder.head(conn.input.bytes())? {
            AnswerHead::More { .. } => None,
            AnswerHead::Head {
                answer,
                used,
                value_bytes: None,
                ..
            } => Some((greeting.read(&answer, settings)?, used)),
            AnswerHead::Head { answer, .. } => {
                let answer = super::shown(&answer);
                return Err(Broken::unexpected(format!("it answered by {answer}")));
            }
        };
        let Some((greeted, used)) = greeted else {
            if conn
                .receive(Wait::No)
                .map_err(|broken| greeting.explain(broken))?
            {
                continue;
            }
            return Ok(Next::Waiting(conn, greeting));
        };
        conn.input.consume(used);
        if !conn.input.is_empty() {
            return Err(Broken::unexpected("it sent more than it was asked for"));
        }
        match greeted {
            Greeted::Ready(speaks) => {
                conn.speaks = speaks;
                return Ok(Next::Ready(conn));
            }
            Greeted::Next(next) => {
                greeting = next;
                greeting.write(&mut conn.output, settings)?;
            }
        }
    }
}

/// Whether a socket that connects is writable or has failed.
fn is_ready(stream: &Stream) -> bool {
    let Some(fd) = stream.fd() else {
        return true;
    };
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::OUT)];
    wait_for(&mut fds, Instant::now())
}
