"""Asks the server without any library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.resp import Client, Refused  # noqa: E402

__all__ = ["Direct", "Refused"]


def as_text(value):
    if isinstance(value, list):
        return [as_text(part) for part in value]
    return value.decode() if isinstance(value, bytes) else value


class Direct(Client):
    """A connection of our own to the server, past the proxy and past every library; texts are str."""

    def ask(self, words):
        self.send(words.encode() + b"\r\n")
        return as_text(self.read())
