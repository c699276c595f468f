"""Connections of redis-py that keep to an instant by which all is over, whatever the peer does.

redis-py bounds each read; a peer that sends a byte now and then, a handshake of several replies, a name with several
addresses or a look-up of it takes a multiple of that, or is not bounded. Here each step gets what is left.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any

import redis
from redis import exceptions

from .aside import Aside, outcome_of

_END: ContextVar[float | None] = ContextVar("weir_end", default=None)
STEP_S = 0.0001  # the least that a step gets


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
    rest = max(STEP_S, end - time.monotonic())
    return rest if timeout is None else min(rest, timeout)


def name_of_process() -> str:
    """By which weir counts the callers of a policy: one a process."""
    host = "".join(char if char.isalnum() or char in "-_." else "-" for char in socket.gethostname())
    return f"weir-{host[:48]}-{os.getpid()}"


class Names:
    """Looks up addresses of hosts, each name once at a time, however many wait for it."""

    def __init__(self) -> None:
        self._aside = Aside("weir-name")
        self._lock = threading.Lock()
        self._pending: dict[tuple[str, int, int], Future[list[Any]]] = {}

    def look_up(self, host: str, port: int, family: int) -> list[Any]:
        """As socket.getaddrinfo(), by the end that until() names."""
        end = _END.get()
        if end is None or is_address(host):
            return socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
        name = (host, port, family)
        with self._lock:
            pending = self._pending.get(name)
            if pending is None or pending.done():
                pending = self._aside.start(lambda: socket.getaddrinfo(*name, socket.SOCK_STREAM))
                self._pending = {other: future for other, future in self._pending.items() if not future.done()}
                self._pending[name] = pending
        return outcome_of(pending, end)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


NAMES = Names()
os.register_at_fork(after_in_child=NAMES.__init__)  # type: ignore[misc]


class _Socket:
    """A socket whose every step is bounded."""

    def __init__(self, sock: socket.socket, timeout: float | None) -> None:
        self._sock = sock
        self._timeout = timeout

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


class _Dial(redis.Connection):
    """Connects to one of the addresses of a name; each gets an equal part of what is left."""

    def _connect(self) -> socket.socket:
        found = NAMES.look_up(self.host, self.port, self.socket_type)
        error = OSError("the name has no address")
        for number, (family, kind, protocol, _, address) in enumerate(found):
            rest = left(None)
            part = self.socket_connect_timeout if rest is None else rest / (len(found) - number)
            try:
                return self._dial(socket.socket(family, kind, protocol), address, left(part))
            except OSError as failed:
                error = failed
        raise error

    def _dial(self, sock: socket.socket, address: Any, timeout: float | None) -> socket.socket:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.socket_keepalive:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                for option, value in self.socket_keepalive_options.items():
                    sock.setsockopt(socket.IPPROTO_TCP, option, value)
            sock.settimeout(timeout)
            sock.connect(address)
            sock.settimeout(left(None))  # of a handshake of TLS
            return sock
        except BaseException:
            sock.close()
            raise


class _Bounded:
    """Mixed into redis-py's connections."""

    socket_connect_timeout: float | None
    socket_timeout: float | None

    def _connect(self) -> Any:
        plain, self.socket_connect_timeout = self.socket_connect_timeout, left(self.socket_connect_timeout)
        try:
            return _Socket(super()._connect(), self.socket_timeout)  # type: ignore[misc]
        finally:
            self.socket_connect_timeout = plain


class Connection(_Bounded, _Dial):
    """redis://"""


class SSLConnection(_Bounded, redis.SSLConnection, _Dial):
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
