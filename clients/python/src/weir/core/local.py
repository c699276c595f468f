"""A process' own state of one limit: a bucket, a window, a sliding window, or leases.

Each is charged with what weir granted to this process, and decides while weir is away. `share` is the part of the
limit that this process may hand out, 0 to 1. Instants and durations are milliseconds.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from .specs import Spec

EPSILON = 1e-9
SLOTS = 20
NEVER = -1.0


@dataclass(frozen=True)
class View:
    """What a limit says to a cost: as the integers of RL.TAKE, times not rounded."""

    allowed: bool
    limit: int
    remaining: int
    retry_ms: float  # 0 when allowed, NEVER if it can never be allowed
    reset_ms: float


class Local(Protocol):
    """What the states have in common."""

    def view(self, share: float, now: float, cost: float) -> View: ...

    def charge(self, share: float, now: float, cost: float, here: bool) -> None:
        """Takes without asking: what weir granted, or (`here`) what was granted by this process."""

    def give_back(self, share: float, now: float, cost: float) -> None: ...

    def drain(self, share: float, now: float) -> None:
        """From this instant on it is as if all had just been used."""

    def owed(self, share: float, now: float) -> int:
        """What weir has to be charged with after the return."""

    def told(self, now: float, reset_ms: float) -> None:
        """weir said when the limit is full again."""


def whole(permits: float) -> int:
    return math.floor(permits + EPSILON)


class Bucket:
    """A token bucket of the share; it goes into debt down to the limit's capacity."""

    def __init__(self, spec: Spec, share: float, now: float) -> None:
        self._spec = spec
        self._level = spec.capacity * share
        self._at = now

    def _refill(self, share: float, now: float) -> float:
        gained = max(0.0, now - self._at) * self._spec.count * share / self._spec.period_ms
        self._level = min(self._spec.capacity * share, self._level + gained)
        self._at = max(self._at, now)
        return self._level

    def view(self, share: float, now: float, cost: float) -> View:
        level, capacity = self._refill(share, now), self._spec.capacity * share
        after = level - cost
        allowed = cost <= 0 or after >= -EPSILON
        ms_each = self._spec.period_ms / (self._spec.count * share)
        if allowed:
            retry = 0.0
        else:
            retry = -after * ms_each if cost <= capacity + EPSILON else NEVER
        left = after if allowed else level
        return View(allowed, whole(capacity), whole(left), retry, max(0.0, capacity - left) * ms_each)

    def charge(self, share: float, now: float, cost: float, here: bool) -> None:
        self._level = max(self._refill(share, now) - cost, -self._spec.capacity)

    def give_back(self, share: float, now: float, cost: float) -> None:
        self._level = min(self._refill(share, now) + cost, self._spec.capacity * share)

    def drain(self, share: float, now: float) -> None:
        self._level = min(self._refill(share, now), 0.0)

    def owed(self, share: float, now: float) -> int:
        # A part counts as a whole: each process' part that was left out would pass once more.
        return math.ceil(self._spec.capacity * share - self._refill(share, now) - EPSILON)

    def told(self, now: float, reset_ms: float) -> None:
        pass


class FixedWindow:
    """A window whose end is weir's where weir told it."""

    def __init__(self, spec: Spec, share: float, now: float) -> None:
        self._spec = spec
        self._used = 0.0
        self._here = 0.0
        self._end = now  # it is over: the next use begins one

    def _roll(self, now: float) -> None:
        if now >= self._end:
            self._used = self._here = 0.0

    def _begin(self, now: float) -> None:
        self._roll(now)
        if now >= self._end:
            self._end = now + self._spec.period_ms

    def view(self, share: float, now: float, cost: float) -> View:
        self._roll(now)
        capacity = self._spec.capacity * share
        rest = self._end - now if now < self._end else 0.0
        allowed = cost <= 0 or self._used + cost <= capacity + EPSILON
        if allowed:
            return View(True, whole(capacity), whole(capacity - self._used - cost), 0.0,
                        rest or (self._spec.period_ms if cost else 0.0))
        retry = rest if cost <= capacity + EPSILON else NEVER
        return View(False, whole(capacity), whole(capacity - self._used), retry, rest)

    def charge(self, share: float, now: float, cost: float, here: bool) -> None:
        if cost:
            self._begin(now)
            self._used += cost
            self._here += cost if here else 0.0

    def give_back(self, share: float, now: float, cost: float) -> None:
        self._roll(now)
        self._used = max(0.0, self._used - cost)
        self._here = max(0.0, self._here - cost)

    def drain(self, share: float, now: float) -> None:
        self._begin(now)
        self._used = max(self._used, self._spec.capacity * share)

    def owed(self, share: float, now: float) -> int:
        self._roll(now)
        return whole(self._here)

    def told(self, now: float, reset_ms: float) -> None:
        if reset_ms > 0 and self._used:
            self._end = now + reset_ms


