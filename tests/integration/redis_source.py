"""What an import reads in tests where no redis-server does: a stand-in for later versions of it."""

import socket
import threading

import harness
from support.resp import read_reply


def sealed(data):
    """With Redis' checksum, CRC-64 of Jones."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95ac9329ac4bc9b5 if crc & 1 else 0)
    return data + crc.to_bytes(8, "little")


def read_request(file):
    """Its words; none where the client has gone."""
    try:
        return read_reply(file)
    except ConnectionError:
        return None


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
            while words := read_request(file):
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
            reply = self.replies[command]
            return reply if isinstance(reply, bytes) else next(reply)
        if command == b"SCAN":
            names = b"".join(map(bulk, self.dumps))
            return b"*2\r\n" + bulk(b"0") + b"*%d\r\n" % len(self.dumps) + names
        return {b"INFO": lambda: bulk(b"# Keyspace\r\ndb0:keys=3,expires=0\r\n"),
                b"TYPE": lambda: b"+hash\r\n", b"MEMORY": lambda: b":100\r\n",
                b"DUMP": lambda: bulk(self.dumps[words[0]]),
                b"PTTL": lambda: b":-1\r\n"}.get(command, lambda: b"+OK\r\n")()
