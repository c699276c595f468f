"""A small client: one request, one reply, over a plain connection."""

import os
import socket


class Refused(Exception):
    """An error reply."""


class Client:
    """Logs in with the password in REDISCLI_AUTH, if that is set, as redis-cli does."""

    def __init__(self, host, port, timeout_s=10):
        self.socket = socket.create_connection((host, port), timeout_s)
        self.file = self.socket.makefile("rb")
        password = os.environ.get("REDISCLI_AUTH")
        if password:
            user = os.environ.get("REDISCLI_USER")
            self.ask("AUTH", *([user] if user else []), password)

    def close(self):
        self.file.close()
        self.socket.close()

    def ask(self, *words):
        request = b"*%d\r\n" % len(words)
        for word in words:
            data = word if isinstance(word, bytes) else os.fsencode(str(word))
            request += b"$%d\r\n%s\r\n" % (len(data), data)
        self.socket.sendall(request)
        return self.read()

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise Refused(rest.decode(errors="replace"))
        if kind == b"+":
            return rest.decode(errors="replace")
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind == b"*":
            if int(rest) < 0:
                return None
            return [self.read_part() for _ in range(int(rest))]
        raise ConnectionError(f"a reply that begins with {kind!r}")

    def read_part(self):
        """An error inside an array is a value of it."""
        try:
            return self.read()
        except Refused as refused:
            return refused


def text(value):
    """A reply on one line."""
    if value is None:
        return "(nil)"
    if isinstance(value, Refused):
        return f"(error) {value}"
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, list):
        return "[" + ", ".join(text(part) for part in value) + "]"
    return str(value)
