//! `tavola cdb`, beside the `cdb` of TinyCDB: the same files, the same output, the same exit codes.

use crate::shell::Shell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn is_one_of(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// Bytes that are in lines, or any.
    fn bytes(&mut self, most: u64, is_line: bool) -> Vec<u8> {
        let byte = |random: &mut Random| match is_line {
            true => b"abcABC019#.-\xff"[random.below(13) as usize],
            false => random.below(256) as u8,
        };
        (0..self.below(most)).map(|_| byte(self)).collect()
    }

    /// The name of a key: few, so that they come again.
    fn key(&mut self, is_line: bool) -> Vec<u8> {
        match self.below(4) {
            0 => self.bytes(12, is_line),
            1 => b"key".to_vec(),
            _ => format!("k{}", self.below(30)).into_bytes(),
        }
    }
}

/// Text for `cdb -c`, in lines or not; a tenth of them damaged.
fn text(random: &mut Random, is_map: bool) -> Vec<u8> {
    let mut text = Vec::new();
    let most = if random.is_one_of(10) { 6000 } else { 40 };
    for _ in 0..random.below(60) {
        let (key, value) = (random.key(is_map), random.bytes(most, is_map));
        match is_map {
            true => {
                let blanks = |random: &mut Random| &b" \t \t  "[..random.below(7) as usize];
                text.extend(blanks(random));
                text.extend(key);
                text.extend(b" ");
                text.extend(blanks(random));
                text.extend(value);
                if random.is_one_of(8) {
                    text.extend(b"\n\n# comment");
                }
            }
            false => {
                text.extend(format!("+{},{}:", key.len(), value.len()).bytes());
                text.extend(key);
                text.extend(b"->");
                text.extend(value);
            }
        }
        text.push(b'\n');
    }
    if !is_map {
        text.push(b'\n');
    }
    if random.is_one_of(10) && !text.is_empty() {
        let at = random.below(text.len() as u64) as usize;
        match random.below(3) {
            0 => text.truncate(at),
            1 => text[at] = b"+,:->\n0x"[random.below(8) as usize],
            _ => drop(text.remove(at)),
        }
    }
    text
}

