"""The strategies of the library `limits` on weir, there and away."""

import signal
import unittest

from .test_outages import DEADLINE_S
from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer, wait_until

try:
    import limits
    from limits import strategies
    from limits.storage import storage_from_string
    import weir.limits_storage  # noqa: F401
except ImportError as error:
    MISSING = f"not installed: {error.name}"
else:
    MISSING = ""


@unittest.skipIf(MISSING, MISSING)
class LimitsStorage(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)
        self.url = self.server.url.replace("redis", "weir")

    def each(self, **options):
        storage = storage_from_string(self.url, **options)
        for kind in (strategies.FixedWindowRateLimiter, strategies.MovingWindowRateLimiter,
                     strategies.SlidingWindowCounterRateLimiter):
            with self.subTest(kind.__name__):
                yield kind(storage), limits.parse("10/hour"), kind.__name__

    def test_there(self):
        for limiter, item, key in self.each(deadline=PATIENT_S):
            self.assertEqual([limiter.hit(item, key) for _ in range(4)], [True] * 4)
            self.assertEqual(limiter.get_window_stats(item, key).remaining, 6)
            self.assertTrue(limiter.test(item, key))
            self.assertEqual([limiter.hit(item, key, cost=6), limiter.hit(item, key)], [True, False])
            self.assertFalse(limiter.test(item, key))
            limiter.clear(item, key)
            self.assertEqual(limiter.get_window_stats(item, key).remaining, 10)

    def test_away(self):
        kinds = list(self.each(processes=2, deadline=PATIENT_S))
        for limiter, item, key in kinds:
            limiter.hit(item, key)
        self.server.kill()
        for limiter, item, key in kinds:
            with self.subTest(key):
                self.assertEqual(sum(limiter.hit(item, key) for _ in range(10)), 4)  # its half, less one

    def test_hanging(self):
        kinds, watch = list(self.each(processes=2)), Stopwatch()
        for limiter, item, key in kinds:
            wait_until(lambda limiter=limiter, item=item, key=key: limiter.hit(item, key), "weir answers")
        self.server.send_signal(signal.SIGSTOP)
        for limiter, item, key in kinds:
            for call in (limiter.test, limiter.hit):
                with watch.timing():
                    self.assertTrue(call(item, key))
        self.server.send_signal(signal.SIGCONT)
        self.assertLess(watch.longest, DEADLINE_S + SLACK_S)

    def test_check_and_reset(self):
        storage = storage_from_string(self.url, deadline=PATIENT_S)
        limiter = strategies.MovingWindowRateLimiter(storage)
        limiter.hit(limits.parse("10/hour"), "k")
        self.assertEqual(storage.reset(), 1)
        self.assertTrue(storage.check())
        self.server.kill()
        self.assertFalse(storage.check())


if __name__ == "__main__":
    unittest.main()
