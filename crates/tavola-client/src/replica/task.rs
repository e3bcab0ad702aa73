//! One request on the copies of its key: what each step asks which copy, and what follows.
//!
//! | request | first step | then |
//! |---|---|---|
//! | get | one copy after the other | add to those that missed it; look again; remove |
//! | get of a unique number | the key's server | |
//! | set, touch | all copies | |
//! | delete | all copies | all copies again |
//! | add, replace | the key's server | if it stored: set on the others |
//! | cas, append, prepend, count | the key's server | if it did it: remove from the others |

use crate::batch::{Action, AskTtl, GetOptions, Outcome, Request, Verb};
use crate::cause::{FailureCause, ServerFailure};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most seconds that an expiry time may have; more is a date.
const MOST_RELATIVE_S: u32 = 60 * 60 * 24 * 30;

/// A request to one copy.
pub(super) struct CopyRequest<'r> {
    pub(super) server: usize,
    pub(super) action: Action<'r>,
}

/// What became of a request to one copy.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyAnswer {
    pub(super) outcome: Option<Outcome>,
    /// Whether memory for the value was asked for.
    pub(super) has_room: bool,
    pub(super) value: Vec<u8>,
    /// The seconds that the item has left, `None` inside if it does not expire.
    pub(super) ttl: Option<Option<u32>>,
}

/// A request and how far it is.
pub(super) struct Task<'b> {
    request: Request<'b>,
    /// The servers of the copies, in the order in which they are asked.
    copies: Vec<usize>,
    state: State,
    /// What is to be reported now.
    outcome: Option<Outcome>,
    /// What is reported at the end if nothing fails.
    decided: Option<Outcome>,
    /// The failure that is reported at the end if nothing better comes.
    failure: Option<Outcome>,
    /// The copies that do not have the key.
    missed: Vec<usize>,
    found: Option<Found>,
}

/// What the next step of a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Ask the copy at this place.
    Read(usize),
    /// Ask the key's server alone.
    AskOwn,
    AskAll,
    RemoveAgain,
    StoreOnOthers,
    RemoveFromOthers,
    /// Add to the copies that missed the key, touch the later ones.
    Repair,
    /// Look whether the source of the repair has changed.
    CheckSource,
    RemoveRepaired,
    Over,
}

/// A value of a later copy.
struct Found {
    /// The place of that copy.
    at: usize,
    value: Vec<u8>,
    flags: u32,
    cas: Option<u64>,
    ttl: Option<Option<u32>>,
}

