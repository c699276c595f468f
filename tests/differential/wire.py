"""Requests as bytes, replies as bytes: the two ends of a connection, and nothing about commands."""

import select
import socket
import time


class Closed(Exception):
    """The server ended the connection; `got` is what it had sent before."""

    def __init__(self, got):
        super().__init__("connection closed")
        self.got = got


class Silent(Exception):
    """The server did not answer in time; `got` is what it had sent before."""

    def __init__(self, got):
        super().__init__("no reply")
        self.got = got


def multibulk(args):
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        parts.append(b"$%d\r\n%b\r\n" % (len(arg), arg))
    return b"".join(parts)


def quoted(arg):
    """An argument as inline commands and redis-cli read it."""
    if arg and all(33 <= byte <= 126 and byte not in b"\"'\\" for byte in arg):
        return arg.decode()
    shown = "".join(chr(byte) if 32 <= byte <= 126 and byte not in b'"\\' else f"\\x{byte:02x}"
                    for byte in arg)
    return f'"{shown}"'


def inline(args):
    return " ".join(quoted(arg) for arg in args).encode() + b"\r\n"


def reply_end(data, at):
    """Where the reply that begins at `at` ends; None while it is not complete."""
    pending = 1
    while pending:
        line_end = data.find(b"\r\n", at)
        if line_end < 0:
            return None
        kind, number = data[at:at + 1], data[at + 1:line_end]
        at = line_end + 2
        if kind in b"$=!" and int(number) >= 0:
            at += int(number) + 2
            if at > len(data):
                return None
        elif kind in b"*~>":
            pending += max(int(number), 0)
        elif kind == b"%":
            pending += 2 * int(number)
        pending -= 1
    return at


def decode(raw):
    """A reply as Python values: bytes, int, None, list; a map is a flat list."""
    def value(at):
        line_end = raw.index(b"\r\n", at)
        kind, text, at = raw[at:at + 1], raw[at + 1:line_end], line_end + 2
        if kind == b":":
            return int(text), at
        if kind in b"$=":
            size = int(text)
            return (None, at) if size < 0 else (raw[at:at + size], at + size + 2)
        if kind in b"*~>%":
            count = int(text) * (2 if kind == b"%" else 1)
            if count < 0:
                return None, at
            elements = []
            for _ in range(count):
                element, at = value(at)
                elements.append(element)
            return elements, at
        return (None, at) if kind == b"_" else (kind + text, at)

    return value(0)[0]


class Connection:
    def __init__(self, port, timeout_s=20):
        self.timeout_s = timeout_s
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received = b""
        self.ended = False  # by the server

    def close(self):
        self.socket.close()

    def command(self, *args):
        """One command, its decoded reply."""
        args = [arg if isinstance(arg, bytes) else str(arg).encode() for arg in args]
        return decode(self.exchange([self.encode(args)], 1)[0])

    def encode(self, args, as_inline=False):
        return inline(args) if as_inline else multibulk(args)

    def exchange(self, chunks, count, pauses=()):
        """Sends chunks, one system call each, and answers `count` raw replies."""
        replies, sent = [], 0
        unsent = list(chunks)
        deadline = time.monotonic() + self.timeout_s
        while True:
            while len(replies) < count and (end := reply_end(self.received, 0)) is not None:
                replies.append(self.received[:end])
                self.received = self.received[end:]
            if len(replies) == count and not unsent:
                return replies
            if self.ended:
                raise Closed(b"".join(replies) + self.received)
            unsent = self._step(unsent, deadline)
            sent += 1
            if sent in pauses:
                time.sleep(0.0003)

    def transcript(self, data, until, timeout_s):
        """All that has come back up to and with `until`, and whether the server closed."""
        deadline = time.monotonic() + timeout_s
        unsent = [data] if data else []
        try:
            while unsent or not (self.ended or self.received.endswith(until)):
                unsent = self._step(unsent, deadline)
        except Silent:
            pass
        return self.received, self.ended

    def _step(self, unsent, deadline):
        """Waits, sends what goes out at once, takes in what is there; answers what is unsent."""
        left = max(deadline - time.monotonic(), 0)
        if not any(select.select([self.socket], [self.socket] if unsent else [], [], left)):
            raise Silent(self.received)
        try:
            if unsent:
                rest = unsent[0][self.socket.send(unsent[0]):]
                unsent = ([rest] if rest else []) + unsent[1:]
        except BlockingIOError:
            pass
        except OSError:
            unsent = []
        self._receive()
        return unsent

    def _receive(self):
        while not self.ended:
            try:
                data = self.socket.recv(1 << 18)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            self.received += data
            self.ended = not data
