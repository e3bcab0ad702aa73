//! Bytes that a client receives, of any of memcached's protocols: however they are split, the same
//! is found in them, each step makes progress, and what is found can be used.

use tavola_proto::{
    Answer, AnswerDecoder, AnswerLimits, AnswerStep, Error, KEY_BYTES, Key, KeyRoom, Protocol,
    meta, text,
};

/// Small, so that inputs reach them.
const LIMITS: AnswerLimits = AnswerLimits {
    value_bytes: 64,
    line_bytes: 256,
};

/// Decodes `received` at once, byte by byte and in chunks of these sizes.
///
/// # Panics
/// Where the splitting makes a difference, or a step does not go on.
pub(crate) fn run(protocol: Protocol, chunks: &[u8], received: &[u8]) {
    let whole = found(protocol, received, |_| received.len());
    let single = found(protocol, received, |_| 1);
    assert_eq!(single, whole, "one by one");
    let split = found(protocol, received, |count| {
        usize::from(chunks[count % chunks.len()]).max(1)
    });
    assert_eq!(split, whole, "in chunks of {chunks:?}");
}

/// The answers, and where they end or what is wrong with the next.
type Found<'a> = (Vec<Answer<'a>>, Result<usize, Error>);

fn found(protocol: Protocol, received: &[u8], next: impl Fn(usize) -> usize) -> Found<'_> {
    let mut decoder = AnswerDecoder::of(protocol, LIMITS);
    let (mut answers, mut at, mut end, mut chunks) = (Vec::new(), 0, 0, 0);
    while end < received.len() {
        end = received.len().min(end + next(chunks));
        chunks += 1;
        loop {
            match decoder.step(&received[at..end]) {
                Ok(AnswerStep::Answer { answer, used }) => {
                    assert!(used > 0, "a step that takes nothing");
                    read_answer(&answer);
                    answers.push(answer);
                    at += used;
                }
                Ok(AnswerStep::More { needed }) => {
                    assert!(needed > end - at, "{needed} bytes are there");
                    let most = LIMITS.line_bytes + 2 * LIMITS.value_bytes + KEY_BYTES;
                    assert!(needed <= 2 * most, "{needed} bytes to be held");
                    break;
                }
                Err(error) => return (answers, Err(error)),
            }
        }
    }
    (answers, Ok(at))
}

/// Uses what a client would use of an answer.
fn read_answer(answer: &Answer<'_>) {
    match answer {
        Answer::Text(text::Answer::Value(value)) => {
            assert!(value.data.len() <= LIMITS.value_bytes, "a value too large");
            assert!(!value.key.is_empty(), "a value of no key");
        }
        Answer::Text(text::Answer::Key(key)) => read_key(key),
        Answer::Text(_) => {}
        Answer::Meta(meta::Answer::Item(item)) => {
            item.facts.key.iter().for_each(read_key);
            if let Some(number) = item.facts.opaque_number() {
                assert!(
                    item.facts.opaque.is_some(),
                    "the opaque {number} of nothing"
                );
            }
        }
        Answer::Meta(meta::Answer::Debug { facts, .. }) => {
            assert!(facts.clone().all(|fact| !fact.is_empty()), "an empty fact");
        }
        Answer::Meta(meta::Answer::Noop) => {}
        Answer::Binary(answer) => {
            assert!(
                answer.value.len() <= LIMITS.value_bytes,
                "a value too large"
            );
            if answer.count().is_some() {
                assert_eq!(answer.value.len(), 8, "a count of another length");
            }
        }
    }
}

fn read_key(key: &Key<'_>) {
    let mut room = KeyRoom::default();
    assert!(!key.bytes(&mut room).is_empty(), "an empty key");
}
