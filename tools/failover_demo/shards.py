"""A cluster of shards for a try: a PostgreSQL of its own, and the members of all shards on ports in a row."""

import secrets
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from database import Database
from founding import founding_text, shares_of
from members import HOST, START_S, Member
from shard_members import FAILURES, cluster_of

SHARDS_MAX = len(string.ascii_lowercase)
MEMBERS_MAX = 5
AGAIN_S = 5  # after which who has died is started again, so that a takeover is seen before
END_S = 10


class Shards:
    def __init__(self, counts, folder, port, options):
        shards, self.members_each = counts
        self.names = string.ascii_lowercase[:shards]
        self.founding = folder / "founding"
        self.founding.write_text(founding_text("try", secrets.token_hex(16), shares_of(self.names, None)))
        self.log = Database(str(folder))
        seeds = " ".join(f"{HOST}:{port + at * self.members_each}" for at in range(shards))
        options = ("--bind", HOST, "--cluster-enabled", "yes", "--cluster-announce-ip", HOST,
                   "--cluster-seeds", seeds, *options)
        self.members = [Member(f"{name}{number + 1}", str(folder), self.log.address(), options, name,
                               port + at * self.members_each + number)
                        for at, name in enumerate(self.names) for number in range(self.members_each)]

    def begin(self):
        for first in self.members[::self.members_each]:
            first.make_shard("--founding", str(self.founding))
        for member in self.members:
            member.start()
        end = time.monotonic() + START_S
        while not self.is_whole():
            if time.monotonic() > end:
                raise RuntimeError("not all members know one another; their logs say why")
            time.sleep(0.1)

    def is_whole(self):
        """Whether each shard has somebody who serves and all its members; with a password that is not told here,
        nobody can know."""
        try:
            shards = cluster_of(f"{HOST}:{self.members[0].port}")[1]
        except FAILURES as why:
            return str(why).startswith(("NOAUTH", "NOPERM"))
        return (len(shards) == len(self.names) and
                all(shard.serves and len(shard.members) == self.members_each for shard in shards))

    def watch(self):
        """Starts again who has died, until this program is told to end."""
        died = {}
        while True:
            for member in self.members:
                if member.process.poll() is None:
                    continue
                if member.name not in died:
                    died[member.name] = time.monotonic()
                    print(f"{member.name} has ended; it is started again in {AGAIN_S} s", flush=True)
                elif time.monotonic() - died[member.name] > AGAIN_S:
                    del died[member.name]
                    member.start()
                    print(f"{member.name} is there again, process {member.process.pid}", flush=True)
            time.sleep(0.1)

    def close(self):
        for member in self.members:
            if member.process:
                member.process.terminate()
        end = time.monotonic() + END_S
        for member in self.members:
            try:
                if member.process:
                    member.process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.kill()
        self.log.close()


def run_shards(counts, directory, port, options):
    """Runs shards x members until it is told to end. A folder that is not named goes at the end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder = Path(directory or tempfile.mkdtemp(prefix="weir-cluster-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shards = None
    try:
        if any(folder.iterdir()):
            raise RuntimeError(f"{folder} is not empty, and the shared log of what it may hold is gone")
        shards = Shards(counts, folder, port, options)
        shards.begin()
        for member in shards.members:
            print(f"{member.name} {HOST}:{member.port}, process {member.process.pid}")
        print(f"data in {folder}, the shared log in {shards.log.address()}\n"
              f"redis-cli -c -p {port}   and   weir-cluster status {HOST}:{port}   (Ctrl-C ends them all; "
              f"who is killed is started again after {AGAIN_S} s)", flush=True)
        shards.watch()
    except KeyboardInterrupt:
        return 0
    finally:
        if shards:
            shards.close()
        if not directory:
            shutil.rmtree(folder, ignore_errors=True)
