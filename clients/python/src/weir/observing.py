"""Who is told of calls: telemetry.py, or the program's own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from .effects import Effect
from .state import State

T = TypeVar("T")


class Observer(Protocol):
    """Safe for threads. What it raises, its caller gets."""

    def limiter(self, state: Callable[[], State]) -> None:
        """A limiter begins to tell of itself; `state` is held by it alone."""

    def calling(self, call: str, key: str) -> AbstractContextManager[Callable[[Any], None]]:
        """Around a call of that name; what it answers is told to what the context gives: a Verdict, Verdicts or a
        Reservation, or whatever else the call answers."""

    def handed_out(self, outcome: Any) -> None:
        """A take that was decided by a lot."""


def observed(observer: Observer | None, call: str, key: str,
             steps: Generator[Effect, Any, T]) -> Generator[Effect, Any, T]:
    """The same steps, and the observer around them."""
    return steps if observer is None else _around(observer, call, key, steps)


def _around(observer: Observer, call: str, key: str, steps: Generator[Effect, Any, T]) -> Generator[Effect, Any, T]:
    with observer.calling(call, key) as tell:
        outcome = yield from steps
        tell(outcome)
        return outcome
