//! Classic commands at the edges of what they take.

use super::script::{run, run_since};

#[test]
fn a_later_flush_is_distinguished_from_a_date() {
    run(r"
        > set a 0 0 1
        > x
        < STORED
        - In less than a second: the item goes.
        ~ 1
        > flush_all 1
        < OK
        > get a
        < END
        ~ 1
        > set a 0 0 1
        > x
        < STORED
        > flush_all 100
        < OK
        > get a
        < VALUE a 0 1
        < x
        < END
        - A date long before the server was started: nothing goes, and nothing is to come.
        > flush_all 1000000000
        < OK
        > get a
        < VALUE a 0 1
        < x
        < END
        > flush_all -1
        < OK
        > get a
        < END
        > flush_all 0 noreply
        > flush_all noreply 0
        < CLIENT_ERROR invalid exptime argument
        > flush_all x noreply
        > get a
        < END
    ");
}

#[test]
fn times_below_zero_are_over() {
    run(r"
        > set a 0 -1 1
        > x
        < STORED
        > get a
        < END
        > add a 0 -5 1
        > x
        < STORED
        > add a 0 0 1
        > y
        < STORED
        > gat -1 a
        < VALUE a 0 1
        < y
        < END
        > gets a
        < END
        > set a 0 100 1
        > 1
        < STORED
        > gats 200 a b
        < VALUE a 0 1 #
        < 1
        < END
        > gat x a
        < CLIENT_ERROR invalid exptime argument
        > touch a -2147483648
        < TOUCHED
        > incr a 1
        < NOT_FOUND
        > replace a 0 -1 1
        > x
        < NOT_STORED
    ");
}

#[test]
fn numbers_turn_over_and_stop_at_zero() {
    run(r"
        > set n 0 0 20
        > 18446744073709551615
        < STORED
        > incr n 1
        < 0
        > decr n 1
        < 0
        > incr n 18446744073709551615
        < 18446744073709551615
        > incr n 2
        < 1
        > incr n 18446744073709551616
        < CLIENT_ERROR invalid numeric delta argument
        > incr n -1
        < CLIENT_ERROR invalid numeric delta argument
        > decr n 1 noreply
        > incr n 0
        < 0
        > set n 0 0 20
        > 18446744073709551616
        < STORED
        > incr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > set n 0 0 0
        >
        < STORED
        > decr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > incr none 1 noreply
        > incr none 1
        < NOT_FOUND
    ");
}

#[test]
fn noreply_keeps_answers_back_wherever_it_may_stand() {
    run_since(
        45,
        r"
        > set a 0 0 1 noreply
        > 1
        > add a 0 0 1 noreply
        > 2
        > replace a 7 0 1 noreply
        > 3
        > append a 0 0 1 noreply
        > 4
        > prepend a 0 0 1 noreply
        > 2
        > cas a 0 0 1 987654321987 noreply
        > 9
        > cas none 0 0 1 5 noreply
        > 9
        > incr a 1 noreply
        > decr a 2 noreply
        > touch a 100 noreply
        > touch none 100 noreply
        > gets a
        < VALUE a 7 3 #
        < 233
        < END
        > delete a noreply
        > delete a noreply
        > get a
        < END
        > verbosity 1 noreply
        > verbosity noreply
        > cache_memlimit 1 noreply
        > lru_crawler disable noreply
        > lru_crawler enable noreply
        > mn
        < MN
    ",
    );
}

#[test]
fn words_too_few_too_many_or_too_long_are_refused() {
    let key = "k".repeat(251);
    let longest = &key[1..];
    run_since(
        45,
        &format!(
            r"
        > set {key} 0 0 1
        > x
        < CLIENT_ERROR bad command line format
        > cas {key} 0 0 1 1
        > x
        < CLIENT_ERROR bad command line format
        > delete {key}
        < CLIENT_ERROR bad command line format
        > touch {key} 0
        < CLIENT_ERROR bad command line format
        > incr {key} 1
        < CLIENT_ERROR bad command line format
        > mg {key} v
        < CLIENT_ERROR bad command line format
        > set {longest} 0 0 1
        > x
        < STORED
        > gets {longest}
        < VALUE {longest} 0 1 #
        < x
        < END
        > incr a
        < CLIENT_ERROR bad command line format
        > touch a
        < CLIENT_ERROR bad command line format
        > verbosity
        < CLIENT_ERROR bad command line format
        > verbosity x
        < CLIENT_ERROR bad command line format
        > verbosity 1 2 3
        < OK
        > delete a 0
        < NOT_FOUND
        > delete a 1 2
        < NOT_FOUND
        > cas a 0 0 1
        > x
        < CLIENT_ERROR bad command line format
        > cas a 0 0 1 x
        > x
        < CLIENT_ERROR bad command line format
        > set a -1 0 1
        > x
        < CLIENT_ERROR bad command line format
        > set a 0 0 1 x
        > y
        < STORED
        > shutdown
        < SERVER_ERROR: shutdown not enabled
        > shutdown noreply
        > shutdown graceful x
        < SERVER_ERROR: shutdown not enabled
    "
        ),
    );
}
