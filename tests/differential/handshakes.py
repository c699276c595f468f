#!/usr/bin/env python3
"""What clients and tools send when they begin, byte by byte, to weir-server and redis-server 7.

    handshakes.py WEIR_SERVER

A paragraph of handshakes.txt is one connection, in the order that its client sends; "# " names it.
    REQUEST               both servers answer the same bytes
    REQUEST => REPLY      both answer these bytes (Python's escapes)
    REQUEST =~ PATTERN    both answer what this regular expression fits as a whole; . is any byte
    REQUEST +> REPLY      weir answers this, and Redis 7.0 otherwise: the command, the option or the
                          version that it names is newer
    REQUEST +~ PATTERN    weir answers what this fits; Redis is asked too, whatever it says
    REQUEST ->            nobody answers; what comes next is not mistaken for its answer
"+>" is also a test of itself: once Redis answers the same it has to become "=>".
"""

import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from servers import redis_server, weir_server  # noqa: E402
from wire import Closed, Silent, encode  # noqa: E402
from support.processes import CannotStart  # noqa: E402

SIGNS = (" => ", " =~ ", " +> ", " +~ ")


def unescaped(text):
    return text.encode().decode("unicode_escape").encode("latin-1")


def parsed(line):
    """Its arguments, its sign, and what is expected."""
    if line.endswith(" ->"):
        return words(line[:-3]), "->", b""
    for sign in SIGNS:
        request, found, expected = line.partition(sign)
        if found:
            text = expected.encode() if "~" in sign else unescaped(expected)
            return words(request), sign.strip(), text
    return words(line), "==", b""


def words(request):
    return [unescaped(word) for word in shlex.split(request.replace("\\", "\\\\"))]


def paragraphs(path):
    name, lines = "", []
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.startswith("#"):
            name = line[2:]
        elif line.strip():
            lines.append((number, *parsed(line)))
        elif lines:
            yield name, lines
            name, lines = "", []


def answers(server, lines):
    """The reply to each request; what a server sent before it closed counts."""
    connection = server.connect(timeout_s=5)
    replies = []
    try:
        for _, args, sign, _ in lines:
            count = 0 if sign == "->" else 1
            replies.append(b"".join(connection.exchange([encode(*args)], count)))
    except (Closed, Silent) as end:
        replies.append(end.got + f" ({end})".encode())
    finally:
        connection.close()
    return replies + [b"(closed)"] * (len(lines) - len(replies))


def fault(sign, expected, ours, theirs):
    """What is wrong with a pair of replies, in words; None when nothing is."""
    if sign == "==":
        return None if ours == theirs else f"weir {ours!r}, Redis {theirs!r}"
    if sign[1] == "~":
        fits = re.compile(expected, re.DOTALL).fullmatch
        wrong = [(name, reply) for name, reply in (("weir", ours), ("Redis", theirs))
                 if not fits(reply) and (name == "weir" or sign == "=~")]
    else:
        wrong = [] if ours == expected else [("weir", ours)]
        if sign == "=>" and theirs != expected:
            wrong.append(("Redis", theirs))
        if sign == "+>" and theirs == expected:
            wrong.append(("Redis the same, so it is no difference:", theirs))
    return ", ".join(f"{name} {reply[:1500]!r}" for name, reply in wrong) or None


def play(weir, redis, path):
    count, faults = 0, 0
    for name, lines in paragraphs(path):
        for server in (weir, redis):
            control = server.connect()
            control.command("FLUSHALL")
            control.close()
        for line, ours, theirs in zip(lines, answers(weir, lines), answers(redis, lines)):
            number, args, sign, expected = line
            count += 1
            why = fault(sign, expected, ours, theirs)
            if why:
                faults += 1
                print(f"{path.name}:{number} ({name}): {b' '.join(args).decode()}: {why}")
    print(f"{count} requests, {faults} faults")
    return count > 0 and faults == 0


def main():
    weir = weir_server(os.path.abspath(sys.argv[1]), ["--storage", "memory"])
    redis = redis_server()
    try:
        redis.start()
        weir.start()
        alike = play(weir, redis, Path(__file__).with_name("handshakes.txt"))
    except CannotStart as reason:
        print(reason)
        return False
    finally:
        redis.stop()
        clean = weir.stop()
    return alike and clean


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
