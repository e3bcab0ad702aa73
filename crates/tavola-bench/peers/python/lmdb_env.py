"""LMDB by py-lmdb: a transaction an operation; nothing is synchronised with a disk."""

import harness
import lmdb


class Store:
    def __init__(self, job):
        self.env = lmdb.open(f"{job['dir']}/lmdb", map_size=1 << 30, sync=False, writemap=True)
        self.close = self.env.close

    def put(self, key, value):
        with self.env.begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    def get(self, key):
        with self.env.begin() as transaction:
            return transaction.get(key.encode())

    def version(self):
        return f"py-lmdb {lmdb.__version__}, {harness.PYTHON}"


harness.run(Store)
