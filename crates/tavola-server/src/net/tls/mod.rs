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

/// What may be encrypted of one connection before it is sent.
pub(crate) const OUTPUT_BYTES: usize = 64 * 1024;

/// The files that TLS is spoken with, all in PEM format, and what is asked of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, and behind it those that lead to its authority.
    pub certificates: PathBuf,
    /// The private key; may be the same file.
    pub key: PathBuf,
    /// The certificates of authorities that sign those of clients. Without it clients show none.
    pub clients: Option<PathBuf>,
    /// With `clients`: whether clients may also show nothing. What they show must be right.
    pub is_optional: bool,
    /// Whether TLS 1.3 alone is spoken, and not 1.2 as well.
    pub is_newest_only: bool,
}

impl TlsFiles {
    /// A server that shows a certificate and asks for none.
    pub fn new(certificates: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self {
            certificates: certificates.into(),
            key: key.into(),
            clients: None,
            is_optional: false,
            is_newest_only: false,
        }
    }

    /// Whether nobody comes in without a certificate.
    pub fn are_clients_known(&self) -> bool {
        self.clients.is_some() && !self.is_optional
    }
}
