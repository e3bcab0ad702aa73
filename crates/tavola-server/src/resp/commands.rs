//! The list of all commands, and how the one is found that a client means.

use tavola_proto::resp::Args;
use tavola_proto::resp::answer;

use super::call::{After, Call, Command, Done, Keys, is};
use super::connection::unknown_subcommand;
use super::refusal::{LONG_KEY, NO_AUTHENTICATION, Refusal};
use super::work::Shared;
use super::{KEY_BYTES, config, connection, expiry, info, keys, many, numbers, scan, strings};

const READ: &[&str] = &["readonly"];
const READ_FAST: &[&str] = &["readonly", "fast"];
const WRITE: &[&str] = &["write"];
const WRITE_FAST: &[&str] = &["write", "fast"];
const STORE: &[&str] = &["write", "denyoom"];
const STORE_FAST: &[&str] = &["write", "denyoom", "fast"];
const FAST: &[&str] = &["fast"];
const ALWAYS: &[&str] = &["loading", "stale"];
const ALWAYS_FAST: &[&str] = &["loading", "stale", "fast"];
/// Commands that clients may give before they have said who they are.
const OPENING: &[&str] = &[
    "noscript",
    "loading",
    "stale",
    "fast",
    "no_auth",
    "allow_busy",
];

const fn command(
    name: &'static str,
    arity: i32,
    flags: &'static [&'static str],
    keys: Keys,
    run: fn(&mut Call<'_>) -> Done,
) -> Command {
    Command {
        name,
        arity,
        flags,
        keys,
        run,
    }
}

/// All commands, in the order of their names.
static COMMANDS: &[Command] = &[
    command("append", 3, STORE_FAST, Keys::First, strings::append),
    command("auth", -2, OPENING, Keys::None, connection::auth),
    command("client", -2, &[], Keys::None, connection::client),
    command("command", -1, ALWAYS, Keys::None, describe),
    command("config", -2, &[], Keys::None, config::config),
    command("dbsize", 1, READ_FAST, Keys::None, keys::dbsize),
    command("decr", 2, STORE_FAST, Keys::First, numbers::decr),
    command("decrby", 3, STORE_FAST, Keys::First, numbers::decrby),
    command("del", -2, WRITE, Keys::All, keys::del),
    command("echo", 2, ALWAYS_FAST, Keys::None, connection::echo),
    command("exists", -2, READ_FAST, Keys::All, keys::exists),
    command("expire", -3, WRITE_FAST, Keys::First, expiry::expire),
    command("expireat", -3, WRITE_FAST, Keys::First, expiry::expireat),
    command("expiretime", 2, READ_FAST, Keys::First, expiry::expiretime),
    command("flushall", -1, WRITE, Keys::None, keys::flush),
    command("flushdb", -1, WRITE, Keys::None, keys::flush),
    command("get", 2, READ_FAST, Keys::First, strings::get),
    command("getdel", 2, WRITE_FAST, Keys::First, strings::getdel),
    command("getex", -2, WRITE_FAST, Keys::First, strings::getex),
    command("getrange", 4, READ, Keys::First, strings::getrange),
    command("getset", 3, STORE_FAST, Keys::First, strings::getset),
    command("hello", -1, OPENING, Keys::None, connection::hello),
    command("incr", 2, STORE_FAST, Keys::First, numbers::incr),
    command("incrby", 3, STORE_FAST, Keys::First, numbers::incrby),
    command(
        "incrbyfloat",
        3,
        STORE_FAST,
        Keys::First,
        numbers::incrbyfloat,
    ),
    command("info", -1, ALWAYS, Keys::None, info::info),
    command("keys", 2, READ, Keys::None, scan::keys),
    command("mget", -2, READ_FAST, Keys::All, many::mget),
    command("mset", -3, STORE, Keys::Pairs, many::mset),
    command("msetnx", -3, STORE, Keys::Pairs, many::msetnx),
    command("persist", 2, WRITE_FAST, Keys::First, expiry::persist),
    command("pexpire", -3, WRITE_FAST, Keys::First, expiry::pexpire),
    command("pexpireat", -3, WRITE_FAST, Keys::First, expiry::pexpireat),
    command(
        "pexpiretime",
        2,
        READ_FAST,
        Keys::First,
        expiry::pexpiretime,
    ),
    command("ping", -1, FAST, Keys::None, connection::ping),
    command("psetex", 4, STORE, Keys::First, strings::psetex),
    command("pttl", 2, READ_FAST, Keys::First, expiry::pttl),
    command("quit", -1, OPENING, Keys::None, connection::quit),
    command("reset", 1, OPENING, Keys::None, connection::reset),
    command("scan", -2, READ, Keys::None, scan::scan),
    command("select", 2, ALWAYS_FAST, Keys::None, connection::select),
    command("set", -3, STORE, Keys::First, strings::set),
    command("setex", 4, STORE, Keys::First, strings::setex),
    command("setnx", 3, STORE_FAST, Keys::First, strings::setnx),
    command("setrange", 4, STORE, Keys::First, strings::setrange),
    command("strlen", 2, READ_FAST, Keys::First, strings::strlen),
    command("touch", -2, READ_FAST, Keys::All, keys::exists),
    command("ttl", 2, READ_FAST, Keys::First, expiry::ttl),
    command("type", 2, READ_FAST, Keys::First, keys::kind),
    command("unlink", -2, WRITE_FAST, Keys::All, keys::del),
];

