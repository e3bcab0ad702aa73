//! What the meta commands answer to wrong and odd input, byte for byte as memcached 1.6.45 does.

use crate::empty_server::{OPEN, Row, play};

const OBSERVED: &[Row] = &[
    (b"mn\r\n", b"MN\r\n", OPEN),
    (b"mn x y\r\n", b"MN\r\n", OPEN),
    (b"mg\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"mg a\r\n", b"EN\r\n", OPEN),
    (b"mg a v v\r\n", b"CLIENT_ERROR duplicate flag\r\n", OPEN),
    (
        b"mg a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (
        b"mg a {\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a 5\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"mg a g\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a \x80\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a _\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"mg a S\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a T\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"mg a T-\r\n", b"EN\r\n", OPEN),
    (b"mg a T-1\r\n", b"EN\r\n", OPEN),
    (
        b"mg a N\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a F\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a Fx v v\r\n", b"CLIENT_ERROR duplicate flag\r\n", OPEN),
    (b"mg a Tx g\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (
        b"mg a Fx Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (
        b"mg a q Tx\r\nmn\r\n",
        b"CLIENT_ERROR bad token in command line format\r\nMN\r\n",
        OPEN,
    ),
    (b"mg a q\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"mg a k Oabc q\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"mg a k Oabc\r\n", b"EN ka Oabc\r\n", OPEN),
    (b"mg a Oabc k\r\n", b"EN Oabc ka\r\n", OPEN),
    (b"mg a O\r\n", b"EN O\r\n", OPEN),
    (b"mg a MX\r\n", b"EN\r\n", OPEN),
    (
        b"mg a Jx\r\n",
        b"CLIENT_ERROR invalid numeric initial value\r\n",
        OPEN,
    ),
    (
        b"mg a D\r\n",
        b"CLIENT_ERROR invalid numeric delta value\r\n",
        OPEN,
    ),
    (
        b"mg a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"EN Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        OPEN,
    ),
    (
        b"mg a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"mg a q Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v \r\n",
        b"CLIENT_ERROR duplicate flag\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v v \r\n",
        b"CLIENT_ERROR options flags are too long\r\n",
        OPEN,
    ),
    (
        b"mg a v v v v v v v v v v v v v v v v v v ! \r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"mg a s t c f l h u x I L P v\r\n", b"EN\r\n", OPEN),
    (b"mg Zm9v b k\r\n", b"EN kZm9v b\r\n", OPEN),
    (b"mg Zm9v k b\r\n", b"EN kZm9v b\r\n", OPEN),
    (
        b"mg Zm9 b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (b"mg Z!m9v b k\r\n", b"EN kZm9v b\r\n", OPEN),
    (b"mg Zg==Zg== b k\r\n", b"EN kZg== b\r\n", OPEN),
    (b"mg Z=g= b k\r\n", b"EN kZA== b\r\n", OPEN),
    (
        b"mg ==== b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (b"mg Zh== b k\r\n", b"EN kZg== b\r\n", OPEN),
    (
        b"mg A=== b k\r\n",
        b"CLIENT_ERROR error decoding key\r\n",
        OPEN,
    ),
    (
        b"mg Zm9 b Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"ms\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (
        b"ms a\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (
        b"ms a x\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a -1\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2\r\nab\r\nmn\r\n", b"HD\r\nMN\r\n", OPEN),
    (b"ms a 2 q\r\nab\r\nmn\r\n", b"MN\r\n", OPEN),
    (
        b"ms a 2 !\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nERROR\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 g\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid flag\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 q\r\nabc\r\nmn\r\n",
        b"CLIENT_ERROR bad data chunk\r\nCLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 k O1\r\nabc\r\nmn\r\n",
        b"CLIENT_ERROR bad data chunk\r\nCLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 M\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 MX\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 Me\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2 ME\r\nab\r\nmn\r\n", b"HD\r\nMN\r\n", OPEN),
    (b"ms a 2 MSET q\r\nab\r\nmn\r\n", b"MN\r\n", OPEN),
    (b"ms a 2 MR k O1\r\nab\r\n", b"NS ka O1\r\n", OPEN),
    (b"ms a 2 MA k\r\nab\r\n", b"NS ka\r\n", OPEN),
    (b"ms a 2 MP k\r\nab\r\n", b"NS ka\r\n", OPEN),
    (
        b"ms a 2 S100\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR invalid flag\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 T0 F5 I k Oxy s\r\nab\r\nmn\r\n",
        b"HD ka Oxy s2\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms Zm9v 2 b k s Oq\r\nab\r\n",
        b"HD kZm9v b s2 Oq\r\n",
        OPEN,
    ),
    (
        b"ms a 2 b\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR error decoding key\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx q\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR opaque token too long\r\nMN\r\n",
        OPEN,
    ),
    (b"ms a 2 C1\r\nab\r\nmn\r\n", b"NF\r\nMN\r\n", OPEN),
    (
        b"ms a S2\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nERROR\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 C5 k O1 s\r\nab\r\nmn\r\n",
        b"NF ka O1 s2\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 T\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad token in command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 F-1\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 F4294967296\r\nab\r\nmn\r\n",
        b"CLIENT_ERROR bad command line format\r\nMN\r\n",
        OPEN,
    ),
    (
        b"ms a 2 E77 q\nab\r\nmn\n\n\n",
        b"CLIENT_ERROR bad command line format\r\n\
          CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"md\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"md a\r\n", b"NF\r\n", OPEN),
    (b"md a q\r\nmn\r\n", b"NF\r\nMN\r\n", OPEN),
    (b"md a q k O1\r\n", b"NF ka O1\r\n", OPEN),
    (
        b"md a Tx\r\n",
        b"CLIENT_ERROR bad token in command line format\r\n",
        OPEN,
    ),
    (b"md a g q\r\n", b"CLIENT_ERROR invalid flag\r\n", OPEN),
    (b"md a MX\r\n", b"NF\r\n", OPEN),
    (
        b"md a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (b"ma\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"ma a\r\n", b"NF\r\n", OPEN),
    (b"ma a q\r\n", b"NF\r\n", OPEN),
    (
        b"ma a MX\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a M\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a Mi\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (
        b"ma a Md\r\n",
        b"CLIENT_ERROR invalid mode for ma M token\r\n",
        OPEN,
    ),
    (b"ma a MI\r\n", b"NF\r\n", OPEN),
    (b"ma a M+\r\n", b"NF\r\n", OPEN),
    (b"ma a M- k O1\r\n", b"NF ka O1\r\n", OPEN),
    (
        b"ma a D\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Dx\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Jx\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a g\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a D1 D2\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a q D1 D2\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        OPEN,
    ),
    (
        b"ma a Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n",
        b"CLIENT_ERROR opaque token too long\r\n",
        OPEN,
    ),
    (
        b"ma a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me\r\n", b"CLIENT_ERROR bad command line format\r\n", OPEN),
    (b"me a\r\n", b"EN\r\n", OPEN),
    (
        b"me Zm9 b x\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me Zm9 x\r\n", b"EN\r\n", OPEN),
    (
        b"me a !\r\n",
        b"CLIENT_ERROR bad command line format\r\n",
        OPEN,
    ),
    (b"me a v v\r\n", b"EN\r\n", OPEN),
];

#[test]
fn answers_are_those_of_memcached() {
    play(OBSERVED);
}
