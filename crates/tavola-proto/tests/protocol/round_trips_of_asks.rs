//! A server reads what a client asks, however the bytes arrive.

use crate::meta_plan::{Plan, is_plain, key};
use crate::numbers::Numbers;
use tavola_proto::binary::{self, Command};
use tavola_proto::meta::{self, Mode};
use tavola_proto::text::{self, Detail, Event, LruCrawler, Shutdown, Stats, Tuned, Watched, ask};
use tavola_proto::{Decoder, Error, Key, KeyRoom, Limits, Request, Sasl, Step};

const STREAMS: u64 = 2000;
const REQUESTS: usize = 12;

/// A request as words, the same for what is asked and for what is read.
fn described(request: &Request<'_>) -> String {
    match request {
        Request::Text(text::Request::Get(get)) => {
            let keys: Vec<_> = get.keys.clone().collect();
            described_get(&keys, get.with_cas, get.touch)
        }
        Request::Text(text::Request::Tune(tune)) => {
            let mut words: Vec<_> = tune.arguments.clone().collect();
            // The last word is one of the arguments, whatever it says.
            words.truncate(words.len() - usize::from(tune.noreply));
            described_tune(tune.command, &words, tune.noreply)
        }
        Request::Text(request) => format!("{request:?}"),
        Request::Meta(request) => described_meta(request),
        Request::Binary(request) => {
            described_binary(request.header.opaque, &request.command, request.quiet)
        }
    }
}

fn described_get(keys: &[&[u8]], with_cas: bool, touch: Option<i32>) -> String {
    format!("get {keys:?} {with_cas} {touch:?}")
}

fn described_tune(command: Tuned, words: &[&[u8]], noreply: bool) -> String {
    format!("{command:?} {words:?} {noreply}")
}

fn described_binary(opaque: [u8; 4], command: &Command<'_>, quiet: bool) -> String {
    format!("{opaque:?} {command:?} {quiet}")
}

fn described_meta(request: &meta::Request<'_>) -> String {
    let name = match request {
        meta::Request::Get(_) => "mg".to_owned(),
        meta::Request::Set { mode, data, .. } => format!("ms {mode:?} {data:?}"),
        meta::Request::Delete(_) => "md".to_owned(),
        meta::Request::Arithmetic { down, .. } => format!("ma {down}"),
        meta::Request::Debug { key } => {
            return described_item("me", key, &Plan::default());
        }
        meta::Request::Noop => return "mn".to_owned(),
    };
    let item = request.item().expect("a command about an item");
    described_item(&name, &item.key, &Plan::of(item))
}

fn described_item(name: &str, key: &Key<'_>, plan: &Plan) -> String {
    let mut room = KeyRoom::default();
    described_plan(name, key.bytes(&mut room), key.is_base64(), plan)
}

fn described_plan(name: &str, key: &[u8], is_base64: bool, plan: &Plan) -> String {
    format!("{name} {key:?} {is_base64} {plan:?}")
}

/// Appends a classic command about items, and returns what it is.
fn text_item(numbers: &mut Numbers, out: &mut Vec<u8>) -> String {
    let key = numbers.plain_key();
    let noreply = numbers.coin();
    let exptime = numbers.wide() as i32;
    let request = match numbers.below(5) {
        0 => {
            let keys: Vec<_> = (0..=numbers.below(5))
                .map(|_| numbers.plain_key())
                .collect();
            let with_cas = numbers.coin();
            let touch = numbers.coin().then_some(exptime);
            let written = match touch {
                None => ask::get(out, &keys, with_cas),
                Some(exptime) => ask::get_and_touch(out, exptime, &keys, with_cas),
            };
            written.expect("a get");
            let keys: Vec<_> = keys.iter().map(Vec::as_slice).collect();
            return described_get(&keys, with_cas, touch);
        }
        1 => {
            let data = numbers.bytes(40);
            let cas = numbers.wide();
            let store = text::Store {
                verb: numbers.pick(&[
                    text::StoreVerb::Set,
                    text::StoreVerb::Add,
                    text::StoreVerb::Replace,
                    text::StoreVerb::Append,
                    text::StoreVerb::Prepend,
                    text::StoreVerb::Cas(cas),
                ]),
                key: &key,
                flags: numbers.wide() as u32,
                exptime,
                data: &data,
                noreply,
            };
            ask::store(out, &store).expect("a store");
            return format!("{:?}", text::Request::Store(store));
        }
        2 => {
            let (delta, down) = (numbers.wide(), numbers.coin());
            let count = text::Count {
                key: &key,
                delta,
                down,
                noreply,
            };
            ask::count(out, &count).expect("a count");
            text::Request::Count(count)
        }
        3 => {
            ask::touch(out, &key, exptime, noreply).expect("a touch");
            text::Request::Touch {
                key: &key,
                exptime,
                noreply,
            }
        }
        _ => {
            ask::delete(out, &key, noreply).expect("a delete");
            let key = &key;
            text::Request::Delete { key, noreply }
        }
    };
    format!("{request:?}")
}

