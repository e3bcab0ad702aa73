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
        let page = read(&here(&format!("../../docs/coming-from-{name}.md")));
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

/// A program that runs an example of a header on a table of its own. What stands before the last
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
    ["no table", "already"]
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
                let in_c = (Language::C, compiler);
                let ran = installed.run_command(in_c, directory.path(), command);
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
            let ran = installed.run_command((Language::Cpp20, compiler), directory.path(), command);
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
            let ran = installed.run_command((Language::C, compiler), directory.path(), command);
            assert!(!ran.stdout.is_empty(), "{command} prints nothing");
            let left = std::fs::read_dir(tables_in(directory.path())).unwrap();
            assert_eq!(left.count(), 0, "{command} left tables behind");
        }
    }
    assert!(programs > 0);
}