class SlidingWindow:
    """Counts in slots of a twentieth of the period, each kept until its last instant has left the window."""

    def __init__(self, spec: Spec, share: float, now: float) -> None:
        self._spec = spec
        self._slot_ms = spec.period_ms / SLOTS
        self._slots: deque[tuple[int, float, float]] = deque()  # number, used, of it granted here

    def _roll(self, now: float) -> float:
        while self._slots and self._over(self._slots[0][0]) <= now + EPSILON:
            self._slots.popleft()
        return sum(slot[1] for slot in self._slots)

    def _over(self, number: int) -> float:
        return (number + 1) * self._slot_ms + self._spec.period_ms

    def _wait(self, now: float, permits: float) -> float:
        for number, used, _ in self._slots:
            permits -= used
            if permits <= EPSILON:
                return self._over(number) - now
        return NEVER

    def view(self, share: float, now: float, cost: float) -> View:
        used, capacity = self._roll(now), self._spec.capacity * share
        allowed = cost <= 0 or used + cost <= capacity + EPSILON
        if allowed:
            reset = self._spec.period_ms if cost else (self._over(self._slots[-1][0]) - now if self._slots else 0.0)
            return View(True, whole(capacity), whole(capacity - used - cost), 0.0, reset)
        retry = self._wait(now, used + cost - capacity) if cost <= capacity + EPSILON else NEVER
        reset = self._over(self._slots[-1][0]) - now if self._slots else 0.0
        return View(False, whole(capacity), whole(capacity - used), retry, reset)

    def charge(self, share: float, now: float, cost: float, here: bool) -> None:
        self._roll(now)
        number = math.floor(now / self._slot_ms)
        mine = cost if here else 0.0
        if self._slots and self._slots[-1][0] >= number:
            last = self._slots.pop()
            self._slots.append((last[0], last[1] + cost, last[2] + mine))
        elif cost:
            self._slots.append((number, cost, mine))

    def give_back(self, share: float, now: float, cost: float) -> None:
        self._roll(now)
        while self._slots and cost > EPSILON:
            number, used, here = self._slots.pop()
            back = min(used, cost)
            cost -= back
            if used - back > EPSILON:
                self._slots.append((number, used - back, max(0.0, here - back)))

    def drain(self, share: float, now: float) -> None:
        missing = self._spec.capacity * share - self._roll(now)
        if missing > 0:
            self.charge(share, now, missing, False)

    def owed(self, share: float, now: float) -> int:
        self._roll(now)
        return whole(sum(slot[2] for slot in self._slots))

    def told(self, now: float, reset_ms: float) -> None:
        pass


class Leases:
    """Leases that this process holds; each ends when it is given back, or with the LEASE of the limit."""

    def __init__(self, spec: Spec, share: float, now: float) -> None:
        self._spec = spec
        self._held: deque[tuple[float, float]] = deque()  # end, permits

    def _roll(self, now: float) -> float:
        while self._held and self._held[0][0] <= now:
            self._held.popleft()
        return sum(permits for _, permits in self._held)

    def view(self, share: float, now: float, cost: float) -> View:
        used, capacity = self._roll(now), self._spec.capacity * share
        allowed = cost <= 0 or used + cost <= capacity + EPSILON
        reset = self._held[-1][0] - now if self._held else 0.0
        if allowed:
            return View(True, whole(capacity), whole(capacity - used - cost), 0.0,
                        self._spec.period_ms if cost else reset)
        retry = self._held[0][0] - now if cost <= capacity + EPSILON and self._held else NEVER
        return View(False, whole(capacity), whole(capacity - used), retry, reset)

    def charge(self, share: float, now: float, cost: float, here: bool) -> None:
        self._roll(now)
        if cost:
            self._held.append((now + self._spec.period_ms, cost))

    def give_back(self, share: float, now: float, cost: float) -> None:
        self._roll(now)
        while self._held and cost > EPSILON:
            end, permits = self._held.popleft()
            back = min(permits, cost)
            cost -= back
            if permits - back > EPSILON:
                self._held.appendleft((end, permits - back))

    def drain(self, share: float, now: float) -> None:
        missing = self._spec.capacity * share - self._roll(now)
        if missing > 0:
            self.charge(share, now, missing, False)

    def owed(self, share: float, now: float) -> int:
        return 0

    def told(self, now: float, reset_ms: float) -> None:
        pass


KINDS: dict[str, type[Bucket] | type[FixedWindow] | type[SlidingWindow] | type[Leases]] = {
    "bucket": Bucket, "interval": Bucket, "fixed": FixedWindow, "sliding": SlidingWindow, "leases": Leases}


def make(spec: Spec, share: float, now: float) -> Local:
    """A state of which nothing is used."""
    return KINDS[spec.kind](spec, share, now)
