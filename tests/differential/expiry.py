#!/usr/bin/env python3
"""Keys that end, on weir and on redis-server 7: random streams that move both servers' clock, which
stands still between two moves, so that every reply, TTL and TIME too, has to be the same.

    expiry.py CLOCKED_SERVER FIXED_CLOCK [--commands N] [--seed N] [--stream N] [--whole-grammar]

CLOCKED_SERVER is weir by the clock of a file, FIXED_CLOCK what is loaded into redis-server. Nobody
drops keys in the background: when those are met is for commands to say.
"""

import argparse
import mmap
import os
import random
import re
import struct
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from compare import Profile  # noqa: E402
from coverage import Coverage  # noqa: E402
from player import Mismatch, Player  # noqa: E402
from servers import redis_server, weir_server  # noqa: E402
from shrink import shrink  # noqa: E402
from specials import SPECIALS  # noqa: E402
from streams import Batch, make_stream, shown, shown_replies  # noqa: E402
from tables import TABLES  # noqa: E402

SHRINK_S = 30
BEGIN_MS = 2_000_000_000_000
BETWEEN_STREAMS_MS = 10_000_000
INSTANT = re.compile(rb"@(s?)\+(-?\d+)")


class Clock:
    """A file that both servers have mapped."""

    def __init__(self, path):
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.path = path
        self.now_ms = BEGIN_MS
        self.advance(0)

    def advance(self, duration_ms):
        self.now_ms += duration_ms
        self.memory[:8] = struct.pack("q", self.now_ms * 1_000_000)

    def resolved(self, argument):
        def instant(found):
            if found[1]:
                return b"%d" % (self.now_ms // 1000 + int(found[2]))
            return b"%d" % (self.now_ms + int(found[2]))
        return INSTANT.sub(instant, argument)


class ClockPlayer(Player):
    def __init__(self, servers, clock):
        super().__init__(servers)
        self.clock = clock

    def begin(self):
        self.clock.advance(BETWEEN_STREAMS_MS)
        super().begin()

    def play_batch(self, batch):
        for op in batch.ops:
            op.args = [self.clock.resolved(arg) if b"@" in arg else arg for arg in op.args]
        super().play_batch(batch)


def advance(player, pair, op):
    player.clock.advance(int(op.args[1]))


SPECIALS["special:advance"] = advance


def by_clock(server, clock, *variables):
    server.command = ["env", f"CLOCK_FILE={clock.path}", *variables, *server.command]
    return server


def report(options, number, player, stream, mismatch):
    print(f"MISMATCH: replay it with\n    {sys.argv[0]} {options.clocked_server}"
          f" {options.fixed_clock} --seed {options.seed} --stream {number}", flush=True)
    steps, last = shrink(player, stream, mismatch, SHRINK_S)
    for connection, op in steps or stream.steps()[max(mismatch.at - 30, 0):mismatch.at + 1]:
        print(f"{connection}> {shown(op)}")
    print(*shown_replies(last.ours, last.theirs), sep="\n")


def play(options, player, coverage):
    begin, played, number = time.monotonic(), 0, options.stream or 0
    while played < options.commands:
        stream = make_stream(options.seed, number, coverage.rows, set(), coverage)
        stream.profile = Profile(relative_times=False, lingering=False, counted=True)
        try:
            player.play(stream)
        except Mismatch as mismatch:
            report(options, number, player, stream, mismatch)
            return False
        played += len(stream.steps())
        number += 1
        if options.stream is not None:
            break
    print(f"{played} commands alike in {time.monotonic() - begin:.1f} s", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clocked_server")
    parser.add_argument("fixed_clock")
    parser.add_argument("--commands", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--stream", type=int, default=None)
    parser.add_argument("--whole-grammar", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    coverage = Coverage(TABLES["expiry"])
    with tempfile.TemporaryDirectory(prefix="differential-clock-") as directory:
        clock = Clock(Path(directory) / "clock")
        weir = by_clock(weir_server(os.path.abspath(options.clocked_server),
                                    ["--storage", "memory"]), clock)
        redis = by_clock(redis_server(), clock,
                         f"LD_PRELOAD={os.path.abspath(options.fixed_clock)}")
        alike = False
        try:
            for server in (weir, redis):
                server.start()
                server.connect().command("DEBUG", "SET-ACTIVE-EXPIRE", "0")
            alike = play(options, ClockPlayer([weir, redis], clock), coverage)
        finally:
            alike = weir.stop() and alike
            redis.stop()
    print(coverage.summary())
    missing = list(coverage.missing()) if options.whole_grammar else []
    print(*(f"never sent: {text}" for text in missing), sep="\n", end="")
    return alike and not missing


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
