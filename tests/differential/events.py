#!/usr/bin/env python3
"""Sends the same random requests to weir-server and to redis-server 7 and compares what subscribers
hear of them: the events of keys, in their order, behind every batch of requests.

    events.py WEIR_SERVER [--commands N] [--seed N] [--stream N]

Of `expired`, each server tells when it happens to meet the key: those are left out here, and scenes
of pubsub.txt have them.
"""

import argparse
import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from coverage import Coverage  # noqa: E402
from grammar import Special  # noqa: E402
from player import Mismatch, Player  # noqa: E402
from servers import redis_server, weir_server  # noqa: E402
from shrink import shrink  # noqa: E402
from streams import make_stream, shown  # noqa: E402
from tables import ALONE, TABLES  # noqa: E402
from wire import decode  # noqa: E402

SHRINK_S = 30
CLASSES = ["KEA", "KEAn", "KEAm", "Emn$lshzg", "Kzg", "Elsg", "KE$hn"]
# Transactions are mixed with the rest by halves: a stream has either kind.
KINDS = [["transactions"], [name for name in TABLES if name not in ALONE]]
END = b"__key-end"
EXPIRED = b"expired"
MISS = b"keymiss"
# What the random streams must have made happen, or they tested little.
NAMES = """append copy_to del expire hdel hincrby hincrbyfloat hset incrby incrbyfloat keymiss linsert
lpop lpush lrem lset ltrim move_from move_to new persist rename_from rename_to restore rpop rpush sadd
sdiffstore set setrange sinterstore sortstore spop srem sunionstore zadd zdiffstore zincr zinterstore
zpopmax zpopmin zrangestore zrem zremrangebylex zremrangebyrank zremrangebyscore zunionstore""".split()
# A fresh seed may miss a rare event or two; one that nothing sends any more shows in every run.
BY_CHANCE_MAX = 2


def is_miss(event):
    channel, message = event
    return message == MISS or channel.endswith(b":" + MISS)


class EventPlayer(Player):
    """A Player that also has somebody listen on both servers."""

    def __init__(self, servers):
        super().__init__(servers)
        self.classes = "KEA"
        self.names = set()
        self.heard = 0
        self.has_failures = False
        self.listeners = []

    def begin(self):
        super().begin()
        for connection in self.control:
            connection.command("CONFIG", "SET", "notify-keyspace-events", self.classes)
        for connection in self.listeners:
            connection.close()
        self.listeners = self.connect()
        for connection in self.listeners:
            connection.command("PSUBSCRIBE", "__key*")

    def replies(self, connection, batch):
        replies = super().replies(connection, batch)
        self.has_failures |= any(reply[:1] == b"-" or b"\n-" in reply for reply in replies)
        return replies

    def play_batch(self, batch):
        self.has_failures = isinstance(batch.ops[0], Special)  # its replies do not pass here
        super().play_batch(batch)
        ours, theirs = [self.events(*pair) for pair in zip(self.control, self.listeners)]
        # Of a set, SORT looks keys up in the set's own order; and ours that fail take events back.
        ours, theirs = [[event for event in events if not is_miss(event)] +
                        ([] if self.has_failures else sorted(filter(is_miss, events)))
                        for events in (ours, theirs)]
        self.heard += len(theirs)
        for channel, message in theirs:
            self.names.add((channel.split(b":", 1)[1] if channel.startswith(b"__keyevent")
                            else message).decode("latin-1"))
        if ours != theirs:
            at = next((at for at, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]),
                      min(len(ours), len(theirs)))
            raise Mismatch(self.at - 1, batch.ops[-1], repr(ours[at:at + 6]).encode(),
                           repr(theirs[at:at + 6]).encode())

    @staticmethod
    def events(control, listener):
        control.command("PUBLISH", END, "")
        events = []
        while True:
            kind, pattern, channel, message = decode(listener.exchange([], 1)[0])
            if channel == END:
                return events
            if message != EXPIRED and not channel.endswith(b":" + EXPIRED):
                events.append((channel, message))


def report(options, number, player, stream, mismatch):
    print(f"MISMATCH: replay it with\n    {sys.argv[0]} {options.weir_server} --seed {options.seed}"
          f" --stream {number}\nnotify-keyspace-events {player.classes}", flush=True)
    steps, last = shrink(player, stream, mismatch, SHRINK_S)
    for connection, op in steps or stream.steps()[max(mismatch.at - 20, 0):mismatch.at + 1]:
        print(f"{connection}> {shown(op)}")
    for name, reply in (("weir", last.ours), ("redis", last.theirs)):
        print(f"{name}: {reply.decode(errors='backslashreplace')}")


def play(options, player):
    connection = player.servers[1].connect()
    known_names = {name.lower() for name in connection.command("COMMAND", "LIST")}
    connection.close()
    played = number = 0
    while played < options.commands:
        if options.stream is not None:
            number = options.stream
        rng = random.Random(f"{options.seed}/{number}/events")
        player.classes = rng.choice(CLASSES)
        rows = [row for name in rng.choice([*KINDS, KINDS[1]]) for row in TABLES[name]]
        stream = make_stream(options.seed, number, rows, known_names, Coverage(rows))
        try:
            player.play(stream)
        except Mismatch as mismatch:
            report(options, number, player, stream, mismatch)
            return False
        played += len(stream.steps())
        if options.stream is not None:
            return True
        number += 1
    print(f"{played} commands, {player.heard} events alike: {' '.join(sorted(player.names))}")
    missing = set(NAMES) - player.names
    if missing:
        print(f"never heard of: {' '.join(sorted(missing))}")
    return len(missing) <= BY_CHANCE_MAX


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weir_server")
    parser.add_argument("--commands", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--stream", type=int, default=None)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    redis = redis_server()
    weir = weir_server(os.path.abspath(options.weir_server), ["--storage", "memory"])
    alike = False
    try:
        redis.start()
        weir.start()
        alike = play(options, EventPlayer([weir, redis]))
    finally:
        alike = weir.stop() and alike
        redis.stop()
    return alike


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
