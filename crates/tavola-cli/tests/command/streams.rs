//! dump and load: every format carries any bytes there and back, and returns what is wrong.

use std::fs;

use crate::shell::Shell;

const FORMATS: [&str; 3] = ["jsonl", "tsv", "binary"];

/// A table of entries that try every format; its name is `odd`.
fn with_odd_entries() -> Shell {
    let shell = Shell::new();
    let entries: [(&str, &[u8]); 8] = [
        ("", b"value of the empty key"),
        ("656d707479", b""),
        ("00", b"\x00\x00"),
        ("ff0a", b"\xc3\x28\n"),
        ("7461620920", b"tab\tand\r\nbreaks\n"),
        ("5c74", b"\\ \\n \\\\ \\x"),
        ("c3bc", "🦀 \"quoted\" größer".as_bytes()),
        ("6c61726765", &[b'\\'; 300_000]),
    ];
    for (key, value) in entries {
        shell.feed(["set", "odd", "--hex", key], value).ok();
    }
    shell
}

/// All entries of a table, in an order of their own.
fn entries(shell: &Shell, table: &str) -> Vec<String> {
    let text = shell.run(["dump", table]).text();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn every_format_carries_any_bytes_through_pipes() {
    let shell = with_odd_entries();
    let expected = entries(&shell, "odd");
    assert_eq!(expected.len(), 8);
    for format in FORMATS {
        let dump = shell.run(["dump", "odd", "--format", format]).ok();
        shell.feed(["load", format, "--format", format], &dump).ok();
        assert_eq!(entries(&shell, format), expected, "{format}");
        assert_eq!(
            shell.run(["get", format, ""]).ok(),
            b"value of the empty key"
        );
        assert_eq!(shell.run(["get", format, "--hex", "00"]).ok(), b"\x00\x00");
    }
}

#[test]
fn the_format_is_known_by_the_name_of_the_file_or_its_beginning() {
    let shell = with_odd_entries();
    let expected = entries(&shell, "odd");
    for (name, beginning) in [
        ("d.jsonl", &b"{"[..]),
        ("d.tsv", b""),
        ("d.tavola", b"\x89TAVOLA\n"),
    ] {
        let file = shell.file(name, "");
        let file = file.to_str().unwrap();
        assert!(shell.run(["dump", "odd", file]).ok().is_empty());
        assert!(fs::read(file).unwrap().starts_with(beginning));
        let ran = shell.run(["load", name, file]);
        let said = format!(
            "tavola: {file} is read as tsv because of its name; override it with --format\n"
        );
        let said = if name == "d.tsv" { &said } else { "" };
        assert_eq!((ran.code, &ran.err[..]), (0, said));
        assert_eq!(entries(&shell, name), expected, "{name}");
    }
    let binary = shell.run(["dump", "odd", "--format", "binary"]).ok();
    shell.feed(["load", "piped", "-"], &binary).ok();
    assert_eq!(entries(&shell, "piped"), expected);
}

#[test]
fn many_entries_go_through_in_batches_and_the_last_of_a_key_wins() {
    let shell = Shell::new();
    let mut lines: String = (0..50_000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"v{n}\"}}\n"))
        .collect();
    lines.push_str("{\"key\":\"k7\",\"value\":\"one\"}\n{\"key\":\"k7\",\"value\":\"two\"}\n");
    shell.feed(["load", "t"], lines.as_bytes()).ok();
    assert_eq!(shell.run(["stat", "t", "--json"]).json()["keys"], 50_000);
    assert_eq!(
        shell.run(["get", "t", "k7", "k0", "k49999"]).ok(),
        b"two\nv0\nv49999\n"
    );
    for format in FORMATS {
        let dump = shell.run(["dump", "t", "--format", format]).ok();
        shell.feed(["load", "copy", "--format", format], &dump).ok();
        assert_eq!(shell.run(["stat", "copy", "--json"]).json()["keys"], 50_000);
        shell.run(["drop", "copy"]).ok();
    }
}

