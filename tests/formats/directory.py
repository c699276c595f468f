"""A stored data directory: how it is packed, opened, read and compared.

The server is the one whose clock is a file (tests/differential/clocked_server.cc). The clock of a
stored directory stands at the instant of its last change, so every reply is the same in any year.
"""

import hashlib
import json
import mmap
import os
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

import harness  # noqa: E402

STORED = Path(__file__).resolve().parent / "stored"
ARCHIVE = "data.tar.xz"
READS = "reads.jsonl"
FACTS = "facts.json"
TEXT_MAX = 400  # a longer reply is kept as its hash
UNORDERED = {"SMEMBERS", "KEYS", "HKEYS", "HVALS"}


class Clock:
    """The file that the server has mapped; it stands still until it is moved."""

    def __init__(self, path, now_ms):
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        os.environ["CLOCK_FILE"] = str(path)
        self.now_ms = now_ms
        self.advance(0)

    def advance(self, duration_ms):
        self.now_ms += duration_ms
        self.memory[:8] = struct.pack("q", self.now_ms * 1_000_000)


def pack(data, path):
    """What a started server needs, and nothing else: no lock, and none of RocksDB's own logs."""
    def keep(entry):
        name = os.path.basename(entry.name)
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return None if name.startswith(("LOCK", "LOG", "OPTIONS-", "checkpoints", "reserve")) else entry

    with tarfile.open(path, "w:xz", preset=9) as archive:
        archive.add(data, arcname="data", filter=keep)


def run(*words):
    """weir-server with these words, to its end."""
    return subprocess.run([harness.executable, *words], text=True, check=False,
                          capture_output=True, timeout=harness.PATIENCE_S)


def unpack(path, folder):
    with tarfile.open(path) as archive:
        archive.extractall(folder)


def plain(reply):
    """A reply as JSON has it; bytes are text whose characters are the bytes."""
    if isinstance(reply, bytes):
        return reply.decode("latin-1")
    if isinstance(reply, str):
        return {"status": reply}
    if isinstance(reply, list):
        return [plain(part) for part in reply]
    return reply


def in_order(words, reply):
    """No command promises the order of a hash or a set."""
    name = words[0].upper()
    if name == "HGETALL":
        return sorted([reply[at], reply[at + 1]] for at in range(0, len(reply), 2))
    return sorted(reply) if name in UNORDERED else reply


def ask(client, words):
    """The reply to a request, in the form in which expected replies are kept."""
    words = [word.encode("latin-1") if isinstance(word, str) else word for word in words]
    try:
        reply = client.call(*words)
    except harness.Refused as error:
        return {"error": str(error)}
    reply = plain(in_order([str(words[0], "latin-1")], reply))
    if words[0] == b"RL.INFO" and isinstance(reply, list):
        reply = without_waiting(reply)  # whoever waited went with the process
    text = json.dumps(reply)
    if len(text) <= TEXT_MAX or words[0] == b"RL.INFO":
        return reply
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "characters": len(text)}


def without_waiting(reply):
    pairs = zip(reply[::2], reply[1::2])
    return [part for pair in pairs if pair[0] != "waiting" for part in pair]


def agrees(expected, reply):
    """RL.INFO may say more than it said when the directory was made, and no less; and where something
    is owed, what is left may be below 0, which was 0 then."""
    if isinstance(expected, str) and isinstance(reply, str):
        return expected == reply or has_defaults(expected, reply)
    if expected == reply or not isinstance(expected, list) or not isinstance(reply, list):
        return expected == reply
    if is_map(expected) and is_map(reply):
        held = dict(zip(reply[::2], reply[1::2]))
        return all(name in held and (agrees(value, held[name]) or (name == "remaining" and owes(value, held[name])))
                   for name, value in zip(expected[::2], expected[1::2]))
    if is_verdict(expected) and is_verdict(reply) and owes(expected[2], reply[2]):
        return expected[:2] + expected[3:] == reply[:2] + reply[3:]
    return (len(expected) == len(reply)
            and all(agrees(one, other) for one, other in zip(expected, reply)))


def is_verdict(reply):
    """allowed, limit, remaining, retry, reset, index"""
    return len(reply) >= 6 and all(isinstance(number, int) for number in reply[:6])


def owes(expected, reply):
    return expected == 0 and isinstance(reply, int) and reply < 0


def has_defaults(expected, reply):
    """A limit is shown with the options that were left out when the directory was made."""
    words = iter(reply.split())
    return (expected.split(" ")[0] in ("GCRA", "TOKENBUCKET", "LEAKY", "FIXED", "SLIDINGWINDOW",
                                       "BURSTY", "WARMUP")
            and all(word in words for word in expected.split()))


def is_map(reply):
    return (len(reply) % 2 == 0 and len(reply) > 0
            and all(isinstance(name, str) for name in reply[::2]))


def ask_all(server, reads):
    """[database, words] for each read; the replies."""
    replies = []
    with server.connect() as client:
        for database, words in reads:
            client.call("SELECT", database)
            replies.append(ask(client, words))
    return replies


def write_reads(path, reads, replies):
    with open(path, "w", encoding="utf-8") as file:
        for (database, words), reply in zip(reads, replies):
            line = {"database": database, "words": words, "reply": reply}
            file.write(json.dumps(line, sort_keys=True) + "\n")


def read_reads(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return ([(line["database"], line["words"]) for line in lines],
            [line["reply"] for line in lines])


def stored_directories():
    return sorted(path for path in STORED.iterdir() if (path / ARCHIVE).exists())
