"""redis-benchmark: every test it is asked for ends, and the server's counters say it all arrived."""

import csv
import os
import subprocess

from report import (PORT, PROTOCOL, check, expect, expect_between, need_durable, need_weir,
                    restart_server, say)

TOOL = os.environ["CLIENTS_TOOL"]
BASE = [TOOL, "-p", str(PORT), *(["-3"] if PROTOCOL == 3 else [])]
REQUESTS = 16_000  # a multiple of the pipeline, which it rounds up to
TESTS = ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"]


def ask(*words):
    return subprocess.run(["redis-cli", "-p", str(PORT), *words], capture_output=True, check=True,
                          text=True, timeout=30).stdout.strip()


def bench(*words):
    """The rows of its table; it says WARNING when a start-up question was not answered."""
    done = subprocess.run([*BASE, "--csv", "-n", str(REQUESTS), *words], capture_output=True,
                          text=True, timeout=60, check=False)
    expect((done.returncode, done.stderr), (0, ""), "status and complaints")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    for row in rows:
        expect_between(1, float(row["rps"]), 1e9, "requests per second")
    return [row["test"] for row in rows]


def standard_tests():
    expect(bench("-t", "ping,set,get,incr,mset", "-P", "16", "-c", "50"), TESTS)
    expect(ask("GET", "counter:__rand_int__"), str(REQUESTS), "counted")


def random_keys():
    expect(bench("-t", "set,incr", "-P", "16", "-r", "1000", "-d", "1000"), ["SET", "INCR"])
    expect_between(1000, int(ask("DBSIZE")), 2010, "keys")


def without_pipeline():
    expect(bench("-t", "ping_mbulk,get", "-c", "200"), ["PING_MBULK", "GET"])


def threads():
    expect(bench("-t", "set", "--threads", "2", "-P", "64"), ["SET"])


def throttle():
    need_weir()
    bench("-P", "16", "CL.THROTTLE", "crowd", "99", "1", "3600")
    expect(ask("CL.THROTTLE", "crowd", "99", "1", "3600", "0").split()[:3], ["0", "100", "0"])


def restart():
    restart_server()
    expect(bench("-t", "incr", "-P", "16"), ["INCR"])


def data_kept():
    need_durable()
    expect(ask("GET", "counter:__rand_int__"), str(2 * REQUESTS), "counted")


say("version " + subprocess.run([TOOL, "--version"], capture_output=True, check=True,
                                text=True).stdout.split()[1])
for body in (standard_tests, random_keys, without_pipeline, threads, throttle, restart, data_kept):
    check(body.__name__.replace("_", "-"), body)
say("done")
