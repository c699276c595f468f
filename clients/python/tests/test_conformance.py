"""The core by the table that all clients share; no server is asked."""

import itertools
import json
import unittest
from pathlib import Path

from weir import verdict
from weir.core.breaker import Failure, failure_of_words
from weir.core.core import KEYS_MAX, Away, Core, HandBack
from weir.core.local import NEVER
from weir.core.specs import Spec, parse, words_of

TABLES = Path(__file__).resolve().parents[2] / "conformance"
PLACES = 6


def table(name):
    return json.loads((TABLES / f"{name}.json").read_text())


def specs_of(rows):
    return None if rows is None else tuple(Spec(*row) for row in rows)


class Player:
    """Does the steps of a row of away.json to a core."""

    def __init__(self, test, row):
        self.test = test
        self.core = Core(parse(words_of(row["limits"])), Away(row["away"]), row["processes"],
                         row.get("keys_max", KEYS_MAX))
        self.ids = map(str, itertools.count())
        self.planned = {}

    def play(self, step):
        kind = next(name for name in ("answered", "replied", "failed", "plan", "handed_back", "decide", "book", "give_back",
                                      "probe", "probed") if name in step)
        getattr(self, kind)(step["at"], step[kind], step)

    def answered(self, at, what, _):
        self.core.replied()
        self.core.answered(what["key"], at, what["granted"], specs=specs_of(what.get("specs")),
                           resets_ms=what.get("resets_ms", ()), callers=what.get("callers"),
                           blocked=what.get("blocked"), banned_ms=what.get("banned_ms"))

    def replied(self, *_):
        self.core.replied()

    def failed(self, at, what, step):
        self.core.failed(at, Failure(what))
        self.test.assertEqual(self.core.breaker.away, step["away"])

    def plan(self, at, what, step):
        asked = self.core.plan(what["key"], at, lambda: next(self.ids))
        self.test.assertEqual(asked is not None, step["asks"])
        if asked is not None:
            costs = list(asked.hand_back.costs) if asked.hand_back else None
            self.test.assertEqual(costs, step["hand_back"])
            before = self.planned.get(what["key"])
            if before and asked.hand_back and before.costs == asked.hand_back.costs:
                self.test.assertEqual(before, asked.hand_back, "the ID of a hand back is kept")
            self.planned[what["key"]] = asked.hand_back

    def handed_back(self, at, what, _):
        self.test.assertIsInstance(self.planned[what["key"]], HandBack)
        self.core.handed_back(what["key"], self.planned[what["key"]])

    def decide(self, at, what, step):
        decision = self.core.decide(what["key"], what["cost"], at)
        self.test.assertEqual(decision.allowed, step["allowed"])
        for name, got in (("remaining", "remaining"), ("retry", "retry_ms"), ("reset", "reset_ms")):
            if name in step:
                self.test.assertAlmostEqual(getattr(decision.deciding, got), step[name], PLACES, name)

    def book(self, at, what, step):
        booked, decision = self.core.book(what["key"], what["cost"], what.get("wait_max"), at)
        self.test.assertEqual(booked, step["booked"])
        if "wait" in step:
            self.test.assertAlmostEqual(decision.deciding.retry_ms, step["wait"], PLACES)

    def give_back(self, at, what, _):
        self.core.give_back(what["key"], what["cost"], at)

    def probe(self, at, _, step):
        self.test.assertEqual(self.core.breaker.begin_probe(at), step["begins"])

    def probed(self, at, what, step):
        self.core.breaker.probed(at, what)
        self.test.assertEqual(self.core.breaker.away, step["away"])


class Conformance(unittest.TestCase):
    def test_limits(self):
        for row in table("limits"):
            with self.subTest(row["limits"]):
                self.assertEqual(parse(words_of(row["limits"])), specs_of(row["specs"]))

    def test_errors(self):
        for row in table("errors"):
            with self.subTest(row["error"]):
                failure = failure_of_words(row["error"])
                self.assertEqual(failure.value if failure else "program", row["means"])

    def test_fields(self):
        for row in table("fields"):
            with self.subTest(row["name"]):
                answer = verdict.of_reply(row["reply"], None, row.get("cost", 1))
                self.assertEqual(answer.banned_ms, row["banned_ms"])
                got = answer.verdict
                for name, wanted in row["verdict"].items():
                    if name.endswith("_ms"):
                        value = getattr(got, {"retry_ms": "retry_after", "reset_ms": "reset_after"}[name])
                        self.assertEqual(NEVER if value is None else value * 1000, wanted, name)
                    else:
                        self.assertEqual(getattr(got, name), wanted, name)
                self.assertEqual(got.specs, specs_of(row["specs"]))
                self.assertEqual(got.headers(legacy=True), row["headers"])

    def test_away(self):
        for row in table("away") + table("unknown") + table("bookings"):
            player = Player(self, row)
            for number, step in enumerate(row["steps"]):
                with self.subTest(row["name"], step=number, at=step["at"]):
                    player.play(step)


if __name__ == "__main__":
    unittest.main()
