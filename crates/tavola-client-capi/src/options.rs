//! The options of a client, from integers and texts of C.

use crate::given::{SizedStruct, bytes, maybe_text, sized, text};
use crate::status::Failure;
use std::ffi::{c_char, c_void};
use std::time::Duration;
use tavola_client_core::{Builder, Hash, OnDown, Placement, Protocol};

/// How keys are placed on servers. All clients of a fleet have to agree.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_mc_placement {
    /// Ketama with weights, by MD5: libmemcached's `ketama_weighted`, which php-memcached calls
    /// `OPT_LIBKETAMA_COMPATIBLE`, and pylibmc `ketama`.
    TAVOLA_MC_PLACEMENT_KETAMA = 0,
    /// The same with the points of spymemcached, libmemcached's `ketama_spy`.
    TAVOLA_MC_PLACEMENT_KETAMA_SPY = 1,
    /// libmemcached's `consistent`: a hundred points a server, by the hash of keys.
    TAVOLA_MC_PLACEMENT_CONSISTENT = 2,
    /// The hash modulo the number of servers: libmemcached's default. Weights have no effect.
    TAVOLA_MC_PLACEMENT_MODULA = 3,
    /// Cache::Memcached::Fast: `points` are its `ketama_points`.
    TAVOLA_MC_PLACEMENT_FAST = 4,
    /// Jump consistent hash of FNV-1a of 64 bits. Weights have no effect.
    TAVOLA_MC_PLACEMENT_JUMP = 5,
    /// Dalli's ring, of Ruby. It hashes the name space with the key: set `hash_name_space`.
    TAVOLA_MC_PLACEMENT_DALLI = 6,
    /// Rendezvous hashing as pymemcache's HashClient has it.
    TAVOLA_MC_PLACEMENT_RENDEZVOUS = 7,
}

/// The hash of keys, for `TAVOLA_MC_PLACEMENT_CONSISTENT` and `TAVOLA_MC_PLACEMENT_MODULA`.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_mc_hash {
    /// One at a time, by Bob Jenkins: the default of libmemcached.
    TAVOLA_MC_HASH_ONE_AT_A_TIME = 0,
    /// The first four bytes of MD5.
    TAVOLA_MC_HASH_MD5 = 1,
    /// Fifteen bits of CRC-32.
    TAVOLA_MC_HASH_CRC = 2,
    /// FNV-1 of 64 bits, cut to 32.
    TAVOLA_MC_HASH_FNV1_64 = 3,
    /// FNV-1a with the numbers for 64 bits, calculated in 32.
    TAVOLA_MC_HASH_FNV1A_64 = 4,
    /// FNV-1 of 32 bits.
    TAVOLA_MC_HASH_FNV1_32 = 5,
    /// FNV-1a of 32 bits.
    TAVOLA_MC_HASH_FNV1A_32 = 6,
    /// MurmurHash2, seeded by the length.
    TAVOLA_MC_HASH_MURMUR = 7,
    /// MurmurHash3 of 32 bits, seeded by the length.
    TAVOLA_MC_HASH_MURMUR3 = 8,
    /// Lookup3, by Bob Jenkins.
    TAVOLA_MC_HASH_JENKINS = 9,
}

/// What happens to requests whose server is down.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_mc_on_down {
    /// They fail at once as unsent. No key is ever on two servers.
    TAVOLA_MC_ON_DOWN_FAIL = 0,
    /// The ring is made without the server, so its keys go to others. Other clients have to do so
    /// too, and a server that comes back has old values of its keys.
    TAVOLA_MC_ON_DOWN_EJECT = 1,
    /// Gets go to the next server of the list that is up; the rest fails.
    TAVOLA_MC_ON_DOWN_NEXT = 2,
}

