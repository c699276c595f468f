"""Holds and leases for threads, as contexts."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator
from types import TracebackType
from typing import Any

from . import calls
from .connection import Weir
from .effects import Effect
from .renewing import Renewals, lease_seconds
from .steps import Engine
from .verdict import Verdict


def settle(engine: Engine, key: str, estimate: int, used: int, verdict: Verdict) -> Generator[Effect, Any, bool]:
    """False if weir was not reached: then the estimate stays charged."""
    if used < estimate:
        engine.give_back(key, estimate - used)
    if verdict.source != "weir":
        if used > estimate:
            engine.charge(key, used - estimate)
        return True
    if verdict.id is None:
        return True
    reply = yield from (calls.of_id(engine, "RL.CANCEL", key, verdict.id) if used == 0 else
                        calls.of_id(engine, "RL.SETTLE", key, verdict.id, str(used)))
    return reply is not None


class Hold:
    """`used` is what the hold is settled with at the end of the context; the estimate if it is not set."""

    def __init__(self, weir: Weir, engine: Engine, key: str, estimate: int, verdict: Verdict) -> None:
        self._weir, self._engine, self._key, self._estimate = weir, engine, key, estimate
        self.verdict = verdict
        self.used = estimate
        self.settled = False

    def settle(self, used: int) -> bool:
        """False if weir did not get to know: then the estimate stays charged."""
        self.settled = True
        return self._weir.run(settle(self._engine, self._key, self._estimate, used, self.verdict))

    def cancel(self) -> bool:
        return self.settle(0)

    def __enter__(self) -> Hold:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if not self.settled:
            self.settle(self.used if kind is None else 0)


class Lease:
    """Renewed by a thread until the context ends. `lost` is set when the lease has ended in spite of it."""

    def __init__(self, weir: Weir, engine: Engine, key: str, cost: int, verdict: Verdict, given: float) -> None:
        self._weir, self._engine, self._key, self._cost = weir, engine, key, cost
        self.verdict = verdict
        self.lost = threading.Event()
        self._over = threading.Event()
        self._renewals = Renewals(lease_seconds(verdict), given)
        self._thread: threading.Thread | None = None

    def renew(self) -> bool:
        """False if the lease has ended; True while weir is away and the lease still runs."""
        assert self.verdict.id is not None
        sent, permits = time.monotonic(), None
        try:
            permits = self._weir.run(calls.renew(self._engine, self._key, self.verdict.id))
        finally:
            if not self._over.is_set() and not self._renewals.told(sent, permits):
                self.lost.set()
        return not self.lost.is_set()

    def _renew_on(self) -> None:
        while not self.lost.is_set() and not self._over.wait(self._renewals.pause()):
            with contextlib.suppress(Exception):  # a fault of the program: the lease is lost at its end
                self.renew()

    def release(self) -> None:
        self._over.set()
        end = self._engine.end()
        self._engine.give_back(self._key, self._cost)
        if self.verdict.id is not None:
            self._weir.run(calls.of_id(self._engine, "RL.RELEASE", self._key, self.verdict.id, end=end))
        if self._thread is not None:
            self._thread.join(max(0.0, end - time.monotonic()))

    def __enter__(self) -> Lease:
        if self.verdict.id is not None:
            self._thread = threading.Thread(target=self._renew_on, name="weir-lease", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._over.is_set():
            self.release()


__all__ = ["Hold", "Lease"]
