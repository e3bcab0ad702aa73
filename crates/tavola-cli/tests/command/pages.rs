//! What pages show of the command: their blocks for the shell run, one after the other, and print
//! what the page says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::shell::Shell;

/// Printed between the outputs of two commands.
const END: &str = "\u{1}end\u{1}";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap()
}

/// The README, the site's first page and the pages of the guide.
fn pages() -> Vec<String> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap();
    let names = guide.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names.map(|name| format!("docs/guide/{name}")).collect();
    pages.extend(["README.md".to_owned(), "docs/index.md".to_owned()]);
    pages.sort();
    pages
}

/// The blocks of a page in a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = read(page);
    let fence = format!("\n```{language}\n");
    let after = text.split(&fence).skip(1);
    let block = |rest: &str| rest.split("\n```").next().unwrap().to_string();
    after.map(block).collect()
}

/// A shell script in a directory, where the command is found.
fn script(shell: &Shell, directory: &Path, text: &str) -> Command {
    let tavola = Path::new(env!("CARGO_BIN_EXE_tavola"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", tavola.parent().unwrap().display());
    let mut command = Command::new("sh");
    command
        .args(["-c", text])
        .env("TAVOLA_DIR", shell.path())
        .env("PATH", path)
        .current_dir(directory);
    command
}

/// Runs a script that fails at its first command that does, and returns what it printed.
fn run(text: &str) -> String {
    let shell = Shell::new();
    let directory = tempfile::tempdir().unwrap();
    let text = format!("set -e\n{text}");
    let ran = script(&shell, directory.path(), &text).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.is_empty(), "{text}: {said}");
    String::from_utf8(ran.stdout).unwrap()
}

/// A command of a console block, and the lines that it prints.
struct Shown {
    command: String,
    printed: Vec<String>,
}

fn shown(block: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in block.lines() {
        let last = all.last_mut();
        match (line.strip_prefix("$ "), line.strip_prefix("> "), last) {
            (Some(command), ..) => all.push(Shown {
                command: command.to_owned(),
                printed: Vec::new(),
            }),
            // The rest of a command that has several lines.
            (_, Some(more), Some(last)) if last.printed.is_empty() => {
                last.command += &format!("\n{more}");
            }
            (.., Some(last)) => last.printed.push(line.to_owned()),
            _ => panic!("a block begins with a command: {block}"),
        }
    }
    all
}

/// Runs the commands of a block as a terminal would: what goes to standard error is there, too,
/// and each command's output ends with its line.
fn run_console(shell: &Shell, directory: &Path, page: &str, block: &str) {
    let all = shown(block);
    let lines = all
        .iter()
        .map(|shown| format!("{}\necho '{END}'\n", shown.command));
    let text = format!("exec 2>&1\n{}", lines.collect::<String>());
    let ran = script(shell, directory, &text).output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    let outputs: Vec<&str> = out.split(&format!("{END}\n")).collect();
    assert_eq!(outputs.len(), all.len() + 1, "{page}: {block}\n{out}");
    for (shown, output) in all.iter().zip(outputs) {
        let output: Vec<&str> = output.lines().collect();
        assert_eq!(output, shown.printed, "{page}: {}", shown.command);
    }
}

#[test]
fn console_blocks_print_what_the_pages_say() {
    let mut with_blocks = 0;
    for page in pages() {
        let (shell, directory) = (Shell::new(), tempfile::tempdir().unwrap());
        let blocks = blocks(&page, "console");
        with_blocks += usize::from(!blocks.is_empty());
        for block in blocks {
            run_console(&shell, directory.path(), &page, &block);
        }
    }
    assert!(with_blocks > 5, "only {with_blocks} pages have such blocks");
}

#[test]
fn commands_for_users_of_other_caches_run() {
    let pages = ["memcached", "apcu"].map(|name| format!("docs/guide/coming-from-{name}.md"));
    for page in pages {
        let out = run(&blocks(&page, "sh").join("\n"));
        assert!(out.starts_with("here1\n"), "{page}: {out}");
        assert!(out.contains("  capacity "), "{page}: {out}");
    }
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(shell: &Shell, port: u16) -> Served {
    let address = format!("127.0.0.1:{port}");
    let mut command = shell.command(["serve", "pages", "--listen", &address]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut served = Served(command.spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(&address).is_err() {
        assert!(served.0.try_wait().unwrap().is_none(), "no server");
        assert!(Instant::now() < until, "no server at {address}");
        std::thread::sleep(Duration::from_millis(10));
    }
    served
}

/// It runs as printed, except that its port is one that is free.
#[test]
fn the_program_in_python_prints_what_the_readme_says() {
    let has_client = |python: &&str| {
        let mut command = Command::new(python);
        command.args(["-c", "import pymemcache"]);
        let ran = command.stderr(Stdio::null()).status();
        ran.is_ok_and(|status| status.success())
    };
    // Another Python may come before the distribution's, which has the client's package.
    let python = ["python3", "/usr/bin/python3"].into_iter().find(has_client);
    let python = python.expect("python3-pymemcache; `scripts/setup test` installs it");
    let program = blocks("README.md", "python").concat();
    let wanted: String = program
        .lines()
        .filter_map(|line| line.split_once("# prints: "))
        .map(|(_, printed)| format!("{printed}\n"))
        .collect();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let shell = Shell::new();
    let _served = serve(&shell, port);
    let program = program.replace("11211", &port.to_string());
    let ran = Command::new(python).args(["-c", &program]).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{ran:?}");
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), wanted);
    assert!(!wanted.is_empty());
}
