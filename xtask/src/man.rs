//! Man pages of the C interfaces, section 3: one page for each function and for each macro with
//! arguments, made from its comment in the headers, and one for the comment at the top of
//! `tavola.h` and of `tavola_client.h`.
//!
//! Each page has an example: its own, or the first one in the headers of its library that calls the
//! function.

use crate::failure::Failure;
use crate::header;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The header that is not made from the crate.
const FORMATTED: &str = "crates/tavola-capi/include/tavola_log_printf.h";

/// A library with pages.
#[derive(Clone, Copy)]
struct Library {
    /// The name of its page and of its package.
    name: &'static str,
    header: &'static str,
}

const TABLES: Library = Library {
    name: "tavola",
    header: "tavola.h",
};

const CLIENT: Library = Library {
    name: "tavola_client",
    header: "tavola_client.h",
};

/// The title of the section of a comment that has an example.
const SECTION: &str = "# Examples";

/// Writes the pages into a directory, which is made when it is not there.
pub(crate) fn write(root: &Path, directory: &Path) -> Result<String, Failure> {
    let headers = header::read(root)?;
    let formatted = root.join(FORMATTED);
    let more = std::fs::read_to_string(&formatted).map_err(|source| Failure::File {
        path: formatted,
        source,
    })?;
    let texts = headers.iter().map(|header| header.text.as_str());
    let mut pages = pages(TABLES, texts.chain([more.as_str()]));
    let client = header::read_client(root)?;
    pages.extend(self::pages(CLIENT, [client.text.as_str()].into_iter()));
    if let Some(page) = pages.iter().find(|page| page.example.is_none()) {
        let why = format!("no example calls {}", page.name);
        return Err(Failure::Header(why));
    }
    let failed = |source| Failure::File {
        path: directory.to_path_buf(),
        source,
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    let removed = remove_others(directory, &pages).map_err(failed)?;
    for page in &pages {
        let file = directory.join(format!("{}.3", page.name));
        std::fs::write(file, page.roff()).map_err(failed)?;
    }
    let outcome = match removed {
        0 => String::new(),
        count => format!(", {count} of functions that are no more removed"),
    };
    Ok(format!("man: {} pages written{outcome}", pages.len()))
}

/// Removes the pages that were made of functions that are not there any more, and says how many.
fn remove_others(directory: &Path, pages: &[Page]) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.and_then(|name| name.strip_suffix(".3")) else {
            continue;
        };
        if pages.iter().any(|page| page.name == name) || !is_own(name, &std::fs::read(&path)?) {
            continue;
        }
        std::fs::remove_file(&path)?;
        removed += 1;
    }
    Ok(removed)
}

/// Whether this program, of whatever version, made a page.
fn is_own(name: &str, page: &[u8]) -> bool {
    let title = page.split(|byte| *byte == b'\n').next().unwrap_or(page);
    let begins = format!(".TH {} 3 \"\" \"tavola ", name.to_uppercase());
    title.starts_with(begins.as_bytes()) && title.ends_with(b"\" \"Tavola\"")
}

/// One page: its text is Markdown of the simple kind that doc comments have.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    /// The page of its library.
    library: &'static str,
    name: String,
    synopsis: String,
    text: String,
    /// Code of C.
    example: Option<String>,
}

