"""What an import reads in tests: a real redis-server, and a stand-in for later versions of it."""

import os
import socket
import subprocess
import threading

import harness


class RedisServer:
    """A redis-server of Debian with a folder of its own."""

    def __init__(self, folder, *options):
        self.folder, self.port, self.process = folder, harness.free_port(), None
        os.makedirs(folder, exist_ok=True)
        self.command = ["redis-server", "--port", str(self.port), "--save", "", "--dir", folder,
                        "--logfile", os.path.join(folder, "log"), *map(str, options)]

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL)
        harness.wait_until(self.listens, "redis-server listens")
        return self

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def connect(self):
        return harness.Client(("127.0.0.1", self.port))

    def url(self, user=""):
        return f"redis://{user}127.0.0.1:{self.port}"

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def ask_all(client, requests):
    """The replies to requests sent in one go."""
    client.send(b"".join(harness.encode(*words) for words in requests))
    return [client.read() for _ in requests]


def sealed(data):
    """With Redis' checksum, CRC-64 of Jones."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return data + crc.to_bytes(8, "little")


class FakeSource:
    """Answers what an import asks, of keys with the dumps that it was given, and what it is told."""

    def __init__(self, dumps, replies=()):
        self.dumps, self.replies = dumps, dict(replies)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *ignored):
        self.thread.join()
        self.listener.close()

    def serve(self):
        self.listener.settimeout(harness.PATIENCE_S)
        connection, _ = self.listener.accept()
        with connection, connection.makefile("rb") as file:
            queue = None
            while header := file.readline():
                words = []
                for _ in range(int(header[1:])):
                    words.append(file.read(int(file.readline()[1:]) + 2)[:-2])
                reply = self.answer(*words)
                if words[0] == b"MULTI":
                    queue = []
                elif words[0] == b"EXEC":
                    reply, queue = b"*%d\r\n" % len(queue) + b"".join(queue), None
                elif queue is not None:
                    queue.append(reply)
                    reply = b"+QUEUED\r\n"
                try:
                    connection.sendall(reply)
                except OSError:
                    return  # it was enough

    def answer(self, command, *words):
        def bulk(text):
            return b"$%d\r\n%s\r\n" % (len(text), text)

        if command in self.replies:
            return self.replies[command]
        if command == b"SCAN":
            names = b"".join(map(bulk, self.dumps))
            return b"*2\r\n" + bulk(b"0") + b"*%d\r\n" % len(self.dumps) + names
        return {b"INFO": lambda: bulk(b"# Keyspace\r\ndb0:keys=3,expires=0\r\n"),
                b"TYPE": lambda: b"+hash\r\n", b"MEMORY": lambda: b":100\r\n",
                b"DUMP": lambda: bulk(self.dumps[words[0]]),
                b"PTTL": lambda: b":-1\r\n"}.get(command, lambda: b"+OK\r\n")()
