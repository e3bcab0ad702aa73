//! A connection in the making: nobody has to wait for it, so several are made at once, and one to a
//! server that is down is left alone until the server answers.

use super::auth::{Greeted, Greeting};
use super::broken::Broken;
use super::stream::{Address, Stream, addresses, no_address};
use super::{Conn, Wait, wait_for};
use crate::cause::FailureCause;
use crate::options::{Protocol as Chosen, Settings};
#[cfg(feature = "table")]
use crate::server::Endpoint;
use crate::server::Server;
use rustix::event::{PollFd, PollFlags};
use std::time::Instant;
use tavola_proto::{AnswerHead, AnswerLimits, Protocol};

const NOT_CONNECTED: &str = "it could not be connected to in time";

/// A connection in the making.
#[derive(Debug)]
pub(crate) struct Opening {
    target: Target,
    state: OpeningState,
    pub(crate) began: Instant,
}

/// Where a connection goes, and how it begins.
#[derive(Debug)]
struct Target {
    /// Addresses not tried yet, the next one last.
    addresses: Vec<Address>,
    /// The address in use.
    current: Option<Address>,
    /// The protocol that is asked for: text if it is found out, and a server ended the connection
    /// when it was asked for the meta commands, as proxies do.
    protocol: Chosen,
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
                target: Target::of(Vec::new(), settings),
                state: OpeningState::Table(Box::new(conn)),
                began: Instant::now(),
            });
        }
        let mut addresses = addresses(server)?;
        addresses.reverse();
        let mut target = Target::of(addresses, settings);
        let state = target.connect(server, settings)?;
        Ok(Self {
            target,
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
                    finished.and_then(|()| self.target.greet(stream, settings))
                }
                #[cfg(feature = "table")]
                OpeningState::Table(conn) => return Ok(Progress::Ready(conn)),
                OpeningState::Greeting { conn, greeting } => {
                    match greet_on(conn, greeting, settings, self.target.protocol) {
                        Ok(Next::Ready(conn)) => return Ok(Progress::Ready(conn)),
                        Ok(Next::Waiting(conn, greeting)) => {
                            self.state = OpeningState::Greeting { conn, greeting };
                            return Ok(Progress::Waiting(self));
                        }
                        Err(broken) => self.target.greet_by_text(broken, server, settings),
                    }
                }
            };
            self.state = match step {
                Ok(state) => state,
                Err(broken) if self.target.addresses.is_empty() => return Err(broken),
                Err(_) => self.target.connect(server, settings)?,
            };
        }
    }

    /// Why it is given up if it is not ready in time.
    pub(crate) fn late() -> Broken {
        Broken::of(FailureCause::TimedOut, NOT_CONNECTED)
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
                let why = match self.state {
                    OpeningState::Connecting(_) => NOT_CONNECTED,
                    _ => "it did not answer the first request in time",
                };
                return Err(Broken::of(FailureCause::TimedOut, why));
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

impl Target {
    fn of(addresses: Vec<Address>, settings: &Settings) -> Self {
        Self {
            addresses,
            current: None,
            protocol: settings.protocol,
        }
    }

    /// Connects to the first of the addresses that does not refuse at once.
    fn connect(&mut self, server: &Server, settings: &Settings) -> Result<OpeningState, Broken> {
        let mut last = no_address();
        while let Some(address) = self.addresses.pop() {
            match Stream::connect(&address, server, settings) {
                Ok((stream, is_connected)) => {
                    self.current = Some(address);
                    return match is_connected {
                        true => self.greet(stream, settings),
                        false => Ok(OpeningState::Connecting(stream)),
                    };
                }
                Err(broken) => last = broken,
            }
        }
        Err(last)
    }

    fn greet(&self, stream: Stream, settings: &Settings) -> Result<OpeningState, Broken> {
        let form = match self.protocol {
            Chosen::Binary => Protocol::Binary,
            _ => Protocol::Text,
        };
        let mut conn = Box::new(Conn::new(stream, limits(settings), form));
        let greeting = Greeting::first(settings);
        greeting.write(&mut conn.output, settings, self.protocol)?;
        Ok(OpeningState::Greeting { conn, greeting })
    }

    /// Connects once more, if the server ended the connection when it was asked for the meta
    /// commands and the protocol is to be found out.
    fn greet_by_text(
        &mut self,
        broken: Broken,
        server: &Server,
        settings: &Settings,
    ) -> Result<OpeningState, Broken> {
        let is_open = self.protocol == Chosen::Auto && broken.cause.has_ended();
        let Some(address) = self.current.clone().filter(|_| is_open) else {
            // The other addresses are the same server's.
            self.addresses.clear();
            return Err(broken);
        };
        self.protocol = Chosen::Text;
        self.addresses.push(address);
        self.connect(server, settings)
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
    protocol: Chosen,
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
            } => Some((greeting.read(&answer, protocol)?, used)),
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
                greeting.write(&mut conn.output, settings, protocol)?;
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
