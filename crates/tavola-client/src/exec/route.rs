//! Which server a request goes to now.

use super::call::Call;
use crate::cause::ServerFailure;
use crate::failure::Access;
use crate::fleet::Remaining;
use crate::options::OnDown;
use smallvec::SmallVec;
use std::sync::Arc;

/// Chooses servers for one round of a call. Whether a server may be used is found out once.
pub(super) struct Router {
    /// For each server, whether it may be used; `None` before that is asked.
    is_up: SmallVec<[Option<bool>; 8]>,
    remaining: Option<Arc<Remaining>>,
}

/// Where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    To(usize),
    /// This server is down, for this reason.
    Down(ServerFailure),
}

/// The route to a server that is down.
fn down(call: &Call<'_, '_>, server: usize) -> Route {
    let cause = call.local().sites[server].failures.cause();
    Route::Down(ServerFailure { server, cause })
}

impl Router {
    pub(super) fn new(call: &Call<'_, '_>) -> Self {
        Self {
            is_up: SmallVec::from_elem(None, call.fleet.servers.len()),
            remaining: None,
        }
    }

    pub(super) fn route(&mut self, call: &Call<'_, '_>, index: usize) -> Route {
        let (fleet, key) = (call.fleet, call.requests[index].key);
        let given = call.requests[index].server;
        let server = given.unwrap_or_else(|| fleet.place_in(&fleet.ring, key));
        if self.is_up(call, server) {
            return Route::To(server);
        }
        if given.is_some() {
            return down(call, server);
        }
        match fleet.settings.on_down {
            OnDown::Fail => down(call, server),
            OnDown::Next if call.requests[index].is_read() => {
                let count = fleet.servers.len();
                let others = (1..count).map(|step| (server + step) % count);
                let next = { others }.find(|place| self.is_up(call, *place));
                next.map_or_else(|| down(call, server), Route::To)
            }
            OnDown::Next => down(call, server),
            OnDown::Eject => {
                if self.remaining.is_none() {
                    let all = 0..fleet.servers.len();
                    let is_up: Vec<bool> = all.map(|place| self.is_up(call, place)).collect();
                    self.remaining = fleet.remaining(call.local(), &is_up);
                }
                let remaining = self.remaining.as_ref();
                match remaining {
                    Some(remaining) => Route::To(remaining.server_of(fleet, key)),
                    None => down(call, server),
                }
            }
        }
    }

    fn is_up(&mut self, call: &Call<'_, '_>, server: usize) -> bool {
        if let Some(is_up) = self.is_up[server] {
            return is_up;
        }
        let site = &call.local().sites[server];
        let access = site
            .failures
            .access(&call.fleet.servers[server], &call.fleet.settings);
        let is_up = match access {
            Access::Up => true,
            Access::Back(conn) => {
                site.pool.add(conn);
                true
            }
            Access::Down => {
                // What was held would reach it at a time when nobody expects that.
                site.held.clear();
                false
            }
        };
        self.is_up[server] = Some(is_up);
        is_up
    }
}
