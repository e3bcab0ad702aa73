//! Programs in C and C++, as users write them: compiled against an installed library, and run with
//! two servers.

mod support;

use std::path::{Path, PathBuf};
use support::servers::Fleet;
use support::{COMPILERS, Compile, Installed, Language, directory, here, read};

/// Compiles all programs of a folder by every compiler and runs them, and those by gcc also with
/// memcached. Mistakes of memory are looked for by the sanitizers: this build leaves rustix as it
/// is, and compares the padding of its results, which valgrind reports. The optimised library is
/// clean under valgrind.
fn compile_and_run(language: Language, folder: &str) {
    let installed = Installed::get();
    for compiler in COMPILERS {
        for source in sources(folder, language) {
            let program = installed.compile(Compile {
                language,
                compiler,
                source: &source,
                flags: &[],
            });
            program.run(&Fleet::start());
            if compiler == "gcc"
                && let Some(memcached) = Fleet::of_memcached()
            {
                program.run(&memcached);
            }
        }
    }
}

fn sources(folder: &str, language: Language) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(here(folder)).unwrap();
    let mut all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.extension() == Some(Path::new(language.ending()).as_os_str()));
    all.sort();
    assert!(!all.is_empty(), "no programs in {folder}");
    all
}

#[test]
fn c_programs_run() {
    compile_and_run(Language::C, "tests/c");
}

#[test]
fn cpp_programs_run() {
    compile_and_run(Language::Cpp, "tests/cpp");
}

#[test]
fn programs_run_with_sanitizers() {
    let flags = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-g1",
        "-O0",
    ];
    let installed = Installed::get();
    for (language, folder) in [(Language::C, "tests/c"), (Language::Cpp, "tests/cpp")] {
        for source in sources(folder, language) {
            let program = installed.compile(Compile {
                language,
                compiler: "gcc",
                source: &source,
                flags: &flags,
            });
            program.run(&Fleet::start());
        }
    }
}

#[test]
fn the_static_library_links() {
    let installed = Installed::get();
    for (language, source) in [
        (Language::C, here("tests/c/calls.c")),
        (Language::Cpp, here("tests/cpp/client.cpp")),
    ] {
        for compiler in COMPILERS {
            let program = installed.compile_statically(Compile {
                language,
                compiler,
                source: &source,
                flags: &[],
            });
            program.run(&Fleet::start());
        }
    }
}

#[test]
fn cmake_finds_the_package() {
    Installed::get().build_with_cmake(&here("tests/cmake"), &Fleet::start());
}

#[test]
fn nothing_is_left_when_it_is_uninstalled() {
    let place = directory();
    Installed::get();
    let installed = Installed::install(place.path());
    assert!(files(installed.path()).len() > 30);
    installed.uninstall();
    assert_eq!(files(installed.path()), Vec::<PathBuf>::new());
}

fn files(under: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(under).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}

#[test]
fn the_library_has_the_name_of_its_abi() {
    let installed = Installed::get();
    assert_eq!(installed.soname(), "libtavola_client.so.0");
    let link = installed.libraries().join("libtavola_client.so");
    let leads = std::fs::read_link(link).unwrap();
    assert_eq!(leads, Path::new("libtavola_client.so.0"));
}

/// What a program can call is what the header says, and nothing else; and each function has a page
/// of the manual with an example.
#[test]
fn the_library_shows_what_the_header_says() {
    let header = read(&here("include/tavola_client.h"));
    let installed = Installed::get();
    let mut shown = installed.shown_names();
    // Those for programs of other clients have headers of their own, and a test in `compat.rs`.
    shown.retain(|name| !name.starts_with("tavola_compat_"));
    assert!(shown.len() > 40, "{shown:?}");
    let macros = [
        "TAVOLA_MC_INIT",
        "TAVOLA_MC_STR",
        "TAVOLA_MC_VALUE",
        "tavola_client",
    ];
    for name in shown.iter().map(String::as_str).chain(macros) {
        let is_page = name == "tavola_client";
        assert!(is_page || header.contains(&format!("{name}(")), "{name}");
        let page = installed.path().join(format!("share/man/man3/{name}.3"));
        assert!(
            read(&page).contains("\n.SH EXAMPLES\n"),
            "{name} has no example"
        );
    }
}

