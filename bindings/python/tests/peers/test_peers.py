"""Runs the tests of other projects over the adapters, and compares what fails with what is known
to differ."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree

import memcached_servers
import pytest
import sources

HERE = pathlib.Path(__file__).resolve().parent

#: The tests that differ, with the reason.
DIFFERS = {
    "django": {
        "test_cull": "a table evicts by its capacity, not by a number of keys",
        "test_zero_cull": "a table evicts by its capacity, not by a number of keys",
    },
    "dogpile": {},
    "flask": {},
    "cachetools": {},
    "pymemcache": {},
    "pymemcache_client": {
        f"test_misc[socket-{kind}-{prefix}]":
            "a topic of stats is one word, and there is no cache_memlimit"
        for kind in ("Client", "PooledClient", "HashClientSingle") for prefix in ("", "prefix")
    },
    "dbm": {
        "test_anydbm_creation_n_file_exists_with_invalid_contents":
            "a file that is not a table is never removed",
        "test_check_closed": "it calls iterkeys, which only dbm.dumb has",
        "test_dumbdbm_creation_mode": "it looks for the files of dbm.dumb",
        "test_eval": "it changes the index file of dbm.dumb",
        "test_invalid_flag": "the exception is dbm.error, not ValueError",
        "test_line_endings": "it changes the index file of dbm.dumb",
        "test_missing_data": "it removes the data file of dbm.dumb",
        "test_missing_index": "it removes the index file of dbm.dumb",
        "test_nonascii_filename": "it looks for the files of dbm.dumb",
        "test_readonly_files": "it looks for the files of dbm.dumb",
    },
}


class Suite:
    """The tests of one project, running in a process of their own."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        self.report = folder / "report.xml"
        self.missing = self.server = None
        try:
            command, *path = getattr(self, f"prepare_{name}")()
        except (sources.Unavailable, StopIteration, subprocess.TimeoutExpired) as error:
            self.missing = error
            return
        (folder / "tables").mkdir()
        search = [*map(str, path), os.environ["PYTHONPATH"]]
        self.output = open(folder / "output", "w+")
        self.process = subprocess.Popen(
            [sys.executable, *map(str, command)], cwd=folder / "tests", text=True,
            stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
            env={
                **os.environ, "TAVOLA_DIR": str(folder / "tables"), "PYTHONWARNINGS": "ignore",
                "PYTHONPATH": os.pathsep.join(search),
            },
        )

    def pytest(self, *files):
        return ["-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={self.report}", *files]

    def tests_of(self, project, version, glue):
        """Copy the tests of a project, and put ours beside them."""
        folder = sources.from_pypi(project, version)
        shutil.copytree(folder / "tests", self.folder / "tests")
        shutil.copy(HERE / glue, self.folder / "tests/test_tavola.py")

    def prepare_django(self):
        folder = sources.from_pypi("django", "5.2.19")
        tests = self.folder / "tests"
        shutil.copytree(folder / "tests/cache", tests / "cache")
        for shared in ("runtests.py", "test_sqlite.py", "templates", "urls.py"):
            place = folder / "tests" / shared
            (shutil.copytree if place.is_dir() else shutil.copy)(place, tests / shared)
        shutil.copy(HERE / "django_backend.py", tests / "cache/test_tavola.py")
        return (["runtests.py", "--parallel=1", "cache.test_tavola"],)

    def prepare_dogpile(self):
        (self.folder / "tests").mkdir()
        shutil.copy(HERE / "dogpile_backend.py", self.folder / "tests/test_tavola.py")
        return (self.pytest("test_tavola.py"),)

    def prepare_flask(self):
        self.tests_of("flask_caching", "2.3.1", "flask_backend.py")
        conftest = self.folder / "tests/conftest.py"
        theirs = 'app.config["CACHE_TYPE"] = "simple"'
        ours = """app.config["CACHE_TYPE"] = "tavola.flask_caching.TavolaCache"
    app.config["CACHE_TAVOLA_NAME"] = f"app-{next(_numbers)}"
"""
        changed = conftest.read_text()
        assert theirs in changed
        changed = changed.replace(theirs, ours)
        conftest.write_text(f"{changed}\nimport itertools\n_numbers = itertools.count()\n")
        files = [f"test_{part}.py" for part in ("tavola", "cache", "memoize", "view", "templates")]
        return self.pytest(*files), self.folder / "tests"

    def prepare_cachetools(self):
        self.tests_of("cachetools", "6.2.0", "cachetools_cached.py")
        (self.folder / "tests").rename(self.folder / "package")
        (self.folder / "tests").mkdir()
        (self.folder / "package").rename(self.folder / "tests/package")
        return (self.pytest("package/test_tavola.py"),)

    def prepare_dbm(self):
        tests = self.folder / "tests/test"
        installed = pathlib.Path(sysconfig.get_paths()["stdlib"]) / "test"
        shutil.copytree(installed, tests)
        for file in sources.cpython_tests().glob("test_dbm*.py"):
            shutil.copy(file, tests)
        shutil.copy(HERE / "dbm_module.py", self.folder / "tests")
        return ["-m", "unittest", "-v", "dbm_module"], self.folder / "tests"

    def prepare_pymemcache(self):
        """Their tests of a client, over a server that has a table."""
        theirs = sources.from_pypi("pymemcache", "4.0.0") / "pymemcache"
        shutil.copytree(theirs, self.folder / "tests/pymemcache")
        self.server = subprocess.Popen(
            [sources.command(), "serve", str(self.folder / "served"), "--capacity", "64M",
             "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )
        # The line is: serving TABLE on ADDRESS:PORT
        port = self.server.stdout.readline().rsplit(":", 1)[-1].strip()
        files = ["pymemcache/test/test_integration.py"]
        return (self.pytest("-m", "integration", "--port", port, *files),)

    def prepare_pymemcache_client(self):
        """The same tests with the client of this package in the place of theirs, over memcached."""
        theirs = sources.from_pypi("pymemcache", "4.0.0") / "pymemcache"
        shutil.copytree(theirs, self.folder / "tests/pymemcache")
        if shutil.which("memcached") is None:
            raise sources.Unavailable("memcached is not installed: apt-get install memcached")
        server = memcached_servers.memcached(self.folder)
        self.server = server.process
        files = ["pymemcache/test/test_integration.py"]
        plugin = ["-p", "pymemcache_client"]
        command = self.pytest(*plugin, "-m", "integration", "--server=127.0.0.1",
                              f"--port={server.port}", *files)
        return command, self.folder / "tests", HERE

    def stop(self):
        """End the processes of the suite."""
        for process in (self.server, getattr(self, "process", None)):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def compare(self, least, parse):
        """Wait for the end, and compare what failed with what is known to differ."""
        if self.missing:
            pytest.skip(f"the source cannot be had: {self.missing}")
        self.process.wait(600)
        self.output.seek(0)
        output = self.output.read()
        ran, failed = parse(self.report if parse is _pytest else output)
        known = DIFFERS[self.name]
        sys.__stdout__.write(f"\n{self.name}: {ran} tests, {len(failed)} differ\n")
        for name in sorted(failed & known.keys()):
            sys.__stdout__.write(f"  {name}: {known[name]}\n")
        assert ran >= least, output[-3000:]
        assert failed <= known.keys(), (sorted(failed - known.keys()), output[-6000:])
        assert known.keys() <= failed, f"they pass now: {sorted(known.keys() - failed)}"


def _unittest(output):
    """Return how many tests unittest ran, and the names of those that failed."""
    counts = re.findall(r"^Ran (\d+) tests?", output, re.M)
    failed = set(re.findall(r"^(?:FAIL|ERROR): (\w+)", output, re.M))
    return (int(counts[-1]) if counts else 0), failed


def _pytest(report):
    """Return how many tests pytest ran, and the names of those that failed."""
    cases = ElementTree.parse(report).getroot().iter("testcase")
    outcomes = {
        f"{case.get('classname')}.{case.get('name')}": {child.tag for child in case}
        for case in cases
    }
    ran = {name for name, tags in outcomes.items() if "skipped" not in tags}
    failed = {name for name in ran if outcomes[name] & {"failure", "error"}}
    return len(ran), {name.rsplit(".", 1)[-1] for name in failed}


pytestmark = [pytest.mark.peers]


class Suites:
    """All suites, which run at the same time, and beside the tests of this project, as most of
    their tests sleep."""

    def __init__(self, folder):
        self.running = {}
        for name in DIFFERS:
            (folder / name).mkdir()
            self.running[name] = Suite(name, folder / name)

    def stop(self):
        for suite in self.running.values():
            suite.stop()


@pytest.fixture
def suites(request):
    """The suites, which the session has started."""
    return request.config.suites.running


def test_django(suites):
    # 54 tests of Django, and 10 of ours for the asynchronous calls.
    suites["django"].compare(64, _unittest)


def test_dogpile(suites):
    suites["dogpile"].compare(100, _pytest)


def test_flask_caching(suites):
    suites["flask"].compare(90, _pytest)


def test_cachetools(suites):
    suites["cachetools"].compare(52, _pytest)


def test_pymemcache(suites):
    suites["pymemcache"].compare(100, _pytest)


def test_client_as_pymemcache(suites):
    suites["pymemcache_client"].compare(100, _pytest)


def test_dbm(suites):
    suites["dbm"].compare(37, _unittest)
