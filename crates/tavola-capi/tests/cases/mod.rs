//! The cases that every language must answer alike (`bindings/cases.json`), in C and C++.
//!
//! A program in each language reads a request a line and makes the call. Values of several kinds
//! are bytes and flags there: what a caller in C does to write and to read them is done here, by
//! the table in `bindings/README.md`.

mod kinds;

use crate::support::{Installed, Language, here, tables_in};
use kinds::{Stored, Value};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

type Step = Map<String, Json>;

/// A program that answers requests.
struct Answering {
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Answering {
    fn ask(&mut self, request: &str) -> String {
        let requests = self.requests.as_mut().unwrap();
        writeln!(requests, "{request}").unwrap();
        requests.flush().unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        assert!(answer.ends_with('\n'), "no answer to {request:.200}");
        answer.trim_end().to_string()
    }

    fn end(mut self) {
        drop(self.requests.take());
        assert!(self.child.wait().unwrap().success());
    }
}

/// A case, and what its steps have saved.
struct Case<'a> {
    steps: &'a [Json],
    /// How many places the queue has.
    places: Option<u64>,
    is_in_transaction: bool,
    options: Step,
    saved: HashMap<String, String>,
    has_kinds: bool,
}

fn hex(bytes: &[u8]) -> String {
    let mut word = ".".to_string();
    bytes
        .iter()
        .for_each(|byte| write!(word, "{byte:02x}").unwrap());
    word
}

/// Returns what a word of an answer says: bytes.
fn unhex(word: &str) -> Vec<u8> {
    let digits = word.strip_prefix('.').unwrap_or_else(|| panic!("{word}"));
    let byte = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// Returns words for the members of a list, each with a space before it.
fn words(step: &Step, list: &str) -> String {
    let list = step.get(list).and_then(Json::as_array);
    let all = list.into_iter().flatten().map(|one| Value::of(one).bytes());
    all.map(|bytes| format!(" {}", hex(&bytes))).collect()
}

/// A value as two words: its bytes and its flags.
impl std::fmt::Display for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", hex(&self.bytes), self.flags)
    }
}

/// Returns a number of seconds in milliseconds, or a word for none.
fn ms(seconds: Option<&Json>) -> String {
    match seconds.and_then(Json::as_f64) {
        Some(seconds) => format!("{}", (seconds * 1000.0).round() as i64),
        None => "-".to_string(),
    }
}

impl<'a> Case<'a> {
    fn of(case: &'a Json) -> Self {
        let options = case["options"].as_object().cloned().unwrap_or_default();
        Self {
            steps: case["steps"].as_array().unwrap(),
            places: case.get("queue").and_then(Json::as_u64),
            is_in_transaction: false,
            has_kinds: !options.contains_key("fixed"),
            options,
            saved: HashMap::new(),
        }
    }

    fn open(&self, name: &str) -> String {
        let number = |option: &str| self.options.get(option).and_then(Json::as_u64);
        let capacity = number("capacity").unwrap_or(0);
        let max_size = match capacity {
            0 => number("max_size").unwrap_or(16 << 20),
            _ => 0,
        };
        let fixed = |i: usize| {
            self.options
                .get("fixed")
                .map_or(0, |fixed| fixed[i].as_u64().unwrap())
        };
        let ttl_ms = 1000 * number("ttl").unwrap_or(0);
        let versions = u8::from(self.options.contains_key("versions"));
        let durable = match self.options.get("durable") {
            Some(Json::String(policy)) => policy.clone(),
            time => ms(time),
        };
        let [key, value] = [fixed(0), fixed(1)];
        format!("open {name} {max_size} {capacity} {ttl_ms} {versions} {key} {value} {durable}")
    }

    fn stored(&self, value: &Json) -> Stored {
        let stored = Value::of(value).stored();
        match self.has_kinds {
            true => stored,
            false => Stored { flags: 0, ..stored },
        }
    }

    /// Runs steps. Returns what is wrong with the first one that is.
    fn run(&mut self, answering: &mut Answering, steps: &[Json]) -> Option<String> {
        steps.iter().find_map(|step| {
            let step = step.as_object().unwrap();
            let problem = self.run_step(answering, step)?;
            Some(format!("{}: {problem}", step["call"]))
        })
    }

