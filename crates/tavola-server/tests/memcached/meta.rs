//! The meta commands.

use super::script::{Ours, run, run_since};

#[test]
fn values_are_stored_and_told_as_flags_ask() {
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
fn times_are_changed_and_told() {
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
fn sizes_are_told_of_what_was_stored() {
    // Earlier ones tell no size.
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
fn flags_that_a_table_cannot_answer_are_refused() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"set a 0 0 1\r\nx\r\n", b"STORED\r\n");
    let refused = b"CLIENT_ERROR invalid flag\r\n";
    for line in [
        &b"mg a h\r\n"[..],
        b"mg a l\r\n",
        b"mg b N30\r\n",
        b"mg a R30\r\n",
        b"md a I\r\n",
        b"ms a 1 E5\r\ny\r\n",
        b"ma a E5\r\n",
    ] {
        client.expect(line, refused);
    }
    client.expect(b"mg a v u\r\n", b"VA 1\r\nx\r\n");
}

#[test]
fn an_item_is_emptied_or_looked_at() {
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"me a\r\nmd a x\r\n", b"EN\r\nNF\r\n");
    client.expect(b"ms a 3 T100\r\nxyz\r\n", b"HD\r\n");
    let cas = {
        let entry = ours.table.get_entry(b"a").expect("read");
        entry.expect("there").token.0
    };
    let expected = format!("ME a exp=100 cas={cas} size=3\r\n");
    client.expect(b"me a\r\n", expected.as_bytes());
    client.expect(b"md a x F5\r\nmg a v f t\r\n", b"HD\r\nVA 0 f5 t-1\r\n\r\n");
}
