//! `tavola-memcached`: the command by the name whose flags are those of memcached.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::seat::{Seat, ask, closed, connect, exists, figures};
use crate::shell::{Shell, wait_until};

/// The command with these flags. Root has to say whom it becomes.
pub fn command(shell: &Shell, flags: &[&str]) -> Command {
    let mut command = shell.command([flags, &["-u", "root"]].concat());
    command.arg0("/somewhere/tavola-memcached");
    command
}

/// What it says where it does not serve.
fn refused(shell: &Shell, flags: &[&str]) -> String {
    let output = command(shell, flags).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{flags:?}");
    let said = String::from_utf8(output.stderr).expect("text");
    let said = said.strip_prefix("tavola-memcached: ").map(str::to_string);
    said.expect("its name first")
}

/// A server at a Unix socket, and the path of that.
pub fn memcached_seat(shell: &Shell, flags: &[&str]) -> (Seat, String) {
    let path = shell.path().join(".socket");
    let pid = shell.path().join(".pid");
    let (path_flag, pid_flag) = (path.to_str().unwrap(), pid.to_str().unwrap());
    let own = ["-s", path_flag, "-P", pid_flag, "--table", "m"];
    let command = command(shell, &[flags, &own].concat());
    let seat = Seat::start(command, pid);
    wait_until(|| seat.number().is_some());
    (seat, format!("unix:{path_flag}"))
}

#[test]
fn it_serves_a_cache_of_as_many_mebibytes() {
    let shell = Shell::new();
    let (mut seat, address) = memcached_seat(&shell, &["-m", "12", "-v"]);
    let mut line = connect(&address);
    ask(&mut *line, "set a 5 0 1\r\n1\r\n", "STORED\r\n");
    ask(&mut *line, "flush_all\r\nget a\r\n", "OK\r\nEND\r\n");
    let stat = shell.run(["stat", "m", "--json"]).json();
    assert_eq!(stat["capacity"], 12 << 20, "{stat}");
    seat.signal(Signal::TERM);
    closed(line);
    assert_eq!(seat.ended(), Some(0));
    // The flag says what the cache may take, also where it is there.
    let (seat, _) = memcached_seat(&shell, &["-m", "16"]);
    let stat = shell.run(["stat", "m", "--json"]).json();
    assert_eq!(stat["capacity"], 16 << 20, "{stat}");
    drop(seat);
    let path = shell.path().join("m");
    let other = refused(&shell, &["-M", "--table", path.to_str().unwrap()]);
    assert!(other.contains("evicts keys"), "{other}");
}

#[test]
fn settings_are_reported_as_the_flags_say() {
    let shell = Shell::new();
    let users = shell.file("users", "ann:secret\n");
    let users = users.to_str().unwrap();
    for (flags, login, expected) in [
        (
            &["-A", "-vv", "-a", "770", "-B", "ascii"][..],
            "",
            ["2", "770", "yes", "ascii", "no", "no", "yes"],
        ),
        (
            &["-C"],
            "",
            ["0", "700", "no", "auto-negotiate", "no", "no", "no"],
        ),
        (
            &["-Y", users],
            "set x 0 0 10\r\nann secret\r\n",
            ["0", "700", "no", "ascii", "no", "yes", "yes"],
        ),
        (
            &["-Y", users, "-S"],
            "set x 0 0 10\r\nann secret\r\n",
            ["0", "700", "no", "auto-negotiate", "yes", "yes", "yes"],
        ),
    ] {
        let shell = Shell::new();
        let (_seat, address) = memcached_seat(&shell, flags);
        let mut line = connect(&address);
        if !login.is_empty() {
            ask(&mut *line, login, "STORED\r\n");
        }
        let settings = figures(&mut *line, "stats settings");
        let names = [
            "verbosity",
            "umask",
            "shutdown_command",
            "binding_protocol",
            "auth_enabled_sasl",
            "auth_enabled_ascii",
            "cas_enabled",
        ];
        for (name, expected) in names.into_iter().zip(expected) {
            assert_eq!(settings[name], expected, "{name} with {flags:?}");
        }
    }
}

