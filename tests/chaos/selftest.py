#!/usr/bin/env python3
"""The checker on journals made up for it: each law broken once, and kept. Needs no root and no server.

What run.py --plant does to a real shard is the other half.
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import checker  # noqa: E402
import journal  # noqa: E402
import measure  # noqa: E402
import shard_laws  # noqa: E402
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


SECOND = 1_000_000_000
A, B = "10.77.0.31", "10.77.0.41"  # of shards a and b
A2 = "10.77.0.32"
LOWER, UPPER = (0, 8191), (8192, 16383)
SHARDS = {A: "a", A2: "a", B: "b"}
WHOLE = {LOWER: A, UPPER: B}


def sample(at_s, host, shown):
    return shard_laws.Sample(int(at_s * SECOND), host, shown)


class LawsOfShards(unittest.TestCase):
    def test_a_key_is_granted_by_one_shard(self):
        def found(host):
            entry = told("incr", 1, 0, 1, "c0{a}")
            entry.host = host
            return shard_laws.granted_by_one([entry, refused("incr", 5, "c0{a}")], SHARDS, lambda key: key[-2])
        self.assertEqual(found(A), [])
        self.assertEqual(found(A2), [])
        self.assertIn("which is of shard b", found(B)[0])
        self.assertIn("which is of shard None", found("10.77.0.99")[0])

    def test_who_has_shown_every_slot_goes_on(self):
        part = {LOWER: A}
        begin = [sample(0, A, part), sample(1, A, WHOLE), sample(1, B, part)]
        self.assertEqual(shard_laws.every_slot(begin), [])
        self.assertEqual(shard_laws.every_slot([*begin, sample(2, A, None), sample(3, A, WHOLE)]), [])
        self.assertIn(f"{A} showed 8192 slots", shard_laws.every_slot([*begin, sample(2, A, None), sample(3, A, part)])[0])
        self.assertIn("showed 0 slots", shard_laws.every_slot([*begin, sample(2, A, {})])[0])
        self.assertEqual(shard_laws.every_slot([*begin, sample(3, A, part)], [(2 * SECOND, A)]), [])
        self.assertEqual(len(shard_laws.every_slot([*begin, sample(3, A, part)], [(2 * SECOND, B)])), 1)
        self.assertEqual(len(shard_laws.every_slot([*begin, sample(3, A, part)], [(4 * SECOND, A)])), 1)

    def test_slots_are_counted_once(self):
        self.assertEqual(shard_laws.slots_of({(0, 9): A, (5, 19): B, (30, 30): A, (30, 30): B}), 21)

    def delays(self, *samples):
        found = shard_laws.promotions([sample(0, host, WHOLE) for host in SHARDS] + list(samples), SHARDS)
        return [(promotion.host, promotion.delays_s) for promotion in found], shard_laws.judge_shown(found)

    def test_a_new_primary_is_shown_by_all(self):
        new = {LOWER: A2, UPPER: B}
        self.assertEqual(self.delays(), ([], []))
        self.assertEqual(self.delays(sample(5, A2, new), sample(5.5, A, new), sample(6, B, new)),
                         ([(A2, {A: 0.5, B: 1})], []))
        found, broken = self.delays(sample(5, A2, new), sample(5.5, A, new), sample(16, B, new))
        self.assertEqual(found, [(A2, {A: 0.5, B: 11})])
        self.assertIn(f"{B} showed {A2} as the primary 11.00 s after", broken[0])

    def test_who_did_not_answer_is_not_late(self):
        new = {LOWER: A2, UPPER: B}
        self.assertEqual(self.delays(sample(5, A2, new), sample(6, B, None), sample(30, B, new)), ([(A2, {})], []))
        self.assertEqual(self.delays(sample(5, A2, new), sample(7, A, {LOWER: A, UPPER: "x"}), sample(8, A, None),
                                     sample(9, A, new))[0], [(A2, {})])

    def test_what_is_followed_by_another_promotion_is_not_waited_for(self):
        new = {LOWER: A2, UPPER: B}
        found, broken = self.delays(sample(5, A2, new), sample(5.1, A, new), sample(6, A, WHOLE), sample(20, A2, WHOLE))
        self.assertEqual((found[0], broken[1:]), ((A2, {A: 0.1}), []))
        self.assertIn("14.00 s", broken[0])

    def test_what_a_member_remembers_is_no_promotion(self):
        self.assertEqual(self.delays(sample(1, A2, None), sample(2, A2, {LOWER: A2, UPPER: B})), ([], []))

    def test_a_shard_that_nothing_is_done_to_serves_on(self):
        def answers(path, *ends_s):
            entries = [told("incr", 1, 0, int(end * SECOND)) for end in ends_s]
            for entry in entries:
                entry.journal = path
            return entries
        steps = [measure.Step(["kill"], 10 * SECOND, 14 * SECOND, 1, ["a"])]
        served = answers("b-0", 10.5, 11.5, 12.5, 13.5) + answers("b-1", 11, 12, 13)
        found = shard_laws.gaps_of_untouched(steps, {"a": [], "b": served})
        self.assertEqual(found, [(1, "b", "kill")])
        self.assertEqual(shard_laws.judge_gaps(0.2, found), [])
        # One caller has no answer for long, whatever the others have.
        found = shard_laws.gaps_of_untouched(steps, {"a": [], "b": served + answers("b-2", 10.5, 10.7, 13.4)})
        self.assertEqual([(round(gap, 2), *more) for gap, *more in found], [(2.7, "b", "kill")])
        self.assertIn("had no answer for 2.70 s", shard_laws.judge_gaps(0.2, found)[0])
        self.assertEqual(shard_laws.gaps_of_untouched(steps, {"b": []}), [(4, "b", "kill")])

    def test_requests_are_led_on_seldom(self):
        self.assertEqual(shard_laws.judge_led([0] * 97 + [3] * 3), [])
        self.assertEqual(shard_laws.judge_led([0] * 99 + [9]), ["one in a hundred requests was led on 9 times"])
        self.assertEqual(shard_laws.judge_led([]), [])

    def test_samples_are_read_as_they_are_written(self):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            file.write(f"5 {A} 0-8191={A},8192-16383={B}\n6 {B} -\n7 {B} nothing\nEND 12\n")
            file.flush()
            self.assertEqual(shard_laws.read_samples(file.name),
                             ([shard_laws.Sample(5, A, WHOLE), shard_laws.Sample(6, B, None),
                               shard_laws.Sample(7, B, {})], 12))


class Journals(unittest.TestCase):
    def test_who_answered_is_in_the_journal(self):
        with tempfile.NamedTemporaryFile("r", suffix=".journal") as file:
            writer = journal.Writer(file.name)
            for value in (3, 4):
                writer.send("incr", "c0{a}")
                writer.reply(value, A if value == 3 else "")
            writer.send("get", "c0{a}")
            writer.refused("MOVED 1 elsewhere")
            writer.file.close()
            entries = journal.read([file.name])
        self.assertEqual([(entry.value, entry.host, entry.refusal, entry.journal) for entry in entries],
                         [(3, A, None, file.name), (4, "", None, file.name), (None, "", "MOVED 1 elsewhere", file.name)])


if __name__ == "__main__":
    unittest.main()
