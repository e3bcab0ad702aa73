"""CPython's tests of every dbm module, for ``tavola.dbm``: its name is added to the known ones."""

import dbm
import sys
import unittest

import tavola.dbm

dbm._names.append("tavola.dbm")
sys.modules["dbm.tavola"] = tavola.dbm
dbm._modules["tavola.dbm"] = tavola.dbm
_whichdb = dbm.whichdb
dbm.whichdb = lambda name: tavola.dbm.whichdb(name) if name else None
tavola.dbm.dbm_whichdb = _whichdb
tavola.dbm.__name__ = "dbm.tavola"
dbm._names[-1] = "dbm.tavola"
dbm._modules["dbm.tavola"] = tavola.dbm

from test import test_dbm, test_dbm_dumb  # noqa: E402

TavolaTest = test_dbm.TestCase_tavola


class DumbTest(test_dbm_dumb.DumbDBMTestCase):
    """The tests of the module ``dbm.dumb``, which needs nothing, over tables."""


test_dbm_dumb.dumbdbm = tavola.dbm

if __name__ == "__main__":
    unittest.main()
