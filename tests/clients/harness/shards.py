"""Starts members of a shard, or a Redis master with replicas and sentinels, in a server's place.

Invariants:
1. Clients are told of sentinels and of a name only: of a shard's members, which are all sentinels.
2. kill() ends who serves, and returns at once. start() after it waits until another one serves, and
   then starts the dead one; so does move(), which makes a switchover.
3. What is asked here is asked again where the server closed the connection: a member sends its
   clients away when another one takes over.
"""

import contextlib
import subprocess
import sys
from pathlib import Path

from support import resp
from support.waiting import wait_until

from . import servers
from .clusters import PATIENCE_S, write_keys

POSTGRES = Path(__file__).resolve().parents[2] / "integration/postgres.py"
NAME = "main"
COUNT = 3


def ask(port, *words):
    """The reply to one request; None where nobody answers."""
    with contextlib.suppress(OSError):
        return resp.ask(port, *words, timeout_s=2)
    return None


def facts_of(sentinel):
    """What it says of the shard; nothing if it knows none."""
    told = ask(sentinel.port, "SENTINEL", "MASTER", NAME)
    return resp.pairs(told) if isinstance(told, list) else {}


class Shard:
    """As servers.Server, for the programs of the part `failover`."""

    tls = None

    def __init__(self, name, members, durable):
        self.name = name
        self.members = members
        self.durable = durable
        self.port = members[0].port
        self.folder = members[0].folder

    @property
    def environment(self):
        return {"CLIENTS_SENTINELS": ",".join(map(str, self.sentinels())), "CLIENTS_MASTER": NAME,
                "CLIENTS_MEMBERS": ",".join(str(member.port) for member in self.members)}

    def primary(self):
        """Who serves; None: nobody does."""
        for member in self.members:
            if member.process is not None and member.process.poll() is None:
                role = ask(member.port, "ROLE")
                if isinstance(role, list) and role[0] == b"master":
                    return member
        return None

    def start(self):
        if any(member.process is not None for member in self.members):
            wait_until(self.is_led, "another one serves", PATIENCE_S)
        for member in self.members:
            if member.process is None or member.process.poll() is not None:
                member.start()
        self.join()
        return self

    def is_led(self):
        return self.primary() is not None

    def kill(self):
        self.primary().kill()

    def move(self, _):
        """Has another one become the primary."""
        before = self.primary()
        self.switch_over(before)
        wait_until(lambda: self.primary() not in (None, before), "another one serves", PATIENCE_S)

    def is_running(self):
        return all(member.is_running() for member in self.members)

    def close(self):
        for member in self.members:
            member.close()


class WeirShard(Shard):
    def __init__(self, program, log, database=None):
        members = [servers.weir(program, "rocksdb") for _ in range(COUNT)]
        super().__init__("weir", members, durable=True)
        self.database = database
        self.log = log or f"file:{self.folder}/shared-log"
        for member in members:
            member.command += ["--log", self.log, "--shard", NAME]
        made = subprocess.run([program, "--new-shard", self.log, NAME, "--dir", f"{self.folder}/data"],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise RuntimeError(f"--new-shard: {made.stdout}{made.stderr}")

    def sentinels(self):
        return [member.port for member in self.members]

    def join(self):
        others = str(COUNT - 1)
        wait_until(lambda: self.is_led() and all(facts_of(member).get("num-other-sentinels") == others
                                                 for member in self.members),
                   "the members know one another", PATIENCE_S)

    def switch_over(self, primary, other=None):
        """To the other one, or to any, as soon as the primary knows that it follows."""
        other = other or next(member for member in self.members if member is not primary)
        node = ask(other.port, "SENTINEL", "MYID").decode()
        said = []

        def has_switched_over():
            said.append(ask(primary.port, "WEIR", "SWITCHOVER", node))
            if said[-1] in (None, "OK"):
                return True
            if "no standby of that name" not in str(said[-1]):
                raise RuntimeError(f"WEIR SWITCHOVER {node}: {said[-1]}")
            return False

        wait_until(has_switched_over, f"the primary switches over to {node}", PATIENCE_S)

    def close(self):
        super().close()
        if self.database:
            self.database.communicate()


class WeirShardInCluster(WeirShard):
    """A shard in the place of a cluster's one owner, for the programs of the part `cluster`. When it comes back after a
    kill, the role is given to another member once more."""

    def __init__(self, program, log, database=None):
        super().__init__(program, log, database)
        self.keys = write_keys(self.folder)
        for member in self.members:
            member.command += ["--cluster-enabled", "yes"]

    def start(self):
        comes_back = any(member.process is not None for member in self.members)
        super().start()
        if comes_back:
            self.move(None)
            self.join()
        return self

    def shows_all(self, member):
        """Whether the primary and all others are shown at a member."""
        rows = ask(member.port, "CLUSTER", "SLOTS")
        primary = self.primary()
        return bool(rows and primary) and rows[0][2][1] == primary.port and len(rows[0]) == 2 + COUNT

    def join(self):
        wait_until(lambda: all(map(self.shows_all, self.members)), "all members show the same", PATIENCE_S)


class RedisShard(Shard):
    """A Redis copies to its replicas after it has answered, so what was acknowledged may be lost."""

    def __init__(self, program):
        members = [servers.redis(program) for _ in range(COUNT)]
        super().__init__("redis", members, durable=False)
        for member in members[1:]:
            member.command += ["--replicaof", "127.0.0.1", str(members[0].port)]
        self.watchers = [servers.Server("redis", program, [], durable=False) for _ in range(COUNT)]
        for watcher in self.watchers:
            config = watcher.folder / "sentinel.conf"
            config.write_text(
                f"port {watcher.port}\nbind 127.0.0.1\ndir {watcher.folder}\n"
                f"sentinel monitor {NAME} 127.0.0.1 {members[0].port} 2\n"
                f"sentinel down-after-milliseconds {NAME} 2000\nsentinel failover-timeout {NAME} 10000\n")
            watcher.command = [program, str(config), "--sentinel"]

    def sentinels(self):
        return [watcher.port for watcher in self.watchers]

    def sees(self, watcher):
        facts = facts_of(watcher)
        return (facts.get("num-slaves"), facts.get("num-other-sentinels"),
                facts.get("flags")) == ("2", "2", "master")

    def join(self):
        for watcher in self.watchers:
            if watcher.process is None:
                watcher.start()
        wait_until(lambda: self.is_led() and all(map(self.sees, self.watchers)),
                   "the sentinels know one another", PATIENCE_S)
        wait_until(lambda: ask(self.primary().port, "INFO", "replication").count(b"state=online") == 2,
                   "the replicas follow", PATIENCE_S)

    def primary(self):
        """Whom the sentinels name."""
        told = ask(self.watchers[0].port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
        return next((member for member in self.members if isinstance(told, list) and
                     int(told[1]) == member.port and member.is_running()), None)

    def switch_over(self, _):
        ask(self.watchers[0].port, "SENTINEL", "FAILOVER", NAME)

    def close(self):
        super().close()
        for watcher in self.watchers:
            watcher.close()


def redis(program):
    return RedisShard(program)


def weir(program, log, in_cluster=False):
    kind = WeirShardInCluster if in_cluster else WeirShard
    if log == "file":
        return kind(program, "")
    database = subprocess.Popen([sys.executable, "-B", POSTGRES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)
    try:
        return kind(program, database.stdout.readline().strip(), database)
    except BaseException:
        database.communicate()
        raise
