"""throttled-py on Redis: each of its five algorithms, sync and async (CLIENTS_MODE)."""

import importlib.metadata
import os
import time

import throttled
import throttled.asyncio
import throttled.exceptions
from limiters import (CALLERS, URL, again, crowd, expect, expect_between, expect_ttl, in_time,
                      need_durable, restart, run, scripts_kept, settle, stored, wait_until)

IS_SYNC = os.environ["CLIENTS_MODE"] == "sync"
half = throttled if IS_SYNC else throttled.asyncio
store = half.RedisStore(server=URL)
ALGORITHMS = ("fixed_window", "sliding_window", "token_bucket", "leaking_bucket", "gcra")
limits = {}


def limiter(algorithm, quota):
    """One throttle for each algorithm and quota, as an application holds it."""
    if (algorithm, quota) not in limits:
        limits[algorithm, quota] = half.Throttled(using=algorithm, quota=quota, store=store)
    return limits[algorithm, quota]


def ask(algorithm, quota, key, cost=1):
    return settle(limiter(algorithm, quota).limit(key, cost))


def admitted(algorithm, quota, key, count):
    return [not ask(algorithm, quota, key).limited for _ in range(count)]


def away_from_edge(seconds, need_s):
    """Fixed and sliding windows of this library begin at multiples of their length."""
    left = seconds - time.time() % seconds
    if left < need_s:
        time.sleep(left + 0.05)


def burst(algorithm):
    """10 in a minute; what comes back meanwhile is one in six seconds, so one more may be left."""
    def body(attempt):
        key = f"burst{attempt}"
        away_from_edge(60, 3)
        begin = time.time()
        results = [ask(algorithm, "10/m", key) for _ in range(4)]
        expect([result.limited for result in results], [False] * 4)
        expect([result.state.remaining for result in results], [9, 8, 7, 6], "remaining")
        expect({result.state.limit for result in results}, {10}, "limit")
        expect(ask(algorithm, "10/m", key, cost=3).state.remaining, 3, "remaining")
        expect(admitted(algorithm, "10/m", key, 5), [True] * 3 + [False] * 2)
        refused = ask(algorithm, "10/m", key)
        peeked = settle(limiter(algorithm, "10/m").peek(key))
        in_time(begin + 2)
        expect((refused.limited, refused.state.remaining, peeked.remaining), (True, 0, 0))
        expect_waits(algorithm, refused.state)
    return again(body)


def expect_waits(algorithm, state):
    """Buckets give one permit back every 6 s, windows all of them at their end."""
    if algorithm in ("fixed_window", "sliding_window"):
        edge = 60 - time.time() % 60
        expect_between(edge - 2, state.reset_after, 62, "reset_after")
        expect_between(edge - 2, state.retry_after, edge + 2, "retry_after")
    else:
        expect_between(57, state.reset_after, 60, "reset_after")
        expect_between(3, state.retry_after, 6, "retry_after")


def keys():
    found = stored()
    kinds = {"fixed_window": "string", "sliding_window": "string", "token_bucket": "hash",
             "leaking_bucket": "hash", "gcra": "string"}
    highest = {"fixed_window": 60, "sliding_window": 180, "token_bucket": 120,
               "leaking_bucket": 120, "gcra": 60}
    for algorithm, kind in kinds.items():
        mine = [key for key in found if key.startswith(f"throttled:v1:{algorithm}:burst")]
        expect({found[key] for key in mine}, {kind}, algorithm)
        seconds = highest[algorithm]
        expect_ttl(mine[-1], 1, seconds * 1000)
    expect(len([key for key in found if not key.startswith("throttled:v1:")]), 0, "other keys")


def window(attempt):
    """3 a second: two seconds later each algorithm grants three again, and no more than these."""
    def all_of_them():
        begin = time.time()
        got = {name: admitted(name, "3/s", f"window{attempt}", 4) for name in ALGORITHMS}
        in_time(begin + 0.28)
        return got

    edge = int(time.time()) + 1
    wanted = {name: [True] * 3 + [False] for name in ALGORITHMS}
    wait_until(edge + 0.02, 0.3)
    expect(all_of_them(), wanted)
    wait_until(edge + 2.05, 0.3)
    expect(all_of_them(), wanted, "two seconds later")


def concurrent(algorithm):
    """50 in ten minutes; the refill in between would be one in twelve seconds."""
    def body(attempt):
        away_from_edge(600, 5)
        mine = half.Throttled(using=algorithm, quota=throttled.per_hour(50), store=store)
        if IS_SYNC:
            results = crowd(lambda: mine.limit(f"crowd{attempt}"), 10)
        else:
            async def ask_one():
                return await mine.limit(f"crowd{attempt}")
            results = crowd(ask_one, 10)
        expect((len(results), sum(not result.limited for result in results)),
               (CALLERS * 10, 50), "asked and admitted")
    return again(body)


def restarted():
    away_from_edge(60, 8)
    for algorithm in ALGORITHMS:
        expect(admitted(algorithm, "10/h", "kept", 4), [True] * 4, algorithm)
    restart()
    for _ in range(CALLERS + 1):  # one error per broken connection is the client's way of telling
        try:
            return settle(limiter("gcra", "10/h").peek("kept"))
        except throttled.exceptions.StoreUnavailableError:
            pass
    raise AssertionError("still no connection")


def kept():
    need_durable()
    for algorithm in ALGORITHMS:
        expect(admitted(algorithm, "10/h", "kept", 7), [True] * 6 + [False], algorithm)


def digests():
    """Of all but the fixed window, which has no script."""
    for algorithm in ALGORITHMS[1:]:
        for action in limiter(algorithm, "10/h").limiter._atomic_actions.values():
            if hasattr(action, "_script"):
                yield str(action._script.sha)


run(importlib.metadata.version("throttled-py"),
    **{f"{name}_burst": burst(name) for name in ALGORITHMS}, stored=keys,
    window=again(window), **{f"{name}_concurrent": concurrent(name) for name in ALGORITHMS},
    restart=restarted, scripts_kept=lambda: scripts_kept(*digests())(), kept=kept)
