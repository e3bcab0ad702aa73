import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, Protocol, TypeVar, overload

from typing_extensions import Self, TypeAlias

from . import Error, _Key, _Time

_K = TypeVar("_K", str, bytes)
_D = TypeVar("_D")
_Server: TypeAlias = str | os.PathLike[str] | tuple[str, int] | list[Any]
_Path: TypeAlias = str | os.PathLike[str]

FLAG_BYTES: int
FLAG_PICKLE: int
FLAG_INTEGER: int
FLAG_LONG: int
FLAG_COMPRESSED: int
FLAG_TEXT: int

class MemcacheError(Error): ...
class MemcacheClientError(MemcacheError): ...
class MemcacheUnknownCommandError(MemcacheClientError): ...
class MemcacheIllegalInputError(MemcacheClientError, ValueError): ...
class MemcacheServerError(MemcacheError): ...
class MemcacheUnsentError(MemcacheServerError, OSError): ...
class MemcacheUnknownError(MemcacheError): ...
class MemcacheUnexpectedCloseError(MemcacheServerError, MemcacheUnknownError, OSError): ...

class _Serde(Protocol):
    def serialize(self, key: Any, value: Any, /) -> tuple[Any, int]: ...
    def deserialize(self, key: Any, value: bytes, flags: int, /) -> Any: ...

class PickleSerde:
    def __init__(
        self,
        pickle_version: int = ...,
        min_compress_len: int | None = None,
        max_decompressed: int = ...,
    ) -> None: ...
    def serialize(self, key: _Key, value: Any) -> tuple[bytes, int]: ...
    def deserialize(self, key: _Key, value: bytes, flags: int) -> Any: ...

pickle_serde: PickleSerde
compressed_serde: PickleSerde

class Client:
    def __init__(
        self,
        server: _Server | Sequence[_Server],
        serde: None | Literal["json", "pickle"] | _Serde = None,
        serializer: Callable[[Any, Any], tuple[Any, int]] | None = None,
        deserializer: Callable[[Any, bytes, int], Any] | None = None,
        connect_timeout: _Time | None = None,
        timeout: _Time | None = None,
        no_delay: bool = True,
        ignore_exc: bool = False,
        socket_module: ModuleType = ...,
        socket_keepalive: None = None,
        key_prefix: _Key = b"",
        max_pool_size: int | None = None,
        pool_idle_timeout: float | None = None,
        lock_generator: Callable[[], Any] | None = None,
        default_noreply: bool = True,
        allow_unicode_keys: bool = False,
        encoding: str = "ascii",
        tls_context: None = None,
        *,
        weights: Iterable[float] | None = None,
        placement: str | None = None,
        near: str | None = None,
        near_ttl: _Time | None = None,
        replicas: int = 0,
        read_any: bool = False,
        hold_noreply: bool = False,
        on_down: Literal["fail", "eject", "next"] = "fail",
        max_failures: int | None = None,
        failure_timeout: _Time | None = None,
        retry: _Time | None = None,
        protocol: Literal["auto", "meta", "text", "binary"] = "auto",
        user: str | None = None,
        password: str | None = None,
        sasl: bool = False,
        tls_ca: _Path | None = None,
        tls_cert: _Path | None = None,
        tls_key: _Path | None = None,
        tls_name: str | None = None,
        hash_key_prefix: bool = False,
        hash_tag: str | None = None,
        max_value: int | None = None,
    ) -> None: ...
    @property
    def servers(self) -> list[str]: ...
    def server_of(self, key: _Key) -> str: ...
    @overload
    def get(self, key: _Key) -> Any | None: ...
    @overload
    def get(self, key: _Key, default: _D) -> Any | _D: ...
    def gets(
        self, key: _Key, default: Any = None, cas_default: Any = None
    ) -> tuple[Any, Any]: ...
    def gat(self, key: _Key, expire: int | None = None, default: Any = None) -> Any: ...
    def gats(
        self,
        key: _Key,
        expire: int | None = None,
        default: Any = None,
        cas_default: Any = None,
    ) -> tuple[Any, Any]: ...
    def get_many(self, keys: Iterable[_K]) -> dict[_K, Any]: ...
    def get_multi(self, keys: Iterable[_K]) -> dict[_K, Any]: ...
    def gets_many(self, keys: Iterable[_K]) -> dict[_K, tuple[Any, int]]: ...
    def gets_multi(self, keys: Iterable[_K]) -> dict[_K, tuple[Any, int]]: ...
    def set(
        self,
        key: _Key,
        value: Any,
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> bool: ...
    def add(
        self,
        key: _Key,
        value: Any,
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> bool: ...
    def replace(
        self,
        key: _Key,
        value: Any,
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> bool: ...
    def append(
        self,
        key: _Key,
        value: Any,
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> bool: ...
    def prepend(
        self,
        key: _Key,
        value: Any,
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> bool: ...
    def cas(
        self,
        key: _Key,
        value: Any,
        cas: int | str | bytes,
        expire: int | None = None,
        noreply: bool | None = False,
        flags: int | None = None,
    ) -> bool | None: ...
    def set_many(
        self,
        values: Mapping[_K, Any] | Iterable[tuple[_K, Any]],
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> list[_K]: ...
    def set_multi(
        self,
        values: Mapping[_K, Any] | Iterable[tuple[_K, Any]],
        expire: int | None = None,
        noreply: bool | None = None,
        flags: int | None = None,
    ) -> list[_K]: ...
    def delete(self, key: _Key, noreply: bool | None = None) -> bool: ...
    def delete_many(self, keys: Iterable[_Key], noreply: bool | None = None) -> bool: ...
    def delete_multi(self, keys: Iterable[_Key], noreply: bool | None = None) -> bool: ...
    def incr(self, key: _Key, value: int, noreply: bool | None = None) -> int | None: ...
    def decr(self, key: _Key, value: int, noreply: bool | None = None) -> int | None: ...
    def touch(
        self, key: _Key, expire: int | None = None, noreply: bool | None = None
    ) -> bool: ...
    def stats(self, *args: str | bytes) -> dict[Any, Any]: ...
    def version(self) -> Any: ...
    def flush_all(self, delay: int = 0, noreply: bool | None = None) -> bool: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def quit(self) -> None: ...
    def disconnect_all(self) -> None: ...
    def __getitem__(self, key: _Key) -> Any: ...
    def __setitem__(self, key: _Key, value: Any) -> None: ...
    def __delitem__(self, key: _Key) -> None: ...
    def __contains__(self, key: _Key) -> bool: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    __iter__: None

class PooledClient(Client): ...

class HashClient(Client):
    def __init__(
        self,
        servers: _Server | Sequence[_Server],
        hasher: None = None,
        serde: None | Literal["json", "pickle"] | _Serde = None,
        serializer: Callable[[Any, Any], tuple[Any, int]] | None = None,
        deserializer: Callable[[Any, bytes, int], Any] | None = None,
        connect_timeout: _Time | None = None,
        timeout: _Time | None = None,
        no_delay: bool = True,
        socket_module: ModuleType = ...,
        socket_keepalive: None = None,
        key_prefix: _Key = b"",
        max_pool_size: int | None = None,
        pool_idle_timeout: float | None = None,
        lock_generator: Callable[[], Any] | None = None,
        retry_attempts: int | None = None,
        retry_timeout: float | None = None,
        dead_timeout: _Time | None = None,
        use_pooling: bool = True,
        ignore_exc: bool = False,
        allow_unicode_keys: bool = False,
        default_noreply: bool = True,
        encoding: str = "ascii",
        tls_context: None = None,
        **options: Any,
    ) -> None: ...
