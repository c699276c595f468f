"""Members of a shard over NATS JetStream: what other engines' members do, and what only this one has."""

import os
import random
import signal
import time
import unittest

import harness
import nats
import test_members
import test_shard
import test_maintenance
from shard_fixture import Journal, ShardTest
from support import certificates


class OnNats:
    """For a ShardTest: the log is in a NATS."""

    SERVERS = 1

    def setUp(self):
        super().setUp()
        self.nats = nats.Nats(self.SERVERS)

    def tearDown(self):
        super().tearDown()
        self.nats.close()

    def log_address(self):
        return self.nats.address()

    def empty_log(self):
        config = self.nats.api("STREAM.INFO.weir_main")["config"]
        self.nats.api("STREAM.DELETE.weir_main")
        self.nats.api("STREAM.CREATE.weir_main", {**config, "metadata": {}})

    def log_bytes(self):
        return self.nats.api("STREAM.INFO.weir_main")["state"]["bytes"]


def needs_nats(kind):
    return unittest.skipUnless(nats.program() or os.environ.get("CI"), "there is no nats-server")(kind)


@needs_nats
class ShardOnNats(OnNats, test_shard.Shard):
    OF_ANOTHER_SHARD = "there is no stream weir_other: weir-server --new-shard makes it"

    def test_a_turn_larger_than_a_message_travels_in_parts(self):
        self.make_shard()
        members = [self.member(name).start() for name in "ab"]
        primary = self.primary_of(*members)
        other = next(member for member in members if member is not primary)
        values = {f"k{number}": random.randbytes(number << 20).hex() for number in (1, 3)}
        for key, value in values.items():
            primary.call("SET", key, value)
        primary.call("SET", "small", "v")
        self.agree(*members)
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(other), "the standby takes over")
        for key, value in values.items():
            self.assertEqual(other.call("GET", key), value.encode())
        self.assertEqual(other.call("GET", "small"), b"v")
        primary.start()
        self.agree(*members)

    def test_a_server_that_restarts_forgets_nothing(self):
        self.make_shard()
        members = [self.member(name).start() for name in "ab"]
        primary = self.primary_of(*members)
        primary.call("SET", "k", "before")
        self.nats.kill()
        with primary.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assertEqual(client.call("RL.TAKE", "l", "FIXED", "10/3650d")[0], 1)
        harness.wait_until(lambda: self.refuses(primary), "the log is missed")
        self.nats.start()

        def is_back():
            try:
                return self.primary_of(*members).call("SET", "k", "after") == "OK"
            except (harness.Refused, ConnectionError):
                return False
        harness.wait_until(is_back, "the shard serves again")
        self.agree(*members)

    def refuses(self, server):
        try:
            server.call("GET", "k")
        except harness.Refused as refused:
            return str(refused).startswith("MASTERDOWN the log does not answer")
        except ConnectionError:  # who waited for the log is closed
            pass
        return False

    def test_a_shard_is_made_by_new_shard_alone(self):
        server = self.member("a").spawn()
        code, out, err = server.wait()
        self.assertEqual(code, 1)
        self.assertIn("there is no stream weir_main", out + err + server.log())
        self.assertEqual(self.nats.api("STREAM.INFO.weir_main")["error"]["err_code"], 10059)

    def test_an_address_with_a_password_is_refused_and_not_shown(self):
        server = self.member("a", log="nats://weir:secret@127.0.0.1").spawn()
        code, out, err = server.wait()
        self.assertEqual(code, 1)
        self.assertIn("password", out + err + server.log())
        self.assertNotIn("secret", out + err + server.log())


