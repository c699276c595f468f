#!/usr/bin/env python3
"""Makes a stored data directory of the server as it is now.

    tests/formats/make_directory.py CLOCKED_SERVER tests/formats/stored/NAME

CLOCKED_SERVER is build/release/tests/differential/clocked_server. The directory is left as kill -9
leaves it: the state has files, the log has turns that are not in them, and nothing was closed.
Beside the packed directory stand reads.jsonl, each request with the reply that was given before the
kill, and facts.json, the instant of the clock and the ids that were handed out.
"""

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import directory
import filling
from directory import harness

BEGIN_MS = 1_700_000_000_000
BETWEEN_MS = 5_000
STEPS = 20  # of 100 ms: a write-back may be followed by a turn that corrects a counter, and so by another


def metric(client, name):
    for line in client.call("INFO", "everything").decode().splitlines():
        if line.startswith(name + ":"):
            return int(line.split(":")[1])
    raise AssertionError(f"INFO has no {name}")


def bookings(client, key):
    reply = client.call("RL.INFO", key)
    return reply[reply.index(b"bookings") + 1]


def fill(server, clock, facts):
    """Answers the connection that waits, so that it stays open until the kill."""
    with server.connect() as client:
        for before, _ in filling.KINDS:
            before(client, facts)
        client.call("CONFIG", "SET", "write-back-interval-ms", "100")
        clock.advance(BETWEEN_MS - STEPS * 100)
        for _ in range(STEPS):
            clock.advance(100)
            time.sleep(0.1)
        harness.wait_until(lambda: metric(client, "unwritten_entries") == 0, "the write-back")
        client.call("CONFIG", "SET", "write-back-interval-ms", "3600000")
        written = metric(client, "written_back_turn")
        for _, after in filling.KINDS:
            after(client, facts)
        waiting = server.connect()
        filling.depart(waiting, facts)
        harness.wait_until(lambda: bookings(client, "funnel") == 2, "the departure is booked")
        # RL.ACQUIRE does not tell the id under which it is booked. Here ids go up one by one.
        facts["departure"] = filling.reserve(client, "last", filling.BOOKED, 1) - 1
        if metric(client, "written_back_turn") != written or not metric(client, "unwritten_entries"):
            raise AssertionError("the log has nothing that the state has not")
    return waiting


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    harness.executable = str(Path(sys.argv[1]).resolve())
    os.environ["COUNT_IDS"] = "1"
    target = Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="weir-formats-") as folder:
        clock = directory.Clock(Path(folder) / "clock", BEGIN_MS)
        facts = {"now_ms": BEGIN_MS, "charges": 1}  # bookings keep what was charged, and when
        server = harness.Server(folder, durability="always", write_back_interval_ms=3600000).start()
        try:
            waiting = fill(server, clock, facts)
            replies = directory.ask_all(server, filling.reads())
        finally:
            server.stop(signal.SIGKILL)
        waiting.close()  # before the kill this would have given the departure back
        facts["now_ms"] = clock.now_ms
        directory.pack(server.data, target / directory.ARCHIVE)
    directory.write_reads(target / directory.READS, filling.reads(), replies)
    (target / directory.FACTS).write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
    print(f"{len(replies)} reads, {(target / directory.ARCHIVE).stat().st_size} bytes")


if __name__ == "__main__":
    main()
