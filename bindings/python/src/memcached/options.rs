//! The options of a client, as Python passes them.

use super::failure::illegal;
use super::keys::KeyRules;
use super::values::Values;
use super::{Ignored, State};
use crate::cell::LockedCell;
use crate::error::bad_option;
use crate::time::duration;
use pyo3::prelude::*;
use std::time::Duration;
use tavola_client::{Builder, Client, OnDown, Placement, Protocol};

/// The options of `tavola.memcached.Client`, each of them given.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Given {
    /// Each as a text that the client reads, and its weight if that is not in the text.
    servers: Vec<(String, Option<f64>)>,
    placement: String,
    key_prefix: Vec<u8>,
    hash_key_prefix: bool,
    hash_tag: Option<String>,
    connect_timeout: Option<Py<PyAny>>,
    timeout: Option<Py<PyAny>>,
    max_failures: Option<u32>,
    failure_timeout: Option<Py<PyAny>>,
    retry: Option<Py<PyAny>>,
    on_down: String,
    protocol: String,
    user: Option<String>,
    password: Option<String>,
    sasl: bool,
    max_pool_size: Option<usize>,
    max_value: Option<usize>,
    near: Option<String>,
    near_ttl: Option<Py<PyAny>>,
    replicas: usize,
    read_any: bool,
    tls_ca: Option<String>,
    tls_cert: Option<String>,
    tls_key: Option<String>,
    tls_name: Option<String>,
    serde: Option<Py<PyAny>>,
    encoding: String,
    allow_unicode_keys: bool,
    ignored: u8,
    default_noreply: bool,
    hold_noreply: bool,
}

impl Given {
    pub(super) fn state(self, py: Python<'_>) -> PyResult<State> {
        let builder = self.builder(py)?;
        let keys = KeyRules {
            prefix_bytes: self.key_prefix.len(),
            allows_unicode: self.allow_unicode_keys,
        };
        keys.check_prefix(&self.key_prefix)
            .map_err(|why| illegal(py, why))?;
        let values = Values::new(py, self.serde, self.encoding)?;
        Ok(State {
            builder,
            client: LockedCell::new(None),
            keys,
            values,
            ignored: match self.ignored {
                0 => Ignored::Nothing,
                1 => Ignored::Reads,
                _ => Ignored::All,
            },
            default_noreply: self.default_noreply,
            holds_noreply: self.hold_noreply,
        })
    }

    fn builder(&self, py: Python<'_>) -> PyResult<Builder> {
        let mut builder = Client::builder();
        for (text, weight) in &self.servers {
            let read = text.parse::<tavola_client::Server>();
            let server = read.map_err(|error| bad_option(py, "servers", error.to_string()))?;
            builder = builder.servers([match weight {
                None => server,
                Some(weight) => server.with_weight(*weight),
            }]);
        }
        builder = builder
            .placement(placement(py, &self.placement)?)
            .namespace(self.key_prefix.as_slice())
            .hash_namespace(self.hash_key_prefix)
            .on_down(on_down(py, &self.on_down)?)
            .protocol(protocol(py, &self.protocol)?)
            .replicas(self.replicas)
            .read_any(self.read_any);
        if let Some(tag) = &self.hash_tag {
            let [start, end] = tag.as_bytes() else {
                return Err(bad_option(py, "hash_tag", "it is two characters: \"{}\""));
            };
            builder = builder.hash_tag(*start, *end);
        }
        builder = self.times(py, builder)?;
        builder = self.limits(builder);
        builder = self.login(py, builder)?;
        builder = self.near(py, builder)?;
        self.tls(py, builder)
    }

    fn times(&self, py: Python<'_>, mut builder: Builder) -> PyResult<Builder> {
        type Set = fn(Builder, Duration) -> Builder;
        let times: [(_, _, Set); 4] = [
            (
                "connect_timeout",
                &self.connect_timeout,
                Builder::connect_timeout,
            ),
            ("timeout", &self.timeout, Builder::io_timeout),
            (
                "failure_timeout",
                &self.failure_timeout,
                Builder::failure_timeout,
            ),
            ("retry", &self.retry, Builder::retry),
        ];
        for (name, given, set) in times {
            if let Some(time) = time(py, name, given.as_ref())? {
                builder = set(builder, time);
            }
        }
        Ok(builder)
    }

