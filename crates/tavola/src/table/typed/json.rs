//! JSON, which the shell and programs in other languages read as well.

use super::{Codec, Encode};
use crate::error::BoxError;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Encodes any type that serde supports as JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl<T: Serialize + ?Sized> Encode<T> for Json {
    fn encode(value: &T) -> Result<Vec<u8>, BoxError> {
        Ok(serde_json::to_vec(value)?)
    }
}

impl<T: Serialize + DeserializeOwned> Codec<T> for Json {
    fn decode(bytes: &[u8]) -> Result<T, BoxError> {
        Ok(serde_json::from_slice(bytes)?)
    }
}
