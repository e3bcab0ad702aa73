//! Commands on strings, expiry times and keys.

use std::time::Duration;

use tavola::{Attributes, Expiry, Table};

use crate::script::Seat;

#[test]
fn strings() {
    Seat::new().run(
        r#"
        get a -> $-1
        set a 1 -> +OK
        get a -> $1 1
        SET a 2 nx -> $-1
        set a 2 XX -> +OK
        set b 2 xx -> $-1
        set b 2 nx -> +OK
        set a 3 get -> $1 2
        set c 3 get -> $-1
        set c 4 get nx -> $1 3
        set d 4 get xx -> $-1
        exists a b c d -> :3
        set a 1 nx xx -> -ERR syntax error
        set a 1 ex -> -ERR syntax error
        set a 1 ex 5 px 5 -> -ERR syntax error
        set a 1 ex 5 keepttl -> -ERR syntax error
        set a 1 keepttl ex 5 -> -ERR syntax error
        set a 1 persist -> -ERR syntax error
        set a 1 ex x -> -ERR value is not an integer or out of range
        set a 1 ex 0 -> -ERR invalid expire time in 'set' command
        set a 1 px -1 -> -ERR invalid expire time in 'set' command
        set a 1 ex 9223372036854775807 -> -ERR invalid expire time in 'set' command
        getset a new -> $1 3
        getset other new -> $-1
        getdel a -> $3 new
        getdel a -> $-1
        setnx a 1 -> :1
        setnx a 2 -> :0
        append a 23 -> :3
        append fresh xy -> :2
        strlen a -> :3
        strlen none -> :0
        getrange a 0 -2 -> $2 12
        getrange none 0 -1 -> $0 
        setrange a 1 xyz -> :4
        get a -> $4 1xyz
        setrange padded 2 x -> :3
        get padded -> $3 \x00\x00x
        setrange none2 0 '' -> :0
        exists none2 -> :0
        setrange a -1 x -> -ERR offset is out of range
        setrange a 2000000 x -> -ERR string exceeds maximum allowed size (proto-max-bulk-len)
        setrange a 9223372036854775807 xx -> -ERR string exceeds maximum allowed size \
        (proto-max-bulk-len)
        type a -> +string
        type none -> +none
        set '' empty -> +OK
        get '' -> $5 empty
        "#,
    );
}

#[test]
fn numbers() {
    let mut seat = Seat::new();
    seat.run(
        r#"
        incr n -> :1
        incrby n 41 -> :42
        decr n -> :41
        decrby n 100 -> :-59
        get n -> $3 -59
        set n 9223372036854775807 -> +OK
        incr n -> -ERR increment or decrement would overflow
        decrby n -9223372036854775808 -> -ERR decrement would overflow
        set n 01 -> +OK
        incr n -> -ERR value is not an integer or out of range
        incrby n x -> -ERR value is not an integer or out of range
        set f 10.50 -> +OK
        incrbyfloat f 0.1 -> $4 10.6
        incrbyfloat f -5 -> $3 5.6
        incrbyfloat f x -> -ERR value is not a valid float
        incrbyfloat f inf -> -ERR increment would produce NaN or Infinity
        incrbyfloat fresh 3.0e3 -> $4 3000
        "#,
    );
    // A counter of the table, which keeps its number beside its text.
    assert_eq!(seat.table.incr("c", 7).expect("incr"), 7);
    seat.run("incrby c -10 -> :-3\nstrlen c -> :2");
    assert_eq!(
        seat.table.get("c").expect("get").as_deref(),
        Some(&b"-3"[..])
    );
    seat.run("incrby c 10 -> :7");
    assert_eq!(seat.table.incr("c", 1).expect("incr"), 8);
    seat.run("get c -> $1 8\nstrlen c -> :1");
}

#[test]
fn expiry_times() {
    let mut seat = Seat::new();
    seat.run(
        r#"
        ttl a -> :-2
        set a 1 -> +OK
        ttl a -> :-1
        expiretime a -> :-1
        expire a 1000 -> :1
        ttl a -> :~1000
        expire a 1000 nx -> :0
        expire a 500 gt -> :0
        expire a 2000 gt -> :1
        expire a 3000 lt -> :0
        expire a 1500 xx lt -> :1
        ttl a -> :~1500
        set a 2 keepttl -> +OK
        ttl a -> :~1500
        set a 2 -> +OK
        ttl a -> :-1
        expire a 1000 gt -> :0
        expire a 1000 xx -> :0
        expire a 1000 xx lt -> :0
        expire a 1000 lt -> :1
        persist a -> :1
        persist a -> :0
        persist none -> :0
        expire a 1000 nx -> :1
        append a x -> :2
        incr n -> :1
        pexpire n 2000000 -> :1
        incr n -> :2
        ttl n -> :~2000
        getex a -> $2 2x
        ttl a -> :~1000
        getex a px 500000 -> $2 2x
        ttl a -> :~500
        getex a persist -> $2 2x
        ttl a -> :-1
        "#,
    );
}

