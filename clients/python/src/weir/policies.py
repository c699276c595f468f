"""Named policies, for users with @ratelimitadmin."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from .core.specs import words_of
from .effects import Effect, Send, Word
from .verdict import mapping, text

SECONDS = 5.0  # administration may take longer than a decision


def _as_map(reply: Any) -> dict[str, Any] | None:
    return None if reply is None else mapping(reply)


def _as_list(reply: Any) -> list[Any]:
    return [text(name) for name in reply]


class Policies:
    """RL.POLICY. Errors are raised: nothing of this is decided while weir is away. In asyncio each call is awaited."""

    def __init__(self, run: Callable[[Generator[Effect, Any, Any]], Any]) -> None:
        self._run = run

    def _call(self, convert: Callable[[Any], Any], *words: Word) -> Any:
        def steps() -> Generator[Effect, Any, Any]:
            replies = yield Send((("RL.POLICY", *words),), time.monotonic() + SECONDS)
            return convert(replies[0])
        return self._run(steps())

    def set(self, name: str, limits: str | Sequence[str]) -> Any:
        """Makes or changes a policy; `limits` may end in SHADOW, PERCENT and ONCHANGE."""
        return self._call(text, "SET", name, *words_of(limits))

    def get(self, name: str) -> Any:
        """A dict with limits, onchange and version, or None."""
        return self._call(_as_map, "GET", name)

    def delete(self, name: str) -> Any:
        return self._call(text, "DEL", name)

    def list(self) -> Any:
        """Names."""
        return self._call(_as_list, "LIST")
