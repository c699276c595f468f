#!/usr/bin/env python3
"""Writes the seeds of acl_fuzz, config_fuzz and log_fuzz into the folder corpus beside this file.

    tests/fuzz/file_corpus.py WEIR_SERVER
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "differential"))

from servers import weir_server  # noqa: E402

ACL = {
    "role": "user limits on >secret ~limit:* resetchannels -@all +@limiter +ping\n",
    "selectors": "user a on nopass ~* (%R~b* +get) (~c &news* +@read -hgetall) -@all +config|get\n",
    "parenthesis": "user a on nopass (~a)) -@all +config|get\n",
    "hash": "user a off #" + "ab" * 32 + " allkeys allchannels +@all -debug -@dangerous\n"
            "user default on nopass sanitize-payload ~* &* +@all\n",
    "refused": "user a on +nothing ~(\nuser a reset\nuser b on !x <y\n",
}
CONFIG = {
    "sizes": "port 0\nmaxmemory 64mb\nmaxmemory-clients 50%\nunixsocketperm 770\n"
             "client-output-buffer-limit normal 1mb 1kb 5 pubsub 0 0 0\n",
    "words": "bind 127.0.0.1 -::1\ndir \"a b\"\nrequirepass 'x y'\nlatency-tracking-info-percentiles 50 99.9\n",
    "set": "# a comment\nsave \"\"\nuser a on nopass ~* +@all\nuser b off\nport 7000\n\0"
           "maxmemory\n1gb\nnotify-keyspace-events\nKEA\nhz\n100\nlogfile\na \"b\"\n",
    "quotes": "requirepass 'a\"b'\nlogfile \"it's\"\nunixsocket \"#x\"\n\0requirepass\na\"b'c\\d#\nlogfile\n#\n",
    "ignored": "list-max-listpack-size -2\nmaxmemory-policy allkeys-lru\nappendonly no\n\0"
               "maxmemory-policy\nnoeviction\nsupervised\nno\n",
}
COMMANDS = ["SET a 1", "SET b 2 EX 100", "RL.TAKE k GCRA 10/1m", "HSET h f v g w", "DEL a", "RPUSH l 1 2 3",
            "DEL l", "RL.TAKE c SLIDINGLOG 5/1m COST 2", "ZADD z 1 a 2 b", "FLUSHDB"]


def logs(program):
    with tempfile.TemporaryDirectory() as folder:
        server = weir_server(program, ["--dir", folder, "--durability", "always"])
        server.start()
        connection = server.connect()
        for line in COMMANDS:
            connection.command(*line.split())
        files = sorted(Path(folder, "log").glob("*.log"))
        manifests = sorted(Path(folder, "log").glob("MANIFEST-*"))
        wal = max((file.read_bytes() for file in files), key=len)
        yield "file", b"\0" + wal
        yield "manifest", b"\2" + manifests[-1].read_bytes()
        server.stop()
    yield from records(wal)


def records(wal):
    """What a file holds is short enough here to be of whole parts only."""
    at, number, parts = 0, 0, b""
    while at + 7 <= len(wal):
        size = wal[at + 4] | wal[at + 5] << 8
        payload = wal[at + 7:at + 7 + size]
        parts += bytes([min(len(payload), 63)]) + payload[:63]
        turn = payload.find(b"\1", 12 + 1 + 1 + 8)
        yield f"turn_{number}", b"\3" + payload[turn:]
        at, number = at + 7 + size, number + 1
    yield "records", b"\1" + parts
    yield "key", b"\4" + bytes(range(12)) + b"name"
    yield "value", b"\5\1\2\0text"


def main():
    seeds = {"acl": {k: v.encode() for k, v in ACL.items()},
             "config": {k: v.encode() for k, v in CONFIG.items()}, "log": dict(logs(sys.argv[1]))}
    for target, files in seeds.items():
        folder = HERE / "corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