/// The pages of headers, the first of which begins with what holds for all functions.
fn pages<'a>(library: Library, mut headers: impl Iterator<Item = &'a str>) -> Vec<Page> {
    let (top, rest) = headers
        .next()
        .and_then(|header| header.split_once("*/"))
        .unwrap_or_default();
    let plain = |line: &str| {
        let line = line.trim_start_matches("/*");
        let line = line.strip_prefix(" *").unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    let text: Vec<String> = top.lines().map(plain).collect();
    let Library { name, header } = library;
    let synopsis = format!("#include <{header}>\n\ncc $(pkg-config --cflags --libs {name})");
    let first = Page::new(library, name, &synopsis, text.join("\n").trim());
    let blocks = std::iter::once(rest).chain(headers);
    let described = |block| described(library, block);
    let mut pages: Vec<Page> = std::iter::once(first)
        .chain(blocks.flat_map(|header| header.split("\n\n").flat_map(described)))
        .collect();
    lend_examples(&mut pages);
    pages
}

/// Gives each page without an example the first one that calls its function.
fn lend_examples(pages: &mut [Page]) {
    let own: Vec<String> = pages
        .iter()
        .filter_map(|page| page.example.clone())
        .collect();
    for page in pages.iter_mut().filter(|page| page.example.is_none()) {
        let call = format!("{}(", page.name);
        let calls = |example: &&String| {
            let mut places = example.match_indices(&call);
            places
                .any(|(at, _)| !example[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        page.example = own.iter().find(calls).cloned();
    }
}

/// The macros or the function that a comment describes; none for other parts of the header.
fn described(library: Library, block: &str) -> Vec<Page> {
    let is_comment = |line: &&str| line.starts_with("//");
    let comment: Vec<&str> = block.lines().take_while(is_comment).collect();
    let declared: Vec<&str> = block.lines().skip(comment.len()).collect();
    if comment.is_empty() {
        return Vec::new();
    }
    let plain = |line: &&'_ str| -> String {
        let line = line.trim_start_matches("//");
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    let text: Vec<String> = comment.iter().map(plain).collect();
    let mut calls: Vec<(&str, &str)> = declared.iter().filter_map(|line| macro_of(line)).collect();
    calls.dedup();
    let declared = declared.join("\n");
    if calls.is_empty() {
        calls.extend(function(&declared));
    }
    let page = |(name, call): (&str, &str)| {
        let synopsis = format!("#include <{}>\n\n{call}", library.header);
        Page::new(library, name, &synopsis, &text.join("\n"))
    };
    calls.into_iter().map(page).collect()
}

/// The name of a function and how it is declared.
fn function(declared: &str) -> Option<(&str, &str)> {
    let (before, _) = declared.split_once('(')?;
    let name = before.rsplit([' ', '*']).next()?;
    let is_function = name.starts_with("tavola_") && !declared.starts_with("typedef");
    is_function.then_some((name, declared))
}

/// The name of a macro that has arguments, and how it is called.
fn macro_of(line: &str) -> Option<(&str, &str)> {
    let defined = line.strip_prefix("#define ")?;
    let (name, _) = defined.split_once('(')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
    let call = &defined[..=defined.find(')')?];
    name.chars().all(is_name).then_some((name, call))
}

impl Page {
    /// A page whose text may have a section with an example.
    fn new(library: Library, name: &str, synopsis: &str, text: &str) -> Self {
        let (text, example) = match text.split_once(SECTION) {
            None => (text.to_owned(), None),
            Some((before, section)) => {
                let (section, after) = match section.split_once("\n# ") {
                    Some((section, after)) => (section, format!("# {after}")),
                    None => (section, String::new()),
                };
                let code = section.split("```c\n").nth(1);
                let code = code.and_then(|code| code.split("\n```").next());
                let before = before.trim_end();
                let text = format!("{before}\n\n{after}").trim().to_owned();
                (text, code.map(str::to_owned))
            }
        };
        Self {
            library: library.name,
            name: name.to_owned(),
            synopsis: synopsis.to_owned(),
            text,
            example,
        }
    }

    fn roff(&self) -> String {
        let first = sentence(&self.text);
        let mut out = format!(
            ".TH {} 3 \"\" \"tavola {}\" \"Tavola\"\n.SH NAME\n{} \\- {}\n\
             .SH SYNOPSIS\n.nf\n{}\n.fi\n",
            self.name.to_uppercase(),
            env!("CARGO_PKG_VERSION"),
            self.name,
            escaped(&first),
            escaped(&self.synopsis),
        );
        out.push_str(".SH DESCRIPTION\n");
        // A paragraph begins with its first line: a section that follows needs none.
        let mut is_new = false;
        for line in self.text.lines() {
            if let Some(title) = line.strip_prefix("# ") {
                let _ = writeln!(out, ".SH {}", title.to_uppercase());
                is_new = false;
            } else if line.is_empty() {
                is_new = true;
            } else {
                let begin = if std::mem::take(&mut is_new) {
                    ".PP\n"
                } else {
                    ""
                };
                let _ = writeln!(out, "{begin}{}", escaped(line));
            }
        }
        if let Some(example) = &self.example {
            let _ = writeln!(out, ".SH EXAMPLES\n.nf\n{}\n.fi", code(example));
        }
        if self.name != self.library {
            let _ = writeln!(out, ".SH SEE ALSO\n.BR {} (3)", self.library);
        }
        out
    }
}

/// The first sentence, without its full stop, on one line.
fn sentence(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let end = [". ", ".\n", ": "]
        .iter()
        .filter_map(|mark| paragraph.find(mark))
        .min()
        .unwrap_or(paragraph.len());
    paragraph[..end].trim_end_matches('.').replace('\n', " ")
}

/// Code for roff.
fn code(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        match line.starts_with(['.', '\'']) {
            true => format!("\\&{line}"),
            false => line,
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Text for roff: no line begins with a control character, words in backticks are bold.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) {
            out.push_str("\\&");
        }
        for (i, part) in line.split('`').enumerate() {
            match i % 2 {
                0 => out.push_str(part),
                _ => {
                    let _ = write!(out, "\\fB{part}\\fR");
                }
            }
        }
        out.push('\n');
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/*\n * Tavola for C: tables.\n *\n * # Errors\n * Numbers.\n */\n\n\
        #include <stddef.h>\n\n// A table.\ntypedef struct tavola_table tavola_table;\n\n\
        // Reads `key`. It may be missing.\n//\n// # Examples\n// ```c\n// if (ready)\n\
        //   tavola_get(table, -1);\n// ```\n//\n// # Errors\n// None.\n\
        tavola_status tavola_get(const tavola_table *table,\n                         int key);\n\n\
        // A name.\nconst char *tavola_name(void);\n";

    fn all() -> Vec<Page> {
        pages(TABLES, [HEADER].into_iter())
    }

    #[test]
    fn functions_have_pages_and_types_have_none() {
        let names: Vec<String> = all().into_iter().map(|page| page.name).collect();
        assert_eq!(names, ["tavola", "tavola_get", "tavola_name"]);
    }

    #[test]
    fn macros_with_arguments_have_pages() {
        let block = "// Makes one: it is new.\n#ifdef __cplusplus\nint tavola_made(int);\n\
            #define MADE(type, ...) tavola_made(1)\n#else\n#define MADE(type, ...) {0}\n#endif\n\
            #define OTHER(type) (type)\n#define NUMBER (1)";
        let pages = described(TABLES, block);
        let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names, ["MADE", "OTHER"]);
        let page = pages[0].roff();
        assert!(page.contains("MADE \\- Makes one\n"), "{page}");
        assert!(page.contains("\n\nMADE(type, ...)\n.fi"), "{page}");
        assert!(described(TABLES, "#define MADE(type) 1").is_empty());
    }

    #[test]
    fn a_page_without_a_function_goes_and_what_is_no_page_stays() {
        let directory = std::env::temp_dir().join(format!("tavola-man-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let pages = all();
        let gone = Page::new(TABLES, "tavola_gone", "", "Is no more.");
        let put = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
        put("tavola_gone.3", &gone.roff());
        put("tavola_get.3", &pages[1].roff());
        put(
            "tavola_theirs.3",
            ".TH TAVOLA_THEIRS 3 \"\" \"other 1.0\"\n",
        );
        put("tavola_gone.txt", &gone.roff());
        assert_eq!(remove_others(&directory, &pages).unwrap(), 1);
        let left = |name: &str| directory.join(name).exists();
        assert!(!left("tavola_gone.3") && left("tavola_get.3"));
        assert!(left("tavola_theirs.3") && left("tavola_gone.txt"));
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_page_has_its_sections() {
        let page = all()[1].roff();
        assert!(
            page.contains(".SH NAME\ntavola_get \\- Reads \\fBkey\\fR\n"),
            "{page}"
        );
        assert!(page.contains("*table,\n"), "{page}");
        let described = ".SH DESCRIPTION\nReads \\fBkey\\fR. It may be missing.\n.SH ERRORS\n";
        assert!(page.contains(described), "{page}");
        let example = ".SH EXAMPLES\n.nf\nif (ready)\n  tavola_get(table, \\-1);\n.fi\n.SH SEE";
        assert!(page.contains(example), "{page}");
        assert!(all()[0].roff().contains("\\- Tavola for C\n"));
    }

    #[test]
    fn a_page_without_an_example_has_the_first_that_calls_its_function() {
        let more = "// Puts.\nvoid tavola_put(void);\n\n// Gets it.\nvoid tavola_ge(void);\n\n\
            // Both.\n//\n// # Examples\n// ```c\n// tavola_put();\n// ```\n\
            void tavola_both(void);";
        let pages = pages(TABLES, [HEADER, more].into_iter());
        let has = |name: &str| {
            let page = pages.iter().find(|page| page.name == name).unwrap();
            page.example.as_deref()
        };
        assert_eq!(has("tavola_put"), Some("tavola_put();"));
        assert_eq!(has("tavola_both"), Some("tavola_put();"));
        assert_eq!(has("tavola_ge"), None);
    }
}
