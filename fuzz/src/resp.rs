//! Bytes of a connection of the protocol of Redis, as a server or a client receives them: however
//! they are split, the same is found in them, each step makes progress, no more is asked for than
//! the limits say, and a command that is found can be sent again.

use tavola_proto::resp::{
    CommandDecoder, CommandLimits, CommandStep, NotAReply, ProtocolError, Replies, Reply,
    ReplyDecoder, ReplyLimits, ReplyStep, ask,
};

/// Small, so that inputs reach them.
const COMMANDS: CommandLimits = CommandLimits {
    words: 12,
    word_bytes: 64,
    bytes: 200,
};
const REPLIES: ReplyLimits = ReplyLimits {
    string_bytes: 64,
    bytes: 200,
    line_bytes: 40,
    depth: 4,
};
/// A line may be as long as this before its end.
const LINE_BYTES: usize = 64 * 1024 + 3;
/// The bytes at the front of an input that say how the rest is read.
const SETTINGS: usize = 5;

/// Decodes the input at once, byte by byte and in chunks that it chooses.
///
/// # Panics
/// Where the splitting makes a difference, or a step does not go on.
pub fn run(input: &[u8]) {
    let Some((settings, received)) = input.split_first_chunk::<SETTINGS>() else {
        return;
    };
    let chunks = &settings[1..];
    let chunk = |count: usize| usize::from(chunks[count % chunks.len()]).max(1);
    let whole = |_| received.len();
    match settings[0] % 3 {
        2 => {
            let all = replies(received, whole);
            assert_eq!(replies(received, |_| 1), all, "one by one");
            assert_eq!(replies(received, chunk), all, "in chunks of {chunks:?}");
        }
        locked => {
            let mut decoder = CommandDecoder::new(COMMANDS);
            decoder.set_locked(locked == 1);
            let all = commands(decoder.clone(), received, whole);
            let single = commands(decoder.clone(), received, |_| 1);
            assert_eq!(single, all, "one by one");
            let split = commands(decoder.clone(), received, chunk);
            assert_eq!(split, all, "in chunks of {chunks:?}");
            send_again(&decoder, &all.0);
        }
    }
}

/// The commands, and where they end or what is wrong with the next.
type Commands = (Vec<Vec<Vec<u8>>>, Result<usize, ProtocolError>);

fn commands(
    mut decoder: CommandDecoder,
    received: &[u8],
    next: impl Fn(usize) -> usize,
) -> Commands {
    let (mut commands, mut at, mut end, mut chunks) = (Vec::new(), 0, 0, 0);
    while end < received.len() {
        end = received.len().min(end + next(chunks));
        chunks += 1;
        loop {
            let here = &received[at..end];
            let used = match decoder.step(here) {
                CommandStep::More { needed } => {
                    assert!(needed > here.len(), "{needed} bytes are there");
                    assert!(
                        needed <= COMMANDS.bytes + LINE_BYTES,
                        "{needed} bytes to be held"
                    );
                    break;
                }
                CommandStep::Broken(error) => {
                    assert!(!error.to_string().contains(['\r', '\n']));
                    return (commands, Err(error));
                }
                CommandStep::Nothing { used } => used,
                CommandStep::Command { args, used } => {
                    assert!(args.len() > 0, "a command without a name");
                    if let Some(place) = args.place_in_input(0) {
                        assert_eq!(&here[place], &args[0], "another place");
                    }
                    commands.push(args.iter().map(<[u8]>::to_vec).collect());
                    used
                }
            };
            assert!(used > 0, "a step that takes nothing");
            at += used;
        }
    }
    (commands, Ok(at))
}

/// Writes commands as a client does, and reads the same ones.
fn send_again(decoder: &CommandDecoder, all: &[Vec<Vec<u8>>]) {
    for command in all {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        let mut sent = Vec::new();
        ask::command(&mut sent, &words);
        // A line of many short words may be longer in this form.
        let fits = words.len() <= 10 && sent.len() <= COMMANDS.bytes;
        if fits && words.iter().all(|word| word.len() <= COMMANDS.word_bytes) {
            let found = commands(decoder.clone(), &sent, |_| sent.len());
            assert_eq!(found, (vec![command.clone()], Ok(sent.len())));
        }
    }
}

fn replies(
    received: &[u8],
    next: impl Fn(usize) -> usize,
) -> (Vec<String>, Result<usize, NotAReply>) {
    let mut decoder = ReplyDecoder::new(REPLIES);
    let (mut replies, mut at, mut end, mut chunks) = (Vec::new(), 0, 0, 0);
    while end < received.len() {
        end = received.len().min(end + next(chunks));
        chunks += 1;
        loop {
            let here = &received[at..end];
            match decoder.step(here) {
                Ok(ReplyStep::Reply { reply, used }) => {
                    assert!(used > 0 && used <= REPLIES.bytes, "a reply of {used} bytes");
                    read(&reply, REPLIES.depth);
                    replies.push(format!("{reply:?}"));
                    at += used;
                }
                Ok(ReplyStep::More { needed }) => {
                    assert!(needed > here.len(), "{needed} bytes are there");
                    assert!(needed <= REPLIES.bytes + 1, "{needed} bytes to be held");
                    break;
                }
                Err(error) => return (replies, Err(error)),
            }
        }
    }
    (replies, Ok(at))
}

/// Uses what a client would use of a reply.
fn read(reply: &Reply<'_>, depth: usize) {
    let all = |replies: &Replies<'_>| {
        assert!(depth > 0, "too deep");
        let count = replies.len();
        let found = replies.clone().inspect(|reply| read(reply, depth - 1));
        assert_eq!(found.count(), count, "replies that are not there");
    };
    match reply {
        Reply::Array(replies) | Reply::Set(replies) | Reply::Push(replies) => all(replies),
        Reply::Map(replies) => {
            assert_eq!(replies.len() % 2, 0, "a key without a value");
            all(replies);
        }
        Reply::Bulk(bytes) => assert!(bytes.len() <= REPLIES.string_bytes, "a long string"),
        _ => {}
    }
}
