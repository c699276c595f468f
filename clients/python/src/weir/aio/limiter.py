"""A limiter for asyncio."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from .. import calls, together
from .. import lots as in_lots
from ..calls import Reservation
from ..core.core import KEYS_MAX, Away, Cost
from ..effects import Effect
from ..lots import Lots
from ..observing import Observer, observed
from ..state import Hook, State
from ..steps import Engine
from ..together import Verdicts
from ..verdict import Denied, Verdict
from .connection import Weir
from .contexts import Hold, Lease

T = TypeVar("T")


class Limiter:
    """As weir.Limiter, whose arguments it has; its calls are awaited, its contexts are `async with`."""

    def __init__(self, weir: Weir | str, limits: str | Sequence[str], *, away: Away | str = Away.LOCAL,
                 processes: float | None = None, fallback: str | None = None, keys_max: int = KEYS_MAX,
                 hooks: Sequence[Hook] = (), lots: float | None = None,
                 observer: Observer | None = None) -> None:
        self.weir = Weir(weir) if isinstance(weir, str) else weir
        self.engine = Engine(limits, self.weir.options, away, processes, keys_max, hooks, fallback)
        self.engine.observe(observer)
        self.lots = None if lots is None else Lots(self.engine, lots)

    async def take(self, key: str, cost: Cost = 1, *, upto: bool = False, id: str | None = None) -> Verdict:
        if self.lots is not None and isinstance(cost, int) and id is None and not upto:
            found = self.lots.hand_out(key, cost)
            if found is None:
                return await self._run("take", key, in_lots.take(self.lots, key, cost))
            if self.engine.observer is not None:
                self.engine.observer.handed_out(found)
            return found
        return await self._run("take", key, calls.take(self.engine, key, cost, upto, None, id))

    async def peek(self, key: str, cost: Cost = 1) -> Verdict:
        return await self._run("peek", key, calls.peek(self.engine, key, cost))

    async def acquire(self, key: str, timeout: float, cost: Cost = 1, *, id: str | None = None) -> Verdict:
        return await self._run("acquire", key, calls.acquire(self.engine, key, timeout, cost, None, id))

    async def reserve(self, key: str, cost: int = 1, *, max_wait: float | None = None,
                      id: str | None = None) -> Reservation:
        return await self._run("reserve", key, calls.reserve(self.engine, key, cost, max_wait, id))

    async def cancel(self, key: str, reservation: Reservation) -> int:
        if reservation.id is None:
            return 0
        return await self._run("cancel", key, calls.of_id(self.engine, "RL.CANCEL", key, reservation.id)) or 0

    def hold(self, key: str, estimate: int, *, lasts: float = 60.0) -> Hold:
        """`async with limiter.hold(key, 4000) as hold: hold.used = ...`; Denied is raised on entering."""
        return Hold(self.weir, self.engine, key, estimate, lasts)

    def lease(self, key: str, cost: int = 1, *, timeout: float | None = None) -> Lease:
        """`async with limiter.lease(key): ...`; Denied is raised on entering."""
        return Lease(self.weir, self.engine, key, cost, timeout)

    async def _run(self, call: str, key: str, steps: Generator[Effect, Any, T]) -> T:
        return await self.weir.run(observed(self.engine.observer, call, key, steps))

    def state(self) -> State:
        return self.engine.state()

    async def close(self) -> None:
        if self.lots is not None:
            await self.weir.run(in_lots.give_back(self.lots, everything=True))
        await self.weir.close()


async def take_all(items: Sequence[tuple[Limiter, str] | tuple[Limiter, str, int]]) -> Verdicts:
    """As weir.take_all."""
    return await items[0][0].weir.run(together.observed_steps(together.parts_of(items)))


__all__ = ["Denied", "Limiter", "take_all"]
