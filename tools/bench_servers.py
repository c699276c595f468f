"""The servers that tools/bench measures: starts them, stops them, looks at their size.

Each listens on a free port of its own, checked to be its own, and dies with this process.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support import servers  # noqa: E402
from support.processes import CannotStart, end_with_parent, free_port  # noqa: E402
from support.resp import metrics  # noqa: E402

__all__ = ["SERVERS", "CannotStart", "Failure", "Server", "end_with_parent", "metrics"]

SETTLE_SECONDS = 60

REDIS = ["redis-server", "--bind", "127.0.0.1", "--save", "", "--loglevel", "warning"]
WEIR = ["weir-server", "--bind", "127.0.0.1", "--loglevel", "warning"]
SERVERS = {
    "redis": ("Redis, in memory", REDIS + ["--appendonly", "no"]),
    "redis-aof": ("Redis, AOF everysec",
                  REDIS + ["--appendonly", "yes", "--appendfsync", "everysec"]),
    "weir-memory": ("weir, --storage memory", WEIR + ["--storage", "memory"]),
    "weir-no": ("weir, durability no", WEIR + ["--storage", "rocksdb", "--durability", "no"]),
    "weir-everysec": ("weir, durability everysec",
                      WEIR + ["--storage", "rocksdb", "--durability", "everysec"]),
    "weir-always": ("weir, durability always",
                    WEIR + ["--storage", "rocksdb", "--durability", "always"]),
}


class Failure(Exception):
    """What ends the whole benchmark."""


class Server(servers.Server):
    """One started server; stopped in the sense of SIGSTOP unless it is being measured."""

    start_s = 30

    def __init__(self, name, folder, binaries):
        self.title, command = SERVERS[name]
        self.data = folder / name / "data"
        self.data.mkdir(parents=True)
        port = free_port()
        program = binaries / command[0] if command[0] == "weir-server" else command[0]
        super().__init__(name, [program, *command[1:], "--port", port, "--dir", self.data], folder / name, port,
                         preexec_fn=end_with_parent)
        self.start()

    def start(self):
        super().start()
        self.pause()

    def restart(self):
        """Ends it in peace and starts it on the same data; answers after how many seconds."""
        self.go_on()
        self.stop()
        begin = time.monotonic()
        self.start()
        return time.monotonic() - begin

    def is_ready(self):
        return listens(self.process.pid, self.port) and super().is_ready()

    def pause(self):
        self.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.send_signal(signal.SIGCONT)

    def settle(self):
        """Lets it run until it has nothing left to do, or for a minute."""
        self.go_on()
        end, quiet, before = time.monotonic() + SETTLE_SECONDS, 0, self.cpu_seconds()
        while quiet < 6 and time.monotonic() < end:
            time.sleep(0.25)
            now = self.cpu_seconds()
            quiet = quiet + 1 if now - before < 0.02 and not self.has_children() else 0
            before = now
        self.pause()

    def has_children(self):
        """Redis rewrites its log in a child."""
        pid = self.process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().strip() != ""

    def sizes(self):
        """Megabytes in memory and on disk."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        disk = sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file())
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, disk / 2**20


def listens(pid, port):
    """Whether the listener on this port belongs to this process and not to somebody else."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    wanted = {f"socket:[{line[9]}]" for line in lines
              if line[3] == "0A" and int(line[1].split(":")[1], 16) == port}
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.readlink(link) in wanted:
                return True
        except OSError:
            pass
    return False