/// The blocks of a text in a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    let block = |rest: &'a str| rest.split("\n```").next().unwrap();
    text.split(&fence).skip(1).map(block).collect()
}

/// A header without the signs of comments.
fn plain(header: &str) -> String {
    let plain = |line: &str| {
        let line = line
            .strip_prefix("//")
            .or(line.strip_prefix(" *"))
            .unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    let lines: Vec<String> = header.lines().map(plain).collect();
    lines.join("\n")
}

/// A program that runs an example with a client. Functions that begin a line with `static` are
/// outside of `main`.
fn program_of_example(code: &str) -> String {
    let (mut outside, mut inside, mut is_outside) = (String::new(), String::new(), false);
    for line in code.lines() {
        is_outside |= line.starts_with("static ");
        let to = if is_outside {
            &mut outside
        } else {
            &mut inside
        };
        to.push_str(line);
        to.push('\n');
        is_outside &= line != "}";
    }
    let heads = ["stdio.h", "stdlib.h", "string.h", "tavola_client.h"];
    let heads = heads.map(|head| format!("#include <{head}>\n")).concat();
    format!(
        "{heads}\n{outside}\nstatic void example(tavola_mc_client *client) {{\n(void)client;\n{{\n\
         {inside}}}\n}}\n\nint main(void) {{\ntavola_mc_client *client = NULL;\n\
         if (tavola_mc_open(getenv(\"TAVOLA_MC_SERVERS\"), NULL, &client) != 0) return 1;\n\
         example(client);\ntavola_mc_close(client);\n\
         fputs(tavola_mc_last_error(), stderr);\nreturn 0;\n}}\n"
    )
}

#[test]
fn examples_of_the_header_run_in_c_and_cpp() {
    let installed = Installed::get();
    let text = plain(&read(&here("include/tavola_client.h")));
    let examples = blocks(&text, "c");
    assert!(examples.len() > 13, "{} examples", examples.len());
    for (number, code) in examples.into_iter().enumerate() {
        for language in [Language::C, Language::Cpp] {
            let directory = directory();
            let source = directory.path().join(format!("a.{}", language.ending()));
            std::fs::write(&source, program_of_example(code)).unwrap();
            for compiler in COMPILERS {
                let program = installed.compile(Compile {
                    language,
                    compiler,
                    source: &source,
                    flags: &[],
                });
                let ran = program.run(&Fleet::start());
                let error = String::from_utf8_lossy(&ran.stderr);
                assert_eq!(error, "", "example {number}: {code}");
            }
        }
    }
}

#[test]
fn the_example_of_the_header_for_cpp_runs() {
    let text = plain(&read(&here("include/tavola_client.hpp")));
    let [code] = blocks(&text, "cpp")[..] else {
        panic!("not one example");
    };
    let fleet = Fleet::start();
    let code = code.replace("10.0.0.1:11211,10.0.0.2:11211?weight=2", &fleet.list());
    let program = format!(
        "#include <iostream>\n#include <tavola_client.hpp>\nint main() {{\n{code}\nreturn 0;\n}}\n"
    );
    let directory = directory();
    let source = directory.path().join("a.cpp");
    std::fs::write(&source, program).unwrap();
    for compiler in COMPILERS {
        let program = Installed::get().compile(Compile {
            language: Language::Cpp20,
            compiler,
            source: &source,
            flags: &[],
        });
        let ran = program.run(&Fleet::start());
        let out = String::from_utf8_lossy(&ran.stdout);
        assert!(out.starts_with("alice\n"), "{out}");
        assert!(out.ends_with("TAVOLA_MC_HIT\nTAVOLA_MC_MISS\n"), "{out}");
    }
}
