#!/usr/bin/env python3
"""Today's server opens the data directories of earlier ones: all of it is there, and goes on.

    test_formats.py WEIR_SERVER CLOCKED_SERVER [unittest options]

Each directory under stored/ was left by kill -9 (make_directory.py). Every test unpacks it afresh.
The one of a shard is f96166f after `--new-shard`; it leaves the shard before it is opened.
"""

import json
import signal
import sys
import unittest
from pathlib import Path

import directory
from directory import harness

POOL = ("RL.TAKE", "pool", "CONCURRENCY", "10", "LEASE", "1d")
BOOKED = ("GCRA", "1/1m", "BURST", "9")
BEGIN_MS = 1_700_000_000_000  # of make_directory.py
clocked_server = None


class OpenedTest(harness.ServerTest):
    """One server on a fresh copy of a stored directory, its clock where the directory's stood."""

    source = None
    needs = None  # what a directory's facts must tell of

    def setUp(self):
        self.facts = json.loads((self.source / directory.FACTS).read_text())
        if self.needs is not None and self.needs not in self.facts:
            self.skipTest(f"it has no {self.needs}")  # before anything is started
        super().setUp()
        directory.unpack(self.source / directory.ARCHIVE, self.folder)
        if "shard" in self.facts:
            done = directory.run("--leave-shard", "--dir", str(Path(self.folder, "data")))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.clock = directory.Clock(Path(self.folder) / "clock", self.facts["now_ms"])
        self.opened = self.server(write_back_interval_ms=3_600_000)
        self.opened.command[0] = clocked_server
        self.opened.start()
        self.client = self.opened.connect()

    def tearDown(self):
        self.client.close()
        super().tearDown()

    def call(self, *words):
        return self.client.call(*words)

    def restart(self, number=signal.SIGKILL):
        self.client.close()
        self.opened.stop(number)
        self.opened.start()
        self.client = self.opened.connect()

    def write_back(self):
        self.call("CONFIG", "SET", "write-back-interval-ms", "100")
        self.clock.advance(100)
        harness.wait_until(lambda: b"\nunwritten_entries:0\r" in self.call("INFO", "everything"),
                           "the write-back")
        self.call("CONFIG", "SET", "write-back-interval-ms", "3600000")

    def info(self, key):
        reply = self.call("RL.INFO", key)
        return dict(zip((name.decode() for name in reply[::2]), reply[1::2]))

    def remaining(self, key):
        """Of each limit, what is left of it."""
        return [dict(zip(limit[::2], limit[1::2]))[b"remaining"]
                for limit in self.info(key)["limits"]]

    def full_in_s(self, key):
        return [dict(zip(limit[::2], limit[1::2]))[b"reset_after_ms"] // 1000
                for limit in self.info(key)["limits"]]

    def reserve(self, key, cost, *limits):
        granted, wait_ms, booking = self.call("RL.RESERVE", key, *(limits or BOOKED), "COST", cost)
        self.assertEqual(granted, 1)
        return wait_ms, booking


class Contents(OpenedTest):
    def assert_all_there(self, but=()):
        reads, expected = directory.read_reads(self.source / directory.READS)
        for (database, words), was, reply in zip(reads, expected,
                                                 directory.ask_all(self.opened, reads)):
            if words[0] not in but:
                with self.subTest(database=database, words=words):
                    self.assertTrue(directory.agrees(was, reply), f"{was} became {reply}")

    def test_everything_is_there(self):
        self.assertIn("data opened: existing", self.opened.log())
        self.assert_all_there()

    def test_everything_is_there_after_another_kill(self):
        self.restart()
        self.assert_all_there()

    def test_everything_is_there_after_a_stop(self):
        self.restart(signal.SIGTERM)
        self.assert_all_there()

    def test_everything_is_written_back(self):
        """From the state alone: what was in the log is in its files now."""
        self.write_back()
        self.restart()
        self.assert_all_there(but=("RL.INFO", "RL.PEEK"))  # they tell how far the clock has moved

    def test_collections_change(self):
        self.call("HSET", "h:large", "field:9", "now", "new", "1")
        self.call("LPUSH", "l:large", "now")
        self.call("RPUSH", "l:large", "last")
        self.call("ZADD", "z:large", "-inf", "now")
        self.call("SREM", "set:large", "member 9")
        self.call("DEL", "l:late")
        self.call("SET", "s:new", "1")
        for number in (signal.SIGKILL, signal.SIGTERM):
            self.restart(number)
            self.assertEqual(self.call("HMGET", "h:large", "field:9", "new", "field:7", "field:8"),
                             [b"now", b"1", b"changed", None])
            self.assertEqual(self.call("LRANGE", "l:large", 0, 2), [b"now", b"front", b"element 0"])
            self.assertEqual(self.call("LLEN", "l:large"), 1403)
            self.assertEqual(self.call("ZRANGE", "z:large", 0, 1), [b"now", b"late"])
            self.assertEqual(self.call("SCARD", "set:large"), 1499)
            self.assertEqual(self.call("EXISTS", "l:late", "s:new"), 1)
            self.write_back()

    def test_any_clock(self):
        """weir-server itself, by the clock of this machine, which may stand anywhere."""
        self.client.close()
        self.opened.stop()
        server = self.server().start()
        reads, expected = directory.read_reads(self.source / directory.READS)
        names = ("GET", "HGETALL", "LRANGE", "ZRANGE", "FCALL", "EVALSHA", "RL.POLICY")
        kept = [(read, was) for read, was in zip(reads, expected) if read[1][0] in names]
        self.assertGreater(len(kept), 40)
        for (read, was), reply in zip(kept, directory.ask_all(server, [read for read, _ in kept])):
            self.assertTrue(directory.agrees(was, reply), f"{read}: {was} became {reply}")
        self.client = server.connect()


