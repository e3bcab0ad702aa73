//! A table that is a cache: it evicts, and has no transactions.

use tavola::Table;

use crate::script::Seat;

#[test]
fn what_needs_a_transaction_is_unknown() {
    let mut seat = Seat::over(Table::options().capacity(8 << 20).max_size(16 << 20));
    seat.run(
        r#"
        mset a 1 b 2 -> -ERR unknown command 'mset', with args beginning with: 'a' '1' 'b' '2' 
        msetnx a 1 -> -ERR unknown command 'msetnx', with args beginning with: 'a' '1' 
        command info mset -> *1 *-1
        set a 1 -> +OK
        set b 2 -> +OK
        mget a none b -> *3 $1 1 $-1 $1 2
        exists a b none -> :2
        del a b none -> :2
        config get maxmemory -> *2 $9 maxmemory $7 8388608
        config get maxmemory-policy -> *2 $16 maxmemory-policy $11 allkeys-lru
        "#,
    );
    for number in 0..20_000 {
        let set = format!("set key{number} {}\r\n", "x".repeat(1000));
        assert_eq!(seat.send(set.as_bytes()), "+OK\\r\\n");
    }
    let info = seat.send(b"info stats\r\n");
    assert!(!info.contains("evicted_keys:0\\r\\n"), "{info}");
}
