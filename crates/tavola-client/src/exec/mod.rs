//! The execution of a batch: all servers at once, each request reported exactly once.
//!
//! A call has rounds. In a round every request that is not done goes to the lane of its server; the
//! lanes send and receive by turns, and one `poll` waits for all of them. A lane that fails ends:
//! its connection is closed, and its requests are reported or, once each, left to the next round.
//!
//! - `names`: keys as servers have them
//! - `ask`: requests as bytes
//! - `answer`: whose an answer is, and what it says
//! - `call`: what lanes share
//! - `lane`: the requests to one server
//! - `value`: a value on its way to the memory of the caller
//! - `route`: which server that is

mod answer;
#[cfg(test)]
mod apart;
mod ask;
mod call;
#[cfg(test)]
mod counts;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod interrupted;
mod lane;
#[cfg(test)]
mod lookups;
mod names;
mod route;
mod value;

use crate::batch::{Outcome, Request, Sink};
use crate::cause::{FailureCause, ServerFailure};
use crate::conn::{Broken, Conn, Opening, Progress, Wait, wait_for};
use crate::fleet::Fleet;
use crate::pool::Link;
use crate::spin;
use crate::waiting::ReplyKind;
use call::{Call, RequestState};
use lane::Lane;
use route::{Route, Router};
use rustix::event::{PollFd, PollFlags};
use smallvec::SmallVec;
use std::mem;
use std::time::Instant;

/// What this thread's client does not compare, to show that the tests find that out.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neglect {
    Nothing,
    /// It trusts in the order of answers.
    AllMarks,
    /// The key of the answer that is expected next.
    ExpectedKey,
    /// The opaque number of the answer that is expected next.
    ExpectedNumber,
}

#[cfg(test)]
thread_local! {
    static NEGLECT: std::cell::Cell<Neglect> = const { std::cell::Cell::new(Neglect::Nothing) };
}

#[cfg(test)]
pub(crate) fn neglected() -> Neglect {
    NEGLECT.get()
}

#[cfg(test)]
pub(crate) fn neglect(what: Neglect) {
    NEGLECT.set(what);
}

/// Requests of a batch. The lists of a call have one element so often that one is not on the heap.
type Indices = SmallVec<[usize; 2]>;

/// Executes requests and reports what becomes of each.
pub(crate) fn execute(fleet: &Fleet, requests: &[Request<'_>], sink: &mut dyn Sink) {
    let mut states: SmallVec<[RequestState; 4]> =
        SmallVec::from_elem(RequestState::default(), requests.len());
    let mut call = Call::new(fleet, requests, &mut states, sink);
    let mut open: Indices = (0..requests.len()).collect();
    while !open.is_empty() {
        open = run_round(&mut call, &open);
        open.sort_unstable();
    }
}

/// The requests of one server in a round.
struct Group {
    server: usize,
    requests: Indices,
}

/// Executes the requests that are open. Returns those for another round.
fn run_round(call: &mut Call<'_, '_>, open: &[usize]) -> Indices {
    let mut again = Indices::new();
    let groups = group(call, open);
    let mut lanes = Lanes::with_capacity(groups.len());
    for group in groups {
        if is_held(call, &group) {
            continue;
        }
        let local = call.local();
        let pool = &local.sites[group.server].pool;
        let Some(lease) = pool.take(call.began, call.deadline) else {
            // All connections are in use by others; that says nothing about the server.
            let failure = ServerFailure {
                server: group.server,
                cause: FailureCause::Busy,
            };
            for index in group.requests {
                call.finish(index, Outcome::Unsent(failure));
            }
            continue;
        };
        let mut lane = Lane::new(group.server, lease, group.requests);
        match begin(&mut lane, call) {
            Ok(()) => lanes.push(lane),
            Err(broken) => fail(lane, None, &broken, call, &mut again),
        }
    }
    run(lanes, call, &mut again);
    again
}

/// Sorts requests by server; the order of the servers is the same in each call, so that calls
/// never wait for each other's connections in a circle.
fn group(call: &mut Call<'_, '_>, open: &[usize]) -> SmallVec<[Group; 1]> {
    let mut router = Router::new(call);
    let mut groups: SmallVec<[Group; 1]> = SmallVec::new();
    let mut places: Indices = SmallVec::from_elem(usize::MAX, call.fleet.servers.len());
    let places = &mut places[..];
    for index in open {
        match router.route(call, *index) {
            Route::Down(failure) => call.finish(*index, Outcome::Unsent(failure)),
            Route::To(server) => {
                if places[server] == usize::MAX {
                    places[server] = groups.len();
                    let requests = Indices::with_capacity(open.len() / places.len());
                    groups.push(Group { server, requests });
                }
                groups[places[server]].requests.push(*index);
            }
        }
    }
    groups.sort_by_key(|group| group.server);
    groups
}

/// A request that needs no answer usually fits into so many bytes.
const FEW_BYTES: usize = 512;

/// Holds requests that need no answer, if there is room and none of them needs one.
fn is_held(call: &mut Call<'_, '_>, group: &Group) -> bool {
    let requests = call.requests;
    if !{ group.requests.iter() }.all(|index| call.names.is_silent(&requests[*index])) {
        return false;
    }
    let mut bytes = Vec::with_capacity(FEW_BYTES);
    let mut refused: SmallVec<[Option<String>; 1]> = SmallVec::new();
    for index in &group.requests {
        let written = ask::write_silent(&mut bytes, &requests[*index], &mut call.names);
        refused.push(written.err().map(|refused| refused.to_string()));
    }
    let is_held = call.local().sites[group.server].held.hold(&bytes);
    if is_held {
        for (index, refused) in group.requests.iter().zip(refused) {
            let outcome = refused.map_or(Outcome::Queued, Outcome::Refused);
            call.finish(*index, outcome);
        }
    }
    is_held
}

/// Begins to connect, if the lane has no connection.
fn begin(lane: &mut Lane<'_>, call: &Call<'_, '_>) -> Result<(), Broken> {
    match &mut lane.lease.held {
        Link::None => {
            let server = &call.fleet.servers[lane.server];
            let opening = Opening::begin(server, &call.fleet.settings)?;
            lane.lease.held = Link::Opening(opening);
        }
        Link::Opening(_) => {}
        Link::Open(_) => begin_open(lane, call),
    }
    Ok(())
}

fn begin_open(lane: &mut Lane<'_>, call: &Call<'_, '_>) {
    if let Link::Open(mut conn) = mem::replace(&mut lane.lease.held, Link::None) {
        lane.begin(&mut conn, call);
        lane.lease.held = Link::Open(conn);
    }
}

/// The lanes of a round; a single one is not on the heap.
type Lanes<'p> = SmallVec<[Lane<'p>; 1]>;

