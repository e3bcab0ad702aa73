//! HELLO, AUTH, CLIENT and other commands about the connection.

use std::fmt::Write;
use std::time::Duration;

use tavola_proto::resp::answer::{self, Version};
use tavola_proto::resp::read_i64;

use super::VERSION;
use super::call::{After, Call, Done, is};
use super::client::DEFAULT_USER;
use super::refusal::{NO_SUCH_DATABASE, Refusal, SYNTAX};
use crate::net::Address;

/// The bytes of the longest reply without a text of the client's.
const REPLY_BYTES: usize = 512;

const WRONG_PASSWORD: &[u8] = b"WRONGPASS invalid username-password pair or user is disabled.";
const NO_PASSWORD: Refusal = Refusal::plain(
    "ERR AUTH <password> called without any password configured for the default user. Are you \
     sure your configuration is correct?",
);
const HELLO_FIRST: Refusal = Refusal::plain(
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO \
     <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP \
     protocol version at the same time",
);
const NO_PROTOCOL: Refusal = Refusal::plain("NOPROTO unsupported protocol version");
const NOT_A_PROTOCOL: Refusal =
    Refusal::plain("ERR Protocol version is not an integer or out of range");
const NAME: Refusal =
    Refusal::plain("ERR Client names cannot contain spaces, newlines or special characters.");

pub(super) fn ping(call: &mut Call<'_>) -> Done {
    match call.args.len() {
        1 => {
            answer::simple(call.output.room(REPLY_BYTES), "PONG");
            Ok(After::NextCommand)
        }
        2 => echo(call),
        _ => Err(Refusal::arity("ping")),
    }
}

pub(super) fn echo(call: &mut Call<'_>) -> Done {
    let word = call.args.get(1).unwrap_or_default();
    call.bulk(word)
}

pub(super) fn select(call: &mut Call<'_>) -> Done {
    match call.number(1)? {
        0 => call.ok(),
        _ => Err(NO_SUCH_DATABASE),
    }
}

pub(super) fn quit(call: &mut Call<'_>) -> Done {
    call.ok()?;
    Ok(After::Quit)
}

pub(super) fn reset(call: &mut Call<'_>) -> Done {
    let is_asked = call.work.shared.rules.users.is_some();
    call.client.reset(is_asked);
    answer::simple(call.output.room(REPLY_BYTES), "RESET");
    Ok(After::NextCommand)
}

pub(super) fn auth(call: &mut Call<'_>) -> Done {
    let (name, password) = match call.args.len() {
        2 => (DEFAULT_USER, call.args.get(1)),
        3 => (&call.args[1], call.args.get(2)),
        _ => return Err(SYNTAX),
    };
    if call.args.len() == 2 && call.work.shared.rules.users.is_none() {
        return Err(NO_PASSWORD);
    }
    let name = name.to_vec();
    match know(call, &name, password.unwrap_or_default()) {
        true => call.ok(),
        false => Ok(refuse_password(call)),
    }
}

/// Checks a name and a password, and notes who the client is if they are right. Without passwords
/// there is one user, who may send any.
fn know(call: &mut Call<'_>, name: &[u8], password: &[u8]) -> bool {
    let is_known = match &call.work.shared.rules.users {
        Some(users) => users.know(name, password),
        None => name == DEFAULT_USER,
    };
    if is_known {
        call.client.user = Some(name.to_vec());
    }
    is_known
}

fn refuse_password(call: &mut Call<'_>) -> After {
    answer::error(call.output.room(REPLY_BYTES), WRONG_PASSWORD);
    After::WrongPassword
}

pub(super) fn hello(call: &mut Call<'_>) -> Done {
    let version = match call.args.get(1).map(read_i64) {
        None => call.client.version,
        Some(None) => return Err(NOT_A_PROTOCOL),
        Some(Some(2)) => Version::Two,
        Some(Some(3)) => Version::Three,
        Some(Some(_)) => return Err(NO_PROTOCOL),
    };
    let (mut words, mut credentials, mut name) = (call.args.after(2), None, None);
    while let Some(word) = words.next() {
        let left = words.len();
        if is(word, "auth") && left >= 2 {
            credentials = words.next().zip(words.next());
        } else if is(word, "setname") && left >= 1 {
            name = words.next();
            if !name.is_none_or(is_printable) {
                return Err(NAME);
            }
        } else {
            let word = String::from_utf8_lossy(word);
            return Err(Refusal::text(format!(
                "ERR Syntax error in HELLO option '{word}'"
            )));
        }
    }
    if let Some((user, password)) = credentials
        && !know(call, user, password)
    {
        return Ok(refuse_password(call));
    }
    if call.client.user.is_none() {
        return Err(HELLO_FIRST);
    }
    if let Some(name) = name {
        set_name(call, name)?;
    }
    call.client.version = version;
    write_hello(call);
    Ok(After::NextCommand)
}

