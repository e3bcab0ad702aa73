//! Passwords and TLS by the options of C.

mod support;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::servers::{name, start_with};
use support::{Compile, Installed, Language, Program, directory, here};
use tavola_server::memcached::{Rules, Users};
use tavola_server::{Listen, Options, TlsFiles};

/// Variables of the program, by their names.
type Variable<'v> = (&'v str, &'v str);

fn program() -> Program {
    Installed::get().compile(Compile {
        language: Language::C,
        compiler: "gcc",
        source: &here("tests/secured/secured.c"),
        flags: &[],
    })
}

fn listen() -> Listen {
    Listen::Tcp("127.0.0.1:0".parse().expect("an address"))
}

/// What the program prints.
fn said(program: &Program, server: &str, variables: &[Variable<'_>]) -> String {
    let out = program.run_with(server, variables);
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn a_user_is_let_in_by_text_and_by_sasl() {
    let users = Users::read(b"anna:secret word\n").expect("users");
    let rules = Rules {
        users: Some(Arc::new(users)),
        ..Rules::default()
    };
    let server = start_with(Options::new().threads(1).listen(listen()), rules);
    let (program, server) = (program(), name(&server));
    for login in ["1", "2"] {
        let with = |password| {
            let variables = [
                ("MC_LOGIN", login),
                ("MC_USER", "anna"),
                ("MC_PASSWORD", password),
            ];
            said(&program, &server, &variables)
        };
        assert_eq!(with("secret word"), "TAVOLA_MC_HIT ", "{login}");
        let refused = with("wrong");
        assert!(refused.starts_with("TAVOLA_MC_ERR_UNSENT "), "{refused}");
        assert!(refused.contains("check both"), "{refused}");
    }
    let refused = said(&program, &server, &[]);
    assert!(refused.starts_with("TAVOLA_MC_ERR_UNSENT "), "{refused}");
}

/// Certificates in files.
struct Papers {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Papers {
    fn make(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(params, key).expect("signed");
        let params = CertificateParams::new([name.to_string()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &authority).expect("signed");
        let write = |file: &str, text: String| {
            let path = folder.join(file);
            std::fs::write(&path, text).expect("written");
            path
        };
        Self {
            authority: write("authority.pem", authority.pem()),
            certificate: write("certificate.pem", certificate.pem()),
            key: write("key.pem", key.serialize_pem()),
        }
    }
}

#[test]
fn servers_are_reached_by_tls_and_get_a_certificate() {
    let folder = directory();
    let papers = Papers::make(folder.path(), "cache.example");
    let mut files = TlsFiles::new(papers.certificate.clone(), papers.key.clone());
    files.clients = Some(papers.authority.clone());
    let tls = Arc::new(tavola_server::Tls::read(files).expect("certificates"));
    let options = Options::new().threads(1).listen_tls(listen(), &tls);
    let server = start_with(options, Rules::default());
    let (program, server) = (program(), name(&server));
    let [authority, certificate, key] =
        [&papers.authority, &papers.certificate, &papers.key].map(|path| path.to_str().unwrap());
    let all = [
        ("MC_NAME", "cache.example"),
        ("MC_AUTHORITIES", authority),
        ("MC_CERTIFICATE", certificate),
        ("MC_KEY", key),
    ];
    assert_eq!(said(&program, &server, &all), "TAVOLA_MC_HIT ");
    // The name is another, the certificate is missing, there is no TLS.
    for variables in [&all[1..], &all[..2], &[][..]] {
        let refused = said(&program, &server, variables);
        assert!(refused.starts_with("TAVOLA_MC_ERR_UN"), "{refused}");
    }
}
