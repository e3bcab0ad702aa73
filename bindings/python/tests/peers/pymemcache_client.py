"""A plugin of pytest that puts the client of this package in the place of pymemcache's, for
pymemcache's own tests."""

import pymemcache.client.base as base
import pymemcache.client.hash as hashed
import pymemcache.exceptions as exceptions

from tavola import memcached

base.Client = memcached.Client
base.PooledClient = memcached.PooledClient
hashed.HashClient = memcached.HashClient
for name in vars(exceptions).copy():
    if name.startswith("Memcache"):
        setattr(exceptions, name, getattr(memcached, name))
