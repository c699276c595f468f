"""Who can write to a shard's log writes turns that no primary makes: a member stops, says which turn
and which key, and lives."""

import contextlib
import os
import shutil
import subprocess
import time

import harness
from arena import GONE
from attacks import attack
from log_forger import (ELEMENTS, ENTRIES, HASH, LIMITER, LIST, SET, STRING, ZSET, Log, dropped, element, erased,
                        header, put, system, varint)
from support.resp import pairs

HONEST = [("HSET", "h", "f", "v"), ("RPUSH", "l", "a", "b"), ("SADD", "t", "x", "y"),
          ("ZADD", "z", 1, "m", 2, "n"), ("SET", "s", "v"),
          ("RL.TAKE", "r", "SLIDINGLOG", "10/1h", "CONCURRENCY", 5, "LEASE", "1h")]
# What has ended who served, or hung its client.
COMMANDS = {
    HASH: [("HRANDFIELD", "k"), ("HRANDFIELD", "k", -3), ("HGETALL", "k"), ("HDEL", "k", "f"), ("HSET", "k", "f", "v")],
    LIST: [("LPOP", "k"), ("RPOP", "k"), ("RPOPLPUSH", "k", "q"), ("BLPOP", "k", 0.1), ("LRANGE", "k", 0, -1),
           ("LPUSH", "k", "v")],
    SET: [("SRANDMEMBER", "k"), ("SRANDMEMBER", "k", -5), ("SPOP", "k"), ("DUMP", "k"), ("SMEMBERS", "k"),
          ("SADD", "k", "x")],
    ZSET: [("ZRANDMEMBER", "k"), ("ZRANDMEMBER", "k", -3), ("BZPOPMIN", "k", 0.1), ("ZPOPMAX", "k"),
           ("ZRANGE", "k", 0, -1), ("ZADD", "k", 1, "m")],
}
COMMON = [("DUMP", "k"), ("COPY", "k", "c"), ("OBJECT", "ENCODING", "k"), ("MEMORY", "USAGE", "k"),
          ("RL.INFO", "k"), ("EXPIRE", "k", 100), ("RENAME", "k", "k2"), ("DEL", "k2")]


class Shard:
    """A member alone, whose data and whose log are put back before each attempt."""

    def __init__(self, arena):
        self.arena = arena
        self.path = os.path.join(arena.folder, "shared-log")
        self.first = os.path.join(arena.folder, "first")
        self.data = os.path.join(arena.folder, "data")
        subprocess.run([arena.executable, "--new-shard", "file:" + self.path, "main", "--dir", self.data],
                       check=True, capture_output=True, timeout=harness.PATIENCE_S)
        self.start()
        self.wait_for("serves", 1)
        with contextlib.closing(arena.connect()) as client:
            for words in HONEST:
                client.call(*words)
        arena.stop()
        shutil.copytree(self.data, self.first)
        self.log = Log(self.path)

    def start(self):
        if self.arena.server is not None:
            self.arena.server.start()
            return
        self.arena.start(log="file:" + self.path, failover_after_ms=500, read_lease_ms=100, data=self.data)

    def status(self):
        return pairs(self.arena.server.call("WEIR", "STATUS"))

    def wait_for(self, name, value):
        harness.wait_until(lambda: self.status()[name] == value, f"{name} {value}")

    def begin(self, *entries):
        """A fresh start on the log with this turn; what became of it: "stopped" or "serves"."""
        self.arena.stop()
        shutil.rmtree(self.data)
        shutil.copytree(self.first, self.data)
        with open(self.path, "wb") as file:
            file.write(self.log.with_turn(*entries))
        self.start()
        harness.wait_until(lambda: self.status()["state"] == "stopped" or self.status()["serves"] == 1,
                           "the member has read the log")
        return self.status()


def ask_all(arena, commands):
    """Each on a connection of its own; the names of those that got no answer, or ended the server."""
    lost = []
    for words in commands:
        try:
            with contextlib.closing(arena.connect(timeout_s=5)) as client:
                client.ask(*words)
        except GONE:
            lost.append(" ".join(map(str, words)))
        time.sleep(0.01)
        if not arena.lives():
            break
    return lost


