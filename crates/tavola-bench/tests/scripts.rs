//! The harnesses in Ruby, PHP, Python and Perl: what a store gives back is compared with what was
//! put, and a store that lies once has no figure. The test names an interpreter that is missing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Keeps what it is given; the 70th value that it gives has another first byte, if it lies.
const RUBY: &str = r#"
    class Toy
      def initialize(lies) = (@lies, @values, @gets = lies, {}, 0)
      def put(key, value) = @values[key] = value
      def get(key)
        @gets += 1
        value = @values[key]
        @lies && @gets == 70 ? "?#{value[1..]}" : value
      end
      def close = nil
      def version = "toy"
    end
    require File.join(Dir.pwd, "ruby/harness")
    Harness.run { |job| Toy.new(job["peer"] == "liar") }
"#;

const PHP: &str = r#"
    require getcwd() . '/php/harness.php';
    Harness::run(fn (array $job) => new class ($job['peer'] === 'liar') implements Store {
        private array $values = [];
        private int $gets = 0;
        public function __construct(private bool $lies) {}
        public function put(string $key, string $value): void { $this->values[$key] = $value; }
        public function get(string $key): mixed
        {
            $value = $this->values[$key];
            return ++$this->gets === 70 && $this->lies ? '?' . substr($value, 1) : $value;
        }
        public function version(): string { return 'toy'; }
    });
"#;

const PYTHON: &str = r#"
import sys
sys.path.insert(0, "python")
import harness

class Toy:
    def __init__(self, lies):
        self.lies, self.values, self.gets = lies, {}, 0
        self.put = self.values.__setitem__
    def get(self, key):
        self.gets += 1
        value = self.values[key]
        return b"?" + value[1:] if self.lies and self.gets == 70 else value
    def close(self):
        pass
    def version(self):
        return "toy"

harness.run(lambda job: Toy(job["peer"] == "liar"))
"#;

const PERL: &str = r#"
    use lib 'perl';
    use Harness ();
    package Toy;
    my (%values, $gets, $lies);
    sub open { $lies = $_[1]{peer} eq 'liar' }
    sub put { $values{ $_[1] } = $_[2] }
    sub get {
        my $value = $values{ $_[1] };
        return ++$gets == 70 && $lies ? '?' . substr $value, 1 : $value;
    }
    sub close { }
    sub version { 'toy' }
    package main;
    Harness::run(bless {}, 'Toy');
"#;

struct Language {
    interpreter: &'static str,
    options: &'static [&'static str],
    flag: &'static str,
    toy: &'static str,
}

const LANGUAGES: [Language; 4] = [
    Language {
        interpreter: "ruby",
        options: &[],
        flag: "-e",
        toy: RUBY,
    },
    Language {
        interpreter: "php",
        options: &[],
        flag: "-r",
        toy: PHP,
    },
    Language {
        interpreter: "python3",
        // No files of bytecode among the sources.
        options: &["-B"],
        flag: "-c",
        toy: PYTHON,
    },
    Language {
        interpreter: "perl",
        options: &["-w"],
        flag: "-e",
        toy: PERL,
    },
];

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

impl Language {
    fn is_here(&self) -> bool {
        let mut command = Command::new(self.interpreter);
        let here = command
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok();
        if !here {
            println!("not tried: there is no {}", self.interpreter);
        }
        here
    }

