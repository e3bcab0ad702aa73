//! Programs in C and C++, as users write them: compiled against an installed library, and run.

#[path = "cases/mod.rs"]
mod cases;
mod support;

use std::path::{Path, PathBuf};
use support::{COMPILERS, Installed, Language, here};

/// Compiles all programs of a folder by every compiler and runs them; those by gcc under valgrind
/// if `TAVOLA_VALGRIND` is set (`make valgrind`), which takes minutes.
fn compile_and_run(language: Language, folder: &str) {
    let installed = Installed::get();
    let is_checked = std::env::var_os("TAVOLA_VALGRIND").is_some();
    for compiler in COMPILERS {
        for source in sources(folder, language) {
            let program = installed.compile(language, compiler, &source, &[]);
            match is_checked && compiler == "gcc" {
                true => program.run_under_valgrind(),
                false => program.run(),
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
fn newer_cpp_has_spans_ranges_and_named_options() {
    let installed = Installed::get();
    for compiler in COMPILERS {
        for program in
            ["queue", "log", "table", "typed"].map(|name| format!("tests/cpp/{name}.cpp"))
        {
            installed
                .compile(Language::Cpp20, compiler, &here(&program), &[])
                .run();
        }
    }
}

#[test]
fn examples_run() {
    compile_and_run(Language::C, "../../examples/c");
}

#[test]
#[ignore = "`make test-long` runs it"]
fn programs_run_with_sanitizers() {
    let flags = [
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        "-g1",
        // Compiles in half the time.
        "-O0",
    ];
    let installed = Installed::get();
    for (language, folder) in [(Language::C, "tests/c"), (Language::Cpp, "tests/cpp")] {
        for source in sources(folder, language) {
            installed.compile(language, "gcc", &source, &flags).run();
        }
    }
}

#[test]
fn the_static_library_links() {
    let installed = Installed::get();
    for (language, source) in [
        (Language::C, here("tests/c/table.c")),
        (Language::Cpp, here("tests/cpp/table.cpp")),
    ] {
        for compiler in COMPILERS {
            for flags in [&[][..], &["-static"]] {
                installed
                    .compile_statically(language, compiler, &source, flags)
                    .run();
            }
        }
    }
}

/// Within the prefix, as where there are libraries for several processors, and outside.
#[test]
fn the_library_may_lie_elsewhere() {
    for libdir in ["elsewhere/lib/some-linux-gnu", "elsewhere-lib"] {
        let installed = Installed::elsewhere("elsewhere", libdir);
        assert!(!installed.path().join("lib/libtavola.so").exists());
        let source = here("tests/c/batch.c");
        installed.compile(Language::C, "gcc", &source, &[]).run();
        installed.build_with_cmake(&here("tests/cmake"));
        installed.uninstall();
        for left in [installed.path(), installed.libraries()] {
            assert_eq!(files(left), Vec::<PathBuf>::new());
        }
    }
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
fn cmake_finds_the_package() {
    Installed::get().build_with_cmake(&here("tests/cmake"));
}

/// Programs look for the name of the ABI, and the links lead them to the file, and compilers to
/// that name.
#[test]
fn the_library_has_the_name_of_its_abi() {
    let installed = Installed::get();
    assert_eq!(installed.soname(), "libtavola.so.0");
    let file = concat!("libtavola.so.", env!("CARGO_PKG_VERSION"));
    for (link, to) in [("libtavola.so", "libtavola.so.0"), ("libtavola.so.0", file)] {
        let leads = std::fs::read_link(installed.libraries().join(link)).unwrap();
        assert_eq!(leads, Path::new(to), "{link}");
    }
    let found = installed.libraries().join(file);
    assert!(found.symlink_metadata().unwrap().is_file());
}

/// The headers for C, one after the other.
fn headers() -> String {
    let names = [
        "table",
        "stats",
        "queue",
        "lock",
        "log",
        "log_printf",
        "cdb",
    ];
    let text = names.map(|name| {
        let path = here(&format!("include/tavola_{name}.h"));
        std::fs::read_to_string(path).unwrap()
    });
    text.concat()
}

/// What a program can call is what the header says, and nothing else.
#[test]
fn the_library_shows_what_the_header_says() {
    let header = headers();
    let shown = Installed::get().shown_names();
    assert!(shown.len() > 90, "{shown:?}");
    for name in shown {
        assert!(header.contains(&format!("{name}(")), "{name}");
    }
}

/// A page of the manual for each function, and for each macro with arguments.
#[test]
fn every_function_has_a_page() {
    let installed = Installed::get();
    let mut names = installed.shown_names();
    names.extend(headers().lines().filter_map(defined).map(str::to_owned));
    for name in [
        "tavola_log_printf",
        "TAVOLA_LOG",
        "TAVOLA_LOG_TRACE",
        "TAVOLA_INIT",
    ] {
        assert!(
            names.iter().any(|known| known == name),
            "no {name} in {names:?}"
        );
    }
    for name in names {
        let page = installed.path().join(format!("share/man/man3/{name}.3"));
        let text = std::fs::read_to_string(&page);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        assert!(text.contains("\n.SH EXAMPLES\n"), "{name} has no example");
    }
}

/// The macro with arguments, or the function, that a line of a header defines.
fn defined(line: &str) -> Option<&str> {
    let macros = line.strip_prefix("#define ");
    let (before, _) = macros
        .or(line.strip_prefix("static inline "))?
        .split_once('(')?;
    before
        .rsplit([' ', '*'])
        .next()
        .filter(|name| !name.is_empty())
}
