//! TLS: whom a client trusts, and the session of one connection.

use super::broken::Broken;
use super::stream::{Wait, receive_plain, send_plain};
use crate::cause::FailureCause;
use crate::server::{Endpoint, Server};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whom a client trusts, and what it shows of itself.
#[derive(Clone, Debug)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: Option<String>,
}

/// Why there is no TLS out of some files.
#[derive(Debug)]
pub struct TlsError {
    path: PathBuf,
    why: String,
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        write!(
            f,
            "{path} cannot be used for TLS: {}; give a file in PEM",
            self.why
        )
    }
}

impl std::error::Error for TlsError {}

/// A certificate that a client shows, and its key: two files in PEM.
#[derive(Clone, Copy, Debug)]
struct Paper<'p> {
    certificate: &'p Path,
    key: &'p Path,
}

impl Tls {
    /// Trusts the authorities of a file in PEM.
    ///
    /// # Errors
    /// [`TlsError`] if it cannot be read, or has no certificate.
    pub fn trusting(authorities: impl AsRef<Path>) -> Result<Self, TlsError> {
        Self::read(authorities.as_ref(), None)
    }

    /// The same, and shows a certificate to servers that ask for one.
    ///
    /// # Errors
    /// [`TlsError`] if a file cannot be read, or the key is not that of the certificate.
    pub fn showing(
        authorities: impl AsRef<Path>,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, TlsError> {
        let paper = Paper {
            certificate: certificate.as_ref(),
            key: key.as_ref(),
        };
        Self::read(authorities.as_ref(), Some(paper))
    }

    /// Goes by a configuration of rustls.
    pub fn of_config(config: Arc<ClientConfig>) -> Self {
        let name = None;
        Self { config, name }
    }

    /// Expects this name in the certificates of servers, not the hosts as they are written. Unix
    /// sockets need one; without it the name is `localhost`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_string());
        self
    }

    fn read(authorities: &Path, paper: Option<Paper<'_>>) -> Result<Self, TlsError> {
        let mut trusted = RootCertStore::empty();
        for certificate in certificates(authorities)? {
            trusted
                .add(certificate)
                .map_err(|error| wrong(authorities, error))?;
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(authorities, error))?
            .with_root_certificates(trusted);
        let config = match paper {
            None => builder.with_no_client_auth(),
            Some(paper) => {
                let key = PrivateKeyDer::from_pem_file(paper.key);
                let key = key.map_err(|error| wrong(paper.key, error))?;
                builder
                    .with_client_auth_cert(certificates(paper.certificate)?, key)
                    .map_err(|error| wrong(paper.key, error))?
            }
        };
        Ok(Self::of_config(Arc::new(config)))
    }

    /// Begins a session with a server; nothing is sent yet.
    pub(super) fn begin(&self, server: &Server) -> Result<Box<Session>, Broken> {
        let name = match (&self.name, server.endpoint()) {
            (Some(name), _) => name.as_str(),
            (None, Endpoint::Tcp { host, .. }) => host,
            (None, _) => "localhost",
        };
        let no_tls = |why: String| Broken::of(FailureCause::Tls, why);
        let name = ServerName::try_from(name.to_string())
            .map_err(|_| no_tls(format!("\"{name}\" can be no name in a certificate")))?;
        let connection = ClientConnection::new(Arc::clone(&self.config), name)
            .map_err(|error| no_tls(format!("TLS cannot begin: {error}")))?;
        Ok(Box::new(Session { connection }))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| wrong(path, error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| wrong(path, error))?;
    match found.is_empty() {
        true => Err(wrong(path, "it has no certificate")),
        false => Ok(found),
    }
}

fn wrong(path: &Path, why: impl ToString) -> TlsError {
    TlsError {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}

/// TLS with one server.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ClientConnection,
}

impl Session {
    pub(super) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Encrypts as much as there is room for, and sends it as far as the socket takes it.
    pub(super) fn send(&mut self, fd: &OwnedFd, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        self.flush(fd)?;
        let written = self.connection.writer().write(bytes);
        let written = written.map_err(|error| Broken::tls(&error))?;
        self.flush(fd)?;
        Ok((written > 0).then_some(written))
    }

    /// Sends what is encrypted, as far as the socket takes it.
    pub(super) fn flush(&mut self, fd: &OwnedFd) -> Result<(), Broken> {
        let mut socket = Socket { fd, broken: None };
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(socket.broken.unwrap_or_else(|| Broken::tls(&error))),
            }
        }
        Ok(())
    }

    /// Decrypts into `memory`; `None` if nothing is here.
    pub(super) fn receive(
        &mut self,
        fd: &OwnedFd,
        memory: &mut [u8],
    ) -> Result<Option<usize>, Broken> {
        loop {
            match self.connection.reader().read(memory) {
                Ok(0) => return Err(Broken::closed()),
                Ok(count) => return Ok(Some(count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(Broken::tls(&error)),
            }
            let mut socket = Socket { fd, broken: None };
            match self.connection.read_tls(&mut socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(socket.broken.unwrap_or_else(|| Broken::tls(&error))),
            }
            let processed = self.connection.process_new_packets();
            // What is to be sent may be an alert that says what is wrong.
            let flushed = self.flush(fd);
            processed
                .map_err(|error| Broken::of(FailureCause::Tls, format!("TLS failed: {error}")))?;
            flushed?;
        }
    }
}

/// The socket below a session.
struct Socket<'f> {
    fd: &'f OwnedFd,
    /// What went wrong, as rustls sees only that something did.
    broken: Option<Broken>,
}

impl Socket<'_> {
    fn pass(&mut self, result: Result<Option<usize>, Broken>) -> io::Result<usize> {
        match result {
            Ok(Some(count)) => Ok(count),
            Ok(None) => Err(io::ErrorKind::WouldBlock.into()),
            Err(broken) => {
                self.broken = Some(broken);
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
    }
}

impl Read for Socket<'_> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let received = receive_plain(self.fd, memory, Wait::No);
        self.pass(received)
    }
}

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = send_plain(self.fd, bytes);
        self.pass(sent)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
