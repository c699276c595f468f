"""A weir-server that dies, hangs, is late, or whose replies are lost: nothing is charged twice, nobody waits long."""

import json
import signal
import unittest
from pathlib import Path

import redis
from weir import Denied, Limiter, Reservation, Weir, take_all

from .proxy import Answering, Proxy
from .timing import PATIENT_S, SLACK_S, Stopwatch
from .weirs import WeirServer, wait_until

DEADLINE_S = 0.1
LIMIT = "FIXED 1000/1h"
BANNED_AT_ONCE = "FIXED 4/1h BAN 1h AFTER 1 WITHIN 1h"
ERRORS = Path(__file__).resolve().parents[2] / "conformance/errors.json"


class Calls:
    """Takes, and times them."""

    def __init__(self, limiter):
        self.limiter = limiter
        self.watch = Stopwatch()

    def take(self, key="k"):
        with self.watch.timing():
            return self.limiter.take(key)

    def source(self, key="k"):
        return self.take(key).source


class Outages(unittest.TestCase):
    def setUp(self):
        self.server = WeirServer().__enter__()
        self.addCleanup(self.server.__exit__)

    def calls(self, url=None, limits=LIMIT, deadline=DEADLINE_S, **options):
        weir = Weir(url or self.server.url, deadline=deadline)
        self.addCleanup(weir.close)
        calls = Calls(Limiter(weir, limits, processes=2, **options))
        wait_until(lambda: calls.source() == "weir", "weir answers")
        calls.watch = Stopwatch()
        return calls

    def back(self, calls):
        wait_until(lambda: not calls.limiter.state().away or calls.take("other") and None, "weir is back", pause_s=0.05)

    def remaining(self, key="k"):
        return self.server.call("RL.PEEK", key, *LIMIT.split(), "COST", "0")[2]

    def in_time(self, calls):
        self.assertLess(calls.watch.longest, DEADLINE_S + SLACK_S)

    def test_killed_and_started_again(self):
        changes = []
        calls = self.calls(deadline=PATIENT_S, hooks=[changes.append])
        self.server.kill()
        self.assertEqual([calls.source() for _ in range(5)], ["local"] * 5)
        self.assertEqual((calls.limiter.state().cause, calls.limiter.state().decided_here), ("gone", 5))
        self.server.start()
        self.back(calls)
        left = self.remaining()
        self.assertEqual(left, 999)
        self.assertEqual(calls.source(), "weir")
        self.assertEqual(self.remaining(), left - 5 - 1, "what was granted meanwhile is charged once")
        calls.take()
        self.assertEqual(self.remaining(), left - 5 - 2)
        self.assertEqual([change.away for change in changes], [True, False])

    def test_what_is_handed_back_bans_nobody(self):
        rows = {"nothing is there": (BANNED_AT_ONCE, 4, [0]),
                "of several limits: one has less": (f"{BANNED_AT_ONCE} FIXED 100/1d", 3, [0, 96])}
        for name, (limits, taken, left) in rows.items():
            with self.subTest(name):
                calls = self.calls(limits=limits, deadline=PATIENT_S)
                calls.limiter.take("h", 0)
                self.server.kill()
                self.assertEqual(calls.limiter.take("h", 2).source, "local")
                self.server.start()
                self.back(calls)
                self.server.call("RL.TAKE", "h", *limits.split(), "COST", str(taken))
                calls.limiter.take("h", 0)
                verdict = calls.limiter.peek("h")
                self.assertEqual(([limit.remaining for limit in verdict.limits], verdict.banned), (left, False))
                self.server.call("FLUSHALL")

    def test_nobody_waits_for_who_is_killed(self):
        calls = self.calls()
        self.server.kill()
        self.assertEqual({calls.source() for _ in range(20)}, {"local"})
        self.assertTrue(calls.limiter.state().away)
        self.in_time(calls)

    def test_stopped_and_continued(self):
        calls = self.calls()
        left = self.remaining()
        self.server.send_signal(signal.SIGSTOP)
        verdicts = [calls.take() for _ in range(20)]
        state = calls.limiter.state()
        self.server.send_signal(signal.SIGCONT)
        self.assertEqual({(verdict.source, verdict.allowed) for verdict in verdicts}, {("local", True)})
        self.assertEqual((state.away, state.cause), (True, "late"))
        self.in_time(calls)
        calls.limiter.weir.options.deadline = PATIENT_S
        self.back(calls)
        self.assertEqual(calls.source(), "weir")
        left -= self.remaining() + 20 + 1
        self.assertIn(left, range(3), "what was granted meanwhile is charged once, and so may be what was late")

    def test_a_key_whose_first_call_is_late_is_known_when_weir_answers(self):
        calls = self.calls()
        self.server.send_signal(signal.SIGSTOP)
        wait_until(lambda: calls.take("new").source == "local", "a call is late")
        self.server.send_signal(signal.SIGCONT)
        self.back(calls)
        wait_until(lambda: calls.source("new") == "weir", "weir answers")
        self.server.kill()
        self.assertTrue(calls.take("new"))

    def test_slow_and_trickling_peers(self):
        for fault in ("delay", "trickle"):
            with self.subTest(fault), Proxy(self.server.port) as proxy:
                calls = self.calls(proxy.url)
                setattr(proxy, fault, 2.0 if fault == "delay" else 0.02)
                self.assertEqual({calls.source() for _ in range(5)}, {"local"})
                self.in_time(calls)
                proxy.cut()  # and now the handshake is slow
                wait_until(lambda calls=calls: calls.source() and calls.limiter.state().probes > 1, "it probes",
                           pause_s=0.05)
                self.assertTrue(calls.limiter.state().away)
                self.in_time(calls)

    def test_lost_replies_are_charged_once(self):
        with Proxy(self.server.port) as proxy:
            calls = self.calls(proxy.url, deadline=PATIENT_S)
            before = self.remaining()
            for _ in range(10):
                proxy.lose = 1
                self.assertEqual(calls.source(), "weir")
            self.assertEqual(self.remaining(), before - 10)

    def test_cut_connections(self):
        with Proxy(self.server.port) as proxy:
            calls = self.calls(proxy.url, deadline=PATIENT_S)
            before = self.remaining()
            for _ in range(10):
                proxy.cut()
                self.assertEqual(calls.source(), "weir")
            self.assertEqual(self.remaining(), before - 10)

    def test_modes(self):
        calls = {mode: self.calls(away=mode) for mode in ("local", "strict", "open", "closed")}
        self.server.kill()
        verdicts = {mode: call.take() for mode, call in calls.items()}
        self.assertEqual({mode: verdict.allowed for mode, verdict in verdicts.items()},
                         {"local": True, "strict": False, "open": True, "closed": False})
        self.assertIn("Retry-After", verdicts["closed"].headers())
        self.assertEqual(verdicts["local"].headers()["RateLimit-Policy"], '"default";q=1000;w=3600')

    def test_other_calls_while_away(self):
        calls = self.calls(limits="FIXED 20/1h", deadline=PATIENT_S)
        limiter = calls.limiter
        leases = Limiter(limiter.weir, "CONCURRENCY 4 LEASE 1h", processes=2)
        rate = Limiter(limiter.weir, "2/1s", processes=2)
        self.assertTrue(leases.take("pool"))
        self.server.kill()
        self.assertEqual(calls.take().source, "local")
        with limiter.hold("k", 1):
            pass
        self.assertTrue(limiter.acquire("k", 5))
        self.assertEqual(limiter.reserve("k", 2), Reservation(False, None, source="local"), "weir books no windows either")
        self.assertEqual([bool(limiter.peek("k", cost)) for cost in (6, 7)], [True, False])
        self.assertTrue(rate.acquire("unknown", PATIENT_S), "it waits here")
        self.assertTrue(rate.reserve("unknown").granted)
        with leases.lease("pool"):
            self.assertFalse(leases.take("pool"))
        self.assertTrue(leases.peek("pool"))

    def test_no_call_grants_by_a_policy_that_is_not_known(self):
        limiter = self.calls(deadline=PATIENT_S).limiter
        self.server.kill()
        unknown = Limiter(limiter.weir, "POLICY unknown")
        self.assertFalse(unknown.take("k"))
        self.assertFalse(unknown.peek("k"))
        self.assertFalse(unknown.reserve("k"))
        self.assertFalse(unknown.acquire("k", 0.01))
        self.assertFalse(take_all([(limiter, "k"), (unknown, "k")]))
        for context in (unknown.hold, unknown.lease):
            with self.assertRaises(Denied):
                context("k", 1)

    def test_the_share_that_weir_tells(self):
        with Weir(self.server.url, deadline=PATIENT_S) as weir:
            weir.policies.set("free", "FIXED 9/1h")
            for name in ("one", "another"):
                with redis.Redis(port=self.server.port, client_name=name) as process:
                    process.execute_command("RL.TAKE", "k", "POLICY", "free", "COST", 0, "FULL")
            limiter = Limiter(weir, "POLICY free")
            self.assertTrue(limiter.take("k"))
            self.assertAlmostEqual(limiter.state().share, 1 / 3)
            self.server.kill()
            self.assertEqual([bool(limiter.take("k")) for _ in range(3)], [True, True, False])

    def test_a_ban_lasts_as_long_as_weir_said(self):
        with Weir(self.server.url, deadline=PATIENT_S) as weir:
            limiter = Limiter(weir, "GCRA 1/1s BURST 0 BAN 1h AFTER 1 WITHIN 1h")
            self.assertTrue(limiter.take("other"))
            wait_until(lambda: limiter.take("k").banned, "it is banned")
            self.server.kill()
            denied = limiter.take("k")
            self.assertEqual((denied.allowed, denied.source), (False, "local"))
            self.assertGreater(denied.retry_after, 1800)
            wait_until(lambda: limiter.take("other"), "others are not")

    def test_a_policy_that_lets_nobody_through(self):
        with Weir(self.server.url, deadline=PATIENT_S) as weir:
            weir.policies.set("emergency", "BLOCKED")
            limiter = Limiter(weir, "POLICY emergency")
            self.assertFalse(limiter.take("k"))
            self.server.kill()
            self.assertFalse(limiter.take("k"))
            self.assertFalse(limiter.take("unknown"))
            self.assertEqual(limiter.take("unknown").source, "local")

    def test_a_booking_by_a_policy_is_known_when_weir_goes(self):
        limiter = self.calls(deadline=PATIENT_S).limiter
        limiter.weir.policies.set("free", "10/1h BURST 9")
        free = Limiter(limiter.weir, "POLICY free", processes=2)
        self.assertTrue(free.take("k"))
        self.assertTrue(free.reserve("k", 3))
        self.server.kill()
        self.assertEqual([bool(free.take("k")) for _ in range(2)], [True, False])


