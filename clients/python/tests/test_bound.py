"""What four processes let pass over a short outage, beyond the limit; long_bound.py has long ones."""

import unittest

from . import bound

LATE = 1  # permits: clocks of processes are read while others run
# Who is back first may take what the others have not handed back yet: within a second they have.
OTHERS = bound.BURST * (1 - 1 / bound.PROCESSES)


class Bound(unittest.TestCase):
    def test_excess(self):
        """Of the measure itself: a bucket's worst case is none, a second burst is one."""
        exact = [0.0] * bound.BURST + [number / bound.RATE for number in range(1, 50)]
        self.assertAlmostEqual(bound.excess([(at, at) for at in exact]), 0)
        self.assertAlmostEqual(bound.excess([(at, at) for at in [*exact, *[1.0] * 7]]), 7)

    def test_local(self):
        beyond, rate, _ = bound.measure("local", "kill", outage_s=3)
        self.assertLessEqual(beyond, bound.BURST + LATE)
        self.assertGreater(rate, 0)

    def test_strict(self):
        beyond, *_ = bound.measure("strict", "stop", outage_s=3)
        self.assertLessEqual(beyond, OTHERS + LATE)


if __name__ == "__main__":
    unittest.main()
