"""Arguments and answers of the client of memcached, in Python's forms."""

import os

from ._errors import OptionError


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
