"""Starlette, FastAPI and other ASGI applications.

    app.add_middleware(RateLimit, weir="redis://127.0.0.1:7000", limits="100/1m", processes=4)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ..aio import Limiter, Weir
from ..core.core import Away
from .gate import STATUS, Gate
from .keys import Caller

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def caller_of(scope: Scope) -> Caller:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        text = name.decode("latin-1").lower()
        line = value.decode("latin-1")
        headers[text] = f"{headers[text]}, {line}" if text in headers else line
    client, user = scope.get("client"), scope.get("user")
    who = getattr(user, "display_name", "") if getattr(user, "is_authenticated", False) else None
    return Caller(client[0] if client else None, lambda name: headers.get(name.lower()), scope.get("method", "GET"),
                  scope["path"], who or None, scope)


class RateLimit:
    """An ASGI middleware. Options are those of weir.aio.Limiter (away, processes, fallback) and of Gate."""

    def __init__(self, app: App, weir: Weir | str, limits: str, *, away: Away | str = Away.LOCAL,
                 processes: float | None = None, fallback: str | None = None, **gate: Any) -> None:
        self.app = app
        self.limiter = Limiter(weir, limits, away=away, processes=processes, fallback=fallback)
        self.gate = Gate(**gate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, self._closing(send))
        counted = self.gate.of(caller_of(scope)) if scope["type"] == "http" else None
        if counted is None:
            return await self.app(scope, receive, send)
        verdict = await self.limiter.take(*counted)
        if not verdict:
            headers, body = self.gate.denial(verdict, counted[1])
            await send({"type": "http.response.start", "status": STATUS,
                        "headers": [*_raw(headers), (b"content-length", str(len(body)).encode())]})
            return await send({"type": "http.response.body", "body": body})
        fields = _raw(self.gate.headers(verdict))

        async def send_with_fields(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *fields]
            await send(message)
        await self.app(scope, receive, send_with_fields)

    def _closing(self, send: Send) -> Send:
        async def send_and_close(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":
                await self.limiter.close()
            await send(message)
        return send_and_close


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]
