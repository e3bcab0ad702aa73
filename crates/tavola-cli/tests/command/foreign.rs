//! Dumps of other stores, made and read by their own programs.

use crate::shell::{Shell, wait_until};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Keys and values of all kinds, the longest for large pages.
fn entries() -> Vec<(Vec<u8>, Vec<u8>)> {
    let all: Vec<u8> = (0..=255).collect();
    let mut entries = vec![
        (b"one".to_vec(), b"Hello".to_vec()),
        (b"empty".to_vec(), Vec::new()),
        (b"back\\slash".to_vec(), b"->\n+1,1:a->b\n\n".to_vec()),
        (all.clone(), all.repeat(100)),
    ];
    entries.extend((0..1000).map(|n| (format!("key {n}").into_bytes(), vec![n as u8; n])));
    entries
}

fn fill(shell: &Shell, table: &str) {
    let table = tavola::Table::open(shell.path().join(table)).unwrap();
    for (key, value) in entries() {
        table.set(key, value).unwrap();
    }
}

fn assert_filled(shell: &Shell, table: &str) {
    let table = tavola::Table::open(shell.path().join(table)).unwrap();
    assert_eq!(table.len().unwrap(), entries().len() as u64);
    for (key, value) in entries() {
        assert_eq!(
            table.get(&key).unwrap(),
            Some(value),
            "{}",
            key.escape_ascii()
        );
    }
}

/// Loads text whose format the command finds out.
fn load(shell: &Shell, table: &str, text: &[u8], format: &str) {
    let ran = shell.feed(["load", table], text);
    let said = ran.err;
    assert!(said.contains(&format!("is read as {format}")), "{said}");
    assert_eq!(ran.code, 0, "{said}");
}

/// Runs a program of another store with this input, and returns what it printed.
fn run(program: &str, args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; run: scripts/setup test"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ran = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(ran.status.success(), "{program} {args:?}: {}", ran.status);
    ran.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn cdb_makes_what_is_loaded_and_reads_what_is_dumped() {
    let shell = Shell::new();
    fill(&shell, "words");
    let dumped = shell.run(["dump", "words", "--format", "cdb"]).ok();
    let file = shell.path().join(".words.cdb");
    run("cdb", &["-c", text(&file)], &dumped);
    assert_eq!(run("cdb", &["-q", text(&file), "one"], b""), b"Hello");
    let printed = run("cdb", &["-d", text(&file)], b"");
    load(&shell, "back", &printed, "cdb");
    assert_filled(&shell, "back");
    let refused = shell.run(["load", "other", text(&file)]).error();
    assert!(refused.contains("tavola thaw"), "{refused}");
}

#[test]
fn lmdb_makes_what_is_loaded_and_reads_what_is_dumped() {
    let shell = Shell::new();
    fill(&shell, "words");
    let dumped = shell.run(["dump", "words", "--format", "mdb"]).ok();
    let environment = tempfile::tempdir().unwrap();
    run("mdb_load", &[text(environment.path())], &dumped);
    let printed = run("mdb_dump", &[text(environment.path())], b"");
    load(&shell, "back", &printed, "mdb");
    assert_filled(&shell, "back");
    let file = environment.path().join("data.mdb");
    let refused = shell.run(["load", "other", text(&file)]).error();
    assert!(refused.contains("mdb_dump -n"), "{refused}");
}

/// As text; without backslashes, which `mdb_dump` does not escape in some versions.
#[test]
fn lmdb_prints_what_is_loaded() {
    let shell = Shell::new();
    let value = (0..=255).filter(|byte| *byte != b'\\').collect::<Vec<u8>>();
    shell.feed(["set", "t", "größe\n", "-"], &value).ok();
    let dumped = shell.run(["dump", "t", "--format", "mdb"]).ok();
    let environment = tempfile::tempdir().unwrap();
    run("mdb_load", &[text(environment.path())], &dumped);
    let printed = run("mdb_dump", &["-p", text(environment.path())], b"");
    load(&shell, "back", &printed, "mdb");
    assert_eq!(shell.run(["get", "back", "größe\n"]).ok(), value);
}

/// A server of memcached's, killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn memcached_takes_what_is_dumped_and_its_own_dump_is_loaded() {
    let tool = "/usr/share/memcached/scripts/memcached-tool";
    if !Path::new(tool).exists() {
        println!("skipped: {tool} is not installed");
        return;
    }
    let shell = Shell::new();
    for n in 0..100 {
        let (key, flags) = (format!("key-{n}"), n.to_string());
        shell
            .run([
                "set",
                "t",
                &key,
                &"v".repeat(n),
                "--flags",
                &flags,
                "--ttl",
                "1h",
            ])
            .ok();
    }
    let dumped = shell.run(["dump", "t", "--format", "memcached"]).ok();
    let socket = shell.path().join(".socket");
    let args = ["-u", "root", "-s", text(&socket)];
    let _server = Server(Command::new("memcached").args(args).spawn().unwrap());
    wait_until(|| socket.exists());
    let mut client = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    client.write_all(&dumped).unwrap();
    client.write_all(b"quit\r\n").unwrap();
    let answers = std::io::read_to_string(&client).unwrap();
    assert_eq!(answers, "STORED\r\n".repeat(100));

    let printed = run(tool, &[text(&socket), "dump"], b"");
    load(&shell, "back", &printed, "memcached");
    let back = tavola::Table::open(shell.path().join("back")).unwrap();
    assert_eq!(back.len().unwrap(), 100);
    for n in 0..100 {
        let key = format!("key-{n}");
        let entry = back.get_entry(&key).unwrap().unwrap();
        assert_eq!((entry.value.len(), entry.attributes.flags), (n, n as u32));
        let tavola::Expiry::After(left) = entry.attributes.expiry else {
            panic!("{entry:?}")
        };
        assert!((3000..3610).contains(&left.as_secs()), "{left:?}");
    }
}

#[test]
fn a_key_that_memcached_cannot_have_is_an_error_that_says_so() {
    let shell = Shell::new();
    shell.run(["set", "t", "a key", "v"]).ok();
    let refused = shell.run(["dump", "t", "--format", "memcached"]).error();
    assert!(
        refused.contains("a key") && refused.contains("another format"),
        "{refused}"
    );
}
