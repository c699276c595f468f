#!/usr/bin/env python3
"""Writes the seeds of restore_fuzz: a body in each form of a dump.

    tests/fuzz/restore_corpus.py WEIR_SERVER      into corpus/restore beside this file
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "differential"))

import rdb_forms  # noqa: E402
from servers import weir_server  # noqa: E402

FOOTER_BYTES = 10
TEXTS = [b"a", b"12", b"-300", b"", b"x" * 70, b"9223372036854775807"]
PAIRS = [(text, b"v" + text[:3]) for text in TEXTS]
SCORES = [(b"a", -1.0), (b"12", 0.5), (b"b", 0.5), (b"z", float("inf"))]
LIMITERS = {
    "single": ["RL.TAKE k GCRA 10/1m BURST 3"],
    "log": ["RL.TAKE k SLIDINGLOG 10/1m COST 3"],
    "window": ["RL.TAKE k SLIDINGWINDOW 10/1m GCRA 20/1h FIXED 30/1d COST 2"],
    "leases": ["RL.TAKE k CONCURRENCY 3 LEASE 1m", "RL.TAKE k CONCURRENCY 3 LEASE 1m"],
    "booked": ["RL.RESERVE k GCRA 1/1s COST 1", "RL.RESERVE k GCRA 1/1s COST 1"],
    "buckets": ["RL.TAKE k TOKENBUCKET 5/1s LEAKY 5/1s BURSTY 5/1s WARMUP 5/1s OVER 1s SLIDINGCOUNTER 5/1s"],
}


def bodies():
    groups = {"string": [*rdb_forms.strings(b"aaaaaaaaaa"), *rdb_forms.strings(b"-300")],
              "list": rdb_forms.lists(TEXTS), "hash": rdb_forms.hashes(PAIRS),
              "set": [*rdb_forms.sets(TEXTS), *rdb_forms.sets([b"5", b"-70000"]), rdb_forms.listpack_set(TEXTS)],
              "zset": rdb_forms.zsets(SCORES)}
    for name, forms in groups.items():
        for number, body in enumerate(forms):
            yield f"{name}_{number}", body


def limiters(program):
    server = weir_server(program, ["--storage", "memory"])
    server.start()
    connection = server.connect()
    for name, lines in LIMITERS.items():
        connection.command("FLUSHALL")
        for line in lines:
            connection.command(*line.split())
        yield f"limiter_{name}", connection.command("DUMP", "k")[:-FOOTER_BYTES]
    server.stop()


def main():
    folder = HERE / "corpus" / "restore"
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in [*bodies(), *limiters(sys.argv[1])]:
        (folder / name).write_bytes(body)


if __name__ == "__main__":
    main()
