"""A client of memcached servers, in the manner of pymemcache.

Constructor arguments, methods and exceptions have pymemcache's names. Below them is the client of
the crate ``tavola-client``: all servers at once, the meta commands, TLS, and a server that is down
is never taken for a missing key.

>>> from tavola.memcached import Client
>>> client = Client("tavola:doc", serde="json", key_prefix="app:")
>>> client.set("user:7", {"name": "Ann"}, expire=300)
True
>>> client.get("user:7")
{'name': 'Ann'}

A server is ``("10.0.0.1", 11211)``, ``"10.0.0.1:11211"``, ``"[::1]:11211"``, the path of a Unix
socket with or without ``unix:`` before it, or ``"tavola:NAME"``: a table of this machine, used
without a socket as if ``tavola serve NAME`` served it.
"""

import atexit
import os
import pickle
import socket
import weakref
import zlib

from ._errors import (
    MemcacheClientError,
    MemcacheError,
    MemcacheIllegalInputError,
    MemcacheServerError,
    MemcacheUnexpectedCloseError,
    MemcacheUnknownCommandError,
    MemcacheUnknownError,
    MemcacheUnsentError,
)
from ._memcached import FunctionsSerde, decompress, refuse, servers, stat

try:
    from ._tavola import MemcachedClient
except ImportError as error:
    raise ImportError(
        "this build of the package has no client of memcached; build it with the cargo feature "
        "client, which is on unless it is turned off"
    ) from error

FLAG_BYTES = 0
FLAG_PICKLE = 1
FLAG_INTEGER = 2
FLAG_LONG = 4
FLAG_COMPRESSED = 8
FLAG_TEXT = 16


class PickleSerde:
    """Stores objects with the flags that pymemcache, pylibmc and python-memcached use: ``bytes``,
    ``str`` and ``int`` as they are, all others by pickle. A pickle can run code: use it only with
    servers whose writers you trust.

    Values that are compressed are read as well. With ``min_compress_len``, those of at least so many
    bytes are compressed with zlib, if that makes them shorter. One of more than ``max_decompressed``
    bytes when it is decompressed, 64 MiB unless given, raises :class:`MemcacheError`.

    >>> from tavola.memcached import Client, PickleSerde
    >>> client = Client("tavola:doc", serde=PickleSerde(min_compress_len=400))
    >>> client.set("set", {1, 2})
    True
    >>> client.get("set")
    {1, 2}
    """

    def __init__(
        self,
        pickle_version=pickle.HIGHEST_PROTOCOL,
        min_compress_len=None,
        max_decompressed=64 << 20,
    ):
        self._protocol = pickle_version
        self._least = min_compress_len
        self._most = max_decompressed

    def serialize(self, key, value):
        """Return the bytes of a value and their flags.

        >>> from tavola.memcached import pickle_serde
        >>> pickle_serde.serialize("key", "text")
        (b'text', 16)
        """
        kind = type(value)
        if kind is bytes:
            flags = FLAG_BYTES
        elif kind is str:
            value, flags = value.encode(), FLAG_TEXT
        elif kind is int:
            value, flags = b"%d" % value, FLAG_INTEGER
        else:
            value, flags = pickle.dumps(value, self._protocol), FLAG_PICKLE
        if self._least is not None and len(value) >= self._least:
            compressed = zlib.compress(value)
            if len(compressed) < len(value):
                return compressed, flags | FLAG_COMPRESSED
        return value, flags

    def deserialize(self, key, value, flags):
        """Return the object of bytes with these flags; bytes that do not decode as they are.

        >>> from tavola.memcached import pickle_serde
        >>> pickle_serde.deserialize("key", b"5", 2)
        5
        """
        if flags == FLAG_BYTES:
            return value
        try:
            if flags & FLAG_COMPRESSED:
                value = decompress(key, value, self._most)
            if flags & FLAG_TEXT:
                return value.decode()
            if flags & (FLAG_INTEGER | FLAG_LONG):
                return int(value)
            if flags & FLAG_PICKLE:
                return pickle.loads(value)
        except MemcacheError:
            raise
        except Exception:
            # A read never fails because of what another program has stored.
            return value
        return value


