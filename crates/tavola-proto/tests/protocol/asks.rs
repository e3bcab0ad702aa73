//! Requests as a client writes them: literal bytes, and what is never sent.

use tavola_proto::meta::Mode;
use tavola_proto::meta::ask::{self as meta_ask, Flag, Flags};
use tavola_proto::text::ask;
use tavola_proto::text::{
    Count, Detail, Event, LruCrawler, Stats, Store, StoreVerb, Tuned, Watched,
};
use tavola_proto::{Error, binary, text};

type Writer<'a> = dyn Fn(&mut Vec<u8>) -> Result<(), Error> + 'a;

/// What `write` appends; nothing if it fails.
fn written(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> Result<String, Error> {
    let mut out = b"before".to_vec();
    let result = write(&mut out);
    let appended = out.strip_prefix(b"before").expect("what was there stays");
    match result {
        Ok(()) => Ok(appended.escape_ascii().to_string()),
        Err(error) => {
            assert_eq!(appended, b"", "{error}");
            Err(error)
        }
    }
}

fn check(expected: &str, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) {
    assert_eq!(written(write).as_deref(), Ok(expected));
}

const STORE: Store<'_> = Store {
    verb: StoreVerb::Set,
    key: b"a",
    flags: 7,
    exptime: -1,
    data: b"x\ny",
    noreply: false,
};

#[test]
fn classic_commands_about_items() {
    check("get a b\\r\\n", |out| ask::get(out, ["a", "b"], false));
    check("gets a\\r\\n", |out| ask::get(out, [b"a"], true));
    check("gat 60 a b\\r\\n", |out| {
        ask::get_and_touch(out, 60, ["a", "b"], false)
    });
    check("gats -1 a\\r\\n", |out| {
        ask::get_and_touch(out, -1, ["a"], true)
    });
    check("set a 7 -1 3\\r\\nx\\ny\\r\\n", |out| {
        ask::store(out, &STORE)
    });
    let cas = Store {
        verb: StoreVerb::Cas(u64::MAX),
        noreply: true,
        ..STORE
    };
    check(
        "cas a 7 -1 3 18446744073709551615 noreply\\r\\nx\\ny\\r\\n",
        |out| ask::store(out, &cas),
    );
    let count = Count {
        key: b"a",
        delta: 5,
        down: true,
        noreply: false,
    };
    check("decr a 5\\r\\n", |out| ask::count(out, &count));
    check("touch a 60 noreply\\r\\n", |out| {
        ask::touch(out, b"a", 60, true)
    });
    check("delete a\\r\\n", |out| ask::delete(out, b"a", false));
}

#[test]
fn a_key_is_not_taken_for_the_wish_of_no_reply() {
    check("delete noreply 0\\r\\n", |out| {
        ask::delete(out, b"noreply", false)
    });
    check("delete noreply noreply\\r\\n", |out| {
        ask::delete(out, b"noreply", true)
    });
}

#[test]
fn classic_commands_about_the_server() {
    let always = |write: fn(&mut Vec<u8>), expected: &str| {
        check(expected, |out| {
            write(out);
            Ok(())
        });
    };
    always(|out| ask::flush_all(out, 0, false), "flush_all\\r\\n");
    always(
        |out| ask::flush_all(out, 9, true),
        "flush_all 9 noreply\\r\\n",
    );
    always(
        |out| ask::verbosity(out, 1, true),
        "verbosity 1 noreply\\r\\n",
    );
    always(|out| ask::shutdown(out, false), "shutdown\\r\\n");
    always(|out| ask::shutdown(out, true), "shutdown graceful\\r\\n");
    always(
        |out| ask::cache_memlimit(out, 64, false),
        "cache_memlimit 64\\r\\n",
    );
    always(|out| ask::watch(out, Watched::default()), "watch\\r\\n");
    always(
        |out| {
            let watched = Watched::default().with(Event::Mutations);
            ask::watch(out, watched.with(Event::Deletions));
        },
        "watch mutations deletions\\r\\n",
    );
    assert_eq!(ask::VERSION, b"version\r\n");
    assert_eq!(ask::QUIT, b"quit\r\n");
    let cachedump = Stats::Cachedump { class: 1, limit: 3 };
    for (stats, expected) in [
        (Stats::General, "stats\\r\\n"),
        (Stats::Detail(Detail::Dump), "stats detail dump\\r\\n"),
        (cachedump, "stats cachedump 1 3\\r\\n"),
        (Stats::Other(b"proxy"), "stats proxy\\r\\n"),
    ] {
        check(expected, |out| ask::stats(out, stats));
    }
    check("lru_crawler metadump all\\r\\n", |out| {
        ask::lru_crawler(out, LruCrawler::Metadump(b"all"))
    });
    check("lru_crawler sleep 100\\r\\n", |out| {
        ask::lru_crawler(out, LruCrawler::Sleep(100))
    });
    check("slabs reassign 1 2\\r\\n", |out| {
        ask::tune(out, Tuned::Slabs, ["reassign", "1", "2"], false)
    });
    check("set auth 0 0 9\\r\\nme secret\\r\\n", |out| {
        ask::authenticate(out, b"me", b"secret")
    });
}