def attempt(shard, name, entries, commands, key="k"):
    """The member must have stopped for the turn's sake, and go on answering PING."""
    arena = shard.arena
    status = shard.begin(*entries)
    because = status["stopped_because"]
    arena.expect(status["state"] == "stopped", f"{name}: the member serves on")
    names_it = f"turn {shard.log.turn + 1}: " in because and (key is None or f'"{key}"' in because)
    arena.expect(names_it, f"{name}: it says {because!r}")
    arena.expect(because in arena.server.log(), f"{name}: its log does not say why")
    before_mb = arena.memory()
    with arena.bystander():
        lost = ask_all(arena, commands)
    arena.expect(not lost and arena.lives(), f"{name}: no answer to {', '.join(lost)}")
    arena.expect(arena.memory() < before_mb + 50, f"{name}: memory rose from {before_mb} MB to {arena.memory()}")


@attack
def log_empty_lists(arena):
    """Records that name lists without elements, of each type; then each command that opens them."""
    arena.ends_at += 100
    shard = Shard(arena)
    for kind, commands in COMMANDS.items():
        attempt(shard, f"type {kind}", [header(b"k", kind, [128])], commands + COMMON)
    shard.arena.note(f"{len(COMMANDS)} turns")


@attack
def log_bent_turns(arena):
    """Lists of two headers, elements of nobody, wrong orders, bent limiters and numbers run back."""
    arena.ends_at += 100
    shard = Shard(arena)
    mine = shard.log.lists
    limiter = varint(1) + b"\x01\x7f"
    turns = {
        "two headers": [header(b"k", SET, [mine[b"t"]])],
        "two headers in a turn": [header(b"k", SET, [128]), header(b"j", SET, [128]), element(128, b"x", 2**64 - 1)],
        "another type": [header(b"t", ZSET, [mine[b"t"]])],
        "two lists": [header(b"k", SET, [128, 129]), element(128, b"x", 2**64 - 1)],
        "drops its own": [header(b"t", SET, [mine[b"t"]]), dropped(mine[b"t"])],
        "order of a set": [header(b"k", SET, [128]), element(128, b"x", 5)],
        "no number": [header(b"k", ZSET, [128]), element(128, b"x", 2**64 - 1)],
        "member of a list": [header(b"k", LIST, [128]), element(128, b"short", 5, b"v")],
        "a form": [header(b"k", HASH, [128], b"\x09"), element(128, b"f", 0, b"v")],
        "twice": [put(1, b"k", STRING, b"v"), erased(1, b"k")],
        "a limiter": [put(1, b"k", LIMITER, limiter)],
        "a limiter's lists": [put(1, b"k", ENTRIES, varint(1) + varint(128) + b"\x01\x01\x1e\xf3\x01\x10"
                                  + b"\0\x94\x5f\xad\xfe\x9c\x97\x17")],
        "scripts": [system(b"scripts", b"\xff")],
        "ids run back": [system(b"next-elements-id", varint(1))],
        "no header": [element(5000, b"x", 5)],
    }
    for name, entries in turns.items():
        key = {"another type": "t", "drops its own": "t", "scripts": "scripts"}.get(name, "k")
        known = None if name in ("ids run back", "no header", "two headers in a turn") else key
        attempt(shard, name, entries, [("PING",), ("GET", "k"), ("SPOP", "t"), ("RL.INFO", "r")], known)


@attack
def log_unowned_changes(arena):
    """Turns that nothing contradicts: the elements of others are erased, or their list is dropped.
    The member serves, and says so of what has lost its elements."""
    arena.ends_at += 100
    shard = Shard(arena)
    mine = shard.log.lists
    for name, entries in {
            "erased": [erased(1 | ELEMENTS, varint(mine[b"t"]) + member) for member in (b"x", b"y")],
            "dropped": [dropped(mine[b"t"])]}.items():
        status = shard.begin(*entries)
        arena.expect(status["serves"] == 1, f"{name}: it does not serve: {status['stopped_because']}")
        commands = [words[:1] + ("t",) + words[2:] for words in COMMANDS[SET] + COMMON[:6]]
        with arena.bystander():
            lost = ask_all(arena, commands)
            with contextlib.closing(arena.connect(timeout_s=5)) as client:
                reply = client.ask("SRANDMEMBER", "t")
                arena.expect("has lost all of its elements" in str(reply), f"{name}: SRANDMEMBER says {reply!r}")
                arena.expect(client.ask("DEL", "t") == 1, f"{name}: DEL")
                arena.expect(client.ask("SADD", "t", "x") == 1, f"{name}: SADD")
        arena.expect(not lost, f"{name}: no answer to {', '.join(lost)}")
