//! Dumps of other stores, made and read by their own programs.

use crate::shell::{Shell, wait_until};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

mod berkeley;
#[path = "../../../tavola-bench/tests/program/postgres.rs"]
mod cluster;
mod lmdb;
mod postgresql;

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
    let mut command = Command::new(program);
    command.args(args);
    feed(command, input)
}

/// Runs this command with this input, and returns what it printed.
fn feed(mut command: Command, input: &[u8]) -> Vec<u8> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; run: scripts/setup test"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let ran = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", ran.status);
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

/// A server, killed at the end.
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
    if !has(tool) {
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

/// Returns whether a program is installed; says so if it is not.
fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    // A path stays as it is.
    let has = std::env::split_paths(&paths).any(|folder| folder.join(program).exists());
    if !has {
        // Not by a macro, whose text is hidden if a test passes.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {program} is not installed; run: scripts/setup test"
        );
    }
    has
}

/// Loads text of this format, which the command is told.
fn load_as(shell: &Shell, table: &str, text: &[u8], format: &str) {
    let ran = shell.feed(["load", table, "--format", format], text);
    assert_eq!((ran.code, &ran.err[..]), (0, ""));
}

#[test]
fn gdbm_makes_what_is_loaded_and_reads_what_is_dumped() {
    if !has("gdbm_load") || !has("gdbm_dump") {
        return;
    }
    let shell = Shell::new();
    fill(&shell, "words");
    let dumped = shell.run(["dump", "words", "--format", "gdbm"]).ok();
    load(&shell, "all", &dumped, "gdbm");
    assert_filled(&shell, "all");
    // The tool does not read empty values, not even those that gdbm_dump wrote.
    shell.run(["del", "words", "empty", "key 0"]).ok();
    let dumped = shell.run(["dump", "words", "--format", "gdbm"]).ok();
    let file = shell.path().join(".words.gdbm");
    run("gdbm_load", &["-", text(&file)], &dumped);
    for (table, form) in [("ascii", "--format=ascii"), ("bytes", "--format=binary")] {
        let printed = run("gdbm_dump", &[form, text(&file), "-"], b"");
        load(&shell, table, &printed, "gdbm");
        for key in ["empty", "key 0"] {
            shell.run(["set", table, key, ""]).ok();
        }
        assert_filled(&shell, table);
    }
    let refused = shell.run(["load", "other", text(&file)]).error();
    assert!(refused.contains("gdbm_dump"), "{refused}");
}

#[test]
fn qdbm_makes_what_is_loaded_and_reads_what_is_dumped() {
    if !has("dptsv") || !has("vltsv") || !has("dpmgr") {
        return;
    }
    let shell = Shell::new();
    fill(&shell, "words");
    let dumped = shell.run(["dump", "words", "--format", "qdbm"]).ok();
    for (convert, list) in [("dptsv", "dpmgr"), ("vltsv", "vlmgr")] {
        let file = shell.path().join(format!(".{convert}"));
        run(convert, &["import", "-bin", text(&file)], &dumped);
        let printed = run(convert, &["export", "-bin", text(&file)], b"");
        load_as(&shell, convert, &printed, "qdbm");
        assert_filled(&shell, convert);
        let listed = run(list, &["list", "-ox", text(&file)], b"");
        load_as(&shell, list, &listed, "qdbm");
        assert_filled(&shell, list);
        let refused = shell.run(["load", "other", text(&file)]).error();
        assert!(refused.contains("export -bin"), "{refused}");
    }
    // Without -bin, as long as there are no tabs and newlines.
    let file = shell.path().join(".plain");
    run("dptsv", &["import", text(&file)], b"a\\b\tvalue\n");
    let printed = run("dptsv", &["export", text(&file)], b"");
    shell
        .feed(["load", "plain", "-f", "tsv", "--raw"], &printed)
        .ok();
    assert_eq!(shell.run(["get", "plain", "a\\b"]).ok(), b"value");
}

