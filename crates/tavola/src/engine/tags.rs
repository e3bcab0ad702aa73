//! Tags: names that many keys may have in common, so that all these keys can be removed at once.
//!
//! A tag is an item with a uid, and each key that has the tag stores that uid. A reader of the key
//! checks that the uid still leads to the tag. So removing the tag's item, which is one store,
//! makes all its keys missing.
//!
//! | step of invalidating, under the lock of the tag's shard | a reader of a key with it finds |
//! |---|---|
//! | the uid of the tag says `InTransition` | the key: the tag exists by name |
//! | its slot is cleared, the bucket's version rises | no key |
//! | its uid is free | no key |
//!
//! A survivor finds the tag either there or gone, as after the removal of a key (`engine::write`),
//! because the index alone decides whether a tag exists.
//!
//! **TAG-1** A key exists only as long as all its tags do: their uids, with their generations, are
//! in its item, and no uid is given out twice with the same generation.
//!
//! **TAG-2** A caller takes the tags of a key before it reads the data that the value is computed
//! from. So if a tag is invalidated after that data was read, the value is missing from the
//! beginning, however late it is stored.

use super::attributes::no_room;
use super::core::Core;
use super::request::{Metadata, WriteCondition};
use crate::alloc::{Tags, free_uid, mark_use, take_uid, unused_for, write_tag};
use crate::error::{Error, Result};
use crate::index::locate::{
    Hash, HintOf, New, Spot, Why, count_tag, drop_key, find, publish, read_tag, tag_name,
};
use crate::layout::{Hint, MOST_TAGS};
use crate::values::Attributes;

/// The longest name of a tag in bytes.
const LONGEST_NAME: usize = 4096;

#[cold]
fn wrong(why: String) -> Error {
    let option = "tag";
    Error::BadOption { option, why }
}

impl Core {
    pub(crate) fn tags(&self, names: &[impl AsRef<[u8]>]) -> Result<Tags> {
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

    /// Returns the uid of a tag, which is created if there is no tag with this name.
    fn tag(&self, name: &[u8]) -> Result<Hint> {
        let mut has = HintOf(Hint::NONE);
        if !read_tag(self.region(), name, &mut has)? || !has.0.is_some() {
            return self.make_tag(name);
        }
        self.use_tags([has.0].into_iter())?;
        Ok(has.0)
    }

    /// Marks tags of a cache as used.
    pub(crate) fn use_tags(&self, tags: impl Iterator<Item = Hint>) -> Result<()> {
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
                // A repair removed the tag's uid, which was damaged: so no key has the tag any
                // more.
                drop_key(lock, &found, Why::Tag)?;
                spot = find(lock, hash, name)?;
            }
            let hint = take_uid(lock)?;
            let item_ref = write_tag(lock, name, hint).inspect_err(|_| free_uid(lock, hint))?;
            let new = New::small(item_ref, name.len(), hint);
            publish(lock, hash, spot, new, Why::Tag, || ())?;
            mark_use(lock, hint);
            count_tag(lock);
            Ok(hint)
        })
    }

    pub(crate) fn invalidate(&self, name: &[u8]) -> Result<bool> {
        let me = self.writer()?;
        let hash = Hash::of_tag(self.region(), name);
        let removed = self.locked(hash.shard(), me, |lock| match find(lock, hash, name)? {
            Spot::Taken(found) => drop_key(lock, &found, Why::Tag).map(|()| true),
            Spot::Free(_) => Ok(false),
        })?;
        // The call removes keys, namely those that have the tag.
        self.count_remove(me);
        Ok(removed)
    }

    pub(crate) fn store_tagged(
        &self,
        key: &[u8],
        value: &[u8],
        when: WriteCondition<'_>,
        attributes: Attributes,
        tags: &Tags,
    ) -> Result<bool> {
        if !tags.is_empty() && self.region().fixed().is_some() {
            return Err(no_room());
        }
        let mut metadata: Metadata<'_> = self.metadata(attributes)?;
        metadata.stamp.tags = tags;
        let stored = self.store(key, value, when, Some(&metadata))?;
        if stored {
            self.use_tags(tags.hints())?;
        }
        Ok(stored)
    }

    pub(crate) fn tag_names(&self, tags: &Tags) -> Result<Vec<Vec<u8>>> {
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
