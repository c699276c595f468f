"""asyncio: the calls against a weir-server that is there, that dies, and that hangs."""

import asyncio
import signal
import time
import unittest

from weir import Denied
from weir.aio import Limiter, Weir, take_all

from .proxy import Proxy
from .test_outages import DEADLINE_S, LIMIT, SLACK_S
from .weirs import WeirServer


class Aio(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def remaining(self):
        return self.server.call("RL.PEEK", "k", *LIMIT.split(), "COST", "0")[2]

    async def test_calls(self):
        async with Weir(self.server.url, deadline=30) as weir:
            limiter = Limiter(weir, LIMIT)
            verdicts = await asyncio.gather(*(limiter.take("k") for _ in range(20)))
            self.assertEqual(sorted(verdict.remaining for verdict in verdicts), list(range(980, 1000)))
            self.assertEqual((await limiter.peek("k")).remaining, 979)
            async with limiter.hold("k", 100) as hold:
                hold.used = 30
            self.assertEqual(self.remaining(), 950)
            with self.assertRaises(KeyError):
                async with limiter.hold("k", 100):
                    raise KeyError
            self.assertEqual(self.remaining(), 950)
            queue = Limiter(weir, "GCRA 5/1s BURST 0")
            self.assertEqual([bool(await queue.acquire("q", 5)) for _ in range(3)], [True] * 3)
            self.assertGreater((await queue.reserve("q")).wait, 0)
            self.assertTrue(await take_all([(limiter, "a"), (queue, "b")]))
            await weir.policies.set("free", "5/1s")
            self.assertEqual(await weir.policies.list(), ["free"])

    async def test_more_callers_than_connections(self):
        async with Weir(self.server.url, deadline=30, connections=5) as weir:
            limiter = Limiter(weir, LIMIT)
            verdicts = await asyncio.gather(*(limiter.take("k") for _ in range(300)))
            self.assertEqual(sorted(verdict.remaining for verdict in verdicts), list(range(700, 1000)))
            self.assertLess(str(self.server.call("CLIENT", "LIST")).count("name=weir-"), 7)
            queue = Limiter(weir, "GCRA 4/1s BURST 0")
            waiting = [asyncio.create_task(queue.acquire("queue", 10)) for _ in range(8)]
            await asyncio.sleep(0.2)
            self.assertTrue(await limiter.take("other"))
            self.assertFalse(all(task.done() for task in waiting), "who waits holds nobody up")
            self.assertEqual({bool(verdict) for verdict in await asyncio.gather(*waiting)}, {True})

    async def test_lease(self):
        async with Weir(self.server.url, deadline=30) as weir:
            limiter = Limiter(weir, "CONCURRENCY 1 LEASE 900ms")
            async with limiter.lease("pool") as lease:
                await asyncio.sleep(2)
                self.assertFalse(lease.lost.is_set())
                with self.assertRaises(Denied):
                    await limiter.lease("pool").__aenter__()
            self.assertTrue(await limiter.peek("pool"))

    async def test_cancelled_calls_leave_nothing_behind(self):
        async with Weir(self.server.url, deadline=30) as weir:
            limiter = Limiter(weir, LIMIT)
            for pause in (0, 0.0005, 0.001, 0.002) * 5:
                task = asyncio.create_task(limiter.take("cancelled"))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self.assertEqual((await limiter.take("k")).limits[0].limit, 1000)
            self.assertEqual(self.remaining(), 980)

    async def outage(self, url, begin, end):
        async with Weir(url, deadline=DEADLINE_S) as weir:
            limiter, longest = Limiter(weir, LIMIT, processes=2), 0.0
            while (await limiter.take("k")).source != "weir":
                await asyncio.sleep(0.1)
            begin()
            for _ in range(10):
                before = time.perf_counter()
                self.assertEqual((await limiter.take("k")).source, "local")
                longest = max(longest, time.perf_counter() - before)
            self.assertLess(longest, DEADLINE_S + SLACK_S)
            self.assertTrue(limiter.state().away)
            end()
            async with asyncio.timeout(30):
                while limiter.state().away:
                    await limiter.peek("other")
                    await asyncio.sleep(0.05)
            before = self.remaining()
            self.assertEqual((await limiter.take("k")).source, "weir")
            self.assertEqual(self.remaining(), before - 10 - 1)

    async def test_killed(self):
        await self.outage(self.server.url, self.server.kill, self.server.start)

    async def test_stopped(self):
        await self.outage(self.server.url, lambda: self.server.send_signal(signal.SIGSTOP),
                          lambda: self.server.send_signal(signal.SIGCONT))

    async def test_lost_replies_are_charged_once(self):
        with Proxy(self.server.port) as proxy:
            async with Weir(proxy.url, deadline=30) as weir:
                limiter = Limiter(weir, LIMIT)
                await limiter.take("k")
                for _ in range(10):
                    proxy.lose = 1
                    self.assertEqual((await limiter.take("k")).source, "weir")
                self.assertEqual(self.remaining(), 1000 - 11)


if __name__ == "__main__":
    unittest.main()