#[test]
fn what_clients_may_do_is_as_the_flags_say() {
    let shell = Shell::new();
    let (mut seat, address) =
        memcached_seat(&shell, &["-F", "-A", "-I", "2k", "-c", "1", "-X", "-W"]);
    let mut line = connect(&address);
    let off = "CLIENT_ERROR flush_all not allowed\r\n";
    ask(
        &mut *line,
        "set a 0 0 1\r\n1\r\nflush_all\r\n",
        format!("STORED\r\n{off}"),
    );
    let large = format!("set a 0 0 2049\r\n{}\r\n", "x".repeat(2049));
    ask(
        &mut *line,
        large,
        "SERVER_ERROR object too large for cache\r\n",
    );
    let mut other = connect(&address);
    ask(&mut *other, "", "ERROR Too many open connections\r\n");
    closed(other);
    let watch = "CLIENT_ERROR watch commands not allowed\r\n";
    let cachedump = "CLIENT_ERROR stats cachedump not allowed\r\n";
    let detail = "CLIENT_ERROR stats detail not allowed\r\n";
    // Other faults of them are not reported.
    for (request, answer) in [
        ("flush_all x\r\n", off),
        ("flush_all x noreply\r\n", ""),
        ("watch\r\n", watch),
        ("watch nonsense\r\n", watch),
        ("stats cachedump 1 1\r\n", cachedump),
        ("stats cachedump\r\n", cachedump),
        ("stats cachedump 99 x\r\n", cachedump),
        ("stats detail dump\r\n", detail),
        ("stats detail\r\n", detail),
        ("stats detail nonsense\r\n", detail),
        ("stats nonsense\r\n", "ERROR\r\n"),
        ("lru_crawler metadump\r\n", "ERROR\r\n"),
        (
            "lru_crawler metadump nonsense\r\n",
            "ERROR metadump not allowed\r\n",
        ),
        (
            "lru_crawler metadump all\r\n",
            "ERROR metadump not allowed\r\n",
        ),
        (
            "lru_crawler mgdump all\r\n",
            "ERROR key dump not allowed\r\n",
        ),
    ] {
        ask(&mut *line, request, answer);
    }
    ask(
        &mut *line,
        "shutdown nonsense\r\n",
        "CLIENT_ERROR invalid shutdown mode\r\n",
    );
    ask(&mut *line, "shutdown\r\n", "");
    closed(line);
    assert_eq!(seat.ended(), Some(0));
}

#[test]
fn prefixes_are_not_listed_by_the_binary_protocol_either() {
    for (flags, status) in [(&["-D", "_", "-X"][..], 1), (&["-D", "_"], 0)] {
        let shell = Shell::new();
        let (_seat, address) = memcached_seat(&shell, flags);
        let mut line = connect(&address);
        let topic = b"detail dump";
        let mut request = vec![0; 24];
        (request[0], request[1], request[3]) = (0x80, 0x10, topic.len() as u8);
        request[11] = topic.len() as u8;
        request.extend_from_slice(topic);
        line.write_all(&request).expect("sent");
        let mut header = [0; 24];
        line.read_exact(&mut header).expect("an answer");
        assert_eq!(header[7], status, "{flags:?}: {header:?}");
    }
}

#[test]
fn prefixes_end_where_the_flag_says() {
    let shell = Shell::new();
    let (_seat, address) = memcached_seat(&shell, &["-D", "_"]);
    let mut line = connect(&address);
    ask(&mut *line, "get b_c\r\n", "END\r\n");
    let dump = "PREFIX b get 1 hit 0 set 0 del 0\r\nEND\r\n";
    ask(&mut *line, "stats detail dump\r\n", dump);
}

