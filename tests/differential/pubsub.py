#!/usr/bin/env python3
"""Scenes of several clients, played on weir-server and on redis-server 7: what each client receives
has to be the same to the byte, but for instants, durations and addresses.

    pubsub.py WEIR_SERVER

A line of pubsub.txt is a client's name, '>' and its request as for redis-cli; an empty line ends a
scene: the clients are new and the servers empty. A name that ends in 3 speaks RESP3. After each
request the client's own answer is awaited, unless its name is followed by '-'; what the others have
received is looked at at the end of the scene, when each has been asked for one more answer.
"""

import os
import re
import shlex
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from servers import redis_server, weir_server  # noqa: E402
from wire import encode  # noqa: E402

TIMEOUT_S = 10
QUIET_S = 0.03
SENTINEL = b"the end of the scene"
MASKS = [(re.compile(rb"\+\d+\.\d{6} \["), rb"+INSTANT ["),               # a line of MONITOR
         (re.compile(rb"\*6\r\n:\d+\r\n:\d+\r\n:\d+\r\n"), rb"*6 ENTRY "),  # and of SLOWLOG
         (re.compile(rb"(version\r\n)\$\d+\r\n[^\r]+"), rb"\1"),
         (re.compile(rb"(id\r\n):\d+"), rb"\1"),
         (re.compile(rb"(\$\d+\r\n)?127\.0\.0\.1:\d+"), rb"ADDRESS")]


class Client:
    def __init__(self, port, resp3):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        self.received = b""
        if resp3:
            self.send([b"HELLO", b"3"])
            self.receive_some()
            self.received = b""

    def send(self, args):
        self.socket.sendall(encode(*args))

    def receive_some(self):
        """At least something, and what comes close behind it."""
        self.socket.settimeout(TIMEOUT_S)
        try:
            while data := self.socket.recv(65536):
                self.received += data
                self.socket.settimeout(QUIET_S)
        except TimeoutError:
            pass

    def receive_until(self, end):
        self.socket.settimeout(TIMEOUT_S)
        while end not in self.received and (data := self.socket.recv(65536)):
            self.received += data


def scenes(path):
    scene = []
    for line in path.read_text().splitlines() + [""]:
        if line.startswith("#"):
            continue
        if line.strip():
            name, request = line.split("> ", 1)
            scene.append((name, [arg.encode() for arg in shlex.split(request)]))
        elif scene:
            yield scene
            scene = []


def transcript(port, scene):
    control = Client(port, False)
    for args in ([b"FLUSHALL"], [b"CONFIG", b"SET", b"notify-keyspace-events", b""]):
        control.send(args)
        control.receive_some()
    clients = {}
    for name, args in scene:
        is_silent, name = name.endswith("-"), name.rstrip("-")
        if name not in clients:
            clients[name] = Client(port, name.endswith("3"))
        clients[name].send(args)
        if is_silent:
            time.sleep(QUIET_S)
        elif args[:2] != [b"CLIENT", b"REPLY"]:
            clients[name].receive_some()
    for client in clients.values():
        client.send([b"PING", SENTINEL])
        client.receive_until(SENTINEL)
        client.socket.close()
    control.socket.close()
    return {name: masked(client.received) for name, client in clients.items()}


def masked(received):
    received = received.split(SENTINEL)[0]
    for pattern, shown in MASKS:
        received = pattern.sub(shown, received)
    return received


def main():
    redis = redis_server()
    weir = weir_server(os.path.abspath(sys.argv[1]), ["--storage", "memory"])
    alike, played = True, 0
    try:
        redis.start()
        weir.start()
        for scene in scenes(Path(__file__).with_name("pubsub.txt")):
            ours, theirs = [transcript(server.port, scene) for server in (weir, redis)]
            played += 1
            for name in theirs:
                if ours[name] != theirs[name]:
                    alike = False
                    print(f"{name} in the scene that begins with {scene[0]}:\n"
                          f"weir:  {ours[name]}\nredis: {theirs[name]}")
    finally:
        alike = weir.stop() and alike
        redis.stop()
    print(f"{played} scenes{' alike' if alike else ''}")
    return alike


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