/// The protocol that servers are spoken to in.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_mc_protocol {
    /// The meta commands if the server has them, else the classic text protocol.
    TAVOLA_MC_PROTOCOL_AUTO = 0,
    /// The meta commands, of memcached 1.6 and Tavola.
    TAVOLA_MC_PROTOCOL_META = 1,
    /// The classic text protocol, as old servers and proxies have it.
    TAVOLA_MC_PROTOCOL_TEXT = 2,
    /// The binary protocol, which SASL needs.
    TAVOLA_MC_PROTOCOL_BINARY = 3,
}

/// How user and password are given to servers.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_mc_login {
    /// Not at all; `user` and `password` are NULL.
    TAVOLA_MC_LOGIN_NO = 0,
    /// By SASL's PLAIN, in the binary protocol.
    TAVOLA_MC_LOGIN_SASL = 1,
    /// As servers with the option `-Y` ask for it.
    TAVOLA_MC_LOGIN_TEXT = 2,
}

/// The options of a client. A field that is 0 or NULL has the default that its comment names. Begin
/// with `tavola_mc_options options = TAVOLA_MC_INIT(tavola_mc_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_mc_options {
    /// `sizeof(tavola_mc_options)`.
    pub size: usize,
    /// One of `tavola_mc_placement`.
    pub placement: i32,
    /// One of `tavola_mc_hash`, for placements that have a choice.
    pub hash: i32,
    /// For `TAVOLA_MC_PLACEMENT_FAST`: the points of a server of weight 1. 0 is the default of
    /// Cache::Memcached::Fast; clients of libketama have 150, others 160.
    pub points: u32,
    /// 1: the name space has a part in the placement of keys, as in Cache::Memcached::Fast with
    /// `hash_namespace`.
    pub hash_name_space: u32,
    /// Bytes that are put before every key, `name_space_len` of them.
    pub name_space: *const c_void,
    /// The length of `name_space`.
    pub name_space_len: usize,
    /// Two characters, such as "{}": keys are placed by what is between them, if both are there
    /// with something between them.
    pub hash_tag: *const c_char,
    /// Bounds the time that a connection may take to be made: 250 ms.
    pub connect_timeout_ms: u32,
    /// Bounds the time of a batch with all its servers, or of a call: 1000 ms.
    pub io_timeout_ms: u32,
    /// How many failures in a row make a server count as down: 2. One that refuses a connection is
    /// down at once.
    pub max_failures: u32,
    /// How long a failure is remembered: 1000 ms.
    pub failure_timeout_ms: u32,
    /// Bounds the time between two attempts to reach a server that is down and silent: 2000 ms.
    pub retry_ms: u32,
    /// Bounds the connections to each server: 64.
    pub pool: u32,
    /// One of `tavola_mc_on_down`.
    pub on_down: i32,
    /// One of `tavola_mc_protocol`. SASL chooses the binary protocol itself.
    pub protocol: i32,
    /// Bounds the size of a value that a server may announce: 128 MiB.
    pub max_value: u64,
    /// One of `tavola_mc_login`.
    pub login: i32,
    /// 1: all servers are connected to by TLS; `tls_authorities` must be given.
    pub tls: u32,
    /// The user's name.
    pub user: *const c_char,
    /// The password.
    pub password: *const c_char,
    /// The path of a file in PEM with the authorities to trust.
    pub tls_authorities: *const c_char,
    /// The path of a file in PEM with the certificate to show to servers, or NULL.
    pub tls_certificate: *const c_char,
    /// The path of a file in PEM with the key of that certificate, or NULL.
    pub tls_key: *const c_char,
    /// The name that the certificates of servers must have; NULL for the hosts as they are written.
    pub tls_name: *const c_char,
    /// The name of a table of this machine that keeps what gets return, in front of the servers, or
    /// NULL. All processes of the machine share it.
    pub near: *const c_char,
    /// How long a value stays in that table; not 0 if there is one.
    pub near_ttl_ms: u32,
    /// How many copies of each key there are beside the one on its server: on the next servers of
    /// the list, as libmemcached has them with `NUMBER_OF_REPLICAS`.
    pub replicas: u32,
    /// 1: a get asks the copies of a key in random order, as with `RANDOMIZE_REPLICA_READ`.
    pub read_any: u32,
    /// 1: a batch asks a server for many keys by one line, in half the time. Answers then have the
    /// key, and no number of their request: a server that repeats an old answer, out of turn, could
    /// pass off an older value of the same key.
    pub multi_key_gets: u32,
}

