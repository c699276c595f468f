"""Calls of one tick of the event loop, in one pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from ..batches import BATCH_MAX, apart, fault_of, together
from ..effects import Send

Item = tuple[Send, "asyncio.Future[list[Any]]"]


class Batches:
    """`exchange` sends a pipeline and is over by its end; `start` makes a task."""

    def __init__(self, exchange: Callable[[Send], Awaitable[list[Any]]],
                 start: Callable[[Coroutine[Any, Any, None], str], Any]) -> None:
        self._exchange, self._start = exchange, start
        self._items: list[Item] = []

    async def send(self, send: Send) -> list[Any]:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[list[Any]] = loop.create_future()
        if not self._items:
            loop.call_soon(self._flush)
        self._items.append((send, outcome))
        return await outcome

    def _flush(self) -> None:
        items, self._items = self._items, []
        for begin in range(0, len(items), BATCH_MAX):
            self._start(self._send_all(items[begin:begin + BATCH_MAX]), "weir-batch")

    async def _send_all(self, items: list[Item]) -> None:
        sends = [send for send, _ in items]
        try:
            each = apart(sends, await self._exchange(together(sends)))
        except Exception as error:
            for _, outcome in items:
                if not outcome.done():
                    outcome.set_exception(error)
            return
        for (_, outcome), replies in zip(items, each):
            fault = fault_of(replies)
            if outcome.done():
                continue
            if fault is None:
                outcome.set_result(replies)
            else:
                outcome.set_exception(fault)
