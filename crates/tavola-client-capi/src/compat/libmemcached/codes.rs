//! Return codes, with libmemcached's numbers.

use std::ffi::{CStr, c_int};

/// A `memcached_return_t`.
pub(super) type Code = c_int;

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        $(
            #[allow(dead_code, reason = "the list is that of the header")]
            pub(super) const $name: Code = $number;
        )*

        /// What `memcached_strerror` returns.
        pub(super) fn text(code: Code) -> &'static CStr {
            match code {
                $($number => $text,)*
                _ => c"INVALID memcached_return_t",
            }
        }
    };
}

codes! {
    SUCCESS = 0, c"SUCCESS";
    FAILURE = 1, c"FAILURE";
    HOST_LOOKUP_FAILURE = 2, c"HOST LOOKUP FAILURE";
    CONNECTION_FAILURE = 3, c"CONNECTION FAILURE";
    CONNECTION_BIND_FAILURE = 4, c"CONNECTION BIND FAILURE";
    WRITE_FAILURE = 5, c"WRITE FAILURE";
    READ_FAILURE = 6, c"READ FAILURE";
    UNKNOWN_READ_FAILURE = 7, c"UNKNOWN READ FAILURE";
    PROTOCOL_ERROR = 8, c"PROTOCOL ERROR";
    CLIENT_ERROR = 9, c"CLIENT ERROR";
    SERVER_ERROR = 10, c"SERVER ERROR";
    ERROR = 11, c"ERROR was returned by server";
    DATA_EXISTS = 12, c"DATA EXISTS";
    DATA_DOES_NOT_EXIST = 13, c"DATA DOES NOT EXIST";
    NOTSTORED = 14, c"NOT STORED";
    STORED = 15, c"STORED";
    NOTFOUND = 16, c"NOT FOUND";
    MEMORY_ALLOCATION_FAILURE = 17, c"MEMORY ALLOCATION FAILURE";
    PARTIAL_READ = 18, c"PARTIAL READ";
    SOME_ERRORS = 19, c"SOME ERRORS WERE REPORTED";
    NO_SERVERS = 20, c"NO SERVERS DEFINED";
    END = 21, c"SERVER END";
    DELETED = 22, c"SERVER DELETE";
    VALUE = 23, c"SERVER VALUE";
    STAT = 24, c"STAT VALUE";
    ITEM = 25, c"ITEM VALUE";
    ERRNO = 26, c"SYSTEM ERROR";
    FAIL_UNIX_SOCKET = 27, c"COULD NOT OPEN UNIX SOCKET";
    NOT_SUPPORTED = 28, c"ACTION NOT SUPPORTED";
    NO_KEY_PROVIDED = 29, c"NO KEY WAS PROVIDED";
    FETCH_NOTFINISHED = 30, c"FETCH WAS NOT COMPLETED";
    TIMEOUT = 31, c"A TIMEOUT OCCURRED";
    BUFFERED = 32, c"ACTION QUEUED";
    BAD_KEY_PROVIDED = 33, c"A BAD KEY WAS PROVIDED/CHARACTERS OUT OF RANGE";
    INVALID_HOST_PROTOCOL = 34, c"THE PROTOCOL OF THE HOST IS NOT THAT OF THE CLIENT";
    SERVER_MARKED_DEAD = 35, c"SERVER IS MARKED DEAD";
    UNKNOWN_STAT_KEY = 36, c"UNKNOWN STAT KEY";
    E2BIG = 37, c"ITEM TOO BIG";
    INVALID_ARGUMENTS = 38, c"INVALID ARGUMENTS";
    KEY_TOO_BIG = 39, c"KEY TOO BIG";
    AUTH_PROBLEM = 40, c"AUTHENTICATION PROBLEM";
    AUTH_FAILURE = 41, c"AUTHENTICATION FAILURE";
    AUTH_CONTINUE = 42, c"CONTINUE AUTHENTICATION";
    PARSE_ERROR = 43, c"ERROR WHILE PARSING";
    PARSE_USER_ERROR = 44, c"USER INITIATED ERROR WHILE PARSING";
    DEPRECATED = 45, c"DEPRECATED";
    IN_PROGRESS = 46, c"OPERATION IN PROCESS";
    SERVER_TEMPORARILY_DISABLED = 47, c"SERVER HAS FAILED AND IS DISABLED UNTIL TIMED RETRY";
    SERVER_MEMORY_ALLOCATION_FAILURE = 48, c"SERVER FAILED TO ALLOCATE OBJECT";
}
