"""What takes its time: leases that renew themselves by the clock, and waits longer than any time-out of redis-py."""

import asyncio
import time
import unittest

from weir import Limiter, Weir, aio

from .timing import PATIENT_S
from .weirs import WeirServer, wait_until

LONGER_S = 7  # than the 5 s after which redis-py gives up reading by itself
SHORT = "CONCURRENCY 1 LEASE 6s"


class Leases(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.weir = Weir(self.server.url, deadline=PATIENT_S)
        self.addCleanup(self.weir.close)

    def test_renewed_by_the_clock(self):
        limiter = Limiter(self.weir, SHORT)
        with limiter.lease("pool") as lease:
            time.sleep(15)
            self.assertFalse(lease.lost.is_set())
            self.assertFalse(limiter.take("pool"))
        self.assertTrue(limiter.peek("pool"))

    def test_renewed_by_the_clock_in_asyncio(self):
        async def hold():
            async with aio.Weir(self.server.url, deadline=PATIENT_S) as weir:
                limiter = aio.Limiter(weir, SHORT)
                async with limiter.lease("pool") as lease:
                    await asyncio.sleep(15)
                    self.assertFalse(lease.lost.is_set())
                    self.assertFalse(await limiter.take("pool"))
        asyncio.run(hold())

    def test_outlives_a_restart(self):
        limiter = Limiter(self.weir, "CONCURRENCY 2 LEASE 12s", processes=2)
        with limiter.lease("pool") as lease:
            self.server.kill()
            time.sleep(5)  # a renewal fails
            self.assertFalse(lease.lost.is_set())
            self.server.start()
            wait_until(lambda: not limiter.state().away or limiter.take("other") and None, "weir is back", pause_s=0.05)
            time.sleep(10)  # beyond the first end
            self.assertFalse(lease.lost.is_set())
            self.assertEqual(self.server.call("RL.PEEK", "pool", "CONCURRENCY", "2", "LEASE", "12s")[2], 0)


class Waits(unittest.TestCase):
    def test_a_long_turn(self):
        limits = f"GCRA 1/{LONGER_S}s BURST 0"
        with WeirServer() as server, Weir(server.url, retries=0) as weir:
            limiter = Limiter(weir, limits)
            wait_until(lambda: limiter.take("k").source == "weir", "weir answers")
            self.assertEqual(limiter.acquire("k", PATIENT_S).source, "weir")
            self.assertEqual(limiter.acquire("k", PATIENT_S).source, "weir", "and on the same connection")

    def test_a_long_turn_in_asyncio(self):
        async def wait(server):
            async with aio.Weir(server.url, retries=0) as weir:
                limiter = aio.Limiter(weir, f"GCRA 1/{LONGER_S}s BURST 0")
                for _ in range(2):
                    self.assertEqual((await limiter.acquire("k", PATIENT_S)).source, "weir")
        with WeirServer() as server:
            asyncio.run(wait(server))


if __name__ == "__main__":
    unittest.main()
