//! Certificates and keys, read from files.

use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoClientAuth, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};

use super::TlsFiles;
use crate::net::error::{Error, Result};

/// The most bytes of a file of certificates; a larger file is something else.
const MOST_BYTES: u64 = 1 << 20;

/// The TLS setup of a server. It can be read again while the server runs.
pub struct Tls {
    files: TlsFiles,
    current: RwLock<Current>,
}

struct Current {
    config: Arc<ServerConfig>,
    read: Instant,
}

impl Current {
    fn read(files: &TlsFiles) -> Result<Self> {
        Ok(Self {
            config: Arc::new(config(files)?),
            read: Instant::now(),
        })
    }
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    ///
    /// [`Error::Certificates`] if the files cannot be read, are something else, or do not belong
    /// together.
    pub fn read(files: TlsFiles) -> Result<Self> {
        let current = RwLock::new(Current::read(&files)?);
        Ok(Self { files, current })
    }

    /// Reads the files again, for connections that come from now on.
    ///
    /// # Errors
    ///
    /// As [`Tls::read`]. The setup is unchanged then.
    pub fn reread(&self) -> Result<()> {
        let current = Current::read(&self.files)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = current;
        Ok(())
    }

    /// Returns the files that were read.
    pub fn files(&self) -> &TlsFiles {
        &self.files
    }

    /// Returns how long ago the files were read.
    pub fn age(&self) -> Duration {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.read.elapsed()
    }

    pub(super) fn config(&self) -> Arc<ServerConfig> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current.config)
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.files).finish()
    }
}

fn config(files: &TlsFiles) -> Result<ServerConfig> {
    let versions = match files.is_newest_only {
        true => &[&TLS13][..],
        false => &[&TLS13, &TLS12],
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .map_err(|error| bad(&files.certificates, error))?
        .with_client_cert_verifier(verifier(files)?);
    let certificates = certificates(&files.certificates)?;
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?).map_err(|error| {
        bad(
            &files.key,
            format!(
                "has no private key in PEM format ({error}); a key with a password does not count"
            ),
        )
    })?;
    builder
        .with_single_cert(certificates, key)
        .map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => bad(
                &files.key,
                format!(
                    "is not the key of {}: name the two that belong together",
                    files.certificates.display()
                ),
            ),
            error => bad(
                &files.certificates,
                format!("cannot be served with: {error}"),
            ),
        })
}

/// Returns the rule that decides which clients may come.
fn verifier(files: &TlsFiles) -> Result<Arc<dyn ClientCertVerifier>> {
    let Some(path) = &files.clients else {
        return Ok(Arc::new(NoClientAuth));
    };
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(path)? {
        let added = authorities.add(certificate);
        added.map_err(|error| bad(path, format!("has a certificate of no authority: {error}")))?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider);
    let builder = match files.is_optional {
        true => builder.allow_unauthenticated(),
        false => builder,
    };
    builder.build().map_err(|error| bad(path, error))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = read(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match read {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(bad(path, "has no certificate in PEM format")),
        Err(error) => Err(bad(path, format!("is no file of certificates: {error}"))),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let size = fs::metadata(path).map_err(|error| bad(path, error))?.len();
    if size > MOST_BYTES {
        return Err(bad(path, "is too large for certificates or a key"));
    }
    fs::read(path).map_err(|error| bad(path, error))
}

fn bad(path: &Path, why: impl fmt::Display) -> Error {
    Error::Certificates {
        path: path.to_path_buf(),
        why: why.to_string(),
    }
}
