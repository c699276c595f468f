"""What calls make of the replies to their requests; the steps alone, without a server."""

import unittest

from redis.exceptions import ClusterCrossSlotError, ResponseError
from weir import calls, together
from weir.effects import Beside, Send
from weir.steps import Engine, Options

FULL = {"allowed": 1, "limits": [], "retry_ms": 0, "policy": None, "granted": 1, "lease": None, "hold": 7, "banned": 0}


def engine_of(limits="5/1s"):
    return Engine(limits, Options(60.0, 0), "local", None, 100, (), None)


def played(steps, reply_to):
    """The outcome of steps whose requests are answered by this function, or which it denies an answer by raising."""
    try:
        effect = next(steps)
        while True:
            if isinstance(effect, Beside):
                played(effect.steps, reply_to)
            try:
                outcome = [reply_to(command) for command in effect.commands] if isinstance(effect, Send) else None
            except Exception as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(outcome)
    except StopIteration as stop:
        return stop.value


def late(_):
    raise TimeoutError


def fault(*_):
    raise ResponseError("WRONGTYPE no limiter")


class Steps(unittest.TestCase):
    def test_any_reply_is_between_two_time_outs(self):
        def take(engine):
            with self.assertRaises(ResponseError):
                played(calls.take(engine, "k"), fault)
        rows = {"to a peek": lambda engine: played(calls.peek(engine, "k"), lambda _: FULL),
                "to what gives back": lambda engine: played(calls.of_id(engine, "RL.CANCEL", "k", 7), lambda _: 1),
                "to a renewal": lambda engine: played(calls.renew(engine, "k", 7), lambda _: 1),
                "that is a fault of the program": take}
        for name, call in rows.items():
            with self.subTest(name):
                engine = engine_of()
                for _ in range(3):
                    self.assertEqual(played(calls.take(engine, "k"), late).source, "local")
                    call(engine)
                self.assertFalse(engine.state().away)
                for _ in range(2):
                    played(calls.take(engine, "k"), late)
                self.assertTrue(engine.state().away)

    def test_a_take_of_several_keys_is_a_reply_to_each_limiter(self):
        engines = [engine_of(), engine_of()]
        for _ in range(3):
            for engine in engines:
                played(calls.take(engine, "k"), late)
            played(together.steps([(engine, f"k{number}", 1) for number, engine in enumerate(engines)]),
                   lambda _: {"allowed": 1, "index": -1, "keys": [FULL, FULL]})
        self.assertEqual([engine.state().away for engine in engines], [False, False])

    def test_a_fault_of_one_key_gives_back_what_others_hold(self):
        sent = []

        def reply_to(command):
            sent.append(command[:3])
            if command[0] == "RL.MTAKE":
                raise ClusterCrossSlotError
            return fault() if command[1] == "text" else FULL
        engine = engine_of()
        with self.assertRaisesRegex(ResponseError, "WRONGTYPE"):
            played(together.steps([(engine, "a", 1), (engine, "text", 1)]), reply_to)
        self.assertEqual(sent[-1], ("RL.CANCEL", "a", 7))

    def test_a_fault_of_one_key_does_not_keep_the_others_from_being_settled(self):
        settled = []

        def reply_to(command):
            if command[0] == "RL.MTAKE":
                raise ClusterCrossSlotError
            if command[0] == "RL.SETTLE":
                settled.append(command[1])
                if command[1] == "a":
                    fault()
                if settled == ["a", "b"]:
                    late(command)
                return 1
            return FULL
        engine = engine_of()
        with self.assertRaisesRegex(ResponseError, "WRONGTYPE"):
            played(together.steps([(engine, key, 1) for key in "abc"]), reply_to)
        self.assertEqual(settled, ["a", "b", "c", "b"], "what was late is sent once more")


if __name__ == "__main__":
    unittest.main()
