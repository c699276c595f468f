"""PyrateLimiter on Redis: its sorted-set log, its fixed window, its GCRA in a hash; sync and async.

CLIENTS_MODE is sync or async. The log's bucket keeps the hash of its script and never loads it
again, so it goes on after a restart only where scripts are kept.
"""

import os
import time

import pyrate_limiter
import redis
import redis.asyncio
from limiters import (CALLERS, HOST, IS_WEIR, PORT, PROTOCOL, Skip, again, bare, crowd, expect,
                      expect_between, expect_ttl, in_time, need_durable, restart, run,
                      scripts_kept, settle, stored, wait_until)
from pyrate_limiter import GCRA, FixedWindow, Limiter, Rate, RateItem, RedisBucket, StateBucket
from report import together

IS_SYNC = os.environ["CLIENTS_MODE"] == "sync"
client = (redis.Redis if IS_SYNC else redis.asyncio.Redis)(host=HOST, port=PORT, protocol=PROTOCOL)
MINUTE = 60_000
buckets = {}


def log(name, *rates, algorithm=None):
    return settle(RedisBucket.init(list(rates), client, name, algorithm=algorithm))


def gcra(name, *rates):
    store = pyrate_limiter.RedisStateStore(client, name)
    return StateBucket(list(rates), algorithm=GCRA(), store=store)


def acquirer(bucket):
    """acquire(weight), which never waits; a limiter without the thread that trims its log."""
    limiter = Limiter(pyrate_limiter.SingleBucketFactory(bucket, schedule_leak=False))
    if IS_SYNC:
        return lambda weight=1: limiter.try_acquire("item", weight=weight, blocking=False)

    async def acquire(weight=1):
        return await limiter.try_acquire_async("item", weight=weight, blocking=False)
    return acquire


def acquired(bucket, count, weight=1):
    acquire = acquirer(bucket)
    return [settle(acquire(weight)) for _ in range(count)]


def waiting(bucket, weight=1):
    """Milliseconds until so many would be admitted: what the last refusal said."""
    return settle(bucket.waiting(RateItem("item", bucket.now(), weight=weight)))


def log_burst():
    bucket = log("log", Rate(10, MINUTE))
    expect(acquired(bucket, 4), [True] * 4)
    expect(acquired(bucket, 1, weight=3), [True])
    expect(settle(bucket.count()), 7, "count()")
    expect(acquired(bucket, 5), [True] * 3 + [False] * 2)
    expect_between(59_000, waiting(bucket), MINUTE + 1, "waiting()")
    newest = settle(bucket.peek(0))
    expect_between(time.time() * 1000 - 2000, newest.timestamp, time.time() * 1000, "peek()")
    expect((stored(), bare.zcard("log"), bare.pttl("log")), ({"log": "zset"}, 10, -1))


def log_window(attempt):
    """Two rates: 3 in a second and 4 in two; the second one refuses the fifth."""
    bucket = log(f"window{attempt}", Rate(3, 1000), Rate(4, 2000))
    begin = time.time()
    expect(acquired(bucket, 4), [True] * 3 + [False])
    in_time(begin + 0.3)
    expect_between(600, waiting(bucket), 1001, "waiting()")
    wait_until(begin + 1.35, 0.3)
    expect(acquired(bucket, 2), [True, False], "in the next second")
    in_time(begin + 1.9)
    wait_until(begin + 2.6, 5)
    removed = settle(bucket.leak(int(time.time() * 1000)))
    expect((removed, settle(bucket.count())), (3, 1), "leaked and left")


def fixed_window(attempt):
    """Five in each second of the clock."""
    bucket = log(f"fixed{attempt}", Rate(5, 1000), algorithm=FixedWindow())
    edge = int(time.time()) + 1
    wait_until(edge + 0.05, 0.3)
    expect(acquired(bucket, 6), [True] * 5 + [False])
    in_time(edge + 0.7)
    left = (edge + 1) * 1000 - time.time() * 1000
    expect_between(left - 400, waiting(bucket), left + 700, "waiting()")
    wait_until(edge + 1.05, 0.5)
    expect(acquired(bucket, 6), [True] * 5 + [False], "in the next second")


