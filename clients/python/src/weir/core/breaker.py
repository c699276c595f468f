"""Whether weir is away: when to stop asking it, and when to ask whether it is back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum

LATE_IN_A_ROW = 2
LATE_OF_LAST = 5
LAST = 10
PROBE_MS = 1000.0
PROBE_LASTS_MS = 2000.0  # a probe of which nothing is heard for so long is no longer waited for


class Failure(Enum):
    """How weir failed to answer a call."""

    GONE = "gone"  # refused, cut, or answered that it does not serve
    NO_WRITES = "no writes"  # it serves what reads: MISCONF, OOM
    LATE = "late"  # nothing came in time


# First words of errors by which a server says that it does not serve. All others are the program's.
GONE_WORDS = ("READONLY", "MASTERDOWN", "LOADING", "CLUSTERDOWN", "TRYAGAIN", "BUSY")
NO_WRITES_WORDS = ("MISCONF", "OOM")
MAX_CLIENTS = "ERR max number of clients"


def failure_of_words(text: str) -> Failure | None:
    """What an error reply means; None if it is a fault of the program, which is raised."""
    word = text.split(" ", 1)[0]
    if word in NO_WRITES_WORDS:
        return Failure.NO_WRITES
    return Failure.GONE if word in GONE_WORDS or text.startswith(MAX_CLIENTS) else None


class Breaker:
    """There, or away since an instant for a reason. `jitter` answers numbers from 0 to 1."""

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._last: deque[bool] = deque(maxlen=LAST)  # whether each was late
        self._late_in_a_row = 0
        self._next_probe = 0.0
        self._probe_since: float | None = None
        self.cause: Failure | None = None  # None: weir is there
        self.since = 0.0
        self.absences = 0

    @property
    def away(self) -> bool:
        return self.cause is not None

    def answered(self) -> None:
        """A call was answered in time."""
        self._last.append(False)
        self._late_in_a_row = 0

    def failed(self, now: float, failure: Failure) -> bool:
        """A call was not answered. True if weir counts as away from now on."""
        if self.away:
            return False
        if failure is Failure.LATE:
            self._last.append(True)
            self._late_in_a_row += 1
            if self._late_in_a_row < LATE_IN_A_ROW and sum(self._last) < LATE_OF_LAST:
                return False
        self.cause, self.since = failure, now
        self.absences += 1
        self._probe_since = None
        self._schedule(now)
        return True

    def _schedule(self, now: float) -> None:
        self._next_probe = now + PROBE_MS * (0.8 + 0.4 * self._jitter())

    def begin_probe(self, now: float) -> bool:
        """Whether the caller is to probe now: one at a time, about one a second."""
        lost = self._probe_since is not None and now - self._probe_since >= PROBE_LASTS_MS
        if not self.away or now < self._next_probe or (self._probe_since is not None and not lost):
            return False
        self._probe_since = now
        return True

    def probed(self, now: float, answered: bool) -> bool:
        """The probe's outcome. True if weir is back."""
        if not self.away:
            return False
        self._probe_since = None
        self._schedule(now)
        if answered:
            self.cause, self.since = None, now
            self._last.clear()
            self._late_in_a_row = 0
        return answered
