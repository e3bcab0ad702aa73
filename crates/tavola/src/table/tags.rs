//! Tags: keys that are gone together.
//!
//! | step of invalidating, under the lock of the tag's shard | a reader of a key with it finds |
//! |---|---|
//! | the uid of the tag says `Flux` | the key: the tag is there by name |
//! | its slot is cleared, the bucket bumped | no key |
//! | its uid is free | no key |
//!
//! A survivor finds the one or the other, as after a removal (`table::write`): what a tag is, the
//! index alone tells. **TAG-1** A key is there only as long as all its tags are: their uids, with
//! their generations, stand in its item, and no uid is given out twice with the same generation.
//! **TAG-2** Who sets a key takes its tags before it reads what the value is made of. So a value
//! that is made of what was before a tag was invalidated is missing from the beginning, whenever it
//! is stored.

use super::Table;
use super::attributes::no_room;
use super::core::Core;
use super::request::{Metadata, When};
use crate::alloc::{Tags, free_uid, mark_use, take_uid, unused_for, write_tag};
use crate::error::{Error, Result};
use crate::index::{
    Hash, HintOf, New, Spot, Why, drop_key, find, publish, read, read_tag, tag_name,
};
use crate::layout::{Hint, MOST_TAGS};
use crate::values::Attributes;

/// The most bytes of the name of a tag.
const LONGEST_NAME: usize = 4096;

#[cold]
fn wrong(why: String) -> Error {
    let option = "tag";
    Error::BadOption { option, why }
}

impl Core {
    pub(super) fn tags(&self, names: &[impl AsRef<[u8]>]) -> Result<Tags> {
        if !names.is_empty() && self.region().fixed().is_some() {
            return Err(no_room());
        }
        let mut tags = Tags::NONE;
        for name in names {
            if !tags.push(self.tag(name.as_ref())?) {
                return Err(wrong(format!("a key has at most {MOST_TAGS} tags")));
            }
        }
        Ok(tags)
    }

    /// The uid of a tag, which is made if there is none of this name.
    fn tag(&self, name: &[u8]) -> Result<Hint> {
        let mut has = HintOf(Hint::NONE);
        if !read_tag(self.region(), name, &mut has)? || !has.0.is_some() {
            return self.make_tag(name);
        }
        self.use_tags([has.0].into_iter())?;
        Ok(has.0)
    }

    /// Notes of tags in a cache that they are in use.
    pub(super) fn use_tags(&self, tags: impl Iterator<Item = Hint>) -> Result<()> {
        let region = self.region();
        if region.is_cache() && region.is_writable() {
            for tag in tags {
                if unused_for(region, tag) != 0 {
                    self.use_tag(self.writer()?, tag);
                }
            }
        }
        Ok(())
    }

    #[cold]
    fn make_tag(&self, name: &[u8]) -> Result<Hint> {
        if name.len() > LONGEST_NAME {
            let why = format!(
                "its name has {} bytes, more than {LONGEST_NAME}",
                name.len()
            );
            return Err(wrong(why));
        }
        let me = self.writer()?;
        let hash = Hash::of_tag(self.region(), name);
        self.locked(hash.shard(), me, |lock| {
            let mut spot = find(lock, hash, name)?;
            if let Spot::Taken(found) = spot {
                let hint = found.hint(lock)?;
                if hint.is_some() {
                    return Ok(hint);
                }
                // A repair took its uid, which was damaged: so no key has it any more.
                drop_key(lock, &found, Why::Tag)?;
                spot = find(lock, hash, name)?;
            }
            let hint = take_uid(lock)?;
            let item_ref = write_tag(lock, name, hint).inspect_err(|_| free_uid(lock, hint))?;
            let new = New {
                item_ref,
                payload: name.len(),
                hint,
            };
            publish(lock, hash, spot, new, Why::Tag, || ())?;
            mark_use(lock, hint);
            lock.head.tags.add_owned(1);
            Ok(hint)
        })
    }

    fn invalidate(&self, name: &[u8]) -> Result<bool> {
        let me = self.writer()?;
        let hash = Hash::of_tag(self.region(), name);
        let removed = self.locked(hash.shard(), me, |lock| match find(lock, hash, name)? {
            Spot::Taken(found) => drop_key(lock, &found, Why::Tag).map(|()| true),
            Spot::Free(_) => Ok(false),
        })?;
        // It removes keys, by way of their tag.
        self.count_remove(me);
        Ok(removed)
    }

    fn store_tagged(
        &self,
        (key, value): (&[u8], &[u8]),
        when: When<'_>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<bool> {
        if !tags.is_empty() && self.region().fixed().is_some() {
            return Err(no_room());
        }
        let mut metadata: Metadata<'_> = self.metadata(attributes)?;
        metadata.stamp.tags = tags;
        let stored = self.store_with(key, value, when, Some(&metadata))?;
        if stored {
            self.use_tags(tags.hints())?;
        }
        Ok(stored)
    }

    fn tag_names(&self, tags: &Tags) -> Result<Vec<Vec<u8>>> {
        let mut names = Vec::with_capacity(tags.len());
        for hint in tags.hints() {
            let mut name = Vec::new();
            if tag_name(self.region(), hint, &mut name)? {
                names.push(name);
            }
        }
        Ok(names)
    }
}

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
    /// [`Error::BadOption`] for more than 16 tags, a name of more than 4096 bytes, or a table of
    /// fixed lengths. If a tag is created, as [`Table::set`].
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
        core.store_tagged((key, value), When::Always, attributes, tags)
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
        core.store_tagged((key, value), When::Absent, attributes, tags)
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
