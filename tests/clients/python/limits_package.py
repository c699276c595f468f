"""The package limits, which Flask-Limiter and slowapi stand on: each strategy, sync and async.

CLIENTS_MODE is sync, or which client its async half is to speak through: redispy or coredis.
"""

import os
import time

import limits
import limits.aio.strategies
import limits.storage
import limits.strategies
from limiters import (CALLERS, IS_CLUSTER, PORT, PROTOCOL, URL, again, bare, crowd, expect,
                      expect_between, expect_ttl, in_time, need_durable, restart, run,
                      scripts_kept, settle, stored, wait_until)

MODE = os.environ["CLIENTS_MODE"]


def open_storage():
    if IS_CLUSTER:
        scheme = "redis+cluster" if MODE == "sync" else "async+redis+cluster"
        more = {} if MODE == "sync" else {"implementation": MODE}
        return limits.storage.storage_from_string(f"{scheme}://127.0.0.1:{PORT}",
                                                  protocol=PROTOCOL, **more)
    if MODE == "sync":
        return limits.storage.storage_from_string(URL)
    if MODE == "redispy":
        return limits.storage.storage_from_string(f"async+{URL}", implementation="redispy")
    return limits.storage.storage_from_string(f"async+redis://127.0.0.1:{PORT}/0",
                                              protocol_version=PROTOCOL)


storage = open_storage()
half = limits.strategies if MODE == "sync" else limits.aio.strategies
STRATEGIES = {"fixed": half.FixedWindowRateLimiter(storage),
              "moving": half.MovingWindowRateLimiter(storage),
              "sliding": half.SlidingWindowCounterRateLimiter(storage)}
MINUTE, SECOND = limits.parse("10/minute"), limits.parse("5/second")
CROWDED = limits.parse("50/minute")


def hits(strategy, item, who, count, cost=1):
    """Whether each of them was admitted; two strategies would share a key of one name."""
    return [settle(STRATEGIES[strategy].hit(item, strategy, who, cost=cost))
            for _ in range(count)]


def left(strategy, item, who):
    return settle(STRATEGIES[strategy].get_window_stats(item, strategy, who)).remaining


def burst(strategy):
    def body():
        expect(hits(strategy, MINUTE, "burst", 4), [True] * 4)
        expect(left(strategy, MINUTE, "burst"), 6, "remaining")
        expect(hits(strategy, MINUTE, "burst", 1, cost=3), [True])
        expect(hits(strategy, MINUTE, "burst", 6), [True] * 3 + [False] * 3)
        expect(left(strategy, MINUTE, "burst"), 0, "remaining")
        expect(settle(STRATEGIES[strategy].test(MINUTE, strategy, "burst")), False, "test()")
        expect(settle(STRATEGIES[strategy].test(MINUTE, strategy, "other")), True, "test() of another")
        reset = settle(STRATEGIES[strategy].get_window_stats(MINUTE, strategy, "burst")).reset_time
        expect_between(time.time() + 55, reset, time.time() + 61, "reset_time")
    return body


def fixed_stored():
    key = "LIMITS:LIMITER/fixed/burst/10/1/minute"
    expect(stored().get(key), "string")
    expect(bare.get(key), "13")  # a refused hit is counted, too
    expect_ttl(key, 50_000, 60_000)


def moving_stored():
    before = time.time()
    expect(hits("moving", MINUTE, "list", 2, cost=2), [True] * 2)
    key = "LIMITS:LIMITER/moving/list/10/1/minute"
    expect(stored().get(key), "list")
    instants = bare.lrange(key, 0, -1)
    expect(len(instants), 4)
    for instant in instants:  # a double that lost no digit on its way
        expect_between(before, float(instant), time.time(), "a stored instant")
    expect_ttl(key, 59_000, 60_000)


