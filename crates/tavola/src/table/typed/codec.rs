//! How values become bytes.

use crate::error::BoxError;

/// Turns values of type `T` into bytes.
pub trait Encode<T: ?Sized> {
    /// Returns the bytes of a value.
    ///
    /// # Errors
    /// Any, if the value has no bytes.
    fn encode(value: &T) -> Result<Vec<u8>, BoxError>;
}

/// Turns values of type `T` into bytes and back.
///
/// All programs that share a table must agree on it; the bytes carry no mark of their type.
pub trait Codec<T>: Encode<T> {
    /// Returns the value that bytes stand for.
    ///
    /// # Errors
    /// Any, if they stand for none.
    fn decode(bytes: &[u8]) -> Result<T, BoxError>;
}

/// Encodes numbers in little-endian order, text as UTF-8, and bytes unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Encode<$number> for Plain {
            fn encode(value: &$number) -> Result<Vec<u8>, BoxError> {
                Ok(value.to_le_bytes().to_vec())
            }
        }

        impl Codec<$number> for Plain {
            fn decode(bytes: &[u8]) -> Result<$number, BoxError> {
                Ok(<$number>::from_le_bytes(bytes.try_into()?))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128, f32, f64);

impl Encode<str> for Plain {
    fn encode(value: &str) -> Result<Vec<u8>, BoxError> {
        Ok(value.as_bytes().to_vec())
    }
}

impl Encode<String> for Plain {
    fn encode(value: &String) -> Result<Vec<u8>, BoxError> {
        Ok(value.as_bytes().to_vec())
    }
}

impl Codec<String> for Plain {
    fn decode(bytes: &[u8]) -> Result<String, BoxError> {
        Ok(std::str::from_utf8(bytes)?.to_string())
    }
}

impl Encode<[u8]> for Plain {
    fn encode(value: &[u8]) -> Result<Vec<u8>, BoxError> {
        Ok(value.to_vec())
    }
}

impl Encode<Vec<u8>> for Plain {
    fn encode(value: &Vec<u8>) -> Result<Vec<u8>, BoxError> {
        Ok(value.clone())
    }
}

impl Codec<Vec<u8>> for Plain {
    fn decode(bytes: &[u8]) -> Result<Vec<u8>, BoxError> {
        Ok(bytes.to_vec())
    }
}
