//! Commands about the server.

use super::line::Line;
use super::request::{Detail, Event, LruCrawler, Request, Shutdown, Stats, Tune, Tuned, Watched};
use super::tokens::{Tokens, Words, abbreviates};
use super::{BAD_FORMAT, refusal};
use crate::decoder::Outcome;
use crate::number;
use crate::refusal::{Refusal, Restricted};

const ERROR: &str = "ERROR";
/// The classes of items that memcached can have.
const CLASSES: u32 = 64;
/// The longest rest of the crawler, in microseconds.
const LONGEST_SLEEP: u32 = 1_000_000;

/// The kinds of events, in the order in which memcached compares their names.
pub(super) const EVENTS: [(&str, Event); 10] = [
    ("rawcmds", Event::Rawcmds),
    ("evictions", Event::Evictions),
    ("fetchers", Event::Fetchers),
    ("mutations", Event::Mutations),
    ("sysevents", Event::Sysevents),
    ("connevents", Event::Connevents),
    ("proxyreqs", Event::Proxyreqs),
    ("proxyevents", Event::Proxyevents),
    ("proxyuser", Event::Proxyuser),
    ("deletions", Event::Deletions),
];

/// `stats [TOPIC [ARGUMENTS]]`.
pub(super) fn stats<'a>(line: &Line<'a>) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    match read_stats(&tokens) {
        Ok(stats) => line.whole(Request::Stats(stats)),
        Err(text) => {
            let is_detail = tokens
                .get(1)
                .is_some_and(|topic| abbreviates(topic, "detail"));
            let command = if is_detail {
                Restricted::Detail
            } else {
                Restricted::Cachedump
            };
            line.refused_with(Refusal::line(text).of_command(Some(command)))
        }
    }
}

fn read_stats<'a>(tokens: &Tokens<'a>) -> Result<Stats<'a>, &'static str> {
    let Some(topic) = tokens.get(1) else {
        return Ok(Stats::General);
    };
    // The first topic that the word is a beginning of.
    if abbreviates(topic, "reset") {
        return Ok(Stats::Reset);
    }
    if abbreviates(topic, "detail") {
        let detail = read_detail(tokens.get(2)).map(Stats::Detail);
        return detail.ok_or("CLIENT_ERROR usage: stats detail on|off|dump");
    }
    if abbreviates(topic, "settings") {
        return Ok(Stats::Settings);
    }
    if abbreviates(topic, "cachedump") {
        return read_cachedump(tokens);
    }
    if abbreviates(topic, "conns") {
        return Ok(Stats::Connections);
    }
    Ok(match topic {
        b"items" => Stats::Items,
        b"slabs" => Stats::Slabs,
        b"sizes" => Stats::Sizes,
        read_by_first_word => Stats::Other(read_by_first_word),
    })
}

fn read_detail(word: Option<&[u8]>) -> Option<Detail> {
    let word = word?;
    let names = [
        ("on", Detail::On),
        ("off", Detail::Off),
        ("dump", Detail::Dump),
    ];
    let found = names.iter().find(|(name, _)| abbreviates(word, name))?;
    Some(found.1)
}

fn read_cachedump<'a>(tokens: &Tokens<'a>) -> Result<Stats<'a>, &'static str> {
    let [Some(class), Some(limit)] = [tokens.get(2), tokens.get(3)] else {
        return Err("CLIENT_ERROR bad command line");
    };
    let (Some(class), Some(limit)) = (number::read_u32(class), number::read_u32(limit)) else {
        return Err(BAD_FORMAT);
    };
    if class >= CLASSES {
        return Err("CLIENT_ERROR Illegal slab id");
    }
    Ok(Stats::Cachedump { class, limit })
}

/// `watch [EVENT...]`.
pub(super) fn watch<'a>(line: &Line<'a>) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let mut watched = Watched::default();
    for word in (1..tokens.count()).filter_map(|index| tokens.get(index)) {
        match EVENTS.iter().find(|(name, _)| abbreviates(word, name)) {
            Some((_, event)) => watched.add(*event),
            None => {
                let refusal = Refusal::line(ERROR).of_command(Some(Restricted::Watch));
                return line.refused_with(refusal);
            }
        }
    }
    if tokens.count() == 1 {
        watched.add(Event::Fetchers);
    }
    line.whole(Request::Watch(watched))
}

