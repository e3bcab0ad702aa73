//! The name and the password that a client has to give first, where the server asks for them: data
//! of a `set` whose key, flags and expiry time mean nothing.

use super::line::Line;
use super::request::Request;
use super::tokens::Tokens;
use crate::block;
use crate::decoder::{self, Outcome};
use crate::limits::Limits;
use crate::number;
use crate::refusal::Refusal;
use crate::text::line::{self, Found};

/// The shortest line; a shorter one ends the connection.
const SHORTEST_LINE: usize = 6;
/// The longest name and password together.
pub(super) const LONGEST_DATA: u32 = 16_384;

/// What is at the front of `input`, whose first `searched` bytes have no line end.
pub(super) fn decode<'a>(input: &'a [u8], searched: &mut usize, limits: &Limits) -> Outcome<'a> {
    let line = match line::find_of(input, searched, limits.line_bytes) {
        Found::Line(line) => line,
        Found::Short => {
            return Outcome::Short {
                needed: input.len() + 1,
            };
        }
        Found::TooLong(used) => return super::hang_up(used),
    };
    if line.bytes <= SHORTEST_LINE {
        return super::hang_up(line.bytes);
    }
    match read_size(input, &line) {
        Ok(size) => read(input, &line, size),
        Err(text) => line.refused(text),
    }
}

/// One byte before the line end is dropped whatever it is, as memcached does.
fn read_size(input: &[u8], line: &Line<'_>) -> Result<usize, &'static str> {
    let text = &input[..line.bytes - 2];
    let tokens = Tokens::new(text);
    let size = tokens.get(4).and_then(number::read_u32);
    match size.filter(|_| text.starts_with(b"set")) {
        None => Err("CLIENT_ERROR unauthenticated"),
        Some(size) if size > LONGEST_DATA => Err("CLIENT_ERROR auth token too long"),
        Some(size) => Ok(size as usize),
    }
}

fn read<'a>(input: &'a [u8], line: &Line<'a>, size: usize) -> Outcome<'a> {
    let used = line.bytes + size + block::END.len();
    let Some(data) = input.get(line.bytes..used) else {
        return Outcome::ShortValue { needed: used };
    };
    let refused = |text| Outcome::Refused {
        refusal: Refusal::line(text),
        used,
    };
    let Some(data) = data.strip_suffix(block::END) else {
        return refused("CLIENT_ERROR bad command line termination");
    };
    let Some(space) = data.iter().position(|byte| *byte == b' ') else {
        return refused("CLIENT_ERROR bad authentication token format");
    };
    Outcome::Whole {
        request: decoder::Request::Text(Request::Authenticate {
            name: &data[..space],
            password: &data[space + 1..],
        }),
        used,
    }
}
