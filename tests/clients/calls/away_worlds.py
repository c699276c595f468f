"""The ways in which weir goes away and comes back, each with a server, or a shard, of its own.

A world has the port that callers ask, leave() and come_back(), and is closed at its end. leave()
returns when weir is away, come_back() when it answers again.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from direct import Direct, Refused
from harness import servers, shards
from report import Skip
from support.waiting import wait_until

PROGRAM = os.environ["CLIENTS_PROGRAM"]
DISK_BYTES = 64 << 20
VALUE = "v" * 50_000


class Alone:
    """A server by itself."""

    def __init__(self, *options):
        self.server = servers.Server("weir", PROGRAM, list(options), durable=True)
        self.port = self.server.port

    def start(self):
        self.server.start()

    def ask(self, words):
        """The reply as text, that of an error too; a connection for each, as the server may have closed one."""
        with Direct(self.port) as connection:
            try:
                return connection.ask(words)
            except Refused as refused:
                return str(refused)

    def close(self):
        self.server.close()


class Killed(Alone):
    def leave(self):
        self.server.kill()

    def come_back(self):
        self.server.start()


class Stopped(Alone):
    """Its port still takes connections, and says nothing."""

    def leave(self):
        self.server.process.send_signal(signal.SIGSTOP)

    def come_back(self):
        self.server.process.send_signal(signal.SIGCONT)


class DiskFull(Alone):
    def __init__(self):
        self.disk = tempfile.mkdtemp(prefix="weir-clients-disk-")
        self.ballast = Path(self.disk) / "ballast"
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", self.disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            os.rmdir(self.disk)
            raise Skip("no file system can be mounted here")
        super().__init__("--wal-bytes-max", "1mb", "--write-back-interval-ms", "200")
        self.server.command += ["--dir", self.disk + "/data"]
        os.mkdir(self.disk + "/data")

    def leave(self):
        with self.ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while file.write(bytes(4096)):
                pass
        wait_until(lambda: "MISCONF" in str(self.ask(f"SET full {VALUE}")), "the disk is full")

    def come_back(self):
        self.ballast.unlink()
        wait_until(lambda: self.ask("SET full 1") == "OK", "writes are taken again")

    def close(self):
        super().close()
        subprocess.run(["umount", "-l", self.disk], check=False)
        os.rmdir(self.disk)


class Demoted:
    """The member that callers ask is demoted by a switchover, and promoted by another."""

    def __init__(self):
        self.shard = shards.WeirShard(PROGRAM, "")

    def start(self):
        self.shard.start()
        self.asked = self.shard.primary()
        self.port = self.asked.port

    def leave(self):
        self.shard.switch_over(self.asked)
        wait_until(lambda: self.shard.primary() not in (None, self.asked), "another one serves")

    def come_back(self):
        self.shard.switch_over(self.shard.primary(), self.asked)
        wait_until(lambda: self.shard.primary() is self.asked, "it serves again")

    def close(self):
        self.shard.close()


WORLDS = {"killed": Killed, "stopped": Stopped, "disk-full": DiskFull, "demoted": Demoted}