impl<'b> Task<'b> {
    /// `random` chooses the order in which a get asks the copies.
    pub(super) fn new(request: Request<'b>, mut copies: Vec<usize>, random: Option<u64>) -> Self {
        let state = match request.action {
            Action::Get { with_cas: true, .. } => State::AskOwn,
            Action::Get { .. } => {
                shuffle(&mut copies, random);
                State::Read(0)
            }
            Action::Delete | Action::Touch { .. } => State::AskAll,
            Action::Store {
                verb: Verb::Set, ..
            } => State::AskAll,
            Action::Store { .. } | Action::Count { .. } => State::AskOwn,
        };
        Self {
            request,
            copies,
            state,
            outcome: None,
            decided: None,
            failure: None,
            missed: Vec::new(),
            found: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Returns what is to be reported now, once.
    pub(super) fn report(&mut self) -> Option<Outcome> {
        self.outcome.take()
    }

    /// The value, if it came from a later copy.
    pub(super) fn value(&self) -> Option<&[u8]> {
        self.found.as_ref().map(|found| &found.value[..])
    }

    /// The time that the value of a later copy has left, if the caller asked for it.
    pub(super) fn asked_ttl(&self) -> Option<Option<u32>> {
        match self.request.action {
            Action::Get {
                ttl: AskTtl::Yes, ..
            } => self.found.as_ref()?.ttl,
            _ => None,
        }
    }

    /// Gives the requests of the next step, at least one.
    pub(super) fn for_each_part<'r>(&'r self, mut each: impl FnMut(CopyRequest<'r>)) {
        let mut give = |servers: &[usize], action: Action<'r>| {
            for server in servers {
                each(CopyRequest {
                    server: *server,
                    action,
                });
            }
        };
        let (action, copies) = (self.request.action, &self.copies[..]);
        match self.state {
            State::Read(0) | State::AskOwn => give(&copies[..1], action),
            State::Read(at) => give(&copies[at..=at], self.later_read()),
            State::AskAll | State::RemoveAgain => give(copies, action),
            State::StoreOnOthers => give(&copies[1..], as_set(action)),
            State::RemoveFromOthers => give(&copies[1..], Action::Delete),
            State::Repair => {
                if let Some(add) = self.repair() {
                    give(&self.missed, add);
                }
                if let Some(touch) = self.touch_later() {
                    give(self.later_copies(), touch);
                }
            }
            State::CheckSource => {
                let options = GetOptions::with_cas();
                give(self.source(), Action::get(options, None));
            }
            State::RemoveRepaired => give(&self.missed, Action::Delete),
            State::Over => {}
        }
    }

    /// A get that asks for all that a repair needs.
    fn later_read(&self) -> Action<'b> {
        match self.request.action {
            Action::Get { ttl, touch, .. } => Action::Get {
                with_cas: true,
                ttl: match ttl {
                    AskTtl::No => AskTtl::IfPossible,
                    ttl => ttl,
                },
                touch,
            },
            action => action,
        }
    }

    /// The copy that a value was found on.
    fn source(&self) -> &[usize] {
        let at = self.found.as_ref().map_or(0, |found| found.at);
        &self.copies[at..=at]
    }

    /// The copies that were not asked, because one before them had the value.
    fn later_copies(&self) -> &[usize] {
        let at = self.found.as_ref().map_or(0, |found| found.at);
        &self.copies[at + 1..]
    }

