"""Members of a shard: real processes that are killed, stopped and started again, over a log in a file
and over one in a PostgreSQL that the tests start."""

import os
import random
import signal
import subprocess
import threading
import time
import unittest

import harness
import postgres


class Journal(threading.Thread):
    """A client that takes permits of limits that never refill, at whoever serves."""

    def __init__(self, ports, keys=8):
        super().__init__(daemon=True)
        self.ports = ports
        self.keys = keys
        self.granted = [0] * keys
        self.unknown = [0] * keys
        self.longest_s = 0.0
        self.ended = threading.Event()
        self.failure = None

    def run(self):
        client, served_at = None, time.monotonic()
        while not self.ended.is_set():
            key = random.randrange(self.keys)
            try:
                client = client or self.connect()
                if client is None:
                    continue
                reply = client.call("RL.TAKE", f"l{key}", "FIXED", "1000000/3650d")
                self.granted[key] += reply[0]
                self.longest_s = max(self.longest_s, time.monotonic() - served_at)
                served_at = time.monotonic()
            except harness.Refused as refused:
                if not str(refused).startswith("READONLY"):
                    self.failure = str(refused)
                client = self.close(client)
            except OSError:
                self.unknown[key] += 1
                client = self.close(client)

    def connect(self):
        try:
            client = harness.Client(("127.0.0.1", random.choice(self.ports)))
            client.socket.settimeout(3)
            return client
        except OSError:
            time.sleep(0.01)
            return None

    def close(self, client):
        client.close()
        time.sleep(0.005)

    def end(self):
        self.ended.set()
        self.join(harness.PATIENCE_S)


