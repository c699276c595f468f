#!/usr/bin/env python3
"""Who waits and who is served: small scenes of several clients, played on weir-server and on
redis-server 7, in both protocols; what each client hears at each step has to be the same.

    waits.py WEIR_SERVER [--storage memory|rocksdb|all] [--scenes FILE] [--scene NAME]

A line of waits.txt, or of tracking.txt, is a client's number, a command, and what follows it at
once behind ";". "$2" in it is the CLIENT ID of client 2. Client 0 does nothing but wait: `0> 0.15` are seconds.
"""

import argparse
import os
import re
import select
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from servers import redis_server, weir_server  # noqa: E402
from wire import encode  # noqa: E402
from support.processes import CannotStart  # noqa: E402

CLIENTS = 5
SETTLE_S = 0.015         # how long nobody may have said anything before a step is over
HELLO = re.compile(rb"\$7\r\nversion\r\n.*?\$4\r\nmode\r\n", re.DOTALL)
SETTLE_SLOWLY_S = 0.4    # where they differ, once more


def read_scenes(path):
    scenes, name = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("# "):
            name = line[2:]
            scenes[name] = []
        elif line.strip():
            client, request = line.split("> ", 1)
            scenes[name].append((int(client), request))
    return scenes


class Stage:
    """The clients of one scene on one server."""

    def __init__(self, server, protocol, settle_s):
        self.settle_s = settle_s
        control = server.connect()
        control.command("FLUSHALL")
        control.close()
        self.clients = [server.connect() for _ in range(CLIENTS)]
        self.ids = [client.command("CLIENT", "ID") for client in self.clients]
        for client in self.clients:
            client.command("HELLO", protocol)

    def close(self):
        for client in self.clients:
            client.close()

    def play(self, client, request):
        """What each client has heard by the end of the step."""
        if client == 0:
            time.sleep(float(request))
        else:
            data = b"".join(self.encoded(line) for line in request.split(" ; "))
            self.clients[client].socket.sendall(data)
        return self.hear()

    def encoded(self, line):
        words = [str(self.ids[int(word[1:])]) if word.startswith("$") else word
                 for word in line.split()]
        return encode(*words)

    def hear(self):
        heard = [b""] * CLIENTS
        sockets = {client.socket: number for number, client in enumerate(self.clients)}
        while ready := select.select(list(sockets), [], [], self.settle_s)[0]:
            for socket in ready:
                data = socket.recv(1 << 16)
                heard[sockets[socket]] += data or b"(closed)"
                if not data:
                    del sockets[socket]
        return [HELLO.sub(b"HELLO", text) for text in heard]


def play(servers, steps, protocol, settle_s):
    """The first step at which the servers differ, with what was heard; None if they are alike."""
    stages = [Stage(server, protocol, settle_s) for server in servers]
    try:
        for number, (client, request) in enumerate(steps):
            ours, theirs = [stage.play(client, request) for stage in stages]
            if ours != theirs:
                return number, ours, theirs
        return None
    finally:
        for stage in stages:
            stage.close()


def report(name, steps, protocol, difference):
    number, ours, theirs = difference
    print(f"DIFFERENT: scene '{name}', protocol {protocol}")
    for client, request in steps[:number + 1]:
        print(f"    {client}> {request}")
    for client, (first, second) in enumerate(zip(ours, theirs)):
        if first != second:
            print(f"  client {client} hears {first!r} from weir, {second!r} from Redis")


def play_all(servers, scenes):
    alike = 0
    for name, steps in scenes.items():
        for protocol in (2, 3):
            if play(servers, steps, protocol, SETTLE_S) is None:
                alike += 1
                continue
            difference = play(servers, steps, protocol, SETTLE_SLOWLY_S)
            if difference is None:
                alike += 1
            else:
                report(name, steps, protocol, difference)
    print(f"{alike} of {2 * len(scenes)} scenes alike", flush=True)
    return alike == 2 * len(scenes)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped by SIGTERM"))
    parser = argparse.ArgumentParser(description="waiting clients of weir-server and redis-server")
    parser.add_argument("weir_server")
    parser.add_argument("--storage", default="all", choices=["memory", "rocksdb", "all"])
    parser.add_argument("--scenes", default="waits.txt", metavar="FILE", help="in this folder")
    parser.add_argument("--scene", metavar="NAME")
    options = parser.parse_args()
    scenes = read_scenes(Path(__file__).with_name(options.scenes))
    if options.scene:
        scenes = {options.scene: scenes[options.scene]}
    redis = redis_server()
    alike = True
    try:
        redis.start()
        for storage in ["memory", "rocksdb"] if options.storage == "all" else [options.storage]:
            weir = weir_server(os.path.abspath(options.weir_server), ["--storage", storage])
            try:
                weir.start()
                alike = play_all([weir, redis], scenes) and alike
            finally:
                alike = weir.stop() and alike
    except CannotStart as reason:
        print(reason)
        return False
    finally:
        redis.stop()
    return alike


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
