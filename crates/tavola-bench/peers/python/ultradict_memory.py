"""UltraDict: a dict of each process, kept equal by a stream of changes in shared memory."""

import importlib.metadata

import harness
from UltraDict import UltraDict

# Room for the changes of one pass, and for all pairs, which are dumped when that room is used up.
ROOM = 256 << 20


class Store:
    def __init__(self, job):
        self.values = UltraDict(buffer_size=ROOM, full_dump_size=ROOM, auto_unlink=True)
        self.put, self.get = self.values.__setitem__, self.values.get
        self.close = self.values.unlink

    def version(self):
        return f"UltraDict {importlib.metadata.version('ultradict')}, {harness.PYTHON}"


harness.run(Store)
