"""Cuts each limiter out of docs/when-weir-is-away.md and runs it as it stands, in a file of its own.

1. While weir goes away and comes back, in each way of away_worlds.py, the limiters of all languages are
   asked every 20 ms at once, each with a key of its own. They hold when 10 a second are admitted with weir
   there, 5 a second without it, and 10 again after it, and when no call took longer than the page says.
2. Each word of the page's table of answers is answered to each limiter, by a proxy in weir's place:
   it decides by itself for those that count as away, and raises the others.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CLIENTS), str(CLIENTS / "python")]

from away_worlds import WORLDS  # noqa: E402
from harness import installs  # noqa: E402
from report import IS_WEIR, PORT, Skip, check, expect, expect_between, say  # noqa: E402
from support.waiting import wait_until  # noqa: E402

PAGE = CLIENTS.parents[1] / "docs/when-weir-is-away.md"
SNIPPET = re.compile(r"^### (\S+)\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
ANSWER = re.compile(r"^\|[^|]*\|([^|]*)\| (yes|no)\b", re.MULTILINE)
WORD = re.compile(r"`([A-Z]{2,}[^`]*)`")

AWAY_SECONDS = 3
START_SECONDS_MAX = 20
# The page says "about 100 ms, and only one a second"; the machine may be busy.
CALL_MS_MAX = 400
SLOW_MS, SLOW_CALLS_MAX = 80, 12
SILENT_MS = 150  # between two calls: more is the machine's
SAVED_MS = 1000  # so long does a limit of ten a second save up


def python_program(code, folder):
    (folder / "limiter.py").write_text(code)
    return [sys.executable, CLIENTS / "calls/away_caller.py"], {
        "PYTHONPATH": f"{folder}:{installs.python_packages('redis-8')}"}


def node_program(code, folder):
    (folder / "limiter.js").write_text(code)
    program = folder / "away_caller.js"
    program.write_text((CLIENTS / "calls/away_caller.js").read_text())
    return ["node", program], {"NODE_PATH": str(installs.node_packages())}


def go_program(code, folder):
    """Built in the module that has the library, which the overlay lends the files."""
    module = CLIENTS / "go"
    (folder / "limiter.go").write_text(code)
    overlay = {"Replace": {
        str(module / "snippet/main.go"): str(CLIENTS / "calls/away_caller.go"),
        str(module / "snippet/limiter/limiter.go"): str(folder / "limiter.go")}}
    (folder / "overlay.json").write_text(json.dumps(overlay))
    installs.command([installs.need("go", "Go"), "build", "-mod=readonly", "-buildvcs=false",
                      "-overlay", str(folder / "overlay.json"), "-o", str(folder / "away"),
                      "./snippet"],
                     cwd=module, env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
    return [folder / "away"], {}


MAKERS = {"Python": python_program, "Go": go_program, "JavaScript": node_program}


class Caller:
    """A limiter that is asked every 20 ms; [(ms of the wall clock, admitted, ms taken)] of all calls."""

    def __init__(self, name, program, folder, port):
        self.name = name
        self.calls = []
        self.wrong = ""
        command, environment = program
        self.complaints = folder / f"complaints-{name}"  # libraries log there that they are cut off
        with self.complaints.open("w") as log:
            self.process = subprocess.Popen(
                [*map(str, command), str(port), f"user:{name}"], env={**os.environ, **environment},
                stdout=subprocess.PIPE, stderr=log, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            if re.fullmatch(r"\d+ [01] \d+\n", line):
                self.calls.append(tuple(map(int, line.split())))
            else:
                self.wrong = f"it says {line.strip()!r:.300}"

    def has_begun(self):
        return self.calls or self.process.poll() is not None

    def end(self):
        if self.process.poll() is not None:
            self.wrong = self.wrong or f"it ended: {self.complaints.read_text()[-400:]}"
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def silent_ms(self, begin, end):
        """How long it asked nothing, since the machine did not let it: what came back meanwhile is admitted later."""
        asked = [begin, *(at for at, _, _ in self.calls if begin <= at < end), end]
        return sum(max(0, later - earlier - SILENT_MS) for earlier, later in zip(asked, asked[1:]))

    def judge(self, phases):
        """`phases` are (begin ms, end ms, permits a second)."""
        expect(self.wrong, "")
        for begin, end, rate in phases:
            wanted = rate * (end - begin) / 1000
            admitted = sum(allowed for at, allowed, _ in self.calls if begin <= at < end)
            saved_up = rate * self.silent_ms(begin - SAVED_MS, end) / 1000
            expect_between(wanted - 3 - saved_up, admitted, wanted + 3 + saved_up, f"at {rate} a second, admitted")
        taken = [took for _, _, took in self.calls]
        expect_between(0, max(taken), CALL_MS_MAX, "the longest call")
        expect_between(0, sum(ms >= SLOW_MS for ms in taken), SLOW_CALLS_MAX, "slow calls")


def now_ms():
    return int(time.time() * 1000)


def go_through(world, callers):
    """Has weir there, away, and back; the phases in which what is admitted can be told."""
    wait_until(lambda: all(caller.has_begun() for caller in callers), "all callers ask")
    begin = now_ms()
    time.sleep(3)
    there = (begin + 1500, now_ms(), 10)  # what was saved up has gone
    world.leave()
    left = now_ms()
    time.sleep(AWAY_SECONDS)
    away = (left + 1000, now_ms(), 5)
    world.come_back()
    back = now_ms()
    time.sleep(3.5)
    return there, away, (back + 2000, now_ms(), 10)


def goes_on(make, programs, folder):
    """{language: phases} and the callers, for one way in which weir is away."""
    world = make()
    callers = []
    try:
        world.start()
        callers += [Caller(name, program, folder, world.port) for name, program in programs.items()]
        return go_through(world, callers), callers
    finally:
        for caller in callers:
            caller.end()
        world.close()


class Answerer:
    """Forwards to weir, and answers RL.TAKE itself: the error that the key names."""

    def __init__(self, to_port, errors):
        self.to_port = to_port
        self.errors = errors
        self.asked = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.to_port))
            threading.Thread(target=self.requests, args=(client, server), daemon=True).start()
            threading.Thread(target=self.replies, args=(client, server), daemon=True).start()

    def requests(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                take = re.search(rb"\r\nRL\.TAKE\r\n\$\d+\r\n(\w+)\r\n", data)
                if take:
                    self.asked.append(take[1].decode())
                    client.sendall(b"-" + self.errors[self.asked[-1]].encode() + b"\r\n")
                else:
                    server.sendall(data)
        server.close()

    def replies(self, client, server):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)


def answers_of(page):
    """{error: whether it counts as away} of the page's table."""
    return {word: verdict == "yes" for words, verdict in ANSWER.findall(page)
            for word in WORD.findall(words) if not word.startswith("RL.")}


