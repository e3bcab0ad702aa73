"""cachetools' tests of ``cached``, for ``tavola.cached``: over their caches and over tables.

It is copied into cachetools' tests, so that its imports are theirs.
"""

import itertools

import cachetools
import cachetools.keys

import tavola


def cached(cache, key=None, *args, **kwargs):
    """Decorate as tavola.cached, with the key function that the tests expect without one."""
    return tavola.cached(cache, key or cachetools.keys.hashkey, *args, **kwargs)


cachetools.cached = cached

from . import test_cached as theirs  # noqa: E402

_numbers = itertools.count()


class CacheTest(theirs.CacheWrapperTest):
    """Their tests for a cache."""


class DictTest(theirs.DictWrapperTest):
    """Their tests for a dict."""


class NoneTest(theirs.NoneWrapperTest):
    """Their tests for no cache."""


class TableTest(theirs.DictWrapperTest):
    """Their tests for a dict, with a table instead; a table has keys that are text."""

    def setUp(self):
        self.before = cachetools.keys.hashkey, cachetools.keys.typedkey
        cachetools.keys.hashkey, cachetools.keys.typedkey = tavola.hashkey, tavola.typedkey

    def tearDown(self):
        cachetools.keys.hashkey, cachetools.keys.typedkey = self.before

    def cache(self, minsize):
        return tavola.open(f"cached-{next(_numbers)}")
