"""A directory of tables for the whole run, which is removed at the end."""

import itertools
import os
import shutil
import tempfile

import pytest

DIRECTORY = tempfile.mkdtemp(prefix="tavola-python-", dir="/dev/shm")
os.environ["TAVOLA_DIR"] = DIRECTORY
_numbers = itertools.count()


def pytest_sessionfinish():
    shutil.rmtree(DIRECTORY, ignore_errors=True)


@pytest.fixture
def table_name():
    """A name that no other test uses."""
    return f"t{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def table(table_name):
    """A new table."""
    import tavola

    with tavola.open(table_name) as table:
        yield table


@pytest.fixture
def cache(table_name):
    """A new cache of 8 MiB that stores any object."""
    import tavola

    with tavola.open(table_name, capacity=8 << 20, serializer="pickle") as cache:
        yield cache
