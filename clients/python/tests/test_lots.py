"""Permits that are taken in advance and handed out in the process: exact in sum, and given back."""

import asyncio
import threading
import unittest

from weir import Limiter, Weir, aio

from .proxy import Proxy
from .timing import PATIENT_S
from .weirs import WeirServer, calls_of, wait_until

MANY = "FIXED 1000000/1h"  # 277 a second
LONG_S = 600.0  # a lot that lasts as long as any test


def threads(count, work):
    running = [threading.Thread(target=work) for _ in range(count)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


class Lots(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def limiter(self, limits, lots, url=None, **options):
        limiter = Limiter(Weir(url or self.server.url, deadline=PATIENT_S), limits, lots=lots, **options)
        self.addCleanup(limiter.close)
        return limiter

    def remaining(self, limits=MANY, key="k"):
        return self.server.call("RL.PEEK", key, *limits.split(), "COST", "0")[2]

    def test_exact_in_sum(self):
        limiter, sources = self.limiter(MANY, LONG_S), []

        def work():
            for _ in range(500):
                sources.append(limiter.take("k").source)
        threads(8, work)
        self.assertGreater(sources.count("lot"), 3500)
        self.assertLess(calls_of(self.server, "rl.take"), 500)
        limiter.close()
        self.assertEqual(self.remaining(), 1000000 - 4000)

    def test_never_above_the_limit_and_denied_without_weir(self):
        limits = "FIXED 1000/1h"
        limiters, granted = [self.limiter(limits, LONG_S) for _ in range(2)], []

        def work():
            for limiter in limiters:
                granted.extend(limiter.take("k").granted for _ in range(150))
        threads(8, work)
        self.assertEqual(sum(granted), 1000 - self.remaining(limits) - sum(
            limiter.lots._lots["k"].left for limiter in limiters))
        asked = calls_of(self.server, "rl.take")
        denied = [limiters[0].take("k") for _ in range(200)]
        self.assertFalse(any(denied))
        self.assertGreater(denied[-1].retry_after, 0)
        self.assertLess(calls_of(self.server, "rl.take") - asked, 20)
        for limiter in limiters:
            limiter.close()
        self.assertEqual(self.remaining(limits), 1000 - sum(granted))

    def test_given_back_after_its_time(self):
        limiter, granted = self.limiter(MANY, 0.3), 0
        while not any(part.rest for lot in list(limiter.lots._lots.values()) for part in list(lot.parts)):
            granted += limiter.take("k").granted
        wait_until(lambda: self.remaining() == 1000000 - granted, "what was not used is given back")
        wait_until(lambda: not limiter.lots._lots, "and the key is forgotten")

    def test_costs(self):
        limiter = self.limiter(MANY, LONG_S)
        granted = sum(limiter.take("k", cost).granted for cost in (1, 3, 2, 5, 1, 7, 1) * 20)
        self.assertEqual(granted, 400)
        self.assertEqual(limiter.take("k", 300000).source, "weir", "it is above what a lot has")
        self.assertEqual(limiter.take("k", 0).granted, 0)
        limiter.close()
        self.assertEqual(self.remaining(), 1000000 - 400 - 300000)

    def test_a_rare_limit_is_asked_for_each_call(self):
        limiter = self.limiter("5/1h", 0.1)
        self.assertEqual([(verdict.allowed, verdict.source) for verdict in (limiter.take("k") for _ in range(6))],
                         [(True, "weir")] * 5 + [(False, "weir")])

    def test_leases_go_not_with_lots(self):
        with self.assertRaises(ValueError):
            self.limiter("CONCURRENCY 5", 0.1)
        with self.assertRaises(ValueError):
            self.limiter("5/1s", 0)

    def test_a_policy(self):
        limiter = self.limiter("POLICY many", LONG_S)
        limiter.weir.policies.set("many", MANY)
        self.assertIn("lot", {limiter.take("k").source for _ in range(20)})

    def test_away_it_is_used_up_first(self):
        limiter = self.limiter(MANY, LONG_S, processes=2)
        for _ in range(20):
            limiter.take("k")
        left = limiter.lots._lots["k"].left
        self.server.kill()
        sources = [limiter.take("k").source for _ in range(left + 5)]
        self.assertEqual(sources, ["lot"] * left + ["local"] * 5)
        self.server.start()
        wait_until(lambda: not limiter.state().away or limiter.peek("k") and None, "weir is back", pause_s=0.05)
        limiter.take("k")
        limiter.close()
        self.assertEqual(self.remaining(), 1000000 - 20 - left - 5 - 1)

    def test_lost_replies_are_charged_once(self):
        with Proxy(self.server.port) as proxy:
            limiter = self.limiter(MANY, LONG_S, proxy.url)
            for _ in range(100):
                proxy.lose = 1
                limiter.take("k")
            proxy.lose = 0
            limiter.close()
            self.assertEqual(self.remaining(), 1000000 - 100)

    def test_who_gives_up_waiting_leaves_its_turn_to_the_next(self):
        """Also where all that wait are cancelled, and where the one is whose turn it has become."""
        async def work():
            async with aio.Weir(self.server.url, deadline=PATIENT_S) as weir:
                limiter = aio.Limiter(weir, MANY, lots=LONG_S)
                await limiter.take("k")
                for number in range(10):
                    tasks = [asyncio.create_task(limiter.take("k")) for _ in range(200)]
                    await asyncio.sleep(number * 0.001)
                    for task in tasks[:-1]:
                        task.cancel()
                    self.assertIn((await tasks[-1]).source, ("weir", "lot"))
                    await asyncio.gather(*tasks, return_exceptions=True)
                    lot = limiter.lots._lots["k"]
                    self.assertEqual((lot.asking, len(lot.waiting)), (False, 0))
                await limiter.close()
        asyncio.run(work())
        self.assertLessEqual(self.remaining(), 1000000 - 11)

    def test_asyncio(self):
        async def work():
            async with aio.Weir(self.server.url, deadline=PATIENT_S) as weir:
                limiter = aio.Limiter(weir, MANY, lots=LONG_S)
                verdicts = await asyncio.gather(*(limiter.take("k") for _ in range(2000)))
                await limiter.close()
            return sum(verdict.granted for verdict in verdicts)
        self.assertEqual(asyncio.run(work()), 2000)
        self.assertEqual(self.remaining(), 1000000 - 2000)
        self.assertLess(calls_of(self.server, "rl.take"), 40)

    def test_asyncio_gives_back_after_its_time(self):
        async def work():
            async with aio.Weir(self.server.url, deadline=PATIENT_S) as weir:
                limiter, granted = aio.Limiter(weir, MANY, lots=0.3), 0
                while not any(part.rest for lot in limiter.lots._lots.values() for part in lot.parts):
                    granted += (await limiter.take("k")).granted
                while self.remaining() != 1000000 - granted:
                    await asyncio.sleep(0.05)
        asyncio.run(work())


if __name__ == "__main__":
    unittest.main()
