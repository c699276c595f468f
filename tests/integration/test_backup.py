"""Checkpoints and --restore: nothing is written over, and all that was acknowledged is there."""

import glob
import os
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
from backup import BackupTest, flip, picture, run

ROOT = Path(__file__).resolve().parents[2]


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

    def test_a_folder_that_is_gone_has_no_target(self):
        """Somebody has removed the folder in which the shell is."""
        path = self.checkpoint(self.server().start())
        script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" --restore "$1" --dir restored'
        done = subprocess.run(["sh", "-c", script, os.path.abspath(harness.executable), path],
                              cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done)

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
        left = "is what a --restore that did not end has left, and no data: remove it"
        for most in (8192, 1):  # in the middle of the files, and before the first of them
            target = self.path(f"target-{most}")

            def bound():  # no file may have more bytes; the first that would ends the process
                resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

            code, out, _ = run("--restore", server.data, "--dir", target, preexec_fn=bound)
            self.assertEqual(code, -signal.SIGXFSZ)
            self.assertNotIn("restored to", out)
            self.assert_damaged(target, left)
            for words in (("--restore", server.data, "--dir", target), ("--dir", target, "--port", "0"),
                          ("--restore", target, "--dir", self.path("another"))):
                code, _, err = run(*words)
                self.assertEqual(code, 1)
                self.assertIn(left, err)
        shutil.rmtree(target)
        self.assertEqual(run("--restore", server.data, "--dir", target)[0], 0)
        self.assertNotIn("WEIR.restoring", os.listdir(target))
        self.assertEqual(run("--check", target)[0], 0)


class Page(BackupTest):
    @unittest.skipUnless(shutil.which("redis-cli"), "needs redis-cli")
    def test_the_lines_of_the_page(self):
        page = (ROOT / "docs/backup.md").read_text(encoding="utf-8")
        lines = "".join(re.findall(r"(?ms)^```sh\n(.*?)^```", page))
        server, restored = self.server(dir=self.path("weir-data")).start(), harness.free_port()
        server.call("RL.TAKE", "user:7", "FIXED", "10/1d", "COST", 3)
        lines = lines.replace("-p 6379", f"-p {server.port}").replace("--port 6379", f"--port {server.port}")
        lines = lines.replace("7443", str(restored)).replace("weir-server", harness.executable)
        lines = re.sub(r"(?m)^(weir-(?:import|export|backup))", rf"{ROOT}/tools/\1", lines)
        started = re.search(r"(?m)^.*--dir restored &$", lines)[0]
        lines = lines.replace(started, started + f"""
trap 'kill %1; wait' EXIT
until redis-cli -p {restored} PING; do sleep 0.1; done
""")
        done = subprocess.run(
            ["bash", "-ec", lines + f"redis-cli -p {restored} RL.POLICY GET api\n"
             f"redis-cli -p {restored} RL.PEEK user:7 FIXED 10/1d COST 0"],
            cwd=self.folder, timeout=harness.PATIENCE_S, capture_output=True, text=True, check=False,
            env={**os.environ, "WEIR_SERVER": harness.executable})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("all of it is whole", "restored to restored", "imported: 1 policies, ",
                     "GCRA 100/1m BURST 20", "\n10\n7\n"):
            self.assertIn(text, done.stdout)


if __name__ == "__main__":
    harness.main()
