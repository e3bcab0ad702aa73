//! The connection on which the server pushes which keys have changed.
//!
//! A *beat* is a command on it, `ROLE`. It does what a PING does, and it shows that the server is
//! no replica. The next beat is sent after the answer to the last. When the answer to beat m has
//! been read, everything pushed before it has been applied: then trust lasts until the sending of
//! beat m - 1, plus `max_stale` (rule N3).

use super::{Settings, Stop};
#[cfg(test)]
use crate::mistake::{Mistake, is_made};
use crate::owner::Owner;
use crate::resp::{Incoming, Reply, command};

/// What the next reply on the connection answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expected {
    /// Nothing: the connection has not begun.
    #[default]
    Nothing,
    /// The greeting, then the commands after it.
    Hello,
    Tracking,
    Beat,
    /// Nothing until the next beat is due.
    Rest,
}

/// The connection of pushes.
#[derive(Debug, Default)]
pub(super) struct Tracking {
    incoming: Incoming,
    pub(super) out: Vec<u8>,
    expected: Expected,
    is_confirmed: bool,
    /// When the last beat was sent.
    sent_ms: u64,
    /// When the beat before it was sent, if there was one.
    sent_before_ms: Option<u64>,
}

impl Tracking {
    /// Asks the server to push the keys that change. The first beat goes along.
    pub(super) fn begin(settings: &Settings, now_ms: u64) -> Self {
        let mut tracking = Self {
            expected: Expected::Hello,
            sent_ms: now_ms,
            ..Self::default()
        };
        let out = &mut tracking.out;
        command(out, &settings.hello());
        let mut words: Vec<&[u8]> = vec![b"CLIENT", b"TRACKING", b"ON", b"BCAST"];
        for prefix in &settings.prefixes {
            words.extend([b"PREFIX", prefix.as_slice()]);
        }
        command(out, &words);
        command(out, &[b"ROLE"]);
        tracking
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        owner: &mut Owner,
        settings: &Settings,
        now_ms: u64,
    ) -> Result<(), Stop> {
        self.incoming.add(bytes);
        while let Some(reply) = self.incoming.next().map_err(Stop::Lost)? {
            match reply {
                Reply::Push(push) => apply(&push, owner)?,
                reply => self.take_reply(&reply, owner, settings)?,
            }
        }
        self.tick(settings, now_ms)
    }

    fn take_reply(
        &mut self,
        reply: &Reply,
        owner: &mut Owner,
        settings: &Settings,
    ) -> Result<(), Stop> {
        match (self.expected, reply) {
            (Expected::Nothing | Expected::Rest, _) => {
                return Err(Stop::Lost("it sent a reply without a request".to_owned()));
            }
            (Expected::Hello | Expected::Tracking, Reply::Error(why)) => {
                return Err(Stop::Refused(why.clone()));
            }
            (Expected::Hello, reply) => {
                check_mode(reply)?;
                self.expected = Expected::Tracking;
            }
            (Expected::Tracking, _) => self.expected = Expected::Beat,
            (Expected::Beat, reply) => {
                check_role(reply)?;
                self.expected = Expected::Rest;
                self.is_confirmed = true;
                let sent_ms = self.sent_before_ms;
                #[cfg(test)]
                let sent_ms = match is_made(Mistake::TrustsLastBeat) {
                    true => Some(self.sent_ms),
                    false => sent_ms,
                };
                if let Some(sent_ms) = sent_ms {
                    owner.extend(sent_ms + settings.max_stale_ms)?;
                }
            }
        }
        Ok(())
    }

    /// Sends a beat if it is due. The connection is lost if the last beat was not answered in time.
    pub(super) fn tick(&mut self, settings: &Settings, now_ms: u64) -> Result<(), Stop> {
        let is_answered = self.expected == Expected::Rest;
        if !is_answered && now_ms > self.sent_ms + settings.patience_ms() {
            return Err(Stop::Lost("it does not answer".to_owned()));
        }
        if is_answered && self.due_ms(settings).is_some_and(|due| due <= now_ms) {
            self.sent_before_ms = Some(self.sent_ms);
            self.sent_ms = now_ms;
            self.expected = Expected::Beat;
            command(&mut self.out, &[b"ROLE"]);
        }
        Ok(())
    }

    /// Returns when something is to be done. The second beat follows the first at once, so that
    /// trust begins early.
    pub(super) fn due_ms(&self, settings: &Settings) -> Option<u64> {
        let wait_ms = match (self.expected, self.sent_before_ms) {
            (Expected::Nothing, _) => return None,
            (Expected::Rest, None) => 0,
            (Expected::Rest, Some(_)) => settings.beat_ms(),
            _ => settings.patience_ms() + 1,
        };
        Some(self.sent_ms + wait_ms)
    }
}

/// Removes the keys of a push; all keys, if it names none.
fn apply(push: &[Reply], owner: &mut Owner) -> Result<(), Stop> {
    let [Reply::Bytes(kind), keys] = push else {
        return Ok(());
    };
    match keys {
        _ if kind != b"invalidate" => {}
        Reply::List(keys) => {
            for key in keys {
                match key {
                    Reply::Bytes(key) => owner.invalidate(key)?,
                    // Whatever it is, it has changed.
                    _ => owner.next_epoch()?,
                }
            }
        }
        // FLUSHALL and FLUSHDB.
        _ => owner.next_epoch()?,
    }
    Ok(())
}

/// Refuses a node of a cluster: it has a part of the keys, which may move to others.
fn check_mode(greeting: &Reply) -> Result<(), Stop> {
    let Reply::Map(words) = greeting else {
        return Ok(());
    };
    let bytes = |text: &[u8]| Reply::Bytes(text.to_vec());
    let is_node = { words.chunks_exact(2) }
        .any(|pair| pair[0] == bytes(b"mode") && pair[1] == bytes(b"cluster"));
    match is_node {
        false => Ok(()),
        true => Err(Stop::Refused(
            "it is a node of a cluster, which a near cache cannot be before; give the address of \
             a server that is none"
                .to_owned(),
        )),
    }
}

fn check_role(reply: &Reply) -> Result<(), Stop> {
    match reply {
        Reply::List(words) => match words.first() {
            Some(Reply::Bytes(role)) if role == b"master" => Ok(()),
            _ => Err(Stop::Refused(
                "it is a replica, whose values may be old; give the address of its master"
                    .to_owned(),
            )),
        },
        Reply::Error(why) => Err(Stop::Refused(why.clone())),
        _ => Err(Stop::Lost("it has no answer to ROLE".to_owned())),
    }
}