#: As pymemcache's ``pickle_serde``.
pickle_serde = PickleSerde()
#: As pymemcache's ``compressed_serde``: values from 400 bytes on are compressed.
compressed_serde = PickleSerde(min_compress_len=400)


#: Clients that hold requests, to be sent when the interpreter ends.
_holding = weakref.WeakSet()


@atexit.register
def _flush_held():
    for client in list(_holding):
        try:
            client.flush()
        except MemcacheError:
            # Nobody is there to be told; without a reply nobody asked.
            pass


class Client(MemcachedClient):
    """A client of one server or many, which all threads and forked children can use.

    >>> from tavola.memcached import Client
    >>> client = Client(["10.0.0.1", ("10.0.0.2", 11211)], weights=[1, 2], timeout=0.5)
    >>> client.servers
    ['10.0.0.1', '10.0.0.2:11211']

    Options of pymemcache:

    - ``serde``: ``None`` stores ``bytes``, and ``str``, ``int`` and ``float`` as text, and returns
      ``bytes``. ``"json"`` stores as tables of this package do, and ``"pickle"`` the same with
      pickle for what is not JSON. An object with ``serialize(key, value)`` and
      ``deserialize(key, value, flags)`` does as it likes: :data:`pickle_serde` has the flags of
      pymemcache, pylibmc and python-memcached.
    - ``key_prefix``: bytes before every key. It has no part in the placement of keys.
    - ``encoding``: of ``str`` values without a serde, ``"ascii"`` unless given.
    - ``allow_unicode_keys``: allows a ``str`` key to have other characters than those of ASCII.
    - ``connect_timeout``, ``timeout``: seconds to connect, 0.25 unless given, and of a whole call,
      1 unless given. There is always a limit.
    - ``default_noreply``: whether a write that does not say so is without a reply. It is waited for
      all the same, so that all others see it when the call returns, and always returns True.
    - ``ignore_exc``: reads take a server that fails for one without the key. In ``HashClient``
      writes do nothing as well then, and return False or ``None``.
    - ``max_pool_size``: connections to a server; 64 unless given.
    - ``no_delay`` has no effect, as it is always so.

    Options of this client:

    - ``weights``: of the servers, in their order; or ``"HOST:PORT?weight=2"``.
    - ``placement``: which server has a key: ``"ketama"`` as libmemcached and pylibmc with
      ``ketama_weighted``, ``"libmemcached"`` as both without options, ``"consistent"`` as pylibmc
      with ``ketama``, ``"pymemcache"`` as its ``HashClient`` with ``str`` keys, or another name that
      the option ``--placement`` of ``tavola mc`` has.
    - ``near``, ``near_ttl``: a table of this machine that all processes share, in which gets find
      values for so many seconds after they were fetched.
    - ``replicas``, ``read_any``: so many further copies of each key; whether gets take any of them.
    - ``hold_noreply``: writes without a reply are kept back, and leave with the next request of the
      thread, with :meth:`flush`, or at the end. That is faster, but others see them later.
    - ``on_down``: requests for a server that is down ``"fail"``, go to the servers of a ring without
      it (``"eject"``), or, if they are reads, to the ``"next"`` server.
    - ``max_failures``, ``failure_timeout``, ``retry``: after so many failures within these seconds a
      server is down; ``retry`` bounds the pause between attempts to reach it.
    - ``protocol``: ``"auto"``, ``"meta"``, ``"text"`` or ``"binary"``.
    - ``user``, ``password``: as servers with ``-Y`` want them; by SASL with ``sasl=True``.
    - ``tls_ca``, ``tls_cert``, ``tls_key``, ``tls_name``: files in PEM with those who are trusted,
      and with the certificate that is shown and its key; the name in the certificates of servers.
      They take the place of ``tls_context``, as the connections are not Python's.
    - ``hash_key_prefix``, ``hash_tag``: the prefix has a part in the placement; only what is between
      two characters such as ``"{}"`` has.
    - ``max_value``: the most bytes that a server may announce.
    """

    #: How ``ignore_exc`` is understood: 1 is reads, 2 is writes as well.
    _ignored = 1
    _placement = "ketama"

    def __init__(
        self,
        server,
        serde=None,
        serializer=None,
        deserializer=None,
        connect_timeout=None,
        timeout=None,
        no_delay=True,
        ignore_exc=False,
        socket_module=socket,
        socket_keepalive=None,
        key_prefix=b"",
        max_pool_size=None,
        pool_idle_timeout=None,
        lock_generator=None,
        default_noreply=True,
        allow_unicode_keys=False,
        encoding="ascii",
        tls_context=None,
        *,
        weights=None,
        placement=None,
        near=None,
        near_ttl=None,
        replicas=0,
        read_any=False,
        hold_noreply=False,
        on_down="fail",
        max_failures=None,
        failure_timeout=None,
        retry=None,
        protocol="auto",
        user=None,
        password=None,
        sasl=False,
        tls_ca=None,
        tls_cert=None,
        tls_key=None,
        tls_name=None,
        hash_key_prefix=False,
        hash_tag=None,
        max_value=None,
    ):
        if tls_context is not None:
            refuse("tls_context", "give files in PEM as tls_ca, tls_cert and tls_key instead")
        if socket_module is not socket:
            refuse("socket_module", "the sockets are not Python's; leave it out")
        if socket_keepalive is not None:
            refuse("socket_keepalive", "a server that is silent is found by timeout; leave it out")
        if serializer is not None or deserializer is not None:
            serde = serde or FunctionsSerde(serializer, deserializer)
        texts = servers(server)
        weights = [None] * len(texts) if weights is None else list(weights)
        if len(weights) != len(texts):
            refuse("weights", f"there are {len(weights)} of them for {len(texts)} servers")
        if isinstance(key_prefix, str):
            key_prefix = key_prefix.encode()
        self._is_single = len(texts) == 1
        self._begin(
            {
                "servers": list(zip(texts, weights)),
                "placement": placement or self._placement,
                "key_prefix": key_prefix,
                "hash_key_prefix": hash_key_prefix,
                "hash_tag": hash_tag,
                "connect_timeout": connect_timeout,
                "timeout": timeout,
                "max_failures": max_failures,
                "failure_timeout": failure_timeout,
                "retry": retry,
                "on_down": on_down,
                "protocol": protocol,
                "user": user,
                "password": password,
                "sasl": sasl,
                "max_pool_size": max_pool_size,
                "max_value": max_value,
                "near": near,
                "near_ttl": near_ttl,
                "replicas": replicas,
                "read_any": read_any,
                "tls_ca": None if tls_ca is None else os.fspath(tls_ca),
                "tls_cert": None if tls_cert is None else os.fspath(tls_cert),
                "tls_key": None if tls_key is None else os.fspath(tls_key),
                "tls_name": tls_name,
                "serde": serde,
                "encoding": encoding.lower(),
                "allow_unicode_keys": allow_unicode_keys,
                "ignored": self._ignored if ignore_exc else 0,
                "default_noreply": default_noreply,
                "hold_noreply": hold_noreply,
            }
        )
        if hold_noreply:
            _holding.add(self)

    def get_multi(self, keys):
        """The same as :meth:`get_many`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").get_multi(["a"])
        {}
        """
        return self.get_many(keys)

    def gets_multi(self, keys):
        """The same as :meth:`gets_many`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").gets_multi(["a"])
        {}
        """
        return self.gets_many(keys)

    def set_multi(self, values, expire=None, noreply=None, flags=None):
        """The same as :meth:`set_many`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").set_multi({"a": "1"})
        []
        """
        return self.set_many(values, expire, noreply, flags)

    def delete_multi(self, keys, noreply=None):
        """The same as :meth:`delete_many`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").delete_multi(["a"])
        True
        """
        return self.delete_many(keys, noreply)

    def stats(self, *args):
        """Return a dict with the figures of the server, those of a topic such as ``"items"`` or the
        general ones. With several servers it is a dict of such dicts by the names of the servers.
        A topic is one word, so there is no ``cachedump``.

        >>> from tavola.memcached import Client
        >>> client = Client("tavola:doc")
        >>> client.set("fruit", "apple")
        True
        >>> client.stats()[b"curr_items"]
        1
        """
        topic = " ".join(arg.decode() if isinstance(arg, bytes) else str(arg) for arg in args)
        answered = {
            server: {name: stat(name, value) for name, value in figures}
            for server, figures in self._stats(topic)
        }
        return self._one_or_all(answered)

    def version(self):
        """Return the version of the server as ``bytes``; with several servers, a dict of them.

        >>> from tavola.memcached import Client
        >>> isinstance(Client("tavola:doc").version(), bytes)
        True
        """
        return self._one_or_all({name: text.encode() for name, text in self._versions()})

    def _one_or_all(self, answered):
        return next(iter(answered.values())) if self._is_single else answered

    def quit(self):
        """The same as :meth:`close`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").quit()
        """
        self.close()

    def disconnect_all(self):
        """The same as :meth:`close`.

        >>> from tavola.memcached import Client
        >>> Client("tavola:doc").disconnect_all()
        """
        self.close()

    def __getitem__(self, key):
        missing = object()
        value = self.get(key, missing)
        if value is missing:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        self.set(key, value, noreply=True)

    def __delitem__(self, key):
        self.delete(key, noreply=True)

    def __contains__(self, key):
        missing = object()
        return self.get(key, missing) is not missing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    #: Keys cannot be listed, so a client is not iterable.
    __iter__ = None


