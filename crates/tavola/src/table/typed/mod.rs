//! Tables whose keys and values have types: [`Typed`] encodes and decodes them by a [`Codec`].

mod codec;
#[cfg(feature = "serde")]
mod json;

pub use codec::{Codec, Encode, Plain};
#[cfg(feature = "serde")]
pub use json::Json;

use super::Table;
use super::leases::LeaseOptions;
use crate::error::{BoxError, Error, Result};
use crate::values::Attributes;
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

/// A view of a [`Table`] with keys of type `K` and values of type `V`.
///
/// The codec `C` turns values into bytes and back: [`Plain`] for numbers, text and bytes, `Json`
/// (feature `serde`) for all types that serde knows, or one of your own. Keys are always encoded by
/// [`Plain`]. Several views with other types can share a table if their keys differ.
///
/// # Examples
/// ```
/// # let table = tavola::Table::options().max_size(1 << 20).private()?;
/// let ages = tavola::Typed::<String, u32>::new(table);
/// ages.set("alice", &41)?;
/// ages.update("alice", |age| age.map(|age| age + 1))?;
/// assert_eq!(ages.get("alice")?, Some(42));
/// # Ok::<(), tavola::Error>(())
/// ```
pub struct Typed<K: ?Sized, V, C = Plain> {
    table: Table,
    types: PhantomData<fn(&K, V, C)>,
}

/// Why a change of a typed value stopped.
struct Stopped(Error);

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// The sentence that the others get, which is that of the caller's own error if it has one.
impl Display for Stopped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Error::Compute { source } => source.fmt(f),
            error => error.fmt(f),
        }
    }
}

fn decoded<T, C: Codec<T>>(bytes: &[u8]) -> Result<T> {
    C::decode(bytes).map_err(|source| Error::Codec { source })
}

fn encoded<T: ?Sized, C: Encode<T>>(value: &T) -> Result<Vec<u8>> {
    C::encode(value).map_err(|source| Error::Codec { source })
}

impl<K: ?Sized, V, C: Codec<V>> Typed<K, V, C> {
    /// Returns a typed view of a table.
    pub fn new(table: Table) -> Self {
        let types = PhantomData;
        Self { table, types }
    }

    /// Returns the table, for operations without a typed form.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the value of a key, or `None` if it is missing.
    ///
    /// # Errors
    /// [`Error::Codec`] if its bytes are not a valid `V`. Otherwise as [`Table::get`].
    pub fn get<Q: ?Sized>(&self, key: &Q) -> Result<Option<V>>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        let value = self.table.get(encoded::<_, Plain>(key)?)?;
        value.as_deref().map(decoded::<V, C>).transpose()
    }

    /// Sets a key.
    ///
    /// # Errors
    /// [`Error::Codec`] if the value cannot be encoded. Otherwise as [`Table::set`].
    pub fn set<Q: ?Sized>(&self, key: &Q, value: &V) -> Result<()>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        self.set_with(key, value, Attributes::default())
    }

    /// Sets a key, with attributes such as a TTL.
    ///
    /// # Errors
    /// As [`Typed::set`] and [`Table::set_with`].
    pub fn set_with<Q: ?Sized>(&self, key: &Q, value: &V, attributes: Attributes) -> Result<()>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        let (key, value) = (encoded::<_, Plain>(key)?, encoded::<_, C>(value)?);
        self.table.set_with(key, value, attributes)
    }

    /// Sets a key only if it is missing, and returns whether it was.
    ///
    /// # Errors
    /// As [`Typed::set`].
    pub fn add<Q: ?Sized>(&self, key: &Q, value: &V) -> Result<bool>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        let (key, value) = (encoded::<_, Plain>(key)?, encoded::<_, C>(value)?);
        self.table.add(key, value)
    }

    /// Removes a key, and returns whether it was there.
    ///
    /// # Errors
    /// As [`Table::remove`].
    pub fn remove<Q: ?Sized>(&self, key: &Q) -> Result<bool>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        self.table.remove(encoded::<_, Plain>(key)?)
    }

    /// Changes a value atomically, retried on conflict. `new` gets the old value, or `None` if the
    /// key is missing, and returns the new one, or `None` to remove the key. Returns the new value.
    ///
    /// # Errors
    /// As [`Typed::get`] and [`Typed::set`]; the key then does not change.
    ///
    /// # Concurrency
    /// As [`Table::update`].
    pub fn update<Q: ?Sized>(
        &self,
        key: &Q,
        mut new: impl FnMut(Option<V>) -> Option<V>,
    ) -> Result<Option<V>>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        let mut now = None;
        self.table.try_update(encoded::<_, Plain>(key)?, |old| {
            now = new(old.map(decoded::<V, C>).transpose()?);
            now.as_ref().map(encoded::<V, C>).transpose()
        })?;
        Ok(now)
    }

    /// Returns the value of a key, and lets one process compute it if it is missing or stale, see
    /// [`Table::get_or_compute`].
    ///
    /// # Errors
    /// As [`Table::get_or_compute`], [`Typed::get`] and [`Typed::set`].
    pub fn get_or_compute<Q: ?Sized>(
        &self,
        key: &Q,
        options: LeaseOptions,
        compute: impl FnOnce() -> Result<V, BoxError>,
    ) -> Result<V>
    where
        K: std::borrow::Borrow<Q>,
        Plain: Encode<Q>,
    {
        let compute = || {
            let value = compute().map_err(|source| Stopped(Error::Compute { source }))?;
            encoded::<V, C>(&value).map_err(Stopped)
        };
        let (key, no_tags): (_, [&[u8]; 0]) = (encoded::<_, Plain>(key)?, []);
        let outcome = self
            .table
            .try_get_or_compute(key, options, &no_tags, compute);
        decoded::<V, C>(&outcome.map_err(|stopped| stopped.0)?)
    }

    /// Returns an iterator over all entries, in no particular order.
    ///
    /// # Errors
    /// [`Error::Codec`] for an entry that is not a valid `K` and `V`; the next call continues with
    /// the next entry. Otherwise as [`Table::iter`].
    ///
    /// # Concurrency
    /// As [`Table::iter`].
    pub fn iter(&self) -> impl Iterator<Item = Result<(K, V)>> + '_
    where
        K: Sized,
        Plain: Codec<K>,
    {
        self.table.iter().map(|entry| {
            let (key, value) = entry?;
            Ok((decoded::<K, Plain>(&key)?, decoded::<V, C>(&value)?))
        })
    }
}