#[test]
fn a_port_is_chosen_and_written_to_a_file() {
    let shell = Shell::new();
    let file = shell.path().join(".port");
    let pid: PathBuf = shell.path().join(".pid");
    let mut command = command(&shell, &["-p", "-1", "--table", "m"]);
    command.env("MEMCACHED_PORT_FILENAME", &file);
    let seat = Seat::start(
        {
            command.arg("-P").arg(&pid);
            command
        },
        pid,
    );
    wait_until(|| exists(&file));
    let text = fs::read_to_string(&file).unwrap();
    let port = text.strip_prefix("TCP INET: ").expect("a port").trim();
    let mut line = connect(&format!("127.0.0.1:{port}"));
    ask(&mut *line, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    drop(seat);
}

#[test]
fn a_port_for_udp_is_warned_of() {
    let shell = Shell::new();
    let path = shell.path().join(".said");
    let pid = shell.path().join(".pid");
    let mut command = command(&shell, &["-U", "11311", "-p", "-1", "--table", "m"]);
    command.arg("-P").arg(&pid);
    command.stderr(fs::File::create(&path).expect("a file"));
    let mut seat = Seat::start(command, pid);
    wait_until(|| seat.number().is_some());
    seat.signal(Signal::TERM);
    assert_eq!(seat.ended(), Some(0));
    let said = fs::read_to_string(&path).expect("text");
    assert!(
        said.contains("UDP is not supported") && said.lines().count() == 1,
        "{said}"
    );
}

#[test]
fn so_many_requests_are_carried_out_in_a_row() {
    let shell = Shell::new();
    let (_seat, address) = memcached_seat(&shell, &["-R", "1"]);
    let mut line = connect(&address);
    let set = "set a 0 0 1\r\n1\r\n";
    ask(&mut *line, set.repeat(6), "STORED\r\n".repeat(6));
    let settings = figures(&mut *line, "stats settings");
    assert_eq!(settings["reqs_per_event"], "1");
    let stats = figures(&mut *line, "stats");
    let yields: u64 = stats["conn_yields"].parse().expect("a number");
    assert!(yields >= 5, "{yields}");
}

#[test]
fn it_continues_in_the_background() {
    let shell = Shell::new();
    let (mut seat, address) = memcached_seat(&shell, &["-d"]);
    // The command ends when the server serves.
    assert_eq!(seat.ended(), Some(0));
    ask(
        &mut *connect(&address),
        "set a 0 0 1\r\n1\r\n",
        "STORED\r\n",
    );
    seat.signal(Signal::TERM);
    wait_until(|| seat.number().is_none());
    let said = refused(&shell, &["-d", "-s", "/nowhere/at/all"]);
    assert!(said.contains("/nowhere/at/all"), "{said}");
}

#[test]
fn what_cannot_be_had_is_refused() {
    let shell = Shell::new();
    for (flags, word) in [
        (&["-l", "0.0.0.0"][..], "--insecure"),
        (&["-m", "64", "-I", "256m"], "half of the memory"),
        (&["-l", "proto[ascii]:127.0.0.1:11211"], "proto["),
        (&["-o", "bogus"], "bogus"),
        (&["-o", "ext_path=/x:1G"], "external storage"),
        (&["-S"], "-Y"),
        (&["-B", "foo"], "foo"),
        (&["-Z"], "ssl_chain_cert"),
        (&["-o", "ssl_chain_cert=x"], "-Z"),
        (
            &["-Z", "-o", "ssl_chain_cert=x,ssl_ciphers=HIGH"],
            "ssl_ciphers",
        ),
        (
            &["-Z", "-o", "ssl_chain_cert=/nowhere/cert"],
            "/nowhere/cert",
        ),
        (
            &["-Y", "/nowhere/users", "-s", "/nowhere/socket"],
            "/nowhere/users",
        ),
    ] {
        let said = refused(&shell, flags);
        assert!(said.contains(word), "{flags:?}: {said}");
    }
    let listed = shell.run(["ls"]);
    assert!(listed.out.is_empty(), "{listed:?}");
}

/// Another user's table in a directory where everybody may make files.
#[test]
fn a_table_of_another_user_needs_any_owner() {
    let shell = Shell::new();
    shell.run(["create", "m", "--capacity", "64M"]).ok();
    shell.chmod("", 0o777);
    shell.chmod("m", 0o666);
    let nobody = Some(65_533);
    if std::os::unix::fs::chown(shell.path().join("m"), nobody, None).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    let said = refused(&shell, &["-p", "-1", "--table", "m"]);
    assert!(said.contains("belongs to user 65533"), "{said}");
    assert!(said.contains("--any-owner"), "{said}");
    let (_seat, address) = memcached_seat(&shell, &["--any-owner"]);
    ask(
        &mut *connect(&address),
        "set a 0 0 1\r\n1\r\n",
        "STORED\r\n",
    );
}

#[test]
fn help_names_every_flag() {
    let shell = Shell::new();
    let output = command(&shell, &["-h"]).output().expect("it runs");
    let help = String::from_utf8(output.stdout).expect("text");
    for flag in "psalmtcIUudPvBMCobRkFVhSYArDfnLZXWi".chars() {
        assert!(help.contains(&format!("  -{flag}")), "-{flag}: {help}");
    }
    for flag in ["--table", "--any-owner", "--insecure"] {
        assert!(help.contains(flag), "{flag}: {help}");
    }
    assert!(help.contains("Accepted without effect:"), "{help}");
    let output = command(&shell, &["-V"]).output().expect("it runs");
    assert!(output.stdout.starts_with(b"memcached 1.6."));
}
