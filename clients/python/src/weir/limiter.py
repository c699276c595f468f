"""A limiter for threads."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from . import calls
from . import lots as in_lots
from .calls import Reservation
from .connection import Weir
from .contexts import Hold, Lease
from .core.core import KEYS_MAX, Away, Cost
from .effects import Effect
from .lots import Lots
from .observing import Observer, observed
from .state import Hook, State
from .steps import Engine
from .verdict import Denied, Verdict

T = TypeVar("T")


class Limiter:
    """Limits of weir under keys: `Limiter(weir, "100/1m BURST 20").take("user:42")`.

    weir        a Weir, which limiters share, or its url
    limits      as in RL.TAKE, `POLICY name` among them
    away        what is decided while weir is away: local, strict, open or closed
    processes   how many processes use these limits: each hands out so many a part while weir is away. Where it is
                left out, what weir tells (`callers` of FULL) counts, or 1
    fallback    of a policy: its limits until weir has told them
    hooks       each is told of each change between away and back
    observer    is told of calls: a weir.telemetry.Telemetry, for OpenTelemetry
    lots        seconds: takes so much of the share in advance and hands it out here; for rates above a round trip
                a call. What is not used within that time is given back
    """

    def __init__(self, weir: Weir | str, limits: str | Sequence[str], *, away: Away | str = Away.LOCAL,
                 processes: float | None = None, fallback: str | None = None, keys_max: int = KEYS_MAX,
                 hooks: Sequence[Hook] = (), lots: float | None = None,
                 observer: Observer | None = None) -> None:
        self.weir = Weir(weir) if isinstance(weir, str) else weir
        self.engine = Engine(limits, self.weir.options, away, processes, keys_max, hooks, fallback)
        self.engine.observe(observer)
        self.lots = None if lots is None else Lots(self.engine, lots)

    def take(self, key: str, cost: Cost = 1, *, upto: bool = False, id: str | None = None) -> Verdict:
        """Takes from all limits of the key, or from none. `id` where the caller repeats calls by itself."""
        if self.lots is not None and isinstance(cost, int) and id is None and not upto:
            found = self.lots.hand_out(key, cost)
            if found is None:
                return self._run("take", key, in_lots.take(self.lots, key, cost))
            if self.engine.observer is not None:
                self.engine.observer.handed_out(found)
            return found
        return self._run("take", key, calls.take(self.engine, key, cost, upto, None, id))

    def peek(self, key: str, cost: Cost = 1) -> Verdict:
        """The verdict that take() would give; changes nothing."""
        return self._run("peek", key, calls.peek(self.engine, key, cost))

    def acquire(self, key: str, timeout: float, cost: Cost = 1, *, id: str | None = None) -> Verdict:
        """Waits for its turn, `timeout` seconds at most."""
        return self._run("acquire", key, calls.acquire(self.engine, key, timeout, cost, None, id))

    def reserve(self, key: str, cost: int = 1, *, max_wait: float | None = None, id: str | None = None) -> Reservation:
        """Books now what may be used after `wait` seconds."""
        return self._run("reserve", key, calls.reserve(self.engine, key, cost, max_wait, id))

    def cancel(self, key: str, reservation: Reservation) -> int:
        """Gives a booking back; how many permits came back."""
        if reservation.id is None:
            return 0
        return self._run("cancel", key, calls.of_id(self.engine, "RL.CANCEL", key, reservation.id)) or 0

    def hold(self, key: str, estimate: int, *, lasts: float = 60.0) -> Hold:
        """`with limiter.hold(key, 4000) as hold: hold.used = ...`: takes the estimate, settles with what was used.

        An exception gives everything back. Raises Denied if there is not enough.
        """
        verdict = self._run("hold", key, calls.take(self.engine, key, estimate, False, lasts))
        if not verdict:
            raise Denied(verdict)
        return Hold(self.weir, self.engine, key, estimate, verdict)

    def lease(self, key: str, cost: int = 1, *, timeout: float | None = None) -> Lease:
        """`with limiter.lease(key): ...` of CONCURRENCY: renews itself, and is given back at the end.

        With `timeout` it waits for its turn. Raises Denied if there is none.
        """
        asked = time.monotonic()
        steps = calls.take(self.engine, key, cost) if timeout is None else calls.acquire(
            self.engine, key, timeout, cost)
        verdict = self._run("lease", key, steps)
        if not verdict:
            raise Denied(verdict)
        return Lease(self.weir, self.engine, key, cost, verdict, asked if timeout is None else time.monotonic())

    def _run(self, call: str, key: str, steps: Generator[Effect, Any, T]) -> T:
        return self.weir.run(observed(self.engine.observer, call, key, steps))

    def state(self) -> State:
        """Whether weir is away for this limiter, since when, and what was decided where."""
        return self.engine.state()

    def close(self) -> None:
        """Gives lots back, and closes the connections, which other limiters may share."""
        if self.lots is not None:
            self.weir.run(in_lots.give_back(self.lots, everything=True))
        self.weir.close()