@needs_nats
class WithAPassword(OnNats, ShardTest):
    # As docs/failover.md has it.
    NEEDED = ("$JS.API.STREAM.>", "weir.main.log.*", "$KV.weir_main.*")

    def setUp(self):
        super().setUp()
        self.begin_with("")

    def begin_with(self, permissions):
        self.nats.close()
        self.nats = nats.Nats(password="a-long-phrase", permissions=permissions)
        with open(self.path("password"), "w", encoding="utf-8") as file:
            file.write("a-long-phrase\nmore\n")

    def log_address(self):
        return self.nats.address().replace("nats://", "nats://weir@")

    def test_it_is_read_from_its_file(self):
        os.makedirs(self.path("a"))
        code, out = self.command("--new-shard", self.log_address(), "main", "--dir", self.path("a/data"))
        self.assertEqual(code, 1)
        self.assertIn("Authorization", out)
        code, out = self.command("--new-shard", self.log_address(), "main", "--dir", self.path("a/data"),
                                 "--log-password-file", self.path("password"))
        self.assertEqual(code, 0, out)
        server = self.member("a", log_password_file=self.path("password")).start()
        self.assertEqual(self.primary_of(server).call("SET", "k", "v"), "OK")
        info = self.info(server)
        self.assertEqual(info["shard_log_engine"], "nats jetstream 2.15.2")
        self.assertEqual((info["shard_log_copies"], info["shard_log_synced"]), ("1", "unknown"))
        self.assertIn("one server alone", info["shard_log_weakness"])
        self.assertIn("may lose what it has acknowledged: one server alone", server.log())

    def permissions(self, needed):
        subjects = ", ".join(f'"{subject}"' for subject in needed)
        return f'publish: [ {subjects} ], subscribe: [ "_INBOX.>" ]'

    def make(self):
        os.makedirs(self.path("a"), exist_ok=True)
        return self.command("--new-shard", self.log_address(), "main", "--dir", self.path("a/data"),
                            "--log-password-file", self.path("password"))

    def test_the_rights_that_a_member_needs(self):
        self.begin_with(self.permissions(self.NEEDED))
        code, out = self.make()
        self.assertEqual(code, 0, out)
        server = self.member("a", log_password_file=self.path("password")).start()
        self.assertEqual(self.primary_of(server).call("SET", "k", "v"), "OK")
        harness.wait_until(lambda: self.members_of(server), "it is in the registry")
        self.assertNotIn("permit", server.log())

    def test_a_right_that_lacks_is_said(self):
        for lacks in self.NEEDED[:2]:
            self.begin_with(self.permissions([subject for subject in self.NEEDED if subject != lacks]))
            code, out = self.make()
            self.assertEqual(code, 1)
            self.assertIn("the server does not permit this user", out)
        self.begin_with(self.permissions(self.NEEDED[:2]))
        self.assertEqual(self.make()[0], 0)
        server = self.member("a", log_password_file=self.path("password")).start()
        harness.wait_until(lambda: "does not permit this user" in server.log(), "a member without a registry")


@needs_nats
class Encrypted(OnNats, ShardTest):
    def setUp(self):
        super().setUp()
        self.nats.close()
        self.certificates = certificates.Certificates(self.path("certificates"))
        self.nats = nats.Nats(certificates=self.certificates)

    def test_members_talk_to_it_and_one_takes_over(self):
        self.make_shard()
        members = [self.member(name, commit_wait_ms=-1).start() for name in "ab"]
        primary = self.primary_of(*members)
        other = next(member for member in members if member is not primary)
        self.assertEqual(primary.call("SET", "k", "v" * (3 << 20)), "OK")
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(other), "the standby takes over")
        self.assertEqual(other.call("STRLEN", "k"), 3 << 20)
        primary.start()
        self.agree(*members)

    def test_a_new_certificate_and_authority(self):
        self.make_shard()
        server = self.member("a").start()
        self.primary_of(server).call("SET", "k", "before")
        certificates.Certificates(self.path("certificates"))
        self.nats.kill()
        self.nats.start()

        def is_back():
            try:
                return self.primary_of(server).call("SET", "k", "after") == "OK"
            except (harness.Refused, ConnectionError):
                return False
        harness.wait_until(is_back, "the files are read anew")

    def test_an_authority_that_did_not_sign(self):
        self.make_shard()
        certificates.Certificates(self.path("others"))
        server = self.member("a", log=self.log_address().replace("/certificates/", "/others/")).spawn()
        harness.wait_until(lambda: "certificate" in server.log(), "it is said why")
        self.assertIn("SSL handshake error", server.log())


@needs_nats
class MembersOnNats(OnNats, test_members.Members):
    """The same over NATS."""


@needs_nats
class MaintenanceOnNats(OnNats, test_maintenance.Maintenance):
    """The same over NATS."""


@needs_nats
class OnACluster(OnNats, ShardTest):
    SERVERS = 3

    def test_the_leader_of_the_stream_dies_with_the_primary(self):
        self.make_shard()
        members = [self.member(name, commit_wait_ms=-1).start() for name in "ab"]
        primary = self.primary_of(*members)
        journal = Journal([member.port for member in members])
        journal.start()
        time.sleep(1)
        self.nats.kill(leader := self.nats.leader_of("weir_main"))
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        other = next(member for member in members if member is not primary)
        harness.wait_until(lambda: self.serves(other), "the standby takes over")
        self.nats.start(leader)
        primary.start()
        time.sleep(1)
        journal.end()
        self.assertIsNone(journal.failure)
        self.agree(*members)
        primary = self.primary_of(*members)
        for key in range(journal.keys):
            charged = 1000000 - primary.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
            self.assertGreaterEqual(charged, journal.granted[key])
            self.assertLessEqual(charged, journal.granted[key] + journal.unknown[key])
        print(f"{sum(journal.granted)} grants, {sum(journal.unknown)} unknown, {journal.longest_s:.2f} s without", flush=True)


if __name__ == "__main__":
    harness.main()
