//! The same through TLS.

use super::batches::Taken;
use super::servers::patient;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tavola::Table;
use tavola_client::{Batch, Client, Error, FailureCause, GetOptions, Outcome, StoreOptions, Tls};
use tavola_server::memcached::Memcached;
use tavola_server::{Address, Listen, Options, Server, TlsFiles};

/// An authority and what it signs, as files.
struct Papers {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Papers {
    fn make(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("signed");
        let params = CertificateParams::new([name.to_string()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &authority).expect("signed");
        let write = |file: &str, text: String| {
            let path = folder.join(file);
            fs::write(&path, text).expect("written");
            path
        };
        Self {
            authority: write("authority.pem", authority.pem()),
            certificate: write("certificate.pem", certificate.pem()),
            key: write("key.pem", key.serialize_pem()),
        }
    }
}

fn start(papers: &Papers, asks_for_certificate: bool) -> (Server, String) {
    let mut files = TlsFiles::new(papers.certificate.clone(), papers.key.clone());
    files.clients = asks_for_certificate.then(|| papers.authority.clone());
    let tls = Arc::new(tavola_server::Tls::read(files).expect("certificates"));
    let table = Table::options().max_size(256 << 20).versions(true);
    let table = Arc::new(table.private().expect("a table"));
    let listen = Listen::Tcp("127.0.0.1:0".parse().expect("an address"));
    let options = Options::new().threads(1).listen_tls(listen, &tls);
    let server = options.start(Memcached::new(table)).expect("a server");
    let Address::Tcp(address) = &server.addresses()[0] else {
        panic!("it listens on TCP");
    };
    let name = address.to_string();
    (server, name)
}

#[test]
fn values_of_every_size_go_through_tls() {
    let folder = tempfile::tempdir().expect("a folder");
    let papers = Papers::make(folder.path(), "127.0.0.1");
    let (server, name) = start(&papers, false);
    let tls = Tls::trusting(&papers.authority).expect("an authority");
    let client = patient(Client::builder().server(&name, 1.0).tls(tls));
    let values: Vec<Vec<u8>> = [0, 1, 1000, 16_384, 60_000, 1_000_000]
        .map(|size| vec![b'v'; size])
        .to_vec();
    let keys: Vec<String> = (0..values.len()).map(|place| place.to_string()).collect();
    let mut batch = Batch::new();
    for (key, value) in keys.iter().zip(&values) {
        batch.set(key.as_bytes(), value, StoreOptions::default());
        batch.get(key.as_bytes(), GetOptions::default());
    }
    for _ in 0..3 {
        let taken = Taken::of(&client, &mut batch);
        for (place, pair) in taken.outcomes().chunks(2).enumerate() {
            assert_eq!(pair[0], Outcome::Stored);
            assert!(taken.values[2 * place + 1] == values[place]);
        }
        assert_eq!(client.get(b"missing"), Ok(None));
    }
    server.stop();
}

#[test]
fn a_server_that_is_not_trusted_is_not_used() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let papers = Papers::make(folders[0].path(), "cache.example");
    let others = Papers::make(folders[1].path(), "cache.example");
    let (server, name) = start(&papers, false);
    let client = |tls| patient(Client::builder().server(&name, 1.0).tls(tls));
    let trusting = |papers: &Papers| Tls::trusting(&papers.authority).expect("an authority");
    let named = client(trusting(&papers).named("cache.example"));
    assert_eq!(named.get(b"key"), Ok(None));
    for wrong in [
        client(trusting(&papers)),
        client(trusting(&others).named("cache.example")),
    ] {
        match wrong.get(b"key") {
            Err(Error::Unsent { cause, why, .. }) => {
                assert_eq!(cause, FailureCause::Tls);
                assert!(why.contains("certificate"), "{why}");
            }
            other => panic!("nothing is sent: {other:?}"),
        }
    }
    server.stop();
}

#[test]
fn a_client_shows_its_certificate() {
    let folder = tempfile::tempdir().expect("a folder");
    let papers = Papers::make(folder.path(), "127.0.0.1");
    let (server, name) = start(&papers, true);
    let client = |tls| patient(Client::builder().server(&name, 1.0).tls(tls));
    let Papers {
        authority,
        certificate,
        key,
    } = &papers;
    let shown = Tls::showing(authority, certificate, key).expect("a certificate");
    assert_eq!(client(shown).get(b"key"), Ok(None));
    let hidden = Tls::trusting(authority).expect("an authority");
    assert!(matches!(
        client(hidden).get(b"key"),
        Err(Error::Unsent { .. })
    ));
    let wrong = Tls::trusting(key).expect_err("no certificate").to_string();
    assert!(wrong.contains("key.pem"), "{wrong}");
    server.stop();
}