/// Appends a classic command about the server, and returns what it is.
fn text_server(numbers: &mut Numbers, out: &mut Vec<u8>) -> String {
    let noreply = numbers.coin();
    let number = numbers.wide() as u32;
    let request = match numbers.below(11) {
        0 => {
            let delay = numbers.wide() as i32;
            ask::flush_all(out, delay, noreply);
            text::Request::FlushAll { delay, noreply }
        }
        1 => {
            let level = number;
            ask::verbosity(out, level, noreply);
            text::Request::Verbosity { level, noreply }
        }
        2 => {
            let stats = stats(numbers);
            ask::stats(out, stats).expect("stats");
            text::Request::Stats(stats)
        }
        3 => {
            let mebibytes = number;
            ask::cache_memlimit(out, mebibytes, noreply);
            text::Request::CacheMemlimit { mebibytes, noreply }
        }
        4 => {
            let command = crawler(numbers);
            ask::lru_crawler(out, command).expect("a crawl");
            let noreply = false;
            text::Request::LruCrawler { command, noreply }
        }
        5 => {
            let events = [Event::Fetchers, Event::Rawcmds, Event::Deletions];
            let watched = (0..=numbers.below(4)).fold(Watched::default(), |watched, _| {
                watched.with(numbers.pick(&events))
            });
            ask::watch(out, watched);
            text::Request::Watch(watched)
        }
        6 => {
            let command = numbers.pick(&[Tuned::Slabs, Tuned::Lru]);
            let words: Vec<_> = (0..=numbers.below(3))
                .map(|_| numbers.plain_key())
                .collect();
            ask::tune(out, command, &words, noreply).expect("words");
            let words: Vec<_> = words.iter().map(Vec::as_slice).collect();
            return described_tune(command, &words, noreply);
        }
        7 => {
            out.extend_from_slice(ask::VERSION);
            text::Request::Version
        }
        8 => {
            let mode = numbers.pick(&[Shutdown::Normal, Shutdown::Graceful]);
            ask::shutdown(out, mode == Shutdown::Graceful);
            let noreply = false;
            text::Request::Shutdown { mode, noreply }
        }
        9 => {
            out.extend_from_slice(ask::REFRESH_CERTS);
            text::Request::RefreshCerts
        }
        _ => {
            out.extend_from_slice(ask::QUIT);
            text::Request::Quit
        }
    };
    format!("{request:?}")
}

fn stats(numbers: &mut Numbers) -> Stats<'static> {
    let (class, limit) = (numbers.below(64) as u32, numbers.wide() as u32);
    numbers.pick(&[
        Stats::General,
        Stats::Reset,
        Stats::Detail(Detail::On),
        Stats::Detail(Detail::Off),
        Stats::Detail(Detail::Dump),
        Stats::Settings,
        Stats::Cachedump { class, limit },
        Stats::Connections,
        Stats::Items,
        Stats::Slabs,
        Stats::Sizes,
        Stats::Other(b"proxy"),
    ])
}

fn crawler(numbers: &mut Numbers) -> LruCrawler<'static> {
    let (count, rest) = (numbers.wide() as u32, numbers.below(1_000_001) as u32);
    numbers.pick(&[
        LruCrawler::Crawl(b"1,2"),
        LruCrawler::Metadump(b"all"),
        LruCrawler::Mgdump(b"hash"),
        LruCrawler::Tocrawl(count),
        LruCrawler::Sleep(rest),
        LruCrawler::Enable,
        LruCrawler::Disable,
    ])
}

/// Appends a meta command, and returns what it is; nothing where it cannot be sent.
fn meta(numbers: &mut Numbers, out: &mut Vec<u8>) -> Option<String> {
    let key = key(numbers);
    let plan = Plan::generated(numbers);
    let flags = plan.flags();
    let (name, written) = match numbers.below(6) {
        0 => ("mg".to_owned(), meta::ask::get(out, &key, &flags)),
        1 => {
            let modes = [
                Mode::Set,
                Mode::Add,
                Mode::Replace,
                Mode::Append,
                Mode::Prepend,
            ];
            let (mode, data) = (numbers.pick(&modes), numbers.bytes(40));
            let written = meta::ask::set(out, &key, mode, &data, &flags);
            (format!("ms {mode:?} {data:?}"), written)
        }
        2 => ("md".to_owned(), meta::ask::delete(out, &key, &flags)),
        3 => {
            let down = numbers.coin();
            let written = meta::ask::arithmetic(out, &key, down, &flags);
            (format!("ma {down}"), written)
        }
        4 => {
            let written = meta::ask::debug(out, &key);
            let plan = Plan::default();
            return kept(written).then(|| described_plan("me", &key, !is_plain(&key), &plan));
        }
        _ => {
            out.extend_from_slice(meta::ask::NOOP);
            return Some("mn".to_owned());
        }
    };
    kept(written).then(|| described_plan(&name, &key, !is_plain(&key), &plan))
}

