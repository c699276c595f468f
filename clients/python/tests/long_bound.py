"""What four processes let pass over 20 s without weir, beyond the limit: the table of docs/when-weir-is-away.md."""

import unittest

from . import bound
from .test_bound import LATE, OTHERS

OUTAGE_S = 20
# Of the part of the limit that a process hands out: a wrong number of processes is wrong by its factor.
RIGHT = bound.PROCESSES


class Bound(unittest.TestCase):
    def test_rows(self):
        for away, fault, pauses, processes in bound.ROWS:
            load = "even" if pauses == bound.EVEN else "skewed"
            with self.subTest(away=away, fault=fault, load=load, processes=processes):
                beyond, rate, away_s = bound.measure(away, fault, OUTAGE_S, pauses, processes)
                wrong = max(1.0, RIGHT / processes)
                most = (OTHERS if away == "strict" else bound.BURST) + LATE
                self.assertLessEqual(beyond, most * wrong + (wrong - 1) * bound.RATE * away_s)
                if processes == RIGHT and load == "even":
                    self.assertGreater(rate, bound.RATE * 0.5)


if __name__ == "__main__":
    unittest.main()