class Leases(OpenedTest):
    def test_each_is_given_back_once(self):
        self.assertEqual(self.remaining("pool"), [3])
        for lease, permits in zip(self.facts["leases"], (1, 2, 3, 1)):
            self.assertEqual(self.call("RL.RENEW", "pool", lease), permits)
        self.restart()
        for lease, permits in zip(self.facts["leases"], (1, 2, 3, 1)):
            self.assertEqual(self.call("RL.RELEASE", "pool", lease), permits)
            self.assertEqual(self.call("RL.RELEASE", "pool", lease), 0)
        self.assertEqual(self.call("EXISTS", "pool"), 0)  # a full limiter is forgotten

    def test_other_ids_are_of_no_lease(self):
        for other in (self.facts["lease_given_back"], self.facts["lease_of_two"],
                      max(self.facts["leases"]) + 1, 2**53 - 1):
            self.assertEqual(self.call("RL.RELEASE", "pool", other), 0)
        self.assertEqual(self.remaining("pool"), [3])

    def test_one_id_for_two_limits(self):
        self.assertEqual(self.remaining("pools"), [3, 5])
        self.assertGreater(self.call("RL.RELEASE", "pools", self.facts["lease_of_two"]), 0)
        self.assertEqual(self.call("EXISTS", "pools"), 0)

    def test_new_leases_beside_the_old(self):
        fresh = [self.call(*POOL)[-1] for _ in range(3)]
        self.assertEqual(len(set(fresh) | set(self.facts["leases"])), 7)
        self.assertEqual(self.call(*POOL)[0], 0)
        self.restart()
        for lease in (fresh[1], self.facts["leases"][2]):
            self.assertGreater(self.call("RL.RELEASE", "pool", lease), 0)
        self.assertEqual(self.remaining("pool"), [4])

    def test_they_end_when_they_were_to_end(self):
        self.clock.advance(86_400_000 - 5_001)  # the last was taken five seconds later
        self.assertEqual(self.remaining("pool"), [3])
        self.clock.advance(1)
        self.assertEqual(self.remaining("pool"), [9])
        self.assertEqual(self.call("RL.RELEASE", "pool", self.facts["leases"][0]), 0)
        self.assertEqual(self.call("RL.RELEASE", "pool", self.facts["leases"][3]), 1)