class Errors(unittest.TestCase):
    def test_what_each_error_means(self):
        """By the way of redis-py, which makes classes of some words and takes them out of the text."""
        for row in json.loads(ERRORS.read_text()):
            if row["error"].startswith("ERR BUSY") and not hasattr(redis.ResponseError(), "status_code"):
                continue  # an older redis-py takes ERR out of the text, and does not say so
            with self.subTest(row["error"]), Answering(RL_TAKE=f"-{row['error']}\r\n".encode()) as server, \
                    Weir(server.url, deadline=PATIENT_S) as weir:
                limiter = Limiter(weir, "5/1s")
                if row["means"] == "program":
                    with self.assertRaises(redis.RedisError):
                        limiter.take("k")
                    self.assertFalse(limiter.state().away)
                else:
                    self.assertEqual(limiter.take("k").source, "local")
                    self.assertEqual(limiter.state().cause, row["means"])

    def test_a_refusal_of_writes_is_probed_by_a_write(self):
        refusal = b"-MISCONF the disk is full\r\n"
        with Answering(RL_TAKE=refusal, RL_PEEK=b"*6\r\n" + b":1\r\n" * 6) as server, \
                Weir(server.url, deadline=PATIENT_S) as weir:
            changes = []
            limiter = Limiter(weir, "5/1s", processes=1, hooks=[changes.append])
            limiter.take("k")
            wait_until(lambda: limiter.take("k") and None or limiter.state().probes > 1, "it probes", pause_s=0.05)
            self.assertEqual([change.away for change in changes], [True])


if __name__ == "__main__":
    unittest.main()
