"""memcached by the client pymemcache: bytes as they are."""

import harness
import pymemcache
from pymemcache.client.base import Client


class Store:
    def __init__(self, job):
        self.client = Client(job["address"], no_delay=True, default_noreply=False)
        self.get, self.close = self.client.get, self.client.close

    def put(self, key, value):
        if not self.client.set(key, value):
            raise RuntimeError("a set was refused")

    def version(self):
        return f"pymemcache {pymemcache.__version__}, {harness.PYTHON}"


harness.run(Store)
