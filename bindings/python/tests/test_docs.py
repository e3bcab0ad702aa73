"""Runs the example of every public call, each with a directory of tables of its own."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import tavola

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _members(path, thing):
    """Yield names and docstrings of a class and its members, inherited ones included."""
    yield path, inspect.getdoc(thing)
    if not inspect.isclass(thing):
        return
    for name in dir(thing):
        if name.startswith("_") or not getattr(thing, name).__doc__:
            continue
        member = inspect.getattr_static(thing, name)
        if isinstance(member, property) or callable(member) or inspect.isdatadescriptor(member):
            owner = getattr(member, "__objclass__", None)
            if owner is object:
                continue
            yield f"{path}.{name}", inspect.getdoc(member)


def _found():
    found = {"tavola": tavola.__doc__}
    for name in sorted(vars(tavola)):
        thing = getattr(tavola, name)
        if not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
            found.update(_members(f"tavola.{name}", thing))
    for info in pkgutil.iter_modules(tavola.__path__):
        if info.name == "_tavola":
            continue
        try:
            module = importlib.import_module(f"tavola.{info.name}")
        except ImportError:
            continue
        found[module.__name__] = module.__doc__
        for name, thing in vars(module).items():
            is_own = getattr(thing, "__module__", None) == module.__name__
            if is_own and (inspect.isclass(thing) or inspect.isfunction(thing)):
                found.update(_members(f"{module.__name__}.{name}", thing))
    return found


FOUND = _found()
EXAMPLES = {path: text for path, text in FOUND.items() if text and ">>>" in text}
PLAIN = {
    # Exceptions and properties, which say what they are.
    path for path, text in FOUND.items() if text and ">>>" not in text
}


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_example(path, tmp_path, monkeypatch):
    monkeypatch.setenv("TAVOLA_DIR", str(tmp_path))
    test = doctest.DocTestParser().get_doctest(EXAMPLES[path], {}, path, None, 0)
    result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test)
    assert result.attempted > 0 and result.failed == 0


def _calls_of_table():
    for name in dir(tavola.Table):
        member = inspect.getattr_static(tavola.Table, name)
        is_call = callable(member) and not name.startswith("_")
        if is_call and getattr(member, "__objclass__", None) is not object:
            yield name


def test_every_call_of_a_table_has_an_example():
    without = [
        name for name in _calls_of_table()
        if f"tavola.Table.{name}" not in EXAMPLES
    ]
    assert without == []


def test_every_public_name_is_documented():
    for name in vars(tavola):
        thing = getattr(tavola, name)
        if not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
            assert thing.__doc__, name
