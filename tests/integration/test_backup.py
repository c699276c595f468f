"""Checkpoints, --check and --restore: what is whole, what is not, and what is there afterwards."""

import glob
import hashlib
import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import threading
import unittest
from pathlib import Path

import harness

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 1 end)\n"


def run(*words, **options):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([harness.executable, *words], text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=harness.PATIENCE_S, **options)
    return done.returncode, done.stdout, done.stderr


def picture(folder):
    """Every byte and every time of change in a folder."""
    found = {}
    for path, _, names in os.walk(folder):
        found[path] = os.stat(path).st_mtime_ns
        for name in names:
            file = os.path.join(path, name)
            with open(file, "rb") as data:
                found[file] = (hashlib.sha256(data.read()).hexdigest(), os.stat(file).st_mtime_ns,
                               os.stat(file).st_mode)
    return found


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))


class BackupTest(harness.ServerTest):
    def fill(self, client):
        for words in (("SET", "s", "v"), ("SET", "soon", "v", "PX", 1), ("HSET", "h", "f", "v"),
                      ("RPUSH", "l", "a", "b"), ("SADD", "set", *range(300)), ("RPUSH", "long", *range(300)),
                      ("ZADD", "z", 1.5, "m"), ("RL.TAKE", "u", "100/1h"),
                      ("RL.TAKE", "w", "SLIDINGLOG", "9/1h", "FIXED", "9/1d"),
                      ("RL.RESERVE", "b", "GCRA", "1/1m", "BURST", 3),
                      ("RL.POLICY", "SET", "api", "10/1s", "BURST", 9), ("EVAL", "return 1", 0),
                      ("FUNCTION", "LOAD", LIBRARY), ("SELECT", 3), ("SET", "other", "v"),
                      ("SELECT", 0)):
            client.call(*words)

    def checkpoint(self, server):
        self.assertEqual(server.call("SAVE"), "OK")
        folder = os.path.join(server.data, "checkpoints")
        return os.path.join(folder, sorted(os.listdir(folder))[-1])

    def stopped(self, number=signal.SIGKILL, **options):
        """A server's data after its end, with files of the state and a log after them."""
        server = self.server(write_back_interval_ms=50, **options).start()
        with server.connect() as client:
            self.fill(client)
            harness.wait_until(lambda: b"unwritten_entries:0\r" in client.call("INFO", "storage"),
                               "the write-back")
            client.call("CONFIG", "SET", "write-back-interval-ms", 3600000)
            for at in range(200):
                client.call("SET", f"late:{at}", "x" * 200)
            client.call("SREM", "set", *range(300))
            client.call("DEL", "long")
        server.stop(number)
        return server

    def assert_damaged(self, folder, *texts):
        before = picture(folder)
        code, out, err = run("--check", folder)
        self.assertEqual(code, 1, out + err)
        for text in texts:
            self.assertIn(text, err)
        self.assertNotIn("all of it is whole", out)
        self.assertEqual(picture(folder), before)


class Check(BackupTest):
    def test_it_says_what_is_there_and_changes_nothing(self):
        server = self.stopped()
        Path(server.data, "pass.sst").write_text("left of a pass", encoding="utf-8")
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
        for folder, text in ((self.path("none"), "is no directory"),
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
            file.write(text.replace("format 1\n", "format 2\n"))
        line = "has format version 2, this weir-server reads version 1"
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


class Load:
    """Clients that take from keys of their own, and know what was acknowledged."""

    def __init__(self, server, clients=4, keys=50):
        self.acknowledged = [[0] * keys for _ in range(clients)]
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.take, args=(server, number))
                        for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def take(self, server, number):
        counts = self.acknowledged[number]
        with server.connect() as client:
            at = 0
            while not self.ends.is_set():
                at = (at + 1) % len(counts)
                client.call("RL.TAKE", f"k:{number}:{at}", "FIXED", "1000000/1d")
                counts[at] += 1

    def now(self):
        return [list(counts) for counts in self.acknowledged]

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


