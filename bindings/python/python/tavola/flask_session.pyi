import os
from collections.abc import Mapping
from typing import Any

from flask import Flask, Request, Response
from flask.json.tag import TaggedJSONSerializer
from flask.sessions import SessionInterface, SessionMixin
from werkzeug.datastructures import CallbackDict

from . import Table

ID_BYTES: int

class Session(CallbackDict[str, Any], SessionMixin):
    sid: str | None
    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        sid: str | None = None,
        is_new: bool = False,
    ) -> None: ...

class TavolaSessions(SessionInterface):
    serializer: TaggedJSONSerializer
    table: Table
    prefix: str
    def __init__(
        self,
        table: Table | str | bytes | os.PathLike[str] = "sessions",
        prefix: str = "session:",
        **options: Any,
    ) -> None: ...
    def open_session(self, app: Flask, request: Request) -> Session: ...
    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None: ...
    def regenerate(self, session: SessionMixin) -> None: ...
    def touch(self, session: SessionMixin, seconds: float) -> bool: ...
    def count(self) -> int: ...
