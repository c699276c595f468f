"""Each call of a limiter, as steps."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from . import verdict as verdicts
from .core.core import Cost, HandBack
from .effects import Command, Effect, Sleep
from .steps import Engine, cost_word, new_id
from .verdict import Verdict

SHADOW_INDEX, ALL_ALLOW = 5, -1  # the field of a reply to SHADOW that names the limit that would deny
LATER_S = 0.5  # who waits while weir is away looks again after this at the latest


@dataclass(frozen=True)
class Reservation:
    """A booking: it may be used after `wait` seconds. `wait` of a denial is what it would have been, None for ever."""

    granted: bool
    wait: float | None
    id: int | None = None
    source: str = "weir"

    def __bool__(self) -> bool:
        return self.granted


def _options(cost: Cost, upto: bool, hold: float | None) -> Command:
    words: Command = ("COST", cost_word(cost))
    if upto:
        words += ("UPTO",)
    if hold is not None:
        words += ("HOLD", f"{max(1, round(hold * 1000))}ms")
    return words


def take(engine: Engine, key: str, cost: Cost = 1, upto: bool = False, hold: float | None = None,
         token: str | None = None, end: float | None = None) -> Generator[Effect, Any, Verdict]:
    """`end`: by when it is over, where it is a part of a call; else the deadline's."""
    verdict = yield from asked(engine, key, cost, upto, hold, token, end)
    return engine.decide(key, cost, upto) if verdict is None else verdict


def asked(engine: Engine, key: str, cost: Cost, upto: bool = False, hold: float | None = None,
          token: str | None = None, end: float | None = None) -> Generator[Effect, Any, Verdict | None]:
    """None: it is to be decided here."""
    end = engine.end() if end is None else end
    asks, back = engine.plan(key)
    yield from engine.probing()
    if not asks:
        return None
    command: Command = ("RL.TAKE", key, *engine.words, *_options(cost, upto, hold), "ID", token or new_id(), "HEADERS")
    before = () if back is None else (engine.hand_back_words(key, back),)
    replies = yield from engine.ask((*before, command), end)
    if replies is None:
        return None
    if back is not None and not isinstance(replies[0], Exception):
        yield from _handed_back(engine, key, back, replies[0], end)
    return engine.learn(key, replies[-1], cost)


def hand_back(engine: Engine, key: str, back: HandBack | None, end: float) -> Generator[Effect, Any, bool]:
    """In a request of its own, before a call that is no take and within its time. False if weir does not answer: then
    it is not asked for more, which it would grant beside what was granted here."""
    if back is None:
        return True
    replies = yield from engine.ask((engine.hand_back_words(key, back),), end)
    return replies is not None and (yield from _handed_back(engine, key, back, replies[0], end))


def _handed_back(engine: Engine, key: str, back: HandBack, reply: Any, end: float) -> Generator[Effect, Any, bool]:
    """Of several limits each has its own cost, all or none; denied, all are charged with the most, up to what is there."""
    if len(back.costs) > 1 and reply[SHADOW_INDEX] != ALL_ALLOW:
        words: Command = ("RL.TAKE", key, *engine.words, "COST", max(back.costs), "UPTO", "SHADOW", "ID", back.id + "u")
        if (yield from engine.ask((words,), end)) is None:
            return False
    engine.handed_back(key, back)
    return True


def peek(engine: Engine, key: str, cost: Cost = 1) -> Generator[Effect, Any, Verdict]:
    end = engine.end()
    asks, _ = engine.plan(key)
    yield from engine.probing()
    if asks:
        replies = yield from engine.ask((("RL.PEEK", key, *engine.words, "COST", cost_word(cost), "HEADERS"),), end)
        if replies is not None:
            return verdicts.of_reply(replies[-1], engine.specs, cost).verdict
    return engine.decide(key, cost, charge=False)


def acquire(engine: Engine, key: str, timeout: float, cost: Cost = 1, hold: float | None = None,
            token: str | None = None) -> Generator[Effect, Any, Verdict]:
    """Waits in weir; while it is away, here."""
    turn, token = time.monotonic() + timeout, token or new_id()  # by when it is to be its turn
    end = engine.end() + timeout
    while True:
        asks, back = engine.plan(key)
        yield from engine.probing()
        if asks and (yield from hand_back(engine, key, back, min(end, engine.end()))):
            left = turn - time.monotonic()
            command: Command = ("RL.ACQUIRE", key, *engine.words, *_options(cost, False, hold),
                                "TIMEOUT", max(1, round(left * 1000)), "ID", token, "HEADERS")
            replies = yield from engine.ask((command,), end, waits=True)
            if replies is not None:
                return engine.learn(key, replies[-1], cost)
        verdict = engine.decide(key, cost)
        left = turn - time.monotonic()
        if verdict.allowed or verdict.retry_after is None or left <= 0 or verdict.retry_after > left:
            return verdict
        yield Sleep(min(left, verdict.retry_after, LATER_S))


def reserve(engine: Engine, key: str, cost: int = 1, max_wait: float | None = None,
            token: str | None = None) -> Generator[Effect, Any, Reservation]:
    end = engine.end()
    asks, back = engine.plan(key)
    yield from engine.probing()
    if asks and (yield from hand_back(engine, key, back, end)):
        command: Command = ("RL.RESERVE", key, *engine.words, "COST", cost)
        if max_wait is not None:
            command += ("MAXWAIT", round(max_wait * 1000))
        replies = yield from engine.ask(((*command, "ID", token or new_id()),), end)
        if replies is not None:
            granted, wait_ms, booking = replies[-1]
            engine.note(key, cost if granted else 0)
            return Reservation(bool(granted), verdicts.seconds(wait_ms), booking)
    booked, verdict = engine.book(key, cost, max_wait)
    return Reservation(booked, verdict.retry_after, None, verdict.source)


def renew(engine: Engine, key: str, number: int) -> Generator[Effect, Any, int | None]:
    """Asked while weir is away, too, for a lease does not wait for the next probe. None if weir does not answer."""
    end = engine.end()
    yield from engine.probing()
    replies = yield from engine.ask((("RL.RENEW", key, number),), end)
    return None if replies is None else replies[-1]


def of_id(engine: Engine, name: str, key: str, number: int, *more: str,
          end: float | None = None) -> Generator[Effect, Any, Any]:
    """RL.SETTLE, RL.CANCEL, RL.RELEASE: each may be sent again. None if weir does not answer."""
    end = engine.end() if end is None else end
    asks, _ = engine.plan(key)
    yield from engine.probing()
    if not asks:
        return None
    replies = yield from engine.ask(((name, key, number, *more),), end)
    return None if replies is None else replies[-1]
