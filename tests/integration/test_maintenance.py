"""What docs/failover.md has operators do to a shard while it is under load: a restart of one member after
the other, a backup and what is made of it, a member that begins anew, leaving. Real processes, over a log
in a file and over one in a PostgreSQL that the tests start."""

import os
import re
import shutil
import signal
import subprocess
import unittest

import harness
import postgres
from shard_fixture import Journal, OnPostgres, ShardTest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/failover.md")


class Maintenance(ShardTest):
    def pair(self):
        self.make_shard()
        members = [self.member(name, commit_wait_ms=-1).start() for name in "ab"]
        self.primary_of(*members)
        harness.wait_until(lambda: all(len(self.members_of(each)) == 2 for each in members), "they know of one another")
        return members

    def load(self, *members):
        journal = Journal([member.port for member in members])
        journal.start()
        self.addCleanup(journal.ended.set)
        self.more_grants(journal, 200)
        return journal

    def more_grants(self, journal, count=100):
        granted = sum(journal.granted)
        harness.wait_until(lambda: sum(journal.granted) > granted + count, "grants")

    def charged(self, server, journal):
        return [1000000 - server.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
                for key in range(journal.keys)]

    def assert_all_kept(self, server, journal, granted=None):
        """Nothing that a client was told is forgotten, and nothing was charged that nobody asked for."""
        self.assertIsNone(journal.failure)
        for key, charged in enumerate(self.charged(server, journal)):
            self.assertGreaterEqual(charged, (granted or journal.granted)[key])
            self.assertLessEqual(charged, journal.granted[key] + journal.unknown[key])

    def digest(self, server):
        with server.connect() as client:
            return {key: client.call("DUMP", key) for key in client.call("KEYS", "*")}

    def back_up(self, server):
        """As docs/backup.md has it: the folder of a checkpoint that was copied and checked."""
        self.assertTrue(server.call("BGSAVE").startswith("Background saving started"))
        harness.wait_until(lambda: b"rdb_bgsave_in_progress:0" in server.call("INFO", "persistence"), "the checkpoint")
        self.assertIn(b"rdb_last_bgsave_status:ok", server.call("INFO", "persistence"))
        name = re.search(rb"last_checkpoint:(\S+)", server.call("INFO", "storage"))[1].decode()
        backup = self.path("backup")
        subprocess.run(["cp", "-a", os.path.join(server.data, "checkpoints", name), backup], check=True)
        code, out = self.command("--check", backup)
        self.assertEqual(code, 0, out)
        self.assertIn("all of it is whole", out)
        return backup

    def test_a_restart_is_rolled_under_load(self):
        members = self.pair()
        journal = self.load(*members)
        for member in members + members:
            self.assertEqual(member.stop(), 0)
            self.more_grants(journal)
            member.start()
            others = [each for each in members if each is not member]
            harness.wait_until(lambda each=member: self.status(each)["state"] in ("following", "primary"), "it follows")
            self.agree(member, *others)
        journal.end()
        self.agree(*members)
        self.assert_all_kept(self.primary_of(*members), journal)

    def test_a_checkpoint_of_any_member_joins_on_a_new_machine(self):
        members = self.pair()
        journal = self.load(*members)
        standby = next(each for each in members if not self.serves(each))
        backup = self.back_up(standby)
        self.more_grants(journal)
        third = self.member("c", commit_wait_ms=-1)
        code, out = self.command("--restore", backup, "--dir", third.data)
        self.assertEqual(code, 0, out)
        third.start()
        harness.wait_until(lambda: self.status(third)["state"] == "following", "it follows")
        self.assertNotIn("copies", third.log())
        journal.end()
        self.agree(third, *members)
        primary = self.primary_of(*members)
        self.switch_over(primary, third)
        harness.wait_until(lambda: self.serves(third), "the new machine is the primary")
        self.assert_all_kept(third, journal)

    def test_a_shard_is_made_anew_of_a_backup(self):
        members = self.pair()
        journal = self.load(*members)
        before = list(journal.granted)
        backup = self.back_up(self.primary_of(*members))
        self.more_grants(journal)
        journal.end()
        for member in members:
            member.stop(signal.SIGKILL)
        self.empty_log()
        for member in members:
            shutil.rmtree(member.data)
        code, out = self.command("--restore", backup, "--dir", members[0].data)
        self.assertEqual(code, 0, out)
        code, out = self.command("--leave-shard", "--dir", members[0].data)
        self.assertEqual(code, 0, out)
        code, out = self.command("--new-shard", self.log_address(), "main", "--dir", members[0].data)
        self.assertEqual(code, 0, out)
        for member in members:
            member.start()
        primary = self.primary_of(*members)
        self.assert_all_kept(primary, journal, before)
        self.agree(*members)
        self.switch_over(primary, members[1])
        harness.wait_until(lambda: self.serves(members[1]), "the one that was empty is the primary")
        self.assert_all_kept(members[1], journal, before)

    def test_a_member_begins_anew_in_an_empty_directory(self):
        members = self.pair()
        journal = self.load(*members)
        standby = next(each for each in members if not self.serves(each))
        self.assertEqual(standby.stop(), 0)
        shutil.rmtree(standby.data)
        self.more_grants(journal)
        standby.start()
        harness.wait_until(lambda: self.status(standby)["state"] == "following", "it follows")
        primary = next(each for each in members if each is not standby)
        primary.send_signal(signal.SIGKILL)
        primary.wait()
        harness.wait_until(lambda: self.serves(standby), "it takes over")
        self.more_grants(journal)
        journal.end()
        self.assert_all_kept(standby, journal)

    def test_switchovers_under_load(self):
        members = self.pair()
        journal = self.load(*members)
        for words in (("WEIR", "SWITCHOVER"), ("WEIR", "TAKEOVER")) * 2:
            primary = self.primary_of(*members)
            other = next(each for each in members if each is not primary)
            if words[1] == "SWITCHOVER":
                self.switch_over(primary, other)
            else:
                self.assertEqual(other.call(*words), "OK")
            harness.wait_until(lambda each=other: self.serves(each), "the other one is the primary")
            self.more_grants(journal)
        journal.end()
        self.agree(*members)
        self.assert_all_kept(self.primary_of(*members), journal)

    def test_a_server_leaves_with_all_that_the_shard_had(self):
        members = self.pair()
        journal = self.load(*members)
        primary = self.primary_of(*members)
        primary.call("RL.POLICY", "SET", "p", "3/1h")
        lease = primary.call("RL.TAKE", "pool", "CONCURRENCY", 2, "LEASE", "1h")[-1]
        self.assertEqual(primary.stop(), 0)
        other = next(each for each in members if each is not primary)
        harness.wait_until(lambda: self.serves(other), "the other one serves")
        self.more_grants(journal)
        journal.end()
        before = self.digest(other)
        self.assertEqual(other.stop(), 0)
        code, out = self.command("--leave-shard", "--dir", other.data)
        self.assertEqual(code, 0, out)
        alone = harness.Server(other.folder)
        self.servers.append(alone)
        alone.start()
        self.assertEqual(self.digest(alone), before)
        self.assert_all_kept(alone, journal)
        self.assertEqual(alone.call("RL.TAKE", "u", "POLICY", "p")[0], 1)
        self.assertEqual(alone.call("RL.RELEASE", "pool", lease), 1)


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class MaintenanceOnPostgres(OnPostgres, Maintenance):
    """The same over PostgreSQL."""


class ThePage(unittest.TestCase):
    def test_each_task_of_the_page_has_a_test_here_or_beside(self):
        with open(PAGE, encoding="utf-8") as page:
            table = page.read().split("\n## Maintenance\n")[1].split("\n## ")[0]
        tasks = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]
        self.assertEqual([task for task in tasks if not task.startswith("---")], [
            "add a machine",  # test_members.py, an empty machine joins under load
            "roll a restart", "make a switchover", "back up",
            "restore the whole shard",
            # tests/shard_servers/ makes such turns, tests/hostile/shared_log.py too
            'a member says "a turn that no primary can have made", with the turn and the key',
            # test_switchover.py has these two
            'a member says "other turns than this member\'s directory"', "see where members differ",
            "leave"])


if __name__ == "__main__":
    harness.main()
