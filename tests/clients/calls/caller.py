"""A client library in a process of its own, told line by line what to call.

A caller program (python/caller.py, node/caller.js, go/caller, java/Caller*.java) connects with its
library's defaults to CLIENTS_PORT, says `version TEXT`, and then obeys lines on its input, all at
the same time:
    N call WORD ...    sends the words by the client on its defaults
    N shape WORD ...   sends them as `call`, and answers the reply as JSON: maps stay maps
    N wait WORD ...    sends them the way docs/calling.md says a waiting call is sent
and answers each with `N ok REPLY` (numbers separated by spaces) or `N error TEXT`. It ends when its
input does. CLIENTS_USER and CLIENTS_PASSWORD, when they are there, are whom the client of redis-py,
ioredis, go-redis or Jedis logs in as. CLIENTS_READ_MS, when it is there and not 0, is the read time-out of `call` in place of
the default.
"""

import itertools
import os
import subprocess
import threading
import time


class CallError(Exception):
    """What the library answered instead of a reply."""


class Call:
    """One line and its answer. `seconds` is how long it took; None while it is not answered."""

    def __init__(self):
        self.begin = time.monotonic()
        self.done = threading.Event()
        self.text = ""
        self.error = ""
        self.seconds = None
        self.end = None

    def finish(self, word, text):
        self.end = time.monotonic()
        self.seconds = self.end - self.begin
        if word == "ok":
            self.text = text
        else:
            self.error = text or "an error without words"
        self.done.set()

    def reply(self, seconds_max=60):
        if not self.done.wait(seconds_max):
            raise AssertionError(f"no answer after {seconds_max} s")
        if self.error:
            raise CallError(self.error)
        return self.text

    def numbers(self, seconds_max=60):
        return [int(word) for word in self.reply(seconds_max).split()]


class Caller:
    """The running program of one library."""

    def __init__(self, command, port, **extra):
        environment = {**os.environ, "CLIENTS_PORT": str(port), **extra}
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.calls = {}
        self.numbers = itertools.count(1)
        self.version = ""
        self.noise = []
        self.ready = threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()
        if not self.ready.wait(30) or not self.version:
            raise RuntimeError(f"the caller did not start: {' '.join(self.noise)}")

    def listen(self):
        for line in self.process.stdout:
            number, _, rest = line.rstrip("\n").partition(" ")
            if number == "version":
                self.version = rest
                self.ready.set()
            elif number.isdigit() and int(number) in self.calls:
                self.calls[int(number)].finish(*rest.partition(" ")[::2])
            else:
                self.noise.append(line.rstrip("\n"))
        self.ready.set()
        for call in self.calls.values():
            if call.seconds is None:
                call.finish("error", "the caller ended")

    def send(self, how, words):
        number, call = next(self.numbers), Call()
        self.calls[number] = call
        self.process.stdin.write(f"{number} {how} {words}\n")
        return call

    def call(self, words):
        return self.send("call", words)

    def shape(self, words):
        return self.send("shape", words)

    def wait(self, words):
        return self.send("wait", words)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
