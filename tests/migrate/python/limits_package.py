"""The package limits, which Flask-Limiter and slowapi stand on, on both servers, beside RL.TAKE."""

import os

import limits
from limits.storage import RedisStorage
from limits.strategies import (FixedWindowRateLimiter, MovingWindowRateLimiter,
                               SlidingWindowCounterRateLimiter)

import lockstep
import report
from lockstep import ask, new_key


def storage(port):
    return RedisStorage(f"redis://127.0.0.1:{port}")


REDIS = storage(os.environ["MIGRATE_REDIS_PORT"])
WEIR = storage(report.PORT)


def library(strategy, store, key, item):
    limiter = strategy(store)
    return lambda cost: limiter.hit(item, key, cost=cost)


def limiters(strategy, text, line):
    item, key = limits.parse(text), new_key("limits")
    servers = {"Redis": REDIS, "weir": WEIR}
    return {**{f"limits on {name}": library(strategy, store, key, item)
               for name, store in servers.items()},
            "RL.TAKE": lambda cost: ask("RL.TAKE {key} {limit} COST {cost}", key=key + ":rl",
                                        limit=line, cost=cost)[0] == 1}


BURST = [(0, 1)] * 40
FIXED = [(0, 1)] * 7 + [(800, 1), (1150, 1)] + [(1500, 1)] * 5 + [(2050, 1), (2300, 1)]
MOVING = [(0, 2), (300, 2), (500, 2), (550, 1), (600, 1), (1150, 3), (1160, 2), (1450, 2),
          (1475, 1), (1700, 1), (1705, 1)]
# What is left of the first second's 10 is 4.4 at 1550 ms and 1.4 at 1850 ms. limits drops the
# fraction, so it is asked where that decides nothing.
COUNTED = [(0, 1)] * 12 + [(1550, 4), (1555, 3), (1850, 2), (1860, 5)]


def minute(strategy, algorithm):
    return lambda: limiters(strategy, "20/minute", f"{algorithm} 20/1m")


def second(strategy, count, algorithm):
    return lambda: limiters(strategy, f"{count}/second", f"{algorithm} {count}/1s")


report.say(f"version limits {limits.__version__}")
lockstep.check_same("fixed window, burst of 40", BURST,
                    minute(FixedWindowRateLimiter, "FIXED"), 5000)
lockstep.check_same("moving window, burst of 40", BURST,
                    minute(MovingWindowRateLimiter, "SLIDINGLOG"), 5000)
lockstep.check_same("fixed window", FIXED, second(FixedWindowRateLimiter, 5, "FIXED"), 60)
lockstep.check_same("moving window", MOVING, second(MovingWindowRateLimiter, 5, "SLIDINGLOG"), 60)
lockstep.check_same("sliding window counter", COUNTED,
                    second(SlidingWindowCounterRateLimiter, 10, "SLIDINGCOUNTER"), 70,
                    lambda: lockstep.at_fraction(0.005))
report.say("done")
