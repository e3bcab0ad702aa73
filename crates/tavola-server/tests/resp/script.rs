//! A table with a service for clients of Redis, and what it answers.

use std::sync::Arc;

use tavola::{Options, Table};
use tavola_server::resp::{Resp, RespRules, RespWorker};
use tavola_server::{Inside, Line};

/// The seconds that may pass between two commands on a busy machine.
const LATE_S: i64 = 100;

/// A table, and a client of a service over it.
pub struct Seat {
    pub table: Arc<Table>,
    pub inside: Inside<Resp>,
    pub line: Line<RespWorker>,
}

impl Seat {
    pub fn new() -> Self {
        Self::over(Table::options().max_size(64 << 20).versions(true))
    }

    pub fn over(options: Options) -> Self {
        Self::with_rules(options, RespRules::default())
    }

    pub fn with_rules(options: Options, rules: RespRules) -> Self {
        let table = Arc::new(options.private().expect("a table"));
        let service = Resp::with_rules(Arc::clone(&table), rules);
        let inside = Inside::new(service).expect("a service");
        let line = inside.connect();
        Self {
            table,
            inside,
            line,
        }
    }

    /// Sends bytes, and returns all that comes back, with visible line ends.
    pub fn send(&mut self, bytes: &[u8]) -> String {
        answer(&mut self.line, bytes)
    }

    /// Runs lines of commands, each with its replies behind ` -> `. `\r\n` is added to each
    /// command, and ` ` stands for it between the parts of a reply. A line that ends with a
    /// backslash continues in the next one. In `:~7`, the number may be some less, as time passes.
    pub fn run(&mut self, script: &str) {
        let script = script.lines().map(str::trim).collect::<Vec<_>>().join("\n");
        let script = script.replace("\\\n", "");
        for line in script
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let (command, expected) = line.split_once(" -> ").expect("a reply");
            let found = self.send(format!("{command}\r\n").as_bytes());
            let found = found.trim_end_matches("\\r\\n").replace("\\r\\n", " ");
            if let Some(most) = expected.strip_prefix(":~") {
                let number = |text: &str| text.parse::<i64>().expect("a number");
                let left = number(most) - number(found.trim_start_matches(':'));
                assert!(left.abs() <= LATE_S, "{command}: {found}");
                continue;
            }
            assert_eq!(found.trim_end(), expected, "{command}");
        }
    }
}

pub fn answer(line: &mut Line<RespWorker>, bytes: &[u8]) -> String {
    let (mut all, mut memory) = (Vec::new(), [0; 65_536]);
    let mut sent = 0;
    while sent < bytes.len() {
        sent += line.write(&bytes[sent..]);
        while let Some(count) = line.read(&mut memory) {
            all.extend_from_slice(&memory[..count]);
        }
    }
    all.escape_ascii().to_string().replace("\\'", "'")
}
