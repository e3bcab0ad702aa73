"""Django's tests of cache backends, for ``tavola.django.TavolaCache``.

It is copied into Django's tests, so that its imports are theirs.
"""

import copy

from django.core.cache import cache, caches
from django.test import SimpleTestCase, TestCase, override_settings

from .tests import BaseCacheTests, _caches_setting_base


def _settings(**more):
    made = copy.deepcopy(_caches_setting_base)
    for params in made.values():
        params.update(
            BACKEND="tavola.django.TavolaCache", LOCATION="django-tests", **copy.deepcopy(more)
        )
        params.setdefault("OPTIONS", {}).setdefault("capacity", 16 << 20)
    return made


@override_settings(CACHES=_settings())
class TavolaCacheTests(BaseCacheTests, TestCase):
    """All tests that Django has for every backend."""


@override_settings(CACHES=_settings())
class TavolaAsyncTests(SimpleTestCase):
    """The asynchronous calls, which Django tests with a backend that stores nothing."""

    def tearDown(self):
        cache.clear()

    async def test_simple(self):
        await cache.aset("key", "value")
        self.assertEqual(await cache.aget("key"), "value")

    async def test_aadd(self):
        self.assertIs(await cache.aadd("key", "value"), True)
        self.assertIs(await cache.aadd("key", "other"), False)
        self.assertEqual(await cache.aget("key"), "value")

    async def test_non_existent(self):
        self.assertIsNone(await cache.aget("missing"))
        self.assertEqual(await cache.aget("missing", "default"), "default")

    async def test_aget_many_aset_many_adelete_many(self):
        self.assertEqual(await cache.aset_many({"a": 1, "b": 2}), [])
        self.assertEqual(await cache.aget_many(["a", "b", "c"]), {"a": 1, "b": 2})
        await cache.adelete_many(["a", "b"])
        self.assertEqual(await cache.aget_many(["a", "b"]), {})

    async def test_adelete_and_ahas_key(self):
        await cache.aset("key", 1)
        self.assertIs(await cache.ahas_key("key"), True)
        self.assertIs(await cache.adelete("key"), True)
        self.assertIs(await cache.adelete("key"), False)
        self.assertIs(await cache.ahas_key("key"), False)

    async def test_aincr_and_adecr(self):
        await cache.aset("key", 5)
        self.assertEqual(await cache.aincr("key", 3), 8)
        self.assertEqual(await cache.adecr("key"), 7)
        with self.assertRaises(ValueError):
            await cache.aincr("missing")

    async def test_aget_or_set(self):
        self.assertEqual(await cache.aget_or_set("key", lambda: "made"), "made")
        self.assertEqual(await cache.aget_or_set("key", "other"), "made")

    async def test_atouch_and_expiry(self):
        await cache.aset("key", 1, timeout=60)
        self.assertIs(await cache.atouch("key", 0), True)
        self.assertIsNone(await cache.aget("key"))
        self.assertIs(await cache.atouch("key"), False)

    async def test_versions(self):
        await cache.aset("key", 1, version=1)
        self.assertEqual(await cache.aincr_version("key", version=1), 2)
        self.assertEqual(await cache.aget("key", version=2), 1)
        self.assertEqual(await caches["v2"].aget("key"), 1)
        self.assertEqual(await cache.adecr_version("key", version=2), 1)

    async def test_aclear_and_aclose(self):
        await cache.aset("key", 1)
        await cache.aclear()
        self.assertIsNone(await cache.aget("key"))
        await cache.aclose()