#[test]
fn dates_of_expiry_and_those_that_have_passed() {
    let mut seat = Seat::new();
    seat.run(
        r#"
        set a 2x -> +OK
        incr n -> :1
        getex a ex 0 -> -ERR invalid expire time in 'getex' command
        getex none ex 0 -> $-1
        getex a ex 5 persist -> -ERR syntax error
        expireat a 4000000000 -> :1
        expiretime a -> :~4000000000
        pexpireat a 4100000000000 -> :1
        expiretime a -> :~4100000000
        set a 1 exat 4000000000 -> +OK
        expiretime a -> :~4000000000
        setex a 1000 v -> +OK
        ttl a -> :~1000
        psetex a 1000000 v -> +OK
        ttl a -> :~1000
        setex a 0 v -> -ERR invalid expire time in 'setex' command
        expire a x -> -ERR value is not an integer or out of range
        expire a 9223372036854775807 -> -ERR invalid expire time in 'expire' command
        expire a 10 xy -> -ERR Unsupported option xy
        expire a 10 nx gt -> -ERR NX and XX, GT or LT options at the same time are not compatible
        expire a 10 lt gt -> -ERR GT and LT options at the same time are not compatible
        expire a -1 -> :1
        exists a -> :0
        dbsize -> :1
        set a 1 -> +OK
        expire a -1 gt -> :0
        pexpireat a 1 lt -> :1
        get a -> $-1
        set a 1 pxat 1 -> +OK
        get a -> $-1
        "#,
    );
    seat.run("set short x px 20 -> +OK");
    let mut tries = 0;
    while seat.send(b"get short\r\n") != "$-1\\r\\n" {
        tries += 1;
        assert!(tries < 6000, "it does not expire");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The default TTL of a table is that of local programs. A client of Redis says what it wants.
#[test]
fn keys_do_not_expire_unless_the_client_asks_for_it() {
    let options = Table::options()
        .max_size(8 << 20)
        .ttl(Duration::from_secs(100));
    let mut seat = Seat::over(options);
    seat.run(
        r#"
        set a 1 -> +OK
        setnx b 1 -> :1
        incr c -> :1
        append d x -> :1
        setrange e 0 x -> :1
        mset f 1 g 1 -> +OK
        getset h 1 -> $-1
        set i 1 get -> $-1
        set j 1 keepttl -> +OK
        incrbyfloat k 1 -> $1 1
        msetnx l 1 -> :1
        "#,
    );
    for key in "abcdefghijkl".chars() {
        seat.run(&format!("ttl {key} -> :-1"));
    }
}

#[test]
fn several_keys() {
    Seat::new().run(
        r#"
        mset a 1 b 2 a 3 -> +OK
        mget a none b -> *3 $1 3 $-1 $1 2
        msetnx c 1 a 1 -> :0
        exists c -> :0
        msetnx c 1 d 2 -> :1
        mset a -> -ERR wrong number of arguments for 'mset' command
        mset a 1 b -> -ERR wrong number of arguments for 'mset' command
        exists a a none -> :2
        touch a b none -> :2
        del a a none -> :1
        unlink b c -> :2
        dbsize -> :1
        set e 1 ex 100 -> +OK
        mset e 2 -> +OK
        ttl e -> :-1
        flushall sync -> +OK
        dbsize -> :0
        flushdb x -> -ERR syntax error
        "#,
    );
}

#[test]
fn lists_of_keys() {
    let mut seat = Seat::new();
    seat.run(
        r#"
        keys * -> *0
        scan 0 -> *2 $1 0 *0
        mset key:1 a key:2 b other c -> +OK
        keys key:1 -> *1 $5 key:1
        keys k[^x]y:2 -> *1 $5 key:2
        scan 0 match o* count 100000 -> *2 $1 0 *1 $5 other
        scan 0 match o* type LIST count 100000 -> *2 $1 0 *0
        scan 0 match o* type string count 100000 -> *2 $1 0 *1 $5 other
        scan x -> -ERR invalid cursor
        scan 0 count 0 -> -ERR syntax error
        scan 0 count x -> -ERR value is not an integer or out of range
        scan 0 match -> -ERR syntax error
        scan 0 none 1 -> -ERR syntax error
        "#,
    );
    for number in 0..5000 {
        seat.table.set(format!("n{number}"), "v").expect("set");
    }
    let all = seat.send(b"keys n*\r\n");
    assert!(all.starts_with("*5000\\r\\n"), "{all:.50}");
    assert_eq!(all.matches("$5").count(), 4000);
    // Commands behind it are answered after it.
    let both = seat.send(b"keys n*\r\nping\r\n");
    assert!(both.starts_with("*5000") && both.ends_with("+PONG\\r\\n"));
    // All of them come by SCAN, in several steps.
    let (mut cursor, mut found, mut steps) = ("0".to_string(), 0, 0);
    loop {
        let reply = seat.send(format!("scan {cursor} match n* count 100\r\n").as_bytes());
        let mut parts = reply.split("\\r\\n");
        cursor = parts.nth(2).expect("a cursor").to_string();
        found += reply.matches("\\r\\nn").count();
        steps += 1;
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found, 5000);
    assert!(steps > 2, "{steps} steps");
}

#[test]
fn lists_can_be_forbidden() {
    let rules = tavola_server::resp::RespRules {
        dumps: false,
        flush: false,
        ..Default::default()
    };
    Seat::with_rules(Table::options().max_size(1 << 20), rules).run(
        r#"
        set a 1 -> +OK
        keys * -> -NOPERM this user has no permissions to run the 'keys' command
        scan 0 -> -NOPERM this user has no permissions to run the 'scan' command
        flushall -> -NOPERM this user has no permissions to run the 'flushall' command
        flushdb -> -NOPERM this user has no permissions to run the 'flushdb' command
        dbsize -> :1
        "#,
    );
}

/// A value of another client has flags. A new value has none, and keeps what was asked for.
#[test]
fn flags_of_other_clients_end_with_their_value() {
    let mut seat = Seat::new();
    let hour = Expiry::After(Duration::from_secs(3600));
    let set = |seat: &Seat| {
        let has = Attributes::from(hour).with_flags(7);
        seat.table.set_with("a", "1", has).expect("set");
    };
    let flags = |seat: &Seat| {
        let entry = seat
            .table
            .get_entry("a")
            .expect("read")
            .expect("it is there");
        entry.attributes.flags
    };
    set(&seat);
    seat.run("incr a -> :2\nappend a 0 -> :2\nexpire a 7200 -> :1");
    assert_eq!(flags(&seat), 7);
    seat.run("set a x keepttl -> +OK\nttl a -> :~7200");
    assert_eq!(flags(&seat), 0);
    set(&seat);
    seat.run("set a x -> +OK\nttl a -> :-1");
    assert_eq!(flags(&seat), 0);
}

#[test]
fn a_full_table_keeps_what_it_has() {
    let mut seat = Seat::over(Table::options().max_size(1 << 20));
    let value = "x".repeat(20_000);
    seat.run("set kept 1 -> +OK");
    let full = (0..200).find_map(|number| {
        let reply = seat.send(format!("set big{number} {value}\r\n").as_bytes());
        (reply != "+OK\\r\\n").then_some(reply)
    });
    let expected = "-OOM command not allowed when used memory > 'maxmemory'.\\r\\n";
    assert_eq!(full.as_deref(), Some(expected));
    let reply = seat.send(format!("set kept {value}\r\n").as_bytes());
    assert_eq!(reply, expected);
    seat.run("get kept -> $1 1");
}

#[test]
fn long_keys_are_refused() {
    let mut seat = Seat::new();
    let (most, more) = ("k".repeat(8192), "k".repeat(8193));
    seat.run(&format!("set {most} 1 -> +OK\nget {most} -> $1 1"));
    for command in [
        "get KEY",
        "set KEY 1",
        "mget a KEY",
        "mset a 1 KEY 1",
        "expire KEY 1",
    ] {
        let command = command.replace("KEY", &more);
        seat.run(&format!(
            "{command} -> -ERR the key is longer than 8192 bytes"
        ));
    }
    seat.run(&format!("mset a {more} -> +OK"));
}

/// GETs that arrive together are read together, and answered in their place.
#[test]
fn a_pipeline_is_answered_in_its_order() {
    let mut seat = Seat::new();
    let command = |words: &[&str]| {
        let mut out = Vec::new();
        let words: Vec<_> = words.iter().map(|word| word.as_bytes()).collect();
        tavola_proto::resp::ask::command(&mut out, &words);
        out
    };
    let (mut sent, mut expected) = (Vec::new(), String::new());
    for number in 0..300 {
        let value = number.to_string();
        sent.extend(command(&["SET", "a", &value]));
        expected += "+OK\\r\\n";
        for _ in 0..number % 5 {
            sent.extend(command(&["get", "a"]));
            expected += &format!("${}\\r\\n{value}\\r\\n", value.len());
        }
        sent.extend(command(&["GET", "none"]));
        expected += "$-1\\r\\n";
    }
    // More commands than are carried out in a row.
    assert_eq!(seat.send(&sent), expected);
    // The replies of RESP3 begin with the command behind HELLO.
    let hello = [
        command(&["GET", "none"]),
        command(&["HELLO", "3"]),
        command(&["GET", "none"]),
    ];
    let found = seat.send(&hello.concat());
    assert!(
        found.starts_with("$-1\\r\\n%7\\r\\n") && found.ends_with("_\\r\\n"),
        "{found}"
    );
}
