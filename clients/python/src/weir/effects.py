"""What the steps of a call ask of the world: to send, to sleep, to wait for another call, to go on beside.

The steps are generators that yield these and are sent the replies, so that what runs them may block or await.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Union

Word = Union[str, int]
Command = tuple[Word, ...]


@dataclass(frozen=True)
class Send:
    """Commands to be sent together; sent back is a list with a reply or an error for each.

    `end` is the instant of time.monotonic() by which all is over. `waits`: on a connection for calls that wait.
    """

    commands: tuple[Command, ...]
    end: float
    waits: bool = False


@dataclass(frozen=True)
class Sleep:
    """Seconds."""

    seconds: float


class Gate:
    """Opened once, for the call that waits for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: list[Callable[[], None]] | None = []  # None: it is open

    def open(self) -> None:
        with self._lock:
            waiters, self._waiters = self._waiters or (), None
        for waiter in waiters:
            waiter()

    def when_open(self, waiter: Callable[[], None]) -> None:
        """Called when it opens, in any thread; at once if it is open."""
        with self._lock:
            if self._waiters is not None:
                return self._waiters.append(waiter)
        waiter()


@dataclass(frozen=True)
class Wait:
    """For the gate; sent back is whether it has opened by that instant."""

    gate: Gate
    end: float


@dataclass(frozen=True)
class Beside:
    """Steps that run while the call goes on."""

    steps: Generator["Effect", Any, None]


Effect = Union[Send, Sleep, Wait, Beside]
