//! What memcached's flags come to.

use super::super::sockets;
use super::*;

fn read(args: &[&str]) -> Result<Flags, String> {
    let args = [&[NAME], args].concat().into_iter();
    super::read(args.map(OsString::from)).map_err(|error| error.to_string())
}

/// As somebody in particular, for root must say so.
fn plan(args: &[&str]) -> Result<Plan, String> {
    let flags = read(&[args, &["-u", "root"]].concat())?;
    flags.plan().map_err(|error| error.to_string())
}

#[test]
fn the_description_of_the_flags_is_sound() {
    command().debug_assert();
}

#[test]
fn it_is_asked_for_by_the_name_of_the_program_or_by_a_command() {
    let asked = |words: &[&str]| asked_by(words.iter().map(OsString::from).collect());
    let rest = |words: &[&str]| Some(words.iter().map(OsString::from).collect::<Vec<_>>());
    for (words, found) in [
        (
            &["/x/tavola-memcached", "-m", "5"][..],
            &["/x/tavola-memcached", "-m", "5"][..],
        ),
        (
            &["tavola", "memcached", "-m", "5"],
            &["tavola memcached", "-m", "5"],
        ),
        (&["/opt/other", "memcached"], &["tavola memcached"]),
        (
            &["tavola-memcached", "memcached"],
            &["tavola-memcached", "memcached"],
        ),
    ] {
        assert_eq!(asked(words), rest(found), "{words:?}");
    }
    for words in [
        &["tavola"][..],
        &["tavola", "serve", "memcached"],
        &["memcached"],
        &[],
    ] {
        assert_eq!(asked(words), None, "{words:?}");
    }
}

#[test]
fn without_flags_it_is_as_memcached_but_on_loopback() {
    let plan = plan(&[]).unwrap();
    assert_eq!(plan.table.name, "memcached-11211");
    assert_eq!(plan.table.capacity, Some(64 << 20));
    assert_eq!(plan.places, []);
    assert_eq!(plan.default_place, Place::loopback(11211));
    assert_eq!((plan.threads, plan.max_connections), (4, 1024));
    assert_eq!(plan.value_bytes, 1 << 20);
    assert!(plan.flush && plan.refuses && !plan.shutdown && !plan.daemon);
    assert_eq!((plan.protocol, plan.users), (None, None));
}

#[test]
fn flags_are_written_as_for_memcached() {
    let plan = plan(&[
        "-p11311",
        "-m",
        "100",
        "-M",
        "-c",
        "10",
        "-t2",
        "-I",
        "2m",
        "-vv",
        "-F",
        "-A",
        "-d",
        "-r",
        "-P",
        "/x.pid",
        "-b",
        "5",
        "-a",
        "770",
        "-U",
        "0",
        "-C",
        "-R",
        "20",
        "-k",
        "-L",
        "-f",
        "1.1",
        "-n",
        "48",
        "-D",
        ":",
        "-o",
        "modern",
        "-o",
        "idle_timeout=5",
        "-B",
        "ascii",
    ]);
    let plan = plan.unwrap();
    assert_eq!(plan.requests, Some(20));
    assert_eq!(plan.table.name, "memcached-11311");
    let sizes = (plan.table.capacity, plan.table.max_size);
    assert_eq!(sizes, (None, Some(100 << 20)));
    assert_eq!(plan.places, [Place::loopback(11311)]);
    assert_eq!(
        (plan.threads, plan.max_connections, plan.backlog),
        (2, 10, 5)
    );
    assert_eq!((plan.value_bytes, plan.socket_mode), (2 << 20, 0o770));
    assert!(!plan.flush && plan.shutdown && plan.daemon && plan.core_files);
    assert!(plan.voice.is_verbose);
    assert_eq!(plan.pid_file, Some("/x.pid".into()));
    assert_eq!(plan.idle_timeout, Some(Duration::from_secs(5)));
    assert_eq!(plan.protocol, Some(Protocol::Text));
}

#[test]
fn addresses_have_the_port_unless_they_name_one() {
    let plan = plan(&["-p", "7", "-l", "127.0.0.1;127.0.0.2:8", "-l", "::1,"]).unwrap();
    let tcp = |text: &str| Place::Tcp(text.parse().unwrap());
    let expected = [tcp("127.0.0.1:7"), tcp("127.0.0.2:8"), tcp("[::1]:7")];
    assert_eq!(plan.places, expected);
    assert_eq!(plan.table.name, "memcached-7");
    let plan = super::tests::plan(&["-s", "/run/x.sock", "-p", "7"]).unwrap();
    assert_eq!(plan.places, [Place::Unix("/run/x.sock".into())]);
    assert_eq!(plan.table.name, "memcached-x.sock");
    let plan = super::tests::plan(&["-p", "-1", "--table", "t"]).unwrap();
    assert_eq!(plan.places, [Place::loopback(0)]);
    assert_eq!(plan.table.name, "t");
}

#[test]
fn arguments_are_read_as_memcached_reads_them() {
    for args in [
        &["-m 128"][..],
        &["-vm 128"],
        &["-m", " 128"],
        &["--memory-limit= 128", "--verbose=3"],
        &["--memory-l", "128", "stray", "--verb"],
    ] {
        let plan = plan(args).unwrap();
        assert_eq!(plan.table.capacity, Some(128 << 20), "{args:?}");
    }
    let plan = plan(&["-l 127.0.0.1", "-l", "127.0.0.1,127.0.0.2", "-p 7"]).unwrap();
    let tcp = |text: &str| Place::Tcp(text.parse().unwrap());
    assert_eq!(plan.places, [tcp("127.0.0.1:7"), tcp("127.0.0.2:7")]);
}

