"""diskcache, a cache in SQLite, with its defaults."""

import harness
import diskcache


class Store:
    def __init__(self, job):
        self.cache = diskcache.Cache(f"{job['dir']}/diskcache")
        self.put, self.get, self.close = self.cache.set, self.cache.get, self.cache.close

    def version(self):
        return f"diskcache {diskcache.__version__}, {harness.PYTHON}"


harness.run(Store)