// SAFETY: integers and pointers without padding (a `usize`, four of 32 bits, three of 64, eight of
// 32, a `u64`, two of 32, seven pointers, four of 32), the size first; zero is a value of each.
unsafe impl SizedStruct for tavola_mc_options {}

/// Gives a builder what options say.
pub(crate) fn apply(builder: Builder, given: *const tavola_mc_options) -> Result<Builder, Failure> {
    // SAFETY: MC-1 of `given.rs`, of the caller of the function that hands them in.
    let options = unsafe { sized(given, "options") }?;
    // SAFETY: as above.
    let name_space = unsafe { bytes(options.name_space, options.name_space_len, "name_space") }?;
    let mut builder = builder
        .placement(placement(&options)?)
        .namespace(name_space)
        .hash_namespace(flag(options.hash_name_space, "hash_name_space")?)
        .on_down(on_down(options.on_down)?)
        .protocol(protocol(options.protocol)?)
        .replicas(options.replicas as usize)
        .read_any(flag(options.read_any, "read_any")?)
        .multi_key_gets(flag(options.multi_key_gets, "multi_key_gets")?);
    if let Some([start, end]) = hash_tag(options.hash_tag)? {
        builder = builder.hash_tag(start, end);
    }
    builder = limits(builder, &options)?;
    builder = near(builder, &options)?;
    login(tls(builder, &options)?, &options)
}

fn limits(mut builder: Builder, options: &tavola_mc_options) -> Result<Builder, Failure> {
    let time = |ms: u32| Duration::from_millis(ms.into());
    if options.connect_timeout_ms != 0 {
        builder = builder.connect_timeout(time(options.connect_timeout_ms));
    }
    if options.io_timeout_ms != 0 {
        builder = builder.io_timeout(time(options.io_timeout_ms));
    }
    if options.failure_timeout_ms != 0 {
        builder = builder.failure_timeout(time(options.failure_timeout_ms));
    }
    if options.retry_ms != 0 {
        builder = builder.retry(time(options.retry_ms));
    }
    if options.max_failures != 0 {
        builder = builder.max_failures(options.max_failures);
    }
    if options.pool != 0 {
        builder = builder.pool(options.pool as usize);
    }
    if options.max_value != 0 {
        let most = usize::try_from(options.max_value);
        let most = most.map_err(|_| wrong("max_value", "is larger than any memory"))?;
        builder = builder.max_value(most);
    }
    Ok(builder)
}

/// Puts a table in front of the servers.
fn near(builder: Builder, options: &tavola_mc_options) -> Result<Builder, Failure> {
    // SAFETY: MC-1 of `given.rs`.
    let name = unsafe { maybe_text(options.near, "near") }?;
    match (name, options.near_ttl_ms) {
        ("", 0) => Ok(builder),
        ("", _) => Err(wrong("near_ttl_ms", "is given without near; leave it 0")),
        (_, 0) => Err(wrong("near_ttl_ms", "is 0; say how long values stay")),
        (name, ttl) => in_front(builder, name, Duration::from_millis(ttl.into())),
    }
}

#[cfg(feature = "table")]
fn in_front(builder: Builder, name: &str, ttl: Duration) -> Result<Builder, Failure> {
    Ok(builder.near(name, ttl))
}

#[cfg(not(feature = "table"))]
fn in_front(_builder: Builder, _name: &str, _ttl: Duration) -> Result<Builder, Failure> {
    Err(wrong(
        "near",
        "is given, but this library was built without tables",
    ))
}

fn wrong(option: &str, why: &str) -> Failure {
    Failure::Option(format!("the option {option} is invalid: it {why}"))
}

