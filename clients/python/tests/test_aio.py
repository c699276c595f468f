"""asyncio: the calls against a weir-server that is there, that dies, and that hangs."""

import asyncio
import signal
import unittest
from unittest import mock

from weir import Denied
from weir.aio import Limiter, Weir, take_all

from .proxy import Proxy
from .test_outages import DEADLINE_S, LIMIT
from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer, renewals


class Aio(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)  # it is slow, and says so on a busy machine

    def remaining(self):
        return self.server.call("RL.PEEK", "k", *LIMIT.split(), "COST", "0")[2]

    async def test_calls(self):
        async with Weir(self.server.url, deadline=PATIENT_S) as weir:
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
            self.assertEqual([bool(await queue.acquire("q", PATIENT_S)) for _ in range(3)], [True] * 3)
            booked = Limiter(weir, "GCRA 1/1h BURST 0")
            self.assertEqual((await booked.reserve("booked")).wait, 0)
            self.assertGreater((await booked.reserve("booked")).wait, 0)
            self.assertTrue(await take_all([(limiter, "a"), (queue, "b")]))
            await weir.policies.set("free", "5/1s")
            self.assertEqual(await weir.policies.list(), ["free"])

    async def test_more_callers_than_connections(self):
        async with Weir(self.server.url, deadline=PATIENT_S, connections=5) as weir:
            limiter = Limiter(weir, LIMIT)
            verdicts = await asyncio.gather(*(limiter.take("k") for _ in range(300)))
            self.assertEqual(sorted(verdict.remaining for verdict in verdicts), list(range(700, 1000)))
            self.assertLess(str(self.server.call("CLIENT", "LIST")).count("name=weir-"), 7)
            queue = Limiter(weir, "GCRA 4/1s BURST 0")
            waiting = [asyncio.create_task(queue.acquire("queue", PATIENT_S)) for _ in range(8)]
            self.assertTrue(await limiter.take("other"))
            self.assertFalse(all(task.done() for task in waiting), "who waits holds nobody up")
            self.assertEqual({bool(verdict) for verdict in await asyncio.gather(*waiting)}, {True})

    async def test_lease(self):
        async with Weir(self.server.url, deadline=PATIENT_S) as weir:
            limiter = Limiter(weir, "CONCURRENCY 1 LEASE 1h")
            with mock.patch("weir.renewing.RENEWALS", 36000):
                async with limiter.lease("pool") as lease:
                    while renewals(self.server) < 3:
                        await asyncio.sleep(0.01)
                    self.assertFalse(lease.lost.is_set())
                    with self.assertRaises(Denied):
                        await limiter.lease("pool").__aenter__()
            self.assertTrue(await limiter.peek("pool"))

    async def test_cancelled_calls_leave_nothing_behind(self):
        async with Weir(self.server.url, deadline=PATIENT_S) as weir:
            limiter = Limiter(weir, LIMIT)
            for pause in (0, 0.0005, 0.001, 0.002) * 5:
                task = asyncio.create_task(limiter.take("cancelled"))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                self.assertEqual((await limiter.take("k")).limits[0].limit, 1000)
            self.assertEqual(self.remaining(), 980)

    async def known(self, weir):
        """A limiter that weir has answered."""
        limiter = Limiter(weir, LIMIT, processes=2)
        while (await limiter.take("k")).source != "weir":
            await asyncio.sleep(0.1)
        return limiter

    async def test_nobody_waits_long(self):
        for begin in (lambda: self.server.send_signal(signal.SIGSTOP), self.server.kill):
            async with Weir(self.server.url, deadline=DEADLINE_S) as weir:
                limiter, watch = await self.known(weir), Stopwatch()
                begin()
                for _ in range(10):
                    with watch.timing():
                        verdict = await limiter.take("k")
                    self.assertEqual((verdict.source, verdict.allowed), ("local", True))
                self.assertLess(watch.longest, DEADLINE_S + SLACK_S)
                self.assertTrue(limiter.state().away)
            self.server.send_signal(signal.SIGCONT)

    async def test_what_was_granted_meanwhile_is_charged(self):
        for begin, end in ((lambda: self.server.send_signal(signal.SIGSTOP),
                            lambda: self.server.send_signal(signal.SIGCONT)), (self.server.kill, self.server.start)):
            async with Weir(self.server.url, deadline=DEADLINE_S) as weir:
                limiter = await self.known(weir)
                left = self.remaining()
                begin()
                for _ in range(10):
                    self.assertTrue(await limiter.take("k"))
                end()
                weir.options.deadline = PATIENT_S
                while limiter.state().away:
                    await limiter.peek("other")
                    await asyncio.sleep(0.05)
                self.assertEqual((await limiter.take("k")).source, "weir")
                # What was late may have arrived all the same: at most two calls.
                self.assertIn(left - self.remaining() - 10 - 1, range(3))

    async def test_a_client_that_ends_late(self):
        """It closes a connection, say, and that hangs as well."""
        ended = asyncio.Event()

        class Stubborn:
            async def execute_command(self, *_):
                try:
                    await asyncio.sleep(PATIENT_S)
                except asyncio.CancelledError:
                    await ended.wait()

        limiter, watch = Limiter(Weir(client=Stubborn(), deadline=DEADLINE_S), LIMIT, away="open"), Stopwatch()
        for _ in range(3):
            with watch.timing():
                self.assertEqual((await limiter.take("k")).source, "open")
        self.assertLess(watch.longest, DEADLINE_S + SLACK_S)
        ended.set()

    async def test_lost_replies_are_charged_once(self):
        with Proxy(self.server.port) as proxy:
            async with Weir(proxy.url, deadline=PATIENT_S) as weir:
                limiter = Limiter(weir, LIMIT)
                await limiter.take("k")
                for _ in range(10):
                    proxy.lose = 1
                    self.assertEqual((await limiter.take("k")).source, "weir")
                self.assertEqual(self.remaining(), 1000 - 11)


if __name__ == "__main__":
    unittest.main()