class Bookings(OpenedTest):
    """On `booked` 4, 5, 2 and 3 permits are booked, in this order. Whoever cancels gets what was
    booked less what was booked later, because later bookings have been told to wait for it."""

    def debt_s(self):
        return self.full_in_s("booked")[0]

    def test_the_middle_one(self):
        before_s = self.debt_s()
        self.assertEqual(self.info("booked")["bookings"], 4)
        # Of 5 permits the 2 and 3 booked later keep what they were told to wait for.
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][1]), 0)
        self.assertEqual(self.debt_s(), before_s)
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][1]), 0)

    def test_less_what_was_booked_later(self):
        before_s = self.debt_s()
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][3]), 3)
        self.restart()
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][1]), 5 - 2)
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][2]), 2)
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][0]), 4)
        self.assertEqual(self.info("booked")["bookings"], 0)
        self.assertEqual(self.debt_s(), before_s - 60 * (3 + 3 + 2 + 4))

    def test_new_bookings_come_after_the_old(self):
        """An old booking gives back less what is booked today: that was told to wait for it."""
        self.clock.advance(1)
        for _ in range(20):  # ids may be drawn at random: the order is not theirs
            _, fresh = self.reserve("booked", 1)
            self.assertNotIn(fresh, self.facts["bookings"])
            self.assertEqual(self.call("RL.CANCEL", "booked", fresh), 1)
        waits_ms, fresh = zip(*(self.reserve("booked", 1) for _ in range(2)))
        self.assertEqual(waits_ms[1] - waits_ms[0], 60_000)
        self.restart()
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][3]), 3 - 2)
        self.assertEqual(self.call("RL.CANCEL", "booked", fresh[0]), 0)
        self.assertEqual(self.call("RL.CANCEL", "booked", fresh[1]), 1)
        self.assertEqual(self.info("booked")["bookings"], 3)

    def test_booked_later_and_due_before(self):
        (slow_and_fast, fast), before_s = self.facts["crossed"], self.full_in_s("crossed")
        back = self.facts.get("charges", 0)  # else a booking of two limits gives nothing back
        self.assertEqual(self.call("RL.CANCEL", "crossed", slow_and_fast) > 0, bool(back))
        # The limits stand as the last request named them: the fast one first.
        there_s = [before_s[0] - 60 * back, before_s[1] - 2 * 3600 * back]
        self.assertEqual(self.full_in_s("crossed"), there_s)
        self.assertEqual(self.call("RL.CANCEL", "crossed", fast), 1)

    def test_ids_of_nobody(self):
        for other in (self.facts["cancelled"], self.facts["crossed"][0], 2**53 - 1):
            self.assertEqual(self.call("RL.CANCEL", "booked", other), 0)
        self.assertEqual(self.info("booked")["bookings"], 4)

    def test_what_is_due_stays_taken(self):
        self.clock.advance(4 * 60_000)
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][0]), 0)
        self.assertEqual(self.call("RL.CANCEL", "booked", self.facts["bookings"][3]), 3)

    def test_of_each_algorithm(self):
        for name in ("bursty", "leaky", "bucket", "warmup"):
            with self.subTest(name):
                first, middle, last = self.facts[f"booked:{name}"]
                self.assertEqual(self.call("RL.CANCEL", f"booked:{name}", middle), 2 - 1)
                self.assertEqual(self.call("RL.CANCEL", f"booked:{name}", last), 1)
                self.assertEqual(self.call("RL.CANCEL", f"booked:{name}", first), 1)

    def test_a_departure_is_a_booking(self):
        self.assertEqual(self.info("funnel")["bookings"], 2)
        self.assertEqual(self.call("RL.CANCEL", "funnel", self.facts["funnel"]), 1 - 1)
        self.assertEqual(self.call("RL.CANCEL", "funnel", self.facts["departure"]), 1)


class Named(OpenedTest):
    def test_requests_are_remembered(self):
        before = self.remaining("idem"), self.remaining("idem:pool"), self.info("idem:book")
        for token, words, reply in self.facts["remembered"]:
            with self.subTest(token):
                self.assertEqual(self.call(*words), reply)
                with self.assertRaises(harness.Refused):
                    self.call(*["7" if word in ("9", "10/1h") else word for word in words
                                if word != "3"][:-2], "COST", "1", "ID", token)
        after = self.remaining("idem"), self.remaining("idem:pool"), self.info("idem:book")
        self.assertEqual(after, before)
        lease = self.facts["remembered"][1][2][-1]
        self.assertEqual(self.call("RL.RELEASE", "idem:pool", lease), 1)

    def test_for_a_minute(self):
        self.clock.advance(54_999)
        words, reply = self.facts["remembered"][0][1:]
        self.assertEqual(self.call(*words), reply)
        self.clock.advance(2)
        self.assertEqual(self.call(*words)[2], reply[2] - 2)

    def test_a_policy_changes_what_follows_it(self):
        self.assertEqual(self.call("RL.TAKE", "p:free", "POLICY", "free", "COST", 0)[1], 8)
        for limits, burst in (("GCRA 30/1m BURST 99", 100), ("GCRA 30/1m BURST 49", 50)):
            self.call("RL.POLICY", "SET", "free", *limits.split())
            self.restart()
            self.assertEqual(self.call("RL.TAKE", "p:free", "POLICY", "free")[1], burst)
        self.call("RL.POLICY", "SET", "late", "FIXED", "50", "ALIGN", "DAY", "ONCHANGE", "RESET")
        self.assertEqual(self.call("RL.TAKE", "p:late", "POLICY", "late")[1:3], [50, 49])

    def test_what_redis_cell_left_is_adopted(self):
        self.assertEqual(self.call("CL.THROTTLE", "adopted:late", 15, 30, 60), [0, 16, 5, -1, 22])
        self.assertEqual(self.call("TYPE", "adopted:late"), "limiter")

    def test_dumps(self):
        for key, text in self.facts["dumps"].items():
            with self.subTest(key):
                name = f"{key}:restored"
                self.assertEqual(self.call("RESTORE", name, 0, text.encode("latin-1")), "OK")
                read = (["ZRANGE", name, 0, -1] if key == "z:small" else ["RL.INFO", name])
                self.assertEqual(self.call(*read), self.call(read[0], key, *read[2:]))
        lease, booking = self.facts["leases"][1], self.facts["bookings"][3]
        self.assertEqual(self.call("RL.RELEASE", "pool:restored", lease), 2)
        self.assertEqual(self.call("RL.CANCEL", "booked:restored", booking), 3)
        self.assertEqual(self.call("RL.RELEASE", "pool", lease), 2)

    def test_libraries_beside_new_ones(self):
        self.call("FUNCTION", "DELETE", "early")
        self.call("FUNCTION", "LOAD", "#!lua name=new\nredis.register_function('new_one',"
                                      " function() return 1 end)")
        self.restart()
        self.assertEqual(self.call("FCALL", "late_sum", 0, 1, 2), 3)
        self.assertEqual(self.call("FCALL", "new_one", 0), 1)
        with self.assertRaises(harness.Refused):
            self.call("FCALL", "early_get", 1, "s:small")


