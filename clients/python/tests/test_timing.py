"""The measure of how long a call took, itself."""

import time
import unittest
from unittest import mock

from .timing import Stopwatch


class Timing(unittest.TestCase):
    def longest(self, before, after, sleep_s=0.0):
        watch = Stopwatch()
        with mock.patch("tests.timing.kept_waiting", side_effect=[before, after]), watch.timing():
            time.sleep(sleep_s)
        return watch.longest

    def test_what_it_was_kept_waiting_is_left_out(self):
        self.assertLess(self.longest({"1": 3.0}, {"1": 3.25, "2": 0.25}, sleep_s=0.5), 0.4)

    def test_a_thread_that_ended_meanwhile_adds_nothing(self):
        self.assertLess(self.longest({"1": 3.0, "2": 60.0}, {"1": 3.0}), 30)


if __name__ == "__main__":
    unittest.main()
