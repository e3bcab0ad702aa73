//! What pages show: their code compiles and runs, and so do their commands.

mod support;

use std::path::Path;
use std::process::Command;
use support::{COMPILERS, Installed, Language, directory, here, succeed, tables_in};
use tavola_core::Table;

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

/// A program whose main function is a block but for the headers it includes.
fn program(block: &str) -> String {
    let is_head = |line: &&str| line.starts_with('#');
    let (head, body): (Vec<&str>, Vec<&str>) = block.lines().partition(is_head);
    let (head, body) = (head.join("\n"), body.join("\n"));
    format!("{head}\n\nint main(void) {{\n{body}\nreturn 0;\n}}\n")
}

/// What the command of the README makes of its block for a language: all that the program printed,
/// and said.
fn run_block(language: Language, check: fn(tables: &Path, out: &str, err: &str)) {
    let (readme, installed) = (readme(), Installed::get());
    let block = only(blocks(&readme, language.ending()));
    let (_, after) = readme.split_once("`cc app.c ").expect("a command");
    let rest = after.split('`').next().unwrap();
    for compiler in COMPILERS {
        let directory = directory();
        let source = format!("app.{}", language.ending());
        std::fs::write(directory.path().join(&source), program(block)).unwrap();
        let standard = match language {
            Language::C => "",
            // Not what every compiler takes if it is not told.
            _ => language.standard(),
        };
        let command = format!("cc {standard} {source} {rest}\n./a.out");
        let ran = installed.run_command((language, compiler), directory.path(), &command);
        let [out, err] = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        check(&tables_in(directory.path()), &out, &err);
    }
}

#[test]
fn the_readme_runs_in_c() {
    run_block(Language::C, |tables, out, err| {
        assert_eq!((out, err), ("here\n", ""));
        let table = Table::open_read_only(tables.join("sessions")).unwrap();
        assert_eq!(table.get(b"token").unwrap().as_deref(), Some(&b"17"[..]));
    });
}

#[test]
fn the_readme_runs_in_cpp() {
    run_block(Language::Cpp, |_, out, err| {
        assert_eq!(out, "alice: here\n");
        // There is no drain.
        assert!(err.ends_with(" 3 left\n"), "{err}");
    });
}

/// Its blocks are examples of the core's docs, but are left out where no directory was made for
/// their tables.
#[test]
fn the_readme_runs_in_rust() {
    let (directory, readme) = (directory(), readme());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let ran = succeed(
        Command::new(env!("CARGO"))
            .args(["test", "--doc", "--package", "tavola", "--target-dir"])
            .arg(target)
            .args(["--", "README"])
            .env("RUSTDOCFLAGS", "--cfg tavola_readme")
            .env("TAVOLA_DIR", tables_in(directory.path()))
            .current_dir(here("../..")),
    );
    let (out, count) = (
        String::from_utf8_lossy(&ran.stdout),
        blocks(&readme, "rust").len(),
    );
    assert!(count > 0 && !out.contains("- compile"), "{out}");
    assert!(
        out.contains(&format!(
            "test result: ok. {count} passed; 0 failed; 0 ignored"
        )),
        "{out}"
    );
}

/// What the pages for who comes from elsewhere show of Tavola, with a table to do it on.
#[test]
fn pages_for_newcomers_run_in_c() {
    let installed = Installed::get();
    for name in ["lmdb", "memcached", "apcu", "sharedhashfile"] {
        let page = read(&here(&format!("../../docs/guide/coming-from-{name}.md")));
        let block = only(blocks(&page, "c"));
        let (_, ours) = block.split_once("// Tavola\n").expect("a part of ours");
        let open = "tavola_table *table = NULL;\ntavola_open(\"t\", NULL, &table);";
        let head = "#include <stdio.h>\n#include <tavola.h>";
        let directory = directory();
        let text = program(&format!("{head}\n{open}\n{ours}\ntavola_close(table);"));
        std::fs::write(directory.path().join("page.c"), text).unwrap();
        let flags = "$(pkg-config --cflags --libs tavola)";
        let command = format!("cc page.c {flags}\n./a.out");
        for compiler in COMPILERS {
            let ran = installed.run_command((Language::C, compiler), directory.path(), &command);
            assert_eq!(String::from_utf8_lossy(&ran.stdout), "here\n", "{name}");
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
            let ran = installed.run_command((Language::C, compiler), directory.path(), command);
            assert!(!ran.stdout.is_empty(), "{command} prints nothing");
            let left = std::fs::read_dir(tables_in(directory.path())).unwrap();
            assert_eq!(left.count(), 0, "{command} left tables behind");
        }
    }
    assert!(programs > 0);
}
