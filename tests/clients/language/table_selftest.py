#!/usr/bin/env python3
"""Tests of the table: a reply that is not the expected one must never look as if it were."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import table  # noqa: E402


class Files(unittest.TestCase):
    def test_a_row_is_a_request_and_its_reply(self):
        rows = table.parsed("a.txt", '# words\n> RL.TAKE k 1/1s\n< [1,\n   2]\n\n> RL.TAKE\n! usage\n')
        self.assertEqual([(row.place, row.request, row.reply, row.error) for row in rows],
                         [("a.txt:2", "RL.TAKE k 1/1s", [1, 2], ""), ("a.txt:6", "RL.TAKE", "", "usage")])

    def test_what_is_no_row_is_refused(self):
        for text in ("> PING\n", "< 1\n", "> PING\n< 1\n! usage\n", "> PING\n< 1\n< 2\n", "> PING\n< [1\n",
                     "PING\n< 1\n"):
            with self.assertRaises(ValueError, msg=text):
                table.parsed("a.txt", text)

    def test_every_file_can_be_read_and_holds_rows(self):
        sections = table.sections()
        self.assertIn("limiting", sections)
        for name, rows in sections.items():
            self.assertGreater(len(rows), 4, name)


class Replies(unittest.TestCase):
    def check(self, got, wanted, shape="map"):
        return table.Comparison(shape).is_equal(got, wanted)

    def test_integers_are_no_strings_and_no_booleans(self):
        self.assertTrue(self.check([1, None], [1, None]))
        for got in (["1", None], [True, None], [1], [1, None, 0], [1, 0], {"1": None}, 1, None):
            self.assertFalse(self.check(got, [1, None]), got)

    def test_ranges_hold_their_ends(self):
        self.assertTrue(self.check(5, "5..9") and self.check(9, "5..9") and self.check(-1, "-2..0"))
        for got in (4, 10, "7", True, None, 7.0):
            self.assertFalse(self.check(got, "5..9"), got)

    def test_ids_are_bound_once_and_put_into_requests(self):
        seen = table.Comparison("map")
        self.assertTrue(seen.is_equal([17, 17], ["$id", "$id"]))
        self.assertFalse(seen.is_equal(18, "$id"))
        self.assertEqual(seen.words("RL.SETTLE k $id 1"), "RL.SETTLE k 17 1")
        for got in (0, -1, "17", None):
            self.assertFalse(self.check(got, "$other"), got)

    def test_strings_patterns_and_anything(self):
        self.assertTrue(self.check("OK", "OK") and self.check("a  b", "a b"))
        self.assertTrue(self.check("r=99;t=7", "/t=[5-9]$/") and self.check(None, "*"))
        self.assertFalse(self.check("r=99;t=17", "/;t=[5-9]$/") or self.check("OK!", "OK"))

    def test_more_may_follow_only_where_it_is_said(self):
        self.assertTrue(self.check([1, 2, 3], [1, "..."]) and self.check([1], [1, "..."]))
        self.assertFalse(self.check([2, 1], [1, "..."]) or self.check([], [1, "..."]))
        self.assertTrue(self.check({"a": 1, "b": 2}, {"a": 1, "...": ""}))
        self.assertFalse(self.check({"b": 2}, {"a": 1, "...": ""}) or self.check({"a": 1, "b": 2}, {"a": 1}))

    def test_each_shape_of_a_map_is_its_own(self):
        wanted = {"a": 1, "b": {"c": None}}
        shapes = {"map": {"a": 1, "b": {"c": None}}, "flat": ["a", 1, "b", ["c", None]],
                  "pairs": [{"a": 1}, {"b": [{"c": None}]}]}
        for name in shapes:
            for other, got in shapes.items():
                self.assertEqual(self.check(got, wanted, name), name == other, (name, other))
        for got in (["a", 1, "b"], ["a", 2, "b", ["c", None]], ["a", 1], "a"):
            self.assertFalse(self.check(got, wanted, "flat"), got)


if __name__ == "__main__":
    unittest.main()
