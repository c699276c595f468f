"""What a limiter does next: ask weir, or decide here; a state machine of calls, answers and instants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from . import mirror
from .breaker import Breaker, Failure
from .local import NEVER
from .mirror import Decision, Entry, Mirror
from .specs import Specs

Cost = int | Sequence[int]
KEYS_MAX = 10_000


class Away(Enum):
    """What is decided while weir is away."""

    LOCAL = "local"  # the process' share of the limit, less what it has just used
    STRICT = "strict"  # the same, as if all had been used when weir went
    OPEN = "open"  # everything passes
    CLOSED = "closed"  # nothing passes


@dataclass(frozen=True)
class HandBack:
    """What was granted here while weir was away, and is charged before the first take after its return."""

    costs: tuple[int, ...]
    id: str


@dataclass(frozen=True)
class Ask:
    """weir is to be asked, with a hand back first if there is one."""

    hand_back: HandBack | None = None


class Core:
    """One limiter. Not safe for threads: its users lock."""

    def __init__(self, specs: Specs | None, away: Away = Away.LOCAL, processes: float | None = None,
                 keys_max: int = KEYS_MAX, jitter: Callable[[], float] = lambda: 0.5) -> None:
        self._fixed = specs
        self._seen = specs  # of a policy: the limits that weir answered last
        self._blocked: bool | None = None  # whether the policy lets nobody through; None: weir has not told
        self.away_mode = away
        self._processes = processes
        self._callers: float = 1
        self.breaker = Breaker(jitter)
        self.mirror = Mirror(keys_max)

    @property
    def known(self) -> Specs | None:
        """The limits, of a policy as weir answered them last; None if it has not."""
        return self._seen

    @property
    def share(self) -> float:
        """The part of the limit that this process hands out while weir is away."""
        return 1 / max(1.0, self._processes if self._processes is not None else self._callers)

    def assume(self, specs: Specs | None) -> None:
        """Of a policy: its limits until weir has told them."""
        self._seen = specs

    def plan(self, key: str, now: float, new_id: Callable[[], str]) -> Ask | None:
        """How a call begins; None: it is decided here."""
        if self.breaker.away:
            return None
        entry = self.mirror.find(key, self._fixed)
        if entry is None or not entry.granted_here:
            return Ask()
        if entry.hand_back is None:
            costs = mirror.owed(entry, self.share, now)
            if not any(costs):
                entry.granted_here = False
                return Ask()
            entry.hand_back = (costs, new_id())
        return Ask(HandBack(*entry.hand_back))

    def handed_back(self, key: str, hand_back: HandBack) -> None:
        """weir has answered the hand back."""
        entry = self.mirror.find(key, self._fixed)
        if entry is not None and entry.hand_back == (hand_back.costs, hand_back.id):
            entry.hand_back, entry.granted_here = None, False

    def answered(self, key: str, now: float, granted: Cost, *, specs: Specs | None = None,
                 resets_ms: Sequence[float] = (), blocked: bool | None = None, banned_ms: float | None = None,
                 callers: int | None = None) -> None:
        """weir has answered a take or a booking, with `granted` permits; `specs` are the limits in its answer, `blocked`
        whether the policy lets nobody through, and `banned_ms` for how long the key is banned. None: it does not tell, as
        that of a booking."""
        if callers is not None:
            self._callers = callers
        if blocked is not None:  # once a key was let through, it may be the override of another that lets none through
            self._blocked = blocked and self._blocked is not False
        told = self._fixed if self._fixed is not None else specs
        if blocked and self._seen is not None:  # it tells no limits
            told = None
        if told or self._seen is None:  # where a key has no limits, that says nothing of those of other keys
            self._seen = told
        entry = self.mirror.find(key, told)
        known = told if told is not None else self._seen
        if known is None:
            return
        if entry is None or entry.unknown:
            entry = self._add(key, known, now)
        if blocked is not None:
            entry.blocked = blocked
        if banned_ms is not None:
            entry.banned_until = now + banned_ms
        mirror.charge(entry, self.share, now, granted, False)
        for state, reset_ms in zip(entry.states, resets_ms):
            state.told(now, reset_ms)

    def replied(self) -> None:
        """weir has replied to a request in time, whatever it was asked."""
        self.breaker.answered()

    def failed(self, now: float, failure: Failure) -> bool:
        """weir did not answer a call. True if it counts as away from now on."""
        return self.breaker.failed(now, failure)

    def decide(self, key: str, cost: Cost, now: float, *, charge: bool = True) -> Decision:
        """A call is decided here, after plan() said so or weir failed to answer it."""
        if self.away_mode is Away.OPEN:
            return Decision(True, -1)
        if self.away_mode is Away.CLOSED:
            return Decision(False, -1)
        entry = self._entry_away(key, now)
        if entry is None:
            return Decision(False, -1)
        decision = mirror.decide(entry, self.share, now, cost)
        if charge and decision.allowed:
            self.charge(key, cost, now)
        return decision

    def book(self, key: str, cost: Cost, wait_max_ms: float | None, now: float) -> tuple[bool, Decision]:
        """Books here what may be used later; whether it is booked. Only where a limit says how long that is: not where
        the limits are not known, nor where nothing passes; and not of limits of which weir books nothing."""
        refused = self._refused_booking(key, cost, now)
        if refused is not None:
            return False, refused
        decision = self.decide(key, cost, now)
        view = decision.deciding
        if decision.allowed or view is None or view.retry_ms == NEVER:
            return decision.allowed, decision
        if wait_max_ms is not None and view.retry_ms > wait_max_ms:
            return False, decision
        self.charge(key, cost, now)
        return True, decision

    def _refused_booking(self, key: str, cost: Cost, now: float) -> Decision | None:
        if self.away_mode in (Away.OPEN, Away.CLOSED):
            return None
        entry = self._entry_away(key, now)
        return None if entry is None else mirror.refused_booking(entry, self.share, now, cost)

    def charge(self, key: str, cost: Cost, now: float) -> None:
        """Takes here without asking, into debt if need be: after decide() without a charge, and for bookings."""
        entry = self._entry_away(key, now)
        if entry is not None:
            mirror.charge(entry, self.share, now, cost, True)
            entry.hand_back = None

    def give_back(self, key: str, cost: int, now: float) -> None:
        """What was charged and not used."""
        entry = self.mirror.find(key, self._fixed)
        for state in entry.states if entry is not None else ():
            state.give_back(self.share, now, cost)

    def _entry_away(self, key: str, now: float) -> Entry | None:
        """A key that is not in the mirror starts empty; None if its limits are not known."""
        entry = self.mirror.find(key, self._fixed)
        if entry is None or (entry.unknown and entry.blocked and not self._blocked):
            if self._seen is None:
                return None
            entry = self._add(key, self._seen, now)
            entry.unknown, entry.drained_in = True, self.breaker.absences
            self._drain(entry, now)
        elif self.away_mode is Away.STRICT and not self.breaker.away:  # one time-out, which is no absence yet
            self._drain(entry, now)
        elif self.away_mode is Away.STRICT and entry.drained_in != self.breaker.absences:
            entry.drained_in = self.breaker.absences
            self._drain(entry, self.breaker.since)
        return entry

    def _add(self, key: str, specs: Specs, now: float) -> Entry:
        """A key of a policy that lets nobody through is let through no more than those that weir has answered."""
        entry = self.mirror.add(key, specs, self.share, now)
        entry.blocked = bool(self._blocked)
        return entry

    def _drain(self, entry: Entry, now: float) -> None:
        for state in entry.states:
            state.drain(self.share, now)
