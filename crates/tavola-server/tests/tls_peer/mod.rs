//! Certificates made for a test, and clients that speak TLS.
//!
//! Not every test file uses all of it.
#![allow(dead_code)]

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The authority that signs the certificates of servers and clients.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key.
pub struct Paper {
    pub certificate: rcgen::Certificate,
    key: KeyPair,
}

/// A client's side of a connection.
pub type Line = StreamOwned<ClientConnection, TcpStream>;

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Authority(CertifiedIssuer::self_signed(params, key).expect("signed"))
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for anyone who is at 127.0.0.1, or for a client.
    pub fn issue(&self, name: &str) -> Paper {
        let mut params = CertificateParams::new(["127.0.0.1".to_string()]).expect("an address");
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("signed");
        Paper { certificate, key }
    }

    /// The same in two files.
    pub fn issue_files(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let paper = self.issue(name);
        let (certificate, key) = (folder.join(".cert.pem"), folder.join(".key.pem"));
        fs::write(&certificate, paper.certificate.pem()).expect("written");
        fs::write(&key, paper.key.serialize_pem()).expect("written");
        (certificate, key)
    }

    /// A file with the authority itself.
    pub fn file(&self, folder: &Path) -> PathBuf {
        let path = folder.join(".authority.pem");
        fs::write(&path, self.pem()).expect("written");
        path
    }

    /// What a client goes by that trusts this authority, and shows a paper or nothing.
    pub fn client(&self, shows: Option<&Paper>) -> Arc<ClientConfig> {
        self.config(rustls::DEFAULT_VERSIONS, shows)
    }

    /// The same that speaks one version, and shows nothing.
    pub fn client_of(&self, version: &'static SupportedProtocolVersion) -> Arc<ClientConfig> {
        self.config(&[version], None)
    }

    fn config(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        shows: Option<&Paper>,
    ) -> Arc<ClientConfig> {
        let mut trusted = RootCertStore::empty();
        trusted.add(self.0.der().clone()).expect("an authority");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions")
            .with_root_certificates(trusted);
        Arc::new(match shows {
            None => builder.with_no_client_auth(),
            Some(paper) => {
                let key = PrivatePkcs8KeyDer::from(paper.key.serialize_der());
                let chain = vec![paper.certificate.der().clone()];
                let built = builder.with_client_auth_cert(chain, PrivateKeyDer::Pkcs8(key));
                built.expect("a paper")
            }
        })
    }
}

/// A connection whose handshake is done, as far as the client is asked for it.
pub fn connect(address: SocketAddr, config: &Arc<ClientConfig>) -> io::Result<Line> {
    let socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let name = ServerName::from(address.ip());
    let client = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    let mut line = StreamOwned::new(client, socket);
    while line.conn.is_handshaking() {
        line.conn.complete_io(&mut line.sock)?;
    }
    Ok(line)
}
