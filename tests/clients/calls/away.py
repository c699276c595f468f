"""Cuts each limiter out of docs/when-weir-is-away.md and runs it as it stands.

A limiter is asked every 20 ms for nine seconds, through a gate that is shut in the middle three:
once so that connections are refused, and once so that nothing is heard. It holds when all that was
admitted is 10 a second with weir there, 5 a second without it, and 10 again after it, and when no
call took long.
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
from pathlib import Path

CLIENTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CLIENTS), str(CLIENTS / "python")]

from direct import Direct  # noqa: E402
from harness import installs  # noqa: E402
from report import IS_WEIR, PORT, Skip, check, expect, expect_between, say  # noqa: E402

PAGE = CLIENTS.parents[1] / "docs/when-weir-is-away.md"
SNIPPET = re.compile(r"^### (\S+)\n\n```\w+\n(.*?)```", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 60
SHUT_MS, OPEN_MS = 3000, 6000
CALL_MS_MAX = 500  # the page says about 100; the machine may be busy
# (from, to, permits a second): after what is saved up has gone.
PHASES = ((1000, 3000, 10), (4000, 6000, 5), (7500, 9000, 10))

PYTHON = """import threading
import time

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

%s

limiter = Limiter("127.0.0.1", PORT, 10, 10, 2)
begin = time.monotonic()
for i in range(450):
    time.sleep(max(0, begin + i * 0.02 - time.monotonic()))
    at = time.monotonic()
    allowed = limiter.take("user:42")
    print(int((at - begin) * 1000), int(allowed), int((time.monotonic() - at) * 1000), flush=True)
"""
NODE = """const Redis = require('ioredis');
const { ReplyError } = Redis;

%s

(async () => {
  const limiter = new Limiter('127.0.0.1', PORT, 10, 10, 2);
  await new Promise((done) => limiter.weir.once('ready', done));
  const begin = performance.now();
  for (let i = 0; i < 450; i += 1) {
    await new Promise((done) => setTimeout(done, Math.max(0, begin + i * 20 - performance.now())));
    const at = performance.now();
    const allowed = await limiter.take('user:42');
    console.log(Math.floor(at - begin), allowed ? 1 : 0, Math.floor(performance.now() - at));
  }
  process.exit(0);
})();
"""
GO = """package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

%s

func main() {
	limiter := NewLimiter("127.0.0.1:PORT", 10, 10, 2)
	begin := time.Now()
	for i := range 450 {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * 20 * time.Millisecond)))
		at := time.Now()
		allowed, err := limiter.Take(context.Background(), "user:42")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		verdict := 0
		if allowed {
			verdict = 1
		}
		fmt.Println(at.Sub(begin).Milliseconds(), verdict, time.Since(at).Milliseconds())
	}
}
"""


def python_program(code, folder):
    (folder / "away.py").write_text(code)
    return [sys.executable, folder / "away.py"], {
        "PYTHONPATH": str(installs.python_packages("redis-8"))}


def node_program(code, folder):
    (folder / "away.js").write_text(code)
    return ["node", folder / "away.js"], {"NODE_PATH": str(installs.node_packages())}


def go_program(code, folder):
    """Built in the module that has the library, which the overlay lends the file."""
    module = CLIENTS / "go"
    (folder / "main.go").write_text(code)
    overlay = {"Replace": {str(module / "snippet/main.go"): str(folder / "main.go")}}
    (folder / "overlay.json").write_text(json.dumps(overlay))
    installs.command([installs.need("go", "Go"), "build", "-mod=readonly", "-buildvcs=false",
                      "-overlay", str(folder / "overlay.json"), "-o", str(folder / "away"),
                      "./snippet"],
                     cwd=module, env={**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"})
    return [folder / "away"], {}


MAKERS = {"Python": (PYTHON, python_program), "Go": (GO, go_program),
          "JavaScript": (NODE, node_program)}


class Gate:
    """Forwards connections to a port while it is open."""

    def __init__(self, to_port):
        self.to_port = to_port
        self.heard = threading.Event()
        self.heard.set()
        self.sockets = []
        self.listener = None
        self.port = 0
        self.listen()

    def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.to_port))
            except OSError:
                return
            self.sockets += [client, server]
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=ends, daemon=True).start()

    def forward(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                self.heard.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def refuse(self):
        """As when weir was killed."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def go_on(self):
        self.heard.set()
        if self.listener.fileno() < 0:
            self.listen()

    def hang(self):
        """As when weir, or the network, is stopped in mid-work."""
        self.heard.clear()


def run(name, code, shut):
    """[(ms, admitted, ms taken)] of all calls, with shut(gate) after three seconds."""
    gate = Gate(PORT)
    template, make = MAKERS[name]
    calls = []
    with tempfile.TemporaryDirectory() as folder:
        text = (template % code).replace("PORT", str(gate.port))
        command, environment = make(text, Path(folder))
        complaints = Path(folder) / "complaints"  # libraries log there that they are cut off
        with complaints.open("w") as log:
            program = subprocess.Popen(list(map(str, command)), env={**os.environ, **environment},
                                       stdout=subprocess.PIPE, stderr=log, text=True)
        ender = threading.Timer(SECONDS_MAX, program.kill)
        ender.start()
        is_shut = was_shut = False
        for line in program.stdout:
            if not re.fullmatch(r"\d+ [01] \d+\n", line):
                raise AssertionError(f"it says {line.strip()!r:.300}")
            calls.append(tuple(map(int, line.split())))
            if not was_shut and calls[-1][0] >= SHUT_MS:
                shut(gate)
                is_shut = was_shut = True
            if is_shut and calls[-1][0] >= OPEN_MS:
                gate.go_on()
                is_shut = False
        ender.cancel()
        expect((program.wait(), complaints.read_text()[-300:] if program.returncode else ""),
               (0, ""), "exit status, complaints")
    gate.refuse()
    return calls


def goes_on(name, code, shut):
    if not IS_WEIR:
        raise Skip("Redis has no limiter")
    direct.ask("FLUSHALL")
    calls = run(name, code, shut)
    for begin, end, rate in PHASES:
        wanted = rate * (end - begin) / 1000
        admitted = sum(allowed for at, allowed, _ in calls if begin <= at < end)
        expect_between(wanted - 3, admitted, wanted + 3, f"admitted from {begin} to {end} ms")
    expect_between(0, max(took for _, _, took in calls), CALL_MS_MAX, "the longest call")


def main():
    found = dict(SNIPPET.findall(PAGE.read_text()))
    say("version -")
    check("a-limiter-for-each", lambda: expect(sorted(found), sorted(MAKERS)))
    for name, code in found.items():
        for how, shut in (("refused", Gate.refuse), ("hanging", Gate.hang)):
            check(f"{name}-{how}",
                  lambda name=name, code=code, shut=shut: goes_on(name, code, shut))
    say("done")


direct = Direct(PORT)
main()