/// Whether a meta command is sent: it may have too many flags, or ask for a key that cannot be
/// returned.
fn kept(written: Result<(), Error>) -> bool {
    match written {
        Ok(()) => true,
        Err(Error::TooManyFlags | Error::UnreadableKey) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Appends a binary request, and returns what it is; nothing where it has no quiet form.
fn binary(numbers: &mut Numbers, out: &mut Vec<u8>) -> Option<String> {
    let (key, data) = (numbers.any_key(), numbers.bytes(40));
    let mechanism = &key[..key.len().min(32)];
    let (key, data) = (key.as_slice(), data.as_slice());
    let (exptime, cas) = (numbers.wide() as u32, numbers.wide());
    let commands = [
        Command::Get(binary::Get {
            key,
            with_key: numbers.coin(),
            touch: numbers.maybe(|numbers| numbers.wide() as u32),
        }),
        store(numbers, key, data),
        Command::Delete { key, cas },
        Command::Count(binary::Count {
            key,
            delta: numbers.wide(),
            down: numbers.coin(),
            initial: numbers.wide(),
            exptime,
            cas,
        }),
        Command::Touch { key, exptime },
        Command::Quit,
        Command::Flush {
            delay: numbers.pick(&[0, exptime]),
        },
        Command::Noop,
        Command::Version,
        Command::Stat {
            topic: numbers.pick(&[b"", key]),
        },
        Command::SaslList,
        Command::SaslAuth { mechanism, data },
        Command::SaslStep { mechanism, data },
    ];
    let command = &commands[numbers.below(commands.len())];
    let opaque = (numbers.wide() as u32).to_be_bytes();
    let quiet = numbers.coin();
    match binary::ask::request(out, opaque, command, quiet) {
        Ok(()) => Some(described_binary(opaque, command, quiet)),
        Err(Error::NotQuiet) => None,
        Err(error) => panic!("{error}"),
    }
}

fn store<'a>(numbers: &mut Numbers, key: &'a [u8], data: &'a [u8]) -> Command<'a> {
    use binary::StoreVerb::{Add, Append, Prepend, Replace, Set};
    let verb = numbers.pick(&[Set, Add, Replace, Append, Prepend]);
    // What is put behind or before has neither.
    let has_extras = !matches!(verb, Append | Prepend);
    Command::Store(binary::Store {
        verb,
        key,
        flags: u32::from(has_extras) * numbers.wide() as u32,
        exptime: u32::from(has_extras) * numbers.wide() as u32,
        cas: numbers.wide(),
        data,
    })
}

/// The requests that a server reads when `sent` arrives in chunks of the sizes that `next` returns.
fn read(sent: &[u8], mut next: impl FnMut() -> usize) -> Vec<String> {
    let mut decoder = Decoder::new(Limits::default());
    decoder.set_sasl(Sasl::Done);
    let (mut requests, mut at, mut end) = (Vec::new(), 0, 0);
    while end < sent.len() {
        end = sent.len().min(end + next());
        loop {
            match decoder.step(&sent[at..end]) {
                Step::Request { request, used } => {
                    requests.push(described(&request));
                    at += used;
                }
                Step::More { .. } => break,
                other => panic!("{other:?} of {}", sent[at..].escape_ascii()),
            }
        }
    }
    assert_eq!(at, sent.len(), "nothing is left");
    requests
}

#[test]
fn a_server_reads_what_a_client_asks() {
    let mut count = 0;
    for seed in 1..=STREAMS {
        let mut numbers = Numbers::of(seed);
        let is_binary = numbers.below(3) == 0;
        let (mut sent, mut asked) = (Vec::new(), Vec::new());
        for _ in 0..REQUESTS {
            let request = match numbers.below(3) {
                _ if is_binary => binary(&mut numbers, &mut sent),
                0 => Some(text_item(&mut numbers, &mut sent)),
                1 => Some(text_server(&mut numbers, &mut sent)),
                _ => meta(&mut numbers, &mut sent),
            };
            asked.extend(request);
        }
        assert_eq!(read(&sent, || sent.len()), asked);
        for most in [1, 7, 60] {
            assert_eq!(read(&sent, || 1 + numbers.below(most)), asked);
        }
        count += asked.len();
    }
    assert!(count > 15_000, "{count} requests");
}

#[test]
fn a_name_and_a_password_are_read_where_they_are_asked_for() {
    let mut sent = Vec::new();
    ask::authenticate(&mut sent, b"me", b"a secret").expect("a name");
    let mut decoder = Decoder::new(Limits::default());
    decoder.set_locked(true);
    let request = text::Request::Authenticate {
        name: b"me",
        password: b"a secret",
    };
    assert_eq!(
        decoder.step(&sent),
        Step::Request {
            request: Request::Text(request),
            used: sent.len()
        }
    );
}
