"""Servers for the tests of the client: memcached, and `tavola serve`."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

LIMIT = 60
#: Debian's packages for the interpreter of the system, of which ours is a virtual environment.
DEBIAN = "/usr/lib/python3/dist-packages"


class Server:
    """A server on a free port of the loopback interface."""

    def __init__(self, process, port):
        self.process, self.port = process, port
        self.address = ("127.0.0.1", port)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            # One that is stopped is killed as well.
            self.process.kill()
        self.process.wait()


class NotServed(Exception):
    """The command did not start; what it said."""


def memcached(folder, port=-1, *arguments):
    """Start a memcached on this port, a free one unless given."""
    file = pathlib.Path(folder) / f"port-{time.monotonic_ns()}"
    command = ["memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(port), "-m", "64"]
    process = subprocess.Popen(
        [*command, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "MEMCACHED_PORT_FILENAME": str(file)},
    )
    end = time.monotonic() + LIMIT
    while not file.exists():
        assert process.poll() is None and time.monotonic() < end, "memcached did not start"
        time.sleep(0.005)
    (line,) = [line for line in file.read_text().splitlines() if line.startswith("TCP INET:")]
    return Server(process, int(line.split(":")[1]))


def served(table, *arguments):
    """Serve a table by the command `tavola`."""
    sys.path.append(str(pathlib.Path(__file__).parent / "peers"))
    try:
        import sources
    finally:
        sys.path.pop()
    process = subprocess.Popen(
        [sources.command(), "serve", table, "--listen", "127.0.0.1:0", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    # The line is: serving TABLE on ADDRESS:PORT, and (TLS) behind it.
    line = process.stdout.readline()
    found = re.search(r":(\d+)(?: \(TLS\))?$", line)
    if found is None:
        process.kill()
        raise NotServed(process.communicate()[1])
    return Server(process, int(found.group(1)))


class Stopped:
    """A server that is stopped meanwhile."""

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.server.signal(signal.SIGSTOP)
        return self

    def go_on(self):
        self.server.signal(signal.SIGCONT)

    def __exit__(self, *_):
        self.go_on()


def pylibmc():
    """Return the module of pylibmc, or ``None`` if Debian's package is not installed."""
    sys.path.append(DEBIAN)
    try:
        import pylibmc
    except ImportError:
        return None
    finally:
        sys.path.remove(DEBIAN)
    return pylibmc
