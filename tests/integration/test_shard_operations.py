"""What operators do to a shard's database, and what becomes of the shard: members as real processes,
over a PostgreSQL that the tests start. Each says yes or no."""

import os
import re
import shlex
import shutil
import subprocess
import time
import unittest

import harness
import postgres
from shard_fixture import Journal, OnPostgres, ShardTest

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/failover.md")
POOLER = "/usr/sbin/pgbouncer"


class Pooler:
    """pgbouncer before the test's PostgreSQL, in its folder."""

    def __init__(self, database):
        self.port = harness.free_port()
        settings = os.path.join(database.folder, "bouncer.ini")
        with open(settings, "w", encoding="utf-8") as out:
            out.write(f"[databases]\nweir = host=127.0.0.1 port={database.port} user=weir\n[pgbouncer]\n"
                      f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nauth_type = any\nunix_socket_dir =\n"
                      "pool_mode = transaction\ndefault_pool_size = 2\nignore_startup_parameters = options\n")
        self.process = subprocess.Popen([POOLER, settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        **database.how())

    def close(self):
        self.process.terminate()
        self.process.wait()


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class Operations(OnPostgres, ShardTest):
    def setUp(self):
        super().setUp()
        self.make_shard()

    def back_up(self):
        self.backup = os.path.join(self.database.folder, "backup")
        self.database.run("pg_basebackup", "-D", self.backup, "-X", "stream", "-c", "fast", "-h", "127.0.0.1", "-p",
                          self.database.port, "-U", "weir")

    def restore(self):
        self.database.kill()
        shutil.rmtree(self.database.data)
        os.rename(self.backup, self.database.data)
        self.database.start()

    def charged(self, primary, journal):
        return [1000000 - primary.call("RL.PEEK", f"l{key}", "FIXED", "1000000/3650d", "COST", 0)[2]
                for key in range(journal.keys)]

    def load(self, members):
        journal = Journal([member.port for member in members])
        journal.start()
        self.addCleanup(journal.ended.set)
        harness.wait_until(lambda: sum(journal.granted) > 200, "grants")
        return journal

    def end(self, journal, *members):
        """Ends the load, and holds what the primary has charged against what clients were told."""
        journal.end()
        self.assertIsNone(journal.failure)
        self.agree(*members)
        for key, charged in enumerate(self.charged(self.primary_of(*members), journal)):
            self.assertGreaterEqual(charged, journal.granted[key])
            self.assertLessEqual(charged, journal.granted[key] + journal.unknown[key])

    def test_a_restored_backup_is_put_right_by_members_that_live(self):
        members = [self.member(name, commit_wait_ms=-1).start() for name in "ab"]
        self.primary_of(*members)
        journal = self.load(members)
        self.back_up()
        granted = sum(journal.granted)
        harness.wait_until(lambda: sum(journal.granted) > granted + 200, "grants after the backup")
        self.restore()
        granted = sum(journal.granted)
        harness.wait_until(lambda: sum(journal.granted) > granted + 50, "grants after the restore")
        self.end(journal, *members)

    def test_a_restored_backup_is_put_right_by_members_that_were_stopped(self):
        members = [self.member(name, commit_wait_ms=-1).start() for name in "ab"]
        self.primary_of(*members)
        journal = self.load(members)
        self.back_up()
        granted = sum(journal.granted)
        harness.wait_until(lambda: sum(journal.granted) > granted + 200, "grants after the backup")
        journal.end()
        self.agree(*members)
        for member in members:
            self.assertEqual(member.stop(), 0)
        self.restore()
        for member in members:
            member.start()
        self.end(journal, *members)

    def test_a_pooler_is_refused(self):
        if not os.path.exists(POOLER):
            self.assertNotIn("CI", os.environ, "pgbouncer is not installed")
            self.skipTest("pgbouncer is not installed")
        pooler = Pooler(self.database)
        self.addCleanup(pooler.close)
        address = self.log_address().replace(str(self.database.port), str(pooler.port))
        harness.wait_until(lambda: self.listens(pooler.port), "the pooler listens")
        server = self.member("a", log=address).spawn()
        self.assertEqual(server.wait()[0], 1)
        self.assertRegex(server.log(), "cannot start.*a connection pooler")

    def listens(self, port):
        try:
            with harness.Client(port):
                return True
        except OSError:
            return False

    def test_a_role_without_rights_is_told_the_statements(self):
        self.database.ask("create role plain login; revoke all on schema public from public; "
                          "alter table weir_log rename to kept_log")
        server = self.member("a", log=self.log_address().replace("weir@", "plain@")).spawn()
        self.assertEqual(server.wait()[0], 1)
        self.assertIn("create table", server.log().lower())

    def test_a_database_that_is_away_at_the_start_is_waited_for(self):
        self.database.kill()
        server = self.member("a").start()
        harness.wait_until(lambda: "Connection refused" in server.log(), "what is wrong is said")
        with server.connect() as client:
            self.assertEqual(client.call("PING"), "PONG")
            self.assert_refused("READONLY", client, "GET", "k")
        self.database.start()
        harness.wait_until(lambda: self.serves(server), "it serves")
        self.assertEqual(server.log().count("Connection refused"), 1)

    def test_members_may_differ_in_when_they_take_over(self):
        members = [self.member("a", commit_wait_ms=-1, failover_after_ms=1000).start(),
                   self.member("b", commit_wait_ms=-1, failover_after_ms=4000).start()]
        self.primary_of(*members)
        journal = self.load(members)
        for _ in range(2):
            primary = self.primary_of(*members)
            primary.send_signal(9)
            primary.wait()
            other = next(each for each in members if each is not primary)
            harness.wait_until(lambda other=other: self.serves(other), "the other serves")
            primary.start()
            time.sleep(0.5)
        self.end(journal, *members)


@unittest.skipUnless(postgres.programs() or os.environ.get("CI"), "PostgreSQL is not installed")
class ThePage(ShardTest):
    """What docs/failover.md has somebody type, on two machines and a PostgreSQL that asks for a password."""

    def setUp(self):
        super().setUp()
        self.database = postgres.Postgres(bare=True)
        self.addCleanup(self.database.close)
        with open(PAGE, encoding="utf-8") as page:
            text = page.read().split("\n## Ten lines\n")[1].split("\n## ")[0]
        self.statements, self.settings, self.making = (
            block.replace("    ", "") for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE))

    def here(self, text, name):
        """The page's text for a machine of this name: its paths, and where its database is."""
        return (text.replace("/etc/weir", self.path(name)).replace("10.0.0.1", "127.0.0.1")
                .replace("weir@db1,db2", f"weir@127.0.0.1:{self.database.port}"))

    def machine(self, name):
        folder = self.path(name)
        os.makedirs(folder)
        password = re.search("PASSWORD '(.*)'", self.statements)[1]
        secret = os.open(folder + "/log-password", os.O_CREAT | os.O_WRONLY, 0o600)
        os.write(secret, password.encode() + b"\n")
        os.close(secret)
        with open(folder + "/weir.conf", "w", encoding="utf-8") as out:
            out.write(self.here(self.settings, name) + f"dir {folder}/data\n")
        return harness.Server(folder, config_file=folder + "/weir.conf")

    def test_ten_lines_make_a_pair(self):
        for statement in self.statements.strip().splitlines():
            self.database.ask(statement, "postgres")
        pair = [self.machine(name) for name in "ab"]
        self.servers += pair
        program, *words = shlex.split(self.here(self.making.strip(), "a"))
        self.assertEqual(program, "weir-server")
        code, out = self.command(*words)
        self.assertEqual(code, 0, out)
        for server in pair:
            server.start()
        primary = self.primary_of(*pair)
        self.assertEqual(primary.call("RL.TAKE", "l", "FIXED", "10/3650d", "COST", 4)[0], 1)
        harness.wait_until(lambda: self.info(primary).get("connected_slaves") == "1", "the other one follows")
        other = next(each for each in pair if each is not primary)
        primary.send_signal(9)
        primary.wait()
        harness.wait_until(lambda: self.serves(other), "the other one serves")
        self.assertEqual(other.call("RL.PEEK", "l", "FIXED", "10/3650d", "COST", 0)[2], 6)


if __name__ == "__main__":
    harness.main()
