"""What the steps of a call ask of the world: to send, to sleep, to go on beside.

The steps are generators that yield these and are sent the replies, so that what runs them may block or await.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Union

Word = Union[str, int]
Command = tuple[Word, ...]


@dataclass(frozen=True)
class Send:
    """Commands to be sent together; sent back is a list with a reply or an error for each.

    `end` is the instant of time.monotonic() by which all is over. `waits`: on a connection for calls that wait.
    """

    commands: tuple[Command, ...]
    end: float
    waits: bool = False


@dataclass(frozen=True)
class Sleep:
    """Seconds."""

    seconds: float


@dataclass(frozen=True)
class Beside:
    """Steps that run while the call goes on."""

    steps: Generator["Effect", Any, None]


Effect = Union[Send, Sleep, Beside]
