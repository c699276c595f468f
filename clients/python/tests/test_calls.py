"""Each call against a weir-server that is there, in threads."""

import threading
import time
import unittest
from unittest import mock

import redis
from weir import Denied, Limiter, Weir, take_all

from .timing import PATIENT_S
from .weirs import WeirServer, renewals, wait_until


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = WeirServer().__enter__()
        # A busy machine is slow: that a call is in time is asked in test_outages.
        cls.weir = Weir(cls.server.url, deadline=PATIENT_S)

    @classmethod
    def tearDownClass(cls):
        cls.weir.close()
        cls.server.__exit__()

    def setUp(self):
        self.server.call("FLUSHALL")

    def limiter(self, limits, **options):
        return Limiter(self.weir, limits, **options)

    def test_take(self):
        limiter = self.limiter("FIXED 3/1h AS hourly")
        verdict = limiter.take("k", 2)
        self.assertTrue(verdict)
        self.assertEqual((verdict.limit, verdict.remaining, verdict.retry_after, verdict.granted, verdict.source),
                         (3, 1, 0, 2, "weir"))
        denied = limiter.take("k", 2)
        self.assertFalse(denied)
        self.assertAlmostEqual(denied.retry_after, 3600, delta=60)
        self.assertEqual(denied.limits[0].name, "hourly")
        self.assertEqual(denied.headers()["RateLimit-Policy"], '"hourly";q=3;w=3600')
        self.assertIn("Retry-After", denied.headers())
        self.assertIsNone(limiter.take("k", 4).retry_after)

    def test_take_upto_and_costs(self):
        limiter = self.limiter("FIXED 5/1h FIXED 100/1d")
        self.assertEqual(limiter.take("k", 8, upto=True).granted, 5)
        self.assertTrue(limiter.take("l", (1, 50)))
        self.assertEqual(limiter.peek("l", (0, 0)).limits[1].remaining, 50)

    def test_id_is_charged_once(self):
        limiter = self.limiter("FIXED 5/1h")
        self.assertEqual([limiter.take("k", id="same").remaining for _ in range(3)], [4, 4, 4])

    def test_both_protocols(self):
        for protocol in (2, 3):
            with Weir(self.server.url, deadline=PATIENT_S, protocol=protocol) as weir:
                verdict = Limiter(weir, "FIXED 5/1h AS x").take(f"p{protocol}")
                self.assertEqual((verdict.remaining, verdict.limits[0].name), (4, "x"))
                self.assertEqual(verdict.headers()["RateLimit"], '"x";r=4;t=3600')

    def test_peek_changes_nothing(self):
        limiter = self.limiter("FIXED 5/1h")
        self.assertEqual([limiter.peek("k").remaining for _ in range(2)], [4, 4])

    def test_exact_for_16_callers(self):
        limiter, granted = self.limiter("FIXED 100/1h"), []

        def call():
            for _ in range(10):
                if limiter.take("k"):
                    granted.append(1)
        threads = [threading.Thread(target=call) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(granted), 100)

    def test_more_callers_than_connections(self):
        with Weir(self.server.url, deadline=PATIENT_S, connections=5) as weir:
            limiter, left = Limiter(weir, "FIXED 1000/1h"), []
            threads = [threading.Thread(target=lambda: left.append(limiter.take("k").remaining)) for _ in range(150)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(left), list(range(850, 1000)))
            self.assertLessEqual(len(weir.client.connection_pool._available_connections), 5)

    def test_acquire_waits_and_holds_up_nobody(self):
        limiter = self.limiter("GCRA 2/1s BURST 0")
        limiter.take("k")
        begin, taken = time.monotonic(), []
        waiting = threading.Thread(target=lambda: taken.append(limiter.acquire("k", PATIENT_S)))
        waiting.start()
        self.assertTrue(self.limiter("100/1s").take("other"))
        waiting.join()
        self.assertTrue(taken[0])
        self.assertGreater(time.monotonic() - begin, 0.3)
        rare = self.limiter("GCRA 1/1h BURST 0")
        self.assertTrue(rare.acquire("rare", 0.001))
        denied = rare.acquire("rare", 0.001)
        self.assertFalse(denied)
        self.assertGreater(denied.retry_after, 0)

    def test_reserve_and_cancel(self):
        limiter = self.limiter("GCRA 1/1h")
        self.assertEqual(limiter.reserve("k").wait, 0)
        booked = limiter.reserve("k")
        self.assertAlmostEqual(booked.wait, 3600, delta=60)
        self.assertFalse(limiter.reserve("k", max_wait=1))
        self.assertEqual(limiter.cancel("k", booked), 1)
        self.assertIsNone(limiter.reserve("k", 3).wait)

    def test_hold(self):
        limiter = self.limiter("FIXED 10/1h")
        with limiter.hold("k", 5) as hold:
            hold.used = 2
        self.assertEqual(limiter.peek("k", 0).remaining, 8)
        with self.assertRaises(KeyError), limiter.hold("k", 5):
            raise KeyError
        self.assertEqual(limiter.peek("k", 0).remaining, 8)
        with self.assertRaises(Denied) as denied:
            limiter.hold("k", 9)
        self.assertEqual(denied.exception.verdict.remaining, 8)

    def test_lease_renews_itself(self):
        limiter = self.limiter("CONCURRENCY 1 LEASE 1h")
        with mock.patch("weir.renewing.RENEWALS", 36000):
            with limiter.lease("k") as lease:
                wait_until(lambda: renewals(self.server) >= 3, "it is renewed")
                self.assertFalse(limiter.take("k"))
                self.assertFalse(lease.lost.is_set())
            self.assertTrue(limiter.peek("k"))
            with limiter.lease("k") as lease:
                self.server.call("RL.RESET", "k")
                self.assertTrue(lease.lost.wait(PATIENT_S))

    def test_take_all(self):
        user, tenant = self.limiter("FIXED 10/1h"), self.limiter("FIXED 2/1h 100/1s")
        self.assertTrue(take_all([(user, "u"), (tenant, "t", 2)]))
        denied = take_all([(user, "u"), (tenant, "t")])
        self.assertEqual((denied.allowed, denied.index, denied.each[0].remaining), (False, 1, 9))
        self.assertIn("Retry-After", denied.headers())

    def test_policies(self):
        self.weir.policies.set("free", "FIXED 3/1h AS hourly")
        self.assertEqual(self.weir.policies.list(), ["free"])
        self.assertIn("FIXED 3/1h", self.weir.policies.get("free")["limits"])
        limiter = self.limiter("POLICY free")
        self.assertEqual((limiter.take("k").policy, limiter.peek("k").remaining), ("free", 1))
        self.assertEqual(limiter.engine.core.known[0].count, 3)
        self.weir.policies.set("free", "BLOCKED")
        self.assertFalse(limiter.take("k"))
        self.weir.policies.set("free", "UNLIMITED")
        self.assertTrue(limiter.take("k"))
        self.weir.policies.delete("free")

    def test_faults_of_the_program_are_raised(self):
        with self.assertRaises(ValueError):
            self.limiter("100")
        with self.assertRaisesRegex(redis.ResponseError, "no policy"):
            self.limiter("POLICY unknown").take("k")
        self.server.call("SET", "text", "x")
        with self.assertRaisesRegex(redis.ResponseError, "WRONGTYPE"):
            self.limiter("5/1s").take("text")
        with self.assertRaises(redis.AuthenticationError):
            Limiter(Weir(f"redis://who:wrong@127.0.0.1:{self.server.port}", deadline=PATIENT_S), "5/1s").take("k")

    def test_name_of_the_process(self):
        self.limiter("5/1s").take("k")
        self.assertIn("name=weir-", str(self.server.call("CLIENT", "LIST")))

    def test_a_user_who_may_only_ask(self):
        self.server.call("ACL", "SETUSER", "shop", "on", ">phrase", "+@ratelimit", "~shop:*")
        with Weir(f"redis://shop:phrase@127.0.0.1:{self.server.port}", deadline=PATIENT_S) as weir:
            self.assertTrue(Limiter(weir, "5/1s").take("shop:1"))
            with self.assertRaises(redis.NoPermissionError if hasattr(redis, "NoPermissionError")
                                   else redis.ResponseError):
                Limiter(weir, "5/1s").take("other")


if __name__ == "__main__":
    unittest.main()
