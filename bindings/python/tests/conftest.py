"""A directory of tables for the whole run, which is removed at the end."""

import itertools
import os
import pathlib
import shutil
import tempfile

import memcached_servers
import pytest

DIRECTORY = tempfile.mkdtemp(prefix="tavola-python-", dir="/dev/shm")
os.environ["TAVOLA_DIR"] = DIRECTORY
_numbers = itertools.count()


def pytest_collection_modifyitems(items):
    """The tests of other projects come last: they run beside ours."""
    items.sort(key=lambda item: "peers" in item.keywords)


def pytest_collection_finish(session):
    peers = [item for item in session.items if "peers" in item.keywords]
    if peers and not session.config.option.collectonly:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tavola-peers-"))
        session.config.suites = peers[0].module.Suites(folder)
        session.config.suites_folder = folder


def pytest_sessionfinish(session):
    if hasattr(session.config, "suites"):
        session.config.suites.stop()
        shutil.rmtree(session.config.suites_folder, ignore_errors=True)
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


@pytest.fixture(scope="session")
def running(tmp_path_factory):
    """Three memcached servers that all tests share; each test has a prefix of its own."""
    folder = tmp_path_factory.mktemp("memcached")
    started = [memcached_servers.memcached(folder) for _ in range(3)]
    yield started
    for server in started:
        server.kill()


@pytest.fixture
def prefix():
    """A prefix of keys that no other test uses."""
    return f"t{next(_numbers)}:"
