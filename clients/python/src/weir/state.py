"""What a limiter says of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """`limiter.state()`. Counts are since the limiter was made, times are seconds."""

    away: bool
    cause: str | None  # "gone", "no writes" or "late"
    for_seconds: float  # since the last change
    away_seconds: float  # in all
    absences: int
    asked: int  # calls that weir has answered
    decided_here: int  # calls that it has not
    probes: int
    share: float
    keys: int


@dataclass(frozen=True)
class Change:
    """What a hook is told: weir counts as away from now on, or is back."""

    away: bool
    cause: str | None
    lasted: float  # seconds, of the state that ended


Hook = Callable[[Change], None]
