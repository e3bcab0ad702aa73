//! What pages show: their code compiles and runs, and so do their commands.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::{COMPILERS, Installed, Language, directory, here, succeed, tables_in};

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
                let ran = installed.run_command((language, compiler), directory.path(), &command);
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
        Command::new(env!("CARGO"))
            .args(["test", "--doc", "--package", "tavola", "--target-dir"])
            .arg(target)
            .args(["--", "README", "docs/guide"])
            .env("RUSTDOCFLAGS", "--cfg tavola_readme")
            .env("TAVOLA_DIR", tables_in(directory.path()))
            .current_dir(here("../..")),
    );
    let out = String::from_utf8_lossy(&ran.stdout);
    let pages = pages().into_iter().map(|page| read(&page));
    let count: usize = pages.map(|page| blocks(&page, "rust").len()).sum();
    assert!(count > 0 && !out.contains("- compile"), "{out}");
    let all_passed = format!("test result: ok. {count} passed; 0 failed; 0 ignored");
    assert!(out.contains(&all_passed), "{all_passed}: {out}");
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
            let ran = installed.run_command((Language::C, compiler), directory.path(), command);
            assert!(!ran.stdout.is_empty(), "{command} prints nothing");
            let left = std::fs::read_dir(tables_in(directory.path())).unwrap();
            assert_eq!(left.count(), 0, "{command} left tables behind");
        }
    }
    assert!(programs > 0);
}
