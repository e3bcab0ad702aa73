//! Other processes of a test: the test program itself, run again to play one part of one test.
//!
//! A test that needs other processes begins with [`play`]. In an ordinary run that does nothing;
//! in a process that [`Actor::start`] made it runs the part asked for and ends the process. Actors
//! talk with their test by lines, and their runner's own lines stay out of the test's output.
//!
//! Tests share their process with others. One that changes what belongs to the whole process, or
//! forks, does so in an actor; where all of it would be one, it is left to [`alone`].

use std::io::{BufRead, BufReader, Write};
use std::panic::Location;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PART: &str = "TAVOLA_TEST_PART";
const ARGS: &str = "TAVOLA_TEST_ARGS";
/// What an actor says is in lines that begin so; the runner's do not.
const SAID: &str = "\u{1}said ";
const BEGUN: &str = "begun";
const ALONE: &str = "alone";

/// What an actor does, with the arguments its test gave it.
pub type Part = fn(&[String]);

/// In an actor: plays its part and ends the process.
pub fn play(parts: &[(&str, Part)]) {
    let Ok(wanted) = std::env::var(PART) else {
        return;
    };
    let (_, part) = parts.iter().find(|(name, _)| *name == wanted).unwrap();
    let args: Vec<String> = match std::env::var(ARGS) {
        Ok(args) if !args.is_empty() => args.split('\n').map(str::to_string).collect(),
        _ => Vec::new(),
    };
    say(BEGUN);
    part(&args);
    std::process::exit(0);
}

/// Runs a test, of that name and with such parts of its own, in a process that has no other.
#[track_caller]
pub fn alone(test: &str, parts: &[(&str, Part)], body: fn()) {
    if std::env::var(PART).is_ok_and(|part| part == ALONE) {
        say(BEGUN);
        body();
        std::process::exit(0);
    }
    play(parts);
    Actor::start(test, ALONE, &[]).finish();
}

/// Panics in a process that runs other tests, too.
pub fn assert_is_actor() {
    assert!(std::env::var_os(PART).is_some(), "only for actors");
}

/// Of an actor: sends the test a line.
pub fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{SAID}{line}").unwrap();
    out.flush().unwrap();
}

/// Of an actor: the next line of the test; `None` when it will say no more.
pub fn hear() -> Option<String> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).unwrap();
    (read > 0).then(|| line.trim_end().to_string())
}

/// Of an actor: does `step` again and again until the test says something, once at least; returns
/// how often.
pub fn repeat_until_a_line_comes(mut step: impl FnMut(u64)) -> u64 {
    let (sender, news) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(hear()));
    let mut rounds = 0;
    loop {
        step(rounds);
        rounds += 1;
        if news.try_recv().is_ok() {
            return rounds;
        }
    }
}

/// The name by which a runner knows a test of a file: in a group, that begins with its module.
fn name_in_group(test: &str, file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name);
    let module = file.file_stem().unwrap().to_str().unwrap();
    match folder.is_some_and(|folder| folder == "tests") || module == "main" {
        true => test.to_string(),
        false => format!("{module}::{test}"),
    }
}

/// The command that plays a part of the test of that name, which is in the caller's file.
#[track_caller]
pub fn command(test: &str, part: &str, args: &[&str]) -> Command {
    let test = name_in_group(test, Path::new(Location::caller().file()));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([&test, "--exact", "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .env(ARGS, args.join("\n"));
    command
}

/// How an actor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
}

/// A process that plays a part; one that still runs at the drop is killed and collected.
pub struct Actor {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    name: String,
}

impl Actor {
    /// Starts a part of the test of that name, which is in the caller's file.
    #[track_caller]
    pub fn start(test: &str, part: &str, args: &[&str]) -> Self {
        Self::start_by(test, part, args, |_| {})
    }

    /// The same, with something done to the command first.
    #[track_caller]
    pub fn start_by(
        test: &str,
        part: &str,
        args: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Self {
        let mut command = command(test, part, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        prepare(&mut command);
        let mut child = command.spawn().unwrap();
        let mut actor = Self {
            to: child.stdin.take(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            name: format!("{test}: {part}"),
        };
        assert_eq!(actor.hear(), BEGUN, "{} is no part of the test", actor.name);
        actor
    }

    /// What it says next.
    pub fn hear(&mut self) -> String {
        match self.hear_or_end() {
            Ok(line) => line,
            Err(end) => panic!("{} ended early: {end:?}", self.name),
        }
    }

    /// What it says next, or how it ended.
    pub fn hear_or_end(&mut self) -> Result<String, End> {
        loop {
            let mut line = Vec::new();
            if self.from.read_until(b'\n', &mut line).unwrap() == 0 {
                return Err(self.end());
            }
            let line = String::from_utf8_lossy(&line);
            if let Some(said) = line.trim_end().strip_prefix(SAID) {
                return Ok(said.to_string());
            }
        }
    }

    /// What it says next, as a number.
    pub fn hear_number(&mut self) -> u64 {
        self.hear().parse().unwrap()
    }

    /// Tells it something; that it is no more shows when it is next heard.
    pub fn send(&mut self, line: &str) {
        let _ = writeln!(self.to.as_mut().unwrap(), "{line}");
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn signal(&self, signal: i32) {
        super::process::signal(self.pid(), signal);
    }

    /// Waits for its end.
    pub fn end(&mut self) -> End {
        use std::os::unix::process::ExitStatusExt;
        self.to = None;
        let status = self.child.wait().unwrap();
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Exit(code),
            (None, signal) => End::Signal(signal.unwrap()),
        }
    }

    /// Waits for its end, which must be a good one.
    pub fn finish(mut self) {
        let end = self.end();
        assert_eq!(end, End::Exit(0), "{}", self.name);
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.signal(libc::SIGKILL);
        assert_eq!(self.end(), End::Signal(libc::SIGKILL), "{}", self.name);
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
