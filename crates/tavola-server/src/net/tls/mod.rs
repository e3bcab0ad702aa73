//! TLS: what a server shows its clients and asks of them, and the sessions of connections.
//!
//! | file | what it holds |
//! |---|---|
//! | `certificates` | files of certificates and keys, read into what `rustls` serves with |
//! | `session` | one connection: bytes of the socket into bytes of the client and back |
//! | `absent` | the same where TLS was left out when this was compiled |

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod certificates;
#[cfg(feature = "tls")]
mod session;

use std::path::PathBuf;

#[cfg(not(feature = "tls"))]
pub(crate) use absent::Session;
#[cfg(not(feature = "tls"))]
pub use absent::Tls;
#[cfg(feature = "tls")]
pub use certificates::Tls;
#[cfg(feature = "tls")]
pub(crate) use session::Session;

/// The most bytes of one connection that are encrypted before they are sent.
pub(crate) const OUTPUT_BYTES: usize = 64 * 1024;

/// The files of a TLS setup, all in PEM format, and whether clients need a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, and behind it those that lead to its authority.
    pub certificates: PathBuf,
    /// The private key; may be the same file.
    pub key: PathBuf,
    /// The certificates of authorities that sign those of clients. Without it, clients are not
    /// asked for certificates.
    pub clients: Option<PathBuf>,
    /// Whether clients may also show no certificate, if `clients` is given. A certificate that they
    /// show must be valid.
    pub is_optional: bool,
    /// Whether only TLS 1.3 is spoken, and not 1.2 as well.
    pub is_newest_only: bool,
}

impl TlsFiles {
    /// Returns a setup that shows a certificate and asks clients for none.
    pub fn new(certificates: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            certificates: certificates.into(),
            key: key.into(),
            clients: None,
            is_optional: false,
            is_newest_only: false,
        }
    }

    /// Returns whether each client needs a certificate.
    pub fn are_clients_known(&self) -> bool {
        self.clients.is_some() && !self.is_optional
    }
}
