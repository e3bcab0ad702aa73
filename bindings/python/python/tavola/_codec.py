"""The parts of the codec that Python's own modules do."""

import json
import pickle

from ._errors import EncodeError


def _refuse(word):
    raise ValueError(f"{word} is not JSON")


#: Decodes a JSON text; ``NaN`` and ``Infinity``, which are not JSON, are refused.
decode_json = json.JSONDecoder(parse_constant=_refuse).decode

loads_pickle = pickle.loads


def dumps_pickle(value):
    """Return the pickle of a value, protocol 5."""
    return pickle.dumps(value, 5)


def not_storable(value):
    """Return the exception for a value that a table without a serializer refuses."""
    name = type(value).__qualname__
    if isinstance(value, (list, dict)):
        what = f"this {name} is not JSON: it holds other objects than None, booleans, numbers, str,"
        what += " lists and dicts with str keys, or is nested too deeply"
    else:
        what = f"a value of type {name} cannot be stored"
    return EncodeError(
        f"{what}; store str, bytes, int, float or JSON, or open the table with "
        'serializer="pickle"'
    )
