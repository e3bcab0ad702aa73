//! The classic commands.

use super::script::{Ours, run, text};

#[test]
fn values_are_stored_and_returned() {
    run(r"
        > get a
        < END
        > set a 7 0 5
        > hello
        < STORED
        > get a
        < VALUE a 7 5
        < hello
        < END
        > gets a
        < VALUE a 7 5 #
        < hello
        < END
        > get a b a
        < VALUE a 7 5
        < hello
        < VALUE a 7 5
        < hello
        < END
        > set b 4294967295 0 0
        >
        < STORED
        > get b a
        < VALUE b 4294967295 0
        <
        < VALUE a 7 5
        < hello
        < END
        > set a 0 0 4 noreply
        > \r\n\r\n
        > get a
        < VALUE a 0 4
        < \r\n\r\n
        < END
    ");
}

#[test]
fn conditions_are_kept() {
    run(r"
        > replace a 0 0 1
        > x
        < NOT_STORED
        > append a 0 0 1
        > x
        < NOT_STORED
        > prepend a 0 0 1
        > x
        < NOT_STORED
        > add a 5 0 1
        > m
        < STORED
        > add a 6 0 1
        > x
        < NOT_STORED
        > append a 9 0 2
        > op
        < STORED
        > prepend a 9 0 2
        > kl
        < STORED
        > get a
        < VALUE a 5 5
        < klmop
        < END
        > replace a 1 0 1
        > r
        < STORED
        > get a
        < VALUE a 1 1
        < r
        < END
        > add a 0 0 1 noreply
        > x
        > replace b 0 0 1 noreply
        > x
        > append b 0 0 1 noreply
        > x
        > get a b
        < VALUE a 1 1
        < r
        < END
    ");
}

#[test]
fn a_unique_number_guards_a_value() {
    run(r"
        > cas a 0 0 1 1
        > x
        < NOT_FOUND
        > set a 0 0 1
        > x
        < STORED
        > gets a
        < VALUE a 0 1 #
        < x
        < END
        > cas a 3 0 1 #
        > y
        < STORED
        > cas a 0 0 1 #
        > z
        < EXISTS
        > cas a 0 0 1 # noreply
        > z
        > get a
        < VALUE a 3 1
        < y
        < END
        > gats 0 a
        < VALUE a 3 1 #
        < y
        < END
        > cas a 0 0 1 # noreply
        > w
        > get a
        < VALUE a 0 1
        < w
        < END
        > cas a 0 0 1 0
        > x
        < EXISTS
    ");
}

#[test]
fn numbers_are_counted() {
    run(r"
        > incr n 1
        < NOT_FOUND
        > set n 6 0 2
        > 10
        < STORED
        > incr n 5
        < 15
        > decr n 6
        < 9
        > get n
        < VALUE n 6 2
        < 9 \
        <
        < END
        > incr n 90
        < 99
        > incr n 1
        < 100
        > get n
        < VALUE n 6 3
        < 100
        < END
        > decr n 1000
        < 0
        > get n
        < VALUE n 6 3
        < 0  \
        <
        < END
        > set n 0 0 20
        > 18446744073709551615
        < STORED
        > incr n 1
        < 0
        > incr n 18446744073709551615
        < 18446744073709551615
        > set n 0 0 4
        > 0010
        < STORED
        > incr n 1
        < 11
        > get n
        < VALUE n 0 4
        < 11  \
        <
        < END
        > incr n 1 noreply
        > decr n 2 noreply
        > incr n 0
        < 10
    ");
}

#[test]
fn what_is_no_number_is_not_counted() {
    run(r"
        > set n 0 0 1
        > x
        < STORED
        > incr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > decr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > set n 0 0 0
        >
        < STORED
        > incr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > set n 0 0 20
        > 18446744073709551616
        < STORED
        > incr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > set n 0 0 2
        > -1
        < STORED
        > incr n 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > set n 0 0 4
        > 12 x
        < STORED
        > incr n 1
        < 13
        > get n
        < VALUE n 0 4
        < 13  \
        <
        < END
    ");
}

#[test]
fn keys_expire_at_their_time() {
    run(r"
        > set a 1 -1 1
        > x
        < STORED
        > get a
        < END
        > set a 1 1000000000 1
        > x
        < STORED
        > get a
        < END
        > set a 1 2592000 1
        > x
        < STORED
        > set b 2 2100000000 1
        > y
        < STORED
        > get a b
        < VALUE a 1 1
        < x
        < VALUE b 2 1
        < y
        < END
        > touch a 0
        < TOUCHED
        > touch c 0
        < NOT_FOUND
        > touch b -1
        < TOUCHED
        > get b
        < END
        > gat 0 a b
        < VALUE a 1 1
        < x
        < END
        > gat -1 a
        < VALUE a 1 1
        < x
        < END
        > get a
        < END
        > set a 0 1 1
        > x
        < STORED
        > set b 0 0 1
        > y
        < STORED
        > touch b 1 noreply
        > append a 0 0 1
        > x
        < STORED
        ~ 2
        > get a b
        < END
        > incr a 1
        < NOT_FOUND
        > add a 0 0 1
        > z
        < STORED
    ");
}

#[test]
fn keys_are_deleted_and_flushed() {
    run(r"
        > delete a
        < NOT_FOUND
        > set a 0 0 1
        > x
        < STORED
        > delete a
        < DELETED
        > set a 0 0 1
        > x
        < STORED
        > delete a noreply
        > get a
        < END
        > set a 0 0 1
        > x
        < STORED
        ~ 1
        > flush_all
        < OK
        > get a
        < END
        > set a 0 0 1
        > x
        < STORED
        > flush_all 4
        < OK
        > get a
        < VALUE a 0 1
        < x
        < END
        ~ 4
        > get a
        < END
        > flush_all noreply
        > flush_all x
        < CLIENT_ERROR invalid exptime argument
        > verbosity 0 noreply
        > verbosity 1
        < OK
    ");
}

#[test]
fn what_is_no_request_is_refused() {
    run(r"
        > hello
        < ERROR
        > touch a x
        < CLIENT_ERROR invalid exptime argument
        > incr a x
        < CLIENT_ERROR invalid numeric delta argument
    ");
}

#[test]
fn quit_ends_the_connection() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.send(b"set a 0 0 1\r\nx\r\nquit\r\nget a\r\n");
    assert_eq!(text(&client.rest()), r"STORED\r\n");
}
