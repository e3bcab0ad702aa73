//! Users and passwords, by text and by SASL.

use super::servers::{Ours, Theirs, free_port, patient};
use std::fs;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use tavola_client::{Builder, CountOptions, Error, FailureCause, Protocol, StoreOptions};
use tavola_server::Listen;
use tavola_server::memcached::{Rules, Users};

fn works(builder: Builder) {
    let client = patient(builder);
    for round in 0..3_u8 {
        client
            .set(b"key", &[round], StoreOptions::default())
            .expect("stored");
        assert_eq!(
            client
                .get(b"key")
                .expect("an answer")
                .expect("a value")
                .data,
            [round]
        );
        assert_eq!(client.incr(b"missing", CountOptions::by(1)), Ok(None));
    }
}

fn is_unsent(builder: Builder, word: &str) {
    let client = builder.build().expect("a client");
    match client.get(b"key") {
        Err(Error::Unsent { cause, why, .. }) => {
            assert_eq!(cause, FailureCause::Authentication);
            assert!(why.contains(word), "{why}");
        }
        other => panic!("nothing is sent without a password: {other:?}"),
    }
}

fn ours() -> Ours {
    let users = Users::read(b"anna:secret word\n").expect("users");
    let rules = Rules {
        users: Some(Arc::new(users)),
        ..Rules::default()
    };
    Ours::listening(
        Listen::Tcp("127.0.0.1:0".parse().expect("an address")),
        rules,
    )
}

#[test]
fn a_user_is_let_in_by_text_and_by_sasl() {
    let server = ours();
    works(server.client().text_auth("anna", "secret word"));
    works(
        server
            .client()
            .text_auth("anna", "secret word")
            .protocol(Protocol::Text),
    );
    works(server.client().sasl("anna", "secret word"));
    is_unsent(server.client().text_auth("anna", "wrong"), "check both");
    is_unsent(server.client().sasl("anna", "wrong"), "check both");
    is_unsent(server.client(), "text_auth");
}

/// A folder with memcached's configuration of SASL, and one user in a database of libsasl; `None`
/// where its tools are not installed.
fn sasl_folder(user: &str, password: &str) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("users");
    let config = format!("mech_list: plain\nsasldb_path: {}\n", database.display());
    fs::write(folder.path().join("memcached.conf"), config).expect("written");
    let tool = Command::new("saslpasswd2")
        .args(["-a", "memcached", "-c", "-p", "-f"])
        .arg(database)
        .arg(user)
        .stdin(Stdio::piped())
        .spawn();
    let mut tool = match tool {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("saslpasswd2 is not installed");
            return None;
        }
        tool => tool.expect("it starts"),
    };
    let mut input = tool.stdin.take().expect("a pipe");
    input.write_all(password.as_bytes()).expect("written");
    drop(input);
    assert!(tool.wait().expect("it ends").success());
    Some(folder)
}

#[test]
fn memcached_lets_a_user_in_by_sasl() {
    let Some(folder) = sasl_folder("anna", "secret word") else {
        return;
    };
    let Some(server) = Theirs::with_sasl(free_port(), &["-S"], Some(folder.path())) else {
        return;
    };
    works(server.client().sasl("anna", "secret word"));
    is_unsent(server.client().sasl("anna", "wrong"), "check both");
    is_unsent(server.client().sasl("bob", "secret word"), "check both");
}

#[test]
fn memcached_lets_a_user_in_by_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("users");
    fs::write(&file, "anna:secret\n").expect("written");
    let Some(server) = Theirs::start(&["-Y", file.to_str().expect("a path")]) else {
        return;
    };
    works(server.client().text_auth("anna", "secret"));
    is_unsent(server.client().text_auth("anna", "wrong"), "check both");
    is_unsent(server.client(), "text_auth");
}
