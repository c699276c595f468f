"""Recorded replies: requests of vectors.txt on both servers, against what stands there.

    SELECT 99 => -ERR DB index is out of range\\r\\n
    PTTL k =~ :9007199254740740\\r\\n           integers, at most a minute apart

Requests are written as for redis-cli, replies with Python's escapes. A line that begins with # is a
comment, an empty line flushes both servers.
"""

import shlex
from pathlib import Path

from wire import encode

SLACK_MS = 60_000


def read(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        if not line.strip():
            yield number, [b"FLUSHALL"], "=>", b"+OK\r\n"
            continue
        sign = "=~" if " =~ " in line else "=>"
        request, reply = line.split(f" {sign} ")
        args = [unescaped(arg) for arg in shlex.split(request.replace("\\", "\\\\"))]
        yield number, args, sign, unescaped(reply)


def unescaped(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def matches(sign, reply, expected):
    if reply == expected or sign == "=>" or not reply.startswith(b":"):
        return reply == expected
    return abs(int(reply[1:]) - int(expected[1:])) <= SLACK_MS


def play(player):
    """A line for each reply that is not as recorded."""
    path = Path(__file__).with_name("vectors.txt")
    faults = []
    for server in player.servers:
        connection = server.connect()
        for number, args, sign, expected in read(path):
            reply = connection.exchange([encode(*args)], 1)[0]
            if not matches(sign, reply, expected):
                faults.append(f"{path.name}:{number}: {server.name} answered {reply!r}")
        connection.close()
    return faults
