"""Asks the server without any library."""

import socket


class Direct:
    """A connection of our own to the server, past the proxy and past every library."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.lines = self.socket.makefile("rb")

    def read(self):
        line = self.lines.readline().rstrip(b"\r\n").decode()
        kind, rest = line[:1], line[1:]
        if kind == "*":
            return [self.read() for _ in range(int(rest))]
        if kind == "$":
            return self.lines.read(int(rest) + 2)[:-2].decode()
        if kind == "-":
            raise AssertionError(rest)
        return int(rest) if kind == ":" else rest

    def ask(self, words):
        self.socket.sendall(words.encode() + b"\r\n")
        return self.read()
