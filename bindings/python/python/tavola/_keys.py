"""Keys of calls: the same text for equal arguments, in every process and every run."""

import dataclasses
import datetime
import decimal
import enum
import fractions
import hashlib
import pathlib
import uuid

#: Longer texts are replaced by a hash.
LONGEST = 200

_BY_REPR = (
    datetime.date,
    datetime.time,
    datetime.timedelta,
    datetime.timezone,
    decimal.Decimal,
    fractions.Fraction,
    pathlib.PurePath,
    uuid.UUID,
    complex,
    range,
    slice,
)


def _class(value):
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _number(value, typed):
    if typed:
        return f"{type(value).__name__}:{value!r}"
    # As for a dict, 1, 1.0 and True are one key.
    if isinstance(value, float) and value.is_integer():
        return repr(int(value))
    return repr(float(value) if isinstance(value, float) else int(value))


def text_of(value, typed=False):
    """Return a text for a value; equal texts mean equal values.

    >>> from tavola._keys import text_of
    >>> text_of((1, "a", {"x": None}))
    "(1,'a',{'x':None})"
    >>> text_of(1.0) == text_of(1), text_of(1.0, typed=True) == text_of(1, typed=True)
    (True, False)
    """
    kind = type(value)
    if value is None or kind is str or kind is bytes:
        return repr(value)
    if kind in (bool, int, float):
        return _number(value, typed)
    if kind is tuple:
        return "(" + ",".join(text_of(item, typed) for item in value) + ")"
    if kind is list:
        return "[" + ",".join(text_of(item, typed) for item in value) + "]"
    if kind is dict:
        pairs = sorted((text_of(key, typed), text_of(item, typed)) for key, item in value.items())
        return "{" + ",".join(f"{key}:{item}" for key, item in pairs) + "}"
    if kind in (set, frozenset):
        return "{" + ",".join(sorted(text_of(item, typed) for item in value)) + "}"
    return _text_of_object(value, typed)


def _text_of_object(value, typed):
    if isinstance(value, enum.Enum):
        return f"{_class(value)}.{value.name}"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, _BY_REPR):
        return f"{_class(value)}:{value!r}"
    if isinstance(value, tuple):
        return f"{_class(value)}" + text_of(tuple(value), typed)
    if dataclasses.is_dataclass(value):
        fields = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        return f"{_class(value)}" + text_of(tuple(fields), typed)
    for plain in (bool, int, float, str, bytes):
        if isinstance(value, plain):
            return f"{_class(value)}:" + text_of(plain(value), typed)
    raise TypeError(
        f"an argument of type {_class(value)} has no key that is the same in every process; "
        "name it in ignore, or pass its id instead"
    )


def call_key(name, args, kwargs, typed=False):
    """Return the key of a call of a function.

    >>> from tavola._keys import call_key
    >>> call_key("shop.price", (7,), {"currency": "eur"})
    "shop.price(7,currency='eur')"
    """
    parts = [text_of(value, typed) for value in args]
    parts += [f"{word}={text_of(kwargs[word], typed)}" for word in sorted(kwargs)]
    text = ",".join(parts)
    if len(text) > LONGEST:
        text = "#" + hashlib.blake2b(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
    return f"{name}({text})"
