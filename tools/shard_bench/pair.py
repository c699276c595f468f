"""A PostgreSQL with a synchronous standby of its own, and what a member of a shard did on it."""

import os
import signal
import subprocess
import tempfile
import time

from database import Database, programs
from members import HOST, free_port

STANDBY = "bench_standby"
READY_S = 30


class Pair(Database):
    """The primary answers a commit when its standby has it on disk. Both are on this machine."""

    def __init__(self, folder):
        super().__init__(folder)
        self.standby_folder = tempfile.mkdtemp(prefix="weir-bench-standby-")
        if self.rights:
            os.chown(self.standby_folder, self.rights["user"], self.rights["group"])
        data = os.path.join(self.standby_folder, "data")
        self.run("pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "-d",
                 f"host={HOST} port={self.port} user=weir application_name={STANDBY}")
        with open(os.path.join(self.standby_folder, "log"), "ab") as log:
            self.standby = subprocess.Popen(
                [os.path.join(programs(), "postgres"), "-D", data, "-p", str(free_port()), "-h", HOST, "-k",
                 self.standby_folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.how())
        self.ask(f"alter system set synchronous_standby_names = '{STANDBY}'")
        self.ask("select pg_reload_conf()")
        end = time.monotonic() + READY_S
        while self.ask("select sync_state from pg_stat_replication") != "sync":
            if time.monotonic() > end:
                raise RuntimeError("PostgreSQL's standby does not follow")
            time.sleep(0.1)

    def ask(self, words):
        done = subprocess.run([os.path.join(programs(), "psql"), "-h", HOST, "-p", str(self.port), "-U", "weir", "-d",
                               "weir", "-At", "-c", words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=READY_S, check=True, **self.how())
        return done.stdout.strip()

    def processes(self):
        return [*super().processes(), self.standby.pid]

    def log_bytes(self):
        """Of the primary's own log; the standby keeps as much."""
        return int(self.ask("select pg_current_wal_lsn() - '0/0'"))

    def close(self):
        self.standby.send_signal(signal.SIGQUIT)
        self.standby.wait()
        subprocess.run(["rm", "-rf", self.standby_folder], check=False)
        super().close()
