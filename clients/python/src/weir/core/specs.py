"""Limits as the mirror knows them: read from a request's words, or from what weir answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MS = {"us": 0.001, "ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3, "d": 86400e3, "w": 604800e3}
LONG_UNITS = {"sec": "s", "second": "s", "min": "m", "minute": "m", "hour": "h", "day": "d", "week": "w"}
CALENDAR_MS = {"MINUTE": 60e3, "HOUR": 3600e3, "DAY": 86400e3, "WEEK": 604800e3,
               "MONTH": 31 * 86400e3, "QUARTER": 92 * 86400e3, "YEAR": 366 * 86400e3}
KINDS = {"GCRA": "bucket", "TOKENBUCKET": "bucket", "LEAKY": "bucket", "BURSTY": "bucket", "WARMUP": "bucket",
         "FIXED": "fixed", "SLIDINGLOG": "sliding", "SLIDINGWINDOW": "sliding", "SLIDINGCOUNTER": "sliding",
         "CONCURRENCY": "leases"}
RATE = re.compile(r"^(\d+)/(\d*)([A-Za-z]+)$")


@dataclass(frozen=True)
class Spec:
    """One limit. `count` permits come in `period_ms`; at most `capacity` are there at once."""

    kind: str  # bucket, interval (a bucket that takes no bookings), fixed, sliding or leases
    name: str
    count: float
    period_ms: float
    capacity: float


Specs = tuple[Spec, ...]


def duration_ms(text: str) -> float:
    """Milliseconds of a duration such as 30s; ValueError if it is none."""
    match = re.match(r"^(\d*)([A-Za-z]+)$", text)
    if match is None:
        raise ValueError(f"a duration must be an integer and a unit, got '{text}'")
    unit = match[2]
    if unit not in MS:
        unit = LONG_UNITS.get(unit.lower().rstrip("s"), unit)
    if unit not in MS:
        raise ValueError(f"a duration has the units us ms s m h d w, got '{text}'")
    return float(match[1] or 1) * MS[unit]


def words_of(limits: str | Sequence[str]) -> list[str]:
    """Limits as words of a request."""
    return limits.split() if isinstance(limits, str) else [str(word) for word in limits]


def parse(words: Sequence[str]) -> Specs | None:
    """The limits that these words mean, or None if a policy is among them: weir alone knows its limits.

    What weir would refuse is not refused here, save where nothing can be made of it (ValueError).
    """
    rest = list(words)
    specs: list[Spec] = []
    while rest:
        word = rest.pop(0).upper()
        if word == "POLICY":
            return None
        if word in KINDS:
            specs.append(_limit(word, rest, len(specs)))
        else:
            rest.insert(0, word.lower() if RATE.match(word) else word)
            specs.append(_limit("GCRA", rest, len(specs)))
    if not specs:
        raise ValueError("limits are missing")
    return tuple(specs)


def _limit(algorithm: str, rest: list[str], index: int) -> Spec:
    count, period = _rate(rest)
    options: dict[str, str] = {}
    while rest and not _begins_limit(rest):
        option = rest.pop(0).upper()
        if not rest:
            raise ValueError(f"{option} needs a value")
        options[option] = rest.pop(0)
    if period is None:
        period = CALENDAR_MS.get(options.get("ALIGN", "").upper(), 0.0)
    if algorithm == "CONCURRENCY":
        period = duration_ms(options.get("LEASE", "1s"))
    if not period:
        raise ValueError(f"limit {index} ({algorithm}) needs a period")
    kind = "interval" if options.get("REFILL", "").upper() == "INTERVAL" else KINDS[algorithm]
    return Spec(kind, options.get("AS", f"{algorithm.lower()}{index}"), count, period,
                _capacity(algorithm, count, period, options))


def _begins_limit(rest: list[str]) -> bool:
    word = rest[0].upper()
    return (word in KINDS or word == "POLICY" or RATE.match(word) is not None
            or (len(rest) > 2 and rest[1].upper() == "PER"))


def _rate(rest: list[str]) -> tuple[float, float | None]:
    if not rest:
        raise ValueError("a rate is missing")
    word = rest.pop(0)
    match = RATE.match(word)
    if match:
        return float(match[1]), duration_ms(match[2] + match[3])
    if not word.isdigit():
        raise ValueError(f"a limit must come here: a rate such as 100/1m, an algorithm or POLICY, got '{word}'")
    if len(rest) > 1 and rest[0].upper() == "PER":
        rest.pop(0)
        period = rest.pop(0)
        if period.isdigit() and rest:
            period += rest.pop(0)
        return float(word), duration_ms(period)
    return float(word), None


def _capacity(algorithm: str, count: float, period: float, options: Mapping[str, str]) -> float:
    if algorithm == "GCRA" and "BURST" in options:
        return float(options["BURST"]) + 1
    if algorithm == "BURSTY":
        return max(1.0, count * duration_ms(options.get("MAXBURST", "1s")) / period)
    if algorithm == "WARMUP":
        return 1.0
    return float(options.get("CAPACITY", count))


def from_answer(limits: Sequence[Mapping[str, Any]], policy_field: str) -> Specs:
    """The limits of an answer with HEADERS: its `limits`, and the RateLimit-Policy field for the counts, which has
    an item for each of them, in their order, under names of its own."""
    counts: list[str | None] = [*re.findall(r'";q=(\d+)', policy_field)]
    if len(counts) != len(limits):
        counts = [None] * len(limits)
    return tuple(Spec(KINDS.get(limit["algorithm"], "bucket"), limit["name"],
                      float(limit["capacity"] if count is None else count),
                      float(limit["window_ms"]) or 1.0, float(limit["capacity"]))
                 for limit, count in zip(limits, counts))