    /// The new expiry time for the copies that were not asked, if there is one.
    fn touch_later(&self) -> Option<Action<'static>> {
        match self.request.action {
            Action::Get {
                touch: Some(exptime),
                ..
            } if !self.later_copies().is_empty() => Some(Action::Touch { exptime }),
            _ => None,
        }
    }

    /// What copies that missed a key get; `None` if there are none, or the time that the value has
    /// left is not known.
    fn repair(&self) -> Option<Action<'_>> {
        let found = self.found.as_ref().filter(|_| !self.missed.is_empty())?;
        // Servers that count no changes say 0.
        found.cas.filter(|cas| *cas != 0)?;
        let exptime = match (self.request.action, found.ttl) {
            (
                Action::Get {
                    touch: Some(exptime),
                    ..
                },
                _,
            ) => exptime,
            (_, ttl) => exptime_of(ttl?)?,
        };
        Some(Action::Store {
            verb: Verb::Add,
            value: &found.value,
            flags: found.flags,
            exptime,
        })
    }

    /// Takes the answers to the requests of a step, and chooses the next.
    pub(super) fn take(&mut self, mut answers: Vec<CopyAnswer>) {
        match self.state {
            State::Read(at) => {
                let answer = answers.pop().unwrap_or_default();
                self.take_read(at, answer);
            }
            State::AskOwn => {
                let outcome = answers.pop().and_then(|answer| answer.outcome);
                self.take_own(outcome.unwrap_or_else(|| not_executed(self.copies[0])));
            }
            State::AskAll => self.take_all(&answers),
            State::RemoveAgain => self.finish(first_failed(&self.copies, &answers)),
            State::StoreOnOthers | State::RemoveFromOthers => {
                self.finish(first_failed(&self.copies[1..], &answers));
            }
            State::Repair => self.take_repair(&answers),
            State::CheckSource => {
                let cas = match answers.pop().and_then(|answer| answer.outcome) {
                    Some(Outcome::Hit { cas, .. }) => cas,
                    _ => None,
                };
                let before = self.found.as_ref().and_then(|found| found.cas);
                self.state = match cas.is_some() && cas == before {
                    true => State::Over,
                    false => State::RemoveRepaired,
                };
            }
            State::RemoveRepaired | State::Over => self.state = State::Over,
        }
    }

    fn take_read(&mut self, at: usize, answer: CopyAnswer) {
        match answer.outcome {
            Some(Outcome::Hit { flags, cas }) => {
                self.outcome = Some(Outcome::Hit { flags, cas: None });
                let (value, ttl) = (answer.value, answer.ttl);
                self.found = (at > 0).then_some(Found {
                    at,
                    value,
                    flags,
                    cas,
                    ttl,
                });
                let follows = self.repair().is_some() || self.touch_later().is_some();
                self.state = if follows { State::Repair } else { State::Over };
                return;
            }
            Some(Outcome::Miss) => self.missed.push(self.copies[at]),
            failed => {
                let failed = failed.unwrap_or_else(|| not_executed(self.copies[at]));
                self.failure = Some(worse(self.failure.take(), failed));
                if at == 0 && answer.has_room {
                    // The caller has given its memory for a value that is not whole.
                    return self.finish(None);
                }
            }
        }
        self.state = State::Read(at + 1);
        if at + 1 == self.copies.len() {
            self.decided = Some(Outcome::Miss);
            self.finish(None);
        }
    }

    fn take_own(&mut self, outcome: Outcome) {
        let is_done = matches!(outcome, Outcome::Stored | Outcome::Count(_));
        self.decided = Some(outcome);
        self.state = match self.request.action {
            Action::Store {
                verb: Verb::Add | Verb::Replace,
                ..
            } if is_done => State::StoreOnOthers,
            Action::Store { .. } | Action::Count { .. } if is_done => State::RemoveFromOthers,
            _ => return self.finish(None),
        };
    }

    fn take_all(&mut self, answers: &[CopyAnswer]) {
        let outcomes = || answers.iter().filter_map(|answer| answer.outcome.as_ref());
        let done = outcomes().find(|outcome| !is_failure(outcome) && **outcome != Outcome::Miss);
        self.decided = Some(done.cloned().unwrap_or(Outcome::Miss));
        self.failure = first_failed(&self.copies, answers).map(Outcome::Unknown);
        if self.failure.is_some()
            && outcomes().all(|outcome| matches!(outcome, Outcome::Unsent(_) | Outcome::Refused(_)))
        {
            // Nothing was changed anywhere.
            self.failure = outcomes()
                .cloned()
                .reduce(|one, other| worse(Some(one), other));
            return self.finish(None);
        }
        match self.request.action {
            Action::Delete => self.state = State::RemoveAgain,
            _ => self.finish(None),
        }
    }

    fn take_repair(&mut self, answers: &[CopyAnswer]) {
        let has_added = |answer: &CopyAnswer| {
            let outcome = answer.outcome.as_ref();
            outcome.is_none_or(|outcome| matches!(outcome, Outcome::Stored | Outcome::Unknown(_)))
        };
        let missed = match self.repair() {
            Some(_) => &self.missed[..],
            None => &[],
        };
        let added = missed.iter().zip(answers);
        let added = added.filter(|(_, answer)| has_added(answer));
        self.missed = added.map(|(server, _)| *server).collect();
        self.state = match self.missed.is_empty() {
            true => State::Over,
            false => State::CheckSource,
        };
    }

    /// Ends and reports: that a copy of this server failed, or an earlier failure, or what was
    /// decided.
    fn finish(&mut self, failed: Option<ServerFailure>) {
        self.state = State::Over;
        let failure = self.failure.take();
        let failure = failure.or(failed.map(Outcome::Unknown));
        self.outcome = failure.or(self.decided.take());
    }
}