/// Runs both programs with the same arguments in a directory of each.
fn run(shell: &Shell, args: &[String], input: &[u8]) -> [Output; 2] {
    let run_in = |mut command: Command, directory: &str| {
        let directory = shell.path().join(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("input"), input).unwrap();
        let input = fs::File::open(directory.join("input")).unwrap();
        command
            .args(args)
            .current_dir(directory)
            .stdin(Stdio::from(input));
        let ran = command.output();
        ran.unwrap_or_else(|error| panic!("cdb: {error}; run: scripts/setup test"))
    };
    [
        run_in(shell.command(["cdb"]), "ours"),
        run_in(Command::new("cdb"), "theirs"),
    ]
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

fn assert_same(args: &[String], [ours, theirs]: [&Output; 2], seed: u64) {
    let told = format!(
        "seed {seed}, {args:?}: {} and {}",
        String::from_utf8_lossy(&ours.stderr),
        String::from_utf8_lossy(&theirs.stderr)
    );
    assert_eq!(ours.status.code(), theirs.status.code(), "{told}");
    assert_eq!(ours.stdout, theirs.stdout, "{told}");
}

/// Compares the files and their modes. Where a record was removed from the end, the other program
/// leaves old bytes behind the end of its file.
fn assert_same_files(shell: &Shell, may_have_rest: bool, seed: u64) {
    let path = |directory: &str| shell.path().join(directory).join("file.cdb");
    let mode = |directory: &str| Some(fs::metadata(path(directory)).ok()?.permissions().mode());
    assert_eq!(mode("ours"), mode("theirs"), "seed {seed}: the modes");
    let read = |directory: &str| fs::read(path(directory)).ok();
    match (read("ours"), read("theirs")) {
        (Some(ours), Some(theirs)) => {
            assert!(ours.len() == theirs.len() || may_have_rest, "seed {seed}");
            assert!(theirs.starts_with(&ours), "seed {seed}: the files differ");
        }
        (ours, theirs) => assert_eq!(ours, theirs, "seed {seed}"),
    }
}

fn reading(random: &mut Random) -> Vec<String> {
    let mut args = match random.below(5) {
        0 => strings(&["-d"]),
        1 => strings(&["-l"]),
        2 => strings(&["-s"]),
        _ => strings(&["-q"]),
    };
    if random.is_one_of(2) {
        args.push("-m".to_string());
    }
    if args[0] == "-q" {
        if random.is_one_of(3) {
            args.push(format!("-n{}", 1 + random.below(3)));
        }
        let key = match random.below(2) {
            0 => "key".to_string(),
            _ => format!("k{}", random.below(40)),
        };
        args.extend(["file.cdb".to_string(), key]);
    } else {
        args.push("file.cdb".to_string());
    }
    args
}

/// In four threads, as most of the time goes into starting programs.
#[test]
fn a_thousand_random_inputs_give_the_same_as_the_cdb_of_tinycdb() {
    let quarters: Vec<_> = (0..4)
        .map(|quarter| {
            std::thread::spawn(move || compare_inputs(250 * quarter..250 * (quarter + 1)))
        })
        .collect();
    for quarter in quarters {
        if let Err(why) = quarter.join() {
            std::panic::resume_unwind(why);
        }
    }
}

fn compare_inputs(seeds: std::ops::Range<u64>) {
    let shell = Shell::new();
    let (mut random, mut made, mut refused, mut missing) = (Random(34 + seeds.start), 0, 0, 0);
    for seed in seeds {
        let is_map = random.is_one_of(3);
        let duplicates = ["", "-w", "-e", "-r", "-u", "-0", "-wr", "-wu", "-w0"];
        let duplicates = duplicates[random.below(9) as usize];
        let mut args = strings(&["-c"]);
        args.extend((!duplicates.is_empty()).then(|| duplicates.to_string()));
        args.extend(is_map.then(|| "-m".to_string()));
        match random.below(4) {
            0 => args.extend(strings(&["-t", "other.tmp"])),
            1 => args.extend(strings(&["-t", "-", "-p", "0640"])),
            _ => {}
        }
        args.push("file.cdb".to_string());
        if random.is_one_of(4) {
            args.extend(strings(&["input", "-"]));
        }
        let input = text(&mut random, is_map);
        let [ours, theirs] = run(&shell, &args, &input);
        assert_same(&args, [&ours, &theirs], seed);
        let lines = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            text.lines()
                .filter(|line| line.ends_with("duplicated"))
                .count()
        };
        assert_eq!(lines(&ours), lines(&theirs), "seed {seed}");
        match ours.status.code() {
            Some(0) => made += 1,
            _ => refused += 1,
        }
        if !ours.status.success() {
            // In place, the two differ in what is left of it.
            for directory in ["ours", "theirs"] {
                let _ = fs::remove_file(shell.path().join(directory).join("file.cdb"));
            }
            continue;
        }
        let removes = ['r', '0'].iter().any(|letter| duplicates.contains(*letter));
        assert_same_files(&shell, removes, seed);
        let args = reading(&mut random);
        let [ours, theirs] = run(&shell, &args, b"");
        assert_same(&args, [&ours, &theirs], seed);
        missing += usize::from(ours.status.code() == Some(100));
    }
    println!("{made} files made, {refused} inputs refused, {missing} keys missing");
    assert!(made > 150 && refused > 10 && missing > 10);
}

/// A file that is cut: the same exit codes.
#[test]
fn damaged_files_give_the_same_exit_codes() {
    let shell = Shell::new();
    let [ours, theirs] = run(
        &shell,
        &strings(&["-c", "file.cdb"]),
        b"+3,5:one->Hello\n\n",
    );
    assert!(ours.status.success() && theirs.status.success());
    let whole = fs::read(shell.path().join("ours/file.cdb")).unwrap();
    for bytes in [0, 10, 2047, 2048, 2050, 2060, 2064, 2070] {
        for directory in ["ours", "theirs"] {
            let path = shell.path().join(directory).join("file.cdb");
            fs::write(path, &whole[..bytes]).unwrap();
        }
        for args in [
            &["-d", "file.cdb"][..],
            &["-l", "file.cdb"],
            &["-s", "file.cdb"],
        ] {
            let [ours, theirs] = run(&shell, &strings(args), b"");
            assert_eq!(ours.status.code(), theirs.status.code(), "{bytes} {args:?}");
        }
    }
    let missing = run(&shell, &strings(&["-q", "missing.cdb", "key"]), b"");
    assert!(missing.iter().all(|ran| ran.status.code() == Some(111)));
}

/// Files of the 64-bit format are recognised, and come from a pipe with `--64`.
#[test]
fn the_64_bit_format_is_made_and_recognised() {
    let shell = Shell::new();
    let file = shell.path().join(".large.cdb");
    let path = file.to_str().unwrap();
    let records = b"+3,5:one->Hello\n+3,2:two->Hi\n\n";
    assert_eq!(shell.feed(["cdb", "-c", "--64", path], records).code, 0);
    assert_eq!(fs::read(&file).unwrap()[4096..4104], 3u64.to_le_bytes());
    assert_eq!(shell.run(["cdb", "-q", path, "two"]).ok(), b"Hi");
    assert_eq!(shell.run(["cdb", "-d", path]).ok(), records);
    let piped = fs::read(&file).unwrap();
    assert_eq!(shell.feed(["cdb", "-d", "--64"], &piped).ok(), records);
    assert_eq!(shell.run(["cdb", "-l", "-m", path]).ok(), b"one\ntwo\n");
}

