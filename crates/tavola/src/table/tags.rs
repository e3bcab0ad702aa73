//! Tags: keys that are gone together.

use super::Table;
use crate::alloc::Tags;
use crate::engine::WriteCondition;
use crate::error::Result;
use crate::index::locate::{Hash, read};
use crate::values::Attributes;

impl Table {
    /// Returns the current handles of tags with these names, for [`Table::set_tagged`]. Creates
    /// missing tags.
    ///
    /// Fetch the tags *before* you load the source data of the value: if a tag is invalidated in
    /// between, the key is then missing from the beginning. The same happens if a cache evicts the
    /// tag, because no key was set or read with it for a while; so do not keep the handles for
    /// long.
    ///
    /// # Errors
    /// [`Error::BadOption`](crate::Error::BadOption) for more than 16 tags, a name of more than
    /// 4096 bytes, or a table of fixed lengths. If a tag is created, as [`Table::set`].
    ///
    /// # Concurrency
    /// Takes no lock if all tags exist.
    ///
    /// # Crash
    /// If the process is killed in the call, some of the tags may have been created.
    pub fn fetch_tags(&self, names: &[impl AsRef<[u8]>]) -> Result<Tags> {
        self.core()?.tags(names)
    }

    /// Sets a key with attributes and tags: the key is missing as soon as one of the tags is
    /// invalidated. A `set`, `add`, `replace` or `swap` without tags removes them, as it does
    /// attributes; changes of the value (`update`, `append`, `incr`) and `touch` keep them.
    ///
    /// A tag takes 8 bytes in each key that has it, and one item with its name and a uid.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use tavola::Attributes;
    /// let tags = table.fetch_tags(&["news", "user:7"])?;
    /// table.set_tagged(b"page:1", b"<p>hello</p>", Attributes::default(), &tags)?;
    /// let tags = table.fetch_tags(&["news"])?;
    /// table.set_tagged(b"page:2", b"<p>world</p>", Attributes::default(), &tags)?;
    /// table.invalidate_tag(b"user:7")?;
    /// assert!(!table.contains(b"page:1")? && table.contains(b"page:2")?);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Table::set_with`].
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn set_tagged(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<()> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        core.store_tagged(key, value, WriteCondition::Always, attributes, tags)
            .map(|_| ())
    }

    /// Sets a key with tags only if it is missing. Returns false if the key exists; it then does
    /// not change.
    ///
    /// # Errors
    /// As [`Table::set_with`].
    ///
    /// # Crash
    /// As [`Table::set`].
    pub fn add_tagged(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<bool> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let core = self.core()?;
        core.store_tagged(key, value, WriteCondition::Absent, attributes, tags)
    }

    /// Invalidates a tag: from now on all keys that have it are missing for all processes. Returns
    /// false if there was no such tag.
    ///
    /// The time does not depend on the number of keys; their memory is reclaimed later, as for
    /// expired keys. [`Table::fetch_tags`] creates the tag again.
    ///
    /// # Errors
    /// As [`Table::remove`].
    ///
    /// # Crash
    /// If the process is killed in the call, all of the keys exist or none of them.
    pub fn invalidate_tag(&self, name: impl AsRef<[u8]>) -> Result<bool> {
        let name = name.as_ref();
        self.core()?.invalidate(name)
    }

    /// Returns the names of the tags of a key, or `None` if the key is missing.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn tags_of(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<Vec<u8>>>> {
        let key = key.as_ref();
        let core = self.core()?;
        let mut tags = Tags::NONE;
        if !read(core.region(), key, Hash::of(core.region(), key), &mut tags)? {
            return Ok(None);
        }
        core.tag_names(&tags).map(Some)
    }

    /// Returns the names of tags, except those that were invalidated since.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn tag_names(&self, tags: &Tags) -> Result<Vec<Vec<u8>>> {
        self.core()?.tag_names(tags)
    }
}