class PooledClient(Client):
    """The same as :class:`Client`, which has a pool of connections anyway.

    >>> from tavola.memcached import PooledClient
    >>> with PooledClient("tavola:doc", max_pool_size=4) as client:
    ...     client["fruit"] = "apple"
    ...     print(client["fruit"], "other" in client)
    b'apple' False
    """


class HashClient(Client):
    """A client of many servers, with the arguments of pymemcache's class and its placement of keys.

    >>> from tavola.memcached import HashClient
    >>> client = HashClient([("10.0.0.1", 11211), ("10.0.0.2", 11211)], ignore_exc=True)
    >>> client.server_of("key:4")
    '10.0.0.1:11211'

    Programs with pymemcache find the same keys if they use ``str`` keys. It takes a key as ``bytes``
    for another one than the same key as ``str``, so that it may look for it on another server; here
    both are the same key.

    ``dead_timeout`` is :class:`Client`'s ``retry``, and ``retry_attempts`` its ``max_failures``. A
    server that is down keeps its keys, which fail meanwhile, unless ``on_down="eject"`` is given,
    which does what pymemcache does. ``use_pooling`` and ``retry_timeout`` have no effect.
    """

    _ignored = 2
    _placement = "pymemcache"

    def __init__(
        self,
        servers,
        hasher=None,
        serde=None,
        serializer=None,
        deserializer=None,
        connect_timeout=None,
        timeout=None,
        no_delay=True,
        socket_module=socket,
        socket_keepalive=None,
        key_prefix=b"",
        max_pool_size=None,
        pool_idle_timeout=None,
        lock_generator=None,
        retry_attempts=None,
        retry_timeout=None,
        dead_timeout=None,
        use_pooling=True,
        ignore_exc=False,
        allow_unicode_keys=False,
        default_noreply=True,
        encoding="ascii",
        tls_context=None,
        **options,
    ):
        if hasher is not None:
            refuse("hasher", "a placement is chosen by its name; give placement instead")
        if retry_attempts is not None:
            options.setdefault("max_failures", max(1, retry_attempts))
        if dead_timeout is not None:
            options.setdefault("retry", dead_timeout)
        super().__init__(
            servers,
            serde=serde,
            serializer=serializer,
            deserializer=deserializer,
            connect_timeout=connect_timeout,
            timeout=timeout,
            no_delay=no_delay,
            ignore_exc=ignore_exc,
            socket_module=socket_module,
            socket_keepalive=socket_keepalive,
            key_prefix=key_prefix,
            max_pool_size=max_pool_size,
            default_noreply=default_noreply,
            allow_unicode_keys=allow_unicode_keys,
            encoding=encoding,
            tls_context=tls_context,
            **options,
        )
