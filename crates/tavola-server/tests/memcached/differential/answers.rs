//! Answers as they are compared.

/// What takes the place of what cannot be the same.
const ANY: &[u8] = b"#";
/// Times that are left are compared by so many seconds, of which those that are set are a multiple.
const SECONDS: u64 = 10;
/// Longer ones follow from a date.
const LONGEST_S: u64 = 60 * 60 * 24 * 30;

/// Answers in lines.
pub fn lines(answers: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = answers;
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        let (line, after) = rest.split_at(end);
        rest = &after[2..];
        let data = read_line(line, &mut out);
        out.extend_from_slice(b"\r\n");
        let data = data.min(rest.len());
        out.extend_from_slice(&rest[..data]);
        rest = &rest[data..];
    }
    out.extend_from_slice(rest);
    out
}

/// Writes a line, and says how many bytes of data belong to it.
fn read_line(line: &[u8], out: &mut Vec<u8>) -> usize {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let size = |at: usize| words.get(at).and_then(|word| number(word)).unwrap_or(0) as usize + 2;
    match words[0] {
        b"VERSION" => {
            out.extend_from_slice(b"VERSION #");
            0
        }
        b"VALUE" if words.len() == 5 => {
            out.extend_from_slice(&words[..4].join(&b' '));
            out.push(b' ');
            out.extend_from_slice(ANY);
            size(3)
        }
        b"VALUE" => {
            out.extend_from_slice(line);
            size(3)
        }
        b"HD" | b"VA" | b"NS" | b"EX" | b"NF" | b"EN" => {
            for (at, word) in words.iter().enumerate() {
                if at > 0 {
                    out.push(b' ');
                }
                flag(word, out);
            }
            if words[0] == b"VA" { size(1) } else { 0 }
        }
        _ => {
            out.extend_from_slice(line);
            0
        }
    }
}

fn flag(word: &[u8], out: &mut Vec<u8>) {
    match (word.first(), word.get(1..).and_then(number)) {
        (Some(b'c'), Some(cas)) if cas != 0 => {
            out.push(b'c');
            out.extend_from_slice(ANY);
        }
        // A second may have begun since it was used.
        (Some(b'l'), Some(idle_s)) if idle_s < SECONDS => {
            out.push(b'l');
            out.extend_from_slice(ANY);
        }
        // Of a time that has passed nothing is left here, and less than nothing there.
        (Some(b't'), Some(left_s)) if left_s == 0 || left_s > LONGEST_S => {
            out.push(b't');
            out.extend_from_slice(ANY);
        }
        (Some(b't'), Some(left_s)) => {
            let left_s = left_s.next_multiple_of(SECONDS);
            out.extend_from_slice(format!("t{left_s}").as_bytes());
        }
        _ => out.extend_from_slice(word),
    }
}

fn number(word: &[u8]) -> Option<u64> {
    str::from_utf8(word).ok()?.parse().ok()
}

/// Binary answers: of a unique number, whether there is one.
pub fn headers(answers: &[u8]) -> Vec<u8> {
    const HEADER: usize = 24;
    const VERSION: u8 = 0x0b;
    let mut out = Vec::new();
    let mut rest = answers;
    while let Some(header) = rest.first_chunk::<HEADER>() {
        let body = u32::from_be_bytes(header[8..12].try_into().expect("four bytes")) as usize;
        let end = (HEADER + body).min(rest.len());
        let is_version = header[1] == VERSION && header[6..8] == [0, 0];
        out.extend_from_slice(if is_version {
            &header[..8]
        } else {
            &header[..16]
        });
        out.extend_from_slice(&header[12..16]);
        out.push(u8::from(header[16..] != [0; 8]));
        if !is_version {
            out.extend_from_slice(&rest[HEADER..end]);
        }
        rest = &rest[end..];
    }
    out.extend_from_slice(rest);
    out
}
