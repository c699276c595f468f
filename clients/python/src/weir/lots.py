"""Permits that a process takes in advance, in lots, and hands out by itself: for rates above a round trip a call.

A lot is a hold of weir, so what is left of it is given back: a fixed time after it was taken, which bounds how far what
is handed out may lie from when weir charged it. Nothing is handed out that weir has not charged.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

from . import calls
from .effects import Beside, Effect, Gate, Sleep, Wait
from .steps import Engine
from .verdict import Verdict

HOLD_LOTS = 10  # a hold lasts so many times as long as its lot, and some seconds
HOLD_S = 5.0


@dataclass
class Part:
    """A hold of weir, and what is left of it."""

    verdict: Verdict
    rest: int
    until: float
    told: dict[int, Verdict] = field(default_factory=dict)  # what is said when so much is handed out


@dataclass(eq=False)
class Turn:
    """Of a call that needs more than there is. It gets a verdict, or is to ask weir (`size` permits; 0: for its own cost
    alone), or neither: then it is decided here."""

    cost: int
    gate: Gate | None = None  # None: it need not wait
    verdict: Verdict | None = None
    size: int | None = None


@dataclass
class Lot:
    """Of one key. `size` follows what is used: the next lot is twice as large."""

    parts: deque[Part] = field(default_factory=deque)
    left: int = 0
    size: int = 0
    at: float = 0.0  # when weir was asked last
    paused_until: float = 0.0  # weir had less than was asked for: it is not asked again before
    denial: Verdict | None = None
    asking: bool = False  # a lot is on its way
    waiting: deque[Turn] = field(default_factory=deque)  # for it


class Lots:
    """Those of a limiter. Safe for threads."""

    def __init__(self, engine: Engine, seconds: float) -> None:
        if seconds <= 0:
            raise ValueError("lots must be above 0 seconds")
        if any(spec.kind == "leases" for spec in engine.specs or ()):
            raise ValueError("CONCURRENCY is given back by who has it: it goes not with lots")
        self.engine, self.seconds = engine, seconds
        self.hold_s = HOLD_LOTS * seconds + HOLD_S
        self._lock = threading.Lock()
        self._lots: dict[str, Lot] = {}
        self._over: list[tuple[str, Part]] = []  # to be given back
        self._is_kept = False

    def most(self) -> int:
        """The largest lot: the share of the rate in `seconds`, and of half of the capacity."""
        specs, share = self.engine.core.known or (), self.engine.core.share
        if any(spec.kind == "leases" for spec in specs):
            return 1
        return max(1, min((int(min(share * spec.count * self.seconds * 1e3 / spec.period_ms, share * spec.capacity / 2))
                           for spec in specs), default=1))

    def hand_out(self, key: str, cost: int) -> Verdict | None:
        """What is said without weir, a denial included while weir is known to have nothing; None: it is to be asked."""
        lot = self._lots.get(key)
        if lot is None or cost <= 0:
            return None
        now = time.monotonic()
        with self._lock:
            if lot.parts:  # what nearly all calls find
                part = lot.parts[0]
                if part.rest > cost and part.until > now and cost in part.told:
                    part.rest -= cost
                    lot.left -= cost
                    return part.told[cost]
            self._expire(key, lot, now)
            if lot.left >= cost:
                return self._out(lot, cost)
            if now < lot.paused_until and lot.denial is not None and cost <= 2 * lot.size:
                return replace(lot.denial, retry_after=lot.paused_until - now)
        return None

    def _out(self, lot: Lot, cost: int) -> Verdict:
        lot.left -= cost
        missing = cost
        while missing:
            part = lot.parts[0]
            out = min(part.rest, missing)
            part.rest -= out
            missing -= out
            if not part.rest:
                lot.parts.popleft()
        found = part.told.get(cost)
        if found is None:
            found = part.told[cost] = replace(part.verdict, granted=cost, id=None, source="lot", fields={})
        return found

    def _expire(self, key: str, lot: Lot, now: float) -> None:
        while lot.parts and lot.parts[0].until <= now:
            part = lot.parts.popleft()
            lot.left -= part.rest
            lot.size = (part.verdict.granted - part.rest) // 2
            self._over.append((key, part))

    def begin(self, key: str, cost: int) -> Turn:
        """How a call goes on for which nothing is said without weir."""
        now, most = time.monotonic(), self.most()
        if cost <= 0 or cost > most:
            return Turn(cost, size=0)
        with self._lock:
            lot = self._lots.setdefault(key, Lot())
            if lot.asking:
                turn = Turn(cost, Gate())
                lot.waiting.append(turn)
                return turn
            if now - lot.at > self.seconds and not lot.parts:
                lot.size = 0
            lot.at = now
            size = min(most, 2 * lot.size)
            if size > cost:
                lot.asking = True
                return Turn(cost, size=size)
            lot.size = max(lot.size, cost)
            self._forget()
            return Turn(cost, size=0)

    def _forget(self) -> None:
        """Keys that are not used any more; while there are no lots nobody else does."""
        if len(self._lots) > self.engine.core.mirror.keys_max:
            old = time.monotonic() - 2 * self.seconds
            self._lots = {key: lot for key, lot in self._lots.items() if lot.asking or lot.parts or lot.at > old}

    def add(self, key: str, turn: Turn, verdict: Verdict) -> None:
        """weir has answered the turn."""
        now, size = time.monotonic(), turn.size or 0
        with self._lock:
            lot = self._lots[key]
            lot.size = size
            if verdict.granted:
                lot.parts.append(Part(verdict, verdict.granted, now + self.seconds))
                lot.left += verdict.granted
            if verdict.granted < size:
                lot.paused_until = now + self._pause(size)
                lot.denial = replace(verdict, allowed=False, granted=0, id=None, source="lot", fields={})
            self._tell(lot, turn, now)

    def _tell(self, lot: Lot, turn: Turn, now: float) -> bool:
        """Whether it could be told anything."""
        if lot.left >= turn.cost:
            turn.verdict = self._out(lot, turn.cost)
        elif now < lot.paused_until and lot.denial is not None:
            turn.verdict = replace(lot.denial, retry_after=lot.paused_until - now)
        return turn.verdict is not None

    def end(self, key: str, answered: bool) -> None:
        """Who asked weir is ready: those who waited are told, or one of them asks for the others."""
        now, most = time.monotonic(), self.most()
        with self._lock:
            lot = self._lots[key]
            lot.asking, served = False, []
            while lot.waiting:
                turn = lot.waiting.popleft()
                served.append(turn)
                if answered and not self._tell(lot, turn, now):
                    wanted = turn.cost + sum(other.cost for other in lot.waiting)
                    turn.size, lot.asking, lot.at = min(most, max(2 * lot.size, wanted)), True, now
                    break
        for turn in served:
            if turn.gate is not None:
                turn.gate.open()

    def leave(self, key: str, turn: Turn) -> None:
        """It waits no longer."""
        with self._lock:
            lot = self._lots[key]
            if turn in lot.waiting:
                lot.waiting.remove(turn)

    def _pause(self, size: int) -> float:
        """Until this process' share of the slowest limit has brought so many."""
        share = self.engine.core.share
        each = max((spec.period_ms / (spec.count * share) for spec in self.engine.core.known or ()), default=0.0)
        return min(self.seconds, size * each / 1e3)

    def keeps(self) -> bool:
        """Whether the caller is to start keeping()."""
        with self._lock:
            begins, self._is_kept = not self._is_kept, True
        return begins

    def over(self, everything: bool) -> list[tuple[str, Part]]:
        """What is to be given back; forgets the keys that are not used any more."""
        now = time.monotonic()
        with self._lock:
            for key, lot in list(self._lots.items()):
                self._expire(key, lot, float("inf") if everything else now)
                if not lot.parts and not lot.asking and now - lot.at > 2 * self.seconds:
                    del self._lots[key]
            over, self._over = self._over, []
        return over

    def kept(self) -> bool:
        """Whether who keeps them goes on."""
        with self._lock:
            self._is_kept = bool(self._lots or self._over)
            return self._is_kept


