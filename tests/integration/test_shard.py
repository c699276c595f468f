"""Members of a shard: real processes that are killed, stopped and started again, over a log in a file
and over one in a PostgreSQL that the tests start."""

import os
import signal
import subprocess
import time
import unittest

import harness
import postgres
from shard_fixture import Journal, OnPostgres, ShardTest


class Shard(ShardTest):
    # What a start says where the log is not that of its shard.
    OF_ANOTHER_SHARD = "is of shard 'main', and shard is 'other'"

    def kill_primaries(self, kills, **named):
        """A journal of what clients were told while primaries were killed, and what each limit has charged."""
        self.make_shard()
        members = [self.member("a", **named).start(), self.member("b", **named).start()]
        primary = self.primary_of(*members)
        journal = Journal([member.port for member in members])
        journal.start()
        for _ in range(kills):
            time.sleep(0.4)
            primary.send_signal(signal.SIGKILL)
            primary.wait()
            dead, primary = primary, self.primary_of(*(each for each in members if each is not primary))
            time.sleep(0.3)
            dead.start()
        journal.end()
        self.agree(*members)
        self.assertIsNone(journal.failure)
        self.assertGreater(sum(journal.granted), 50)  # how many more is the machine's speed
        primary = self.primary_of(*members)
        charged = [1000000 - primary.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
                   for key in range(journal.keys)]
        for key in range(journal.keys):
            self.assertLessEqual(charged[key], journal.granted[key] + journal.unknown[key])
        print(f"{sum(journal.granted)} grants, {sum(journal.unknown)} unknown, {journal.longest_s:.2f} s without", flush=True)
        return journal, charged

    def test_a_standby_takes_over_what_clients_were_told(self):
        journal, charged = self.kill_primaries(4, commit_wait_ms=-1)
        for key in range(journal.keys):
            self.assertGreaterEqual(charged[key], journal.granted[key])

    def test_what_was_told_early_is_forgotten_within_the_bound(self):
        journal, charged = self.kill_primaries(3, commit_wait_ms=0, append_interval_ms=20, uncommitted_permits_max=5)
        self.assertLessEqual(sum(max(journal.granted[key] - charged[key], 0) for key in range(8)), 3 * 5)

    def test_a_long_script_demotes_nobody(self):
        self.make_shard()
        one, other = (self.member(name, script_time_limit_ms=0) for name in "ab")
        primary = self.primary_of(one.start(), other.start())
        standby = other if primary is one else one
        script, count, took_s = "for i = 1, ARGV[1] do end return redis.call('INCR', KEYS[1])", 1000000, 0
        while took_s < 3:
            count *= 2 if took_s < 0.5 else int(3.5 / took_s) + 1
            begin_s = time.monotonic()
            primary.call("EVAL", script, 1, "n", count)
            took_s = time.monotonic() - begin_s
        self.assertTrue(self.serves(primary))
        self.assertNotIn("this is the primary", standby.log())

    def test_a_stop_is_a_switchover(self):
        self.make_shard()
        members = [self.member(name, failover_after_ms=8000).start() for name in "ab"]
        first = self.primary_of(*members)
        second = members[1] if first is members[0] else members[0]
        first.call("SET", "k", "v")
        self.switch_over(first, second)
        harness.wait_until(lambda: self.serves(second), "the standby is the primary")
        second.call("SET", "k", "w")
        begin_s = time.monotonic()
        self.assertEqual(second.stop(), 0)
        harness.wait_until(lambda: self.serves(first), "it is the primary again")
        self.assertLess(time.monotonic() - begin_s, 6)
        self.assertEqual(first.call("GET", "k"), b"w")

    def test_a_stopped_primary_wakes_as_a_standby(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        primary = self.primary_of(one, other)
        standby = other if primary is one else one
        with primary.connect() as blocked, primary.connect() as reader:
            blocked.send(harness.encode("BLPOP", "list", "0"))
            reader.call("SET", "k", "1")
            primary.send_signal(signal.SIGSTOP)
            harness.wait_until(lambda: self.serves(standby), "the standby takes over")
            standby.call("SET", "k", "2")
            primary.send_signal(signal.SIGCONT)
            reader.send(harness.encode("GET", "k"))
            # Nothing, an error, or the end; never the old value.
            try:
                self.assertNotEqual(reader.read(), b"1")
            except (harness.Refused, ConnectionError):
                pass
            with self.assertRaises((harness.Refused, ConnectionError)):
                blocked.read()
        new_primary = f"127.0.0.1:{standby.port}"
        harness.wait_until(lambda: self.status(primary)["primary"] == new_primary, "the old primary follows")
        self.assertEqual(standby.call("GET", "k"), b"2")
        self.assertEqual(primary.call("ROLE")[:3], [b"slave", b"127.0.0.1", standby.port])
        self.assertIn("another member has taken over", primary.log())

    def test_what_a_standby_answers(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        primary = self.primary_of(one, other)
        standby = other if primary is one else one
        harness.wait_until(lambda: self.status(standby)["primary"] == f"127.0.0.1:{primary.port}",
                           "the standby knows the primary")
        with standby.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(client.call("ROLE")[0], b"slave")
            self.assertIn(b"role:slave", client.call("INFO", "replication"))
            for words in (["GET", "k"], ["SET", "k", "v"], ["RL.TAKE", "k", "5/1s"], ["EVAL", "return 1", 0],
                          ["EVAL_RO", "return 1", 0], ["WATCH", "k"], ["DBSIZE"], ["KEYS", "*"],
                          ["SCAN", 0], ["FLUSHALL"], ["RL.POLICY", "SET", "p", "5/1s"], ["PUBLISH", "c", "m"],
                          ["FUNCTION", "FLUSH"]):
                self.assert_refused("READONLY", client, *words)
            self.assertEqual(client.call("SCRIPT", "LOAD", "return 1"), b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db")
            self.assert_refused("ERR Error compiling script", client, "SCRIPT", "LOAD", "return return")
            client.call("MULTI")
            self.assert_refused("READONLY", client, "INCR", "k")
            self.assert_refused("EXECABORT", client, "EXEC")
            self.assert_refused("ERR this member is not the primary", client, "WEIR", "SWITCHOVER", "x")
        self.assertEqual(primary.call("ROLE")[0], b"master")
        self.assertEqual(primary.call("SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"), [0])

    def test_a_switchover_and_a_takeover(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        primary = self.primary_of(one, other)
        standby = other if primary is one else one
        primary.call("SET", "k", "v")
        self.switch_over(primary, standby)
        harness.wait_until(lambda: self.serves(standby), "the standby is the primary")
        self.assertEqual(standby.call("GET", "k"), b"v")
        self.assertEqual(primary.call("WEIR", "TAKEOVER"), "OK")
        harness.wait_until(lambda: self.serves(primary), "it is the primary again")
        self.assertEqual(primary.call("GET", "k"), b"v")
        self.assertIn("there was a switchover", primary.log())

    def test_what_is_kept_beside_the_data_moves_too(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        primary = self.primary_of(one, other)
        standby = other if primary is one else one
        primary.call("RL.POLICY", "SET", "p", "3/1h")
        sha = primary.call("SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])")
        primary.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
        primary.call("EVALSHA", sha, 1, "n")
        lease = primary.call("RL.TAKE", "pool", "CONCURRENCY", 2, "LEASE", "1h")
        for _ in range(3):
            primary.call("RL.TAKE", "user", "POLICY", "p")
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(standby), "the standby takes over")
        self.assertEqual(standby.call("EVALSHA", sha, 1, "n"), 2)
        self.assertEqual(standby.call("FCALL", "f", 0), 7)
        self.assertEqual(standby.call("RL.TAKE", "user", "POLICY", "p")[0], 0)
        self.assertEqual(standby.call("RL.RELEASE", "pool", lease[-1]), 1)

    def test_starts_that_are_refused(self):
        self.make_shard()
        fails = [
            ({"dir": self.path("alone/data")}, "belongs to no shard"),
            ({"shard": "other"}, self.OF_ANOTHER_SHARD),
            ({"databases": 4}, "has 16 databases, and databases is 4"),
            ({"storage": "memory"}, "needs storage rocksdb"),
            ({"bind": "*"}, "set cluster-announce-ip"),
            ({"log_bytes_max": "1mb"}, "log-bytes-max is at least log-retention-bytes, 1073741824, got 1048576"),
        ]
        os.makedirs(self.path("alone"))
        alone = harness.Server(self.path("alone"))
        self.servers.append(alone)
        alone.start().stop()
        for named, text in fails:
            server = self.member("c", **named).spawn()
            code, _, err = server.wait()
            self.assertEqual(code, 1, named)
            self.assertIn(text, err + server.log())
        without = harness.Server(self.path("a"))
        code, _, err = without.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn("shard", err + without.log())
        self.empty_log()
        empty = self.member("d").spawn()
        self.assertEqual(empty.wait()[0], 1)
        self.assertIn("is empty", empty.log())

    def test_an_emptied_log_stops_its_members(self):
        self.make_shard()
        server = self.member("a").start()
        self.primary_of(server).call("SET", "k", "v")
        self.empty_log()
        harness.wait_until(lambda: self.status(server)["state"] == "stopped", "the member stops")
        with server.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertIn(b"shard_stopped:1", client.call("INFO", "everything"))
            self.assert_refused("MASTERDOWN this member of shard main has stopped", client, "GET", "k")
        self.assertIn("knows nothing of what this member's directory holds", server.log())

    def test_a_member_leaves_with_all_its_turns(self):
        self.make_shard()
        server = self.member("a").start()
        self.primary_of(server)
        for number in range(100):
            server.call("SET", f"k{number}", number)
        self.assertEqual(server.stop(), 0)
        code, out = self.command("--leave-shard", "--dir", server.data)
        self.assertEqual(code, 0, out)
        alone = harness.Server(server.folder)
        self.servers.append(alone)
        alone.start()
        self.assertEqual(alone.call("DBSIZE"), 100)
        self.assertEqual(alone.call("GET", "k99"), b"99")


class Demonstration(unittest.TestCase):
    def test_the_demonstration_shows_a_failover(self):
        tool = os.path.join(os.path.dirname(__file__), "../../tools/weir-failover-demo")
        done = subprocess.run([tool, "--file", "--seconds", "9", "--kill-every", "3"],
                              env={**os.environ, "WEIR_SERVER": harness.executable},
                              capture_output=True, text=True, timeout=harness.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"[23] kills; [0-9]{3,} granted, .*; forgotten: 0")


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ShardOnPostgres(OnPostgres, Shard):
    """The same over PostgreSQL, and what only that can do."""

    OF_ANOTHER_SHARD = "is empty: weir-server --new-shard makes a shard"

    def test_what_is_answered_while_the_database_is_away(self):
        self.make_shard()
        members = [self.member("a").start(), self.member("b").start()]
        primary = self.primary_of(*members)
        primary.call("SET", "k", "v")
        with primary.connect() as strict, primary.connect() as client:
            self.database.kill()
            strict.send(harness.encode("INCR", "n"))
            self.assertEqual(client.call("RL.TAKE", "l", "FIXED", "10/3650d")[0], 1)
            with self.assertRaises(ConnectionError):
                strict.read()
            for words in (["SET", "k", "v"], ["GET", "k"], ["RL.TAKE", "p", "CONCURRENCY", 2, "LEASE", "1h"]):
                self.assert_refused("MASTERDOWN the log does not answer", client, *words)
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(client.call("RL.TAKE", "l", "FIXED", "10/3650d", "COST", 2)[0], 1)
            info = client.call("INFO", "replication").decode()
            self.assertIn("early_permits:3", info)
            self.assertRegex(info, "log_away_ms:[1-9]")
            self.database.start()

            def is_back():
                try:
                    return client.call("INCR", "n") == 2
                except harness.Refused:
                    return False
            harness.wait_until(is_back, "the primary serves again")
            self.assertEqual(client.call("RL.PEEK", "l", "FIXED", "10/3650d", "COST", 0)[2], 7)
            self.assertIn("early_permits_lost:0", client.call("INFO", "replication").decode())

    def test_a_log_that_needs_a_person_is_refused_at_the_start(self):
        self.make_shard()
        self.member("a").start().stop()
        self.database.ask("drop table weir_log, weir_head, weir_board; create role limited login")
        address = self.log_address().replace("weir@", "limited@")
        server = self.member("a", log=address).spawn()
        self.assertEqual(server.wait()[0], 1)
        self.assertIn("cannot start", server.log())
        self.assertIn("limited", server.log())

    def test_a_database_that_restarts_forgets_nothing(self):
        self.make_shard()
        members = [self.member(name, log_timeout_ms=30_000).start() for name in "ab"]
        primary = self.primary_of(*members)
        primary.call("SET", "k", "before")
        with primary.connect() as client:
            self.database.kill()
            client.send(harness.encode("INCR", "n"))
            with primary.connect() as other:
                self.assertEqual(other.call("PING"), "PONG")
            self.database.start()
            self.assertEqual(client.read(), 1)
        primary = self.primary_of(*members)
        self.assertEqual(primary.call("GET", "k"), b"before")
        self.assertEqual(primary.call("INCR", "n"), 2)
        self.agree(*members)
        self.assertIn("the shared log answers again", "".join(member.log() for member in members))
        backends = self.database.ask("select count(*) from pg_stat_activity where application_name = 'weir'")
        self.assertLessEqual(int(backends), 4)

    def test_an_address_with_a_password_is_refused_and_not_shown(self):
        server = self.member("a", log="postgres://weir:secret@127.0.0.1/weir").spawn()
        code, out, err = server.wait()
        self.assertEqual(code, 1)
        self.assertIn("password", out + err + server.log())
        self.assertNotIn("secret", out + err + server.log())


if __name__ == "__main__":
    harness.main()
