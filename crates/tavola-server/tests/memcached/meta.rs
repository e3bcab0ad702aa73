//! The meta commands.

use super::script::{
    Client, Ours, Second, in_one_second, ours, run, run_since, text, theirs_since,
};
use tavola::Table;

#[test]
fn values_are_stored_and_returned_as_flags_ask() {
    run(r"
        > mg a v
        < EN
        > mg a q
        > mg a k Oxy
        < EN ka Oxy
        > ms a 2 c k O1 F7
        > ab
        < HD c# ka O1
        > mg a s v t f c k Oq
        < VA 2 s2 t-1 f7 c# ka Oq
        < ab
        > mg a
        < HD
        > mg a v q
        < VA 2
        < ab
        > ms a 2 q
        > cd
        > get a
        < VALUE a 0 2
        < cd
        < END
        > ms YQ== 2 b k
        > ef
        < HD kYQ== b
        > mg YQ== b k v
        < VA 2 kYQ== b
        < ef
        > mg a v
        < VA 2
        < ef
    ");
}

#[test]
fn times_are_changed_and_returned() {
    run(r"
        > ms a 1 T100
        > x
        < HD
        > mg a v T30 t
        < VA 1 t30
        < x
        > mg a t T50
        < HD t30
        > mg a t
        < HD t50
        > mg a T0 t
        < HD t-1
        > mg a T-1
        < HD
        > mg a
        < EN
        > mg a T10
        < EN
    ");
}

#[test]
fn modes_are_those_of_the_classic_commands() {
    run(r"
        > ms a 1 ME k
        > x
        < HD ka
        > ms a 1 ME k
        > x
        < NS ka
        > ms a 2 MA
        > yz
        < HD
        > ms a 2 MP
        > vw
        < HD
        > mg a v
        < VA 5
        < vwxyz
        > ms b 2 MA
        > yz
        < NS
        > ms b 2 MR
        > yz
        < NS
        > ms a 1 MR F3
        > r
        < HD
        > mg a v f
        < VA 1 f3
        < r
        > ms a 1 c
        > x
        < HD c#
        > ms a 1 C# q
        > y
        > ms a 1 C# q k
        > z
        < EX ka
        > ms b 1 C5
        > z
        < NF
        > mg a v
        < VA 1
        < y
        > ms c 1 MX
        > z
        < CLIENT_ERROR invalid mode for ms M token
    ");
}

#[test]
fn sizes_of_stored_values_are_returned() {
    // Earlier ones return no size.
    run_since(
        45,
        r"
        > ms a 3 s
        > abc
        < HD s3
        > ms a 2 MA s
        > de
        < HD s5
        > ms a 2 ME s c
        > xy
        < NS s2 c0
        > ms b 2 MA N30 s
        > xy
        < HD s2
        > mg b t
        < HD t30
    ",
    );
}

#[test]
fn keys_are_deleted() {
    run(r"
        > md a
        < NF
        > md a q k
        < NF ka
        > ms a 1 c
        > x
        < HD c#
        > md a C987654321
        < EX
        > md a C# k O2
        < HD ka O2
        > mg a
        < EN
        > ms a 1
        > x
        < HD
        > md a q
        > mg a
        < EN
        > mn
        < MN
    ");
}

#[test]
fn numbers_are_counted() {
    run(r"
        > ma n
        < NF
        > ma n q k
        < NF kn
        > ma n N0 J13 v t
        < VA 2 t-1
        < 13
        > ma n v
        < VA 2
        < 14
        > ma n MD D5 v
        < VA 1
        < 9
        > ma n M- D5 q
        > ma n MI D6 v T30 t
        < VA 2 t30
        < 10
        > mg n t v
        < VA 2 t30
        < 10
        > ma n C987654321
        < EX
        > ma m N60 t
        < HD t60
        > set n 0 0 1
        > x
        < STORED
        > ma n q
        < CLIENT_ERROR cannot increment or decrement non-numeric value
    ");
}

#[test]
fn flags_say_whether_an_item_was_read() {
    run(r"
        > ms a 1
        > x
        < HD
        > mg a h l u
        < HD h0 l0
        > mg a h l
        < HD h0 l0
        > mg a h l v
        < VA 1 h1 l0
        < x
        > ms a 1
        > x
        < HD
        > mg a h
        < HD h0
        > ms a 1
        > x
        < HD
        > get a
        < VALUE a 0 1
        < x
        < END
        > mg a h
        < HD h1
        > set a 0 0 1
        > x
        < STORED
        > touch a 100
        < TOUCHED
        > mg a h u
        < HD h1
        > set a 0 0 1
        > 1
        < STORED
        > incr a 1
        < 2
        > mg a h u
        < HD h0
        > gat 100 a
        < VALUE a 0 1
        < 2
        < END
        > mg a h u
        < HD h1
        > incr a 10
        < 12
        > mg a h
        < HD h0
        > mg a v T100
        < VA 2
        < 12
        > mg a h
        < HD h1
        > append a 0 0 1
        > x
        < STORED
        > mg a h
        < HD h0
    ");
}

#[test]
fn whether_they_were_read_is_known_of_many_items_and_of_new_ones() {
    run(r"
        > set a 0 0 1
        > x
        < STORED
        > set b 0 0 1
        > x
        < STORED
        > get a b c
        < VALUE a 0 1
        < x
        < VALUE b 0 1
        < x
        < END
        > mg b h
        < HD h1
        > mg n N30 h
        < HD h0 W
        > mg n h
        < HD h1 Z
    ");
}

#[test]
fn keys_are_returned_as_they_were_stored() {
    run(r"
        > ms YQ== 1 b
        > x
        < HD
        > mg a k
        < HD kYQ== b
        > mg YQ== k b
        < HD kYQ== b
        > ms a 1
        > x
        < HD
        > mg YQ== b k
        < HD ka
        > ms YQ== 1 b
        > x
        < HD
        > append a 0 0 1
        > y
        < STORED
        > mg a k
        < HD ka
        > ms YQ== 1 b T0
        > 1
        < HD
        > incr a 1
        < 2
        > mg a k
        < HD kYQ== b
    ");
}

#[test]
fn an_item_is_emptied() {
    run_since(
        45,
        r"
        > md a x
        < NF
        > ms a 3 T100 c
        > xyz
        < HD c#
        > md a x C4294967296 k
        < EX ka
        > md a x F5 q
        > mg a v f t
        < VA 0 f5 t-1
        <
    ",
    );
}

/// Names of what `me` returns, and what of it is the same in all servers.
#[test]
fn an_item_can_be_inspected() {
    let inspect = |address, _: &Second<'_>| {
        let mut client = Client::connect(address);
        client.expect(b"me a\r\nms YQ== 3 b T100\r\nxyz\r\n", b"EN\r\nHD\r\n");
        for fetched in ["no", "yes"] {
            let answer = client.ask_until_version(b"me a\r\nversion\r\n");
            let answer = text(&answer).replace(r"\r\n", "");
            let words: Vec<&str> = answer.split(' ').collect();
            assert_eq!(words[..4], ["ME", "YQ==", "exp=100", "la=0"], "{answer}");
            assert!(words[4].starts_with("cas="), "{answer}");
            assert_eq!(words[5], format!("fetch={fetched}"));
            assert!(words[6].starts_with("cls=") && words[7].starts_with("size="));
            assert_eq!(words.len(), 8);
            client.expect(b"get a\r\n", b"VALUE a 0 3\r\nxyz\r\nEND\r\n");
        }
    };
    in_one_second(ours, inspect);
    in_one_second(|| theirs_since(40), inspect);
}

#[test]
fn flags_that_a_table_has_no_room_for_are_refused() {
    let refused = b"CLIENT_ERROR invalid flag\r\n";
    let plain = Table::options().max_size(1 << 24);
    let ours = Ours::over(plain.private().expect("a table"));
    let mut client = ours.connect();
    for line in [
        &b"mg a h\r\n"[..],
        b"mg a l\r\n",
        b"mg a N30 E5\r\n",
        b"md a I\r\n",
        b"ms a 1 E5\r\ny\r\n",
        b"ms a 1 C5 I\r\ny\r\n",
        b"ma a E5\r\n",
    ] {
        client.expect(line, refused);
    }
    // The client that is to bring a value is known there, too.
    client.expect(b"mg a N30 v\r\nmg a\r\n", b"VA 0 W\r\n\r\nHD Z\r\n");
    client.expect(b"ms a 2 T30\r\nxy\r\n", b"HD\r\n");
    client.expect(b"mg a R60 v\r\nmg a R60\r\n", b"VA 2 W\r\nxy\r\nHD Z\r\n");
    client.expect(
        b"append a 0 0 1\r\nz\r\nmg a v\r\n",
        b"STORED\r\nVA 3\r\nxyz\r\n",
    );
    client.expect(b"ms YQ== 1 b\r\nx\r\nmg a k\r\n", b"HD\r\nHD kYQ== b\r\n");
    client.expect(b"get a\r\n", b"VALUE a 0 1\r\nx\r\nEND\r\n");

    let fixed = Table::options().max_size(1 << 24).fixed(1, 1);
    let ours = Ours::over(fixed.private().expect("a table"));
    let mut client = ours.connect();
    client.expect(b"mg a N30\r\n", refused);
    client.expect(b"mg a R30\r\n", refused);
    client.expect(b"mg a h\r\n", refused);
    client.expect(b"ms a 1\r\nx\r\nmg a v k\r\n", b"HD\r\nVA 1 ka\r\nx\r\n");
}
