"""dogpile.cache's tests of backends, for ``tavola.dogpile.TavolaBackend``."""

import tavola.dogpile
from dogpile.cache.proxy import ProxyBackend
from dogpile.testing.fixtures import (
    _GenericBackendTestSuite,
    _GenericMutexTestSuite,
    _GenericSerializerTestSuite,
)

tavola.dogpile.register()
ARGUMENTS = {"arguments": {"name": "dogpile-tests", "capacity": 16 << 20}}


class TestTavolaBackend(_GenericBackendTestSuite):
    backend = "tavola"
    config_args = ARGUMENTS


class TestTavolaMutex(_GenericMutexTestSuite):
    backend = "tavola"
    config_args = ARGUMENTS


class TestTavolaSerializer(_GenericSerializerTestSuite, TestTavolaBackend):
    pass


class TestTavolaWithoutLock(_GenericBackendTestSuite):
    backend = "tavola"
    config_args = {"arguments": {**ARGUMENTS["arguments"], "distributed_lock": False}}


class _Proxy(ProxyBackend):
    pass


class TestTavolaWithProxy(TestTavolaBackend):
    def test_it_can_be_wrapped(self):
        region = self._region()
        wrapped = _Proxy().wrap(region.backend)
        wrapped.set_serialized("key", b"value")
        assert wrapped.get_serialized("key") == b"value"
