//! Which servers, and how they are spoken to.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tavola_client::{Builder, Client, OnDown, Placement, Protocol, Server};

use super::failure;
use crate::error::CliError;
use crate::units;

/// Where libmemcached's tools look for the servers.
pub const SERVERS: &str = "MEMCACHED_SERVERS";
/// Where the password may be.
pub const PASSWORD: &str = "TAVOLA_MC_PASSWORD";

/// The servers of a fleet.
#[derive(clap::Args)]
pub struct FleetArgs {
    #[arg(
        long,
        short,
        value_name = "LIST",
        value_parser = parse_servers,
        help = "The servers, separated by commas: HOST, HOST:PORT, [IPV6]:PORT, unix:/PATH; with a \
                weight: HOST?weight=2 [default: the variable MEMCACHED_SERVERS]"
    )]
    servers: Option<Servers>,
    #[command(flatten)]
    pub link: LinkArgs,
}

/// How keys are placed, and how servers are spoken to.
#[derive(clap::Args)]
#[command(next_help_heading = "Options of the client")]
pub struct LinkArgs {
    #[arg(
        long,
        value_name = "HOW",
        default_value = "ketama",
        value_parser = parse_placement,
        help = "How keys are placed: ketama, ketama-spy, consistent[:HASH], modula[:HASH], \
                fast[:POINTS], dalli, jump or rendezvous. HASH is one of libmemcached's: md5, crc, \
                ..."
    )]
    placement: Placement,
    /// Put these bytes before every key
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "",
        hide_default_value = true
    )]
    namespace: String,
    /// Place keys by the namespace and the key, as Cache::Memcached::Fast can
    #[arg(long, requires = "namespace")]
    hash_namespace: bool,
    /// How long a request may take
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = units::parse_time)]
    timeout: Duration,
    /// How long a connection may take to be made
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::parse_time)]
    connect_timeout: Duration,
    /// What to do if a server is down: fail; next, to let gets ask the next server; or eject, to
    /// place its keys on the others, as all other clients of the fleet must do then
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = parse_on_down)]
    on_down: OnDown,
    /// Keep so many further copies of each key, on the servers that follow in the list
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    replicas: usize,
    /// Let gets ask the copies of a key in random order
    #[arg(long, requires = "replicas")]
    read_any: bool,
    /// The protocol: auto, meta, text or binary
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = parse_protocol)]
    protocol: Protocol,
    #[command(flatten)]
    login: LoginArgs,
    #[cfg(feature = "tls")]
    #[command(flatten)]
    tls: TlsArgs,
}

/// How the client logs in. The password is never an argument, which other users could see.
#[derive(clap::Args)]
struct LoginArgs {
    /// Log in as this user; the password is in --password-file or TAVOLA_MC_PASSWORD
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The file with the password in its first line
    #[arg(long, value_name = "FILE", requires = "user")]
    password_file: Option<PathBuf>,
    /// How to log in: sasl, by SASL PLAIN, or text, for servers that were started with -Y
    #[arg(long, value_name = "HOW", default_value = "sasl", value_parser = ["sasl", "text"])]
    auth: String,
}

/// Whom the client trusts.
#[cfg(feature = "tls")]
#[derive(clap::Args)]
struct TlsArgs {
    /// Connect by TLS, and trust the authorities in this file, in PEM
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Show this certificate to the servers
    #[arg(long, value_name = "FILE", requires_all = ["tls_ca", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Expect this name in the certificates of the servers [default: the host]
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    tls_name: Option<String>,
}

/// A list of servers.
#[derive(Clone, Debug, PartialEq)]
pub struct Servers(pub Vec<Server>);

/// Reads a list of servers. Weights may be written as in libmemcached, too: `HOST:PORT/?2`.
pub fn parse_servers(text: &str) -> Result<Servers, String> {
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    let read = |word: &str| {
        let server = match word.split_once("/?") {
            Some((name, weight)) if weight.parse::<u32>().is_ok() => {
                format!("{name}?weight={weight}").parse::<Server>()
            }
            _ => word.parse(),
        };
        server.map_err(|error| error.to_string())
    };
    let servers: Vec<Server> = words.map(read).collect::<Result<_, _>>()?;
    match servers.is_empty() {
        true => Err("there is no server in the list; write HOST:PORT or unix:/PATH".to_string()),
        false => Ok(Servers(servers)),
    }
}

fn parse_placement(text: &str) -> Result<Placement, String> {
    text.parse()
        .map_err(|error: tavola_client::PlacementError| error.to_string())
}

fn parse_on_down(text: &str) -> Result<OnDown, String> {
    match text {
        "fail" => Ok(OnDown::Fail),
        "next" => Ok(OnDown::Next),
        "eject" => Ok(OnDown::Eject),
        _ => Err(format!("'{text}' is not fail, next or eject")),
    }
}

