"""Flask-Caching's tests of backends, for ``tavola.flask_caching.TavolaCache``.

It is copied into Flask-Caching's tests, so that its imports are theirs.
"""

import pytest
from test_backend_cache import GenericCacheTests

from tavola.flask_caching import TavolaCache


class TestTavolaCache(GenericCacheTests):
    @pytest.fixture
    def make_cache(self, tmp_path):
        def make(**options):
            return TavolaCache(str(tmp_path / "cache"), capacity=16 << 20, **options)

        return make
