"""A shard whose members speak the cluster protocol, seen by clients of a cluster, redis-cli -c among them, while
primaries die and switchovers are made. Libraries are in tests/clients."""

import os
import re
import signal
import ssl
import subprocess
import unittest
from pathlib import Path

import harness
import postgres
from shard_fixture import CLI, OnPostgres, ShardTest, Taker
from support.certificates import Certificates
from test_tls import TlsClient

try:
    import redis
    import redis.sentinel
except ImportError:
    redis = None


class ShardInCluster(ShardTest):
    def cluster(self, count=3):
        self.make_shard()
        members = [self.member(name, cluster_enabled="yes", commit_wait_ms=-1).start() for name in "abc"[:count]]
        primary = self.primary_of(*members)
        self.wait_until_shown(primary, members)
        return primary, members

    def wait_until_shown(self, primary, members):
        """Every member that lives shows the same primary and all that live."""
        living = {member.port for member in members}

        def shown(member):
            rows = member.call("CLUSTER", "SLOTS")
            return (len(rows) == 1 and rows[0][:2] == [0, 16383] and rows[0][2][1] == primary.port and
                    living <= {node[1] for node in rows[0][2:]})
        harness.wait_until(lambda: all(shown(member) for member in members), "all show the same")

    def test_clients_over_tls_are_led_to_the_ports_for_tls(self):
        self.make_shard()
        files = Certificates(self.path("certificates"))
        members, tls_port = [], {}  # by the plain one
        for name in "ab":
            port, over_tls = harness.free_port(), harness.free_port()
            tls_port[port] = over_tls
            members.append(self.member(name, port=port, tls_port=over_tls, cluster_announce_port=port,
                                       cluster_enabled="yes", commit_wait_ms=-1, **files.options()).start())
        context = ssl.create_default_context(cafile=files.path("ca.crt"))
        primary = self.primary_of(*members)
        self.wait_until_shown(primary, members)
        for _ in range(2):
            standby = next(member for member in members if member is not primary)
            primary.call("SET", "a", "1")
            with TlsClient(tls_port[standby.port], context=context) as client:
                def is_told(client=client, expected=(tls_port[primary.port], tls_port[standby.port])):
                    return tuple(node[1] for node in client.call("CLUSTER", "SLOTS")[0][2:]) == expected
                harness.wait_until(is_told, "the members have told one another of their ports for TLS")
                self.assert_refused(f"MOVED 15495 127.0.0.1:{tls_port[primary.port]}", client, "GET", "a")
            with TlsClient(tls_port[primary.port], context=context) as client:
                self.assertEqual(client.call("GET", "a"), b"1")
            with standby.connect() as client:
                self.assert_refused(f"MOVED 15495 127.0.0.1:{primary.port}", client, "GET", "a")
            self.switch_over(primary, standby)
            harness.wait_until(lambda to=standby: self.serves(to), "the other one serves")
            primary = standby
            self.wait_until_shown(primary, members)

    def sentinel_says(self, member):
        return int(member.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")[1])

    def test_what_members_answer(self):
        primary, members = self.cluster()
        for member in members:
            nodes = member.call("CLUSTER", "NODES").decode().splitlines()
            self.assertEqual(len(nodes), 3)
            self.assertEqual([f":{member.port}@" in line for line in nodes if "myself" in line], [True])
            self.assertEqual(sum(" master - 0 0 1 connected 0-16383" in line or
                                 "myself,master - 0 0 1 connected 0-16383" in line for line in nodes), 1)
            self.assertEqual(member.call("CONFIG", "GET", "cluster-require-full-coverage"),
                             [b"cluster-require-full-coverage", b"no"])
            self.assertIn(b"redis_mode:cluster", member.call("INFO", "server"))
            self.assertEqual(self.sentinel_says(member), primary.port)
            with member.connect() as client:
                self.assert_refused("ERR SELECT is not allowed in cluster mode", client, "SELECT", 1)
                if member is not primary:
                    self.assert_refused(f"MOVED 15495 127.0.0.1:{primary.port}", client, "GET", "a")
                    self.assertEqual(client.call("READONLY"), "OK")
                    self.assert_refused(f"MOVED 15495 127.0.0.1:{primary.port}", client, "GET", "a")
                    self.assert_refused("READONLY", client, "FLUSHALL")
                    for words in (("COUNTKEYSINSLOT", 15495), ("GETKEYSINSLOT", 15495, 9)):
                        self.assert_refused("ERR this member does not serve its shard", client, "CLUSTER", *words)
                    self.assert_refused("ERR this member is of that shard", client, "WEIR", "SHARD", "FORGET", "main")

    def test_options_that_do_not_go_together(self):
        self.make_shard()
        self.write("topology", "epoch 1\na 127.0.0.1:1 0-16383\n")
        refused = self.member("a", cluster_enabled="yes", cluster_topology=self.path("topology"))
        self.assertEqual(refused.spawn().wait()[0], 1)
        self.assertIn("log: cluster-topology is for servers of no shard", refused.log())

    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_redis_cli_is_led_to_the_primary(self):
        primary, members = self.cluster()
        standby = next(member for member in members if member is not primary)
        self.assertIn("OK", self.cli(standby.port, "SET", "a", "1"))
        self.assertIn("1", self.cli(standby.port, "GET", "a"))
        done = subprocess.run([CLI, "--cluster", "check", f"127.0.0.1:{standby.port}"], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("[OK] All 16384 slots covered.", done.stdout)
        self.assertIn("2 additional replica(s)", done.stdout)
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        members.remove(primary)
        after = self.primary_of(*members)
        self.wait_until_shown(after, members)
        for member in members:
            self.assertIn("1", self.cli(member.port, "GET", "a"))
        other = next(member for member in members if member is not after)
        self.switch_over(after, other)
        harness.wait_until(lambda: self.serves(other), "the other one serves")
        self.wait_until_shown(other, members)
        for member in members:
            self.assertIn("OK", self.cli(member.port, "SET", "a", "2"))
        self.assertEqual(other.call("GET", "a"), b"2")

    @unittest.skipUnless(CLI, "needs redis-cli")
    def test_what_the_page_shows(self):
        primary, members = self.cluster(2)
        standby = next(member for member in members if member is not primary)

        def ported(text):
            return text.replace("7001", str(primary.port)).replace("7002", str(standby.port))
        page = (Path(__file__).resolve().parents[2] / "docs/cluster.md").read_text(encoding="utf-8")
        shown = re.findall(r"^    \$ (redis-cli .*)\n    (.*)$", page, re.MULTILINE)
        self.assertGreater(len(shown), 2)
        for command, reply in shown:
            words = ported(command).split()
            done = subprocess.run([CLI, "--no-raw", *words[1:]], capture_output=True, text=True,
                                  timeout=harness.PATIENCE_S, check=False)
            self.assertEqual(done.stdout.splitlines()[-1], ported(reply), command)

    def test_clients_go_on_when_primaries_die_and_switch_over(self):
        primary, members = self.cluster()
        taker = Taker([member.port for member in members])
        taker.start()
        taker.goes_on()
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        taker.goes_on()
        living = [member for member in members if member is not primary]
        after = self.primary_of(*living)
        for member in living:
            harness.wait_until(lambda member=member: self.sentinel_says(member) == after.port, "sentinels name the new primary")
        primary.start()
        self.wait_until_shown(after, members)
        self.switch_over(after, primary)
        harness.wait_until(lambda: self.serves(primary), "the first one serves again")
        taker.goes_on()
        taker.end()
        self.agree(*members)
        for key in range(Taker.KEYS):
            charged = 1_000_000 - primary.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
            self.assertIn(charged - taker.granted[key], (0, 1))  # the last one may have been cut short
        self.assertIsNone(taker.failure)
        self.assertLessEqual(taker.most_hops, 5)
        print(f"{sum(taker.granted)} grants, {taker.errors} errors, {taker.most_hops} hops at most", flush=True)

    @unittest.skipUnless(redis, "needs redis-py")
    def test_a_client_by_sentinel_finds_the_primary_again(self):
        primary, members = self.cluster()
        sentinel = redis.sentinel.Sentinel([("127.0.0.1", member.port) for member in members], socket_timeout=5)
        client = sentinel.master_for("main", socket_timeout=5)
        self.assertTrue(client.set("a", 1))
        standby = next(member for member in members if member is not primary)
        self.switch_over(primary, standby)
        harness.wait_until(lambda: self.serves(standby), "the other one serves")

        def finds_it():
            try:
                return client.set("a", 2)
            except (redis.RedisError, OSError):
                return False
        harness.wait_until(finds_it, "the client has found it")
        self.assertEqual(standby.call("GET", "a"), b"2")
        for each in (client, *sentinel.sentinels):
            each.connection_pool.disconnect()


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ShardInClusterOnPostgres(OnPostgres, ShardInCluster):
    pass


if __name__ == "__main__":
    harness.main()
