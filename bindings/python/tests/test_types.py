"""The stubs: they agree with the package, and the examples of the README pass mypy and run."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
GUIDE = ROOT.parents[1] / "docs/guide"
# The page of the project has a program for a client of memcached as well, which is a block `python`;
# the tests of the command run it.
FRONT = ROOT.parents[1] / "README.md"
PAGES = [ROOT / "README.md"] + [
    GUIDE / f"{name}.md"
    for name in (
        "bring-your-data",
        "constant-files",
        "coming-from-diskcache",
        "coming-from-sqlite",
        "locks",
    )
]


def _blocks():
    for page in [FRONT, *PAGES]:
        fence = "```py\n" if page == FRONT else "```python\n"
        found = re.findall(fence + r"(.*?)```", page.read_text(), re.S)
        assert found, f"{page} has no examples"
        for number, code in enumerate(found):
            name = "front" if page == FRONT else page.stem
            yield pytest.param(code, id=f"{name}-{number}")


BLOCKS = list(_blocks())


@pytest.mark.parametrize("code", BLOCKS)
def test_an_example_prints_what_it_says(code, tmp_path, monkeypatch):
    monkeypatch.setenv("TAVOLA_DIR", str(tmp_path))
    wanted = re.findall(r"# prints: (.*)", code)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
        cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == wanted


def _mypy(*arguments):
    ran = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_examples_pass_mypy(tmp_path):
    for number, block in enumerate(BLOCKS):
        # Functions whose types are not given are checked, too.
        (tmp_path / f"example_{number}.py").write_text(block.values[0])
    _mypy("mypy", "--check-untyped-defs", "--cache-dir", str(tmp_path / "cache"), str(tmp_path))


def test_every_public_module_has_a_stub():
    package = ROOT / "python/tavola"
    modules = {path.stem for path in package.glob("[!_]*.py")} | {"__init__"}
    assert (package / "py.typed").exists() and len(modules) > 5
    assert modules - {path.stem for path in package.glob("*.pyi")} == set()


def test_mistakes_are_found_by_mypy(tmp_path):
    code = (
        "import tavola\n"
        "table = tavola.open('x')\n"
        "table.get(5)\n"
        "table.set('k', 1, ttl='soon')\n"
        "text: str = table.incr('n')\n"
        "@table.memoize(ttl=5)\n"
        "def double(x: int) -> int:\n    return 2 * x\n"
        "double('3')\n"
        "tavola.open('x', capcity=5)\n"
        "from tavola import django, dogpile, flask_caching, flask_session\n"
        "text = django.TavolaCache('x', {}).incr('n')\n"
        "dogpile.TavolaBackend(5)\n"
        "flask_caching.TavolaCache('x').set(5, 1)\n"
        "flask_session.TavolaSessions('x').count(1)\n"
        "from tavola.memcached import Client\n"
        "Client('x').set('k', 1, expire='soon')\n"
    )
    (tmp_path / "wrong.py").write_text(code)
    arguments = ["--cache-dir", str(tmp_path / "cache"), "--no-error-summary"]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments, str(tmp_path / "wrong.py")],
        capture_output=True, text=True, timeout=300, cwd=ROOT,
    )
    lines = [int(line.split(":")[1]) for line in ran.stdout.splitlines() if ": error:" in line]
    assert lines == [3, 4, 5, 9, 10, 12, 13, 14, 15, 17], ran.stdout


@pytest.mark.slow
def test_the_stubs_agree_with_the_package(tmp_path):
    (tmp_path / "allowed").write_text(
        # Modules that are no part of the interface, and a protocol that only type checkers know.
        "tavola\\._.*\ntavola\\.Serializer\n"
    )
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    _mypy("mypy.stubtest", "tavola", "--ignore-missing-stub", "--ignore-unused-allowlist",
          "--allowlist", str(tmp_path / "allowed"),
          "--mypy-config-file", str(tmp_path / "mypy.ini"))
