"""Constant files: formats, values, files that are replaced or damaged, makers that are killed."""

import os
import shutil
import subprocess
import time

import pytest
from processes import forked, kill

import tavola
import tavola.cdb

ALL = bytes(range(256))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.cdb"


def test_a_file_is_a_mapping(path):
    pairs = [("a", "1"), (b"a", b"2"), (ALL, ALL), ("", ""), ("ü", "☺")]
    assert tavola.cdb.make(path, pairs) == 5
    with tavola.cdb.open(str(path)) as file:
        assert file["a"] == b"1" and file[b"\xc3\xbc"] == "☺".encode() and file[""] == b""
        assert file.get("z") is None and file.get("z", 7) == 7 and "a" in file and "z" not in file
        assert file.getall("a") == [b"1", b"2"] and file.getall("z") == []
        assert list(file) == [b"a", ALL, b"", "ü".encode()] == list(file.keys())
        assert dict(file.items()) == dict(file) and list(file.values())[1] == ALL
        assert len(list(file.records())) == len(file) == 5 == file.check()
        with pytest.raises(KeyError):
            file["z"]
        with pytest.raises(TypeError):
            file[1]
        walk = iter(file)
    assert list(walk) == [b"a", ALL, b"", "ü".encode()], "a walk outlives its file"
    with pytest.raises(tavola.Error, match="closed"):
        file["a"]


@pytest.mark.parametrize("format", ["cdb", "cdb64", "frozen"])
def test_every_format(path, format):
    pairs = {f"k{n}": f"v{n}" for n in range(1000)}
    with tavola.cdb.Maker(path, format=format, mode=0o600, sync=False) as maker:
        maker.addmany(pairs.items())
        maker.add("k1", "second")
    assert os.stat(path).st_mode & 0o777 == 0o600
    file = tavola.cdb.open(path)
    assert file.format == format and file["k1"] == b"v1" and file.size_bytes == path.stat().st_size
    assert {k.decode(): v.decode() for k, v in file.items()} == pairs
    assert len(file) == (1000 if format == "frozen" else 1001)


def test_every_mode(path):
    maker = tavola.cdb.Maker(path)
    assert not maker.put("a", "1", "add") and maker.put("a", "2", "insert")
    assert maker.put("a", "3", "warn") and not maker.put("b", "1", "insert")
    assert maker.put("b", "2", "replace") and maker.put("b", "3", "replace0")
    with pytest.raises(tavola.OptionError, match="no mode"):
        maker.put("a", "1", "other")
    with pytest.raises(TypeError, match="a value is"):
        maker.add("a", 1)
    assert not path.exists() and maker.finish() == 3
    with pytest.raises(tavola.ClosedError):
        maker.finish()
    with pytest.raises(tavola.ClosedError):
        maker.add("a", "1")
    file = tavola.cdb.open(path)
    assert file.getall("a") == [b"1", b"3"] and file.getall("b") == [b"3"]
    with pytest.raises(tavola.OptionError, match="add only"):
        tavola.cdb.Maker(path, format="frozen").put("a", "1", "replace")
    with pytest.raises(tavola.OptionError, match="no format"):
        tavola.cdb.Maker(path, format="zip")


def test_a_replaced_file_is_followed(path):
    tavola.cdb.make(path, {"a": "old"})
    fixed, followed = tavola.cdb.open(path), tavola.cdb.open(path, follow=0)
    later = tavola.cdb.open(path, follow=float("inf"))
    assert not fixed.refresh() and not later.refresh()
    tavola.cdb.make(path, {"a": "new"}, format="frozen")
    assert (fixed["a"], followed["a"], later["a"]) == (b"old", b"new", b"old")
    assert fixed.refresh() and later.refresh() and not fixed.refresh()
    assert fixed["a"] == later["a"] == b"new" and fixed.format == "frozen"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        fixed.refresh()
    assert fixed["a"] == b"new"


def test_what_fails_leaves_the_old_file(path):
    tavola.cdb.make(path, {"a": "old"})
    with pytest.raises(ZeroDivisionError):
        with tavola.cdb.Maker(path) as maker:
            maker.add("a", "new")
            1 / 0
    with pytest.raises(TypeError):
        tavola.cdb.make(path, [("a", None)])
    assert tavola.cdb.open(path)["a"] == b"old" and os.listdir(path.parent) == [path.name]
    ready, begun = os.pipe()

    def hold():
        maker = tavola.cdb.Maker(path)
        maker.add("a", "killed")
        os.write(begun, b"x")
        time.sleep(1000)

    child = forked(hold)
    assert os.read(ready, 1) == b"x"
    kill(child)
    assert tavola.cdb.open(path)["a"] == b"old"
    os.close(ready), os.close(begun)


def test_damage_is_an_error(path):
    with pytest.raises(tavola.TableNotFoundError) as raised:
        tavola.cdb.open(path)
    assert raised.value.errno == 2 and raised.value.filename == str(path)
    with pytest.raises(tavola.NotConstantError):
        tavola.cdb.open(__file__)
    tavola.cdb.make(path, {"a": "x" * 1000}, format="frozen")
    with open(path, "r+b") as file:
        file.seek(300)
        file.write(b"#")
    with pytest.raises(tavola.CorruptError, match="damaged at byte"):
        tavola.cdb.open(path).check()
    os.truncate(path, 100)
    with pytest.raises(tavola.NotConstantError):
        tavola.cdb.open(path)
    # A file that is shortened while it is open is an error, and no signal.
    tavola.cdb.make(path, {"a": "x" * 100_000})
    lost = tavola.cdb.open(path)
    os.truncate(path, 5000)
    with pytest.raises(tavola.FileLostError):
        lost["a"]


@pytest.mark.skipif(shutil.which("cdb") is None, reason="cdb is not installed")
def test_tinycdb_and_the_same_files(path, tmp_path):
    tavola.cdb.make(path, [("a", "1"), ("a", "2")])
    printed = subprocess.run(["cdb", "-d", path], capture_output=True, check=True).stdout
    assert printed == b"+1,1:a->1\n+1,1:a->2\n\n"
    theirs = tmp_path / "theirs.cdb"
    subprocess.run(["cdb", "-c", theirs], input=printed, check=True)
    assert list(tavola.cdb.open(theirs).records()) == [(b"a", b"1"), (b"a", b"2")]
    assert theirs.read_bytes() == path.read_bytes()
