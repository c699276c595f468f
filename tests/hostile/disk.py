"""Descriptors, full and missing disks, the clock, and bent dumps."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

from arena import Skipped, harness
from attacks import attack

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "differential"))

SECOND_NS = 10**9


@attack
def descriptors(arena):
    """Clients without a password hold all connections, and others write."""
    limit = arena.size(256, 1024)
    arena.start(prefix=("prlimit", f"--nofile={limit}:{limit}"), requirepass="secret",
                write_back_interval_ms=100, wal_bytes_max="1mb")
    writer = arena.connect()
    writer.call("AUTH", "secret")
    value = os.urandom(3000)
    with arena.bystander("secret"):
        strangers = [socket.create_connection(("127.0.0.1", arena.server.port), timeout=5)
                     for _ in range(limit)]
        refused = sum(writer.ask("SET", f"k{i}", value) != "OK" for i in range(4000))
        arena.expect(refused == 0, f"{refused} of 4000 writes were refused")
        for stranger in strangers:
            stranger.close()


@attack
def failed_turn_departure(arena):
    """RL.ACQUIRE in a turn that could not be committed: nothing is granted that was not charged."""
    disk = arena.small_disk(80)
    arena.start(data=os.path.join(disk, "data"), wal_bytes_max="1mb",
                write_back_interval_ms=3_600_000, storage_failure_policy="deny")
    limits = ("LEAKY", "1/1s", "CAPACITY", 1000)
    client, other = arena.connect(timeout_s=8), arena.connect()
    with arena.bystander():
        other.call("RL.ACQUIRE", "k", *limits, "TIMEOUT", 0)
        fill_up(os.path.join(disk, "ballast"))
        client.send(harness.encode("SET", "large", os.urandom(2_000_000))
                    + harness.encode("RL.ACQUIRE", "k", *limits, "TIMEOUT", 0))
        arena.expect("MISCONF" in str(client.reply()), "the turn did not fail")
        os.unlink(os.path.join(disk, "ballast"))
        try:
            reply = client.read()
        except harness.Refused:
            return
        arena.expect(reply[0] == 0, "granted though its turn was not committed")


def fill_up(path):
    with open(path, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass


@attack
def directory_gone(arena):
    """The data directory is deleted under the server: no fresh start without a word."""
    arena.start(write_back_interval_ms=200, wal_bytes_max="1mb")
    client = arena.connect()
    client.pipeline([("SET", f"k{i}", i) for i in range(500)])
    arena.watch(0.4)
    with arena.bystander():
        shutil.rmtree(arena.server.data)
        for _ in range(2):
            client.pipeline([("SET", f"k{i}", os.urandom(1000)) for i in range(2000)])
            arena.watch(0.5)
        client.call("GET", "k1")
    arena.stop(signal.SIGTERM)
    arena.server.spawn()
    harness.wait_until(lambda: "ready to accept" in arena.server.log()
                       or arena.server.process.poll() is not None, "start or refusal")
    if arena.lives():
        arena.expect(arena.server.call("DBSIZE") != 0, "a fresh start, and nobody was told")
    else:
        arena.stop()
        shutil.rmtree(arena.server.data, ignore_errors=True)
        arena.server.start()  # the refusal is what was wanted


@attack
def full_disk(arena):
    """The disk is full: reads go on, writes are refused, and taken again when there is room."""
    disk = arena.small_disk(64)
    arena.start(data=os.path.join(disk, "data"), wal_bytes_max="1mb", write_back_interval_ms=200)
    client = arena.connect()
    client.pipeline([("SET", f"k{i}", i) for i in range(300)])
    fill_up(os.path.join(disk, "ballast"))
    with arena.bystander():
        replies = client.pipeline([("SET", f"k{i}", os.urandom(20_000)) for i in range(2000)])
        arena.expect(replies[-1] != "OK", "a full disk takes writes")
        arena.expect(client.call("GET", "k1") is not None, "a full disk cannot be read")
        os.unlink(os.path.join(disk, "ballast"))
        harness.wait_until(lambda: client.ask("SET", "again", 1) == "OK", "writes are taken again")


@attack
def full_disk_start(arena):
    """The server dies with its disk full: it starts by its reserve once, and read-only after that."""
    disk = arena.small_disk(64)
    ballast = os.path.join(disk, "ballast")
    arena.start(data=os.path.join(disk, "data"), wal_bytes_max="1mb", disk_reserve="4mb")
    client = arena.connect()
    client.pipeline([("SET", f"k{i}", i) for i in range(300)])
    harness.wait_until(lambda: os.path.exists(os.path.join(disk, "data", "reserve")),
                       "the reserve is there")
    fill_up(ballast)
    arena.restart()
    client = arena.connect()
    arena.expect(client.ask("SET", "more", 1) == "OK", "the reserve gave no room")
    arena.expect("the reserve" in arena.server.log(), "nothing is said of the reserve")
    fill_up(ballast + "2")
    arena.restart()
    client = arena.connect()
    arena.expect(client.call("GET", "k299") == b"299", "what was stored cannot be read")
    arena.expect("No space left" in str(client.ask("SET", "k1", 2)), "no reason for the refusal")
    arena.expect("read-only" in arena.server.log(), "nothing is said of the full disk")
    os.unlink(ballast)
    harness.wait_until(lambda: client.ask("SET", "again", 1) == "OK", "writes are taken again")
    arena.restart()
    arena.expect(arena.connect().call("GET", "again") == b"1", "what was written then is lost")


@attack
def read_only_start(arena):
    """The file system is read-only: the start ends with an error, and changes nothing."""
    disk = arena.small_disk(64)
    arena.start(data=os.path.join(disk, "data"))
    arena.connect().call("SET", "k", "v")
    arena.stop()
    remount(disk, "ro")
    arena.server.spawn()
    try:
        harness.wait_until(lambda: arena.server.process.poll() is not None, "the refusal")
        arena.expect(arena.server.process.returncode == 1, "no orderly end")
    finally:
        remount(disk, "rw")
        arena.stop()
    arena.server.start()
    arena.expect(arena.server.call("GET", "k") == b"v", "the key is gone")


def remount(disk, how):
    subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)


class WallClock:
    """The clock of differential/fixed_clock.cc, for a server that is not built for it."""

    def __init__(self, arena):
        found = list(Path(arena.executable).parent.rglob("libfixed_clock.so"))
        if not found:
            raise Skipped("libfixed_clock.so is not built")
        self.path = os.path.join(arena.folder, "clock")
        self.set(1_700_000_000)
        self.env = (f"LD_PRELOAD={found[0]}", f"CLOCK_FILE={self.path}")

    def set(self, seconds):
        self.now_s = seconds
        with open(self.path, "r+b" if os.path.exists(self.path) else "w+b") as file:
            file.write(struct.pack("q", seconds * SECOND_NS).ljust(4096, b"\0"))


@attack
def clock_steps(arena):
    """The wall clock steps by a day and a year, back and forth: a step back hands out nothing."""
    clock = WallClock(arena)
    arena.start(env=clock.env)
    client = arena.connect()
    take = ("RL.TAKE", "daily", "FIXED", 3, "ALIGN", "DAY")
    with arena.bystander():
        client.call(*take, "COST", 3)
        for step_s in (-86_400, 86_400 - 3600, 3600 - 60, -400 * 86_400):
            clock.set(clock.now_s + step_s)
            arena.watch(0.4)
            arena.expect(client.call(*take)[0] == 0, f"a permit after a step of {step_s} s")
        clock.set(1_700_000_000 + 366 * 86_400)
        arena.watch(0.4)
        arena.expect(client.call(*take)[0] == 1, "no permit a year later")


@attack
def clock_extremes(arena):
    """A start at instants where computing with time might overflow."""
    clock = WallClock(arena)
    for seconds in (0, 40_000_000, 4_270_000_000, 6_030_000_000, 9_223_372_036):
        clock.set(seconds)
        if arena.server is None:
            arena.start(env=clock.env)
        else:
            arena.stop()
            arena.forget_data()
            arena.server.start()
        client = arena.connect()
        for words in (("RL.TAKE", "a", "GCRA", "1/1s"), ("RL.TAKE", "l", "SLIDINGLOG", "2/3650d"),
                      ("RL.TAKE", "q", "CONCURRENCY", 2, "LEASE", "3650d"), ("SET", "x", 1, "EX", 10)):
            client.ask(*words)
        arena.restart()
        arena.connect().call("PING")


@attack
def end_of_time(arena):
    """A restored log whose entry lies at the end of time, and somebody who waits for it."""
    import rdb_forms
    arena.start()
    client = arena.connect("limits")
    owner = arena.connect()
    for _ in range(2):
        client.call("RL.TAKE", "k", "SLIDINGLOG", "2/1h")
    dump = owner.call("DUMP", "k")
    place = order_in(dump)
    with arena.bystander():
        for order in (2**64 - 1, 2**64 - 10**15):
            bent = dump[:place] + struct.pack("<Q", order) + dump[place + 8:-10]
            owner.ask("RESTORE", "bent", 0, rdb_forms.sealed(bent, dump[-10] | dump[-9] << 8), "REPLACE")
            arena.connect("limits").request("RL.ACQUIRE", "bent", "SLIDINGLOG", "2/1h", "COST", 2,
                                            "TIMEOUT", 0)
            arena.watch(0.3)
            arena.settle(5)


def order_in(dump):
    """Where an element's order stands: eight bytes that are an instant of today, then a member."""
    for at in range(4, len(dump) - 20):
        order = struct.unpack("<Q", dump[at:at + 8])[0] ^ 1 << 63
        if abs(order - time.time_ns()) < 3600 * SECOND_NS:
            return at
    raise AssertionError("the dump has no instant")