    /// The lines that the toy's program says.
    fn does(&self, job: &Value) -> Vec<Value> {
        let mut command = Command::new(self.interpreter);
        command.current_dir(peers()).stdin(Stdio::null());
        command.args(self.options).args([self.flag, self.toy, "--"]);
        // Perl complains of a language of the user that is not installed.
        command.env("PERL_BADLANG", "0");
        let output = command.arg(job.to_string()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.is_empty(), "{}: {errors}", self.interpreter);
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Ruby, PHP and Python have workloads of puts and gets, Perl has the company file and pairs.
fn of_puts_and_gets() -> impl Iterator<Item = &'static Language> {
    LANGUAGES[..3].iter().filter(|language| language.is_here())
}

fn job(peer: &str, workload: &str, case: &Value) -> Value {
    json!({"peer": peer, "workload": workload, "case": case, "dir": "/nowhere", "cpu": 0,
        "address": null, "seed": 7, "quick": true})
}

#[track_caller]
fn is_phase(line: &Value, name: &str, ops: u64, verified: bool) {
    assert_eq!(line["phase"], name, "{line}");
    assert_eq!(line["ops"], ops, "{line}");
    assert_eq!(line["verified"], verified, "{line}");
    assert!(line["seconds"].as_f64().unwrap() > 0.0, "{line}");
    assert!(line["cpu_seconds"].as_f64().unwrap() >= 0.0, "{line}");
}

#[test]
fn a_wrong_value_is_noticed_and_a_right_one_is_not_accused() {
    for language in of_puts_and_gets() {
        for value_bytes in [1, 4096] {
            // Each key is put twice and a half: what was put last counts.
            let phases = ["put", "get", "write", "read"];
            let case = json!({"keys": 40, "value_bytes": value_bytes, "loops": 100,
                "phases": phases});
            let lines = language.does(&job("honest", "b", &case));
            for (line, name) in lines.iter().zip(phases) {
                is_phase(line, name, 100, true);
            }
            let end = lines.last().unwrap();
            assert_eq!((&end["end"], &end["keys"]), (&json!(true), &json!(40)));
            assert_eq!(end["version"], "toy");
            assert!(end["peak_rss_bytes"].as_u64().unwrap() > 1 << 20);
            let lines = language.does(&job("liar", "b", &case));
            is_phase(&lines[1], "get", 100, false);
            is_phase(&lines[3], "read", 100, true);
        }
    }
}

#[test]
fn a_wrong_value_among_pairs_or_records_is_noticed() {
    let perl = &LANGUAGES[3];
    if !perl.is_here() {
        return;
    }
    let pairs = json!({"keys": 30, "value_bytes": 3, "loops": 100, "phases": ["pairs"]});
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("companies");
    // Two lines are no records, and one name comes twice.
    let mut text = "[trade]\n1\t2\t\t4\t5\n".to_owned();
    for at in 0..40 {
        let name = at % 39;
        text += &format!("{at}\tmarket\tcompany {name}\tx\t{at},000\n");
    }
    std::fs::write(&file, text).unwrap();
    let records = json!({"loops": 2, "file": file,
        "phases": ["write_all", "read_all", "open_read_100"]});
    for (peer, verified) in [("honest", true), ("liar", false)] {
        let lines = perl.does(&job(peer, "d", &pairs));
        is_phase(&lines[0], "pairs", 100, verified);
        let lines = perl.does(&job(peer, "a", &records));
        is_phase(&lines[0], "write_all", 80, true);
        is_phase(&lines[1], "read_all", 78, verified);
        is_phase(&lines[2], "open_read_100", 100, true);
        assert_eq!(lines[3]["keys"], 39);
    }
}

#[test]
fn a_phase_ends_after_its_time_a_put_after_eight_times_that() {
    for language in of_puts_and_gets() {
        let case = json!({"keys": 1000, "value_bytes": 4096, "loops": 1_000_000_000,
            "limit_ms": 50, "phases": ["put", "get"]});
        let lines = language.does(&job("honest", "b", &case));
        for (line, seconds) in lines.iter().zip([0.4, 0.05]) {
            let ops = line["ops"].as_u64().unwrap();
            assert!(0 < ops && ops < 1_000_000_000, "{line}");
            assert!(line["seconds"].as_f64().unwrap() > seconds, "{line}");
            let note = line["note"].as_str().unwrap();
            assert!(note.contains("within its time"), "{line}");
        }
    }
}

#[test]
fn what_fails_is_one_sentence() {
    for language in LANGUAGES.iter().filter(|language| language.is_here()) {
        let case = json!({"keys": 3, "value_bytes": 8, "loops": 3, "phases": ["dance"]});
        let lines = language.does(&job("honest", "b", &case));
        let error = lines.last().unwrap()["error"].as_str().unwrap();
        let name = language.interpreter;
        assert!(error.contains("no phase dance"), "{name}: {error}");
    }
}
