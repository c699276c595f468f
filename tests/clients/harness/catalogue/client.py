"""What one entry of the catalogue says."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Client:
    """A program that drives one library, or one bare client, against a server.

    `prepare` installs and answers (command, environment), or raises installs.Missing. `via` names
    the client that a limiter library speaks through, with its version; a bare client has none.
    `in_ci` picks what .ci/run tries: at least one of every language.
    """

    name: str
    title: str
    language: str
    protocols: tuple
    prepare: Callable
    via: str = ""
    in_ci: bool = False
