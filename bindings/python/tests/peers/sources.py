"""Sources of other projects, for their tests: from PyPI and Debian, kept under ``target``."""

import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
TARGET = ROOT / "target/bindings/python/peers"


class Unavailable(Exception):
    """The source cannot be had."""


def _run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=TARGET)
    if ran.returncode:
        raise Unavailable(f"{' '.join(command)}: {ran.stderr.strip()[-300:]}")


#: Older interpreters do not have the argument.
SAFELY = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def from_pypi(name, version):
    """Return the folder of a source archive that PyPI has."""
    folder = TARGET / f"{name}-{version}"
    if not folder.exists():
        TARGET.mkdir(parents=True, exist_ok=True)
        archive = TARGET / f"{name}-{version}.tar.gz"
        if not archive.exists():
            _run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                 "--no-binary", ":all:", "-d", str(TARGET), f"{name}=={version}")
        with tarfile.open(archive) as opened:
            opened.extractall(TARGET, **SAFELY)
    return folder


def cpython_tests():
    """Return the folder of CPython's own tests, from the Debian package of this version."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = TARGET / f"cpython-{version}"
    tests = folder / f"usr/lib/python{version}/test"
    if not tests.exists():
        TARGET.mkdir(parents=True, exist_ok=True)
        _run("apt-get", "download", f"libpython{version}-testsuite")
        package = next(TARGET.glob(f"libpython{version}-testsuite_*.deb"))
        _run("dpkg-deb", "-x", str(package), str(folder))
    return tests


def command():
    """Return the path of the command `tavola`: what was built last, or a quick build."""
    built = [ROOT / "target" / profile / "tavola" for profile in ("release", "quick", "debug")]
    there = [path for path in built if path.exists()]
    if not there:
        subprocess.run(
            ["cargo", "build", "--quiet", "--profile", "quick", "--package", "tavola-cli"],
            cwd=ROOT, check=True,
        )
        there = [ROOT / "target/quick/tavola"]
    return max(there, key=lambda path: path.stat().st_mtime)