    fn limits(&self, mut builder: Builder) -> Builder {
        if let Some(count) = self.max_failures {
            builder = builder.max_failures(count);
        }
        if let Some(most) = self.max_pool_size {
            builder = builder.pool(most);
        }
        match self.max_value {
            Some(bytes) => builder.max_value(bytes),
            None => builder,
        }
    }

    fn login(&self, py: Python<'_>, builder: Builder) -> PyResult<Builder> {
        match (&self.user, &self.password) {
            (None, None) if !self.sasl => Ok(builder),
            (Some(user), Some(password)) if self.sasl => {
                Ok(builder.sasl(user.as_str(), password.as_str()))
            }
            (Some(user), Some(password)) => Ok(builder.text_auth(user.as_str(), password.as_str())),
            _ => Err(bad_option(
                py,
                "user",
                "give user and password together, or neither",
            )),
        }
    }

    fn near(&self, py: Python<'_>, builder: Builder) -> PyResult<Builder> {
        let ttl = time(py, "near_ttl", self.near_ttl.as_ref())?;
        match (&self.near, ttl) {
            (None, None) => Ok(builder),
            (Some(name), Some(ttl)) => Ok(builder.near(name, ttl)),
            _ => Err(bad_option(
                py,
                "near_ttl",
                "give near, the name of a table, and near_ttl, the seconds for which values are \
                 kept there, together",
            )),
        }
    }

    #[cfg(feature = "tls")]
    fn tls(&self, py: Python<'_>, builder: Builder) -> PyResult<Builder> {
        use tavola_client::Tls;
        let made = match (&self.tls_ca, &self.tls_cert, &self.tls_key) {
            (None, None, None) if self.tls_name.is_none() => return Ok(builder),
            (Some(authorities), None, None) => Tls::trusting(authorities),
            (Some(authorities), Some(certificate), Some(key)) => {
                Tls::showing(authorities, certificate, key)
            }
            _ => {
                let why = "give tls_ca, and tls_cert only together with tls_key";
                return Err(bad_option(py, "tls_ca", why));
            }
        };
        let tls = made.map_err(|error| bad_option(py, "tls_ca", error.to_string()))?;
        Ok(builder.tls(match &self.tls_name {
            Some(name) => tls.named(name),
            None => tls,
        }))
    }

    #[cfg(not(feature = "tls"))]
    fn tls(&self, py: Python<'_>, builder: Builder) -> PyResult<Builder> {
        let given = [&self.tls_ca, &self.tls_cert, &self.tls_key, &self.tls_name];
        match given.iter().any(|option| option.is_some()) {
            false => Ok(builder),
            true => Err(bad_option(
                py,
                "tls_ca",
                "this package is built without TLS; build it with the feature tls",
            )),
        }
    }
}

fn time(
    py: Python<'_>,
    name: &'static str,
    given: Option<&Py<PyAny>>,
) -> PyResult<Option<Duration>> {
    let Some(given) = given else {
        return Ok(None);
    };
    match duration(name, given.bind(py))? {
        Some(time) => Ok(Some(time)),
        None => Err(bad_option(py, name, "it does not end; give a time")),
    }
}

fn placement(py: Python<'_>, name: &str) -> PyResult<Placement> {
    let name = match name {
        "pymemcache" => "rendezvous",
        "libmemcached" => "modula",
        other => other,
    };
    let read = name.parse::<Placement>();
    read.map_err(|error| bad_option(py, "placement", error.to_string()))
}

fn on_down(py: Python<'_>, name: &str) -> PyResult<OnDown> {
    match name {
        "fail" => Ok(OnDown::Fail),
        "eject" => Ok(OnDown::Eject),
        "next" => Ok(OnDown::Next),
        _ => {
            let why = "it is \"fail\", \"eject\" or \"next\"";
            Err(bad_option(py, "on_down", why))
        }
    }
}

fn protocol(py: Python<'_>, name: &str) -> PyResult<Protocol> {
    match name {
        "auto" => Ok(Protocol::Auto),
        "meta" => Ok(Protocol::Meta),
        "text" => Ok(Protocol::Text),
        "binary" => Ok(Protocol::Binary),
        _ => {
            let why = "it is \"auto\", \"meta\", \"text\" or \"binary\"";
            Err(bad_option(py, "protocol", why))
        }
    }
}
