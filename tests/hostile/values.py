"""What is stored: values that a few bytes make large, and more keys than memory holds."""

import os
import random
import time

from attacks import attack, filled
from harness import encode

LARGEST = (256 << 20) - 1  # the last byte that SETRANGE may set


@attack
def setrange(arena):
    """Forty SETRANGEs far into strings, in one pipeline of 1.7 KB."""
    arena.start()
    last = arena.size(64 << 20, LARGEST)
    client = arena.connect()
    with arena.bystander():
        client.send(b"".join(encode("SETRANGE", f"k{i}", last, "x") for i in range(60)))
        arena.watch(arena.size(3, 15))
        arena.settle()


@attack
def script_setrange(arena):
    """The same from inside a script."""
    arena.start()
    last = arena.size(64 << 20, LARGEST)
    client = arena.connect()
    with arena.bystander():
        client.request("EVAL", "for i = 1, 100 do"
                               f" redis.call('SETRANGE', 'k' .. i, {last}, 'x') end", 0)
        arena.watch(arena.size(3, 20))
        arena.settle()


@attack
def script_sets(arena):
    """A script that sets keys of 1 MB until its time is over."""
    arena.start(script_time_limit_ms=arena.size(2000, 5000))
    client = arena.connect()
    with arena.bystander():
        client.request("EVAL", "local x = string.rep('x', 1000000)"
                               " for i = 1, 1e9 do redis.call('SET', 'k' .. i, x) end", 0)
        arena.watch(arena.size(3, 15))
        arena.settle()


@attack
def policies(arena):
    """Policies with long names, as many as +@ratelimitadmin may make; they are never evicted."""
    arena.start()
    client = arena.connect("limits")
    limits = [word for i in range(16)
              for word in ("GCRA", f"999999/{100001 + i}ms", "BURST", 99999999)]
    count = arena.size(10_000, 1_000_000)
    with arena.bystander():
        for requests in filled(count, 1000, lambda begin, end: [
                ("RL.POLICY", "SET", "%0100d" % i, *limits) for i in range(begin, end)]):
            client.pipeline(requests)
            if arena.memory() > arena.memory_mb or time.monotonic() > arena.ends_at - 2:
                break
        client.request("RL.POLICY", "LIST")
        arena.settle()


@attack
def tokens(arena):
    """Requests with an ID each: all of them are remembered for a minute."""
    arena.start()
    client = arena.connect("limits")
    with arena.bystander():
        for requests in filled(arena.size(30_000, 400_000), 2000, lambda begin, end: [
                ("RL.TAKE", f"k{i}", "FIXED", "5/1h", "ID", "%064d" % i)
                for i in range(begin, end)]):
            client.pipeline(requests)


@attack
def key_flood(arena):
    """A new limiter with every request, far more than memory holds."""
    arena.start(maxmemory=f"{arena.size(16, 64)}mb", block_cache_size="8mb")
    arena.memory_mb = arena.size(16, 64) + 8 + 150
    client = arena.connect()
    with arena.bystander():
        for requests in filled(arena.size(80_000, 3_000_000), 4000, lambda begin, end: [
                ("CL.THROTTLE", "user:%012d" % i, 15, 30, 2_592_000) for i in range(begin, end)]):
            client.pipeline(requests)


@attack
def overwritten(arena):
    """The same keys are written over and over; the disk must not grow with it."""
    arena.start(maxmemory="64mb")
    rng = random.Random(1)
    value = os.urandom(4000)
    client = arena.connect()
    end = time.monotonic() + arena.size(3, 40)
    disk_mb = 0
    with arena.bystander():
        while time.monotonic() < end:
            client.pipeline([("SET", f"k{rng.randrange(20_000)}", value) for _ in range(500)])
            disk_mb = max(disk_mb, disk_use_mb(arena.server.data))
    arena.expect(disk_mb < 1000, f"80 MB of values took {disk_mb} MB of disk")


def disk_use_mb(folder):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.path.getsize(os.path.join(path, name))
            except FileNotFoundError:
                pass
    return total >> 20


@attack
def large_union(arena):
    """Set algebra over a large sorted set: long by its size, and no attack on anything else."""
    arena.start()
    client = arena.connect()
    for requests in filled(arena.size(50_000, 1_000_000), 5000, lambda begin, end: [
            ("ZADD", "z", *[word for i in range(begin, end) for word in (i, f"m{i}")])]):
        client.pipeline(requests)
    arena.memory_mb += arena.size(0, 1500)
    with arena.bystander():
        client.call("ZUNIONSTORE", "d", 2, "z", "z")
        client.call("KEYS", "*")
        client.call("DEL", "d", "z")


@attack
def save_large(arena):
    """BGSAVE and SAVE of much data."""
    arena.start()
    value = os.urandom(1000)
    client = arena.connect()
    for requests in filled(arena.size(20_000, 200_000), 2000, lambda begin, end: [
            ("SET", f"k{i}", value) for i in range(begin, end)]):
        client.pipeline(requests)
    with arena.bystander():
        client.call("BGSAVE")
        arena.watch(arena.size(0.5, 4))
        client.call("SAVE")