#[test]
fn meta_commands_have_their_flags_once() {
    let flags = Flags::of(&[
        Flag::ReturnValue,
        Flag::ReturnValue,
        Flag::ReturnCas,
        Flag::Quiet,
    ]);
    check("mg a c v q T60 O7\\r\\n", |out| {
        meta_ask::get(out, b"a", &flags.exptime(60).number(7))
    });
    check("mg a N30 R5\\r\\n", |out| {
        meta_ask::get(out, b"a", &Flags::default().vivify(30).recache(5))
    });
    let flags = Flags::default().client_flags(5).compare(8).new_cas(9);
    check("ms a 2 ME F5 C8 E9 Oxy\\r\\nab\\r\\n", |out| {
        meta_ask::set(out, b"a", Mode::Add, b"ab", &flags.opaque(b"xy"))
    });
    check("ms a 0\\r\\n\\r\\n", |out| {
        meta_ask::set(out, b"a", Mode::Set, b"", &Flags::default())
    });
    check("md a x I\\r\\n", |out| {
        let flags = Flags::of(&[Flag::MarkStale, Flag::RemoveValue]);
        meta_ask::delete(out, b"a", &flags)
    });
    check("ma a MD J10 D3\\r\\n", |out| {
        meta_ask::arithmetic(out, b"a", true, &Flags::default().initial(10).delta(3))
    });
    check("ma a Lnear P/east\\r\\n", |out| {
        let flags = Flags::default().proxy_hint(b"near").proxy_path(b"/east");
        meta_ask::arithmetic(out, b"a", false, &flags)
    });
    check("me a\\r\\n", |out| meta_ask::debug(out, b"a"));
    assert_eq!(meta_ask::NOOP, b"mn\r\n");
}

#[test]
fn keys_that_lines_cannot_have_go_as_base64() {
    check("md YQEy b k\\r\\n", |out| {
        meta_ask::delete(out, b"a\x012", &Flags::of(&[Flag::ReturnKey]))
    });
    check("mg YQEy b v\\r\\n", |out| {
        meta_ask::get(out, b"a\x012", &Flags::of(&[Flag::ReturnValue]))
    });
    check("ms YQEy 1 b MA\\r\\nx\\r\\n", |out| {
        meta_ask::set(out, b"a\x012", Mode::Append, b"x", &Flags::default())
    });
    // memcached 1.6.45 needs a word after it.
    check("me YQEy b b\\r\\n", |out| meta_ask::debug(out, b"a\x012"));
    let none = Flags::default();
    for (length, expected) in [(186, None), (187, Some(Error::LongEncodedKey))] {
        let found = written(|out| meta_ask::get(out, &vec![b' '; length], &none));
        assert_eq!(found.err(), expected);
    }
}

#[test]
fn a_key_that_lines_cannot_have_cannot_be_asked_for() {
    let flags = Flags::of(&[Flag::ReturnKey]);
    for key in [&b"a b"[..], b"x\r\nHD injected"] {
        assert_eq!(
            written(|out| meta_ask::get(out, key, &flags)),
            Err(Error::UnreadableKey)
        );
    }
    assert_eq!(
        written(|out| meta_ask::debug(out, b"x\r\nHD injected")),
        Err(Error::UnreadableKey)
    );
}

#[test]
fn bad_keys_are_never_sent() {
    let long = [b'k'; 251];
    for (key, error) in [
        (&b""[..], Error::EmptyKey),
        (&long, Error::LongKey),
        (b"two words", Error::KeyBytes),
        (b"a\r\nflush_all", Error::KeyBytes),
        (b"a\0", Error::KeyBytes),
        (b"a\x7f", Error::KeyBytes),
    ] {
        let text: [&Writer<'_>; 6] = [
            &|out| ask::get(out, [b"fine", key], false),
            &|out| ask::get_and_touch(out, 0, [key], true),
            &|out| ask::store(out, &Store { key, ..STORE }),
            &|out| ask::touch(out, key, 0, false),
            &|out| ask::delete(out, key, false),
            &|out| {
                let (delta, down, noreply) = (1, false, false);
                let count = Count {
                    key,
                    delta,
                    down,
                    noreply,
                };
                ask::count(out, &count)
            },
        ];
        for write in text {
            assert_eq!(written(write), Err(error));
        }
        if error != Error::KeyBytes {
            let get = binary::Get {
                key,
                with_key: false,
                touch: None,
            };
            let get = binary::Command::Get(get);
            let binary = written(|out| binary::ask::request(out, [0; 4], &get, false));
            assert_eq!(binary, Err(error));
            let meta = written(|out| meta_ask::get(out, key, &Flags::default()));
            assert_eq!(meta, Err(error));
        }
    }
    check(&format!("delete {}\\r\\n", "k".repeat(250)), |out| {
        ask::delete(out, &long[..250], false)
    });
}

