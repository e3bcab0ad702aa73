"""cachetools' LRUCache of this process, which evicts nothing here."""

import harness
import cachetools


class Store:
    def __init__(self, job):
        cache = cachetools.LRUCache(maxsize=10**9)
        self.put, self.get = cache.__setitem__, cache.get

    def close(self):
        pass

    def version(self):
        return f"cachetools {cachetools.__version__}, {harness.PYTHON}"


harness.run(Store)
