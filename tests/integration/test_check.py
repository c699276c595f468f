"""--check: it says what is there, finds what is damaged, and changes nothing."""

import glob
import os
import random
import re
import signal
from pathlib import Path

import harness
from backup import BackupTest, flip, on_terminal, picture, run


class Check(BackupTest):
    def test_it_says_what_is_there_and_changes_nothing(self):
        server = self.stopped()
        Path(server.data, "pass.sst").write_text("left of a write-back", encoding="utf-8")
        before = picture(server.data)
        code, out, err = run("--check", server.data)
        self.assertEqual((code, err), (0, ""))
        for text in ("format 1, id ", "database 0: ", "hash 1, limiter 3, list 1, string 20",
                     "zset 1", "database 3: 1 keys: string 1",
                     "limits: FIXED 1, GCRA 2, SLIDINGLOG 1",
                     "policies 1, scripts 1, libraries of functions 1", "all of it is whole\n"):
            self.assertIn(text, out)
        self.assertNotIn("set 1,", out.replace("zset", ""), "it was emptied by the log alone")
        elements = int(re.search(r"(\d+) of them elements", out)[1])
        self.assertLess(elements, 10, "those of the set and of the long list are gone")
        self.assertEqual(picture(server.data), before)

    def test_a_checkpoint_of_a_server_that_runs(self):
        server = self.server().start()
        with server.connect() as client:
            self.fill(client)
        path = self.checkpoint(server)
        before = picture(path)
        self.assertEqual(run("--check", path)[0], 0)
        self.assertEqual(picture(path), before)
        self.assertIn(path, server.log())

    def test_a_terminal_shows_how_far_it_is(self):
        server = self.stopped()
        code, text = on_terminal(harness.executable, "--check", server.data)
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\x1b\[Kchecksums \[#+\.*\] +\d+ %  \d")
        self.assertTrue(text.endswith("\r\x1b[K"), "the line is left empty")

    def test_a_directory_in_use_is_refused(self):
        server = self.server().start()
        code, out, err = run("--check", server.data)
        self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
        self.assertIn(f"in use by a server (process {server.process.pid})", err)
        self.assertEqual(server.call("PING"), "PONG")

    def test_an_end_that_a_crash_has_torn_is_no_damage_and_stays(self):
        server = self.stopped()
        [log] = [path for path in glob.glob(server.data + "/log/*.log") if os.path.getsize(path)]
        with open(log, "r+b") as file:
            file.truncate(os.path.getsize(log) - 7)
        before = picture(server.data)
        code, out, err = run("--check", server.data)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn("is cut from", out)
        self.assertEqual(picture(server.data), before)
        self.assertEqual(server.start().call("GET", "late:100"), b"x" * 200)

    def test_what_is_no_data(self):
        os.symlink("loop", self.path("loop"))
        for folder, text in ((self.path("none"), "is no directory"),
                             (self.path("loop"), "cannot look at " + self.path("loop") + ": Too many"),
                             (self.path("n" * 300), "File name too long"),
                             (self.folder, "holds no data of weir")):
            code, out, err = run("--check", folder)
            self.assertEqual((code, out), (1, ""))
            self.assertIn(text, err)

    def test_a_newer_format_is_refused_by_all(self):
        server = self.stopped(signal.SIGTERM)
        path = os.path.join(server.data, "WEIR")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.chmod(path, 0o600)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("format 1\n", "format 4\n"))
        line = "has format version 4, this weir-server reads versions 1 to 3"
        self.assert_damaged(server.data, line)
        server.command += ["--logfile", ""]
        code, _, err = server.spawn().wait()
        self.assertEqual(code, 1)
        self.assertIn(line, err)


class Random(BackupTest):
    """What a check counts is what a server then has, whatever was written before a kill."""

    SEED = 20261123
    COLLECTIONS = (("HSET", "{}", "{}"), ("SADD", "{}"), ("RPUSH", "{}"), ("ZADD", "{0}", "{0}"))

    def request(self, draw):
        key, other = f"k{draw.randrange(60)}", f"k{draw.randrange(60)}"
        kind = draw.randrange(12)
        if kind < 4:
            name, *words = self.COLLECTIONS[kind]
            members = range(draw.choice((1, 3, 100)))
            return (name, key, *(word.format(member) for member in members for word in words))
        return (("SET", key, "v" * draw.randrange(300)), ("DEL", key), ("RENAME", key, other),
                ("RL.TAKE", key, *draw.choice((("9/1h",), ("SLIDINGLOG", "9/1h")))),
                ("SELECT", draw.randrange(3)), ("PEXPIRE", key, draw.choice((1, 3_600_000))),
                ("DEL", key, other),
                draw.choice((("FLUSHDB",), ("SWAPDB", 0, 1), *[("PERSIST", key)] * 20)))[kind - 4]

    def counts(self, server):
        """{(database, type): keys} as a server has them."""
        found = {}
        with server.connect() as client:
            for database in range(3):
                client.call("SELECT", database)
                for key in client.call("KEYS", "*"):
                    kind = client.call("TYPE", key)
                    found[(database, kind)] = found.get((database, kind), 0) + 1
        return found

    @staticmethod
    def counts_of(out):
        found = {}
        for database, types in re.findall(r"(?m)^database (\d+): \d+ keys: ([^;\n]*)", out):
            for kind, count in re.findall(r"(\w+) (\d+)", types):
                found[(int(database), kind)] = int(count)
        return found

    def test_random_changes(self):
        draw = random.Random(self.SEED)
        server = self.server(write_back_interval_ms=20)
        for life in range(6):
            server.start()
            with server.connect() as client:
                for _ in range(1500):
                    try:
                        client.call(*self.request(draw))
                    except harness.Refused:
                        pass
            server.stop(signal.SIGKILL)
            code, out, err = run("--check", server.data)
            self.assertEqual((code, err), (0, ""), f"life {life}: {out}")
            expired = sum(map(int, re.findall(r"not removed yet: (\d+)", out)))
            server.start()
            held = self.counts(server)
            server.stop(signal.SIGKILL)
            told = self.counts_of(out)
            for what, count in held.items():
                self.assertGreaterEqual(told.get(what, 0), count, (life, what, out))
            self.assertLessEqual(sum(told.values()) - sum(held.values()), expired + 5, out)


class Damage(BackupTest):
    def test_a_table(self):
        server = self.stopped()
        [table, *_] = sorted(glob.glob(server.data + "/state/*.sst"))
        for at in (30, os.path.getsize(table) // 2):
            flip(table, at)
            self.assert_damaged(server.data, os.path.basename(table))
            flip(table, at)
        self.assertEqual(run("--check", server.data)[0], 0)

    def test_the_log(self):
        server = self.stopped()
        log = max(glob.glob(server.data + "/log/*.log"), key=os.path.getsize)
        flip(log, os.path.getsize(log) // 2)
        self.assert_damaged(server.data, log)

    def test_a_file_that_is_gone(self):
        server = self.stopped()
        [table, *_] = sorted(glob.glob(server.data + "/state/*.sst"))
        os.rename(table, self.path("away"))
        self.assert_damaged(server.data, "state/" + Path(table).stem, "No such file")
        os.rename(self.path("away"), table)
        os.rename(server.data + "/log", self.path("away"))
        self.assert_damaged(server.data, server.data + "/log is missing")

    def test_the_identity(self):
        server = self.stopped()
        flip(os.path.join(server.data, "WEIR"), 40)
        self.assert_damaged(server.data, "WEIR is damaged")


if __name__ == "__main__":
    harness.main()
