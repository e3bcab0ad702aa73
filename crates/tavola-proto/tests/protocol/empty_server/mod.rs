//! A server that holds nothing, so that what it answers can be compared with what memcached does.

use tavola_proto::{Decoder, Limits, Request, Step, binary, meta, text};

/// What a client sends, what memcached 1.6.45 answers, and whether it closes the connection.
pub type Row = (&'static [u8], &'static [u8], bool);

pub const OPEN: bool = false;
pub const CLOSED: bool = true;

/// Plays all rows, each on a new connection, the bytes at once and one by one.
pub fn play(rows: &[Row]) {
    for (sent, answer, is_closed) in rows {
        for chunk in [sent.len(), 1] {
            let found = ask(Decoder::new(Limits::default()), sent, chunk);
            let shown = sent.escape_ascii();
            assert_eq!(
                (found.0.escape_ascii().to_string(), found.1),
                (answer.escape_ascii().to_string(), *is_closed),
                "to {shown} by {chunk}"
            );
        }
    }
}

/// What the server answers when `sent` arrives in chunks of this size, and whether it closes.
pub fn ask(mut decoder: Decoder, sent: &[u8], chunk: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut buffer = Vec::new();
    for bytes in sent.chunks(chunk) {
        buffer.extend_from_slice(bytes);
        loop {
            let (used, closes) = match decoder.step(&buffer) {
                Step::Request { request, used } => (used, serve(&mut out, &request)),
                Step::Refused { refusal, used } => {
                    refusal.write(&mut out);
                    (used, refusal.closes())
                }
                Step::Swallowed { used } | Step::TooLarge { used, .. } => (used, false),
                Step::More { needed } => {
                    assert!(needed > buffer.len());
                    break;
                }
            };
            if closes {
                return (out, true);
            }
            buffer.drain(..used);
        }
    }
    (out, false)
}

/// Whether the connection is to be closed.
fn serve(out: &mut Vec<u8>, request: &Request<'_>) -> bool {
    match request {
        Request::Text(text::Request::Quit) => return true,
        Request::Text(request) => serve_text(out, request),
        Request::Meta(request) => serve_meta(out, request),
        Request::Binary(request) => {
            serve_binary(out, request);
            return request.command == binary::Command::Quit;
        }
    }
    false
}

fn serve_text(out: &mut Vec<u8>, request: &text::Request<'_>) {
    use text::Request as R;
    use text::answer::*;
    let answer: (&[u8], bool) = match request {
        R::Get(_) => (END, false),
        R::Store(store) => match store.verb {
            text::StoreVerb::Set | text::StoreVerb::Add => (STORED, store.noreply),
            text::StoreVerb::Cas(_) => (NOT_FOUND, store.noreply),
            _ => (NOT_STORED, store.noreply),
        },
        R::Count(count) => (NOT_FOUND, count.noreply),
        R::Touch { noreply, .. } | R::Delete { noreply, .. } => (NOT_FOUND, *noreply),
        R::FlushAll { noreply, .. } | R::Verbosity { noreply, .. } => (OK, *noreply),
        R::Stats(text::Stats::Reset) => (RESET, false),
        R::Stats(text::Stats::Detail(_)) => (OK, false),
        R::Stats(text::Stats::Other(_)) => (ERROR, false),
        R::Stats(_) => (END, false),
        R::Shutdown { noreply, .. } => (SHUTDOWN_OFF, *noreply),
        R::CacheMemlimit {
            mebibytes: 8..,
            noreply,
        } => (OK, *noreply),
        R::CacheMemlimit { noreply, .. } => (
            b"MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n",
            *noreply,
        ),
        R::LruCrawler { command, noreply } => match command {
            text::LruCrawler::Tocrawl(_) | text::LruCrawler::Sleep(_) => (OK, *noreply),
            _ => (b"BADCLASS invalid class id\r\n", *noreply),
        },
        R::RefreshCerts => (b"Error TLS not enabled\r\n", false),
        R::Tune(tune) => (ERROR, tune.noreply),
        R::Authenticate { .. } => (AUTH_FAILED, false),
        other => panic!("no answer to {other:?}"),
    };
    if !answer.1 {
        out.extend_from_slice(answer.0);
    }
}

fn serve_meta(out: &mut Vec<u8>, request: &meta::Request<'_>) {
    use meta::{Mode, Status, answer};
    let (item, status) = match request {
        meta::Request::Get(item) => (item, Status::Miss),
        meta::Request::Set { item, mode, data } => {
            let status = match mode {
                Mode::Set | Mode::Replace if item.flags.compare().is_some() => Status::NotFound,
                Mode::Set | Mode::Add => Status::Done,
                _ => Status::NotStored,
            };
            if !request.hides(status) {
                let size_bytes = data.len();
                answer::stored(out, status, item, answer::Stored { cas: 0, size_bytes });
            }
            return;
        }
        meta::Request::Delete(item) | meta::Request::Arithmetic { item, .. } => {
            (item, Status::NotFound)
        }
        meta::Request::Debug { .. } => return out.extend_from_slice(answer::MISS),
        meta::Request::Noop => return out.extend_from_slice(answer::NOOP),
    };
    if !request.hides(status) {
        answer::bare(out, status, item);
    }
}

fn serve_binary(out: &mut Vec<u8>, request: &binary::Request<'_>) {
    use binary::{Command, Status, StoreVerb, answer};
    let header = &request.header;
    let failed = match &request.command {
        Command::Get(_) if request.quiet => return,
        Command::Get(get) if get.with_key => return answer::miss_of(out, header, get.key),
        Command::Version => return answer::text(out, header, b"1.6.45"),
        Command::Store(store) => match store.verb {
            StoreVerb::Replace => Some(Status::NotFound),
            StoreVerb::Append | StoreVerb::Prepend => Some(Status::NotStored),
            _ => None,
        },
        Command::Get(_) | Command::Delete { .. } | Command::Touch { .. } => Some(Status::NotFound),
        Command::Count(count) => (count.exptime == u32::MAX).then_some(Status::NotFound),
        Command::Stat { topic } => (!topic.starts_with(b"reset")).then_some(Status::NotFound),
        _ => None,
    };
    match failed {
        Some(status) => answer::error(out, header, status),
        None if request.quiet => {}
        None => answer::done(out, header, 0),
    }
}