/// Whether a request did not succeed in asking its server.
fn is_failure(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Unsent(_) | Outcome::Unknown(_) | Outcome::Refused(_)
    )
}

/// The outcome of a request that was not executed.
fn not_executed(server: usize) -> Outcome {
    let cause = FailureCause::Local;
    Outcome::Unsent(ServerFailure { server, cause })
}

/// The first answer that is a failure, and its server.
fn first_failed(servers: &[usize], answers: &[CopyAnswer]) -> Option<ServerFailure> {
    let has_failed = |answer: &CopyAnswer| answer.outcome.as_ref().is_none_or(is_failure);
    let place = answers.iter().position(has_failed)?;
    let cause = match answers[place].outcome {
        Some(Outcome::Unsent(failure) | Outcome::Unknown(failure)) => failure.cause,
        // What another copy has carried out.
        Some(_) => FailureCause::Partial,
        None => FailureCause::Local,
    };
    let server = *servers.get(place)?;
    Some(ServerFailure { server, cause })
}

/// The failure that says less about what happened; the first of two that say the same.
fn worse(one: Option<Outcome>, other: Outcome) -> Outcome {
    let weight = |outcome: &Outcome| match outcome {
        Outcome::Unknown(_) => 2,
        Outcome::Unsent(_) => 1,
        _ => 0,
    };
    match one {
        Some(one) if weight(&one) >= weight(&other) => one,
        _ => other,
    }
}

/// The store of an add or a replace as one that needs no condition.
fn as_set(action: Action<'_>) -> Action<'_> {
    match action {
        Action::Store {
            value,
            flags,
            exptime,
            ..
        } => Action::Store {
            verb: Verb::Set,
            value,
            flags,
            exptime,
        },
        action => action,
    }
}

/// The expiry time of an item that has so many seconds left; `None` if it is about to expire.
fn exptime_of(left_s: Option<u32>) -> Option<i32> {
    match left_s {
        None => Some(0),
        Some(0) => None,
        Some(left_s @ 1..=MOST_RELATIVE_S) => i32::try_from(left_s).ok(),
        Some(left_s) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
            i32::try_from((now + Duration::from_secs(left_s.into())).as_secs()).ok()
        }
    }
}

/// Puts the copies into random order, if there is a number to do so by.
fn shuffle(copies: &mut [usize], random: Option<u64>) {
    let Some(mut random) = random else {
        return;
    };
    for last in (1..copies.len()).rev() {
        let count = last as u64 + 1;
        copies.swap(last, (random % count) as usize);
        random /= count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_left_becomes_an_expiry_time() {
        assert_eq!(exptime_of(None), Some(0));
        assert_eq!(exptime_of(Some(0)), None);
        assert_eq!(exptime_of(Some(MOST_RELATIVE_S)), Some(2_592_000));
        let date = exptime_of(Some(MOST_RELATIVE_S + 1)).expect("a date");
        assert!(date > 1_700_000_000, "{date}");
    }

    #[test]
    fn each_copy_is_the_first_as_often() {
        let mut firsts = [0; 3];
        for random in 0..6000 {
            let mut copies = [0, 1, 2];
            shuffle(&mut copies, Some(random));
            firsts[copies[0]] += 1;
        }
        assert_eq!(firsts, [2000; 3]);
    }

    #[test]
    fn a_failure_that_may_have_changed_something_is_reported_before_one_that_did_not() {
        let cause = FailureCause::Reset;
        let failed = |server| ServerFailure { server, cause };
        let [unsent, unknown] = [Outcome::Unsent(failed(0)), Outcome::Unknown(failed(1))];
        assert_eq!(worse(None, unsent.clone()), unsent);
        assert_eq!(worse(Some(unsent.clone()), unknown.clone()), unknown);
        assert_eq!(worse(Some(unknown.clone()), unsent), unknown);
    }
}
