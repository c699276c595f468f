"""Flask.

    RateLimit(app, weir="redis://127.0.0.1:7000", limits="100/1m", processes=4)
"""

from __future__ import annotations

from typing import Any

import flask

from ..connection import Weir
from ..core.core import Away
from ..limiter import Limiter
from .gate import STATUS, Gate
from .keys import Caller


def caller_of(request: flask.Request) -> Caller:
    return Caller(request.remote_addr, request.headers.get, request.method, request.path, request.remote_user, request)


class RateLimit:
    """Options are those of weir.Limiter (away, processes, fallback) and of Gate."""

    def __init__(self, app: flask.Flask, weir: Weir | str, limits: str, *, away: Away | str = Away.LOCAL,
                 processes: float | None = None, fallback: str | None = None, **gate: Any) -> None:
        self.limiter = Limiter(weir, limits, away=away, processes=processes, fallback=fallback)
        self.gate = Gate(**gate)
        app.before_request(self._before)
        app.after_request(self._after)

    def _before(self) -> flask.Response | None:
        flask.g.weir_fields = {}
        counted = self.gate.of(caller_of(flask.request))
        if counted is None:
            return None
        verdict = self.limiter.take(*counted)
        if verdict:
            flask.g.weir_fields = self.gate.headers(verdict)
            return None
        headers, body = self.gate.denial(verdict, counted[1])
        return flask.Response(body, STATUS, headers)

    def _after(self, response: flask.Response) -> flask.Response:
        response.headers.update(flask.g.get("weir_fields", {}))
        return response