class Restore(BackupTest):
    def test_a_checkpoint_taken_under_load_has_every_acknowledged_decision(self):
        server = self.server(write_back_interval_ms=20).start()
        load = Load(server)
        try:
            with server.connect() as client:
                harness.wait_until(lambda: sum(map(sum, load.now())) > 2000, "the load")
                self.assertEqual(client.call("BGSAVE"), "Background saving started")
                before = load.now()
                harness.wait_until(
                    lambda: b"rdb_bgsave_in_progress:0" in client.call("INFO", "persistence"),
                    "the checkpoint")
                name = client.call("INFO", "storage").split(b"last_checkpoint:")[1].split(b"\r")[0]
        finally:
            load.end()
        target = self.path("elsewhere")
        code, out, err = run("--restore", f"{server.data}/checkpoints/{name.decode()}", "--dir",
                             target)
        self.assertEqual((code, err), (0, ""), out)
        self.assertIn(f"restored to {target}\n", out)
        server.stop(signal.SIGKILL)
        again = self.server(dir=target, logfile=self.path("again.log"))
        again.log_path = self.path("again.log")
        again.start()
        with again.connect() as client:
            for number, counts in enumerate(before):
                for at, count in enumerate(counts):
                    if count == 0:
                        continue
                    _, _, left, *_ = client.call("RL.PEEK", f"k:{number}:{at}", "FIXED",
                                                 "1000000/1d", "COST", 0)
                    self.assertGreaterEqual(1000000 - left, count)

    def test_nothing_is_restored_over_data(self):
        server = self.server().start()
        path = self.checkpoint(server)
        self.write("file", "")
        os.makedirs(self.path("full/of"))
        for target, text in ((server.data, "is not empty"), (self.path("full"), "is not empty"),
                             (self.path("file"), "is no directory")):
            before = picture(target) if target != server.data else None
            code, out, err = run("--restore", path, "--dir", target)
            self.assertEqual((code, out, err.count("\n")), (1, "", 1), err)
            self.assertIn(text, err)
            self.assertEqual(picture(target) if before is not None else None, before)

    def test_a_damaged_checkpoint_is_not_restored(self):
        server = self.stopped()
        [table, *_] = sorted(glob.glob(server.data + "/state/*.sst"))
        flip(table, 30)
        code, _, err = run("--restore", server.data, "--dir", self.path("target"))
        self.assertEqual(code, 1)
        self.assertIn("nothing was restored", err)
        self.assertFalse(os.path.exists(self.path("target")))

    def test_modes_and_what_is_copied(self):
        server = self.server().start()
        path = self.checkpoint(server)
        target = self.path("a/new")
        conf = self.write("weir.conf", f"dir {target}\n")
        self.assertEqual(run("--restore", path, conf)[0], 0)
        self.assertEqual(sorted(os.listdir(target)), ["WEIR", "log", "state"])
        for folder, _, names in os.walk(target):
            self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o750)
            for name in names:
                self.assertEqual(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode), 0o640)

    def test_root_gives_the_files_to_who_has_the_directory(self):
        if os.geteuid() != 0:
            self.skipTest("only root gives files away")
        server = self.server().start()
        path = self.checkpoint(server)
        target = self.path("of-another")
        os.mkdir(target)
        os.chown(target, 12345, 12346)
        self.assertEqual(run("--restore", path, "--dir", target)[0], 0)
        for folder, _, names in os.walk(target):
            for name in ["", *names]:
                found = os.stat(os.path.join(folder, name))
                self.assertEqual((found.st_uid, found.st_gid), (12345, 12346))

    def test_a_copy_that_was_cut_short_is_no_data(self):
        server = self.stopped()
        target = self.path("target")

        def bound():  # no file may have more bytes; the first that would ends the process
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        code, out, _ = run("--restore", server.data, "--dir", target, preexec_fn=bound)
        self.assertEqual(code, -signal.SIGXFSZ)
        self.assertNotIn("restored to", out)
        self.assertTrue(os.listdir(target))
        self.assert_damaged(target, "holds data but no")
        code, _, err = run("--restore", server.data, "--dir", target)
        self.assertEqual(code, 1)
        self.assertIn("is not empty", err)


class Page(BackupTest):
    @unittest.skipUnless(shutil.which("redis-cli"), "needs redis-cli")
    def test_the_lines_of_the_page(self):
        page = (ROOT / "docs/backup.md").read_text(encoding="utf-8")
        lines = "".join(re.findall(r"(?ms)^```sh\n(.*?)^```", page))
        server, restored = self.server(dir=self.path("weir-data")).start(), harness.free_port()
        server.call("RL.TAKE", "user:7", "FIXED", "10/1d", "COST", 3)
        lines = lines.replace("-p 6379", f"-p {server.port}").replace("--port 6379", f"--port {server.port}")
        lines = lines.replace("7443", str(restored)).replace("weir-server", harness.executable)
        lines = re.sub(r"(?m)^(weir-(?:im|ex)port)", rf"{ROOT}/tools/\1", lines)
        started = re.search(r"(?m)^.*--dir restored &$", lines)[0]
        lines = lines.replace(started, started + f"""
trap 'kill %1; wait' EXIT
until redis-cli -p {restored} PING; do sleep 0.1; done
""")
        done = subprocess.run(
            ["bash", "-ec", lines + f"redis-cli -p {restored} RL.POLICY GET api\n"
             f"redis-cli -p {restored} RL.PEEK user:7 FIXED 10/1d COST 0"],
            cwd=self.folder, timeout=harness.PATIENCE_S, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("all of it is whole", "restored to restored", "imported: 1 policies, ",
                     "GCRA 100/1m BURST 20", "\n10\n7\n"):
            self.assertIn(text, done.stdout)


if __name__ == "__main__":
    harness.main()