/// What the number of an option means.
fn choose<T: Copy>(choices: &[(i32, T)], number: i32, option: &str) -> Result<T, Failure> {
    let chosen = choices.iter().find(|(choice, _)| *choice == number);
    let why = || format!("is {number}, which is not one of tavola_mc_{option}");
    chosen
        .map(|(_, chosen)| *chosen)
        .ok_or_else(|| wrong(option, &why()))
}

/// A field that is 0 or 1.
pub(crate) fn flag(number: u32, option: &str) -> Result<bool, Failure> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(wrong(option, &format!("is {number}; give 0 or 1"))),
    }
}

fn placement(options: &tavola_mc_options) -> Result<Placement, Failure> {
    use tavola_mc_placement::*;
    let hash = hash(options.hash)?;
    let points = options.points;
    let choices = [
        (TAVOLA_MC_PLACEMENT_KETAMA, Placement::Ketama),
        (TAVOLA_MC_PLACEMENT_KETAMA_SPY, Placement::KetamaSpy),
        (TAVOLA_MC_PLACEMENT_CONSISTENT, Placement::Consistent(hash)),
        (TAVOLA_MC_PLACEMENT_MODULA, Placement::Modula(hash)),
        (TAVOLA_MC_PLACEMENT_FAST, Placement::Fast { points }),
        (TAVOLA_MC_PLACEMENT_JUMP, Placement::Jump),
        (TAVOLA_MC_PLACEMENT_DALLI, Placement::Dalli),
        (TAVOLA_MC_PLACEMENT_RENDEZVOUS, Placement::Rendezvous),
    ];
    let choices = choices.map(|(choice, placement)| (choice as i32, placement));
    let placement = choose(&choices, options.placement, "placement")?;
    let has_hash = matches!(placement, Placement::Consistent(_) | Placement::Modula(_));
    if options.hash != 0 && !has_hash {
        return Err(wrong("hash", "has no effect on this placement; leave it 0"));
    }
    if points != 0 && !matches!(placement, Placement::Fast { .. }) {
        return Err(wrong(
            "points",
            "needs TAVOLA_MC_PLACEMENT_FAST; leave it 0",
        ));
    }
    Ok(placement)
}

fn hash(number: i32) -> Result<Hash, Failure> {
    use tavola_mc_hash::*;
    let choices = [
        (TAVOLA_MC_HASH_ONE_AT_A_TIME, Hash::OneAtATime),
        (TAVOLA_MC_HASH_MD5, Hash::Md5),
        (TAVOLA_MC_HASH_CRC, Hash::Crc),
        (TAVOLA_MC_HASH_FNV1_64, Hash::Fnv1Of64),
        (TAVOLA_MC_HASH_FNV1A_64, Hash::Fnv1aOf64),
        (TAVOLA_MC_HASH_FNV1_32, Hash::Fnv1Of32),
        (TAVOLA_MC_HASH_FNV1A_32, Hash::Fnv1aOf32),
        (TAVOLA_MC_HASH_MURMUR, Hash::Murmur),
        (TAVOLA_MC_HASH_MURMUR3, Hash::Murmur3),
        (TAVOLA_MC_HASH_JENKINS, Hash::Jenkins),
    ];
    let choices = choices.map(|(choice, hash)| (choice as i32, hash));
    choose(&choices, number, "hash")
}

fn on_down(number: i32) -> Result<OnDown, Failure> {
    use tavola_mc_on_down::*;
    let choices = [
        (TAVOLA_MC_ON_DOWN_FAIL, OnDown::Fail),
        (TAVOLA_MC_ON_DOWN_EJECT, OnDown::Eject),
        (TAVOLA_MC_ON_DOWN_NEXT, OnDown::Next),
    ];
    let choices = choices.map(|(choice, on_down)| (choice as i32, on_down));
    choose(&choices, number, "on_down")
}