/// Runs lanes until each has ended.
fn run(mut lanes: Lanes<'_>, call: &mut Call<'_, '_>, again: &mut Indices) {
    let mut ready: SmallVec<[bool; 8]> = SmallVec::from_elem(false, lanes.len());
    // A receive that blocks has the time of a whole batch.
    let mut may_block = lanes.len() == 1;
    let mut is_late = false;
    loop {
        let mut place = 0;
        for is_ready in mem::take(&mut ready) {
            let wait = match (is_ready, may_block) {
                (true, _) => Some(Wait::No),
                (false, true) => Some(Wait::Block),
                (false, false) => None,
            };
            let lane = &mut lanes[place];
            match advance(lane, call, wait, is_late) {
                Ok(LaneStep::Done) => {
                    call.local().sites[lane.server].failures.note_success();
                    lanes.remove(place).lease.give_back(call.began);
                }
                Ok(LaneStep::Waiting) => place += 1,
                Err(failed) => {
                    let lane = lanes.remove(place);
                    fail(lane, failed.conn, &failed.broken, call, again);
                }
            }
        }
        if lanes.is_empty() {
            return;
        }
        may_block = false;
        ready = wait_for_lanes(&lanes, call);
        is_late = Instant::now() >= call.deadline;
        if is_late {
            // Answers may be here although nobody had the time to read them.
            ready.fill(true);
        }
    }
}

/// Whether a lane has all of its answers.
enum LaneStep {
    Done,
    Waiting,
}

/// What is left of a lane's connection when it fails.
struct Failed {
    conn: Option<Box<Conn>>,
    broken: Broken,
}

impl From<Broken> for Failed {
    fn from(broken: Broken) -> Self {
        let conn = None;
        Self { conn, broken }
    }
}

/// Continues a lane as far as it goes. The connection is taken out of the lane meanwhile: a sink
/// that panics drops it, and so closes it.
fn advance(
    lane: &mut Lane<'_>,
    call: &mut Call<'_, '_>,
    mut wait: Option<Wait>,
    is_late: bool,
) -> Result<LaneStep, Failed> {
    if let Link::Opening(opening) = take_opening(lane) {
        let connect_deadline = opening.began + call.fleet.settings.connect_timeout;
        let server = &call.fleet.servers[lane.server];
        match opening.advance(server, &call.fleet.settings)? {
            Progress::Ready(conn) => {
                lane.lease.held = Link::Open(conn);
                begin_open(lane, call);
            }
            Progress::Waiting(_) if is_late => return Err(Broken::late().into()),
            Progress::Waiting(_) if Instant::now() >= connect_deadline => {
                return Err(Opening::late().into());
            }
            Progress::Waiting(opening) => {
                lane.lease.held = Link::Opening(opening);
                return Ok(LaneStep::Waiting);
            }
        }
        // It has only just become ready to be written to.
        wait = wait.filter(|wait| *wait == Wait::Block);
    }
    let Link::Open(mut conn) = mem::replace(&mut lane.lease.held, Link::None) else {
        return Err(Broken::of(FailureCause::Local, "the connection is gone").into());
    };
    let worked = work(lane, &mut conn, call, wait);
    match worked {
        Ok(false) if is_late => Err(Failed {
            conn: Some(conn),
            broken: Broken::late(),
        }),
        Ok(is_done) => {
            lane.lease.held = Link::Open(conn);
            Ok(if is_done {
                LaneStep::Done
            } else {
                LaneStep::Waiting
            })
        }
        Err(broken) => Err(Failed {
            conn: Some(conn),
            broken,
        }),
    }
}

