"""Holds and leases for asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import time
from types import TracebackType

from .. import calls
from ..contexts import settle
from ..observing import observed
from ..renewing import Renewals, lease_seconds
from ..steps import Engine
from ..verdict import Denied, Verdict
from .connection import Weir


class Hold:
    """As weir.Hold, taken when the context is entered."""

    verdict: Verdict

    def __init__(self, weir: Weir, engine: Engine, key: str, estimate: int, lasts: float) -> None:
        self._weir, self._engine, self._key, self._estimate, self._lasts = weir, engine, key, estimate, lasts
        self.used = estimate
        self.settled = False

    async def settle(self, used: int) -> bool:
        """False if weir did not get to know: then the estimate stays charged."""
        self.settled = True
        return await self._weir.run(settle(self._engine, self._key, self._estimate, used, self.verdict))

    async def cancel(self) -> bool:
        return await self.settle(0)

    async def __aenter__(self) -> Hold:
        self.verdict = await self._weir.run(observed(self._engine.observer, "hold", self._key, calls.take(
            self._engine, self._key, self._estimate, False, self._lasts)))
        if not self.verdict:
            raise Denied(self.verdict)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        if not self.settled:
            await self.settle(self.used if kind is None else 0)


class Lease:
    """As weir.Lease, taken when the context is entered and renewed by a task."""

    verdict: Verdict
    _renewals: Renewals

    def __init__(self, weir: Weir, engine: Engine, key: str, cost: int, timeout: float | None) -> None:
        self._weir, self._engine, self._key, self._cost, self._timeout = weir, engine, key, cost, timeout
        self.lost = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def renew(self) -> bool:
        """False if the lease has ended; True while weir is away and the lease still runs."""
        assert self.verdict.id is not None
        sent, permits = time.monotonic(), None
        try:
            permits = await self._weir.run(calls.renew(self._engine, self._key, self.verdict.id))
        finally:
            if not self._renewals.told(sent, permits):
                self.lost.set()
        return not self.lost.is_set()

    async def _renew_on(self) -> None:
        while not self.lost.is_set():
            await asyncio.sleep(self._renewals.pause())
            with contextlib.suppress(Exception):  # a fault of the program: the lease is lost at its end
                await self.renew()

    async def __aenter__(self) -> Lease:
        asked = time.monotonic()
        steps = calls.take(self._engine, self._key, self._cost) if self._timeout is None else calls.acquire(
            self._engine, self._key, self._timeout, self._cost)
        self.verdict = await self._weir.run(observed(self._engine.observer, "lease", self._key, steps))
        if not self.verdict:
            raise Denied(self.verdict)
        given = asked if self._timeout is None else time.monotonic()
        self._renewals = Renewals(lease_seconds(self.verdict), given)
        if self.verdict.id is not None:
            self._task = asyncio.get_running_loop().create_task(self._renew_on(), name="weir-lease")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._engine.give_back(self._key, self._cost)
        if self.verdict.id is not None:
            await self._weir.run(calls.of_id(self._engine, "RL.RELEASE", self._key, self.verdict.id))
