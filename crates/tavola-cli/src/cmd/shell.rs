//! `tavola shell`: a prompt for a table.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::complete;
use crate::args::{TableArg, options};
use crate::cli;
use crate::error::CliError;
use crate::lines::{self, Lines, Ran};
use crate::output::printable;
use crate::session;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  tavola shell sessions
  sessions> set alice '{}' --ttl 30m
  sessions> ls a*
  sessions> get alice
  sessions> use counters
  counters> exit

A line is a command without 'tavola' and without the table name; only 'create', 'drop',
'rename', 'copy', 'queue' and 'log' need a name. 'use TABLE' switches to another table,
'help' lists the commands. If a table is removed or replaced meanwhile, the next command
uses the one that has the name then. Tab completes commands and keys. The history is
saved in $XDG_STATE_HOME/tavola/history or ~/.local/state/tavola/history, readable only
by you. Ctrl-D or 'exit' leaves the shell.";

/// Open an interactive prompt for a table
#[derive(clap::Args, Clone)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The table: a name, or a path if it contains a /
    #[arg(value_name = "TABLE")]
    table: OsString,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let code = on_large_stack(move || {
        converse(&args.table).unwrap_or_else(|error| {
            eprintln!("{}: {error}", crate::NAME);
            ExitCode::from(crate::ERROR)
        })
    });
    Ok(code)
}

type Prompt = Editor<Words, FileHistory>;

fn converse(table: &OsStr) -> Result<ExitCode, CliError> {
    let by_person = io::stdin().is_terminal();
    session::start(!by_person);
    TableArg::named(table.to_os_string()).keys_or_create()?;
    let mut lines = Lines::new(Some(table.to_os_string()));
    let (mut prompt, history) = open_prompt(table)?;
    loop {
        let name = printable(table_of(&lines).as_bytes()).into_owned();
        let line = match prompt.readline(&format!("{name}> ")) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => {
                return Err(CliError::Sentence(format!("cannot read a line ({error})")));
            }
        };
        if by_person && !line.trim().is_empty() {
            let _ = prompt.add_history_entry(line.trim());
        }
        match run_line(&mut lines, line.trim()) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => eprintln!("{error}"),
        }
        if let Some(helper) = prompt.helper_mut() {
            helper.table = table_of(&lines).to_os_string();
        }
    }
    if let Some(path) = history.filter(|_| by_person) {
        save_history(&mut prompt, &path);
    }
    Ok(ExitCode::SUCCESS)
}

fn table_of(lines: &Lines) -> &OsStr {
    lines.table().unwrap_or_default()
}

/// Runs a line. Returns false if it ends the shell.
fn run_line(lines: &mut Lines, line: &str) -> Result<bool, CliError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["exit" | "quit"] => return Ok(false),
        ["help"] => print!("{}", cli::command().render_help()),
        ["use", table] => {
            TableArg::named(table.into()).keys_or_create()?;
            lines.set_table(table.into());
        }
        _ => match lines.run(line.as_bytes())? {
            Ran::Help(text) => print!("{text}"),
            Ran::Code(ExitCode::SUCCESS) | Ran::Nothing => {}
            Ran::Code(code) if code == ExitCode::from(crate::MISSING) => eprintln!("exit code 1"),
            Ran::Code(_) => eprintln!("exit code 2"),
        },
    }
    Ok(true)
}

fn open_prompt(table: &OsStr) -> Result<(Prompt, Option<PathBuf>), CliError> {
    let failed = |error| CliError::Sentence(format!("cannot open a prompt ({error})"));
    let config = Config::builder()
        .auto_add_history(false)
        .completion_type(CompletionType::List)
        .build();
    let mut prompt = Prompt::with_config(config).map_err(failed)?;
    prompt.set_helper(Some(Words {
        arguments: cli::command(),
        table: table.to_os_string(),
    }));
    let history = history_path();
    if let Some(path) = &history {
        // The first time there is none.
        let _ = prompt.load_history(path);
    }
    Ok((prompt, history))
}

fn history_path() -> Option<PathBuf> {
    let state = env::var_os("XDG_STATE_HOME").filter(|path| !path.is_empty());
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    let state = state.map(PathBuf::from).or_else(home)?;
    Some(state.join("tavola/history"))
}

/// A history that cannot be saved is no reason to fail. rustyline lets only its owner read it.
fn save_history(prompt: &mut Prompt, path: &PathBuf) {
    if let Some(folder) = path.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = prompt.save_history(path);
}

/// Completes commands, tables and keys.
struct Words {
    arguments: clap::Command,
    table: OsString,
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |space| space + 1);
        let mut words: Vec<OsString> = before[..start].split_whitespace().map(Into::into).collect();
        if let Some(verb) = words.first().and_then(|verb| verb.to_str())
            && lines::is_on_table(&self.arguments, verb)
        {
            words.insert(1, self.table.clone());
        }
        words.push(before[start..].into());
        let found = complete::candidates(&self.arguments, &options(), &words);
        let text = |one: Vec<u8>| {
            let text = String::from_utf8(one).ok()?;
            Some(shlex::try_quote(&text).ok()?.into_owned())
        };
        Ok((start, found.into_iter().filter_map(text).collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}

impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}
