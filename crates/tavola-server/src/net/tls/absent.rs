//! No TLS: there are no values of these types.

use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::TlsFiles;
use crate::net::error::{Error, Result};
use crate::net::output::Output;
use crate::net::stream::Received;

/// The TLS setup of a server. There are no values of it, as TLS was left out when this was
/// compiled.
#[derive(Debug)]
pub struct Tls(Infallible);

impl Tls {
    /// Returns an error, as this program was built without TLS.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn read(files: TlsFiles) -> Result<Self> {
        Err(Error::Certificates {
            path: files.certificates,
            why: "is of no use: this program was built without TLS".into(),
        })
    }

    /// Does nothing, as there are no values of this type.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn reread(&self) -> Result<()> {
        match self.0 {}
    }

    /// Returns the files that were read.
    pub fn files(&self) -> &TlsFiles {
        match self.0 {}
    }

    /// Returns how long ago the files were read.
    pub fn age(&self) -> Duration {
        match self.0 {}
    }
}

#[derive(Debug)]
pub(crate) struct Session(Infallible);

impl Session {
    pub(crate) fn new(tls: &Tls) -> io::Result<Self> {
        match tls.0 {}
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_new(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_pending(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn holds(&self) -> usize {
        match self.0 {}
    }

    pub(crate) fn receive(&mut self, _: &OwnedFd, _: &mut Vec<u8>) -> io::Result<Received> {
        match self.0 {}
    }

    pub(crate) fn send(&mut self, _: &OwnedFd, _: &mut Output) -> io::Result<usize> {
        match self.0 {}
    }

    pub(crate) fn finish(&mut self, _: &OwnedFd) {
        match self.0 {}
    }
}