/// Commands that memcached looks up by their first word, wherever in the line that begins.
pub(super) fn read_by_first_word<'a>(line: &Line<'a>) -> Outcome<'a> {
    let tokens = Tokens::new(line.text);
    let read = match tokens.get(0) {
        Some(b"shutdown") => Ok(read_shutdown(&tokens)),
        Some(b"slabs") => Ok(tune(&tokens, Tuned::Slabs)),
        Some(b"lru") => Ok(tune(&tokens, Tuned::Lru)),
        Some(b"cache_memlimit") => read_memlimit(&tokens),
        Some(b"flush_all") => read_flush_all(&tokens),
        Some(b"verbosity") => read_verbosity(&tokens),
        Some(b"refresh_certs") => Ok(Request::RefreshCerts),
        Some(b"lru_crawler") => match read_crawler(&tokens) {
            Ok(command) => Ok(Request::LruCrawler {
                command,
                noreply: tokens.ask_for_no_reply(),
            }),
            Err(text) => Err(text),
        },
        _ => return unknown(line, &tokens),
    };
    match read {
        Ok(request) => line.whole(request),
        Err(text) => {
            let command = (tokens.get(0) == Some(b"flush_all")).then_some(Restricted::FlushAll);
            line.refused_with(refusal(&tokens, text).of_command(command))
        }
    }
}

/// A browser that is made to send requests here gets nothing.
fn unknown<'a>(line: &Line<'a>, tokens: &Tokens<'a>) -> Outcome<'a> {
    let last = tokens.count().checked_sub(1).filter(|index| *index > 0);
    let is_http = last
        .and_then(|index| tokens.get(index))
        .is_some_and(|word| word.starts_with(b"HTTP/"));
    if is_http {
        line.refused_with(Refusal::hang_up())
    } else {
        line.refused_with(refusal(tokens, ERROR))
    }
}

fn read_shutdown<'a>(tokens: &Tokens<'a>) -> Request<'a> {
    let mode = match (tokens.count(), tokens.get(1)) {
        (1, _) => Shutdown::Normal,
        (2, Some(word)) if abbreviates(word, "graceful") => Shutdown::Graceful,
        _ => Shutdown::Unknown,
    };
    Request::Shutdown {
        mode,
        noreply: tokens.ask_for_no_reply(),
    }
}

fn tune<'a>(tokens: &Tokens<'a>, command: Tuned) -> Request<'a> {
    Request::Tune(Tune {
        command,
        arguments: Words::new(tokens.rest(1)),
        noreply: tokens.ask_for_no_reply(),
    })
}

fn read_memlimit<'a>(tokens: &Tokens<'a>) -> Result<Request<'a>, &'static str> {
    let mebibytes = tokens.get(1).and_then(number::read_u32).ok_or(ERROR)?;
    Ok(Request::CacheMemlimit {
        mebibytes,
        noreply: tokens.ask_for_no_reply(),
    })
}

fn read_flush_all<'a>(tokens: &Tokens<'a>) -> Result<Request<'a>, &'static str> {
    let noreply = tokens.ask_for_no_reply();
    let delay = if tokens.count() == 1 + usize::from(noreply) {
        Some(0)
    } else {
        tokens.get(1).and_then(number::read_i32)
    };
    Ok(Request::FlushAll {
        delay: delay.ok_or("CLIENT_ERROR invalid exptime argument")?,
        noreply,
    })
}

fn read_verbosity<'a>(tokens: &Tokens<'a>) -> Result<Request<'a>, &'static str> {
    let level = tokens.get(1).and_then(number::read_u32);
    Ok(Request::Verbosity {
        level: level.ok_or(BAD_FORMAT)?,
        noreply: tokens.ask_for_no_reply(),
    })
}

fn read_crawler<'a>(tokens: &Tokens<'a>) -> Result<LruCrawler<'a>, &'static str> {
    let command = tokens.get(1).ok_or(ERROR)?;
    let is = |name| abbreviates(command, name);
    match (tokens.count(), tokens.get(2)) {
        (3, Some(classes)) if is("crawl") => Ok(LruCrawler::Crawl(classes)),
        (3, Some(classes)) if is("metadump") => Ok(LruCrawler::Metadump(classes)),
        (3, Some(classes)) if is("mgdump") => Ok(LruCrawler::Mgdump(classes)),
        (3, Some(count)) if is("tocrawl") => {
            let count = number::read_u32(count).ok_or(BAD_FORMAT)?;
            Ok(LruCrawler::Tocrawl(count))
        }
        (3, Some(rest)) if is("sleep") => match number::read_u32(rest) {
            Some(rest) if rest <= LONGEST_SLEEP => Ok(LruCrawler::Sleep(rest)),
            Some(_) => Err("CLIENT_ERROR sleep must be one second or less"),
            None => Err(BAD_FORMAT),
        },
        (2, None) if is("enable") => Ok(LruCrawler::Enable),
        (2, None) if is("disable") => Ok(LruCrawler::Disable),
        _ => Err(ERROR),
    }
}
