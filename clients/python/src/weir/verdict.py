"""What a limiter says: verdicts, limit by limit, and the HTTP fields made of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .core.local import NEVER
from .core.mirror import Decision, asks
from .core.specs import KINDS, Spec, Specs, from_answer

CLOSED_RETRY_S = 1.0


@dataclass(frozen=True)
class LimitState:
    """One limit of a key. Times are seconds; None is never."""

    name: str
    limit: int
    remaining: int
    reset_after: float | None
    window: float


@dataclass(frozen=True)
class Verdict:
    """An answer. `limit`, `remaining` and `reset_after` are the deciding limit's.

    retry_after   seconds until the same request succeeds: 0 when allowed, None if it never does
    remaining     whole permits that are left; below 0 a debt
    granted       permits taken
    id            of the lease or the hold, for release, renew, settle and cancel
    source        who decided: "weir", the process by a "lot" of weir, or while it is away "local", "open" or "closed"
    """

    allowed: bool
    limit: int = -1
    remaining: int = -1
    retry_after: float | None = 0.0
    reset_after: float | None = 0.0
    policy: str | None = None
    limits: tuple[LimitState, ...] = ()
    granted: int = 0
    id: int | None = None
    banned: bool = False
    source: str = "weir"
    specs: Specs = field(default=(), repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        return self.allowed

    def headers(self, legacy: bool = False) -> dict[str, str]:
        """RateLimit, RateLimit-Policy and, when denied, Retry-After; with `legacy` X-RateLimit-* too."""
        found = dict(self.fields) or self._fields()
        if not self.allowed and self.retry_after is not None:
            found.setdefault("Retry-After", str(max(1, math.ceil(self.retry_after))))
        if legacy and self.limits:
            found["X-RateLimit-Limit"] = str(self.limit)
            found["X-RateLimit-Remaining"] = str(max(0, self.remaining))
            found["X-RateLimit-Reset"] = str(math.ceil(self.reset_after or 0))
        return found

    def _fields(self) -> dict[str, str]:
        if not self.limits:
            return {}
        names = self.item_names()
        specs = self.specs if len(self.specs) == len(self.limits) else [None] * len(self.limits)
        return {"RateLimit": ", ".join(map(_item, names, self.limits)),
                "RateLimit-Policy": ", ".join(map(_policy, names, self.limits, specs))}

    def item_names(self) -> list[str]:
        """The names of the limits in the HTTP fields, as weir gives them: what AS says, else the policy, or "default"."""
        given = [limit.name for limit in self.limits]
        names: dict[int, str] = {}
        unnamed = "default" if self.policy is None else _plain(self.policy)
        for index in sorted(range(len(given)), key=lambda index: _is_unnamed(given[index], index)):
            wanted = unnamed if _is_unnamed(given[index], index) else given[index]
            numbered = (f"{wanted}-{number}" for number in itertools.count(2))
            names[index] = next(name for name in itertools.chain([wanted], numbered) if name not in names.values())
        return [names[index] for index in range(len(given))]


def _is_unnamed(name: str, index: int) -> bool:
    """Whether a limit has the name that FULL gives it where AS gives it none: its algorithm and its place."""
    return any(name == f"{algorithm.lower()}{index}" for algorithm in KINDS)


def _plain(text: str) -> str:
    """A string of structured fields, whose characters all stand for themselves."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7f and byte not in b'"\\%' else f"%{byte:02X}"
                   for byte in text.encode("utf-8", "surrogateescape"))


def _item(name: str, limit: LimitState) -> str:
    end = "" if limit.reset_after is None else f";t={math.ceil(limit.reset_after)}"
    return f'"{name}";r={max(0, limit.remaining)}{end}'


def _policy(name: str, limit: LimitState, spec: Spec | None) -> str:
    count = int(spec.count) if spec else limit.limit
    window = f";w={int(limit.window)}" if limit.window >= 1 and limit.window == int(limit.window) else ""
    return f'"{name}";q={count}{window}'


class Denied(Exception):
    """A lease or a hold was denied; `verdict` says for how long."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(f"denied, retry after {verdict.retry_after} s")
        self.verdict = verdict


def seconds(ms: float) -> float | None:
    return None if ms == NEVER else ms / 1000


def mapping(reply: Any) -> dict[str, Any]:
    """A map of RESP3, or flat pairs of RESP2, with names and texts as str."""
    pairs = reply.items() if isinstance(reply, Mapping) else zip(reply[::2], reply[1::2])
    return {text(name): text(value) for name, value in pairs}


def text(value: Any) -> Any:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


@dataclass(frozen=True)
class Answer:
    """A reply with FULL: the verdict, and what the core learns from it."""

    verdict: Verdict
    resets_ms: tuple[float, ...]
    blocked: bool
    banned_ms: float | None  # None: not told
    callers: int | None


def of_reply(reply: Any, known: Specs | None, cost: int | Sequence[int]) -> Answer:
    """Of a map that weir answered with FULL or HEADERS to a request of that cost; `known` are the limits that were asked,
    if they are."""
    full = mapping(reply)
    limits = [mapping(limit) for limit in full["limits"]]
    fields = mapping(full["headers"]) if full.get("headers") else {}
    specs = known if known is not None else from_answer(limits, fields.get("RateLimit-Policy", ""))
    states = tuple(LimitState(limit["name"], limit["capacity"], limit["remaining"], seconds(limit["reset_ms"]),
                              limit["window_ms"] / 1000) for limit in limits)
    allowed = bool(full["allowed"])
    chosen = _deciding(states, allowed)
    verdict = Verdict(
        allowed, chosen.limit if chosen else -1, chosen.remaining if chosen else -1, seconds(full["retry_ms"]),
        chosen.reset_after if chosen else 0.0, full["policy"], states, full["granted"],
        full["lease"] if full.get("hold") is None else full["hold"], bool(full["banned"]), "weir", specs, fields)
    return Answer(verdict, tuple(float(limit["reset_ms"]) for limit in limits), not limits and not allowed,
                  _banned_ms(verdict, full["retry_ms"], cost), full.get("callers"))


def _banned_ms(verdict: Verdict, retry_ms: float, cost: int | Sequence[int]) -> float | None:
    """For how long the key is banned. A request of nothing meets no ban, and one that is never granted does not tell when
    the ban ends."""
    if verdict.allowed or not verdict.banned:
        return 0.0 if asks(cost) else None
    return None if retry_ms < 0 else float(retry_ms)


def _deciding(states: Sequence[LimitState], allowed: bool) -> LimitState | None:
    """FULL does not name the deciding limit: the one with the least left, of a denial that which needs longest."""
    if not states:
        return None
    if allowed:
        return min(states, key=lambda state: state.remaining)
    return min(states, key=lambda state: (state.remaining > 0, -(state.reset_after or float("inf"))))


def of_decision(decision: Decision, source: str, cost: int, policy: str | None) -> Verdict:
    """Of a decision that was made here."""
    states = tuple(LimitState(spec.name, view.limit, view.remaining, view.reset_ms / 1000, spec.period_ms / 1000)
                   for spec, view in zip(decision.specs, decision.views))
    granted = cost if decision.allowed else 0
    view = decision.deciding
    if view is None:
        return Verdict(decision.allowed, retry_after=0.0 if decision.allowed else CLOSED_RETRY_S, policy=policy,
                       granted=granted, source=source)
    return Verdict(decision.allowed, view.limit, view.remaining, seconds(view.retry_ms), view.reset_ms / 1000, policy,
                   states, granted, None, False, source, decision.specs)