/// The bytes of the longest name.
const NAME_BYTES: usize = 16;
/// The bytes of an unknown command and its words that the reply repeats.
const SHOWN_BYTES: usize = 128;

/// Returns the command that a client means, if it may give it.
pub(super) fn choose(
    shared: &Shared,
    args: &Args<'_>,
    is_stranger: bool,
) -> Result<&'static Command, Refusal> {
    let command = find(shared, &args[0]).ok_or_else(|| unknown(args))?;
    let least = command.arity.unsigned_abs() as usize;
    let is_enough = match command.arity < 0 {
        true => args.len() >= least,
        false => args.len() == least,
    };
    if !is_enough {
        return Err(Refusal::arity(command.name));
    }
    if is_stranger && !command.flags.contains(&"no_auth") {
        return Err(NO_AUTHENTICATION);
    }
    let is_long = |key: &[u8]| key.len() > KEY_BYTES;
    let has_long_key = match command.keys {
        Keys::None => false,
        Keys::First => is_long(&args[1]),
        Keys::All => args.after(1).any(is_long),
        Keys::Pairs => args.after(1).step_by(2).any(is_long),
    };
    match has_long_key {
        true => Err(LONG_KEY),
        false => Ok(command),
    }
}

/// Returns a command by its name. A cache has no transactions, and so no command that needs them.
fn find(shared: &Shared, name: &[u8]) -> Option<&'static Command> {
    let mut room = [0; NAME_BYTES];
    let small = room.get_mut(..name.len())?;
    small.copy_from_slice(name);
    small.make_ascii_lowercase();
    let small = &*small;
    let at = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(small));
    let command = &COMMANDS[at.ok()?];
    (!shared.is_cache || command.keys != Keys::Pairs).then_some(command)
}

/// Returns the refusal of an unknown command, which repeats some of it.
fn unknown(args: &Args<'_>) -> Refusal {
    let mut shown = String::new();
    for word in args.after(1) {
        if shown.len() >= SHOWN_BYTES {
            break;
        }
        let text = text_of(word, SHOWN_BYTES - shown.len());
        shown.push_str(&format!("'{text}' "));
    }
    let name = text_of(&args[0], SHOWN_BYTES);
    Refusal::text(format!(
        "ERR unknown command '{name}', with args beginning with: {shown}"
    ))
}

/// Returns the first bytes of a word, as C prints them.
fn text_of(word: &[u8], most: usize) -> String {
    let end = word.iter().position(|byte| *byte == 0);
    let end = end.unwrap_or(word.len()).min(most);
    String::from_utf8_lossy(&word[..end]).into_owned()
}

/// COMMAND with its subcommands.
fn describe(call: &mut Call<'_>) -> Done {
    let known: Vec<&Command> = COMMANDS
        .iter()
        .filter(|command| find(&call.work.shared, command.name.as_bytes()).is_some())
        .collect();
    let version = call.version();
    let Some(word) = call.args.get(1) else {
        return list(call, known.into_iter().map(Some));
    };
    if is(word, "count") && call.args.len() == 2 {
        return call.count(known.len());
    }
    if is(word, "count") {
        return Err(Refusal::arity("command|count"));
    }
    if is(word, "docs") {
        // There are none: those of Redis are in its own documentation.
        let mut reply = Vec::new();
        answer::map(&mut reply, version, 0);
        return call.push(reply);
    }
    if is(word, "info") && call.args.len() == 2 {
        return list(call, known.into_iter().map(Some));
    }
    if is(word, "info") {
        let shared = std::sync::Arc::clone(&call.work.shared);
        let names = call.args.after(2);
        let asked: Vec<_> = names.map(|name| find(&shared, name)).collect();
        return list(call, asked.into_iter());
    }
    Err(unknown_subcommand(word, "COMMAND"))
}

/// Answers with what is known of commands; with nothing in the place of those that are unknown.
fn list(
    call: &mut Call<'_>,
    commands: impl ExactSizeIterator<Item = Option<&'static Command>>,
) -> Done {
    let version = call.version();
    let mut reply = Vec::new();
    answer::array(&mut reply, commands.len());
    for command in commands {
        let Some(command) = command else {
            match version {
                answer::Version::Two => reply.extend_from_slice(b"*-1\r\n"),
                answer::Version::Three => answer::null(&mut reply, version),
            }
            continue;
        };
        let [first, last, step] = match command.keys {
            Keys::None => [0, 0, 0],
            Keys::First => [1, 1, 1],
            Keys::All => [1, -1, 1],
            Keys::Pairs => [1, -1, 2],
        };
        answer::array(&mut reply, 10);
        answer::bulk(&mut reply, command.name.as_bytes());
        answer::integer(&mut reply, command.arity.into());
        answer::set(&mut reply, version, command.flags.len());
        for flag in command.flags {
            answer::simple(&mut reply, flag);
        }
        for number in [first, last, step] {
            answer::integer(&mut reply, number);
        }
        // Categories of rights, tips, ways to find keys, subcommands: none.
        answer::set(&mut reply, version, 0);
        for _ in 0..3 {
            answer::array(&mut reply, 0);
        }
    }
    call.output.push(reply);
    Ok(After::NextCommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_their_names() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.name));
        for command in COMMANDS {
            assert!(command.name.len() <= NAME_BYTES);
            assert!(command.arity.unsigned_abs() > u32::from(command.keys != Keys::None));
        }
    }
}