fn parse_protocol(text: &str) -> Result<Protocol, String> {
    match text {
        "auto" => Ok(Protocol::Auto),
        "meta" => Ok(Protocol::Meta),
        "text" => Ok(Protocol::Text),
        "binary" => Ok(Protocol::Binary),
        _ => Err(format!("'{text}' is not auto, meta, text or binary")),
    }
}

impl FleetArgs {
    /// Returns the servers of the arguments, else of the environment.
    pub fn servers(&self) -> Result<Servers, CliError> {
        if let Some(servers) = &self.servers {
            return Ok(servers.clone());
        }
        match std::env::var(SERVERS) {
            Ok(text) => parse_servers(&text).map_err(|why| failure(format!("{SERVERS}: {why}"))),
            Err(_) => Err(failure(format!(
                "no servers are named; give --servers HOST:PORT,... or set {SERVERS}"
            ))),
        }
    }

    /// Returns a client of the fleet. Nothing is connected yet.
    pub fn client(&self) -> Result<Client, CliError> {
        self.link.client(self.servers()?)
    }
}

impl LinkArgs {
    /// Returns a client of these servers.
    pub fn client(&self, servers: Servers) -> Result<Client, CliError> {
        self.client_with_replicas(servers, self.replicas)
    }

    fn client_with_replicas(&self, servers: Servers, replicas: usize) -> Result<Client, CliError> {
        let builder = Client::builder()
            .servers(servers.0)
            .placement(self.placement)
            .namespace(self.namespace.as_bytes())
            .hash_namespace(self.hash_namespace)
            .io_timeout(self.timeout)
            .connect_timeout(self.connect_timeout)
            .on_down(self.on_down)
            .replicas(replicas)
            .read_any(self.read_any)
            .protocol(self.protocol);
        let builder = self.with_tls(self.with_login(builder)?)?;
        builder.build().map_err(failure)
    }

    /// Returns a client of each server alone: what is on it, wherever its key belongs.
    pub fn clients(&self, servers: Servers) -> Result<Vec<Client>, CliError> {
        let one = |server| self.client_with_replicas(Servers(vec![server]), 0);
        servers.0.into_iter().map(one).collect()
    }

    fn with_login(&self, builder: Builder) -> Result<Builder, CliError> {
        let Some(user) = &self.login.user else {
            return Ok(builder);
        };
        let password = self.login.password()?;
        Ok(match self.login.auth.as_str() {
            "text" => builder.text_auth(user.as_str(), password),
            _ => builder.sasl(user.as_str(), password),
        })
    }

    #[cfg(feature = "tls")]
    fn with_tls(&self, builder: Builder) -> Result<Builder, CliError> {
        use tavola_client::Tls;
        let Some(authorities) = &self.tls.tls_ca else {
            return Ok(builder);
        };
        let tls = match (&self.tls.tls_cert, &self.tls.tls_key) {
            (Some(certificate), Some(key)) => Tls::showing(authorities, certificate, key),
            _ => Tls::trusting(authorities),
        };
        let tls = tls.map_err(failure)?;
        Ok(builder.tls(match &self.tls.tls_name {
            Some(name) => tls.named(name),
            None => tls,
        }))
    }

    #[cfg(not(feature = "tls"))]
    fn with_tls(&self, builder: Builder) -> Result<Builder, CliError> {
        Ok(builder)
    }
}

impl LoginArgs {
    fn password(&self) -> Result<Vec<u8>, CliError> {
        if let Some(path) = &self.password_file {
            let bytes = fs::read(path).map_err(|source| CliError::Read {
                path: path.clone(),
                source,
            })?;
            let line = bytes
                .split(|byte| *byte == b'\n')
                .next()
                .unwrap_or_default();
            return Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec());
        }
        match std::env::var_os(PASSWORD) {
            Some(password) => Ok(password.into_encoded_bytes()),
            None => Err(failure(format!(
                "--user needs a password; give --password-file FILE or set {PASSWORD}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_read_from_a_list() {
        let read = |text: &str| {
            let servers = parse_servers(text)?.0;
            let shown = |server: &Server| format!("{} {}", server.name(), server.weight());
            Ok::<_, String>(servers.iter().map(shown).collect::<Vec<_>>())
        };
        assert_eq!(read("a, b:1,").unwrap(), ["a 1", "b:1 1"]);
        assert_eq!(read("a?weight=2,b:1/?8").unwrap(), ["a 2", "b:1 8"]);
        assert_eq!(read("unix:/a/b").unwrap(), ["unix:/a/b 1"]);
        assert!(read("").unwrap_err().contains("no server"));
        assert!(read("a:0").unwrap_err().contains("port"));
    }
}
