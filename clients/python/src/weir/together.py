"""Takes from several keys, each with its own limiter: from all or from none."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from redis.exceptions import ClusterCrossSlotError, RedisClusterException, RedisError

from . import calls
from . import verdict as verdicts
from .effects import Beside, Command, Effect, Word
from .observing import observed
from .steps import Engine, new_id
from .verdict import Verdict

if TYPE_CHECKING:
    from .limiter import Limiter

HOLD_S = 10.0  # how long what is taken of one slot waits for the others
Part = tuple[Engine, str, int]
Held = Sequence[tuple[Part, Verdict]]


@dataclass(frozen=True)
class Verdicts:
    """`index` is the deciding key's, -1 if all grant; `each` has what each key says."""

    allowed: bool
    index: int
    each: tuple[Verdict, ...]

    def __bool__(self) -> bool:
        return self.allowed

    @property
    def source(self) -> str:
        return self.each[self.index].source

    @property
    def retry_after(self) -> float | None:
        return self.each[self.index].retry_after if self.index >= 0 else 0.0

    def headers(self, legacy: bool = False) -> dict[str, str]:
        """Of the deciding key; of the one with the least left if all grant."""
        index = self.index if self.index >= 0 else min(
            range(len(self.each)), key=lambda number: self.each[number].remaining)
        return self.each[index].headers(legacy)


def parts_of(items: Sequence[tuple[Any, str] | tuple[Any, str, int]]) -> list[Part]:
    return [(item[0].engine, item[1], item[2] if len(item) > 2 else 1) for item in items]


def take_all(items: Sequence[tuple[Limiter, str] | tuple[Limiter, str, int]]) -> Verdicts:
    """Items are (limiter, key) or (limiter, key, cost), of limiters of one Weir; at most 16, each key once."""
    return items[0][0].weir.run(observed_steps(parts_of(items)))


def observed_steps(parts: Sequence[Part]) -> Generator[Effect, Any, Verdicts]:
    """By the observer of the first."""
    return observed(parts[0][0].observer, "take_all", parts[0][1], steps(parts))


def steps(parts: Sequence[Part]) -> Generator[Effect, Any, Verdicts]:
    asks, end = True, parts[0][0].end()
    for engine, key, _ in parts:
        asked, back = engine.plan(key)
        yield from engine.probing()
        asks = asked and (yield from calls.hand_back(engine, key, back, end)) and asks
    if not asks:
        return _decide(parts)
    try:
        replies = yield from parts[0][0].ask((_words(parts),), end)
    except (RedisError, RedisClusterException) as error:
        if not isinstance(error, ClusterCrossSlotError) and "same key slot" not in str(error):
            raise
        return (yield from _one_by_one(parts, end))
    if replies is None:
        return _decide(parts)
    for engine, _, _ in parts[1:]:  # the first one knows
        engine.replied()
    full = verdicts.mapping(replies[-1])
    each = tuple(engine.learn(key, reply, cost)
                 for (engine, key, cost), reply in zip(parts, full["keys"]))
    return Verdicts(bool(full["allowed"]), full["index"], each)


def _words(parts: Sequence[Part]) -> Command:
    limits: list[Word] = []
    costs: list[str] = []
    for engine, _, cost in parts:
        limits += ["EACH", *engine.words]
        costs += [str(cost)] * (len(engine.core.known or ()) or 1)
    cost_words = costs[0] if len(set(costs)) == 1 else ",".join(costs)
    return ("RL.MTAKE", len(parts), *(key for _, key, _ in parts), *limits, "COST", cost_words, "ID", new_id(), "FULL")


def _decide(parts: Sequence[Part]) -> Verdicts:
    """Here: asked of all first, charged if all grant."""
    each = tuple(engine.decide(key, cost, charge=False) for engine, key, cost in parts)
    denials = [index for index, verdict in enumerate(each) if not verdict]
    if not denials:
        return Verdicts(True, -1, tuple(engine.decide(key, cost) for engine, key, cost in parts))
    waits = {index: each[index].retry_after for index in denials}
    return Verdicts(False, max(denials, key=lambda index: float("inf") if waits[index] is None else waits[index] or 0),
                    each)


def _one_by_one(parts: Sequence[Part], end: float) -> Generator[Effect, Any, Verdicts]:
    """Over slots of a cluster: a hold of each, settled if all grant and given back if not. Who ends in between has
    taken what it held, so too much is never granted."""
    held: list[tuple[Part, Verdict]] = []
    try:
        for part in parts:
            engine, key, cost = part
            verdict = yield from calls.take(engine, key, cost, False, HOLD_S, end=end)
            held.append((part, verdict))
            if not verdict:
                break
    except Exception:
        with contextlib.suppress(Exception):  # the first fault is told
            yield from _conclude(held, False, end)
        raise
    allowed = bool(held[-1][1])
    yield from _conclude(held, allowed, end)
    each = tuple(verdict for _, verdict in held)
    return Verdicts(allowed, -1 if allowed else len(each) - 1, each)


def _conclude(held: Held, allowed: bool, end: float) -> Generator[Effect, Any, None]:
    """Settles what was taken, or gives it back."""
    for (engine, key, cost), verdict in held:
        if verdict and not allowed:
            engine.give_back(key, cost)
    late, fault = yield from _settle([(part, verdict) for part, verdict in held if verdict and verdict.id], allowed, end)
    if late:
        yield Beside(_settle_late(late, allowed))
    if fault is not None:
        raise fault


def _settle(held: Held, allowed: bool, end: float | None) -> Generator[Effect, Any, tuple[Held, Exception | None]]:
    """Those of which weir has not answered by the end, and the first fault: the others are asked all the same."""
    late: list[tuple[Part, Verdict]] = []
    fault = None
    for (engine, key, cost), verdict in held:
        assert verdict.id is not None
        try:
            reply = yield from (calls.of_id(engine, "RL.SETTLE", key, verdict.id, str(cost), end=end) if allowed else
                                calls.of_id(engine, "RL.CANCEL", key, verdict.id, end=end))
        except Exception as error:
            fault = fault or error
            continue
        if reply is None:
            late.append(((engine, key, cost), verdict))
    return late, fault


def _settle_late(held: Held, allowed: bool) -> Generator[Effect, Any, None]:
    """Beside the call, once more."""
    yield from _settle(held, allowed, None)
