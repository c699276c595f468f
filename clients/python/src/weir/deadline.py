"""Connections of redis-py that keep to an instant by which all is over, whatever the peer does.

redis-py bounds each read; a peer that sends a byte now and then, or a handshake of several replies, takes a multiple
of that. Here each step on the socket gets what is left. The look-up of a host's name is not bounded.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import redis
from redis import exceptions

_END: ContextVar[float | None] = ContextVar("weir_end", default=None)


@contextlib.contextmanager
def until(end: float) -> Iterator[None]:
    """All that this thread does on such connections within it ends by that instant of time.monotonic()."""
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def left(timeout: float | None) -> float | None:
    """Seconds that a step may take."""
    end = _END.get()
    if end is None:
        return timeout
    rest = max(0.0001, end - time.monotonic())
    return rest if timeout is None else min(rest, timeout)


def name_of_process() -> str:
    """By which weir counts the callers of a policy: one a process."""
    host = "".join(char if char.isalnum() or char in "-_." else "-" for char in socket.gethostname())
    return f"weir-{host[:48]}-{os.getpid()}"


class _Socket:
    """A socket whose every step is bounded."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._timeout = sock.gettimeout()

    def settimeout(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._sock.settimeout(timeout)

    def recv(self, *arguments: Any) -> bytes:
        self._sock.settimeout(left(self._timeout))
        return self._sock.recv(*arguments)

    def recv_into(self, *arguments: Any) -> int:
        self._sock.settimeout(left(self._timeout))
        return self._sock.recv_into(*arguments)

    def sendall(self, data: Any) -> None:
        self._sock.settimeout(left(self._timeout))
        self._sock.sendall(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)


class _Bounded:
    """Mixed into redis-py's connections."""

    def _connect(self) -> Any:
        self.socket_connect_timeout = left(None)
        plain, self.socket_timeout = getattr(self, "socket_timeout", None), left(None)
        try:
            return _Socket(super()._connect())  # type: ignore[misc]
        finally:
            self.socket_timeout = plain


class Connection(_Bounded, redis.Connection):
    """redis://"""


class SSLConnection(_Bounded, redis.SSLConnection):
    """rediss://"""


class UnixConnection(_Bounded, redis.UnixDomainSocketConnection):
    """unix://"""


CLASSES = {"redis": Connection, "rediss": SSLConnection, "unix": UnixConnection}


def on_connect(connection: Any) -> None:
    """Logs in, then tells the name; a user who may not is counted by no name."""
    connection.on_connect()
    with contextlib.suppress(exceptions.ResponseError):
        connection.send_command("CLIENT", "SETNAME", name_of_process())
        connection.read_response()