/// A file of this folder's, made by another program.
fn sample(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_snapshot_of_redis_is_loaded_and_the_rest_is_reported() {
    let shell = Shell::new();
    let file = sample("redis-7.0.15.rdb");
    let ran = shell.run(["load", "t", &file]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("is read as rdb"), "{}", ran.err);
    let rest = "keys that were left out: 6 of the type hash, 4 of the type list, 3 of the type \
        set, 3 of the type sorted set, 2 of the type stream, 1 of other databases than 0 \
        (--database N)";
    assert!(ran.err.contains(rest), "{}", ran.err);
    let table = tavola::Table::open(shell.path().join("t")).unwrap();
    let expected = [
        ("text", b"Hello".to_vec()),
        ("number", b"-123456".to_vec()),
        ("packed", b"abcdefgh".repeat(500)),
        ("bytes", (0..=255).collect()),
        ("empty", Vec::new()),
        ("later", b"1".to_vec()),
    ];
    assert_eq!(table.len().unwrap(), expected.len() as u64);
    for (key, value) in &expected {
        assert_eq!(table.get(key).unwrap().as_ref(), Some(value), "{key}");
    }
    let later = table.get_entry("later").unwrap().unwrap();
    assert!(matches!(later.attributes.expiry, tavola::Expiry::After(_)));
    let ran = shell.run(["load", "other", &file, "--database", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        shell.run(["dump", "other", "-f", "tsv"]).text(),
        "elsewhere\tvalue\n"
    );
    let refused = shell.run(["dump", "t", "-f", "rdb"]);
    assert!(
        refused.code == 2 && refused.err.contains("invalid value 'rdb'"),
        "{refused:?}"
    );
}

#[test]
fn a_server_of_redis_makes_what_is_loaded() {
    if !has("redis-server") || !has("redis-cli") {
        return;
    }
    let shell = Shell::new();
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut server = Command::new("redis-server");
    server.args(["--port", "0", "--save", "", "--dir", text(folder.path())]);
    server
        .args(["--unixsocket", text(&socket)])
        .stdout(Stdio::null());
    let _server = Server(server.spawn().unwrap());
    wait_until(|| socket.exists());
    let mut commands = Vec::new();
    for (key, value) in entries() {
        write!(commands, "*3\r\n$3\r\nSET\r\n${}\r\n", key.len()).unwrap();
        commands.extend(&key);
        write!(commands, "\r\n${}\r\n", value.len()).unwrap();
        commands.extend(&value);
        commands.extend(b"\r\n");
    }
    run("redis-cli", &["-s", text(&socket), "--pipe"], &commands);
    run(
        "redis-cli",
        &["-s", text(&socket), "RPUSH", "a list", "1"],
        b"",
    );
    run("redis-cli", &["-s", text(&socket), "SAVE"], b"");
    let ran = shell.run(["load", "t", text(&folder.path().join("dump.rdb"))]);
    assert!(
        ran.code == 0 && ran.err.contains("1 of the type list"),
        "{ran:?}"
    );
    assert_filled(&shell, "t");
}

#[test]
fn rows_of_postgresql_are_loaded() {
    let shell = Shell::new();
    let file = sample("postgresql-15.copy");
    let args = [
        "load", "t", &file, "--format", "pgcopy", "--key", "2", "--value", "3",
    ];
    let ran = shell.run(args);
    assert_eq!(ran.code, 2, "{}", ran.err);
    let wanted = "line 4: the value is NULL";
    assert!(
        ran.err.contains(wanted) && ran.err.contains("first 3 entries"),
        "{}",
        ran.err
    );
    let table = tavola::Table::open(shell.path().join("t")).unwrap();
    for (key, value) in [
        ("plain", "Grüße"),
        ("tab\tkey", "line\nbreak\r\u{8}\u{b}\u{c}"),
        ("back\\slash", "\\N"),
    ] {
        assert_eq!(table.get(key).unwrap(), Some(value.as_bytes().to_vec()));
    }
    // The command does not guess it, and says what it is.
    let ran = shell.feed(["load", "u"], b"a\tb\\bc\n");
    assert!(
        ran.code == 2 && ran.err.contains("--format pgcopy"),
        "{ran:?}"
    );
}

#[test]
fn what_is_damaged_is_reported_with_its_place_and_what_came_before() {
    let shell = Shell::new();
    let gdbm =
        b"# GDBM dump file\n# End of header\n#:len=1\nYQ==\n#:len=1\nYg==\n#:len=9\nYg==\n#:len";
    let cases: [(&str, &[u8], &str); 4] = [
        ("gdbm", gdbm, "line 7: the length is 9, but 1 bytes follow"),
        ("qdbm", b"YQ==\tYg==\nYQ\tYg==\n", "line 2: not a key"),
        ("pgcopy", b"a\tb\nc\td\\", "line 2: the value ends with"),
        (
            "rdb",
            b"REDIS0010\x00\x01a\x01b\x00\x01a\x81\xff\xff",
            "byte 20: the file is cut short",
        ),
    ];
    for (format, bytes, wanted) in cases {
        let sentence = shell.feed(["load", format, "-f", format], bytes).error();
        assert!(sentence.contains(wanted), "{sentence}");
        assert!(
            sentence.contains("the first 1 entries are loaded"),
            "{sentence}"
        );
        assert_eq!(shell.run(["get", format, "a"]).ok(), b"b", "{format}");
    }
}
