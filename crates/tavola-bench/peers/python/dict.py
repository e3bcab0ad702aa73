"""A dict of this process: the most that Python can do."""

import harness


class Store:
    def __init__(self, job):
        values = {}
        self.put, self.get = values.__setitem__, values.get

    def close(self):
        pass

    def version(self):
        return harness.PYTHON


harness.run(Store)