def take(lots: Lots, key: str, cost: int) -> Generator[Effect, Any, Verdict]:
    engine = lots.engine
    end = time.monotonic() + engine.options.deadline
    turn = lots.begin(key, cost)
    if turn.gate is not None:
        yield from _wait(lots, key, turn, end)
    if turn.verdict is not None:
        return turn.verdict
    if turn.size is None:
        return engine.decide(key, cost)
    if turn.size == 0:
        return (yield from calls.take(engine, key, cost, end=end))
    return (yield from _fetch(lots, key, turn, end))


def _wait(lots: Lots, key: str, turn: Turn, end: float) -> Generator[Effect, Any, None]:
    """Who gives up when it is its turn to ask leaves that to the next."""
    assert turn.gate is not None
    opened = False
    try:
        opened = yield Wait(turn.gate, end)
    finally:
        if not opened:
            lots.leave(key, turn)
            if turn.size:
                turn.size = None
                lots.end(key, True)


def _fetch(lots: Lots, key: str, turn: Turn, end: float) -> Generator[Effect, Any, Verdict]:
    answered = True  # also where it is cancelled: another asks then
    try:
        verdict = yield from calls.asked(lots.engine, key, turn.size or 0, True, lots.hold_s, end=end)
        answered = verdict is not None
        if verdict is not None:
            lots.add(key, turn, verdict)
    finally:
        lots.end(key, answered)
    if lots.keeps():
        yield Beside(_keep(lots))
    return lots.engine.decide(key, turn.cost) if turn.verdict is None else turn.verdict


def _keep(lots: Lots) -> Generator[Effect, Any, None]:
    """Gives back what was not used, as long as there are lots."""
    kept = True
    while kept:
        yield Sleep(lots.seconds)
        kept = yield from give_back(lots)


def give_back(lots: Lots, everything: bool = False) -> Generator[Effect, Any, bool]:
    """What is not handed out any more; whether there is more to come."""
    over = lots.over(everything)
    for key, part in over:
        if part.rest and part.verdict.id is not None:
            used = part.verdict.granted - part.rest
            reply = yield from (calls.of_id(lots.engine, "RL.CANCEL", key, part.verdict.id) if not used else
                                calls.of_id(lots.engine, "RL.SETTLE", key, part.verdict.id, str(used)))
            if reply is not None:
                lots.engine.give_back(key, part.rest)
    return lots.kept()
