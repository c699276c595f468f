"""Starts members of a shard, or a Redis master with replicas and sentinels, in a server's place.

Invariants:
1. Clients are told of sentinels and of a name only: of a shard's members, which are all sentinels.
2. kill() ends who serves, and returns at once. start() after it waits until another one serves, and
   then starts the dead one; so does move(), which has the office handed over.
3. What is asked here is asked again where the server closed the connection: a member sends its
   clients away when another one takes over.
"""

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

from . import clusters, servers

POSTGRES = Path(__file__).resolve().parents[2] / "integration/postgres.py"
NAME = "main"
COUNT = 3


def ask(port, *words):
    """One command, its reply as text; "" where nobody answers. (A sentinel knows no QUIT.)"""
    parts = [f"${len(str(word))}\r\n{word}\r\n" for word in words]
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.sendall(f"*{len(parts)}\r\n{''.join(parts)}".encode())
        connection.shutdown(socket.SHUT_WR)
        return connection.makefile("rb").read().decode()
    return ""


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

    def owner(self):
        """Who serves; None: nobody does."""
        for member in self.members:
            if member.process is not None and member.process.poll() is None:
                if ask(member.port, "ROLE").startswith(("*3\r\n$6\r\nmaster", "*4\r\n$6\r\nmaster")):
                    return member
        return None

    def start(self):
        if any(member.process is not None for member in self.members):
            clusters.wait_until(self.is_led, "another one serves")
        for member in self.members:
            if member.process is None or member.process.poll() is not None:
                member.start()
        self.join()
        return self

    def is_led(self):
        return self.owner() is not None

    def kill(self):
        self.owner().kill()

    def move(self, _):
        """Has the office handed to another one."""
        before = self.owner()
        self.hand_over(before)
        clusters.wait_until(lambda: self.owner() not in (None, before), "another one serves")

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
        clusters.wait_until(
            lambda: self.is_led() and all(f"num-other-sentinels\r\n${len(others)}\r\n{others}\r\n" in
                                          ask(member.port, "SENTINEL", "MASTER", NAME)
                                          for member in self.members), "the members know one another")

    def hand_over(self, owner):
        other = next(member for member in self.members if member is not owner)
        node = ask(other.port, "SENTINEL", "MYID").split("\r\n")[1]
        said = ask(owner.port, "WEIR", "HANDOVER", node)
        if said and not said.startswith("+OK"):
            raise RuntimeError(f"WEIR HANDOVER {node}: {said}")

    def close(self):
        super().close()
        if self.database:
            self.database.communicate()


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
        words = ask(watcher.port, "SENTINEL", "MASTER", NAME).split("\r\n")
        facts = dict(zip(words[2::4], words[4::4]))
        return (facts.get("num-slaves"), facts.get("num-other-sentinels"),
                facts.get("flags")) == ("2", "2", "master")

    def join(self):
        for watcher in self.watchers:
            if watcher.process is None:
                watcher.start()
        clusters.wait_until(lambda: self.is_led() and all(map(self.sees, self.watchers)),
                            "the sentinels know one another")
        clusters.wait_until(lambda: ask(self.owner().port, "INFO", "replication").count("state=online") == 2,
                            "the replicas follow")

    def owner(self):
        """Whom the sentinels name."""
        told = ask(self.watchers[0].port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME).split("\r\n")
        return next((member for member in self.members if len(told) > 4 and told[4] == str(member.port) and
                     member.is_running()), None)

    def hand_over(self, _):
        ask(self.watchers[0].port, "SENTINEL", "FAILOVER", NAME)

    def close(self):
        super().close()
        for watcher in self.watchers:
            watcher.close()


def redis(program):
    return RedisShard(program)


def weir(program, log):
    if log == "file":
        return WeirShard(program, "")
    database = subprocess.Popen([sys.executable, "-B", POSTGRES], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)
    try:
        return WeirShard(program, database.stdout.readline().strip(), database)
    except BaseException:
        database.communicate()
        raise