    /// Runs a step, and the steps in it between its beginning and its end.
    fn run_step(&mut self, answering: &mut Answering, step: &Step) -> Option<String> {
        let is_set = |name: &str| step.get(name).is_some_and(|flag| flag == true);
        let end = match step["call"].as_str().unwrap() {
            "lock" => "unlock",
            "pop" if is_set("give_back") => "give_back",
            "pop" => "done",
            "transaction" if is_set("abort") => "abort",
            "transaction" => "commit",
            _ => {
                let answer = answering.ask(&self.request(step));
                return self.wrong(step, &answer);
            }
        };
        let answer = answering.ask(&self.request(step));
        // A lock that is not free, an empty queue, or a table without transactions.
        if answer == "false" || answer == "none" || answer.starts_with("error") {
            return self.wrong(step, &answer);
        }
        let before = self.is_in_transaction;
        self.is_in_transaction |= step["call"] == "transaction";
        let inner = step.get("steps").and_then(Json::as_array);
        let problem = inner.and_then(|steps| self.run(answering, steps));
        self.is_in_transaction = before;
        let ended = answering.ask(end);
        let answer = match step["call"] == "transaction" {
            true => &ended,
            false => &answer,
        };
        problem.or_else(|| self.wrong(step, answer))
    }

    /// Returns the request of a step, which may be one of a transaction.
    fn request(&self, step: &Step) -> String {
        let is_of_table = step.get("of").is_some_and(|whose| whose == "table");
        let of = if self.is_in_transaction && !is_of_table {
            "txn_"
        } else {
            ""
        };
        format!("{of}{}", self.request_of_table(step))
    }

    fn request_of_table(&self, step: &Step) -> String {
        let call = step["call"].as_str().unwrap();
        let word = |name: &str| hex(&Value::of(&step[name]).bytes());
        let key = || word("key");
        let ttl = ms(step.get("ttl"));
        match call {
            "store" => format!("set {} {} {} -", key(), word("value"), step["flags"]),
            "flags" | "bytes" => format!("get {}", key()),
            "set" | "add" | "replace" | "compute" => {
                let value = self.stored(&step["value"]);
                format!("{call} {} {value} {ttl}{}", key(), words(step, "tags"))
            }
            "append" | "prepend" => format!("{call} {} {}", key(), word("value")),
            "swap" => format!("swap {} {}", key(), self.stored(&step["value"])),
            "cas" => {
                let value = self.stored(&step["value"]);
                let token = &self.saved[step["token"]["saved"].as_str().unwrap()];
                format!("cas {} {value} {ttl} {token}", key())
            }
            "incr" | "decr" => self.request_to_count(step),
            "touch" => format!("touch {} {ttl}", key()),
            "get_many" | "delete_many" => format!("{call}{}", words(step, "keys")),
            "set_many" => {
                let entries = step["values"].as_object().unwrap().iter();
                let entries = entries
                    .map(|(key, value)| format!(" {} {}", hex(key.as_bytes()), self.stored(value)));
                let tags = words(step, "tags");
                let count = tags.split_whitespace().count();
                format!(
                    "set_many {ttl} {count}{tags}{}",
                    entries.collect::<String>()
                )
            }
            "keys" => "keys .".to_string(),
            "prefix_keys" => format!("keys {}", word("prefix")),
            "delete_prefix" => format!("delete_prefix {}", word("prefix")),
            "invalidate" => format!("invalidate {}", word("tag")),
            "lock" => {
                let wait = step
                    .get("wait")
                    .map_or("0".to_string(), |_| ms(step.get("wait")));
                let is_shared = step.get("shared").is_some_and(|shared| shared == true);
                format!("lock {} {wait} {}", word("name"), u8::from(is_shared))
            }
            "transaction" if step.contains_key("once") => "begin_turn".to_string(),
            "transaction" => "begin".to_string(),
            "push" => format!("push {}", Value::of(&step["value"]).stored()),
            "size" | "clear" | "is_durable" | "durability" | "sync" | "snapshot" | "pop"
            | "waiting" => call.to_string(),
            _ => format!("{call} {}", key()),
        }
    }

    fn request_to_count(&self, step: &Step) -> String {
        let number = |name: &str, usual: i64| step.get(name).map_or(usual, |n| n.as_i64().unwrap());
        let by = match step["call"].as_str() {
            Some("decr") => -number("by", 1),
            _ => number("by", 1),
        };
        let key = hex(&Value::of(&step["key"]).bytes());
        let flags = self.stored(&Json::from(0)).flags;
        let ttl = ms(step.get("ttl"));
        format!("count {key} {by} {} {flags} {ttl}", number("initial", 0))
    }

