"""A storage of the library `limits`, on which Flask-Limiter and slowapi stand.

    import weir.limits_storage
    storage = limits.storage.storage_from_string("weir://127.0.0.1:7000", processes=4)

Importing it makes the scheme known. Moving and sliding windows are decided by weir, and by the share of the process
while it is away; of a fixed window the library tells no limit, so what this process counts then is taken times
`processes`.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from limits.storage import MovingWindowSupport, SlidingWindowCounterSupport, Storage
from redis.exceptions import RedisError

from .connection import Weir
from .deadline import until
from .effects import Effect, Send, Word
from .errors import failure_of
from .limiter import Limiter

COUNTED = 10**12  # so many permits are never used up: a window that counts
PREFIX = "limits:"
RESET_S = 60.0


class WeirStorage(Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """Options are `processes` and `away` of weir.Limiter, and `deadline` of weir.Weir."""

    STORAGE_SCHEME = ["weir", "weirs"]

    def __init__(self, uri: str, wrap_exceptions: bool = False, processes: float | None = None, away: str = "local",
                 deadline: float = 0.1, **options: Any) -> None:
        super().__init__(uri, wrap_exceptions, **options)
        self._weir = Weir(uri.replace("weir", "redis", 1), deadline=deadline)
        self._processes, self._away = processes, away
        self._limiters: dict[str, Limiter] = {}

    @property
    def base_exceptions(self) -> type[Exception]:
        return RedisError

    def _limiter(self, limits: str) -> Limiter:
        if limits not in self._limiters:
            self._limiters[limits] = Limiter(self._weir, limits, away=self._away, processes=self._processes)
        return self._limiters[limits]

    def _ask(self, *command: Word) -> Any:
        """A command that is no call of a limiter, within the deadline as well."""
        def steps() -> Generator[Effect, Any, Any]:
            replies = yield Send((command,), time.monotonic() + self._weir.options.deadline)
            return replies[0]
        return self._weir.run(steps())

    def _sees(self, key: str) -> tuple[int, float]:
        """What is used of a key and when all is free again, by the limits with which it was used last. While weir is
        away nothing is known to be used: hit() decides."""
        reply = None
        if not any(limiter.state().away for limiter in self._limiters.values()):
            try:
                reply = self._ask("RL.PEEK", PREFIX + key, "COST", 0)
            except RedisError as error:
                if failure_of(error) is None:
                    raise
        if reply is None:
            return 0, time.time()
        return int(reply[1] - reply[2]), time.time() + reply[4] / 1000

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        verdict = self._limiter(f"FIXED {COUNTED}/{expiry}s").take(PREFIX + key, amount)
        if verdict.source == "weir":
            return verdict.limit - verdict.remaining
        used = verdict.limit - verdict.remaining if verdict.limit > 0 else 0 if verdict else COUNTED
        return round(used * (self._processes or 1))

    def get(self, key: str) -> int:
        return self._sees(key)[0]

    def get_expiry(self, key: str) -> float:
        return self._sees(key)[1]

    def check(self) -> bool:
        try:
            return bool(self._ask("PING"))
        except RedisError:
            return False

    def reset(self) -> int | None:
        with until(time.monotonic() + RESET_S):
            names = list(self._weir.client.scan_iter(match=PREFIX + "*"))
            return sum(int(self._weir.client.delete(name)) for name in names)

    def clear(self, key: str) -> None:
        self._ask("DEL", PREFIX + key)

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self._limiter(f"SLIDINGLOG {limit}/{expiry}s").take(PREFIX + key, amount).allowed

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        verdict = self._limiter(f"SLIDINGLOG {limit}/{expiry}s").peek(PREFIX + key, 0)
        return time.time() + (verdict.reset_after or 0) - expiry, max(0, verdict.limit - verdict.remaining)

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self._limiter(f"SLIDINGCOUNTER {limit}/{expiry}s").take(PREFIX + key, amount).allowed

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        used, end = self._sees(key)
        return 0, 0.0, used, max(0.0, end - time.time())

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        self.clear(key)
