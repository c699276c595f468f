#!/usr/bin/env python3
"""Asks each member for its CLUSTER SLOTS every 10 ms, and writes down what has changed. A process of its own, so that
it does not wait for the callers, nor they for it.

    sampler.py FILE PERIOD_MS HOST...

A line is `TIME_NS HOST MAP`, where a map is FIRST-LAST=HOST for each of its ranges, with commas between; or `-` when the
host has not answered for a while. The last line is `END number of samples`. Times are those of CLOCK_MONOTONIC.
"""

import selectors
import signal
import socket
import sys
import time
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[:2])

from support.resp import Refused, decode, encode  # noqa: E402

PORT = 6379
ASK = encode("CLUSTER", "SLOTS")
ANSWERS_S, AGAIN_S = 0.2, 0.05


def written(reply):
    if isinstance(reply, Refused):
        return "!" + str(reply).replace(" ", "_")
    return ",".join(f"{first}-{last}={primary[0].decode()}" for first, last, primary, *_ in sorted(reply)) or "nothing"


class Asked:
    def __init__(self, host, out, selector):
        self.host = host
        self.out = out
        self.selector = selector
        self.socket = None
        self.sent = None      # when, if it has not answered
        self.next = 0.0
        self.data = self.last = b""
        self.map = ""         # as its last answer was
        self.shown = None     # as the file's last line of it
        self.samples = 0

    def show(self, what):
        if what != self.shown:
            self.shown = what
            self.out.write(f"{time.monotonic_ns()} {self.host} {what}\n")

    def tick(self, now, period_s):
        if self.sent is not None and now > self.sent + ANSWERS_S:
            self.lose(now)
        if self.sent is None and now >= self.next:
            self.next = max(self.next + period_s, now)
            self.ask(now)

    def ask(self, now):
        try:
            if self.socket is None:
                self.socket = socket.socket()
                self.socket.setblocking(False)
                self.socket.connect_ex((self.host, PORT))
                self.selector.register(self.socket, selectors.EVENT_WRITE, self)
            else:
                self.socket.send(ASK)
            self.sent = now
        except OSError:
            self.lose(now)

    def lose(self, now):
        if self.socket is not None:
            self.selector.unregister(self.socket)
            self.socket.close()
        self.socket = self.sent = None
        self.data = b""
        self.next = now + AGAIN_S
        self.show("-")

    def ready(self, events, now):
        try:
            if events & selectors.EVENT_WRITE:
                self.socket.send(ASK)
                self.selector.modify(self.socket, selectors.EVENT_READ, self)
                return
            piece = self.socket.recv(65536)
            if not piece:
                raise ConnectionResetError
        except OSError:
            self.lose(now)
            return
        self.data += piece
        self.read()

    def read(self):
        if self.data != self.last:
            try:
                reply = decode(self.data)
            except ConnectionError:
                return  # there is more to come
            self.last = self.data
            self.map = written(reply)
        self.data, self.sent = b"", None
        self.samples += 1
        self.show(self.map)


def main():
    running = [True]
    signal.signal(signal.SIGTERM, lambda *_: running.clear())
    period_s = float(sys.argv[2]) / 1000
    selector = selectors.DefaultSelector()
    with open(sys.argv[1], "w", encoding="ascii", buffering=1) as out:
        asked = [Asked(host, out, selector) for host in sys.argv[3:]]
        while running:
            now = time.monotonic()
            for one in asked:
                one.tick(now, period_s)
            due = min([one.next if one.sent is None else one.sent + ANSWERS_S for one in asked])
            # Not more often than each millisecond, whatever is due.
            for key, events in selector.select(max(0.001, due - time.monotonic())) or []:
                key.data.ready(events, time.monotonic())
        out.write(f"END {sum(one.samples for one in asked)}\n")


if __name__ == "__main__":
    main()