def gcra_burst():
    bucket = gcra("gcra", Rate(10, MINUTE))
    expect(acquired(bucket, 4), [True] * 4)
    expect(acquired(bucket, 1, weight=3), [True])
    expect(settle(bucket.count()), 7, "count()")
    expect(acquired(bucket, 5), [True] * 3 + [False] * 2)
    expect_between(4_000, waiting(bucket), 6_000, "waiting()")
    expect((bare.type("gcra"), bare.hkeys("gcra")), ("hash", ["tat1"]))
    expect_between(time.time() + 57, int(bare.hget("gcra", "tat1")) / 1e6, time.time() + 60)
    expect_ttl("gcra", 2 * MINUTE - 3000, 2 * MINUTE)


def gcra_refill(attempt):
    """5 a second with a burst of 2: one comes back every 200 ms."""
    bucket = gcra(f"refill{attempt}", Rate(5, 1000, burst=2))
    begin = time.time()
    first = acquired(bucket, 3)
    in_time(begin + 0.15)
    expect(first, [True, True, False])
    wait_until(begin + 0.65, 0.5)
    expect(acquired(bucket, 3)[:2], [True, True], "half a second later")


def concurrent(bucket, late_max=0):
    """Each caller has a limiter of its own, as processes have: one limiter's lock refuses, too.

    The log counts up to the caller's own instant, so a request that others overtook does not see
    theirs: one of each other caller may come on top, on whatever server.
    """
    def body():
        if IS_SYNC:
            callers = [acquirer(bucket()) for _ in range(CALLERS)]

            def ten_times():
                acquire = callers.pop()
                return [acquire() for _ in range(10)]
            admitted = sum(together(ten_times), [])
        else:
            admitted = crowd(acquirer(bucket()), 10)
        expect(len(admitted), CALLERS * 10, "asked")
        expect_between(50, sum(admitted), 50 + late_max, "admitted")
    return body


def large_weight():
    """One ZADD has 1000 members, so this one takes three."""
    bucket = log("large", Rate(2500, MINUTE))
    expect(acquired(bucket, 1, weight=2500), [True])
    expect((bare.zcard("large"), acquired(bucket, 1)), (2500, [False]))


def restarted():
    for name, make in (("kept:log", log), ("kept:gcra", gcra)):
        buckets[name] = make(name, Rate(10, MINUTE))
        expect(acquired(buckets[name], 4), [True] * 4)
    restart()


def goes_on():
    """The old bucket, which has its script's hash alone."""
    need_durable()
    if not IS_WEIR:
        raise Skip("after a restart of Redis this library's EVALSHA fails until it is started anew")
    expect(acquired(buckets["kept:log"], 2), [True] * 2)
    settle(buckets["kept:log"].flush())
    expect(acquired(buckets["kept:log"], 4), [True] * 4)


def kept():
    need_durable()
    expect(acquired(log("kept:log", Rate(10, MINUTE)), 7), [True] * 6 + [False])
    expect(acquired(buckets["kept:gcra"], 7), [True] * 6 + [False])


run(pyrate_limiter.__version__, log_burst=log_burst, log_window=again(log_window),
    fixed_window=again(fixed_window), gcra_burst=gcra_burst, gcra_refill=again(gcra_refill),
    log_concurrent=concurrent(lambda: log("crowd:log", Rate(50, MINUTE)),
                              CALLERS - 1 if IS_SYNC else 0),
    gcra_concurrent=concurrent(lambda: gcra("crowd:gcra", Rate(50, MINUTE))),
    large_weight=large_weight, restart=restarted,
    scripts_kept=lambda: scripts_kept(buckets["kept:log"].script_hash)(), goes_on=goes_on,
    kept=kept)
