"""Members of a shard as processes, over a log in a file or over one in a PostgreSQL that the tests
start, and a client that takes permits of them."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import harness
import postgres
from support.resp import metrics, pairs

TOOL = Path(__file__).resolve().parents[2] / "tools/weir-cluster"
CLI = shutil.which("redis-cli")


class Journal(threading.Thread):
    """A client that takes permits of limits that never refill, at whoever serves."""

    def __init__(self, ports, keys=8, password=None):
        super().__init__(daemon=True)
        self.ports = ports
        self.keys = keys
        self.password = password
        self.granted = [0] * keys
        self.unknown = [0] * keys
        self.longest_s = 0.0
        self.ended = threading.Event()
        self.failure = None

    def run(self):
        client, served_at = None, time.monotonic()
        while not self.ended.is_set():
            key = random.randrange(self.keys)
            try:
                client = client or self.connect()
                if client is None:
                    continue
                reply = client.call("RL.TAKE", f"l{key}", "FIXED", "1000000/3650d")
                self.granted[key] += reply[0]
                self.longest_s = max(self.longest_s, time.monotonic() - served_at)
                served_at = time.monotonic()
            except harness.Refused as refused:
                if not str(refused).startswith(("READONLY", "MASTERDOWN the log")):
                    self.failure = str(refused)
                client = self.close(client)
            except OSError:
                self.unknown[key] += 1
                client = self.close(client)

    def connect(self):
        try:
            client = harness.Client(random.choice(self.ports), 3)
            if self.password:
                client.call("AUTH", self.password)
            return client
        except OSError:
            time.sleep(0.01)
            return None

    def close(self, client):
        client.close()
        time.sleep(0.005)

    def end(self):
        self.ended.set()
        self.join(harness.PATIENCE_S)


class Taker(threading.Thread):
    """A client of a cluster, as small as can be, that takes permits of limits that never refill. What has failed it asks
    again with the same ID, wherever it is led, else at any member; so nothing is charged twice, and all of it once."""

    KEYS = 8

    def __init__(self, ports, tag=""):
        super().__init__(daemon=True)
        self.ports = ports
        self.tag = tag  # of all its keys, as "{a}"
        self.port = ports[0]
        self.client = None
        self.granted = [0] * self.KEYS
        self.hops_in_a_row = self.most_hops = self.errors = 0
        self.ended = threading.Event()
        self.failure = None

    def run(self):
        number = 0
        while not self.ended.is_set():
            key = number % self.KEYS
            try:
                self.client = self.client or harness.Client(self.port, 5)
                reply = self.client.call("RL.TAKE", f"{self.tag}l{key}", "FIXED", "1000000/3650d", "ID", f"r{number}")
                self.granted[key] += reply[0]
                self.hops_in_a_row = 0
                number += 1
            except harness.Refused as refused:
                self.go_on(str(refused))
            except OSError:
                self.errors += 1
                self.hops_in_a_row = 0
                self.at(random.choice(self.ports))

    def go_on(self, refusal):
        if moved := re.fullmatch(r"MOVED \d+ 127\.0\.0\.1:(\d+)", refusal):
            if self.port == int(moved[1]):
                self.failure = f"{self.port}: {refusal}"
            self.hops_in_a_row += 1
            self.most_hops = max(self.most_hops, self.hops_in_a_row)
            return self.at(int(moved[1]))
        self.errors += 1
        self.hops_in_a_row = 0
        if not refusal.startswith("CLUSTERDOWN"):
            self.failure = refusal
        return self.at(random.choice(self.ports))

    def at(self, port):
        if self.client:
            self.client.close()
        self.client = None
        self.port = port
        time.sleep(0.005)

    def goes_on(self):
        """Waits until it has taken from all keys again."""
        before = list(self.granted)
        harness.wait_until(lambda: all(now > then for now, then in zip(self.granted, before)), "it takes permits again")

    def end(self):
        self.ended.set()
        self.join(harness.PATIENCE_S)
        if self.client:
            self.client.close()


class Secured(harness.Server):
    """A server that asks for a password."""

    PASSWORD = "secret"

    def connect(self, host="127.0.0.1"):
        client = super().connect(host)
        client.call("AUTH", self.PASSWORD)
        return client


class OnUnixSocket(harness.Server):
    """A server that the test reaches by a socket in its folder, and others by TLS alone."""

    def connect(self, host="127.0.0.1"):
        return harness.Client(self.folder + "/socket")


class ShardTest(harness.ServerTest):
    """Makes shards, and members of them."""

    def command(self, *words):
        """(code, output) of the executable as a command."""
        done = subprocess.run([harness.executable, *map(str, words)], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def tool(self, *words):
        """(code, output) of tools/weir-cluster."""
        done = subprocess.run([sys.executable, "-B", str(TOOL), *map(str, words)], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        return done.returncode, done.stdout + done.stderr

    def cli(self, port, *words):
        """What redis-cli -c prints."""
        done = subprocess.run([CLI, "-c", "-p", str(port), *map(str, words)], capture_output=True, text=True,
                              timeout=harness.PATIENCE_S, check=False)
        return done.stdout + done.stderr

    def log_address(self):
        return "file:" + self.path("shared-log")

    def empty_log(self):
        os.remove(self.path("shared-log"))

    def make_shard(self, name="a"):
        os.makedirs(self.path(name), exist_ok=True)
        code, out = self.command("--new-shard", self.log_address(), "main", "--dir",
                                 self.path(name) + "/data")
        self.assertEqual(code, 0, out)

    def member(self, name, *options, **named):
        folder = self.path(name)
        os.makedirs(folder, exist_ok=True)
        kind = Secured if "requirepass" in named else OnUnixSocket if "unixsocket" in named else harness.Server
        server = kind(folder, *options, **{"log": self.log_address(), "failover_after_ms": 1000, **named})
        self.servers.append(server)
        return server

    def status(self, server):
        return pairs(server.call("WEIR", "STATUS"))

    def serves(self, server):
        return server.process.poll() is None and self.status(server)["serves"] == 1

    def primary_of(self, *servers):
        harness.wait_until(lambda: any(self.serves(server) for server in servers), "somebody serves")
        return next(server for server in servers if self.serves(server))

    def agree(self, *servers):
        def alike():
            return len({self.status(server)["turn"] for server in servers}) == 1
        harness.wait_until(alike, "all have the same turns")

    def members_of(self, server):
        """The members as this one knows them, by their ports."""
        members = map(pairs, self.status(server)["members"])
        return {int(one["address"].rpartition(":")[2]): one for one in members}

    def switch_over(self, primary, to):
        """Makes a switchover once the primary knows of the other one."""
        node = self.status(to)["node"]

        def given():
            try:
                return primary.call("WEIR", "SWITCHOVER", node) == "OK"
            except harness.Refused as refused:
                self.assertIn("no standby of that name is there", str(refused))
                return False
        harness.wait_until(given, "the primary knows of the other one")

    def info(self, server):
        return metrics(server.call("INFO", "replication"))

    # Little of the log stays; what is in the state files says how much may go.
    TRIMS = {"log_retention_bytes": "256kb", "log_bytes_max": "4mb", "write_back_interval_ms": "100"}

    def log_bytes(self):
        return os.path.getsize(self.path("shared-log"))

    def fill(self, server, megabytes):
        with server.connect() as client:
            for number in range(64 * megabytes):
                client.call("SET", f"f{number % 64}", os.urandom(8192).hex())

    # A log so short that who is away for a moment, or begins without data, copies another's data.
    SHORT = {"log_retention_bytes": "64kb", "log_bytes_max": "64kb", "write_back_interval_ms": "100"}


class OnPostgres:
    """For a ShardTest: the log is in a PostgreSQL, which keeps those of several shards."""

    def setUp(self):
        super().setUp()
        self.database = postgres.Postgres()

    def tearDown(self):
        super().tearDown()
        self.database.close()

    def log_address(self):
        return self.database.address()

    def empty_log(self):
        self.database.ask("delete from weir_log; delete from weir_head")

    def log_bytes(self):
        return int(self.database.ask("select coalesce(sum(length(record)), 0) from weir_log"))


SHARES = {"a": (0, 5460), "b": (5461, 10921), "c": (10922, 16383)}
TAGS = {"a": "{b}", "b": "{k}", "c": "{a}"}  # of each shard's slots: 3300, 7629, 15495
MEMBERS = ("a1", "a2", "b1", "b2", "c1", "c2")


class ThreeShards(OnPostgres, ShardTest):
    """Three shards of two members over one PostgreSQL, founded by one text."""

    def options(self, _):
        """What a member has beside what all tests give it."""
        return {}

    def setUp(self):
        super().setUp()
        code, text = self.tool("found", "limits", *SHARES)
        self.assertEqual(code, 0, text)
        founding = self.write("founding", text)
        self.ports = {name: harness.free_port() for name in MEMBERS}
        self.living = {}
        for shard in SHARES:
            os.makedirs(self.path(shard + "1"))
            code, out = self.command("--new-shard", self.log_address(), shard, "--founding", founding, "--dir",
                                     self.path(shard + "1") + "/data")
            self.assertEqual(code, 0, out)
        self.begin(*MEMBERS, cluster_seeds=" ".join(self.address(shard + "1") for shard in SHARES))

    def address(self, name):
        return f"127.0.0.1:{self.ports[name]}"

    def begin(self, *names, **options):
        """Starts members at their ports, all at once: with seeds only where they are named."""
        for name in names:
            self.living[name] = self.member(name, shard=name[0], port=self.ports[name], cluster_enabled="yes",
                                            commit_wait_ms=-1, **self.options(name), **options).spawn()
        for name in names:
            harness.wait_until(self.living[name].is_ready, f"{name} is ready")

    def kill(self, *names):
        for name in names:
            member = self.living.pop(name)
            member.send_signal(signal.SIGKILL)
            member.wait()

    def primary_in(self, shard):
        mine = [name for name in self.living if name[0] == shard]
        harness.wait_until(lambda: any(self.serves(self.living[name]) for name in mine), f"somebody of {shard} serves")
        return next(name for name in mine if self.serves(self.living[name]))