impl<K: ?Sized, V, C> fmt::Debug for Typed<K, V, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed")
            .field("table", &self.table.path())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn table() -> Table {
        Table::options().max_size(4 << 20).private().unwrap()
    }

    #[test]
    fn values_come_back_as_they_were() {
        let numbers = Typed::<u64, f64>::new(table());
        for key in 0..100 {
            numbers.set(&key, &(key as f64 / 3.0)).unwrap();
        }
        assert_eq!(numbers.get(&9).unwrap(), Some(3.0));
        assert_eq!(numbers.get(&100).unwrap(), None);
        let sum: u64 = numbers.iter().map(|entry| entry.unwrap().0).sum();
        assert_eq!(sum, 4950);
        assert!(numbers.remove(&9).unwrap() && !numbers.remove(&9).unwrap());
        assert!(numbers.add(&9, &1.0).unwrap() && !numbers.add(&9, &2.0).unwrap());
        assert_eq!(
            numbers.update(&9, |old| old.map(|x| x + 1.0)).unwrap(),
            Some(2.0)
        );
        assert_eq!(numbers.update(&9, |_| None).unwrap(), None);
        assert_eq!(numbers.get(&9).unwrap(), None);
    }

    #[test]
    fn bytes_of_another_type_are_an_error_and_stay() {
        let numbers = Typed::<String, u32>::new(table());
        numbers.table().set("alice", "no number").unwrap();
        assert!(matches!(numbers.get("alice"), Err(Error::Codec { .. })));
        let update = numbers.update("alice", |_| Some(1));
        assert!(matches!(update, Err(Error::Codec { .. })));
        assert_eq!(numbers.table().get("alice").unwrap().unwrap(), b"no number");
        assert!(matches!(
            numbers.iter().next(),
            Some(Err(Error::Codec { .. }))
        ));
    }

    #[test]
    fn a_value_is_computed_once() {
        let texts = Typed::<str, String>::new(table());
        let minute = LeaseOptions::new(Duration::from_secs(60));
        for _ in 0..2 {
            let made = texts.get_or_compute("k", minute, || Ok("made".to_string()));
            assert_eq!(made.unwrap(), "made");
        }
        let error = texts.get_or_compute("other", minute, || Err("not today".into()));
        assert!(matches!(error, Err(Error::Compute { .. })));
        let failed = texts.get_or_compute("other", minute, || Ok(String::new()));
        assert!(matches!(failed, Err(Error::NotComputed { why, .. }) if why == "not today"));
    }

    #[cfg(feature = "serde")]
    #[test]
    fn json_keeps_what_serde_knows() {
        let carts = Typed::<String, Vec<(String, u32)>, Json>::new(table());
        let cart = vec![("apple".to_string(), 3)];
        carts.set("alice", &cart).unwrap();
        assert_eq!(carts.get("alice").unwrap(), Some(cart));
        let text = carts.table().get("alice").unwrap().unwrap();
        assert_eq!(text, br#"[["apple",3]]"#);
        carts.table().set("bob", "{").unwrap();
        assert!(matches!(carts.get("bob"), Err(Error::Codec { .. })));
    }
}
