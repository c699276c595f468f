"""One deadline for each call, however many requests it makes, and one ID for each of them, however often it is sent: the
steps alone, by a clock that stands still between them."""

import contextlib
import itertools
import unittest
from types import SimpleNamespace
from unittest import mock

from redis.exceptions import ClusterCrossSlotError
from weir import calls, contexts, lots, together
from weir.core.breaker import Failure
from weir.core.core import HandBack
from weir.effects import Beside, Send, Sleep, Wait
from weir.lots import Lots
from weir.steps import Engine, Options

DEADLINE_S = 0.1
WAIT_S = 1.0
MODULES = ("calls", "steps", "lots", "contexts")
FULL = {"allowed": 1, "limits": [], "retry_ms": 0, "policy": None, "granted": 5, "lease": None, "hold": 7, "banned": 0}
DEPTH = 6  # requests of which each may be late or answered; those after them are late


class Clock:
    """In place of the module time."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


class World:
    """Answers each request when its time is all but over, or not at all."""

    def __init__(self, clock, answered, crosses):
        self.clock, self.answered, self.crosses = clock, iter(answered), crosses
        self.sent = []

    def run(self, steps):
        with contextlib.suppress(StopIteration):
            effect = next(steps)
            while True:
                try:
                    outcome = self.perform(effect)
                except Exception as error:
                    effect = steps.throw(error)
                else:
                    effect = steps.send(outcome)

    def perform(self, effect):
        if isinstance(effect, Beside):
            return effect.steps.close()
        if isinstance(effect, Sleep):
            self.clock.now += effect.seconds
            return None
        self.clock.now = max(self.clock.now, effect.end)
        if isinstance(effect, Wait):
            return False
        return self.reply(effect)

    def reply(self, send: Send):
        self.sent.append(send)
        if not next(self.answered, False):
            raise TimeoutError
        self.clock.now -= 1e-6
        if self.crosses and send.commands[-1][0] == "RL.MTAKE":
            raise ClusterCrossSlotError
        return [self.of(command) for command in send.commands]

    def of(self, command):
        if command[-1] in ("HEADERS", "FULL"):
            return {**FULL, "index": -1, "keys": [FULL, FULL]}
        if command[0] == "RL.TAKE":
            return [1, 0, 0, 0, 0, 0]  # SHADOW: a limit would deny a hand back of several costs
        return [0, 0, 0] if command[0] == "RL.RESERVE" else 1


def limiter(clock, limits):
    """One that owes a hand back of each key."""
    engine = Engine(limits, Options(DEADLINE_S, 1), "local", None, 100, (), None)
    engine.failed(Failure.GONE)
    for key in "ab":
        engine.decide(key, 1)
    clock.now += 4000
    assert all(engine.decide(key, 5) for key in "ab")
    clock.now += 1
    with engine.lock:
        assert engine.core.breaker.begin_probe(clock.now * 1e3)
        engine.core.breaker.probed(clock.now * 1e3, True)
    assert isinstance(engine.plan("a")[1], HandBack)
    return engine


HELD = SimpleNamespace(source="weir", id=7)
CALLS = {
    "take": (0, lambda engine: calls.take(engine, "a")),
    "peek": (0, lambda engine: calls.peek(engine, "a")),
    "acquire": (WAIT_S, lambda engine: calls.acquire(engine, "a", WAIT_S)),
    "reserve": (0, lambda engine: calls.reserve(engine, "a")),
    "hold": (0, lambda engine: calls.take(engine, "a", 5, False, 60.0)),
    "settle": (0, lambda engine: contexts.settle(engine, "a", 5, 3, HELD)),
    "release": (0, lambda engine: calls.of_id(engine, "RL.RELEASE", "a", 7)),
    "take of lots": (0, lambda engine: lots.take(Lots(engine, 1.0), "a", 1)),
    "take_all": (0, lambda engine: together.steps([(engine, "a", 1), (engine, "b", 1)])),
}
CALLS["take_all over slots"] = CALLS["take_all"]


CHARGE = {"RL.TAKE", "RL.ACQUIRE", "RL.RESERVE", "RL.MTAKE"}


def ids(sent):
    """Those of all that charges, by what it is: by its name, its key and its last option before the ID."""
    found = {}
    for name, *words in (command for send in sent for command in send.commands):
        if name in CHARGE:
            place = words.index("ID") if "ID" in words else None
            token = None if place is None else words[place + 1]
            what = (name, words[0], words[-1] if words[-1] in ("HEADERS", "FULL") else words[place - 2:place] if place else 0)
            found.setdefault(str(what), set()).add(token)
    return found


class Calls(unittest.TestCase):
    def played(self, limits, name):
        """Of all that weir may do: how much longer than it may the call takes, and what it sends."""
        wait_s, steps_of = CALLS[name]
        for answered in itertools.product((True, False), repeat=DEPTH):
            clock = Clock()
            with contextlib.ExitStack() as patches:
                for module in MODULES:
                    patches.enter_context(mock.patch(f"weir.{module}.time", clock))
                steps, begin = steps_of(limiter(clock, limits)), clock.now
                world = World(clock, answered, "slots" in name)
                world.run(steps)
            yield clock.now - begin - wait_s - DEADLINE_S, world.sent

    def test_one_deadline_and_one_id(self):
        for limits, name in itertools.product(("100/1m", "100/1m FIXED 1000/1h"), CALLS):
            with self.subTest(name, limits=limits):
                most = 0
                for longer, sent in self.played(limits, name):
                    self.assertLess(longer, 0.001)
                    most = max(most, len(sent))
                    for what, tokens in ids(sent).items():
                        self.assertEqual((len(tokens), None in tokens), (1, False), what)
                self.assertGreaterEqual(most, 2, "it was asked again")


if __name__ == "__main__":
    unittest.main()
