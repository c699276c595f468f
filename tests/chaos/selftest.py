#!/usr/bin/env python3
"""The checker on journals made up for it: each law broken once, and kept. Needs no root and no server.

What run.py --plant does to a real shard is the other half.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checker  # noqa: E402
import measure  # noqa: E402
from journal import Entry  # noqa: E402


def told(verb, value, sent, ended, key="c0"):
    return Entry(sent, verb, key, ended, value)


def lost(verb, sent, key="c0"):
    return Entry(sent, verb, key)


def refused(verb, sent, key="c0"):
    return Entry(sent, verb, key, sent + 1, refusal="READONLY")


class Laws(unittest.TestCase):
    def broken(self, entries, counted):
        verdict = checker.check(entries, {"c0": counted})
        return verdict.losses, verdict.breaches

    def assert_kept(self, entries, counted):
        self.assertEqual(self.broken(entries, counted), ([], []))

    def assert_broken(self, where, text, entries, counted):
        found = self.broken(entries, counted)[where]
        self.assertTrue(any(text in line for line in found), found)

    def test_a_history_that_keeps_them(self):
        self.assert_kept([told("incr", 1, 0, 10), told("get", 1, 11, 20), told("incr", 2, 12, 30)], 2)
        self.assert_kept([told("incr", 2, 0, 10), told("incr", 1, 1, 11), told("get", 0, 0, 20)], 2)

    def test_what_is_unknown_may_count_or_not(self):
        entries = [told("incr", 1, 0, 10), lost("incr", 20)]
        self.assert_kept(entries, 1)
        self.assert_kept(entries, 2)
        self.assert_broken(1, "no more than 1 + 1 unknown", entries, 3)

    def test_what_is_refused_does_not_count(self):
        self.assert_broken(1, "no more than 0 + 0 unknown", [refused("incr", 0)], 1)

    def test_what_is_acknowledged_is_there(self):
        self.assert_broken(0, "1 forgotten", [told("incr", 1, 0, 10), told("incr", 2, 20, 30)], 1)
        self.assert_broken(0, "1 forgotten", [told("incr", 1, 0, 10)], 0)

    def test_a_forgotten_grant_is_seen_beside_many_unknown_ones(self):
        # The sums alone would do: one was forgotten, and two of unknown outcome count.
        entries = [told("incr", 2, 0, 10), lost("incr", 20), lost("incr", 21), told("incr", 2, 30, 40)]
        self.assert_broken(0, "was told 2 times", entries, 3)

    def test_counts_do_not_run_back(self):
        self.assert_broken(0, "get was told 1 when 2", [lost("incr", 0), told("incr", 2, 0, 10), told("get", 1, 11, 12)], 2)
        self.assert_broken(0, "incr was told 1 when 2",
                           [lost("incr", 0), told("incr", 2, 0, 10), told("incr", 1, 11, 12)], 3)

    def test_reads_at_once_may_be_of_any_order(self):
        self.assert_kept([lost("incr", 0), told("incr", 2, 0, 10), told("get", 1, 9, 12)], 2)

    def test_nothing_is_told_before_it_was_asked_for(self):
        self.assert_broken(1, "so many had not been asked for", [told("get", 1, 0, 5), told("incr", 1, 10, 20)], 1)
        self.assert_broken(1, "so many had not been asked for",
                           [told("incr", 2, 0, 5), refused("incr", 1), lost("incr", 9)], 2)

    def test_what_the_log_does_not_have_was_not_told(self):
        self.assert_broken(0, "2 was told, and the log has 1", [told("incr", 2, 0, 5), lost("incr", 0)], 1)

    def test_a_log_that_may_lose_excuses_losses_only(self):
        verdict = checker.check([told("incr", 1, 0, 10), told("incr", 1, 20, 30)], {"c0": 3})
        self.assertEqual(len(verdict.failures(may_lose=True)), 1)
        self.assertEqual(verdict.ran_back, 2)
        self.assertGreater(len(verdict.failures(may_lose=False)), 1)


class Figures(unittest.TestCase):
    def test_the_longest_time_without_a_grant_reaches_over_the_ends_of_a_step(self):
        second = 1_000_000_000
        entries = [told("incr", count, at * second, at * second) for count, at in enumerate((1, 5, 6, 20))]
        steps = [measure.Step(["kill"], 2 * second, 4 * second, 1), measure.Step(["stop"], 7 * second, 8 * second, 0)]
        measure.measure(steps, entries, [3 * second])
        self.assertEqual([step.silence_s for step in steps], [4, 14])
        self.assertEqual([step.after_log_s for step in steps], [[2], []])


if __name__ == "__main__":
    unittest.main()