class Shard(harness.ServerTest):
    # What a start says where the log is not that of its shard.
    OF_ANOTHER_SHARD = "is of shard 'main', and shard is 'other'"

    def command(self, *words):
        """(code, output) of the executable as a command."""
        done = subprocess.run([harness.executable, *map(str, words)], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def log_address(self):
        return "file:" + self.path("shared-log")

    def empty_log(self):
        os.remove(self.path("shared-log"))

    def make_shard(self, name="a"):
        os.makedirs(self.path(name), exist_ok=True)
        code, out = self.command("--new-shard", self.log_address(), "main", "--dir",
                                 self.path(name) + "/data")
        self.assertEqual(code, 0, out)

    def member(self, name, *options, **named):
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        server = harness.Server(folder, *options, **{"log": self.log_address(), "failover_after_ms": 1000, **named})
        self.servers.append(server)
        return server

    def status(self, server):
        flat = [word.decode() if isinstance(word, bytes) else word for word in server.call("WEIR", "STATUS")]
        return dict(zip(flat[::2], flat[1::2]))

    def serves(self, server):
        return server.process.poll() is None and self.status(server)["serves"] == 1

    def owner_of(self, *servers):
        harness.wait_until(lambda: any(self.serves(server) for server in servers), "somebody serves")
        return next(server for server in servers if self.serves(server))

    def agree(self, *servers):
        def alike():
            return len({self.status(server)["turn"] for server in servers}) == 1
        harness.wait_until(alike, "all have the same turns")

    def test_a_standby_takes_over_what_clients_were_told(self):
        self.make_shard()
        members = [self.member("a").start(), self.member("b").start()]
        owner = self.owner_of(*members)
        journal = Journal([member.port for member in members])
        journal.start()
        for _ in range(4):
            time.sleep(0.4)
            owner.send_signal(signal.SIGKILL)
            owner.wait()
            dead, owner = owner, self.owner_of(*(each for each in members if each is not owner))
            time.sleep(0.3)
            dead.start()
        self.agree(*members)
        journal.end()
        self.assertIsNone(journal.failure)
        self.assertGreater(sum(journal.granted), 500)
        owner = self.owner_of(*members)
        for key in range(journal.keys):
            left = owner.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
            charged = 1000000 - left
            self.assertGreaterEqual(charged, journal.granted[key])
            self.assertLessEqual(charged, journal.granted[key] + journal.unknown[key])
        print(f"{sum(journal.granted)} grants, {sum(journal.unknown)} unknown, the longest time "
              f"without one {journal.longest_s:.2f} s", flush=True)

    def test_a_stopped_owner_wakes_as_a_standby(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        owner = self.owner_of(one, other)
        standby = other if owner is one else one
        with owner.connect() as blocked, owner.connect() as reader:
            blocked.send(harness.encode("BLPOP", "list", "0"))
            reader.call("SET", "k", "1")
            owner.send_signal(signal.SIGSTOP)
            harness.wait_until(lambda: self.serves(standby), "the standby takes over")
            standby.call("SET", "k", "2")
            owner.send_signal(signal.SIGCONT)
            reader.send(harness.encode("GET", "k"))
            # Nothing, an error, or the end; never the old value.
            try:
                self.assertNotEqual(reader.read(), b"1")
            except (harness.Refused, ConnectionError):
                pass
            with self.assertRaises((harness.Refused, ConnectionError)):
                blocked.read()
        harness.wait_until(lambda: self.status(owner)["state"] == "following", "the old owner follows")
        self.assertEqual(standby.call("GET", "k"), b"2")
        self.assertEqual(owner.call("ROLE")[:3], [b"slave", b"127.0.0.1", standby.port])
        self.assertIn("another member has taken over", owner.log())

    def test_what_a_standby_answers(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        owner = self.owner_of(one, other)
        standby = other if owner is one else one
        harness.wait_until(lambda: self.status(standby)["owner"] == f"127.0.0.1:{owner.port}",
                           "the standby knows the owner")
        with standby.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(client.call("ROLE")[0], b"slave")
            self.assertIn(b"role:slave", client.call("INFO", "replication"))
            for words in (["GET", "k"], ["SET", "k", "v"], ["RL.TAKE", "k", "5/1s"], ["EVAL", "return 1", 0],
                          ["EVAL_RO", "return 1", 0], ["WATCH", "k"], ["DBSIZE"], ["KEYS", "*"],
                          ["SCAN", 0], ["FLUSHALL"], ["RL.POLICY", "SET", "p", "5/1s"], ["PUBLISH", "c", "m"],
                          ["FUNCTION", "FLUSH"], ["SCRIPT", "LOAD", "return 1"]):
                self.assert_refused("READONLY", client, *words)
            client.call("MULTI")
            self.assert_refused("READONLY", client, "INCR", "k")
            self.assert_refused("EXECABORT", client, "EXEC")
            self.assert_refused("ERR this member is not the owner", client, "WEIR", "HANDOVER", "x")
        self.assertEqual(owner.call("ROLE")[0], b"master")

    def members_of(self, server):
        """The members as this one knows them, by their ports."""
        flat = [[word.decode() if isinstance(word, bytes) else word for word in one]
                for one in self.status(server)["members"]]
        members = [dict(zip(one[::2], one[1::2])) for one in flat]
        return {int(one["address"].rpartition(":")[2]): one for one in members}

    def info(self, server):
        lines = server.call("INFO", "replication").decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def test_members_know_of_one_another(self):
        self.make_shard()
        members = [self.member(name).start() for name in "abc"]
        owner = self.owner_of(*members)
        standbys = [member for member in members if member is not owner]
        ports = sorted(member.port for member in members)
        for number in range(50):
            owner.call("SET", f"k{number}", number)
        self.agree(*members)
        turn = self.status(owner)["turn"]

        def all_know():
            return all(sorted(self.members_of(each)) == ports and
                       all(one["turn"] == turn and one["lag_turns"] == 0 for one in self.members_of(each).values())
                       for each in members)
        harness.wait_until(all_know, "each member knows all turns of all members")
        self.assertEqual({one["state"] for one in self.members_of(standbys[0]).values()}, {"owning", "following"})
        for each in members:
            self.assertEqual(self.members_of(each)[each.port]["node"], self.status(each)["node"])
            self.assertEqual(self.members_of(each)[each.port]["age_ms"], 0)
            self.assertEqual(self.info(each)["members_seen"], "3")
            self.assertEqual(self.info(each)["standby_lag_turns"], "0")
        info = self.info(owner)
        self.assertEqual(info["connected_slaves"], "2")
        shown = sorted(info[f"slave{number}"].rpartition(",")[0] for number in range(2))
        self.assertEqual(shown, sorted(f"ip=127.0.0.1,port={each.port},state=online,offset={turn}"
                                       for each in standbys))
        self.assertEqual(info["master_repl_offset"], str(turn))
        role, offset, replicas = owner.call("ROLE")
        self.assertEqual((role, offset), (b"master", turn))
        self.assertEqual(sorted(replicas), sorted([b"127.0.0.1", str(each.port).encode(), str(turn).encode()]
                                                  for each in standbys))
        with owner.connect() as client:
            client.send(harness.encode("SET", "k", "v") + harness.encode("WAIT", "1", "0") +
                        harness.encode("WAITAOF", "1", "1", "0"))
            self.assertEqual([client.read(), client.read(), client.read()], ["OK", 2, [1, 2]])
            self.assertEqual(client.call("WAIT", "9", "50"), 2)
        info = self.info(standbys[0])
        self.assertEqual((info["role"], info["master_host"], info["master_port"], info["master_link_status"],
                          info["connected_slaves"]), ("slave", "127.0.0.1", str(owner.port), "up", "0"))
        # Who is gone is no standby any more, and is still known for an hour.
        standbys[0].send_signal(signal.SIGKILL)
        standbys[0].wait()
        harness.wait_until(lambda: self.info(owner)["connected_slaves"] == "1", "the dead one is no standby")
        self.assertEqual(self.info(owner)["members_seen"], "2")
        self.assertEqual(self.members_of(owner)[standbys[0].port]["present"], 0)
        self.assertGreater(self.members_of(owner)[standbys[0].port]["age_ms"], 9000)

    def test_a_member_is_announced_as_it_is_told(self):
        self.make_shard()
        members = [self.member("a", cluster_announce_ip="192.0.2.7", cluster_announce_port=1234).start(),
                   self.member("b").start()]
        owner = self.owner_of(*members)
        other = next(member for member in members if member is not owner)
        harness.wait_until(lambda: len(self.members_of(other)) == 2, "both are known")
        self.assertIn("192.0.2.7:1234", [one["address"] for one in self.members_of(other).values()])

    # Little of the log stays; what is in the state files says how much may go.
    TRIMS = {"log_retention_bytes": "256kb", "log_bytes_max": "4mb", "write_back_interval_ms": "100"}

    def log_bytes(self):
        return os.path.getsize(self.path("shared-log"))

    def fill(self, server, megabytes):
        with server.connect() as client:
            for number in range(64 * megabytes):
                client.call("SET", f"f{number % 64}", os.urandom(8192).hex())

    def test_the_log_is_trimmed(self):
        self.make_shard()
        members = [self.member(name, **self.TRIMS).start() for name in "ab"]
        owner = self.owner_of(*members)
        standby = next(member for member in members if member is not owner)
        self.fill(owner, 8)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "what all have in their files goes")
        # Who is away for a while goes on by reading.
        standby.send_signal(signal.SIGKILL)
        standby.wait()
        self.fill(owner, 2)
        time.sleep(3)
        self.assertGreater(self.log_bytes(), 2000000)
        standby.start()
        self.agree(*members)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "what it has now goes, too")
        self.assertGreater(int(self.info(owner)["shard_log_trimmed"]), 0)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        harness.wait_until(lambda: self.serves(standby), "the standby takes over")
        owner.start()
        self.agree(*members)
        self.assertEqual(len(standby.call("GET", "f63")), 16384)

    def test_the_office_is_handed_over_and_taken(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        owner = self.owner_of(one, other)
        standby = other if owner is one else one
        owner.call("SET", "k", "v")
        self.assertEqual(owner.call("WEIR", "HANDOVER", self.status(standby)["node"]), "OK")
        harness.wait_until(lambda: self.serves(standby), "the standby has the office")
        self.assertEqual(standby.call("GET", "k"), b"v")
        self.assertEqual(owner.call("WEIR", "TAKEOVER"), "OK")
        harness.wait_until(lambda: self.serves(owner), "the office is taken back")
        self.assertEqual(owner.call("GET", "k"), b"v")
        self.assertIn("it was handed over", owner.log())

    def test_what_is_kept_beside_the_data_moves_too(self):
        self.make_shard()
        one, other = self.member("a").start(), self.member("b").start()
        owner = self.owner_of(one, other)
        standby = other if owner is one else one
        owner.call("RL.POLICY", "SET", "p", "3/1h")
        sha = owner.call("SCRIPT", "LOAD", "return redis.call('INCR', KEYS[1])")
        owner.call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 7 end)")
        owner.call("EVALSHA", sha, 1, "n")
        lease = owner.call("RL.TAKE", "pool", "CONCURRENCY", 2, "LEASE", "1h")
        for _ in range(3):
            owner.call("RL.TAKE", "user", "POLICY", "p")
        owner.send_signal(signal.SIGKILL)
        owner.wait()
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
        self.owner_of(server).call("SET", "k", "v")
        self.empty_log()
        harness.wait_until(lambda: self.status(server)["state"] == "stopped", "the member stops")
        with server.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assert_refused("MASTERDOWN this member of shard main has stopped", client, "GET", "k")
        self.assertIn("knows nothing of what this member's directory holds", server.log())

    def test_a_member_leaves_with_all_its_turns(self):
        self.make_shard()
        server = self.member("a").start()
        self.owner_of(server)
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
class OnPostgres(Shard):
    """The same over PostgreSQL, which keeps the logs of several shards, and what only that can do."""

    OF_ANOTHER_SHARD = "is empty: weir-server --new-shard makes a shard"

    def setUp(self):
        super().setUp()
        self.database = postgres.Postgres()

    def tearDown(self):
        super().tearDown()
        self.database.close()

    def log_address(self):
        return self.database.address()

    def empty_log(self):
        self.database.ask("delete from weir_log; delete from weir_head")

    def log_bytes(self):
        return int(self.database.ask("select coalesce(sum(length(record)), 0) from weir_log"))

    def test_a_database_that_restarts_forgets_nothing(self):
        self.make_shard()
        members = [self.member("a").start(), self.member("b").start()]
        owner = self.owner_of(*members)
        owner.call("SET", "k", "before")
        with owner.connect() as client:
            self.database.kill()
            client.send(harness.encode("INCR", "n"))
            with owner.connect() as other:
                self.assertEqual(other.call("PING"), "PONG")
            self.database.start()
            self.assertEqual(client.read(), 1)
        owner = self.owner_of(*members)
        self.assertEqual(owner.call("GET", "k"), b"before")
        self.assertEqual(owner.call("INCR", "n"), 2)
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
