"""CPython's tests of dbm modules, for ``tavola.dbm``: those for every module, and those of
``dbm.dumb``, which needs nothing."""

import dbm
import os
import sys
import unittest

import tavola
import tavola.dbm

# The tests find a module by a name in the package dbm.
sys.modules["dbm.tavola"] = tavola.dbm
tavola.dbm.__name__ = "dbm.tavola"
dbm._names.append("dbm.tavola")
_whichdb = dbm.whichdb


def whichdb(name):
    """Say that a table is one of ours, and leave other files to the module dbm."""
    try:
        tavola.open(os.fsdecode(name), create=False, read_only=True).close()
    except tavola.Error:
        return _whichdb(name)
    return "dbm.tavola"


dbm.whichdb = whichdb

from test import test_dbm, test_dbm_dumb  # noqa: E402

TavolaTest = test_dbm.TestCase_tavola


class _Dumb:
    """The module ``dbm.dumb``, which creates files if no flag is given."""

    error = tavola.dbm.error

    @staticmethod
    def open(file, flag="c", mode=0o666):
        # A name alone would be in the directory of tables.
        return tavola.dbm.open(os.path.join(".", os.fsdecode(file)), flag, mode)


test_dbm_dumb.dumbdbm = _Dumb


class DumbTest(test_dbm_dumb.DumbDBMTestCase):
    """The tests of ``dbm.dumb``."""

    def setUp(self):
        super().setUp()
        self.addCleanup(test_dbm_dumb.os_helper.unlink, test_dbm_dumb._fname)


if __name__ == "__main__":
    unittest.main()
