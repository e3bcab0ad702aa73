//! What pages show: their code compiles and runs, and so do their commands.

mod support;

use std::path::{Path, PathBuf};
use support::{
    COMPILERS, Installed, Language, cargo, directory, here, succeed, tables_in, tested_packages,
};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn readme() -> String {
    read(&here("../../README.md"))
}

/// The blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("\n```{language}\n");
    let after = page.split(&fence).skip(1);
    let block = |rest: &'a str| rest.split("\n```").next().unwrap();
    after.map(block).collect()
}

fn only<T>(mut all: Vec<T>) -> T {
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The README and the pages of the guide, by their paths.
fn pages() -> Vec<PathBuf> {
    let guide = std::fs::read_dir(here("../../docs/guide")).unwrap();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.push(here("../../README.md"));
    pages.sort();
    pages
}

/// What a program prints, as its comments say.
fn printed(program: &str) -> String {
    let lines = program
        .lines()
        .filter_map(|line| line.split_once("// prints: "));
    lines.map(|(_, text)| format!("{text}\n")).collect()
}

/// The README's command that compiles a program of this language; `$file` in it is the program.
fn compile_command(language: Language) -> String {
    let readme = readme();
    let (begin, file) = match language {
        Language::C => ("`cc app.c ", "app.c"),
        _ => ("`g++ -std=c++17 app.cpp ", "app.cpp"),
    };
    let (_, after) = readme.split_once(begin).expect("a command");
    let rest = after.split('`').next().unwrap();
    let standard = if language == Language::C {
        ""
    } else {
        language.standard()
    };
    format!("cc {standard} {file} {rest}")
}

/// Compiles and runs all programs of the pages in a language, exactly as they are printed.
fn run_programs(language: Language) -> usize {
    let (installed, command) = (Installed::get(), compile_command(language));
    let mut count = 0;
    for page in pages() {
        for program in blocks(&read(&page), language.ending()) {
            let page = page.display();
            assert!(
                program.contains("int main("),
                "{page}: no program: {program}"
            );
            count += 1;
            for compiler in COMPILERS {
                let directory = directory();
                let source = format!("app.{}", language.ending());
                std::fs::write(directory.path().join(source), format!("{program}\n")).unwrap();
                let command = format!("{command}\n./a.out");
                let ran = installed.run_command(language, compiler, directory.path(), &command);
                let [out, err] = [ran.stdout, ran.stderr].map(|b| String::from_utf8(b).unwrap());
                let wanted = (printed(program), String::new());
                assert!(
                    !wanted.0.is_empty(),
                    "{page}: says not what it prints: {program}"
                );
                assert_eq!((out, err), wanted, "{page}: {program}");
            }
        }
    }
    count
}

#[test]
fn programs_in_c_print_what_the_pages_say() {
    assert!(run_programs(Language::C) > 10);
}

#[test]
fn programs_in_cpp_print_what_the_pages_say() {
    assert!(run_programs(Language::Cpp) > 1);
}

/// They are examples of the core's docs, but are left out where no directory was made for their
/// tables.
#[test]
fn programs_in_rust_run() {
    let directory = directory();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let ran = succeed(
        cargo()
            .args(["test", "--doc", "--package", "tavola", "--target-dir"])
            .arg(target)
            .args(tested_packages())
            .args(["--", "README", "docs/guide"])
            .env("RUSTDOCFLAGS", "--cfg tavola_readme")
            .env("TAVOLA_DIR", tables_in(directory.path())),
    );
    let out = String::from_utf8_lossy(&ran.stdout);
    // The programs of that page use another crate, whose examples they are.
    let pages = pages()
        .into_iter()
        .filter(|page| !page.ends_with("constant-files.md"));
    let pages = pages.map(|page| read(&page));
    let count: usize = pages.map(|page| blocks(&page, "rust").len()).sum();
    assert!(count > 0 && !out.contains("- compile"), "{out}");
    let all_passed = format!("test result: ok. {count} passed; 0 failed; 0 ignored");
    assert!(out.contains(&all_passed), "{all_passed}: {out}");
}

/// A program that runs an example of a header on a table of its own. What is before the last
/// function that begins a line with `static` is outside of `main`.
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
        let is_declared = line.starts_with("static ") && line.ends_with(';');
        is_outside &= line != "}" && !is_declared;
    }
    let heads = ["stdio.h", "stdlib.h", "string.h", "tavola.h"];
    let heads = heads.map(|head| format!("#include <{head}>\n")).concat();
    format!(
        "{heads}\n{outside}\nstatic void example(tavola_table *table) {{\n(void)table;\n{{\n\
         {inside}}}\n}}\n\nint main(void) {{\ntavola_table *table = NULL;\n\
         tavola_options options = TAVOLA_INIT(tavola_options);\noptions.max_size = 16 << 20;\n\
         if (tavola_open_private(&options, &table) != TAVOLA_OK) return 1;\nexample(table);\n\
         const char *error = tavola_last_error();\ntavola_close(table);\n\
         if (*error != 0) fputs(error, stderr);\nreturn 0;\n}}\n"
    )
}