fn protocol(number: i32) -> Result<Protocol, Failure> {
    use tavola_mc_protocol::*;
    let choices = [
        (TAVOLA_MC_PROTOCOL_AUTO, Protocol::Auto),
        (TAVOLA_MC_PROTOCOL_META, Protocol::Meta),
        (TAVOLA_MC_PROTOCOL_TEXT, Protocol::Text),
        (TAVOLA_MC_PROTOCOL_BINARY, Protocol::Binary),
    ];
    let choices = choices.map(|(choice, protocol)| (choice as i32, protocol));
    choose(&choices, number, "protocol")
}

fn hash_tag(pointer: *const c_char) -> Result<Option<[u8; 2]>, Failure> {
    // SAFETY: MC-1 of `given.rs`.
    match unsafe { maybe_text(pointer, "hash_tag") }?.as_bytes() {
        [] => Ok(None),
        [start, end] => Ok(Some([*start, *end])),
        _ => Err(wrong(
            "hash_tag",
            "does not have two characters, as \"{}\" has",
        )),
    }
}

fn login(builder: Builder, options: &tavola_mc_options) -> Result<Builder, Failure> {
    use tavola_mc_login::*;
    let (user, password) = (options.user, options.password);
    if options.login == TAVOLA_MC_LOGIN_NO as i32 {
        return match user.is_null() && password.is_null() {
            true => Ok(builder),
            false => Err(wrong(
                "login",
                "is 0, but user or password is given; choose TAVOLA_MC_LOGIN_SASL or _TEXT",
            )),
        };
    }
    // SAFETY: MC-1 of `given.rs`, for both of the texts.
    let (user, password) = unsafe { (text(user, "user")?, text(password, "password")?) };
    let choices = [TAVOLA_MC_LOGIN_SASL, TAVOLA_MC_LOGIN_TEXT].map(|login| (login as i32, login));
    let chosen = choose(&choices, options.login, "login")?;
    let is_text = matches!(protocol(options.protocol)?, Protocol::Meta | Protocol::Text);
    match chosen {
        TAVOLA_MC_LOGIN_SASL if is_text => Err(wrong(
            "protocol",
            "is not the binary one, which SASL needs; leave it 0",
        )),
        TAVOLA_MC_LOGIN_SASL => Ok(builder.sasl(user, password)),
        _ => Ok(builder.text_auth(user, password)),
    }
}

#[cfg(feature = "tls")]
fn tls(builder: Builder, options: &tavola_mc_options) -> Result<Builder, Failure> {
    use tavola_client_core::Tls;
    // SAFETY: MC-1 of `given.rs`, for each of the texts.
    let (authorities, certificate, key, name) = unsafe {
        (
            maybe_text(options.tls_authorities, "tls_authorities")?,
            maybe_text(options.tls_certificate, "tls_certificate")?,
            maybe_text(options.tls_key, "tls_key")?,
            maybe_text(options.tls_name, "tls_name")?,
        )
    };
    if !flag(options.tls, "tls")? {
        let is_given = [authorities, certificate, key, name]
            .iter()
            .any(|text| !text.is_empty());
        return match is_given {
            true => Err(wrong(
                "tls",
                "is 0, but files or a name for TLS are given; set it to 1",
            )),
            false => Ok(builder),
        };
    }
    if authorities.is_empty() {
        return Err(wrong("tls", "needs tls_authorities, a file in PEM"));
    }
    if certificate.is_empty() != key.is_empty() {
        return Err(wrong(
            "tls_key",
            "and tls_certificate are given together or not at all",
        ));
    }
    let tls = match certificate.is_empty() {
        true => Tls::trusting(authorities),
        false => Tls::showing(authorities, certificate, key),
    };
    let tls = tls.map_err(|error| Failure::Option(error.to_string()))?;
    Ok(builder.tls(match name.is_empty() {
        true => tls,
        false => tls.named(name),
    }))
}

#[cfg(not(feature = "tls"))]
fn tls(builder: Builder, options: &tavola_mc_options) -> Result<Builder, Failure> {
    match flag(options.tls, "tls")? {
        true => Err(wrong("tls", "is 1, but this library was built without TLS")),
        false => Ok(builder),
    }
}
