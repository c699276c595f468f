#!/usr/bin/env python3
"""Every option of every command that Redis 7 documents and weir has: sent once at least in a request
that both servers accept, and answered alike.

    options.py WEIR_SERVER

The requests stand in options/*.txt, one a line, as for redis-cli; an empty line ends a scene: the
connections are new and the servers empty. What may stand in front of a request:

    b>    it is sent over another connection, here `b`
    ~     the same kind of reply is enough
    !     both refuse it with the same error: a valid request that a server on its own refuses
    ?     replies differ by a decision (docs/differences.md); neither may be an error
    x     weir refuses it by a decision
    -     it prepares something, or answers nothing: not compared
    $     it ends the server

In arguments, <id:b>, <addr:b> and <laddr:b> are a connection's own, <dump:key> is the server's DUMP
of a key, <functions> of its libraries, and <sha:script> a script's name.
"""

import hashlib
import os
import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from command_docs import read_commands, uses  # noqa: E402
from servers import redis_server, weir_server  # noqa: E402
from wire import Closed, Silent, encode  # noqa: E402

FOLDER = Path(__file__).with_name("options")
LINE = re.compile(r"(?:(\w+)> )?([~!?x$-] )?(.*)")
PLACE = re.compile(rb"<(id|addr|laddr|dump|sha|functions):?([^>]*)>")
# Commands that cannot be used like others.
BEYOND = {"psync": "turns a connection into a replica's", "sync": "likewise",
          "replconf": "what replicas say"}


@dataclass
class Request:
    place: str
    connection: str
    mark: str
    words: list


@dataclass
class Report:
    played: int = 0
    faults: list = field(default_factory=list)
    used: dict = field(default_factory=dict)  # command -> paths of arguments that were used

    def unused(self, commands, ours):
        """Arguments that were not, of commands that weir has."""
        containers = {name.split("|")[0] for name in commands if "|" in name} - {"command"}
        for name, command in sorted(commands.items()):
            if name in ours and name not in containers:
                if name in BEYOND:
                    continue
                if name not in self.used:
                    yield f"{name}: never sent"
                for path in sorted(set(command.all_paths()) - self.used.get(name, set())):
                    yield f"{path}: never used"


def scenes():
    for path in sorted(FOLDER.glob("*.txt")):
        scene = []
        for number, line in enumerate(path.read_text().splitlines() + [""], 1):
            if line.startswith("#"):
                continue
            if not line.strip():
                if scene:
                    yield scene
                scene = []
                continue
            connection, mark, words = LINE.fullmatch(line).groups()
            scene.append(Request(f"{path.name}:{number}", connection or "a", (mark or " ")[0],
                                 [unescaped(word) for word in shlex.split(words)]))


def unescaped(word):
    return word.replace("\\n", "\n").encode()


class Stage:
    """One server and its connections in a scene."""

    def __init__(self, server):
        self.server = server
        self.connections = {}
        control = self.connection("the one that cleans up")
        control.command("FLUSHALL")
        control.command("CONFIG", "RESETSTAT")

    def connection(self, name):
        if name not in self.connections:
            self.connections[name] = self.server.connect(5)
        return self.connections[name]

    def filled(self, match):
        kind, name = match[1].decode(), match[2].decode()
        if kind == "sha":
            return hashlib.sha1(match[2]).hexdigest().encode()
        if kind == "functions":
            return self.connection("a").command("FUNCTION", "DUMP")
        if kind == "dump":
            return self.connection("a").command("DUMP", name)
        connection = self.connection(name)
        if kind == "id":
            return b"%d" % connection.command("CLIENT", "ID")
        connection.command("PING")  # until then the server may not have met it
        host, port = (connection.socket.getsockname() if kind == "addr" else
                      connection.socket.getpeername())
        return f"{host}:{port}".encode()

    def reply(self, request):
        """None where none is waited for."""
        words = self.words = [PLACE.sub(self.filled, word) for word in request.words]
        connection = self.connection(request.connection)
        if request.mark == "$":
            connection.received = b""
            refusal, _ = connection.transcript(encode(*words), b"\0never\0", 20)
            if refusal:
                connection.received = b""
                return refusal
            self.server.process.wait(timeout=30)
            self.end()
            self.server.start()
            return None
        if request.mark == "-":
            connection.socket.setblocking(True)
            connection.socket.sendall(encode(*words))
            connection.socket.setblocking(False)
            return None
        try:
            return connection.exchange([connection.encode(words)], 1)[0]
        except (Closed, Silent) as gone:
            return b"no reply: " + repr(gone).encode()

    def end(self):
        for connection in self.connections.values():
            connection.close()
        self.connections = {}


def are_alike(mark, ours, theirs):
    if mark == "!":
        return ours == theirs and ours[:1] == b"-"
    if mark == "$":
        return ours == theirs
    if mark == "x":
        return ours[:1] == b"-"
    refused = b"-" in (ours[:1], theirs[:1]) or b"no reply" in (ours[:8], theirs[:8])
    if mark == "?":
        return not refused
    return not refused and (ours == theirs if mark == " " else ours[:1] == theirs[:1])


def command_of(commands, words):
    """The row that a request is for, and how many words name it."""
    names = [word.decode("latin-1").lower() for word in words[:2]]
    if "|".join(names) in commands:
        return commands["|".join(names)], 2
    return commands.get(names[0]), 1


def exercise(weir, redis):
    """Plays all scenes on both."""
    commands, have = [read_commands(server.connect()) for server in (redis, weir)]
    report = Report()
    for scene in scenes():
        stages = [Stage(weir), Stage(redis)]
        for request in scene:
            command, named = command_of(commands, request.words)
            if command is not None and command.name not in have:
                continue
            ours, theirs = [stage.reply(request) for stage in stages]
            report.played += 1
            shown = " ".join(word.decode() for word in request.words)
            if ours != theirs and not are_alike(request.mark, ours, theirs):
                report.faults.append(f"{request.place}: {shown}\n"
                                     f"    weir:  {str(ours)[:300]}\n    redis: {str(theirs)[:300]}")
            if command is None:
                continue
            used = uses(command, [word.decode("latin-1") for word in stages[1].words[named:]])
            if used is None and (command.arguments or command.arity > 0):
                report.faults.append(f"{request.place}: {shown}: not as COMMAND DOCS has it")
            report.used.setdefault(command.name, set()).update(used or ())
        for stage in stages:
            stage.end()
    return report, commands, have


def main():
    redis = redis_server()
    weir = weir_server(os.path.abspath(sys.argv[1]), [])
    try:
        redis.start()
        weir.start()
        report, commands, ours = exercise(weir, redis)
    finally:
        weir.stop()
        redis.stop()
    unused = list(report.unused(commands, ours))
    print(*report.faults, *unused, sep="\n")
    print(f"{report.played} requests, {len(report.faults)} answered differently,"
          f" {len(unused)} arguments unused")
    return not report.faults and not unused


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
