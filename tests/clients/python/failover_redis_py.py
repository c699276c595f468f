"""redis-py's Sentinel, or redis-py through HAProxy, as an application uses them, while primaries change.

Callers add to counters by INCR, by a script and in pipelines. What they were told must be there in the
end, and the time in which one of them got nothing but errors is measured.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import redis
from redis.sentinel import Sentinel
from report import HOST, PROTOCOL, Skip, check, expect, expect_between, need_durable, restart_server, say

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.processes import free_port  # noqa: E402

NAME = os.environ["CLIENTS_MASTER"]
SENTINELS = [(HOST, int(port)) for port in os.environ["CLIENTS_SENTINELS"].split(",")]
CALLERS = 4
RESUMED_MIN = 20
PATIENCE_S = 20
SETTLE_S = 2  # who serves no more may take a while to say so
SCRIPT = "return redis.call('INCRBY', KEYS[1], ARGV[1])"
PROXY = """
global
    maxconn 200
defaults
    mode tcp
    timeout connect 1s
    timeout client 1m
    timeout server 1m
frontend redis
    bind 127.0.0.1:{port}
    default_backend members
backend members
    option tcp-check
    tcp-check send "ROLE\\r\\n"
    tcp-check expect string master
    default-server check inter 200ms fall 2 rise 1 on-marked-down shutdown-sessions
"""


def through_sentinels():
    sentinel = Sentinel(SENTINELS, socket_timeout=1)
    return sentinel.master_for(NAME, socket_timeout=3, protocol=PROTOCOL)


class Proxy:
    """HAProxy, which sends clients to whoever says that it is the master."""

    def __init__(self):
        program = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            raise Skip("haproxy is not installed")
        self.port = free_port()
        self.folder = tempfile.mkdtemp()
        config = os.path.join(self.folder, "haproxy.cfg")
        with open(config, "w", encoding="ascii") as out:
            out.write(PROXY.format(port=self.port))
            for port in os.environ["CLIENTS_MEMBERS"].split(","):
                out.write(f"    server m{port} 127.0.0.1:{port}\n")
        self.process = subprocess.Popen([program, "-db", "-f", config], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def connect(self):
        return redis.Redis(port=self.port, protocol=PROTOCOL, socket_timeout=3)

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


class Caller(threading.Thread):
    def __init__(self, client, number):
        super().__init__(daemon=True)
        self.client = client
        self.key = f"counter:{number}"
        self.add = client.register_script(SCRIPT)
        self.acknowledged = 0
        self.successes = 0
        self.failures = 0
        self.longest_s = 0.0
        self.ended = False
        self.told = ""

    def call(self, number):
        if number % 3 == 0:
            self.client.incr(self.key)
            return 1
        if number % 3 == 1:
            self.add(keys=[self.key], args=[2])
            return 2
        with self.client.pipeline(transaction=False) as pipe:
            pipe.incr(self.key)
            pipe.incr(self.key)
            pipe.execute()
        return 2

    def run(self):
        number, last_s = 0, time.monotonic()
        while not self.ended:
            number += 1
            try:
                self.acknowledged += self.call(number)
                self.successes += 1
                self.longest_s = max(self.longest_s, time.monotonic() - last_s)
                last_s = time.monotonic()
                time.sleep(0.005)
            except redis.RedisError as error:
                self.told = f"{type(error).__name__}: {error}"
                self.failures += 1
                time.sleep(0.02)


def through_a_change(name, order):
    """While somebody else becomes the primary, every caller goes on, and by itself."""
    for caller in callers:
        caller.longest_s = 0.0
    order()
    time.sleep(SETTLE_S)
    before = [caller.successes for caller in callers]
    deadline = time.monotonic() + PATIENCE_S
    for caller, successes in zip(callers, before):
        while caller.successes < successes + RESUMED_MIN:
            if time.monotonic() > deadline:
                raise AssertionError(f"a caller did not go on: {caller.told}")
            time.sleep(0.02)
    say(f"figure {name} {max(caller.longest_s for caller in callers):.2f} s")


def switch_over():
    say("move 0")
    if not sys.stdin.readline():
        sys.exit("there was no switchover")


def found():
    client.set("k", "v")
    expect(client.get("k"), b"v")


def kept():
    for caller in callers:
        caller.ended = True
    for caller in callers:
        caller.join(PATIENCE_S)
    expect_between(400, sum(caller.acknowledged for caller in callers), 10**9, "acknowledged")
    need_durable()
    for caller in callers:
        expect_between(caller.acknowledged, int(client.get(caller.key)), 10**9, caller.key)


say(f"version {redis.__version__}")
proxy = Proxy() if os.environ["CLIENTS_MODE"] == "haproxy" else None
client = proxy.connect() if proxy else through_sentinels()
for attempt in range(100):
    try:
        client.ping()
        break
    except redis.RedisError:
        time.sleep(0.05)
check("found", found)
callers = [Caller(client, number) for number in range(CALLERS)]
for caller in callers:
    caller.start()
time.sleep(1)
check("kill", lambda: through_a_change("kill", restart_server))
check("switchover", lambda: through_a_change("switchover", switch_over))
check("data-kept", kept)
if proxy:
    proxy.close()
say("done")
