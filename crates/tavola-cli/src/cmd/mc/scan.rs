//! All keys of a server, and their values in batches.

use tavola_client::Client;

use super::failure;
use crate::error::CliError;

/// Keys whose values are fetched together.
const BATCH: usize = 100;

/// The keys of a server, all of them in memory: a server may stop listing them for a client that
/// takes its time.
#[derive(Default)]
pub struct Keys {
    /// For each key its length and its bytes.
    bytes: Vec<u8>,
    count: u64,
}

impl Keys {
    /// Lists the keys of the only server of a client.
    pub fn of(client: &Client) -> Result<Keys, CliError> {
        let mut keys = Keys::default();
        let listed = client.keys(0, &mut |key| keys.push(key));
        match listed {
            Ok(()) => Ok(keys),
            Err(why) => Err(failure(format!("{}: {why}", client.servers()[0].name()))),
        }
    }

    fn push(&mut self, key: &[u8]) {
        // No key of memcached is longer than 250 bytes.
        let Ok(len) = u8::try_from(key.len()) else {
            return;
        };
        self.bytes.push(len);
        self.bytes.extend_from_slice(key);
        self.count += 1;
    }

    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns the keys, some at a time.
    pub fn batches(&self) -> impl Iterator<Item = Vec<Vec<u8>>> + '_ {
        let mut rest = &self.bytes[..];
        std::iter::from_fn(move || {
            let mut batch = Vec::new();
            while batch.len() < BATCH
                && let Some((len, behind)) = rest.split_first()
            {
                let (key, behind) = behind.split_at(usize::from(*len));
                batch.push(key.to_vec());
                rest = behind;
            }
            (!batch.is_empty()).then_some(batch)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_out_as_they_went_in() {
        let mut keys = Keys::default();
        let all: Vec<Vec<u8>> = (0..250).map(|n| format!("{n}").into_bytes()).collect();
        all.iter().for_each(|key| keys.push(key));
        assert_eq!(keys.len(), 250);
        let batches: Vec<_> = keys.batches().collect();
        assert_eq!(
            batches.iter().map(Vec::len).collect::<Vec<_>>(),
            [100, 100, 50]
        );
        assert_eq!(batches.concat(), all);
    }
}
