"""Members of a shard that know of one another: what they tell of themselves, how far the log is
trimmed, and how a member copies another one's data. Real processes, over a log in a file and over
one in a PostgreSQL that the tests start."""

import os
import signal
import time
import unittest

import harness
import postgres
from shard_fixture import Journal, OnPostgres, Secured, ShardTest
from support import certificates


class Members(ShardTest):
    def test_members_know_of_one_another(self):
        self.make_shard()
        members = [self.member(name).start() for name in "abc"]
        primary = self.primary_of(*members)
        standbys = [member for member in members if member is not primary]
        ports = sorted(member.port for member in members)
        for number in range(50):
            primary.call("SET", f"k{number}", number)
        self.agree(*members)
        turn = self.status(primary)["turn"]

        def all_know():
            return all(sorted(self.members_of(each)) == ports and
                       all(one["turn"] == turn and one["lag_turns"] == 0 for one in self.members_of(each).values())
                       for each in members)
        harness.wait_until(all_know, "each member knows all turns of all members")
        self.assertEqual({one["state"] for one in self.members_of(standbys[0]).values()}, {"primary", "following"})
        for each in members:
            self.assertEqual(self.members_of(each)[each.port]["node"], self.status(each)["node"])
            self.assertEqual(self.members_of(each)[each.port]["age_ms"], 0)
            self.assertEqual(self.info(each)["members_seen"], "3")
            self.assertEqual(self.info(each)["standby_lag_turns"], "0")
        info = self.info(primary)
        self.assertEqual(info["connected_slaves"], "2")
        shown = sorted(info[f"slave{number}"].rpartition(",")[0] for number in range(2))
        self.assertEqual(shown, sorted(f"ip=127.0.0.1,port={each.port},state=online,offset={turn}"
                                       for each in standbys))
        self.assertEqual(info["master_repl_offset"], str(turn))
        role, offset, replicas = primary.call("ROLE")
        self.assertEqual((role, offset), (b"master", turn))
        self.assertEqual(sorted(replicas), sorted([b"127.0.0.1", str(each.port).encode(), str(turn).encode()]
                                                  for each in standbys))
        with primary.connect() as client:
            client.send(harness.encode("SET", "k", "v") + harness.encode("WAIT", "1", "0") +
                        harness.encode("WAITAOF", "1", "1", "0"))
            self.assertEqual([client.read(), client.read(), client.read()], ["OK", 2, [1, 2]])
            self.assertEqual(client.call("WAIT", "9", "50"), 2)
        info = self.info(standbys[0])
        self.assertEqual((info["role"], info["master_host"], info["master_port"], info["master_link_status"],
                          info["connected_slaves"]), ("slave", "127.0.0.1", str(primary.port), "up", "0"))
        # Who is gone is no standby any more, and is still known for an hour.
        standbys[0].send_signal(signal.SIGKILL)
        standbys[0].wait()
        harness.wait_until(lambda: self.info(primary)["connected_slaves"] == "1", "the dead one is no standby")
        self.assertEqual(self.info(primary)["members_seen"], "2")
        self.assertEqual(self.members_of(primary)[standbys[0].port]["present"], 0)
        self.assertGreater(self.members_of(primary)[standbys[0].port]["age_ms"], 9000)

    def test_a_member_is_announced_as_it_is_told(self):
        self.make_shard()
        members = [self.member("a", cluster_announce_ip="192.0.2.7", cluster_announce_port=1234).start(),
                   self.member("b").start()]
        primary = self.primary_of(*members)
        other = next(member for member in members if member is not primary)
        harness.wait_until(lambda: len(self.members_of(other)) == 2, "both are known")
        self.assertIn("192.0.2.7:1234", [one["address"] for one in self.members_of(other).values()])

    def test_the_log_is_trimmed(self):
        self.make_shard()
        members = [self.member(name, **self.TRIMS).start() for name in "ab"]
        primary = self.primary_of(*members)
        standby = next(member for member in members if member is not primary)
        self.fill(primary, 8)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "what all have in their files goes")
        # Who is away for a while goes on by reading.
        standby.send_signal(signal.SIGKILL)
        standby.wait()
        self.fill(primary, 2)
        time.sleep(3)
        self.assertGreater(self.log_bytes(), 2000000)
        standby.start()
        self.agree(*members)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "what it has now goes, too")
        self.assertGreater(int(self.info(primary)["shard_log_trimmed"]), 0)
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(standby), "the standby takes over")
        primary.start()
        self.agree(*members)
        self.assertEqual(len(standby.call("GET", "f63")), 16384)

    def test_a_member_that_is_too_late_copies(self):
        self.make_shard()
        members = [self.member(name, **self.SHORT).start() for name in "ab"]
        primary = self.primary_of(*members)
        standby = next(member for member in members if member is not primary)
        primary.call("SET", "k", "before")
        self.agree(*members)
        node = self.status(standby)["node"]
        harness.wait_until(lambda: standby.port in self.members_of(primary), "the primary knows the standby")
        for stops in (True, False):
            if stops:
                standby.send_signal(signal.SIGSTOP)
            else:
                standby.send_signal(signal.SIGKILL)
                standby.wait()
            self.fill(primary, 4)
            harness.wait_until(lambda: self.log_bytes() < 1500000, "the log is not kept for it")
            named = f"member {node} at 127.0.0.1:{standby.port} is at log index"
            harness.wait_until(lambda: named in primary.log(), "the member is named")
            if stops:
                standby.send_signal(signal.SIGCONT)
            else:
                standby.start()
            harness.wait_until(lambda: self.status(standby)["state"] == "following" and
                               self.status(standby)["turn"] == self.status(primary)["turn"],
                               "it has copied, and follows")
            self.assertEqual(self.status(standby)["node"], node)
            self.assertIn("goes on with the copied data", standby.log())
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(standby), "it can be the primary")
        self.assertEqual(standby.call("GET", "k"), b"before")
        self.assertEqual(standby.call("DBSIZE"), 65)
        self.assertEqual(standby.call("SET", "k", "after"), "OK")
        # Nothing is left lying about.
        harness.wait_until(lambda: not any(os.path.exists(f"{each.data}/{name}") for each in members
                                           for name in ("incoming", "incoming.tmp", "set-aside")), "all is tidied up")

    def test_an_empty_machine_joins_under_load(self):
        self.make_shard()
        secured = {**self.SHORT, "requirepass": Secured.PASSWORD, "member_password": Secured.PASSWORD}
        members = [self.member(name, **secured).start() for name in "ab"]
        primary = self.primary_of(*members)
        self.fill(primary, 4)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "the log's beginning is gone")
        journal = Journal([member.port for member in members], password=Secured.PASSWORD)
        journal.start()
        stranger = self.member("stranger", **{**secured, "member_password": "wrong"}).spawn()
        harness.wait_until(lambda: "refuses user or password" in stranger.log(), "a wrong password is told")
        stranger.send_signal(signal.SIGKILL)
        stranger.wait()
        self.assertNotIn("wrong", stranger.log())
        third = self.member("c", **secured)
        third.start()
        harness.wait_until(lambda: self.status(third)["state"] == "following", "the third machine follows")
        self.assertIn("copied the data of member", third.log())
        self.assertEqual(len({self.status(each)["node"] for each in [*members, third]}), 3)
        time.sleep(0.5)
        for each in members:
            each.send_signal(signal.SIGKILL)
            each.wait()
        journal.ports.append(third.port)
        harness.wait_until(lambda: self.serves(third), "the third machine takes over")
        time.sleep(0.3)
        journal.end()
        self.assertIsNone(journal.failure)
        self.assertGreater(sum(journal.granted), 100)
        for key in range(journal.keys):
            left = third.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
            self.assertGreaterEqual(1000000 - left, journal.granted[key])
            self.assertLessEqual(1000000 - left, journal.granted[key] + journal.unknown[key])
        self.assertEqual(third.call("GET", "f63") is None, False)

    def test_a_shard_that_was_made_of_data_is_joined_by_copying(self):
        os.makedirs(self.path("a"))
        alone = harness.Server(self.path("a"))
        self.servers.append(alone)
        alone.start()
        alone.call("SET", "k", "v")
        self.assertEqual(alone.stop(), 0)
        self.make_shard()
        primary = self.member("a").start()
        self.primary_of(primary)
        other = self.member("b").start()
        self.assertIn("copied the data of member", other.log())
        self.agree(primary, other)
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(other), "the other one takes over")
        self.assertEqual(other.call("GET", "k"), b"v")

    def test_copies_come_by_tls_where_the_ports_have_it(self):
        self.make_shard()
        files = certificates.Certificates(self.path("certificates"))
        members = []
        for name in "abc":
            secured = {**files.options(), "tls_auth_clients": "yes", "tls_port": harness.free_port(),
                       "unixsocket": self.path(name) + "/socket", "port": 0}
            members.append(self.member(name, **self.SHORT, **secured))
        for each in members[:2]:
            each.start()
        primary = self.primary_of(*members[:2])
        self.fill(primary, 4)
        harness.wait_until(lambda: self.log_bytes() < 1500000, "the log's beginning is gone")
        members[2].start()
        self.agree(*members)
        self.assertIn("copied the data of member", members[2].log())

    def test_what_a_snapshot_is_asked(self):
        self.make_shard()
        primary = self.member("a", write_back_interval_ms=100).start()
        self.primary_of(primary)
        primary.call("SET", "k", "v" * 300000)
        with primary.connect() as client:
            def begun():
                flat = client.call("WEIR", "SNAPSHOT", "BEGIN", "abc1")
                return dict(zip([word.decode() for word in flat[::2]], flat[1::2]))
            harness.wait_until(lambda: begun()["made"] == 1, "the snapshot is made")
            sizes = {path.decode(): size for path, size in begun()["files"]}
            self.assertIn("WEIR", sizes)
            self.assertNotIn("NODE", sizes)
            largest = max(sizes, key=sizes.get)
            _, piece = client.call("WEIR", "SNAPSHOT", "READ", "abc1", largest, 0, 1 << 40)
            self.assertEqual(len(piece), min(sizes[largest], 256 << 10))
            self.assertEqual(client.call("WEIR", "SNAPSHOT", "READ", "abc1", "WEIR", sizes["WEIR"], 10)[1], b"")
            # One turn reads a megabyte at most, however much is asked for.
            client.send(harness.encode("WEIR", "SNAPSHOT", "READ", "abc1", largest, 0, 1 << 40) * 20)
            pieces = [len(client.read()[1]) for _ in range(20)]
            self.assertTrue(all(size <= 256 << 10 for size in pieces))
            for path in ("NODE", "../NODE", "/etc/passwd", "log/../WEIR", ""):
                self.assert_refused("ERR the snapshot has no such file", client,
                                    "WEIR", "SNAPSHOT", "READ", "abc1", path, 0, 10)
            self.assert_refused("ERR offset and length", client, "WEIR", "SNAPSHOT", "READ", "abc1", "WEIR", -1, 10)
            self.assert_refused("ERR no such snapshot", client, "WEIR", "SNAPSHOT", "READ", "abc2", "WEIR", 0, 10)
            self.assert_refused("ERR the id of a snapshot", client, "WEIR", "SNAPSHOT", "BEGIN", "../x")
            self.assert_refused("ERR syntax error", client, "WEIR", "SNAPSHOT", "BEGIN", "a", "b")
            self.assertEqual(client.call("WEIR", "SNAPSHOT", "END", "abc1"), "OK")
            self.assert_refused("ERR no such snapshot", client, "WEIR", "SNAPSHOT", "END", "abc1")
            harness.wait_until(lambda: os.listdir(primary.data + "/snapshots") == [], "its files are gone")
            self.assertEqual(client.call("BGSAVE"), "Background saving started")


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class MembersOnPostgres(OnPostgres, Members):
    """The same over PostgreSQL."""


if __name__ == "__main__":
    harness.main()