class Promised(OpenedTest):
    """Holds, bans and what policies do; directories of before them have none."""

    needs = "holds"

    def test_holds_are_settled(self):
        for key, hold in self.facts["holds"].items():
            with self.subTest(key):
                self.assertEqual(self.info(key)["holds"], 1)
                before = self.remaining(key)[0]
                self.restart()
                self.assertEqual(self.call("RL.SETTLE", key, hold, 10)[:2], [1, 100])
                self.assertEqual(self.remaining(key)[0], before + 20)
        late = self.facts["late_hold"]
        self.assertEqual(self.call("RL.SETTLE", "held:late", late, 50)[2], 50)
        self.assertEqual(self.call("RL.CANCEL", "held:late", late), 0)

    def test_a_settlement_is_remembered(self):
        hold, used, reply = self.facts["settled"]
        self.assertEqual(self.call("RL.SETTLE", "held:settled", hold, used), reply)
        self.assertFalse(self.call("RL.SETTLE", "held:settled", hold + 1, used))

    def test_bans_end_when_they_were_to_end(self):
        banned_ms = self.info("banned")["banned_ms"]
        self.assertEqual(banned_ms, 86_400_000 - (self.facts["now_ms"] - BEGIN_MS))
        self.assertEqual(self.call("RL.TAKE", "banned", "FIXED", "9/1h")[3], banned_ms)
        self.clock.advance(banned_ms)
        self.assertEqual(self.call("RL.TAKE", "banned", "FIXED", "9/1h")[0], 1)

    def test_denials_are_counted_on(self):
        warned = ("RL.TAKE", "warned", *"GCRA 2/1h BAN 1d AFTER 3 WITHIN 10m".split())
        self.assertEqual(self.info("warned")["banned_ms"], 0)
        self.assertEqual(self.call(*warned)[0], 0)
        self.assertEqual(self.info("warned")["banned_ms"], 86_400_000)

    def test_overrides_and_effects(self):
        for key, reply in (("own", [1, 77, 76]), ("vip:1", [1, -1, -1]), ("vip:not:1", [0, 0, 0]),
                           ("gone", [1, 10, 9])):
            self.assertEqual(self.call("RL.TAKE", key, "POLICY", "e:base")[:3], reply)
        self.call("RL.POLICY", "OVERRIDE", "e:base", "KEY", "own", "DEL")
        self.call("RL.POLICY", "SET", "e:none", "FIXED", "3/1h")
        self.restart()
        self.assertEqual(self.call("RL.TAKE", "own", "POLICY", "e:base")[1], 10)
        self.assertEqual(self.call("RL.TAKE", "x", "POLICY", "e:none")[1], 3)
        self.assertEqual(self.call("RL.TAKE", "x", "POLICY", "e:all")[0], 0)


class Checked(harness.ServerTest):
    """weir-server --check reads it, and changes nothing."""

    source = None

    def test_it_is_whole(self):
        directory.unpack(self.source / directory.ARCHIVE, self.folder)
        data = Path(self.folder, "data")
        before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
        done = directory.run("--check", str(data))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        for text in ("database 15: ", "limiter", "policies ", "all of it is whole"):
            self.assertIn(text, done.stdout)
        self.assertEqual({path: path.read_bytes() for path in data.rglob("*") if path.is_file()},
                         before)


def load_tests(loader, standard, pattern):
    """Every test with every stored directory."""
    suite = unittest.TestSuite()
    for source in directory.stored_directories():
        for case in (Contents, Leases, Bookings, Named, Promised, Checked):
            named = type(f"{case.__name__}_{source.name}", (case,), {"source": source})
            named.__module__ = __name__
            globals()[named.__name__] = named  # so that one can be chosen by its name
            suite.addTests(loader.loadTestsFromTestCase(named))
    return suite


def main():
    global clocked_server
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    clocked_server = str(Path(sys.argv.pop(2)).resolve())
    harness.main()


if __name__ == "__main__":
    main()