/// Errors that examples show on purpose.
fn is_meant(error: &str) -> bool {
    ["no table", "already", "cannot open ./people.cdb"]
        .iter()
        .any(|part| error.contains(part))
}

#[test]
fn examples_of_the_headers_run() {
    let installed = Installed::get();
    let mut count = 0;
    for entry in std::fs::read_dir(here("include")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "h") {
            continue;
        }
        let plain = |line: &str| -> String {
            let line = line.trim_start_matches([' ', '*']).trim_start_matches("//");
            line.strip_prefix(' ').unwrap_or(line).to_owned()
        };
        let is_top = path.ends_with("tavola.h");
        let plain_top = |line: &str| line.strip_prefix(" * ").unwrap_or("").to_owned();
        let text = read(&path);
        let lines = text.lines().map(|line| match is_top {
            true => plain_top(line),
            false => plain(line),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        for (number, code) in blocks(&text, "c").into_iter().enumerate() {
            count += 1;
            let directory = directory();
            std::fs::write(directory.path().join("a.c"), program_of_example(code)).unwrap();
            for compiler in COMPILERS {
                let command = "cc a.c -std=c11 $(pkg-config --cflags --libs tavola)\n./a.out";
                let ran = installed.run_command(Language::C, compiler, directory.path(), command);
                let error = String::from_utf8_lossy(&ran.stderr);
                assert!(
                    error.is_empty() || is_meant(&error),
                    "{path:?} {number}: {error}"
                );
                let left = std::fs::read_dir(tables_in(directory.path())).unwrap();
                assert_eq!(left.count(), 0, "{path:?} {number} left tables behind");
            }
        }
    }
    assert!(count > 50, "{count} examples");
}

/// A program that runs an example of a header for C++20.
fn program_of_cpp_example(code: &str) -> String {
    let heads = "#include <iostream>\n#include <tavola.hpp>\nusing namespace std::literals;\n";
    format!("{heads}\nint main() {{\n{code}\nreturn 0;\n}}\n")
}

#[test]
fn examples_of_the_headers_for_cpp_run() {
    let installed = Installed::get();
    for name in ["tavola.hpp", "tavola_typed.hpp"] {
        let text = read(&here("include").join(name));
        let plain = |line: &str| {
            let line = line.trim_start_matches("//");
            line.strip_prefix(' ').unwrap_or(line).to_owned()
        };
        let text = text.lines().map(plain).collect::<Vec<_>>().join("\n");
        let code = program_of_cpp_example(only(blocks(&text, "cpp")));
        let directory = directory();
        std::fs::write(directory.path().join("a.cpp"), code).unwrap();
        for compiler in COMPILERS {
            let command = "cc a.cpp -std=c++20 $(pkg-config --cflags --libs tavola)\n./a.out";
            let ran = installed.run_command(Language::Cpp20, compiler, directory.path(), command);
            assert!(!ran.stdout.is_empty() && ran.stderr.is_empty(), "{name}");
        }
    }
}

#[test]
fn examples_are_made_and_run_as_their_pages_say() {
    let (folder, installed) = (here("../../examples/c"), Installed::get());
    let mut programs = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let source = entry.unwrap().path();
        if source.extension().is_none_or(|ending| ending != "c") {
            continue;
        }
        programs += 1;
        let page = read(&source.with_extension("md"));
        let made = |block: &&str| block.starts_with("cc ");
        let command = only(blocks(&page, "sh").into_iter().filter(made).collect());
        for compiler in COMPILERS {
            let directory = directory();
            let name = source.file_name().unwrap();
            std::fs::copy(&source, directory.path().join(name)).unwrap();
            let ran = installed.run_command(Language::C, compiler, directory.path(), command);
            assert!(!ran.stdout.is_empty(), "{command} prints nothing");
            let left = std::fs::read_dir(tables_in(directory.path())).unwrap();
            assert_eq!(left.count(), 0, "{command} left tables behind");
        }
    }
    assert!(programs > 0);
}