#[test]
fn columns_of_other_peoples_text_can_be_chosen() {
    let shell = Shell::new();
    let text = "0041;LATIN CAPITAL LETTER A;Lu\n005C;REVERSE SOLIDUS;\\\n";
    let file = shell.file("data.txt", text);
    let file = file.to_str().unwrap();
    let by_name = ["--separator", ";", "--key", "2", "--value", "3", "--raw"];
    shell.run(["load", "t", file].iter().chain(&by_name)).ok();
    assert_eq!(
        shell.run(["get", "t", "LATIN CAPITAL LETTER A"]).ok(),
        b"Lu"
    );
    assert_eq!(shell.run(["get", "t", "REVERSE SOLIDUS"]).ok(), b"\\");
    shell
        .feed(["load", "u", "--key", "1", "--value", "3"], b"a\tb\tc")
        .ok();
    assert_eq!(shell.run(["get", "u", "a"]).ok(), b"c");
}

#[test]
fn a_bad_line_is_reported_by_number_and_earlier_lines_stay() {
    let shell = Shell::new();
    let jsonl = "{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"value\":\"2\"}\n{\"key\":\n";
    let sentence = shell.feed(["load", "j"], jsonl.as_bytes()).error();
    assert!(sentence.contains("line 3"), "{sentence}");
    assert!(sentence.contains("first 2 entries"), "{sentence}");
    assert_eq!(shell.run(["get", "j", "a", "b"]).ok(), b"1\n2\n");
    let sentence = shell.feed(["load", "t", "-f", "tsv"], b"a\t1\nb\n").error();
    assert!(
        sentence.contains("line 2") && sentence.contains("--value"),
        "{sentence}"
    );
    assert_eq!(shell.run(["get", "t", "a"]).ok(), b"1");
    let sentence = shell
        .feed(["load", "t", "-f", "tsv"], b"C:\\new\\x\t1\n")
        .error();
    assert!(sentence.contains("--raw"), "{sentence}");
}

#[test]
fn a_binary_dump_cut_short_or_damaged_is_reported_and_loses_nothing_loaded() {
    let shell = Shell::new();
    for n in 0..10 {
        shell.run(["set", "t", &format!("key {n}"), "value"]).ok();
    }
    let dump = shell.run(["dump", "t", "--format", "binary"]).ok();
    // The header has 12 bytes, an entry 24 + 5 + 5, the trailer 20.
    assert_eq!(dump.len(), 12 + 10 * 34 + 20);
    for (length, whole) in [
        (12 + 5 * 34 + 7, 5),
        (12 + 5 * 34, 5),
        (dump.len() - 1, 10),
        (9, 0),
    ] {
        let sentence = shell
            .feed(["load", "cut", "-f", "binary"], &dump[..length])
            .error();
        assert!(sentence.contains("cut short"), "{sentence}");
        let keys = shell.run(["ls", "cut"]).ok();
        assert_eq!(keys.iter().filter(|&&byte| byte == b'\n').count(), whole);
        shell.run(["drop", "cut"]).ok();
    }
    let mut damaged = dump.clone();
    damaged[12 + 24] ^= 1;
    assert!(
        shell
            .feed(["load", "cut"], &damaged)
            .error()
            .contains("damaged")
    );
    let foreign = shell
        .feed(["load", "cut", "-f", "binary"], b"{\"key\":\"a\"}")
        .error();
    assert!(foreign.contains("--format"), "{foreign}");
}

