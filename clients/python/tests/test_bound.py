"""What four processes let pass over a short outage, beyond the limit; tests/bound.py has long ones."""

import unittest

from . import bound

LATE = 2  # permits: a grant is noted some 100 ms late on a busy machine


class Bound(unittest.TestCase):
    def test_excess(self):
        """Of the measure itself: a bucket's worst case is none, a second burst is one."""
        exact = [0.0] * bound.BURST + [number / bound.RATE for number in range(1, 50)]
        self.assertAlmostEqual(bound.excess(exact), 0)
        self.assertAlmostEqual(bound.excess(sorted([*exact, *[1.0] * 7])), 7)

    def test_local(self):
        beyond, rate = bound.measure("local", "kill", outage_s=4)
        self.assertLessEqual(beyond, bound.BURST + LATE)
        self.assertGreater(rate, bound.RATE * 0.5)

    def test_strict(self):
        beyond, _ = bound.measure("strict", "stop", outage_s=4)
        self.assertLessEqual(beyond, LATE)


if __name__ == "__main__":
    unittest.main()
