//! Prints the byte tables of the format; `docs/internals/format.md` holds them.

fn main() {
    print!("{}", tavola::format_tables());
}
