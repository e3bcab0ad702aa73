//! Prints the byte tables of the format; `docs/format.md` holds them.

fn main() {
    print!("{}", tavola::format_tables());
}
