//! Servers that are there already: asked in the place of one that the run starts.

use super::job::Transport;
use super::peers::{Peer, Server};

/// The note of each row of such a server.
const NOTE: &str =
    "of a server that was there already: where it runs, and how it is set up, is not known";

/// Adds it to what else a reader must know.
pub(super) fn note(of: &mut Option<String>) {
    let before = of
        .take()
        .map_or(String::new(), |before| format!("{before}; "));
    *of = Some(format!("{before}{NOTE}"));
}

/// Where they are.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Given {
    /// Ask this PostgreSQL, postgres://USER:PASSWORD@HOST:PORT/DATABASE [default: one is made]
    #[arg(long, value_name = "URL")]
    pub postgres: Option<String>,
    /// Ask this server of SQL through ODBC, DSN=NAME or Driver=NAME;Server=HOST;... [default: none]
    #[arg(long, value_name = "STRING")]
    pub odbc: Option<String>,
}

impl Given {
    /// Of the server of this kind, if it is given.
    pub(super) fn address(&self, kind: Server) -> Option<&str> {
        match kind {
            Server::Postgres => self.postgres.as_deref(),
            Server::Odbc => self.odbc.as_deref(),
            _ => None,
        }
    }

    /// Whether the peer asks a server that is given; an error says why it cannot.
    pub(super) fn serves(&self, peer: &Peer) -> Result<bool, String> {
        match peer.server.and_then(|kind| self.address(kind)) {
            None => Ok(false),
            // It has one address.
            Some(_) if peer.transport == Some(Transport::Unix) => {
                Err("PostgreSQL is reached by its URL".to_owned())
            }
            Some(_) => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::peers;

    #[test]
    fn a_note_comes_after_the_one_there_is() {
        let mut none = None;
        note(&mut none);
        assert_eq!(none.as_deref(), Some(NOTE));
        let mut some = Some("only 1 of 2".to_owned());
        note(&mut some);
        assert_eq!(some, Some(format!("only 1 of 2; {NOTE}")));
    }

    #[test]
    fn a_given_server_is_asked_by_one_peer_a_language() {
        let given = Given {
            postgres: Some("postgres://somebody@somewhere".to_owned()),
            odbc: None,
        };
        let serves = |name| {
            let peer = peers::all().find(|peer| peer.name == name);
            given.serves(&peer.expect(name))
        };
        for name in ["postgres-tcp", "postgres-php-tcp"] {
            assert_eq!(serves(name), Ok(true), "{name}");
        }
        for name in ["postgres-unix", "postgres-php-unix"] {
            assert!(serves(name).is_err(), "{name}");
        }
        for name in ["sql-odbc", "redis", "tavola"] {
            assert_eq!(serves(name), Ok(false), "{name}");
        }
    }
}
