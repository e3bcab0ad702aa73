//! What a server listens on, and what it refuses to.

use std::net::SocketAddr;
use std::os::fd::AsFd;

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
    /// None of a Unix socket.
    address: Option<SocketAddr>,
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
    let mut named: Vec<&Place> = plan.places.iter().collect();
    let mut all: Vec<Socket> = succeeded
        .into_iter()
        .chain(foreign)
        .map(|(listen, is_ours)| bound(plan, listen, is_ours, &mut named))
        .collect();
    if !is_successor {
        if all.is_empty() && named.is_empty() {
            named.push(&plan.default_place);
        }
        all.extend(named.into_iter().map(|place| open(plan, place)));
    }
    all.iter().try_for_each(|socket| guard(plan, socket))?;
    Ok(all)
}

/// A socket that is to be opened.
fn open(plan: &Plan, place: &Place) -> Socket {
    let listen = match place {
        Place::Tcp(address) | Place::Plain(address) => Listen::Tcp(*address),
        Place::Unix(path) => Listen::Unix {
            path: path.clone(),
            mode: plan.socket_mode,
        },
    };
    let (address, is_tls) = match place {
        Place::Tcp(address) => (Some(*address), plan.tls.is_some()),
        Place::Plain(address) => (Some(*address), false),
        Place::Unix(_) => (None, false),
    };
    Socket {
        listen,
        is_ours: true,
        is_tls,
        address,
    }
}

/// A socket that is open. One of ours was opened at a place that was named, in the same order: that
/// one says whether it has TLS, and is taken out of the list.
fn bound(plan: &Plan, listen: Listen, is_ours: bool, named: &mut Vec<&Place>) -> Socket {
    let address: Option<SocketAddr> = match &listen {
        Listen::Descriptor(socket) | Listen::Succeeded(socket) => {
            let name = rustix::net::getsockname(socket.as_fd()).ok();
            name.and_then(|name| name.try_into().ok())
        }
        Listen::Tcp(_) | Listen::Unix { .. } => None,
    };
    let is_it = |place: &&Place| match (place, address) {
        (Place::Tcp(wanted) | Place::Plain(wanted), Some(found)) => {
            wanted.ip() == found.ip() && (wanted.port() == found.port() || wanted.port() == 0)
        }
        _ => false,
    };
    let place = named.iter().position(is_it).filter(|_| is_ours);
    let place = place.map(|at| named.remove(at));
    let is_plain = matches!(place, Some(Place::Plain(_)));
    Socket {
        listen,
        is_ours,
        is_tls: plan.tls.is_some() && address.is_some() && !is_plain,
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