#[test]
fn lines_are_no_longer_than_servers_take() {
    let keys = |count| std::iter::repeat_n(b"k", count);
    let none: [&[u8]; 0] = [];
    assert_eq!(written(|out| ask::get(out, none, false)), Err(Error::NoKey));
    assert!(written(|out| ask::get(out, keys(524_286), false)).is_ok());
    assert_eq!(
        written(|out| ask::get(out, keys(524_287), false)),
        Err(Error::LongLine)
    );
    assert!(written(|out| ask::get_and_touch(out, 0, keys(1021), false)).is_ok());
    assert_eq!(
        written(|out| ask::get_and_touch(out, 0, keys(1022), false)),
        Err(Error::LongLine)
    );
    assert_eq!(
        written(|out| ask::tune(out, Tuned::Lru, keys(1100), false)),
        Err(Error::LongLine)
    );
    let hint = [b'x'; 2100];
    assert_eq!(
        written(|out| meta_ask::get(out, b"a", &Flags::default().proxy_hint(&hint))),
        Err(Error::LongLine)
    );
}

#[test]
fn words_that_are_none_are_never_sent() {
    let none = Flags::default();
    for (flags, error) in [
        (none.opaque(b""), Error::Word),
        (none.opaque(b"a b"), Error::Word),
        (none.opaque(&[b'o'; 32]), Error::LongOpaque),
        (none.proxy_hint(b"a\r\n"), Error::Word),
        (none.proxy_path(b"a b"), Error::Word),
    ] {
        assert_eq!(written(|out| meta_ask::get(out, b"a", &flags)), Err(error));
    }
    assert!(written(|out| meta_ask::get(out, b"a", &none.opaque(&[b'o'; 31]))).is_ok());
    for word in [&b""[..], b"a b", b"\n"] {
        let stats = Stats::Other(word);
        assert_eq!(written(|out| ask::stats(out, stats)), Err(Error::Word));
        let words = written(|out| ask::stats_of(out, [b"detail", word]));
        assert_eq!(words, Err(Error::Word));
        let crawl = text::LruCrawler::Crawl(word);
        assert_eq!(
            written(|out| ask::lru_crawler(out, crawl)),
            Err(Error::Word)
        );
        let name = written(|out| ask::authenticate(out, word, b"p"));
        assert_eq!(name, Err(Error::Word));
    }
    for words in [&["automove", "noreply"], &["noreply", "1"]] {
        let tune = written(|out| ask::tune(out, Tuned::Slabs, words, false));
        assert_eq!(tune, Err(Error::Word));
    }
    let crawl = LruCrawler::Crawl(b"noreply");
    assert_eq!(
        written(|out| ask::lru_crawler(out, crawl)),
        Err(Error::Word)
    );
    let password = [b'p'; 16_384];
    assert_eq!(
        written(|out| ask::authenticate(out, b"me", &password)),
        Err(Error::LongValue)
    );
}

#[test]
fn flags_are_no_more_than_memcached_takes() {
    let all = [
        Flag::ReturnCas,
        Flag::ReturnFlags,
        Flag::ReturnFetched,
        Flag::ReturnKey,
        Flag::ReturnIdle,
        Flag::ReturnSize,
        Flag::ReturnTtl,
        Flag::ReturnValue,
        Flag::Quiet,
        Flag::KeepPlace,
        Flag::RemoveValue,
        Flag::MarkStale,
    ];
    let most = Flags::of(&all)
        .exptime(1)
        .vivify(2)
        .recache(3)
        .compare(4)
        .new_cas(5);
    check(
        "mg a c f h k l s t v q u x I T1 N2 R3 C4 E5 O6\\r\\n",
        |out| meta_ask::get(out, b"a", &most.number(6)),
    );
    let one_more = most.number(6).delta(7);
    assert_eq!(
        written(|out| meta_ask::get(out, b"a", &one_more)),
        Err(Error::TooManyFlags)
    );
    assert_eq!(
        written(|out| meta_ask::delete(out, b" ", &most.number(6))),
        Err(Error::TooManyFlags)
    );
}

#[test]
fn what_has_no_quiet_form_is_not_sent_as_such() {
    for command in [
        binary::Command::Noop,
        binary::Command::Version,
        binary::Command::Stat { topic: b"" },
        binary::Command::Touch {
            key: b"a",
            exptime: 0,
        },
    ] {
        let found = written(|out| binary::ask::request(out, [0; 4], &command, true));
        assert_eq!(found, Err(Error::NotQuiet));
        assert!(written(|out| binary::ask::request(out, [0; 4], &command, false)).is_ok());
    }
}

#[test]
fn binary_requests_are_a_header_and_what_belongs_to_it() {
    let get = binary::Command::Get(binary::Get {
        key: b"bk",
        with_key: true,
        touch: Some(9),
    });
    check(
        "\\x80$\\x00\\x02\\x04\\x00\\x00\\x00\\x00\\x00\\x00\\x06\\x01\\x02\\x03\\x04\
         \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\tbk",
        |out| binary::ask::request(out, [1, 2, 3, 4], &get, true),
    );
}
