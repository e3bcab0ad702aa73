"""Processes for tests: started with a function of a test file, and waited for with a limit."""

import ctypes
import os
import pathlib
import signal
import subprocess
import sys

LIMIT = 120
#: The option of `prctl` that sets the signal for a child whose parent dies.
PDEATHSIG = 1
HERE = pathlib.Path(__file__).resolve().parent


def built_command():
    """Return the path of the command ``tavola``, if it has been built."""
    root = HERE.parents[2]
    built = [root / "target" / profile / "tavola" for profile in ("release", "quick", "debug")]
    given = os.environ.get("TAVOLA_COMMAND")
    return given or next((str(path) for path in built if path.exists()), None)


def _take_interrupts():
    # A shell starts what runs in the background so that it ignores them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(code, *args, **options):
    """Start a new interpreter with this code; its arguments are in ``sys.argv``."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(
        command,
        cwd=HERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_take_interrupts,
        **options,
    )


def finish(process):
    """Return what a process printed; it must end well and in time."""
    printed, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, (process.returncode, printed)
    return printed


def forked(function, *args):
    """Run a function in a forked child; return the child's pid."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    # A test that fails leaves no child behind.
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    try:
        function(*args)
        status = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(status)


def reap(pid, signal_number=None):
    """Wait for a child; it must have ended well, or by this signal."""
    _, status = os.waitpid(pid, 0)
    if signal_number is None:
        assert os.waitstatus_to_exitcode(status) == 0
    else:
        assert os.waitstatus_to_exitcode(status) == -signal_number


def kill(pid):
    """Kill a child and wait for it."""
    os.kill(pid, signal.SIGKILL)
    reap(pid, signal.SIGKILL)