#[test]
fn wrong_arguments_are_explained() {
    let shell = Shell::new();
    for args in [
        &["cdb"][..],
        &["cdb", "-q", "file"],
        &["cdb", "-q", "-d", "file"],
        &["cdb", "-d", "one", "two"],
        &["cdb", "-c"],
        &["cdb", "-c", "-p", "999", "file"],
        &["cdb", "-q", "-n", "0", "file", "key"],
    ] {
        let ran = shell.run(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(!ran.err.is_empty());
    }
    assert!(!Path::new("file").exists());
}

/// A table that is frozen and thawed is as before, in each format, and `cdb` reads the file.
#[test]
fn a_table_is_frozen_and_thawed() {
    let shell = Shell::new();
    let table = tavola::Table::open(shell.path().join("words")).unwrap();
    for n in 0..2000u32 {
        table
            .set(n.to_le_bytes(), vec![n as u8; n as usize % 300])
            .unwrap();
    }
    table.set("one", "Hello").unwrap();
    for (name, extra) in [
        ("words.frozen", None),
        ("words.cdb", None),
        ("words", Some("cdb64")),
    ] {
        let file = shell.path().join(format!(".{name}"));
        let path = file.to_str().unwrap();
        let format = extra.map(|format| format!("--format={format}"));
        let args = ["freeze", "words", path]
            .into_iter()
            .chain(format.as_deref());
        let ran = shell.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        if name.ends_with("cdb") {
            let query = Command::new("cdb")
                .args(["-q", path, "one"])
                .output()
                .unwrap();
            assert_eq!(query.stdout, b"Hello");
        }
        let back = format!("back-{}", name.replace('.', "-"));
        shell.run(["thaw", path, &back]).ok();
        let back = tavola::Table::open(shell.path().join(back)).unwrap();
        assert_eq!(back.len().unwrap(), 2001);
        for n in 0..2000u32 {
            let value = back.get(n.to_le_bytes()).unwrap();
            assert_eq!(value, Some(vec![n as u8; n as usize % 300]));
        }
        assert_eq!(back.get("one").unwrap().as_deref(), Some(&b"Hello"[..]));
    }
}

#[test]
fn what_constant_files_do_not_have_is_reported() {
    let shell = Shell::new();
    shell.run(["set", "t", "a", "1", "--ttl", "1h"]).ok();
    shell.run(["set", "t", "b", "2", "--flags", "3"]).ok();
    shell.run(["set", "t", "c", "3", "--tag", "red"]).ok();
    shell.run(["set", "t", "d", "4"]).ok();
    let file = shell.path().join(".t.frozen");
    let path = file.to_str().unwrap();
    let ran = shell.run(["freeze", "t", path]);
    assert!(ran.code == 0 && ran.err.contains("3 keys"), "{}", ran.err);

    // A damaged file is refused, and none is left of one that cannot be written.
    let mut bytes = fs::read(&file).unwrap();
    bytes[60] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let refused = shell.run(["thaw", path, "back"]).error();
    assert!(refused.contains("checksum"), "{refused}");
    let refused = shell.run(["freeze", "t", "/missing/t.frozen"]).error();
    assert!(refused.contains("/missing"), "{refused}");
    let refused = shell.run(["thaw", "/dev/null", "back"]).error();
    assert!(refused.contains("not a regular file"), "{refused}");
}

/// The table has what a search in the file finds: of several records the first.
#[test]
fn of_several_records_the_first_is_thawed() {
    let shell = Shell::new();
    let file = shell.path().join(".file.cdb");
    let path = file.to_str().unwrap();
    shell
        .feed(["cdb", "-c", "-m", path], b"key one\nkey two\nother x\n")
        .ok();
    shell.run(["thaw", path, "t"]).ok();
    assert_eq!(shell.run(["get", "t", "key"]).ok(), b"one");
    shell
        .feed(
            ["cdb", "-c", "-m", "-0", path],
            b"key one\nother x\nkey two\n",
        )
        .ok();
    shell.run(["thaw", path, "u"]).ok();
    assert_eq!(shell.run(["get", "u", "key"]).ok(), b"two");
    assert_eq!(shell.run(["count", "u"]).ok(), b"2\n");
}

/// `get`, `ls`, `stat` and `dump` take the path of a constant file in the place of a table.
#[test]
fn commands_that_read_take_constant_files() {
    let shell = Shell::new();
    shell.run(["set", "t", "one", "Hello"]).ok();
    shell.run(["set", "t", "two", "Hi"]).ok();
    for name in ["t.frozen", "t.cdb"] {
        let file = shell.path().join(format!(".{name}"));
        let path = file.to_str().unwrap();
        shell.run(["freeze", "t", path]).ok();
        assert_eq!(shell.run(["get", path, "one"]).ok(), b"Hello");
        assert_eq!(
            shell
                .run(["get", path, "one", "--start", "1", "--max", "2"])
                .ok(),
            b"el"
        );
        let many = shell.run(["get", path, "two", "three", "one"]);
        assert_eq!(
            (many.code, &many.out[..]),
            (1, &b"Hi\n(missing)\nHello\n"[..])
        );
        let json = shell.run(["get", path, "two", "--json"]).ok();
        assert_eq!(json, b"{\"key\":\"two\",\"value\":\"Hi\"}\n");
        assert!(
            shell
                .run(["get", path, "one", "--token"])
                .error()
                .contains("no tokens")
        );
        assert_eq!(shell.run(["ls", path, "t"]).ok(), b"two\n");
        assert_eq!(shell.run(["ls", path, "--count"]).ok(), b"2\n");
        assert_eq!(
            shell.run(["ls", path, "one", "--long"]).ok(),
            b"5\t-\t0\tone\n"
        );
        assert_eq!(
            shell.run(["ls", path, "--limit", "1", "--count"]).ok(),
            b"1\n"
        );
        let stat = String::from_utf8(shell.run(["stat", path]).ok()).unwrap();
        assert!(
            stat.contains("constant file") && stat.contains("records       2"),
            "{stat}"
        );
        let stat = String::from_utf8(shell.run(["stat", path, "--json"]).ok()).unwrap();
        assert!(stat.contains("\"keys\":2"), "{stat}");
        let dumped = shell.run(["dump", path, "--format", "tsv"]).ok();
        let mut lines: Vec<&[u8]> = dumped.split(|byte| *byte == b'\n').collect();
        lines.sort_unstable();
        assert_eq!(lines, [&b""[..], b"one\tHello", b"two\tHi"]);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        assert!(!shell.run(["get", path, "one"]).error().is_empty());
    }
}

/// `check` takes a constant file: all of it is compared, and each changed byte of a frozen file is
/// a problem.
#[test]
fn constant_files_are_checked() {
    let shell = Shell::new();
    shell.run(["set", "t", "one", "Hello"]).ok();
    shell.run(["set", "t", "two", "Hi"]).ok();
    for name in ["t.frozen", "t.cdb"] {
        let file = shell.path().join(format!(".{name}"));
        let path = file.to_str().unwrap();
        shell.run(["freeze", "t", path]).ok();
        let found = String::from_utf8(shell.run(["check", path]).ok()).unwrap();
        assert!(found.contains("no problems; 2 records"), "{found}");
        let json = String::from_utf8(shell.run(["check", path, "--json"]).ok()).unwrap();
        assert!(json.contains("\"clean\":true") && json.contains("\"keys\":2"));
        let refused = shell.run(["check", path, "--repair"]).error();
        assert!(refused.contains("cannot be repaired"), "{refused}");

        // The first byte of the value "Hello", or of its key's length.
        let mut bytes = fs::read(&file).unwrap();
        let at = bytes.windows(5).position(|five| five == b"Hello").unwrap();
        bytes[if name == "t.cdb" { at - 11 } else { at }] ^= 1;
        fs::write(&file, &bytes).unwrap();
        let ran = shell.run(["check", path]);
        let found = String::from_utf8(ran.out).unwrap();
        assert_eq!(ran.code, 1, "{found}");
        assert!(found.contains("1 problem\n") && found.contains("damaged at byte"));
        let ran = shell.run(["check", path, "--json"]);
        let json = String::from_utf8(ran.out).unwrap();
        assert!(
            ran.code == 1 && json.contains("\"problem_count\":1"),
            "{json}"
        );

        // Only the beginning of one.
        fs::write(&file, &bytes[..100]).unwrap();
        let ran = shell.run(["check", path]);
        assert_eq!(ran.code, 1, "{}", ran.err);
    }
    let refused = shell.run(["check", "/missing/t.cdb"]).error();
    assert!(refused.contains("/missing/t.cdb"), "{refused}");
}

/// `load` names `thaw` for a constant file, by its name or by its first bytes.
#[test]
fn load_names_thaw_for_constant_files() {
    let shell = Shell::new();
    shell.run(["set", "t", "one", "Hello"]).ok();
    for name in [".t.cdb", ".t.frozen", ".t.other"] {
        let file = shell.path().join(name);
        let path = file.to_str().unwrap();
        shell.run(["freeze", "t", path]).ok();
        let refused = shell.run(["load", "u", path]).error();
        assert!(
            refused.contains(&format!("tavola thaw {path} TABLE")),
            "{refused}"
        );
    }
}
