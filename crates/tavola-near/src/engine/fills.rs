//! The connection on which values are fetched. A key that several ask for is asked for once.

use super::{Answer, Answered, Settings, Stop};
use crate::owner::{Noted, Owner};
use crate::resp::{Incoming, Reply, command};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

/// A request for the value of a key.
#[derive(Debug)]
struct Fill {
    number: u64,
    key: Vec<u8>,
    noted: Noted,
    sent_ms: u64,
    askers: Vec<u64>,
    /// What the server said of its expiry, if it has said so.
    left_ms: Option<i64>,
}

/// The connection of values.
#[derive(Debug, Default)]
pub(super) struct Fills {
    incoming: Incoming,
    pub(super) out: Vec<u8>,
    /// Replies of the greeting that are still to come.
    greetings: u32,
    begun_ms: u64,
    /// In the order of their requests, which is that of the replies.
    open: VecDeque<Fill>,
    /// The last request of each key.
    last: HashMap<Vec<u8>, u64>,
    next_number: u64,
}

impl Fills {
    pub(super) fn begin(&mut self, settings: &Settings, now_ms: u64) {
        self.incoming = Incoming::default();
        self.out.clear();
        self.begun_ms = now_ms;
        self.greetings = 1;
        command(&mut self.out, &settings.hello());
        if settings.database > 0 {
            let database = settings.database.to_string();
            command(&mut self.out, &[b"SELECT", database.as_bytes()]);
            self.greetings += 1;
        }
    }

    /// Asks for a key, or joins a request for it that no change has overtaken.
    pub(super) fn ask(
        &mut self,
        asker: u64,
        key: &[u8],
        owner: &Owner,
        settings: &Settings,
        now_ms: u64,
    ) {
        let first = self.open.front().map_or(0, |fill| fill.number);
        let last = self.last.get(key).and_then(|number| {
            let index = number.checked_sub(first)? as usize;
            self.open.get_mut(index)
        });
        // An answer to an old request could be too old when it comes.
        let is_young = |fill: &Fill| now_ms < fill.sent_ms + settings.max_stale_ms / 2;
        if let Some(fill) = last.filter(|fill| is_young(fill))
            && owner.is_current(key, fill.noted)
        {
            fill.askers.push(asker);
            return;
        }
        command(&mut self.out, &[b"PTTL", key]);
        command(&mut self.out, &[b"GET", key]);
        self.last.insert(key.to_vec(), self.next_number);
        self.open.push_back(Fill {
            number: self.next_number,
            key: key.to_vec(),
            noted: owner.note(key),
            sent_ms: now_ms,
            askers: vec![asker],
            left_ms: None,
        });
        self.next_number += 1;
    }

    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        owner: &mut Owner,
        settings: &Settings,
        answers: &mut Vec<Answered>,
        now_ms: u64,
    ) -> Result<(), Stop> {
        self.incoming.add(bytes);
        while let Some(reply) = self.incoming.next().map_err(Stop::Lost)? {
            if self.greetings > 0 {
                self.greetings -= 1;
                if let Reply::Error(why) = reply {
                    return Err(Stop::Refused(why));
                }
            } else {
                self.take_reply(reply, owner, settings, answers, now_ms)?;
            }
        }
        Ok(())
    }

    /// Takes the reply to PTTL, then that to GET.
    fn take_reply(
        &mut self,
        reply: Reply,
        owner: &mut Owner,
        settings: &Settings,
        answers: &mut Vec<Answered>,
        now_ms: u64,
    ) -> Result<(), Stop> {
        let Some(fill) = self.open.front_mut() else {
            return Err(Stop::Lost("it sent a reply without a request".to_owned()));
        };
        if fill.left_ms.is_none() {
            // An error is repeated by GET, or is of no concern: then the value is not cached.
            fill.left_ms = Some(match reply {
                Reply::Number(left_ms) => left_ms,
                _ => 0,
            });
            return Ok(());
        }
        let fill = self.open.pop_front().expect("it was there");
        if self.last.get(&fill.key) == Some(&fill.number) {
            self.last.remove(&fill.key);
        }
        let answer = match reply {
            Reply::Bytes(value) => {
                if let Some(life) = fill.life(settings, now_ms) {
                    owner.fill(&fill.key, fill.noted, &value, life.ttl());
                }
                Answer::Value(Rc::from(value))
            }
            Reply::Null => Answer::Missing,
            Reply::Error(why) => Answer::Failed(Rc::from(why)),
            _ => return Err(Stop::Lost("it has no answer to GET".to_owned())),
        };
        let deadline_ms = fill.sent_ms + settings.max_stale_ms;
        answers.extend(fill.askers.into_iter().map(|asker| Answered {
            asker,
            answer: answer.clone(),
            deadline_ms,
        }));
        Ok(())
    }

    /// Finds out whether the server is silent.
    pub(super) fn tick(&self, settings: &Settings, now_ms: u64) -> Result<(), Stop> {
        let since_ms = match self.open.front() {
            _ if self.greetings > 0 => self.begun_ms,
            Some(fill) => fill.sent_ms,
            None => return Ok(()),
        };
        match now_ms > since_ms + settings.patience_ms() {
            true => Err(Stop::Lost("it does not answer".to_owned())),
            false => Ok(()),
        }
    }

    /// Ends all requests, as the connection is lost.
    pub(super) fn fail(&mut self, why: &str, answers: &mut Vec<Answered>) {
        let failed = Answer::Failed(Rc::from(why));
        let askers = self.open.drain(..).flat_map(|fill| fill.askers);
        answers.extend(askers.map(|asker| Answered {
            asker,
            answer: failed.clone(),
            deadline_ms: u64::MAX,
        }));
        self.last.clear();
        self.out.clear();
    }
}

/// How long a value is kept.
enum Life {
    Forever,
    Milliseconds(u64),
}

impl Life {
    fn ttl(&self) -> Option<Duration> {
        match self {
            Self::Forever => None,
            Self::Milliseconds(count) => Some(Duration::from_millis(*count)),
        }
    }
}

impl Fill {
    /// Returns how long the value may be kept, or `None` if not at all. The time that the server
    /// gave counts from the sending of the request.
    fn life(&self, settings: &Settings, now_ms: u64) -> Option<Life> {
        if !settings.covers(&self.key) {
            return None;
        }
        let of_server = match self.left_ms {
            Some(-1) => None,
            Some(left_ms) => Some(u64::try_from(left_ms).ok().filter(|left| *left > 0)?),
            None => return None,
        };
        let until_ms = |ttl_ms: u64| self.sent_ms.saturating_add(ttl_ms);
        match of_server.into_iter().chain(settings.ttl_ms).min() {
            None => Some(Life::Forever),
            Some(ttl_ms) => match until_ms(ttl_ms).saturating_sub(now_ms) {
                0 => None,
                left_ms => Some(Life::Milliseconds(left_ms)),
            },
        }
    }
}
