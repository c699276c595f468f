"""What is left of calls while weir comes and goes: no lease, no connection, no thread, no memory.

    python -m tests.long_leaks --seconds 3600
"""

import argparse
import asyncio
import contextlib
import gc
import os
import random
import threading
import time
import unittest

from weir import Denied, Limiter, Weir, aio

from .weirs import WeirServer, renewals, wait_until

SECONDS = float(os.environ.get("WEIR_LEAKS_SECONDS", "120"))
WARM_S = 20.0
THREADS, TASKS = 4, 4
KEYS_MAX = 500
LEASE_S = 6
SLOTS = 6
THERE_S, AWAY_S = 8.0, 2.0
LIMITS = {"takes": "FIXED 100/10s", "tokens": "GCRA 1000/1s", "pool": f"CONCURRENCY {SLOTS} LEASE {LEASE_S}s", "turns": "GCRA 50/1s"}
# What there is from the first, and what more than at a first look a second one may find, after a time many times as long.
MOST = {"leases": 0, "keys": KEYS_MAX}
MORE = {"leases": 0, "connections": 2, "threads": 2, "files": 4, "keys": 0, "objects": 3000, "memory_kb": 12_000}


def limiters(kind, weir):
    return {name: kind(weir, limits, processes=1, keys_max=KEYS_MAX) for name, limits in LIMITS.items()}


def call(of):
    """A call at random, in full."""
    key = f"k{random.randrange(4 * KEYS_MAX)}"
    with contextlib.suppress(Denied):
        match random.randrange(6):
            case 0:
                with of["tokens"].hold(key, 10) as hold:
                    hold.used = 3
            case 1:
                with of["pool"].lease("pool"):
                    time.sleep(random.random() * 2)
            case 2:
                with of["pool"].lease("pool", timeout=0.5):
                    time.sleep(0.05)
            case 3:
                of["turns"].acquire("turns", 0.3)
            case 4:
                of["turns"].cancel("turns", of["turns"].reserve("turns"))
            case _:
                of["takes"].take(key)
    time.sleep(0.01)


async def call_async(of):
    key = f"k{random.randrange(4 * KEYS_MAX)}"
    with contextlib.suppress(Denied, TimeoutError):
        match random.randrange(5):
            case 0:
                async with of["tokens"].hold(key, 10) as hold:
                    hold.used = 3
            case 1:
                async with of["pool"].lease("pool", timeout=0.5):
                    await asyncio.sleep(random.random() * 2)
            case 2:
                await of["turns"].acquire("turns", 0.3)
            case 3:  # given up
                await asyncio.wait_for(of["turns"].acquire("turns", 0.3), 0.02)
            case _:
                await of["takes"].take(key)
    await asyncio.sleep(0.01)


class Work:
    """Threads and a loop that call until the end, while the server is killed and started."""

    def __init__(self, server, of):
        self.server, self.of, self.calls, self.failures = server, of, 0, []

    def until(self, end):
        workers = [threading.Thread(target=self._work, args=(end,)) for _ in range(THREADS)]
        workers.append(threading.Thread(target=lambda: asyncio.run(self._loop(end))))
        for worker in workers:
            worker.start()
        while time.monotonic() < end:
            time.sleep(THERE_S)
            self.server.kill()
            time.sleep(AWAY_S)
            self.server.start()
        for worker in workers:
            worker.join()

    def _work(self, end):
        try:
            while time.monotonic() < end:
                call(self.of)
                self.calls += 1
        except Exception as error:  # what is raised is the program's fault
            self.failures.append(repr(error))

    async def _loop(self, end):
        async with aio.Weir(self.server.url) as weir:
            of = limiters(aio.Limiter, weir)
            await asyncio.gather(*(self._task(of, end) for _ in range(TASKS)))

    async def _task(self, of, end):
        try:
            while time.monotonic() < end:
                await call_async(of)
                self.calls += 1
        except Exception as error:
            self.failures.append(repr(error))


def memory_kb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def figures(server, of):
    """When everybody rests, leases that nobody renews have ended, and weir is back for each limiter."""
    for limiter in of.values():
        wait_until(lambda limiter=limiter: limiter.take("rest").source == "weir", "weir is back", pause_s=0.05)
    time.sleep(LEASE_S + 1)
    before = renewals(server)
    time.sleep(LEASE_S)
    left = server.call("RL.PEEK", "pool", *LIMITS["pool"].split(), "COST", "0")[2]
    gc.collect()
    return {"leases": SLOTS - left + renewals(server) - before,
            "connections": server.call("CLIENT", "LIST").count(b"id="),
            "threads": threading.active_count(), "files": len(os.listdir("/proc/self/fd")),
            "keys": max(limiter.state().keys for limiter in of.values()),
            "objects": len(gc.get_objects()), "memory_kb": memory_kb()}


def measure(seconds):
    """(figures after a while, figures at the end, calls, what was raised)"""
    with WeirServer() as server, Weir(server.url) as weir:
        of = limiters(Limiter, weir)
        work = Work(server, of)
        work.until(time.monotonic() + WARM_S)
        first = figures(server, of)
        work.until(time.monotonic() + seconds)
        return first, figures(server, of), work.calls, work.failures


class Leaks(unittest.TestCase):
    def test_nothing_is_left(self):
        first, last, calls, failures = measure(SECONDS)
        told = f"{calls} calls in {SECONDS:.0f} s: {first} became {last}"
        print(told, flush=True)
        self.assertEqual(failures, [])
        self.assertEqual([name for name, more in MORE.items() if last[name] > MOST.get(name, first[name]) + more], [], told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=SECONDS)
    SECONDS = parser.parse_args().seconds
    unittest.main(argv=["leaks"])
