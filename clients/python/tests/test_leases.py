"""Leases whose renewals are not answered: tried again soon, so that none is lost by a connection that was cut."""

import asyncio
import threading
import time
import unittest
from unittest import mock

import redis
import redis.asyncio
from weir import Limiter, Weir, aio, renewing
from weir.renewing import SOON_MAX_S, Renewals, lease_seconds

from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer, renewals, wait_until

LONG = "CONCURRENCY 1 LEASE 1h"
AT_ONCE, NEVER = 36000, 1  # renewals in an hour


class Client:
    """Of redis-py or redis.asyncio: so many renewals raise an error, and further ones would come in an hour."""

    def __init__(self, client, error, count):
        self.client, self.error, self.count = client, error, count

    def execute_command(self, *words):
        if words[0] == "RL.RENEW" and self.count:
            self.count -= 1
            renewing.RENEWALS = NEVER  # whoever patched it puts it back
            raise self.error
        return self.client.execute_command(*words)


class Pauses(unittest.TestCase):
    def tries(self, seconds, answers, each_s=0.0):
        """The instants of the tries; None is no answer, `each_s` is how long each takes."""
        clock, found = mock.Mock(), []
        clock.monotonic.return_value = 0.0
        with mock.patch("weir.renewing.time", clock):
            lease = Renewals(seconds, 0.0)
            for answer in answers:
                sent = clock.monotonic.return_value = clock.monotonic() + lease.pause()
                found.append(sent)
                clock.monotonic.return_value += each_s
                if not lease.told(sent, answer):
                    break
        return found, lease.lost

    def test_thrice_in_its_length(self):
        self.assertEqual(self.tries(30, [1] * 4), ([10, 20, 30, 40], False))

    def test_soon_again_and_then_less_often(self):
        found, lost = self.tries(300, [1] + [None] * 60)
        pauses = [after - before for before, after in zip(found[1:], found[2:])]
        self.assertLess(pauses[0], 0.1)
        self.assertGreater(min(pauses[6:]), SOON_MAX_S / 2, "not often")
        self.assertLess(max(pauses), SOON_MAX_S * 2)
        self.assertFalse(lost)

    def test_lost_at_its_end_and_not_after(self):
        for seconds in (0.5, 2, 30):
            found, lost = self.tries(seconds, [None] * 1000)
            self.assertTrue(lost)
            self.assertAlmostEqual(found[-1], seconds)
            self.assertEqual(self.tries(seconds, [0]), ([seconds / 3], True))

    def test_one_that_is_not_answered_loses_none(self):
        for seconds in (0.5, 1, 2, 30, 3600):
            found, lost = self.tries(seconds, [None, 1, None, None, 1], each_s=0.05)
            self.assertEqual((len(found), lost), (5, False))


class Leases(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def limiter(self, limits, error, count, **options):
        client = Client(self.enterContext(redis.Redis(port=self.server.port)), error, count)
        return Limiter(Weir(client=client, **{"deadline": PATIENT_S, "retries": 0, **options}), limits)

    def renewed_after_a_miss(self, limiter):
        wait_until(lambda: renewals(self.server) > 0, "it is renewed", PATIENT_S)
        self.assertEqual(limiter.state().absences, 1)

    def test_a_connection_that_is_cut(self):
        limiter = self.limiter(LONG, redis.ConnectionError(), 1)
        with mock.patch("weir.renewing.RENEWALS", AT_ONCE):
            with limiter.lease("pool") as lease:
                self.renewed_after_a_miss(limiter)
                self.assertFalse(lease.lost.is_set())

    def test_a_connection_that_is_cut_in_asyncio(self):
        async def hold():
            async with redis.asyncio.Redis(port=self.server.port) as client:
                weir = aio.Weir(client=Client(client, redis.ConnectionError(), 1), deadline=PATIENT_S, retries=0)
                limiter = aio.Limiter(weir, LONG)
                async with limiter.lease("pool") as lease:
                    await asyncio.to_thread(self.renewed_after_a_miss, limiter)
                    self.assertFalse(lease.lost.is_set())
        with mock.patch("weir.renewing.RENEWALS", AT_ONCE):
            asyncio.run(hold())

    def test_a_fault_of_the_program_loses_it_at_its_end(self):
        fault = redis.ResponseError("NOPERM no")
        self.enterContext(mock.patch("weir.renewing.RENEWALS", renewing.RENEWALS))
        limiter = self.limiter("CONCURRENCY 1 LEASE 1s", fault, 10**6)
        with limiter.lease("pool") as lease:
            self.assertTrue(lease.lost.wait(PATIENT_S))

        async def hold():
            async with redis.asyncio.Redis(port=self.server.port) as client:
                limiter = aio.Limiter(aio.Weir(client=Client(client, fault, 10**6), deadline=PATIENT_S),
                                      "CONCURRENCY 1 LEASE 1s")
                async with limiter.lease("pool") as lease:
                    await asyncio.wait_for(lease.lost.wait(), PATIENT_S)
        asyncio.run(hold())

    def test_its_end_has_one_deadline(self):
        """A renewal that hangs is not waited for first."""
        limiter, hangs, over = self.limiter(LONG, None, 0, deadline=1.0), threading.Event(), threading.Event()
        plain, watch = limiter.weir.client.execute_command, Stopwatch()

        def hang(*words):
            if words[0] not in ("RL.RENEW", "RL.RELEASE"):
                return plain(*words)
            hangs.set()
            over.wait()
        self.addCleanup(over.set)
        lease = limiter.lease("pool")
        limiter.weir.client.execute_command = hang
        with mock.patch("weir.renewing.RENEWALS", AT_ONCE):
            lease.__enter__()
            hangs.wait()
        with watch.timing():
            lease.release()
        self.assertLess(watch.longest, 1.0 + SLACK_S)
        self.assertFalse(lease.lost.is_set())

    def test_its_length_is_the_lease_s(self):
        """Not the window of a limit beside it, before whose end it would be renewed for nothing and lost."""
        limiter = self.limiter(f"{LONG} 100/1s", None, 0)
        self.assertEqual(lease_seconds(limiter.take("pool")), 3600)

    def test_its_time_begins_with_its_turn(self):
        limiter = self.limiter("CONCURRENCY 1 LEASE 1s", None, 0)
        limiter.weir.waits = limiter.weir.client
        begin = time.monotonic()
        self.assertTrue(limiter.take("pool"))
        with limiter.lease("pool", timeout=PATIENT_S) as lease:
            self.assertGreater(lease._renewals._given, begin + 0.9)

        async def hold():
            async with redis.asyncio.Redis(port=self.server.port) as client:
                limiter = aio.Limiter(aio.Weir(client=client, waits=client, deadline=PATIENT_S), "CONCURRENCY 1 LEASE 1s")
                begin = time.monotonic()
                self.assertTrue(await limiter.take("pool"))
                async with limiter.lease("pool", timeout=PATIENT_S) as lease:
                    self.assertGreater(lease._renewals._given, begin + 0.9)
        asyncio.run(hold())


if __name__ == "__main__":
    unittest.main()
