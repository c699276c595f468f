"""The keys that this process uses, each with its own state of every limit; bounded, the longest unused goes first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .local import NEVER, Local, View, make
from .specs import Spec, Specs


@dataclass
class Entry:
    specs: Specs
    states: list[Local]
    granted_here: bool = False
    unknown: bool = False  # it was first decided here, and nothing was granted: what weir answers begins it anew
    drained_in: int = 0  # the absence in which it was drained, of mode strict
    hand_back: tuple[tuple[int, ...], str] | None = None  # costs, ID: fixed, so that they may be sent again
    blocked: bool = False  # the policy lets nobody through
    banned_until: float = float("-inf")


@dataclass(frozen=True)
class Decision:
    """What all limits of a key say together."""

    allowed: bool
    index: int  # of the deciding limit; -1 where there is none
    views: tuple[View, ...] = ()
    specs: Specs = ()

    @property
    def deciding(self) -> View | None:
        return self.views[self.index] if self.index >= 0 else None


def wait_of(view: View) -> float:
    return float("inf") if view.retry_ms == NEVER else view.retry_ms


def deciding(views: Sequence[View]) -> int:
    """A denial's longest wait; else the least that is left. The first of equals."""
    denials = [index for index, view in enumerate(views) if not view.allowed]
    if denials:
        return max(denials, key=lambda index: (wait_of(views[index]), -index))
    return min(range(len(views)), key=lambda index: (views[index].remaining, index), default=-1)


def asks(cost: int | Sequence[int]) -> bool:
    """Whether it is more than nothing."""
    return cost > 0 if isinstance(cost, int) else any(each > 0 for each in cost)


def cost_of(cost: int | Sequence[int], index: int) -> int:
    return cost if isinstance(cost, int) else cost[index]


@dataclass
class Mirror:
    """Entries by key."""

    keys_max: int
    entries: OrderedDict[str, Entry] = field(default_factory=OrderedDict)

    def find(self, key: str, specs: Specs | None) -> Entry | None:
        entry = self.entries.get(key)
        if entry is None or (specs is not None and entry.specs != specs):
            return None
        self.entries.move_to_end(key)
        return entry

    def add(self, key: str, specs: Specs, share: float, now: float) -> Entry:
        entry = Entry(specs, [make(spec, share, now) for spec in specs])
        self.entries[key] = entry
        self.entries.move_to_end(key)
        while len(self.entries) > self.keys_max:
            self.entries.popitem(last=False)
        return entry


def decide(entry: Entry, share: float, now: float, cost: int | Sequence[int]) -> Decision:
    """Charges nothing."""
    if entry.blocked:
        return Decision(False, -1)
    views = tuple(state.view(share, now, cost_of(cost, index)) for index, state in enumerate(entry.states))
    index, rest = deciding(views), entry.banned_until - now
    if asks(cost) and rest > 0 and index >= 0 and (views[index].allowed or wait_of(views[index]) < rest):
        return _denied(entry, views, index, rest)
    return Decision(all(view.allowed for view in views), index, views, entry.specs)


def _denied(entry: Entry, views: Sequence[View], index: int, retry_ms: float) -> Decision:
    """By this limit, whatever its state says."""
    denial = replace(views[index], allowed=False, retry_ms=retry_ms)
    return Decision(False, index, (*views[:index], denial, *views[index + 1:]), entry.specs)


def refused_booking(entry: Entry, share: float, now: float, cost: int | Sequence[int]) -> Decision | None:
    """weir books of buckets alone: the first limit that is none denies for ever. Nor does it book of a key that is banned.
    None if all take bookings."""
    if entry.blocked:
        return None
    decision = decide(entry, share, now, cost)
    index = next((index for index, spec in enumerate(entry.specs) if spec.kind != "bucket"), -1)
    if index >= 0:
        return _denied(entry, decision.views, index, NEVER)
    return decision if asks(cost) and entry.banned_until > now else None


def charge(entry: Entry, share: float, now: float, cost: int | Sequence[int], here: bool) -> None:
    for index, state in enumerate(entry.states):
        state.charge(share, now, cost_of(cost, index), here)
    if here:
        entry.granted_here, entry.unknown = True, False


def owed(entry: Entry, share: float, now: float) -> tuple[int, ...]:
    return tuple(state.owed(share, now) for state in entry.states)


__all__ = ["Decision", "Entry", "Mirror", "Spec", "asks", "charge", "decide", "owed", "refused_booking"]
