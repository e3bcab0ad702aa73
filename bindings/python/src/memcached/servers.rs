//! Calls about servers, not keys.

use super::{Ignored, MemcachedClient, failure};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tavola_client::{Client, Error};

/// The answers of all servers, by their names.
type Answered<T> = Vec<(String, T)>;

/// A figure of a server and its value.
type Figure<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

impl MemcachedClient {
    fn ask_all<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Client) -> Vec<Result<T, Error>> + Send,
    ) -> PyResult<Answered<T>> {
        let client = self.state(py)?.client(py)?;
        let answers = py.detach(|| ask(&client));
        let named = client.servers().iter().zip(answers);
        named
            .map(|(server, answer)| match answer {
                Ok(answer) => Ok((server.name().to_string(), answer)),
                Err(error) => Err(failure::raised(py, &error)),
            })
            .collect()
    }
}

#[pymethods]
impl MemcachedClient {
    fn _stats<'py>(&self, py: Python<'py>, topic: &str) -> PyResult<Answered<Vec<Figure<'py>>>> {
        let bytes = |bytes: Vec<u8>| PyBytes::new(py, &bytes);
        let figures = |all: Vec<tavola_client::Stat>| {
            let pair = |[name, value]: tavola_client::Stat| (bytes(name), bytes(value));
            all.into_iter().map(pair).collect()
        };
        let answered = self.ask_all(py, |client| client.stats(topic))?;
        let named = |(name, all)| (name, figures(all));
        Ok(answered.into_iter().map(named).collect())
    }

    fn _versions(&self, py: Python<'_>) -> PyResult<Answered<String>> {
        self.ask_all(py, Client::versions)
    }

    /// Remove all keys of all servers, after so many seconds. Return True.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.flush_all()
    /// True
    #[pyo3(signature = (delay=0, noreply=None))]
    fn flush_all(&self, py: Python<'_>, delay: u32, noreply: Option<bool>) -> PyResult<bool> {
        // It is waited for, as an answer is the only proof that it was done.
        let _ = noreply;
        match self.ask_all(py, |client| client.flush_all(delay)) {
            Ok(_) => Ok(true),
            Err(_) if self.state(py)?.ignored == Ignored::All => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Send what ``hold_noreply`` holds, of all threads, and wait until it is carried out.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc", hold_noreply=True)
    /// >>> client.set("fruit", "apple")
    /// True
    /// >>> client.flush()
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let client = self.state(py)?.client(py)?;
        let flushed = py.detach(|| client.flush());
        flushed.map_err(|error| failure::raised(py, &error))
    }

    /// Return the name of the server that has a key, whether it is up or not.
    ///
    /// >>> from tavola.memcached import HashClient
    /// >>> HashClient([("10.0.0.1", 11211), ("10.0.0.2", 11211)]).server_of("key:1")
    /// '10.0.0.2:11211'
    fn server_of(&self, key: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = key.py();
        let state = self.state(py)?;
        let bytes = state.keys.bytes(key)?;
        let client = state.client(py)?;
        Ok(client.servers()[client.server_of(bytes)].name().to_string())
    }

    /// The names of the servers, in their order.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> Client(["10.0.0.1", "unix:/run/mc.sock"]).servers
    /// ['10.0.0.1', 'unix:/run/mc.sock']
    #[getter]
    fn servers(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let client = self.state(py)?.client(py)?;
        let name = |server: &tavola_client::Server| server.name().to_string();
        Ok(client.servers().iter().map(name).collect())
    }
}
