"""Sessions of Flask in a table that all worker processes of the machine share.

>>> from flask import Flask, session
>>> from tavola.flask_session import TavolaSessions
>>> app = Flask("shop")
>>> app.session_interface = TavolaSessions("sessions")
>>> @app.route("/count")
... def count():
...     session["pages"] = session.get("pages", 0) + 1
...     return str(session["pages"])
>>> client = app.test_client()
>>> client.get("/count").text, client.get("/count").text
('1', '2')

The cookie holds a random number, and the table holds the data, for as long as the session lasts
(``PERMANENT_SESSION_LIFETIME``). The data are JSON, as those of Flask's own sessions.
"""

import secrets

from flask.json.tag import TaggedJSONSerializer
from flask.sessions import SessionInterface, SessionMixin
from werkzeug.datastructures import CallbackDict

from ._open import open_cache
from ._table import Table

#: Bytes of randomness in the number of a session.
ID_BYTES = 32


class Session(CallbackDict, SessionMixin):
    """The data of one session; ``flask.session`` is one.

    >>> from tavola.flask_session import Session
    >>> session = Session({"name": "Ann"}, sid="number")
    >>> session.modified
    False
    >>> session["name"] = "Bob"
    >>> session.modified
    True
    """

    def __init__(self, data=None, sid=None, is_new=False):
        def note_change(_):
            self.modified = True

        super().__init__(data, note_change)
        self.sid = sid
        self.new = is_new
        self.modified = False


class TavolaSessions(SessionInterface):
    """Keeps the sessions of a Flask application in a table; see :mod:`tavola.flask_session`.

    table: a :class:`tavola.Table` or its name. prefix: of the keys. options: those of
    :func:`tavola.open`; a capacity of 64 MiB if none is given. With ``durable="commit"`` and a
    path, sessions survive a restart of the machine.

    >>> from flask import Flask, session
    >>> from tavola.flask_session import TavolaSessions
    >>> app = Flask("shop")
    >>> app.session_interface = sessions = TavolaSessions("sessions")
    >>> @app.route("/login/<name>")
    ... def login(name):
    ...     session["name"] = name
    ...     sessions.regenerate(session)
    ...     return "in"
    >>> @app.route("/stay")
    ... def stay():
    ...     return str(sessions.touch(session, seconds=86400))
    >>> client = app.test_client()
    >>> client.get("/login/ann").text, client.get("/stay").text, sessions.count()
    ('in', 'True', 1)
    """

    serializer = TaggedJSONSerializer()

    def __init__(self, table="sessions", prefix="session:", **options):
        if not isinstance(table, Table):
            table = open_cache(table, **options)
        self.table = table
        self.prefix = prefix

    def _key(self, sid):
        return self.prefix + sid

    def open_session(self, app, request):
        """Return the session of a request; a new one if its number is not known."""
        sid = request.cookies.get(self.get_cookie_name(app))
        if sid:
            stored = self.table.get(self._key(sid))
            if isinstance(stored, str):
                try:
                    return Session(self.serializer.loads(stored), sid)
                except ValueError:
                    pass
        return Session(sid=secrets.token_urlsafe(ID_BYTES), is_new=True)

    def save_session(self, app, session, response):
        """Store a session that changed, and set its cookie; remove one that is empty."""
        name = self.get_cookie_name(app)
        place = {"domain": self.get_cookie_domain(app), "path": self.get_cookie_path(app)}
        if session.accessed:
            response.vary.add("Cookie")
        if not session:
            if session.modified:
                self.table.delete(self._key(session.sid))
                response.delete_cookie(name, **place)
            return
        if not session.modified and not self.should_set_cookie(app, session):
            return
        lifetime = app.permanent_session_lifetime.total_seconds()
        text = self.serializer.dumps(dict(session))
        self.table.set(self._key(session.sid), text, max(lifetime, 1))
        response.set_cookie(
            name,
            session.sid,
            expires=self.get_expiration_time(app, session),
            httponly=self.get_cookie_httponly(app),
            secure=self.get_cookie_secure(app),
            samesite=self.get_cookie_samesite(app),
            **place,
        )
        response.vary.add("Cookie")

    def regenerate(self, session):
        """Give a session another number, after a login for example; the old one ends."""
        self.table.delete(self._key(session.sid))
        session.sid = secrets.token_urlsafe(ID_BYTES)
        session.modified = True

    def touch(self, session, seconds):
        """Let a session last for so many seconds from now on; return whether it exists."""
        return self.table.touch(self._key(session.sid), seconds)

    def count(self):
        """Return the number of sessions that have not expired."""
        return len(self.table.keys(self.prefix))

    def __repr__(self):
        return f"<tavola.flask_session.TavolaSessions in {self.table!r}>"
