"""Calls that come at the same time, in one pipeline: more of them a second, for a little more time each.

What comes while a pipeline is under way is sent with the next one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from .aside import Aside, outcome_of
from .effects import Send

BATCH_MAX = 200  # calls
Exchange = Callable[[Send], list[Any]]


def together(sends: Sequence[Send]) -> Send:
    """All their commands; over when the last of them is."""
    return Send(tuple(command for send in sends for command in send.commands), max(send.end for send in sends))


def apart(sends: Sequence[Send], replies: Sequence[Any]) -> list[list[Any]]:
    """The replies of each."""
    rest = iter(replies)
    return [[next(rest) for _ in send.commands] for send in sends]


def fault_of(replies: Sequence[Any]) -> Exception | None:
    """What a call of one command raises: a pipeline has errors among its replies."""
    return replies[0] if len(replies) == 1 and isinstance(replies[0], Exception) else None


@dataclass
class Item:
    send: Send
    outcome: Future[list[Any]] = field(default_factory=Future)


class Batches:
    """For threads: a thread of its own sends them."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._aside = Aside("weir-batch")
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self._sender: object | None = None
        self._sending_until = 0.0  # who is not back by then hangs: another goes on

    def send(self, send: Send) -> list[Any]:
        item, now = Item(send), time.monotonic()
        with self._lock:
            self._items.append(item)
            starts = self._sender is None or now > self._sending_until
            if starts:
                self._sender, self._sending_until = object(), send.end
            sender = self._sender
        if starts:
            try:
                self._aside.start(lambda: self._send_all(sender))
            except RuntimeError as error:
                self._sender = None
                raise TimeoutError("no thread was free") from error
        return outcome_of(item.outcome, send.end)

    def _send_all(self, sender: object) -> None:
        while items := self._next(sender):
            sends = [item.send for item in items]
            try:
                each = apart(sends, self._exchange(together(sends)))
            except Exception as error:
                for item in items:
                    item.outcome.set_exception(error)
                continue
            for item, replies in zip(items, each):
                fault = fault_of(replies)
                if fault is None:
                    item.outcome.set_result(replies)
                else:
                    item.outcome.set_exception(fault)

    def _next(self, sender: object) -> list[Item]:
        """Those that are not late already. Empty: nobody sends any more, or another does."""
        now = time.monotonic()
        with self._lock:
            if self._sender is not sender:
                return []
            waiting = [item for item in self._items if item.send.end > now]
            items, self._items = waiting[:BATCH_MAX], waiting[BATCH_MAX:]
            if items:
                self._sending_until = max(item.send.end for item in items)
            else:
                self._sender = None
        return items
