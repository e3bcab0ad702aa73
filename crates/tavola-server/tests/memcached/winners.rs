//! Meta commands by which one client of many brings a new value, and by which clients choose unique
//! numbers.

use super::script::{run, run_since};

#[test]
fn one_client_is_asked_to_bring_a_missing_value() {
    run(r"
        > mg a N30 v t
        < VA 0 t30 W
        <
        > mg a N30 v t
        < VA 0 t30 Z
        <
        > mg a v
        < VA 0 Z
        <
        > get a
        < VALUE a 0 0
        <
        < END
        > ms a 2 T60
        > xy
        < HD
        > mg a N30 v t
        < VA 2 t60
        < xy
        - Flags work in their order.
        > mg b N30 T60 t
        < HD t60 W
        > mg c t T60 N30
        < HD t-1 W
        > mg c t
        < HD t30 Z
        > mg d N0 t k s f
        < HD t-1 kd s0 f0 W
        > mg e N-1 q
        < HD W
        > mg e
        < EN
        > mg f N30 q k O7
        < HD kf O7 W
        > incr f 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > append f 0 0 1
        > x
        < STORED
        > mg f v
        < VA 1
        < x
    ");
}

#[test]
fn one_client_is_asked_to_renew_a_value_that_ends_soon() {
    run(r"
        > ms a 1 T100
        > x
        < HD
        > mg a R30 t
        < HD t100
        > mg a R200 v
        < VA 1 W
        < x
        > mg a R200 t
        < HD t100 Z
        > mg a
        < HD Z
        > mg a T300
        < HD Z
        > incr a 1
        < CLIENT_ERROR cannot increment or decrement non-numeric value
        > ms a 1 T100
        > x
        < HD
        > mg a T300 R200
        < HD
        > mg a R400 T50
        < HD W
        > ms b 1
        > x
        < HD
        > mg b R400
        < HD
        > mg b R0
        < HD
        > touch b 10
        < TOUCHED
        > mg b R-1
        < HD
        > mg b R30 q
        < HD W
        > ms c 1 T100
        > x
        < HD
        > mg c T-1 R200 v
        < VA 1 W
        < x
        > mg c T-1 R200 v
        < EN
        > touch b 1000
        < TOUCHED
        > mg b
        < HD Z
        > replace b 0 0 1
        > y
        < STORED
        > mg b
        < HD
    ");
}

#[test]
fn a_stale_value_is_returned_until_a_new_one_is_there() {
    run(r"
        > ms a 1 c F7
        > x
        < HD c#
        > md a I T30 q
        > mg a v t f
        < VA 1 t30 f7 X W
        < x
        > mg a v
        < VA 1 Z X
        < x
        - Who had the old number may still store, and the value stays a stale one.
        > ms a 1 C#
        > n
        < EX
        > ms a 1 C# I k F8 T600
        > y
        < HD ka
        > mg a v t f
        < VA 1 t30 f8 Z X
        < y
        > mg a c
        < HD c# Z X
        > md a I
        < HD
        > mg a
        < HD X W
        > md a I C#
        < EX
        > mg a c
        < HD c# Z X
        > md a I C#
        < HD
        > mg a c
        < HD c# X W
        > ms a 2 C# I
        > no
        < HD
        > mg a v
        < VA 2
        < no
        > md b I
        < NF
        > ms b 1 C5 I
        > x
        < NF
        > ms b 1 I
        > x
        < HD
        > mg b
        < HD
        > md b I
        < HD
        > append b 0 0 1
        > y
        < STORED
        > mg b v
        < VA 2
        < xy
    ");
}

#[test]
fn numbers_stay_stale_until_they_are_longer() {
    run(r"
        > set n 0 0 2
        > 10
        < STORED
        > md n I
        < HD
        > incr n 1
        < 11
        > mg n v
        < VA 2 X W
        < 11
        > ma n D100
        < HD
        > mg n v
        < VA 3
        < 111
    ");
}

#[test]
fn a_client_can_choose_unique_numbers() {
    run_since(
        45,
        r"
        > ms a 1 E1000 c
        > x
        < HD c1000
        > mg a c
        < HD c1000
        > ms a 1 C999 E1001
        > y
        < EX
        > ms a 1 C1000 E2000 c
        > y
        < HD c2000
        > ms a 1 C1500 I E3000 c
        > z
        < HD c3000
        > mg a v c
        < VA 1 c3000 X W
        < z
        > ms a 1 C4000 I
        > z
        < EX
        > ms a 1 MA E5 c s
        > w
        < HD c5 s2
        > mg a v c
        < VA 2 c5
        < zw
        > md a I E7
        < HD
        > mg a c
        < HD c7 X W
        > md a x E9 F5
        < HD
        > mg a v c f s
        < VA 0 c9 f5 s0
        <
        > md a x T30
        < HD
        > mg a t c f
        < HD t30 c9 f0
        > md a x I C9 T60 E70
        < HD
        > mg a t c v
        < VA 0 t60 c70 X W
        <
    ",
    );
}

#[test]
fn what_is_made_can_have_a_unique_number_of_choice() {
    run_since(
        45,
        r"
        > mg b N30 E40 c
        < HD c40 W
        > mg b N30 E50 c
        < HD c40 Z
        > ma n N0 J5 E60 c v
        < VA 1 c60
        < 5
        > ma n E61 c v
        < VA 1 c61
        < 6
        > ma n C60 E62
        < EX
        > gets n
        < VALUE n 0 1 61
        < 6
        < END
        > md n C61
        < HD
        > ms e 1 ME E5 c
        > x
        < HD c5
        > ms e 1 ME E6 c
        > x
        < NS c0
        > ms e 1 MR E6 c
        > x
        < HD c6
    ",
    );
}
