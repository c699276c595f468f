#!/usr/bin/env python3
"""What INFO commandstats counts: the same requests to weir-server and to redis-server, and after each the
same counts of calls, refusals and errors. INFO itself, EXEC and EVAL are counted once they have run.

    command_counts.py WEIR_SERVER
"""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from servers import redis_server, weir_server  # noqa: E402

ROW = re.compile(rb"cmdstat_(\S+?):calls=(\d+),\S*,rejected_calls=(\d+),failed_calls=(\d+)")
INFO = ("INFO", "commandstats")
REQUESTS = [
    INFO, ("PING",), ("GET",), ("NOSUCH",), ("SET", "k", "v"), ("LPUSH", "k", "1"),
    ("MULTI",), INFO, ("INCR", "k"), INFO, ("EXEC",),
    ("MULTI",), ("GET",), ("EXEC",),
    ("EVAL", "return redis.call('info', 'commandstats')", "0"),
    ("EVAL", "redis.call('set', 'k', 1) redis.pcall('get') return redis.pcall('lpush', 'k', 1)", "0"),
    ("BLPOP", "none", "0.01"), ("CONFIG", "RESETSTAT"), INFO, INFO]


def counts(reply):
    """{command: (calls, rejected, failed)} of each INFO in a reply."""
    texts = reply if isinstance(reply, list) else [reply]
    return [{row[0]: row[1:] for row in ROW.findall(text)} for text in texts
            if isinstance(text, bytes) and text.startswith(b"# Commandstats")]


def sent(connection, words):
    """The reply; that of an error too."""
    try:
        return connection.command(*words)
    except Exception as refused:
        return refused


def main():
    servers = [weir_server(os.path.abspath(sys.argv[1]), ["--storage", "memory"]), redis_server()]
    wrong = 0
    try:
        for server in servers:
            server.start()
        connections = [server.connect() for server in servers]
        for number, words in enumerate(REQUESTS):
            ours, theirs = [counts(sent(connection, words)) for connection in connections]
            ours += counts(sent(servers[0].connect(), INFO))
            theirs += counts(sent(servers[1].connect(), INFO))
            if ours != theirs:
                wrong += 1
                print(f"{number}, {' '.join(words)}:\n    weir:  {ours}\n    redis: {theirs}")
    finally:
        for server in servers:
            server.stop()
    print(f"{len(REQUESTS)} requests, after {wrong} of them the counts differ")
    return not wrong


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