fn write_hello(call: &mut Call<'_>) {
    let version = call.client.version;
    let out = call.output.room(REPLY_BYTES);
    let number = match version {
        Version::Two => 2,
        Version::Three => 3,
    };
    answer::map(out, version, 7);
    for (name, value) in [("server", "redis"), ("version", VERSION)] {
        answer::bulk(out, name.as_bytes());
        answer::bulk(out, value.as_bytes());
    }
    answer::bulk(out, b"proto");
    answer::integer(out, number);
    answer::bulk(out, b"id");
    answer::integer(out, call.client.id as i64);
    for (name, value) in [("mode", "standalone"), ("role", "master")] {
        answer::bulk(out, name.as_bytes());
        answer::bulk(out, value.as_bytes());
    }
    answer::bulk(out, b"modules");
    answer::array(out, 0);
}

/// Names the connection. An empty name removes the old one.
fn set_name(call: &mut Call<'_>, name: &[u8]) -> Result<(), Refusal> {
    if !is_printable(name) {
        return Err(NAME);
    }
    call.client.name = name.to_vec();
    Ok(())
}

fn is_printable(text: &[u8]) -> bool {
    text.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

/// CLIENT with its subcommands.
pub(super) fn client(call: &mut Call<'_>) -> Done {
    let word = call.args.get(1).unwrap_or_default();
    let count = call.args.len();
    let arity = |name: &str| Refusal::arity(&format!("client|{name}"));
    match word {
        word if is(word, "id") => match count {
            2 => call.integer(call.client.id as i64),
            _ => Err(arity("id")),
        },
        word if is(word, "getname") => match count {
            2 => {
                let name = call.client.name.clone();
                call.bulk_or_null((!name.is_empty()).then_some(&name[..]))
            }
            _ => Err(arity("getname")),
        },
        word if is(word, "setname") => match call.args.get(2).filter(|_| count == 3) {
            Some(name) => {
                set_name(call, name)?;
                call.ok()
            }
            None => Err(arity("setname")),
        },
        word if is(word, "setinfo") => set_info(call),
        word if is(word, "info") => match count {
            2 => {
                let line = describe(call);
                answer::text(
                    call.output.room(REPLY_BYTES + line.len()),
                    call.client.version,
                    &line,
                );
                Ok(After::NextCommand)
            }
            _ => Err(arity("info")),
        },
        word => Err(unknown_subcommand(word, "CLIENT")),
    }
}

/// Returns the refusal of a subcommand that is not known.
pub(super) fn unknown_subcommand(word: &[u8], command: &str) -> Refusal {
    let word = String::from_utf8_lossy(&word[..word.len().min(128)]);
    Refusal::text(format!(
        "ERR unknown subcommand '{word}'. Try {command} HELP."
    ))
}

/// CLIENT SETINFO, of Redis 7.2: which library the client uses.
fn set_info(call: &mut Call<'_>) -> Done {
    let (Some(attribute), Some(value), 4) = (call.args.get(2), call.args.get(3), call.args.len())
    else {
        return Err(Refusal::arity("client|setinfo"));
    };
    let (place, name) = match attribute {
        word if is(word, "lib-name") => (&mut call.client.library, "lib-name"),
        word if is(word, "lib-ver") => (&mut call.client.library_version, "lib-ver"),
        word => {
            let word = String::from_utf8_lossy(word);
            return Err(Refusal::text(format!("ERR Unrecognized option '{word}'")));
        }
    };
    if !is_printable(value) {
        return Err(Refusal::text(format!(
            "ERR {name} cannot contain spaces, newlines or special characters."
        )));
    }
    *place = value.to_vec();
    call.ok()
}

/// Returns the line of CLIENT INFO: the facts that there are.
fn describe(call: &Call<'_>) -> String {
    let client = &*call.client;
    let setup = call.work.meter.setup();
    let listener = setup.addresses.get(client.listener);
    let at_socket = match listener {
        Some(Address::Unix(path)) => format!("{}:0", path.display()),
        Some(Address::Tcp(address)) => address.to_string(),
        None => String::new(),
    };
    let shown = |address: Option<std::net::SocketAddr>| {
        address.map_or_else(|| at_socket.clone(), |address| address.to_string())
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut line = String::new();
    let version = match client.version {
        Version::Two => 2,
        Version::Three => 3,
    };
    let age_s = client.since.elapsed().max(Duration::ZERO).as_secs();
    // Writing to a string does not fail.
    let _ = writeln!(
        line,
        "id={} addr={} laddr={} fd={} name={} age={age_s} idle=0 flags=N db=0 sub=0 psub=0 \
         multi=-1 cmd=client|info user={} resp={version} lib-name={} lib-ver={}",
        client.id,
        shown(client.address),
        shown(client.local),
        client.descriptor,
        text(&client.name),
        text(client.user.as_deref().unwrap_or(DEFAULT_USER)),
        text(&client.library),
        text(&client.library_version),
    );
    line
}
