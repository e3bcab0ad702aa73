"""Runs the examples of all public calls, each with a directory of tables of its own, and finds
calls that no example shows."""

import doctest
import importlib
import inspect
import pkgutil
import re

import pytest

import tavola

#: The public modules, those of the adapters among them, whose packages the tests have installed.
MODULES = [tavola] + [
    importlib.import_module(f"tavola.{info.name}")
    for info in pkgutil.iter_modules(tavola.__path__) if not info.name.startswith("_")
]
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
    for module in MODULES[1:]:
        found[module.__name__] = module.__doc__
        for name, thing in vars(module).items():
            is_own = getattr(thing, "__module__", None) == module.__name__
            if is_own and (inspect.isclass(thing) or inspect.isfunction(thing)):
                found.update(_members(f"{module.__name__}.{name}", thing))
    return found


FOUND = _found()
EXAMPLES = {path: text for path, text in FOUND.items() if text and ">>>" in text}


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_example(path, tmp_path, monkeypatch):
    monkeypatch.setenv("TAVOLA_DIR", str(tmp_path))
    test = doctest.DocTestParser().get_doctest(EXAMPLES[path], {}, path, None, 0)
    result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test)
    assert result.attempted > 0 and result.failed == 0


#: Calls that no example has to show, as a framework makes them, and the application does not.
MADE_BY_A_FRAMEWORK = {
    "tavola.LoggingHandler": {"acquire", "createLock", "emit", "release"},
    "tavola.dogpile.TavolaBackend": {
        "delete", "delete_multi", "get_mutex", "get_serialized", "get_serialized_multi",
        "set_serialized", "set_serialized_multi",
    },
    "tavola.flask_caching.TavolaCache": {"factory"},
    "tavola.flask_session.TavolaSessions": {"open_session", "save_session"},
    "tavola.django.MemcachedKeys": {"validate_key"},
}


def _public():
    """Yield the module, the path and the object of all public classes and functions."""
    for module in MODULES:
        for name, thing in vars(module).items():
            if name.startswith("_") or not (inspect.isclass(thing) or inspect.isroutine(thing)):
                continue
            # What a module imports for its own use is not a part of it.
            owner = getattr(thing, "__module__", None) or ""
            if owner == module.__name__ or (module is tavola and owner.startswith("tavola.")):
                yield module, f"{module.__name__}.{name}", thing


PUBLIC = {path: (module, thing) for module, path, thing in _public()}
CLASSES = [path for path, (_, thing) in PUBLIC.items() if inspect.isclass(thing)]
FUNCTIONS = [path for path, (_, thing) in PUBLIC.items() if not inspect.isclass(thing)]


def _calls(thing):
    """Return the public calls of a class that Tavola defines, without those of foreign bases."""
    return {
        name
        for base in thing.__mro__ if base.__module__.split(".")[0] == "tavola"
        for name, member in vars(base).items()
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, (classmethod, staticmethod)))
    }


def _shown(thing):
    """Return the code of all examples of a class: of its module, its bases and its calls."""
    paths = {path for path in CLASSES if PUBLIC[path][1] in thing.__mro__}
    texts = {PUBLIC[path][0].__doc__ for path in paths} | {
        text for found, text in EXAMPLES.items()
        if found in paths or found.rsplit(".", 1)[0] in paths
    }
    parser = doctest.DocTestParser()
    return "".join(
        example.source for text in texts for example in parser.get_examples(text)
    )


def _without_example(path):
    _, thing = PUBLIC[path]
    shown = _shown(thing)
    return {name for name in _calls(thing) if not re.search(rf"\.{name}\b", shown)}


def test_the_modules_have_examples_that_run():
    without = {module.__name__ for module, _ in PUBLIC.values()} - EXAMPLES.keys()
    assert without == set() and len(EXAMPLES) > 100


@pytest.mark.parametrize("path", sorted(CLASSES))
def test_every_call_of_a_class_is_in_an_example(path):
    assert _without_example(path) == MADE_BY_A_FRAMEWORK.get(path, set())


@pytest.mark.parametrize("path", sorted(FUNCTIONS))
def test_every_function_has_an_example(path):
    assert path in EXAMPLES


@pytest.mark.parametrize("path", sorted(CLASSES))
def test_every_class_has_an_example(path):
    _, thing = PUBLIC[path]
    # An exception, or a tuple with names, says what it is.
    if not issubclass(thing, (BaseException, tuple)):
        assert path in EXAMPLES


def test_every_call_of_a_table_has_an_example_of_its_own():
    own = {path.rsplit(".", 1)[-1] for path in EXAMPLES if path.startswith("tavola.Table.")}
    assert _calls(tavola.Table) - own == set()


@pytest.mark.parametrize("path", sorted(PUBLIC))
def test_every_public_name_is_documented(path):
    assert PUBLIC[path][1].__doc__
