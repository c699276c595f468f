"""When a lease is renewed, the same for threads and for asyncio."""

from __future__ import annotations

import random
import time

from .verdict import Verdict

RENEWALS = 3  # in the length of a lease
SOON_S = 0.05  # the first pause after a renewal that weir has not answered; each further one is twice as long,
SOON_MAX_S = 1.0  # but not longer


def lease_seconds(verdict: Verdict) -> float:
    """The shortest LEASE among the limits."""
    return min((limit.window for limit, spec in zip(verdict.limits, verdict.specs) if spec.kind == "leases"), default=1.0)


class Renewals:
    """Of one lease, that weir gave or renewed at an instant of time.monotonic()."""

    def __init__(self, seconds: float, given: float) -> None:
        self._seconds, self._given = seconds, given
        self._soon: float | None = None  # the next pause, where weir has not answered
        self.lost = False

    def pause(self) -> float:
        """Seconds until the next one; none ends after the lease."""
        if self._soon is None:
            return self._seconds / RENEWALS
        soon, self._soon = self._soon, min(2 * self._soon, SOON_MAX_S)
        left = self._given + self._seconds - time.monotonic()
        return max(0.0, min(soon * random.uniform(0.8, 1.2), self._seconds / RENEWALS, left))

    def told(self, sent: float, permits: int | None) -> bool:
        """What weir answered to the one that was sent then, None for nothing; whether the lease still runs."""
        if permits:
            self._given, self._soon = sent, None
        elif permits == 0 or time.monotonic() - self._given >= self._seconds:
            self.lost = True
        elif self._soon is None:
            self._soon = SOON_S
        return not self.lost