/// Sends and receives; a lane that is alone waits in the receive itself, perhaps after asking the
/// socket again and again for a moment. Returns whether all is answered.
fn work(
    lane: &mut Lane<'_>,
    conn: &mut Conn,
    call: &mut Call<'_, '_>,
    wait: Option<Wait>,
) -> Result<bool, Broken> {
    if conn.stream.fd().is_none() {
        // A table has its answers at once.
        return lane.work(conn, call, Some(Wait::No));
    }
    if wait != Some(Wait::Block) {
        return lane.work(conn, call, wait);
    }
    if !conn.stream.can_block() || call.began.elapsed() > call.fleet.settings.io_timeout / 16 {
        return lane.work(conn, call, None);
    }
    let local = call.local();
    let spin = &local.sites[lane.server].spin;
    if !spin.begin() {
        return lane.work(conn, call, wait);
    }
    if lane.work(conn, call, None)? {
        return Ok(true);
    }
    for _ in 0..spin::TRIES {
        if conn.receive(Wait::No)? {
            spin.note(true);
            return lane.work(conn, call, Some(Wait::No));
        }
    }
    spin.note(false);
    lane.work(conn, call, wait)
}

/// Takes a connection in the making out of a lane; anything else stays.
fn take_opening(lane: &mut Lane<'_>) -> Link {
    match lane.lease.held {
        Link::Opening(_) => mem::replace(&mut lane.lease.held, Link::None),
        _ => Link::None,
    }
}

/// Waits until a lane can continue. Returns which of them can.
fn wait_for_lanes(lanes: &[Lane<'_>], call: &Call<'_, '_>) -> SmallVec<[bool; 8]> {
    let mut deadline = call.deadline;
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(lanes.len());
    let mut places = Vec::with_capacity(lanes.len());
    let mut ready = SmallVec::from_elem(false, lanes.len());
    for (place, lane) in lanes.iter().enumerate() {
        let fd = match &lane.lease.held {
            Link::None => continue,
            Link::Opening(opening) => {
                deadline = deadline.min(opening.began + call.fleet.settings.connect_timeout);
                opening.poll_fd()
            }
            Link::Open(conn) => conn.poll_fd(),
        };
        let Some(fd) = fd else {
            ready[place] = true;
            deadline = call.began;
            continue;
        };
        fds.push(fd);
        places.push(place);
    }
    wait_for(&mut fds, deadline);
    for (fd, place) in fds.iter().zip(places) {
        ready[place] = fd.revents().intersects(!PollFlags::OUT);
    }
    ready
}

/// Ends a lane that failed: nobody reads from its connection again.
fn fail(
    mut lane: Lane<'_>,
    conn: Option<Box<Conn>>,
    broken: &Broken,
    call: &mut Call<'_, '_>,
    again: &mut Indices,
) {
    let local = call.local();
    let site = &local.sites[lane.server];
    let sent = conn.as_ref().map_or(0, |conn| conn.sent());
    let is_old = conn.as_ref().is_some_and(|conn| conn.is_reused());
    if let Some(conn) = &conn
        && sent <= lane.start
        && lane.held_end > lane.start
        && call.is_own()
    {
        // No byte of what was held has left.
        let held = (lane.held_end - lane.start) as usize;
        site.held.hold(&conn.output[..held]);
    }
    drop(conn);
    match (broken.cause, is_old) {
        // It says nothing about the server.
        _ if !call.is_own() => {}
        // It was closed while nobody used it; then the others that are free were, too.
        (cause, true) if cause.has_ended() => site.pool.close_idle(),
        (FailureCause::Local, _) => {}
        _ => call.fleet.note_failure(lane.server, broken, call.began),
    }
    let failure = ServerFailure {
        server: lane.server,
        cause: broken.cause,
    };
    let has_ended = broken.cause.has_ended();
    let requests = mem::take(&mut lane.requests);
    let unwritten = &requests[lane.written..];
    let started = lane.passed.iter().chain(lane.waiting.iter());
    let started: Vec<_> = started
        .filter(|waiting| !waiting.kind.is_end() && waiting.kind != ReplyKind::Held)
        .map(|waiting| (waiting.index, waiting.start < sent))
        .collect();
    // The connection's place is free before a sink is called.
    drop(lane);
    for (index, is_sent) in started
        .into_iter()
        .chain(unwritten.iter().map(|index| (*index, false)))
    {
        if call.may_repeat(index, is_sent, has_ended) {
            again.push(index);
            continue;
        }
        call.finish(
            index,
            match is_sent {
                true => Outcome::Unknown(failure),
                false => Outcome::Unsent(failure),
            },
        );
    }
}
