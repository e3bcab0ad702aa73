"""Arguments and answers of the client of memcached, in Python's forms."""

import os
import zlib

from ._errors import MemcacheError, OptionError


def _server(given):
    """Return the text of a server, as the library reads it."""
    if isinstance(given, (tuple, list)):
        if len(given) != 2:
            raise OptionError(
                f"the option servers is invalid: {given!r} is not a pair of host and port; give "
                "weights in the option weights"
            )
        host, port = given
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return os.fspath(given)


def servers(given):
    """Return the texts of all servers: of one, or of a list of them."""
    is_pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int)
    is_one = is_pair or isinstance(given, (str, os.PathLike))
    return [_server(server) for server in ([given] if is_one else given)]


def refuse(name, why):
    raise OptionError(f"the option {name} is invalid: {why}")


class FunctionsSerde:
    """The two functions that older programs give instead of an object."""

    def __init__(self, serializer, deserializer):
        self._serializer, self._deserializer = serializer, deserializer

    def serialize(self, key, value):
        return (value, 0) if self._serializer is None else self._serializer(key, value)

    def deserialize(self, key, value, flags):
        return value if self._deserializer is None else self._deserializer(key, value, flags)


def decompress(key, value, most):
    """Return the bytes that zlib has compressed; a short value can be made that fills all memory."""
    stream = zlib.decompressobj()
    whole = stream.decompress(value, most + 1)
    if len(whole) > most:
        raise MemcacheError(
            f"the value of {key!r} is longer than {most} bytes when it is decompressed; give the "
            "serde a larger max_decompressed if those who write it are trusted"
        )
    if not stream.eof:
        raise zlib.error("the end is missing")
    return whole


_TRUTH = {b"0": False, b"1": True, b"no": False, b"yes": True}.__getitem__


_STAT_KINDS = {
    b"version": bytes,
    b"libevent": bytes,
    b"inter": bytes,
    b"domain_socket": bytes,
    b"stat_key_prefix": bytes,
    b"rusage_user": float,
    b"rusage_system": float,
    b"growth_factor": float,
    b"umask": lambda value: int(value, 8),
    b"auth_enabled_sasl": _TRUTH,
    b"cas_enabled": _TRUTH,
    b"detail_enabled": _TRUTH,
    b"hash_is_expanding": _TRUTH,
    b"maxconns_fast": _TRUTH,
    b"slab_automove": _TRUTH,
    b"slab_reassign": _TRUTH,
    b"slab_reassign_running": _TRUTH,
}


def stat(name, value):
    """Return a figure as a number or a truth value, or as bytes."""
    try:
        return _STAT_KINDS.get(name, int)(value)
    except (ValueError, KeyError):
        return value
