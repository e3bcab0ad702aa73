"""Tavola by its module."""

import harness
import tavola


class Store:
    def __init__(self, job):
        self.table = tavola.open(f"{job['dir']}/store", max_size=1 << 30)
        self.put, self.get, self.close = self.table.set, self.table.get, self.table.close

    def version(self):
        return f"Tavola {tavola.__version__}, {harness.PYTHON}"


harness.run(Store)
