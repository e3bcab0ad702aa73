//! Prints the byte tables of the frozen format; `docs/internals/frozen.md` holds them.

fn main() {
    print!("{}", tavola_cdb::format_tables());
}