def knows_words(program, errors):
    keys = {f"word{i}": error for i, error in enumerate(errors)}
    answerer = Answerer(PORT, {key: f"{error} and more words" if " " not in error else error
                               for key, error in keys.items()})
    command, environment = program
    said = subprocess.run([*map(str, command), str(answerer.port), "each", *keys],
                          env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=START_SECONDS_MAX, check=True).stdout
    wanted = {error: "1" if away else "raised" for error, away in errors.items()}
    expect({keys[key]: word for key, word in map(str.split, said.splitlines())}, wanted)
    expect(sorted(set(answerer.asked)), sorted(keys), "keys that were asked for")


def check_all(programs, page, folder):
    errors = answers_of(page)
    for name, program in programs.items():
        check(f"{name}-words", lambda program=program: knows_words(program, errors))
    for how, make in WORLDS.items():
        try:
            phases, callers = goes_on(make, programs, folder)
        except Exception as error:
            check(how, lambda error=error: rethrow(error))
            continue
        for caller in callers:
            check(f"{caller.name}-{how}", lambda caller=caller, phases=phases: caller.judge(phases))


def make(programs, name, code, folder):
    place = Path(folder) / name
    place.mkdir()
    programs[name] = MAKERS[name](code, place)


def rethrow(error):
    raise error


def main():
    page = PAGE.read_text()
    found = dict(SNIPPET.findall(page))
    say("version -")
    check("a-limiter-for-each", lambda: expect(sorted(found), sorted(MAKERS)))
    if IS_WEIR:
        with tempfile.TemporaryDirectory() as folder:
            programs = {}
            for name, code in found.items():
                check(f"{name}-is-made", lambda name=name, code=code: make(programs, name, code, folder))
            check_all(programs, page, Path(folder))
    else:
        check("the-limiters", lambda: rethrow(Skip("Redis has no limiter")))
    say("done")


main()