def sliding_stored():
    key = "LIMITS:{LIMITER/sliding/burst/10/1/minute}"
    expect((stored().get(key), bare.get(key)), ("string", "10"))
    expect_ttl(key, 110_000, 120_000)


def window(attempt):
    who = f"window{attempt}"
    begin = time.time()
    first = {strategy: hits(strategy, SECOND, who, 6) for strategy in STRATEGIES}
    in_time(begin + 0.6)
    wait_until(begin + 2.7, 0.8)
    second = {strategy: hits(strategy, SECOND, who, 6) for strategy in STRATEGIES}
    in_time(begin + 3.5)
    wanted = {strategy: [True] * 5 + [False] for strategy in STRATEGIES}
    expect(first, wanted)
    expect(second, wanted, "after the window")


def half_a_window(attempt):
    """5 a second, used up, count for 5 * (2 - 1.5) = 2.5, cut to 2, one and a half seconds later."""
    who = f"half{attempt}"
    begin = time.time()
    expect(hits("sliding", SECOND, who, 5), [True] * 5)
    in_time(begin + 0.05)
    wait_until(begin + 1.5, 0.05)
    admitted = hits("sliding", SECOND, who, 5)
    in_time(begin + 1.58)
    expect(admitted, [True] * 3 + [False] * 2)
    key = f"LIMITS:{{LIMITER/sliding/{who}/5/1/second}}"
    expect((bare.get(key + "/-1"), bare.get(key)), ("5", "3"))


def concurrent(strategy):
    def body():
        limiter = STRATEGIES[strategy]
        if MODE == "sync":
            admitted = crowd(lambda: limiter.hit(CROWDED, strategy, "crowd"), 10)
        else:
            async def hit():
                return await limiter.hit(CROWDED, strategy, "crowd")
            admitted = crowd(hit, 10)
        expect((len(admitted), sum(admitted)), (CALLERS * 10, 50), "asked and admitted")
        expect(left(strategy, CROWDED, "crowd"), 0, "remaining")
    return body


def large_cost():
    """One hit of 6000 is pushed by one script in pieces of 5000 values."""
    item = limits.parse("6000/minute")
    expect(hits("moving", item, "large", 1, cost=6000), [True])
    expect(bare.llen("LIMITS:LIMITER/moving/large/6000/1/minute"), 6000)
    expect(hits("moving", item, "large", 1), [False])


def clear():
    settle(STRATEGIES["moving"].clear(MINUTE, "moving", "list"))
    expect(left("moving", MINUTE, "list"), 10)
    bare.set("other", "x")
    found = [key for key in stored() if key.startswith("LIMITS:")]
    expect(settle(storage.reset()), len(found), "keys removed")
    expect(stored(), {"other": "string"})


def restarted():
    for strategy in STRATEGIES:
        expect(hits(strategy, MINUTE, "kept", 4), [True] * 4)
    restart()
    for _ in range(3):
        if settle(storage.check()):
            return
    raise AssertionError("the library does not find the server again")


def kept():
    need_durable()
    for strategy in STRATEGIES:
        expect(left(strategy, MINUTE, "kept"), 6, f"{strategy}: remaining")
        expect(hits(strategy, MINUTE, "kept", 7), [True] * 6 + [False], strategy)


def digests():
    source = storage if MODE == "sync" else storage.bridge
    names = ["moving_window", "acquire_moving_window", "sliding_window", "acquire_sliding_window",
             "clear_keys"]
    return [str(getattr(source, f"lua_{name}").sha) for name in names]


run(limits.__version__,
    **{f"{name}_burst": burst(name) for name in STRATEGIES},
    fixed_stored=fixed_stored, moving_stored=moving_stored, sliding_stored=sliding_stored,
    window=again(window), sliding_half=again(half_a_window),
    **{f"{name}_concurrent": concurrent(name) for name in STRATEGIES},
    large_cost=large_cost, clear=clear, restart=restarted,
    scripts_kept=lambda: scripts_kept(*digests())(), kept=kept)
