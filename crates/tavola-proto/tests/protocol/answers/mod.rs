//! Answers read by a client, however their bytes arrive.

use tavola_proto::{Answer, AnswerDecoder, AnswerLimits, AnswerStep, Error, Protocol};

/// Reads all of `received`, at once and byte by byte, and hands the answers to `check`.
///
/// # Panics
/// Where something is no answer, or not whole.
pub fn found(
    protocol: Protocol,
    limits: AnswerLimits,
    received: &[u8],
    check: impl FnOnce(&[Answer<'_>]),
) {
    let (whole, rest) = read(protocol, limits, received, received.len());
    assert_eq!(rest, Ok(received.len()), "in {}", received.escape_ascii());
    let (single, rest) = read(protocol, limits, received, 1);
    assert_eq!(rest, Ok(received.len()), "in {}", received.escape_ascii());
    assert_eq!(single, whole);
    check(&whole);
}

/// What is wrong with the first answer of `received`.
///
/// # Panics
/// Where nothing is.
pub fn refused(protocol: Protocol, limits: AnswerLimits, received: &[u8]) -> Error {
    let (answers, whole) = read(protocol, limits, received, received.len().max(1));
    assert_eq!(answers, [], "in {}", received.escape_ascii());
    assert_eq!(read(protocol, limits, received, 1).1, whole);
    match whole {
        Err(error) => error,
        Ok(used) => panic!("{used} bytes of {}", received.escape_ascii()),
    }
}

/// The answers in `received` when it arrives in chunks of this size, and where they end, or what is
/// wrong with the next.
pub fn read(
    protocol: Protocol,
    limits: AnswerLimits,
    received: &[u8],
    chunk: usize,
) -> (Vec<Answer<'_>>, Result<usize, Error>) {
    read_by(protocol, limits, received, || chunk)
}

/// The same in chunks of the sizes that `next` returns.
pub fn read_by(
    protocol: Protocol,
    limits: AnswerLimits,
    received: &[u8],
    mut next: impl FnMut() -> usize,
) -> (Vec<Answer<'_>>, Result<usize, Error>) {
    let mut decoder = AnswerDecoder::of(protocol, limits);
    let (mut answers, mut at, mut end) = (Vec::new(), 0, 0);
    while end < received.len() {
        end = received.len().min(end + next());
        loop {
            match decoder.step(&received[at..end]) {
                Ok(AnswerStep::Answer { answer, used }) => {
                    assert!(used > 0);
                    answers.push(answer);
                    at += used;
                }
                Ok(AnswerStep::More { needed }) => {
                    assert!(needed > end - at, "{needed} are there");
                    break;
                }
                Err(error) => {
                    // It stays.
                    assert_eq!(decoder.step(&received[at..end]), Err(error));
                    return (answers, Err(error));
                }
            }
        }
    }
    (answers, Ok(at))
}
