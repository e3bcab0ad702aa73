//! Programs that were written for libmemcached and for the C client of Cache::Memcached::Fast:
//! compiled against an installed library, and run with two servers.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::servers::Fleet;
use support::{COMPILERS, Compile, Installed, Language, Program, directory, here, read, succeed};

/// The programs, and the package of each.
const PROGRAMS: [(&str, &str); 5] = [
    ("loop_libmemcached.c", "tavola_libmemcached"),
    ("loop_fast.c", "tavola_memcached_client"),
    ("libmemcached.c", "tavola_libmemcached"),
    ("behaviours.c", "tavola_libmemcached"),
    ("fast.c", "tavola_memcached_client"),
];

fn compile(
    name: &str,
    package: &str,
    language: Language,
    compiler: &str,
    more: &[&str],
) -> Program {
    let installed = Installed::get();
    let flags = installed.flags_of(package, &["--cflags"]);
    let flags: Vec<&str> = { flags.iter().map(String::as_str) }
        .chain(more.iter().copied())
        .collect();
    installed.compile(Compile {
        language,
        compiler,
        source: &here("tests/compat").join(name),
        flags: &flags,
    })
}

/// As C99 and as C++, by both compilers; one of them also with memcached.
#[test]
fn programs_of_other_clients_run() {
    for (name, package) in PROGRAMS {
        for compiler in COMPILERS {
            for (language, more) in [(Language::C, "-std=c99"), (Language::Cpp, "-xc++")] {
                let more = match compiler {
                    "clang" => vec![more, "-Wno-unused-command-line-argument"],
                    _ => vec![more],
                };
                let program = compile(name, package, language, compiler, &more);
                program.run(&Fleet::start());
                if let (Language::C, "gcc", Some(fleet)) =
                    (language, compiler, Fleet::of_memcached())
                {
                    program.run(&fleet);
                }
            }
        }
    }
}

#[test]
#[ignore = "`make test-long` runs it"]
fn programs_of_other_clients_run_with_sanitizers() {
    let flags = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-g1",
        "-O0",
    ];
    for (name, package) in PROGRAMS {
        let program = compile(name, package, Language::C, "gcc", &flags);
        program.run(&Fleet::start());
    }
}

/// What a program prints that is compiled with the true libmemcached; `None` if it is missing.
fn printed_there(name: &str) -> Option<String> {
    if !Path::new("/usr/include/libmemcached/memcached.h").exists() {
        eprintln!("{name} is not compared: libmemcached-dev is missing");
        return None;
    }
    let directory = directory();
    let program = directory.path().join("program");
    succeed(
        Command::new("gcc")
            .arg("-w")
            .arg(here("tests/compat").join(name))
            .arg("-o")
            .arg(&program)
            .arg("-lmemcached"),
    );
    let out = succeed(&mut Command::new(&program));
    Some(String::from_utf8(out.stdout).unwrap())
}

/// Constants have the same numbers, and keys the same servers, as with the true libmemcached.
#[test]
fn constants_and_placement_are_those_of_libmemcached() {
    for name in ["constants.c", "placement.c"] {
        let Some(there) = printed_there(name) else {
            return;
        };
        let program = compile(name, "tavola_libmemcached", Language::C, "gcc", &[]);
        let here = program.run(&Fleet::start());
        let here = String::from_utf8(here.stdout).unwrap();
        assert!(there.lines().count() > 30, "{there}");
        for (there, here) in there.lines().zip(here.lines()) {
            assert_eq!(there, here, "{name}");
        }
        assert_eq!(there.len(), here.len(), "{name}");
    }
}

/// The names that headers map to functions of the library.
fn declared() -> BTreeSet<String> {
    let headers = [
        "client.h",
        "libmemcached/memcached.h",
        "libmemcached/util.h",
    ];
    let mut names = BTreeSet::from(["tavola_compat_memcached_get_int".to_string()]);
    for header in headers {
        let text = read(&here("include/compat").join(header));
        for rest in text.split("TAVOLA_COMPAT(").skip(1) {
            let name = rest.split(')').next().unwrap();
            names.insert(format!("tavola_compat_{name}"));
        }
    }
    // The macro itself.
    names.remove("tavola_compat_name");
    names
}

#[test]
fn each_function_has_a_declaration_and_each_declaration_a_function() {
    let shown = Installed::get().shown_names().into_iter();
    let shown: BTreeSet<String> = shown
        .filter(|name| name.starts_with("tavola_compat_"))
        .collect();
    assert!(shown.len() > 130, "{} functions", shown.len());
    assert_eq!(shown, declared());
}
