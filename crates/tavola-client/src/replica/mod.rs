//! Copies of keys on further servers.
//!
//! Copies are where libmemcached has them: on the key's server and on the next ones of the list.
//! So other clients find them, and a client needs no second ring. The price is that all keys of a
//! server that is down are asked for at the same next servers.
//!
//! A batch is carried out in steps. In a step each request that is not finished has requests of its
//! own to some copies, and all of them are one batch of [`exec`]. Two requests for one key of which
//! one writes are never carried out together, so they have their order on each copy.
//!
//! What holds, as long as no server loses or keeps values on its own:
//!
//! - REP-1: a write is reported as done only if each copy carried it out, or has no value any more.
//!   If some did and others failed, it is unknown: a later get may find the older value.
//! - REP-2: a get is a miss only if each copy said so.
//! - REP-3: a repair does not undo a write. It adds, so it replaces nothing. It may race with the
//!   removal of the key; so it looks at the source again afterwards, and removes what it added if
//!   the source has changed. A delete goes to all copies twice: a repair that has found its source
//!   unchanged began before the first deletes ended, so the second ones come after what it added.
//!
//! - `task`: how far one request is

mod task;

use crate::batch::{Action, Outcome, Reply, Request, Sink};
use crate::exec;
use crate::fleet::Fleet;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use task::{CopyAnswer, CopyRequest, Task};

/// Executes requests as [`exec::execute`] does, on all copies of their keys.
pub(crate) fn execute(fleet: &Fleet, requests: &[Request<'_>], sink: &mut dyn Sink) {
    if fleet.settings.replicas == 0 {
        return exec::execute(fleet, requests, sink);
    }
    let mut first = 0;
    while first < requests.len() {
        let count = count_independent(&requests[first..]);
        execute_independent(fleet, first, &requests[first..first + count], sink);
        first += count;
    }
}

/// Returns how many requests at the beginning do not depend on each other: no key of a write is
/// that of another request.
fn count_independent(requests: &[Request<'_>]) -> usize {
    let is_read = |request: &Request<'_>| matches!(request.action, Action::Get { touch: None, .. });
    if requests.iter().all(is_read) {
        return requests.len();
    }
    // For each key, whether a request writes it.
    let mut keys: HashMap<&[u8], bool> = HashMap::with_capacity(requests.len());
    for (place, request) in requests.iter().enumerate() {
        let writes = !is_read(request);
        let before = keys.insert(request.key, writes);
        if before.is_some_and(|wrote| wrote || writes) {
            return place;
        }
    }
    requests.len()
}

/// Carries out requests that do not depend on each other. `first` is the place of the first in the
/// caller's batch.
fn execute_independent(fleet: &Fleet, first: usize, requests: &[Request<'_>], sink: &mut dyn Sink) {
    let seed = fleet.settings.is_read_any.then(RandomState::new);
    let mut tasks = Vec::with_capacity(requests.len());
    let mut direct = Vec::with_capacity(requests.len());
    for (place, request) in requests.iter().enumerate() {
        let random = seed.as_ref().map(|seed| seed.hash_one(place));
        tasks.push(Task::new(*request, fleet.copies_of(request.key), random));
        direct.push(matches!(request.action, Action::Get { .. }));
    }
    let mut open: Vec<usize> = (0..tasks.len()).collect();
    let mut is_first = true;
    while !open.is_empty() {
        let mut parts = Vec::with_capacity(open.len());
        let mut targets = Vec::with_capacity(open.len());
        let mut counts = Vec::with_capacity(open.len());
        for index in &open {
            let before = parts.len();
            tasks[*index].for_each_part(|part: CopyRequest<'_>| {
                parts.push(Request {
                    key: requests[*index].key,
                    action: part.action,
                    reply: Reply::Wait,
                    server: Some(part.server),
                });
                let is_direct = is_first && direct[*index];
                targets.push(is_direct.then_some(first + *index));
            });
            counts.push(parts.len() - before);
        }
        let mut step = Step {
            targets,
            answers: vec![CopyAnswer::default(); parts.len()],
            sink,
        };
        exec::execute(fleet, &parts, &mut step);
        let mut answers = step.answers.into_iter();
        for (index, count) in std::mem::take(&mut open).into_iter().zip(counts) {
            let task = &mut tasks[index];
            task.take(answers.by_ref().take(count).collect());
            if let Some(outcome) = task.report() {
                report(first + index, outcome, task, sink);
            }
            if !task.is_over() {
                open.push(index);
            }
        }
        is_first = false;
    }
}

/// Reports what became of a request, after its value if that came from a later copy.
fn report(index: usize, outcome: Outcome, task: &Task<'_>, sink: &mut dyn Sink) {
    if let (Outcome::Hit { flags, .. }, Some(value)) = (&outcome, task.value()) {
        if let Some(left_s) = task.asked_ttl() {
            sink.ttl(index, left_s);
        }
        let room = sink.room(index, value.len(), *flags);
        if let Some(room) = room.filter(|room| room.len() == value.len()) {
            room.copy_from_slice(value);
        }
    }
    sink.done(index, outcome);
}

/// Takes the answers of one step.
struct Step<'s> {
    /// For each part, the place in the caller's batch of the request whose memory its value goes
    /// to straight.
    targets: Vec<Option<usize>>,
    answers: Vec<CopyAnswer>,
    sink: &'s mut dyn Sink,
}

impl Sink for Step<'_> {
    fn room(&mut self, index: usize, len: usize, flags: u32) -> Option<&mut [u8]> {
        let answer = &mut self.answers[index];
        answer.has_room = true;
        match self.targets[index] {
            Some(target) => self.sink.room(target, len, flags),
            None => {
                answer.value.resize(len, 0);
                Some(&mut answer.value)
            }
        }
    }

    fn ttl(&mut self, index: usize, left_s: Option<u32>) {
        match self.targets[index] {
            Some(target) => self.sink.ttl(target, left_s),
            None => self.answers[index].ttl = Some(left_s),
        }
    }

    fn done(&mut self, index: usize, outcome: Outcome) {
        self.answers[index].outcome = Some(outcome);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{AskTtl, Verb};

    #[test]
    fn requests_for_a_key_that_is_written_are_not_carried_out_together() {
        let request = |key, action| Request {
            key,
            action,
            reply: Reply::Wait,
            server: None,
        };
        let get = Action::Get {
            with_cas: false,
            ttl: AskTtl::No,
            touch: None,
        };
        let set = Action::Store {
            verb: Verb::Set,
            value: b"",
            flags: 0,
            exptime: 0,
        };
        let (a, b) = (b"a".as_slice(), b"b".as_slice());
        let count = |parts: &[(&'static [u8], Action<'static>)]| {
            let requests = parts.iter().map(|(key, action)| request(*key, *action));
            count_independent(&requests.collect::<Vec<_>>())
        };
        assert_eq!(count(&[(a, get), (a, get), (b, get)]), 3);
        assert_eq!(count(&[(a, get), (a, get), (b, set)]), 3);
        assert_eq!(count(&[(a, get), (b, set), (a, set)]), 2);
        assert_eq!(count(&[(a, set), (b, get), (a, get)]), 2);
        assert_eq!(count(&[(a, Action::Delete), (a, set)]), 1);
    }
}