    /// Returns what was wrong with the answer to a step.
    fn wrong(&mut self, step: &Step, answer: &str) -> Option<String> {
        let (kind, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        if let Some(error) = step.get("error") {
            let (name, message) = rest.split_once(' ').unwrap_or((rest, ""));
            let named = name.strip_prefix("TAVOLA_ERR_");
            let wanted = step.get("message").and_then(Json::as_str);
            // C and C++ have a status for it, and no words.
            let is_conflict = error == "CONFLICT" && answer == "conflict";
            let is_it = is_conflict
                || kind == "error" && named == error.as_str() && Some(message) == wanted;
            return (!is_it).then(|| format!("{answer} instead of {error}"));
        }
        if let Some(name) = step.get("save") {
            self.saved
                .insert(name.as_str().unwrap().to_string(), rest.to_string());
        }
        let wanted = step.get("result")?;
        let found = match (kind, step["call"].as_str().unwrap()) {
            ("none", _) => Value::Known(Json::Null),
            ("true" | "false", _) => Value::Known(Json::from(kind == "true")),
            ("value", call) => {
                let (flags, bytes) = rest.split_once(' ').unwrap();
                let stored = Stored {
                    flags: flags.parse().unwrap(),
                    bytes: unhex(bytes),
                };
                match call {
                    "flags" => Value::Known(Json::from(stored.flags)),
                    "bytes" => Value::Bytes(stored.bytes),
                    _ => stored.read(),
                }
            }
            // The caller of C rounds up.
            ("number", "ttl") => {
                Value::Known(Json::from(rest.parse::<u64>().unwrap().div_ceil(1000)))
            }
            ("number", "durability") => {
                Value::Known(Json::from(rest.parse::<f64>().unwrap() / 1000.0))
            }
            ("number", _) => Value::Known(Json::from(rest.parse::<i64>().unwrap())),
            ("keys", _) => {
                let mut keys: Vec<Vec<u8>> = rest.split_whitespace().map(unhex).collect();
                keys.sort();
                let text = |key: Vec<u8>| Json::from(String::from_utf8(key).unwrap());
                Value::Known(keys.into_iter().map(text).collect())
            }
            ("entries", _) => return wrong_entries(step, rest, wanted),
            _ => return Some(answer.to_string()),
        };
        let wanted = Value::of(wanted);
        (!found.is(&wanted)).then(|| format!("{found:?} instead of {wanted:?}"))
    }
}

/// Returns what is wrong with the answer of `get_many`, which names keys by their positions.
fn wrong_entries(step: &Step, rest: &str, wanted: &Json) -> Option<String> {
    let keys = step["keys"].as_array().unwrap();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let found: Vec<(String, Value)> = words
        .chunks(3)
        .map(|entry| {
            let key = Value::of(&keys[entry[0].parse::<usize>().unwrap()]).bytes();
            let stored = Stored {
                flags: entry[1].parse().unwrap(),
                bytes: unhex(entry[2]),
            };
            (String::from_utf8(key).unwrap(), stored.read())
        })
        .collect();
    let wanted = wanted.as_object().unwrap();
    let is_wanted = |(key, value): &(String, Value)| {
        wanted
            .get(key)
            .is_some_and(|wanted| value.is(&Value::of(wanted)))
    };
    let is_right = found.iter().all(is_wanted)
        && wanted
            .keys()
            .all(|key| found.iter().any(|one| one.0 == *key));
    (!is_right).then(|| format!("{found:?} instead of {wanted:?}"))
}

fn answer_all(language: Language, source: &str) {
    let program = Installed::get().compile(language, "gcc", &here(source), &[]);
    let tables = tables_in(program.directory());
    let mut child = program
        .command()
        .env("TAVOLA_DIR", &tables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut answering = Answering {
        requests: child.stdin.take(),
        answers: BufReader::new(child.stdout.take().unwrap()),
        child,
    };
    let text = std::fs::read(here("../../bindings/cases.json")).unwrap();
    let all: Json = serde_json::from_slice(&text).unwrap();
    let cases = all["cases"].as_array().unwrap();
    let mut problems = Vec::new();
    for case in cases {
        let mut state = Case::of(case);
        assert_eq!(answering.ask(&state.open("case")), "true");
        if let Some(places) = state.places {
            let opened = answering.ask(&format!("open_queue case-jobs {places}"));
            assert_eq!(opened, "true");
        }
        if let Some(problem) = state.run(&mut answering, state.steps) {
            problems.push(format!("{}: {problem}", case["name"]));
        }
        assert_eq!(answering.ask("close case"), "true");
        if state.places.is_some() {
            assert_eq!(answering.ask("close_queue case-jobs"), "true");
        }
    }
    answering.end();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(cases.len() > 100, "{} cases", cases.len());
}

#[test]
fn c_answers_the_common_cases() {
    answer_all(Language::C, "tests/cases/answer.c");
}

#[test]
fn cpp_answers_the_common_cases() {
    answer_all(Language::Cpp, "tests/cases/answer.cpp");
}
