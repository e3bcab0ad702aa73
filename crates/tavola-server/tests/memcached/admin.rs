//! Commands about the server.

use super::script::{Ours, run, run_since};

#[test]
fn commands_to_the_crawler_are_answered() {
    run(r"
        > lru_crawler sleep 100
        < OK
        > lru_crawler sleep 1000001
        < CLIENT_ERROR sleep must be one second or less
        > lru_crawler tocrawl 5
        < OK
        > lru_crawler tocrawl x
        < CLIENT_ERROR bad command line format
        > lru_crawler enable
        < ERROR failed to start lru crawler thread
        > lru_crawler crawl 0
        < BADCLASS invalid class id
        > lru_crawler crawl 1,64
        < BADCLASS invalid class id
        > lru_crawler metadump 99
        < BADCLASS invalid class id
        > lru_crawler crawl ,
        < NOTSTARTED no items to crawl
        > lru_crawler
        < ERROR
        > lru_crawler walk all
        < ERROR
    ");
    // When memcached's own is off depends on when its thread ends.
    let ours = Ours::start();
    ours.connect().expect(
        b"lru_crawler disable\r\nlru_crawler crawl all\r\nlru_crawler metadump all\r\n\
          lru_crawler mgdump 1\r\nlru_crawler enable\r\nlru_crawler crawl all\r\n",
        b"OK\r\nCLIENT_ERROR lru crawler disabled\r\nCLIENT_ERROR lru crawler disabled\r\n\
          CLIENT_ERROR lru crawler disabled\r\nOK\r\nOK\r\n",
    );
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    run(r"
        > slabs reassign 1
        < ERROR
        > slabs automove x
        < CLIENT_ERROR bad command line format
        > slabs automove 9
        < ERROR
        > slabs automove 0
        < OK
        > slabs automove ratio x
        < ERROR
        > slabs
        < ERROR
        > slabs walk
        < ERROR
        > lru
        < ERROR
        > lru mode x
        < ERROR
        > lru tune 10
        < ERROR
        > lru temp_ttl x
        < ERROR
        > verbosity 1
        < OK
        > verbosity x
        < CLIENT_ERROR bad command line format
        > verbosity 0 noreply
        > cache_memlimit 1
        < MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m
        > cache_memlimit x
        < ERROR
    ");
    run_since(
        40,
        r"
        > cache_memlimit 1000000001
        < MEMLIMIT_ADJUST_FAILED input value is megabytes not bytes
        > lru_crawler crawl hash
        < ERROR an unknown error happened
        > slabs automove window 1
        < CLIENT_ERROR automove window too low or too high
        > slabs automove window x
        < CLIENT_ERROR bad command line format
        > verbosity
        < CLIENT_ERROR bad command line format
        > shutdown
        < SERVER_ERROR: shutdown not enabled
    ",
    );
}

#[test]
fn where_there_is_no_tls_no_certificates_are_read() {
    // As by a memcached that could speak it and does not; some are built without.
    let refused = b"Error TLS not enabled\r\n";
    let ours = Ours::start();
    let mut client = ours.connect();
    client.expect(b"refresh_certs\r\n", refused);
    client.expect(b"refresh_certs noreply\r\n", refused);
}

#[test]
fn prefixes_are_counted_while_that_is_asked_for() {
    run(r"
        > stats detail dump
        < END
        > get a:b
        < END
        > stats detail on
        < OK
        > set a:b 0 0 1
        > x
        < STORED
        > add a:c 0 0 1
        > x
        < STORED
        > get a:b a:x plain
        < VALUE a:b 0 1
        < x
        < END
        > delete a:c
        < DELETED
        > delete a:c
        < NOT_FOUND
        > stats detail off
        < OK
        > get a:b
        < VALUE a:b 0 1
        < x
        < END
        > stats detail dump
        < PREFIX a get 2 hit 1 set 2 del 2
        < END
        > stats reset
        < RESET
        > stats detail dump
        < END
        > stats detail
        < CLIENT_ERROR usage: stats detail on|off|dump
        > stats detail x
        < CLIENT_ERROR usage: stats detail on|off|dump
    ");
}

#[test]
fn unknown_stats_are_refused() {
    run(r"
        > stats sizes
        < STAT sizes_status disabled
        < END
        > stats cachedump 1 0
        < END
        > stats cachedump 1
        < CLIENT_ERROR bad command line
        > stats cachedump x 0
        < CLIENT_ERROR bad command line format
        > stats cachedump 64 0
        < CLIENT_ERROR Illegal slab id
        > stats nonsense
        < ERROR
    ");
}
