//! Requests that arrived together, whose keys' memory is fetched before the first is carried out.
//!
//! A pipeline of sets, or of gets of the meta and binary protocols, would wait for each key's lines
//! of memory in turn. So requests are kept until some are there, the lines of all their keys are
//! asked for at once, and then each is carried out as it is alone, in its order.

use tavola::Result;
use tavola_proto::binary::{self, Command};
use tavola_proto::text::Request as Text;
use tavola_proto::{Request, meta};

use super::work::{After, WAVE, Work};
use crate::net::Output;

/// Requests that are to be carried out.
#[derive(Debug)]
pub(super) struct Ahead<'a> {
    requests: Vec<Request<'a>>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new() -> Self {
        Self {
            requests: Vec::new(),
        }
    }

    /// Whether a request may be kept: it reads or stores one key, and changes nothing about its
    /// connection.
    pub(super) fn may_keep(request: &Request<'_>) -> bool {
        key_of(request).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Keeps a request; true: now they are to be carried out.
    pub(super) fn keep(&mut self, request: Request<'a>, work: &Work) -> bool {
        if self.requests.capacity() == 0 {
            self.requests.reserve_exact(WAVE);
        }
        self.requests.push(request);
        self.requests.len() >= work.wave
    }

    /// Carries out what is kept; what comes after one of them that ends the connection is dropped.
    pub(super) fn carry_out(
        &mut self,
        work: &mut Work,
        output: &mut Output,
        mut each: impl FnMut(&mut Work, &Request<'a>, &mut Output) -> Result<After>,
    ) -> Result<After> {
        if self.requests.is_empty() {
            return Ok(After::GoOn);
        }
        let mut keys = [&[][..]; WAVE];
        let count = self.requests.len();
        for (key, request) in keys.iter_mut().zip(&self.requests) {
            *key = key_of(request).unwrap_or_default();
        }
        if count > 1 {
            work.table().prefetch(&keys[..count])?;
        }
        let before = output.len();
        let mut after = Ok(After::GoOn);
        for request in &self.requests {
            after = each(work, request, output);
            if !matches!(after, Ok(After::GoOn)) {
                break;
            }
        }
        self.requests.clear();
        work.fit_wave(count, output.len() - before);
        after
    }
}

/// The key of a request that may be kept, as it stands in the table.
fn key_of<'a>(request: &Request<'a>) -> Option<&'a [u8]> {
    match request {
        Request::Text(Text::Store(store)) => Some(store.key),
        Request::Meta(meta::Request::Get(item) | meta::Request::Set { item, .. }) => {
            item.key.as_plain()
        }
        Request::Binary(binary::Request { command, .. }) => match command {
            Command::Get(get) => Some(get.key),
            Command::Store(store) => Some(store.key),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tavola_proto::{Decoder, Limits, Step};

    fn kept(input: &[u8]) -> Option<Vec<u8>> {
        let Step::Request { request, .. } = Decoder::new(Limits::default()).step(input) else {
            panic!("a whole request");
        };
        key_of(&request).map(<[u8]>::to_vec)
    }

    #[test]
    fn what_reads_or_stores_a_single_key_may_be_kept_and_nothing_else() {
        assert_eq!(kept(b"set a 0 0 1\r\nx\r\n").as_deref(), Some(&b"a"[..]));
        assert_eq!(kept(b"mg b v\r\n").as_deref(), Some(&b"b"[..]));
        assert_eq!(kept(b"ms c 1\r\nx\r\n").as_deref(), Some(&b"c"[..]));
        for other in [
            &b"get a\r\n"[..],
            b"mg Zm9v b\r\n",
            b"mn\r\n",
            b"delete a\r\n",
        ] {
            assert_eq!(kept(other), None);
        }
    }
}
