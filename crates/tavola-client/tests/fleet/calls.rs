//! The calls of one request, over every protocol and socket.

use super::servers::{Ours, patient, with_each};
use tavola_client::{CasOutcome, Client, CountOptions, Error, Placement, Protocol, StoreOptions};

const PLAIN: StoreOptions = StoreOptions {
    flags: 0,
    exptime: 0,
    reply: tavola_client::Reply::Wait,
};

#[test]
fn each_call_does_what_it_says() {
    with_each(|name, client, protocol| {
        println!("{name}");
        store_and_read(client).unwrap_or_else(|error| panic!("{name}: {error}"));
        count_and_remove(client).unwrap_or_else(|error| panic!("{name}: {error}"));
        ask_servers(client).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Servers know others by the binary protocol.
        if protocol != Protocol::Binary {
            let asked = ask_by_several_words(client, protocol);
            asked.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        count_from(client, protocol);
        odd_keys(client, protocol);
    });
}

fn store_and_read(client: &Client) -> Result<(), Error> {
    assert_eq!(client.get(b"key")?, None);
    let options = StoreOptions { flags: 77, ..PLAIN };
    client.set(b"key", b"value", options)?;
    let value = client.get(b"key")?.expect("a value");
    assert_eq!(
        (&value.data[..], value.flags, value.cas),
        (&b"value"[..], 77, None)
    );
    assert!(!client.add(b"key", b"other", PLAIN)?);
    assert!(client.add(b"new", b"1", PLAIN)?);
    assert!(client.replace(b"new", b"2", PLAIN)?);
    assert!(!client.replace(b"missing", b"2", PLAIN)?);
    assert!(client.append(b"key", b" end")? && client.prepend(b"key", b"start ")?);
    assert!(!client.append(b"missing", b"x")? && !client.prepend(b"missing", b"x")?);
    let value = client.gets(b"key")?.expect("a value");
    assert_eq!(value.data, b"start value end");
    assert_eq!(value.flags, 77);
    let cas = value.cas.expect("a unique number");
    assert_eq!(
        client.cas(b"key", b"first", cas, PLAIN)?,
        CasOutcome::Stored
    );
    assert_eq!(
        client.cas(b"key", b"second", cas, PLAIN)?,
        CasOutcome::Exists
    );
    assert_eq!(
        client.cas(b"missing", b"x", cas, PLAIN)?,
        CasOutcome::Missing
    );
    assert_eq!(client.get(b"key")?.expect("a value").data, b"first");
    client.set(b"empty", b"", PLAIN)?;
    assert_eq!(client.get(b"empty")?.expect("a value").data, b"");
    // A value with what looks like an answer in it.
    client.set(b"tricky", b"\r\nEND\r\nEN\r\n", PLAIN)?;
    assert_eq!(
        client.get(b"tricky")?.expect("a value").data,
        b"\r\nEND\r\nEN\r\n"
    );
    let large: Vec<u8> = (0..900_000_u32).map(|number| number as u8).collect();
    client.set(b"large", &large, PLAIN)?;
    assert!(client.get(b"large")?.expect("a value").data == large);
    let found = client.get_many(&[b"key", b"missing", b"large", b"empty"]);
    let lengths: Vec<_> = found
        .into_iter()
        .map(|found| found.expect("an answer").map(|value| value.data.len()))
        .collect();
    assert_eq!(lengths, [Some(5), None, Some(900_000), Some(0)]);
    Ok(())
}

fn count_and_remove(client: &Client) -> Result<(), Error> {
    assert_eq!(client.incr(b"count", CountOptions::by(1))?, None);
    client.set(b"count", b"10", PLAIN)?;
    assert_eq!(client.incr(b"count", CountOptions::by(5))?, Some(15));
    assert_eq!(client.decr(b"count", CountOptions::by(100))?, Some(0));
    client.set(b"text", b"abc", PLAIN)?;
    let refused = client.incr(b"text", CountOptions::by(1));
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert!(client.touch(b"count", 1000)? && !client.touch(b"missing", 1000)?);
    assert_eq!(
        client
            .get_and_touch(b"count", 1000)?
            .map(|value| value.data[0]),
        Some(b'0')
    );
    assert_eq!(client.get_and_touch(b"missing", 1000)?, None);
    assert!(client.delete(b"count")? && !client.delete(b"count")?);
    client.set(b"gone", b"x", StoreOptions::ttl(-1))?;
    assert_eq!(client.get(b"gone")?, None);
    // More than the server takes: the connection stays of use.
    let refused = client.set(b"huge", &vec![0; 3 << 20], PLAIN);
    assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    assert_eq!(
        client.get(b"text")?.map(|value| value.data),
        Some(b"abc".to_vec())
    );
    Ok(())
}

fn ask_servers(client: &Client) -> Result<(), Error> {
    let version = client.versions().remove(0)?;
    assert!(version.contains('.'), "{version}");
    let stats = client.stats("").remove(0)?;
    let has = |name: &[u8]| {
        stats
            .iter()
            .any(|stat| stat[0] == name && !stat[1].is_empty())
    };
    assert!(has(b"curr_items") && has(b"version"));
    client.set(b"flushed", b"x", PLAIN)?;
    client.flush_all(0).remove(0)?;
    assert_eq!(client.get(b"flushed")?, None);
    Ok(())
}

/// Topics of several words: what is counted for each prefix of keys.
fn ask_by_several_words(client: &Client, protocol: Protocol) -> Result<(), Error> {
    client.stats("detail on").remove(0)?;
    client.get(b"several:words")?;
    let counted = client.stats("detail  dump").remove(0)?;
    let is_there = counted.iter().any(|[name, value]| {
        [&name[..], value]
            .concat()
            .windows(5)
            .any(|part| part == b" hit ")
    });
    // memcached counts no meta commands.
    assert!(is_there || protocol != Protocol::Text, "{counted:?}");
    client.stats("detail off").remove(0)?;
    client.stats("cachedump 1 1").remove(0)?;
    let refused = client.stats("detail\r\nflush_all");
    assert!(matches!(refused[0], Err(Error::Refused(_))), "{refused:?}");
    Ok(())
}

fn count_from(client: &Client, protocol: Protocol) {
    let options = CountOptions::by(2).from(40, 0);
    let counts = [0; 2].map(|_| client.incr(b"from", options));
    match protocol {
        Protocol::Text => {
            for count in counts {
                let Err(Error::Refused(why)) = count else {
                    panic!("text has no initial value: {count:?}");
                };
                assert!(why.contains("initial value"), "{why}");
            }
        }
        _ => assert_eq!(counts, [Ok(Some(40)), Ok(Some(42))]),
    }
}

fn odd_keys(client: &Client, protocol: Protocol) {
    for key in [&b""[..], &[b'k'; 251]] {
        let refused = client.get(key);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
    }
    let spaced = b"two words\r\n\0";
    let stored = client.set(spaced, b"odd", PLAIN);
    if protocol == Protocol::Text {
        assert!(matches!(stored, Err(Error::Refused(_))), "{stored:?}");
        return;
    }
    assert_eq!(stored, Ok(()));
    let value = client.get(spaced).expect("an answer").expect("a value");
    assert_eq!(value.data, b"odd");
    assert_eq!(client.touch(spaced, 0), Ok(true));
    assert_eq!(client.delete(spaced), Ok(true));
    assert_eq!(client.get(spaced), Ok(None));
}

#[test]
fn a_namespace_is_before_each_key_and_hash_tags_place_keys_together() {
    let servers: Vec<Ours> = (0..3).map(|_| Ours::start()).collect();
    let fleet = || {
        let mut builder = Client::builder().placement(Placement::Jump);
        for server in &servers {
            builder = builder.server(&server.name, 1.0);
        }
        builder
    };
    let inside = patient(fleet().namespace("app:"));
    let outside = patient(fleet());
    inside.set(b"key", b"value", PLAIN).expect("stored");
    let all = patient(fleet().namespace("app:").hash_namespace(true));
    for number in 0..100_u32 {
        let key = format!("key:{number}");
        let whole = format!("app:{key}");
        assert_eq!(
            inside.server_of(key.as_bytes()),
            outside.server_of(key.as_bytes())
        );
        assert_eq!(
            all.server_of(key.as_bytes()),
            outside.server_of(whole.as_bytes())
        );
    }
    assert_eq!(outside.get(b"key"), Ok(None));
    let tagged = patient(fleet().hash_tag(b'{', b'}'));
    let place = tagged.server_of(b"user:{42}");
    for key in [&b"{42}:name"[..], b"{42}", b"a{42}b", b"42"] {
        assert_eq!(tagged.server_of(key), place);
    }
    for key in [&b"{}x"[..], b"{x", b"x}"] {
        assert_eq!(tagged.server_of(key), outside.server_of(key));
    }
    let one = Client::builder().server(&servers[inside.server_of(b"key")].name, 1.0);
    let value = patient(one).get(b"app:key").expect("an answer");
    assert_eq!(value.expect("a value").data, b"value");
}
