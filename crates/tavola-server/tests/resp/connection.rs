//! Commands about the connection and the server.

use std::sync::Arc;

use tavola::Table;
use tavola_server::memcached::Users;
use tavola_server::resp::RespRules;

use crate::script::{Seat, answer};

#[test]
fn greetings() {
    Seat::new().run(
        r#"
        ping -> +PONG
        ping 'a b' -> $3 a b
        ping a b -> -ERR wrong number of arguments for 'ping' command
        echo x -> $1 x
        select 0 -> +OK
        select 1 -> -ERR DB index is out of range
        select x -> -ERR value is not an integer or out of range
        client id -> :1
        client getname -> $-1
        client setname me -> +OK
        client getname -> $2 me
        client setname 'a b' -> -ERR Client names cannot contain spaces, newlines or special \
        characters.
        client setinfo lib-name redis-py -> +OK
        client setinfo lib-ver 'a b' -> -ERR lib-ver cannot contain spaces, newlines or \
        special characters.
        client setinfo x y -> -ERR Unrecognized option 'x'
        client kill -> -ERR unknown subcommand 'kill'. Try CLIENT HELP.
        client id x -> -ERR wrong number of arguments for 'client|id' command
        hello -> *14 $6 server $5 redis $7 version $6 7.0.15 $5 proto :2 $2 id :1 $4 mode $10 \
        standalone $4 role $6 master $7 modules *0
        hello 4 -> -NOPROTO unsupported protocol version
        hello x -> -ERR Protocol version is not an integer or out of range
        hello 3 none -> -ERR Syntax error in HELLO option 'none'
        hello 3 setname you -> %7 $6 server $5 redis $7 version $6 7.0.15 $5 proto :3 $2 id \
        :1 $4 mode $10 standalone $4 role $6 master $7 modules *0
        client getname -> $3 you
        get none -> _
        mget none -> *1 _
        config get nothing -> %0
        command info none -> *1 _
        reset -> +RESET
        client getname -> $-1
        get none -> $-1
        command info none -> *1 *-1
        auth x -> -ERR AUTH <password> called without any password configured for the default \
        user. Are you sure your configuration is correct?
        auth default x -> +OK
        auth you x -> -WRONGPASS invalid username-password pair or user is disabled.
        auth a b c -> -ERR syntax error
        command docs -> *0
        command info get -> *1 *10 $3 get :2 *2 +readonly +fast :1 :1 :1 *0 *0 *0 *0
        command none -> -ERR unknown subcommand 'none'. Try COMMAND HELP.
        config get databases -> *2 $9 databases $1 1
        config get APPEND* save -> *4 $10 appendonly $2 no $4 save $0 
        config set save x -> -ERR unknown subcommand 'set'. Try CONFIG HELP.
        config get -> -ERR wrong number of arguments for 'config|get' command
        none a b -> -ERR unknown command 'none', with args beginning with: 'a' 'b' 
        lpush a b -> -ERR unknown command 'lpush', with args beginning with: 'a' 'b' 
        randomkey -> -ERR unknown command 'randomkey', with args beginning with: 
        eval x 0 -> -ERR unknown command 'eval', with args beginning with: 'x' '0' 
        multi -> -ERR unknown command 'multi', with args beginning with: 
        get -> -ERR wrong number of arguments for 'get' command
        "#,
    );
}

#[test]
fn facts_about_the_server() {
    let mut seat = Seat::new();
    seat.send(b"set a 1\r\nget a\r\nget none\r\n");
    let info = seat.send(b"info\r\n");
    for line in [
        "# Server",
        "redis_version:7.0.15",
        "redis_mode:standalone",
        "maxmemory_policy:noeviction",
        "keyspace_hits:1\\r\\n",
        "keyspace_misses:1\\r\\n",
        "role:master",
        "db0:keys=1,",
        "total_commands_processed:4\\r\\n",
    ] {
        assert!(info.contains(line), "{line} in {info}");
    }
    let info = seat.send(b"info KEYSPACE\r\n");
    assert!(
        info.contains("# Keyspace") && !info.contains("# Server"),
        "{info}"
    );
    let count = seat.send(b"command count\r\n");
    let all = seat.send(b"command\r\n");
    assert_eq!(
        all.split("\\r\\n").next(),
        Some(&count.trim_end_matches("\\r\\n").replace(':', "*")[..])
    );
    let line = seat.send(b"client info\r\n");
    assert!(
        line.contains("id=1 ") && line.contains(" resp=2 "),
        "{line}"
    );
    let mut other = seat.inside.connect();
    assert_eq!(answer(&mut other, b"client id\r\n"), ":2\\r\\n");
}

#[test]
fn a_client_can_end_the_connection() {
    let mut seat = Seat::new();
    assert_eq!(
        seat.send(b"ping\r\nquit\r\nping\r\n"),
        "+PONG\\r\\n+OK\\r\\n"
    );
    assert!(seat.line.is_closed());
}

fn seat_with_users() -> Seat {
    let users = Users::read(b"ann:x\ndefault:y z").expect("users");
    let rules = RespRules {
        users: Some(Arc::new(users)),
        ..RespRules::default()
    };
    Seat::with_rules(Table::options().max_size(1 << 20), rules)
}

#[test]
fn passwords() {
    let mut seat = seat_with_users();
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    seat.run(&format!(
        r#"
        get a -> -NOAUTH Authentication required.
        none -> -ERR unknown command 'none', with args beginning with: 
        get -> -ERR wrong number of arguments for 'get' command
        ping -> -NOAUTH Authentication required.
        hello 3 -> -NOAUTH HELLO must be called with the client already authenticated, \
        otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the \
        client and select the RESP protocol version at the same time
        auth y -> {wrong}
        hello 3 auth ann y -> {wrong}
        get a -> -NOAUTH Authentication required.
        auth 'y z' -> +OK
        get a -> $-1
        reset -> +RESET
        get a -> -NOAUTH Authentication required.
        auth ann x -> +OK
        get a -> $-1
        "#
    ));
    // Commands in the form that programs send them are no exception.
    let mut line = seat.inside.connect();
    let gets = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n".repeat(2);
    let refused = "-NOAUTH Authentication required.\\r\\n".repeat(2);
    assert_eq!(answer(&mut line, &gets), refused);
    // A stranger may send little.
    let mut line = seat.inside.connect();
    let refused = "-ERR Protocol error: unauthenticated multibulk length\\r\\n";
    assert_eq!(answer(&mut line, b"*11\r\n"), refused);
    assert!(line.is_closed());
    let mut line = seat.inside.connect();
    let hello = answer(
        &mut line,
        b"hello 3 auth ann x setname me\r\nclient getname\r\n*11\r\n",
    );
    assert!(
        hello.starts_with("%7\\r\\n") && hello.ends_with("$2\\r\\nme\\r\\n"),
        "{hello}"
    );
}

#[test]
fn guessing_ends_the_connection() {
    let mut seat = seat_with_users();
    let reply = seat.send(b"auth a\r\nauth b\r\nauth c\r\nauth ann x\r\n");
    assert_eq!(reply.matches("-WRONGPASS").count(), 3);
    assert!(!reply.contains("OK") && seat.line.is_closed());
}
