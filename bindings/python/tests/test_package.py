"""The packages: the source archive and a wheel, each installed into a new environment, and tried.

They are built without optimisation. `./package` builds those of a release.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from processes import HERE

BINDING = HERE.parent
TARGET = BINDING.parents[1] / "target/bindings/python"
QUICK = ["--profile", "quick", "--locked"]
INSTALLED = """
import importlib.metadata, pathlib, sys, tavola
of_here = pathlib.Path(tavola.__file__).is_relative_to(sys.prefix)
package = importlib.metadata.distribution("tavola")
(point,) = [point for point in package.entry_points if point.group == "dogpile.cache"]
files = [file.name for file in package.files if file.parts[0] == "tavola"]
print(of_here, point.value, *sorted(name for name in files if not name.endswith(".pyc")))
"""

pytestmark = [pytest.mark.slow]


def _run(*command, **more):
    # The build finds what it compiled the last time; the package in this checkout is not used.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET / "package-cargo"),
                   "MATURIN_PEP517_ARGS": " ".join(QUICK), **more.pop("env", {})}
    environment.pop("PYTHONPATH", None)
    ran = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=environment, timeout=400, **more)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Return the folder of a source archive, and of a wheel that is built from it."""
    work = tmp_path_factory.mktemp("package")
    maturin = pathlib.Path(sys.executable).parent / "maturin"
    _run(sys.executable, BINDING / "packaging/stage.py", work / "stage")
    _run(maturin, "sdist", "--out", work / "dist", cwd=work / "stage")
    (archive,) = (work / "dist").glob("*.tar.gz")
    # With the time of now, or cargo would take what it built from older sources.
    _run("tar", "-xzmf", archive, "-C", work)
    folder = work / archive.name[: -len(".tar.gz")]
    _run(maturin, "build", *QUICK, "--out", work / "dist", cwd=folder)
    return work / "dist"


@pytest.fixture(scope="module")
def backend():
    """Return the folder with what pip needs to build the archive, which it downloads once."""
    wanted = re.search(r'^requires = \["(.+)"\]$', (BINDING / "pyproject.toml").read_text(), re.M)
    name, version = wanted.group(1).split("==")
    folder = TARGET / "wheels"
    if not list(folder.glob(f"{name}-{version}-*.whl")):
        _run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder,
             f"{name}=={version}")
    return folder


@pytest.mark.parametrize("kind", ["whl", "tar.gz"])
def test_a_package_works_in_a_new_environment(kind, dist, backend, tmp_path):
    (package,) = dist.glob(f"tavola-*.{kind}")
    _run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv/bin/python"
    # From these folders alone, and never what pip has built before.
    _run(python, "-m", "pip", "install", "--no-index", "--no-cache-dir", "--find-links", backend,
         package)
    of_here, point, *files = _run(python, "-I", "-c", INSTALLED).split()
    assert (of_here, point) == ("True", "tavola.dogpile:TavolaBackend")
    ours = {path.name for path in (BINDING / "python/tavola").glob("*") if path.is_file()}
    assert set(files) == ours and "_tavola.abi3.so" in files and "py.typed" in files
    (tmp_path / "tables").mkdir()
    said = _run(python, "-I", HERE / "try_package.py", env={"TAVOLA_DIR": str(tmp_path / "tables")})
    assert " works with Python " in said
