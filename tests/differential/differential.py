#!/usr/bin/env python3
"""Sends the same random requests to weir-server and to redis-server 7 and compares the replies.

    differential.py WEIR_SERVER [--storage memory|evicting|rocksdb|all] [--commands N] [--seed N]
                    [--stream N] [--tables NAME,NAME] [--maxmemory BYTES] [--whole-grammar]
                    [--cluster [--owners 3]] [--shards 3]

A seed decides every request; the kinds of storage get their shares of them. With --whole-grammar it is a failure, too, if a row of the tables, or an option of one, was
never sent. With --cluster both are clusters of one node, or of three, and most keys share a slot. With --shards weir's nodes are
founded shards over logs, in the place of owners of a topology file. A failure prints the seed, the number of the stream that failed and
the shortest list of requests found that fails alike; `--seed N --stream N` plays that stream again.
It needs the Debian package redis-server, and Python's standard library only.
"""

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare  # noqa: E402
import state  # noqa: E402
import streams  # noqa: E402
import vectors  # noqa: E402
from coverage import Coverage  # noqa: E402
from player import Mismatch, Player  # noqa: E402
from owners import redis_owners, weir_owners, weir_shards  # noqa: E402
from servers import redis_server, weir_server  # noqa: E402
from shrink import shrink  # noqa: E402
from streams import make_stream, shown, shown_replies  # noqa: E402
from tables import ALONE, OF_CLUSTERS, OF_NODES, TABLES  # noqa: E402
from wire import Closed, Silent  # noqa: E402
from support.processes import CannotStart  # noqa: E402

SHRINK_S = 30
# One command in so many must have read what was evicted. With a disk it depends on how soon that syncs.
COLD_SHARE = 100

# With hardly any memory and constant write-back, most look-ups read what was evicted.
EVICTING = ["--write-back-interval-ms", "10", "--maxmemory"]
STORAGE = {
    "memory": lambda options: ["--storage", "memory"],
    "evicting": lambda options: ["--storage", "memory", *EVICTING, options.maxmemory],
    "rocksdb": lambda options: ["--storage", "rocksdb", *EVICTING, options.maxmemory],
}
TAGS = (b"{b}", b"{tag}", b"{a}")  # one of each of three owners, in the order of their slots
SHARES = {"memory": 4, "evicting": 3, "rocksdb": 1}  # a disk makes others wait


def parse_options():
    parser = argparse.ArgumentParser(description="weir-server and redis-server side by side")
    parser.add_argument("weir_server")
    parser.add_argument("--storage", default="all", choices=[*STORAGE, "all"])
    parser.add_argument("--commands", type=int, default=20_000, help="in all")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--stream", type=int, default=None, help="only this one of the seed's")
    parser.add_argument("--tables", default="")
    parser.add_argument("--maxmemory", default="20000")
    parser.add_argument("--whole-grammar", action="store_true")
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--owners", type=int, default=1, choices=(1, len(TAGS)))
    parser.add_argument("--shards", type=int, default=0, choices=(len(TAGS),), help="the same, each over a log")
    options = parser.parse_args()
    if options.shards:
        options.cluster, options.owners = True, options.shards
    left_out = ALONE if options.cluster else ALONE | OF_CLUSTERS
    if options.shards:
        left_out = left_out | OF_NODES
    options.tables = options.tables or ",".join(name for name in TABLES if name not in left_out)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


def words_of_cluster(options):
    if options.shards:
        return f" --shards {options.shards}"
    return f" --cluster --owners {options.owners}" if options.cluster else ""


def weir_of(options, storage):
    words = os.path.abspath(options.weir_server), STORAGE[storage](options)
    if options.shards:
        return weir_shards(*words, options.shards)
    return weir_owners(*words, options.owners) if options.cluster else weir_server(*words)