#[test]
fn a_port_for_udp_is_one_for_tcp() {
    let name = |args: &[&str]| plan(args).unwrap().table.name;
    assert_eq!(name(&["-U", "7"]), "memcached-7");
    assert_eq!(name(&["-U", "7", "-p", "8"]), "memcached-8");
    assert_eq!(name(&["-U", "0"]), "memcached-11211");
    assert_eq!(name(&["-U", "-1"]), "memcached-any");
}

#[test]
fn help_names_no_feature_that_there_is_not() {
    // memcached's own tests look for these.
    let help = command().render_long_help().to_string();
    for absent in ["ext_path", "proxy_config"] {
        assert!(!help.contains(absent), "{absent}");
    }
}

#[test]
fn of_flags_that_are_given_twice_the_last_one_counts() {
    let plan = plan(&["-m", "64", "-v", "-F", "-c", "5", "-m", "128", "-F", "-v"]).unwrap();
    assert_eq!(plan.table.capacity, Some(128 << 20));
    assert!(!plan.flush && plan.voice.is_verbose);
}

#[test]
fn what_clients_may_see_is_as_the_flags_say() {
    let plan = plan(&["-X", "-W", "-D", "_"]).unwrap();
    assert_eq!(
        (plan.dumps, plan.watch, plan.prefixes),
        (false, false, Some(b'_'))
    );
    let plan = super::tests::plan(&[]).unwrap();
    assert_eq!((plan.dumps, plan.watch, plan.prefixes), (true, true, None));
    let plan = super::tests::plan(&["-D", "::"]).unwrap();
    assert_eq!(plan.prefixes, Some(b':'));
    assert!(super::tests::plan(&["-D", ""]).is_err());
}

#[test]
fn passwords_choose_the_protocol() {
    let both = |args: &[&str]| plan(args).map(|plan| (plan.users, plan.protocol));
    let file = || Some(PathBuf::from("f"));
    assert_eq!(both(&["-Y", "f"]), Ok((file(), Some(Protocol::Text))));
    assert_eq!(both(&["-Y", "f", "-S"]), Ok((file(), None)));
    let binary = both(&["-Y", "f", "-S", "-B", "binary"]);
    assert_eq!(binary, Ok((file(), Some(Protocol::Binary))));
    assert!(both(&["-Y", "f", "-B", "binary"]).is_err());
    assert!(both(&["-S"]).is_err());
}

#[test]
fn what_memcached_refuses_is_refused() {
    for wrong in [
        &["-B", "foo"][..],
        &["-m", "0"],
        &["-m", "1g"],
        &["-t", "0"],
        &["-c", "0"],
        &["-I", "100"],
        &["-I", "2048m"],
        &["-m", "64", "-I", "256m"],
        &["-m", "3", "-I", "2m"],
        &["-M", "-m", "3", "-I", "2m"],
        &["-p", "70000"],
        &["-p", "abc"],
        &["-p", "0"],
        &["-R", "0"],
        &["-f", "0.5"],
        &["-n", "0"],
        &["-o", "bogus"],
        &["-l", "1.2.3.4.5"],
        &["-Z"],
    ] {
        assert!(plan(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn remote_clients_use_tls_and_authenticate() {
    let refused = |args: &[&str]| {
        let plan = plan(&[args, &["-p", "7"]].concat()).unwrap();
        let refused = sockets::all(&plan, Vec::new()).err();
        refused.map(|error| error.to_string())
    };
    let chain = ["-Z", "-o", "ssl_chain_cert=c,ssl_ca_cert=a"];
    let with = |more: &[&'static str]| [&["-l", "192.0.2.1"], &chain[..], more].concat();
    for (args, lacks, has) in [
        (vec!["-l", "192.0.2.1"], "-Z -o ssl_chain_cert=FILE", "none"),
        (vec!["-l", "192.0.2.1"], "-Y FILE", "none"),
        (vec!["-l", "::,127.0.0.1", "-Y", "f"], "-Z", "-Y"),
        (with(&[]), "-Y FILE", "-Z"),
        (
            with(&["-o", "ssl_verify_mode=1"]),
            "ssl_verify_mode=2",
            "-Z",
        ),
        (with(&["-Y", "f", "-l", "notls:192.0.2.2"]), "notls:", "-Y"),
    ] {
        let said = refused(&args).expect("refused");
        assert!(
            said.contains(lacks) && !said.contains(has),
            "{args:?}: {said}"
        );
        let bare = [&args[..], &["--insecure"]].concat();
        assert_eq!(refused(&bare), None);
    }
    for enough in [with(&["-Y", "f"]), with(&["-o", "ssl_verify_mode=2"])] {
        assert_eq!(refused(&enough), None, "{enough:?}");
    }
    for here in [&["-l", "127.0.0.1,::1,localhost"][..], &["-s", "/x"]] {
        assert_eq!(refused(here), None, "{here:?}");
    }
}

#[test]
fn addresses_may_be_without_tls() {
    let plan = plan(&[
        "-l",
        "127.0.0.1,notls:127.0.0.2:8",
        "-Z",
        "-o",
        "ssl_chain_cert=c",
    ]);
    let plan = plan.unwrap();
    let plain = Place::Plain("127.0.0.2:8".parse().unwrap());
    assert_eq!(plan.places[1], plain);
    let sockets = sockets::all(&plan, Vec::new()).unwrap();
    let by_tls: Vec<_> = sockets.iter().map(|socket| socket.is_tls).collect();
    assert_eq!(by_tls, [true, false]);
}

#[test]
fn root_has_to_name_a_user() {
    let flags = read(&[]).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(flags.plan().is_err(), is_root);
}
