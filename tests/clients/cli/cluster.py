"""redis-cli -c, redis-cli --cluster check and call, redis-benchmark --cluster."""

import csv
import os
import re
import subprocess

from report import (PORT, PROTOCOL, Skip, check, expect, need_durable, need_weir,
                    restart_server, say)

OWNERS = int(os.environ["CLIENTS_OWNERS"])
# The members of a shard stand in one owner's place.
NODES = OWNERS - 1 + len(os.environ.get("CLIENTS_MEMBERS", "one").split(","))
CLI = ["redis-cli", "-c", "-p", str(PORT), *(["-3"] if PROTOCOL == 3 else [])]
REQUESTS = 16_000
with open(os.environ["CLIENTS_KEYS"], encoding="ascii") as file:
    KEYS = file.read().split()  # of each slot


def run(*words, stdin=None, status=0):
    done = subprocess.run(words, input=stdin, capture_output=True, timeout=60, check=False,
                          text=True)
    expect((done.returncode, done.stderr if status == 0 else ""), (status, ""),
           f"{done.stdout[:200]}: status and complaints")
    return done.stdout


def cli(*words, **options):
    return run(*CLI, *words, **options)


def follows():
    """It goes to the owner of each key, in both directions."""
    for slot in range(0, 16384, 1000):
        expect(cli("SET", KEYS[slot], str(slot)), "OK\n")
    text = "".join(f"GET {KEYS[slot]}\n" for slot in (*range(0, 16384, 1000), 0))
    replies = [line for line in cli(stdin=text).split("\n") if line and "->" not in line]
    expect([int(line.strip('"')) for line in replies], [*range(0, 16384, 1000), 0])


def moved():
    if OWNERS == 1:
        raise Skip("a single owner has nobody to give a slot to")
    say("move 7")
    input()
    expect(cli("SET", KEYS[7], "moved"), "OK\n")
    expect(cli("GET", KEYS[7]), "moved\n")


def multi():
    """It forgets a transaction where it is led elsewhere, so this is at the first owner."""
    tag = "{%s}" % KEYS[0]
    lines = cli(stdin=f"MULTI\nINCR {tag}a\nINCR {tag}b\nEXEC\n").split("\n")
    expect(lines[:3] + re.findall(r"\d+$", "\n".join(lines), re.M)[-2:],
           ["OK", "QUEUED", "QUEUED", "1", "1"])


def cluster_check():
    text = run("redis-cli", "--cluster", "check", f"127.0.0.1:{PORT}")
    expect("[OK] All 16384 slots covered." in text and "[OK] All nodes agree" in text, True, text)
    expect(len(re.findall(r"M: [0-9a-f]{40}", text)), OWNERS, "masters")
    expect("[WARNING]" in text or "[ERR]" in text, False, text)


def cluster_info_and_call():
    expect(f"in {OWNERS} masters" in run("redis-cli", "--cluster", "info", f"127.0.0.1:{PORT}"),
           True)
    text = run("redis-cli", "--cluster", "call", f"127.0.0.1:{PORT}", "PING")
    expect(text.count("PONG"), NODES, text)


def limiter():
    need_weir()
    replies = [cli("CL.THROTTLE", f"user:{user}", "1", "1", "3600").split("\n")[0]
               for user in range(5) for _ in range(3)]
    expect(replies.count("0"), 10, "admitted")


def benchmark():
    if OWNERS == 1:
        raise Skip("redis-benchmark refuses a cluster of one node")
    done = run("redis-benchmark", "-p", str(PORT), "--cluster", "--csv", "-q", "-n", str(REQUESTS),
               "-t", "set,get,incr", "-P", "16", "-r", "1000")
    rows = [row for row in csv.reader(done.splitlines()) if row and row[0] in ("SET", "GET", "INCR")]
    expect([row[0] for row in rows], ["SET", "GET", "INCR"], done[:500])


def restart():
    cli("SET", KEYS[5], "kept")
    restart_server()
    expect(cli("SET", KEYS[16383], "x"), "OK\n")


def data_kept():
    need_durable()
    expect(cli("GET", KEYS[5]), "kept\n")


say("version " + run("redis-cli", "--version").split()[1])
for body in (moved, cluster_check, follows, multi, cluster_info_and_call, limiter, benchmark,
             restart, data_kept):
    check(body.__name__.replace("_", "-"), body)
say("done")