#[test]
fn a_hostile_length_takes_no_memory() {
    let shell = Shell::new();
    let mut stream = b"\x89TAVOLA\n\x02\0\0\0".to_vec();
    stream.extend_from_slice(&[0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    stream.extend_from_slice(&[0; 16]);
    let sentence = shell.feed(["load", "t"], &stream).error();
    assert!(sentence.contains("cut short"), "{sentence}");
    // As many tags, or as long ones, are nobody's.
    for (count, len) in [(17u32, 1u32), (u32::MAX, 1), (1, 4097), (16, u32::MAX)] {
        let mut stream = b"\x89TAVOLA\n\x02\0\0\0".to_vec();
        stream.extend_from_slice(&[0; 20]);
        stream.extend_from_slice(&count.to_le_bytes());
        stream.extend_from_slice(&len.to_le_bytes().repeat(16));
        let sentence = shell.feed(["load", "t"], &stream).error();
        assert!(sentence.contains("damaged"), "{sentence}");
    }
    let older = shell.feed(["load", "t"], b"\x89TAVOLA\n\x01\0\0\0").error();
    assert!(older.contains("older format"), "{older}");
}

#[test]
fn a_load_into_a_full_table_says_how_far_it_came() {
    let shell = Shell::new();
    shell.run(["create", "t", "--max-size", "4M"]).ok();
    let value = "x".repeat(1000);
    let lines: String = (0..20_000)
        .map(|n| format!("{{\"key\":\"k{n}\",\"value\":\"{value}\"}}\n"))
        .collect();
    let sentence = shell.feed(["load", "t"], lines.as_bytes()).error();
    assert!(
        sentence.contains("no room") && sentence.contains("entries are loaded"),
        "{sentence}"
    );
    let number = sentence
        .rsplit("the first ")
        .next()
        .unwrap()
        .split(' ')
        .next();
    let count = shell.run(["ls", "t", "--count"]).text();
    assert_eq!(Some(count.trim_end()), number, "{sentence}");
    assert_eq!(shell.run(["get", "t", "k0"]).ok(), value.as_bytes());
    assert_eq!(shell.run(["check", "t"]).code, 0);
}

#[test]
fn unusable_files_are_reported() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    let sentence = shell.run(["load", "t", "/no/such/file"]).error();
    assert!(sentence.contains("/no/such/file"), "{sentence}");
    let sentence = shell.run(["dump", "t", "/no/such/file"]).error();
    assert!(sentence.contains("/no/such/file"), "{sentence}");
    let sentence = shell.run(["load", "t", "/dev/shm"]).error();
    assert!(sentence.contains("/dev/shm"), "{sentence}");
    let sentence = shell
        .feed(["load", "t", "-f", "binary", "--raw"], b"")
        .error();
    assert!(sentence.contains("tsv"), "{sentence}");
}

#[test]
fn a_dump_onto_a_full_disk_is_an_error() {
    let shell = Shell::new();
    shell.run(["set", "t", "k", "v"]).ok();
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = shell.command(["dump", "t"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        output
            .stderr
            .starts_with(b"tavola: cannot write to standard output")
    );
    assert!(
        shell
            .run(["dump", "t", "/dev/full"])
            .error()
            .contains("/dev/full")
    );
}

#[test]
fn times_and_flags_go_with_json_and_binary_dumps() {
    let shell = Shell::new();
    shell
        .run(["set", "t", "a", "1", "--ttl", "1h", "--flags", "4294967295"])
        .ok();
    shell.run(["set", "t", "b", "2"]).ok();
    for format in ["jsonl", "binary"] {
        let dump = shell.run(["dump", "t", "--format", format]).ok();
        shell.feed(["load", format], &dump).ok();
        let ttl = shell.run(["ttl", format, "a", "--json"]).json();
        let left = ttl["ttl_ms"].as_u64().unwrap();
        assert!(left > 3_500_000 && left <= 3_600_000, "{format}: {left}");
        assert_eq!(ttl["flags"], 4_294_967_295u32, "{format}");
        assert_eq!(shell.run(["ttl", format, "b"]).text(), "never\n");
    }
    // What has passed meanwhile is not there.
    let past = "{\"key\":\"c\",\"value\":\"3\",\"expires_unix_ms\":1000}\n";
    shell.feed(["load", "t"], past.as_bytes()).ok();
    shell.run(["get", "t", "c"]).missing();
}

#[test]
fn tags_go_with_json_and_binary_dumps() {
    let shell = Shell::new();
    let set = |key, tags: &[&str]| {
        let tags = tags.iter().flat_map(|tag| ["--tag", tag]);
        let args = ["set", "t", key, "1"].into_iter().chain(tags);
        shell.run(args).ok();
    };
    set("a", &["x", "\u{fc}"]);
    set("b", &["y"]);
    set("gone", &["z"]);
    set("c", &[]);
    shell.run(["invalidate", "t", "z"]).ok();
    for format in ["jsonl", "binary"] {
        let dump = shell.run(["dump", "t", "--format", format]).ok();
        shell.feed(["load", format], &dump).ok();
        shell.run(["get", format, "gone"]).missing();
        shell.run(["invalidate", format, "z"]).missing();
        assert_eq!(shell.run(["get", format, "a"]).ok(), b"1");
        shell.run(["invalidate", format, "\u{fc}"]).ok();
        shell.run(["get", format, "a"]).missing();
        assert_eq!(shell.run(["get", format, "b"]).ok(), b"1");
        assert_eq!(shell.run(["get", format, "c"]).ok(), b"1");
    }
    let line = "{\"key\":\"a\",\"value\":\"1\",\"tags_base64\":[\"/w==\"]}\n";
    shell.feed(["load", "odd"], line.as_bytes()).ok();
    assert_eq!(shell.run(["dump", "odd"]).text(), line);
}

#[test]
fn json_and_csv_carry_any_bytes_and_read_others_documents() {
    let shell = with_odd_entries();
    let expected = entries(&shell, "odd");
    for format in ["json", "csv"] {
        let dump = shell.run(["dump", "odd", "--format", format]).ok();
        shell.feed(["load", format, "--format", format], &dump).ok();
        assert_eq!(entries(&shell, format), expected, "{format}");
    }
    let csv = b"id;name\n1;\"a;b\"\n";
    let args = ["load", "c", "--format", "csv", "--separator", ";"];
    shell.feed(args, csv).ok();
    assert_eq!(shell.run(["get", "c", "1"]).ok(), b"a;b");
    shell
        .feed(["load", "o", "-f", "json"], b"{\"a\":\"x\",\"b\":[1]}")
        .ok();
    assert_eq!(shell.run(["get", "o", "a", "b"]).ok(), b"x\n[1]\n");
    let guessed = shell.feed(["load", "g"], b"[{\"key\":\"a\",\"value\":\"b\"}]");
    assert!(
        guessed.code == 0 && guessed.err.contains("as json"),
        "{guessed:?}"
    );
}

#[test]
fn a_folder_has_a_file_a_key() {
    let shell = with_odd_entries();
    shell.run(["set", "odd", "../up", "no way up"]).ok();
    let expected = entries(&shell, "odd");
    let folder = shell.path().join(".folder");
    let folder = folder.to_str().unwrap();
    shell.run(["dump", "odd", "--dir", folder]).ok();
    assert_eq!(fs::read_dir(folder).unwrap().count(), expected.len());
    shell.run(["load", "back", "--dir", folder]).ok();
    assert_eq!(entries(&shell, "back"), expected);
    let sentence = shell.run(["dump", "odd", "--dir", folder]).error();
    assert!(sentence.contains("not empty"), "{sentence}");
    fs::create_dir(format!("{folder}/below")).unwrap();
    fs::write(format!("{folder}/below/file"), "value").unwrap();
    shell.run(["load", "back", "--dir", folder]).ok();
    assert_eq!(shell.run(["get", "back", "below/file"]).ok(), b"value");
    shell
        .run(["load", "back", "--dir", "/no/such/folder"])
        .error();
}
