//! What a server listens on, and what it refuses to.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

use rustix::net::SocketAddrUnix;
use tavola_server::{Listen, from_environment};

use super::place::{self, Place};
use super::plan::Plan;
use crate::error::CliError;

/// One socket that is, or will be.
#[derive(Debug)]
pub struct Socket {
    pub listen: Listen,
    /// Whether its file, if it has one, is ours to remove.
    pub is_ours: bool,
    pub is_tls: bool,
    /// Whether it is for clients of Redis; others are for those of memcached.
    pub is_resp: bool,
    /// None of a Unix socket.
    address: Option<SocketAddr>,
}

/// A place that was named.
#[derive(Clone, Copy)]
struct Named<'a> {
    place: &'a Place,
    is_resp: bool,
}

/// The sockets of a predecessor, each with whether its file is ours, are all there are. Else they
/// are those that systemd has opened and those that are named.
pub fn all(plan: &Plan, succeeded: Vec<(Listen, bool)>) -> Result<Vec<Socket>, CliError> {
    let is_successor = !succeeded.is_empty();
    let handed_over = match is_successor {
        true => Vec::new(),
        false => from_environment().map_err(|error| CliError::Sentence(error.to_string()))?,
    };
    let foreign = handed_over.into_iter().map(|listen| (listen, false));
    let named = |is_resp: bool| move |place| Named { place, is_resp };
    let mut named: Vec<Named<'_>> = plan
        .places
        .iter()
        .map(named(false))
        .chain(plan.resp_places.iter().map(named(true)))
        .collect();
    let mut all: Vec<Socket> = succeeded
        .into_iter()
        .chain(foreign)
        .map(|(listen, is_ours)| bound(plan, listen, is_ours, &mut named))
        .collect();
    if !is_successor {
        if all.is_empty() && named.is_empty() {
            named.push(Named {
                place: &plan.default_place,
                is_resp: false,
            });
        }
        all.extend(named.into_iter().map(|named| open(plan, named)));
    }
    all.iter().try_for_each(|socket| guard(plan, socket))?;
    Ok(all)
}

/// A socket that is to be opened.
fn open(plan: &Plan, named: Named<'_>) -> Socket {
    let listen = match named.place {
        Place::Tcp(address) | Place::Plain(address) => Listen::Tcp(*address),
        Place::Unix(path) => Listen::Unix {
            path: path.clone(),
            mode: plan.socket_mode,
        },
    };
    let (address, is_tls) = match named.place {
        Place::Tcp(address) => (Some(*address), plan.tls.is_some()),
        Place::Plain(address) => (Some(*address), false),
        Place::Unix(_) => (None, false),
    };
    Socket {
        listen,
        is_ours: true,
        is_tls,
        is_resp: named.is_resp,
        address,
    }
}

/// A socket that is open. One of ours was opened at a place that was named, in the same order: that
/// one says what it is for and whether it has TLS, and is taken out of the list. So is one of
/// another program at a place for clients of Redis.
fn bound(plan: &Plan, listen: Listen, is_ours: bool, named: &mut Vec<Named<'_>>) -> Socket {
    let name = match &listen {
        Listen::Descriptor(socket) | Listen::Succeeded(socket) => {
            rustix::net::getsockname(socket.as_fd()).ok()
        }
        Listen::Tcp(_) | Listen::Unix { .. } => None,
    };
    let address: Option<SocketAddr> = name.clone().and_then(|name| name.try_into().ok());
    let path = name.and_then(|name| SocketAddrUnix::try_from(name).ok());
    let path = path.and_then(|name| name.path().map(|path| path.into_owned()));
    let is_it = |named: &Named<'_>| match (named.place, address) {
        (Place::Tcp(wanted) | Place::Plain(wanted), Some(found)) => {
            wanted.ip() == found.ip() && (wanted.port() == found.port() || wanted.port() == 0)
        }
        (Place::Unix(wanted), None) => path
            .as_ref()
            .is_some_and(|path| path.as_bytes() == wanted.as_os_str().as_bytes()),
        _ => false,
    };
    let place = named.iter().position(is_it);
    let place = place.filter(|at| is_ours || named[*at].is_resp);
    let place = place.map(|at| named.remove(at));
    let is_plain = matches!(place.map(|named| named.place), Some(Place::Plain(_)));
    Socket {
        listen,
        is_ours,
        is_tls: plan.tls.is_some() && address.is_some() && !is_plain,
        is_resp: place.is_some_and(|named| named.is_resp),
        address,
    }
}

/// Refuses what would let all the world in, or listen: addresses that other machines can reach need
/// TLS, and clients that say who they are.
fn guard(plan: &Plan, socket: &Socket) -> Result<(), CliError> {
    let Some(address) = socket.address else {
        return Ok(());
    };
    if plan.insecure || place::is_of_this_machine(&address) {
        return Ok(());
    }
    let shows = plan.tls.as_ref().is_some_and(|tls| tls.are_clients_known());
    let is_asked = plan.users.is_some() || (shows && socket.is_tls);
    let [tls, users, clients] = plan.voice.flags();
    let encrypt = match plan.tls.is_some() {
        true => "leave out notls:".to_string(),
        false => format!("give it a certificate ({tls})"),
    };
    let ask = format!("ask for passwords ({users}) or for certificates of clients ({clients})");
    let why = match (socket.is_tls, is_asked) {
        (true, true) => return Ok(()),
        (false, true) => {
            format!("passwords and data would cross the network unencrypted: {encrypt}")
        }
        (true, false) => format!("anyone who can reach it could read and change all keys: {ask}"),
        (false, false) => {
            format!("anyone who can reach it could read and change all keys: {encrypt} and {ask}")
        }
    };
    Err(CliError::Sentence(format!(
        "{address} can be reached from other machines, and {why}, or give --insecure"
    )))
}