def report(options, storage, number, player, stream, mismatch):
    print(f"MISMATCH with storage {storage}: replay it with\n"
          f"    {sys.argv[0]} {options.weir_server} --storage {storage} --seed {options.seed}"
          f" --stream {number} --tables {options.tables}"
          f"{words_of_cluster(options)}\n", flush=True)
    for server in player.servers:
        if not server.lives():
            print(server.how_it_ended() + "\n")
    steps, last = shrink(player, stream, mismatch, SHRINK_S)
    if steps is None:
        print("It passes when the requests are sent one by one. The last ones were:")
        steps = stream.steps()[max(mismatch.at - 30, 0):mismatch.at + 1]
    print("connection> request")
    for connection, op in steps:
        print(f"{connection}> {shown(op)}{'   (inline)' if op.inline else ''}")
    if last.op is None:
        print("(then the state or the metrics differ)")
    print(*shown_replies(last.ours, last.theirs), sep="\n")


def run(options, storage, commands, redis, coverage):
    """Whether all streams passed; the commands played are printed."""
    weir = weir_of(options, storage)
    alike = False
    try:
        weir.start()
        player = Player([weir, redis])
        faults = [] if options.cluster else vectors.play(player)
        print(*faults, sep="\n", end="\n" if faults else "")
        alike = not faults and play_streams(options, storage, commands, player, coverage)
    except (Closed, Silent, OSError) as gone:
        print(f"a server went away: {gone}")
    finally:
        stopped_well = weir.stop()
    return alike and stopped_well


def play_streams(options, storage, commands, player, coverage):
    begin = time.monotonic()
    connection = player.servers[1].connect()
    known_names = {name.lower() for name in connection.command("COMMAND", "LIST")}
    connection.close()
    numbers = [options.stream] if options.stream is not None else range(1 << 30)
    played = 0
    for number in numbers:
        if played >= commands:
            break
        stream = make_stream(f"{options.seed}/{storage}", number, coverage.rows, known_names,
                             coverage)
        try:
            player.play(stream)
        except Mismatch as mismatch:
            report(options, storage, number, player, stream, mismatch)
            return False
        played += len(stream.steps())
    cold_reads = player.servers[0].metric("cold_reads")
    print(f"storage {storage}: {played} commands alike in {time.monotonic() - begin:.1f} s,"
          f" {cold_reads} reads of what was not in memory", flush=True)
    if storage == "evicting" and cold_reads < played // COLD_SHARE:
        print("too few of them: eviction was hardly tested")
        return False
    return True


def commands_of(storages, commands):
    whole = sum(SHARES[storage] for storage in storages)
    return [commands * SHARES[storage] // whole for storage in storages]


def is_covered(options, coverage):
    print(coverage.summary(), flush=True)
    missing = list(coverage.missing()) if options.whole_grammar else []
    for text in missing:
        print(f"never sent: {text}")
    return not missing


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    options = parse_options()
    print(f"seed {options.seed}", flush=True)
    if options.cluster:
        streams.TAGGED_SHARE = 0.8
        if options.owners > 1:
            streams.TAGS = TAGS
        state.DATABASES = 1
    storages = list(STORAGE) if options.storage == "all" else [options.storage]
    rows = [row for name in options.tables.split(",") for row in TABLES[name]]
    if options.owners > 1:  # weir refuses it there: docs/cluster.md
        rows = [row for row in rows if not row.usage.startswith("PUBLISH ")]
    if options.shards:  # all have what one was told: docs/cluster.md
        compare.drift_ms = 5
        rows = [row for row in rows if not row.usage.startswith("SCRIPT LOAD ")]
    coverage = Coverage(rows)
    redis = redis_owners(options.owners) if options.cluster else redis_server()
    try:
        redis.start()
        alike = all(run(options, storage, commands, redis, coverage)
                    for storage, commands in zip(storages, commands_of(storages, options.commands)))
        return is_covered(options, coverage) and alike
    except CannotStart as reason:
        print(reason)
        return False
    finally:
        redis.stop()


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
