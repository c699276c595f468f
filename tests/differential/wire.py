"""Requests as bytes, replies as bytes: the two ends of a connection, and nothing about commands."""

import io
import select
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import resp  # noqa: E402
from support.resp import encode  # noqa: E402

PAUSE_S = 0.0003


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
    file = io.BytesIO(data)
    file.seek(at)
    try:
        resp.read_reply(file, as_sent)
    except ConnectionError:
        return None
    return file.tell()


def as_sent(kind, text):
    return kind + text


def decode(raw):
    """A reply as Python values: bytes, int, None, list; a status and an error with what they begin with."""
    return resp.decode(raw, as_sent)


class Connection:
    def __init__(self, port, timeout_s=60):
        self.timeout_s = timeout_s
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received = b""
        self.ended = False  # by the server
        self.each = [self]  # more of them where a server is several (owners.py)

    def turn_to(self, node):
        """Says to which of several servers the next requests go; there is one."""

    def close(self):
        self.socket.close()

    def command(self, *args):
        """One command, its decoded reply."""
        return decode(self.exchange([self.encode(args)], 1)[0])

    def encode(self, args, as_inline=False):
        return inline(args) if as_inline else encode(*args)

    def exchange(self, chunks, count):
        """Sends chunks, one system call each, and answers `count` raw replies."""
        self.send(chunks)
        return self.replies(count)

    def send(self, chunks, pauses=()):
        """One system call each, with a pause behind some of them; takes in what comes meanwhile."""
        deadline = time.monotonic() + self.timeout_s
        for number, chunk in enumerate(chunks, 1):
            while chunk and not self.ended:
                chunk = self._send(chunk, deadline)
            if number in pauses:
                time.sleep(PAUSE_S)

    def replies(self, count):
        """The next ones, raw."""
        replies, at = [], 0
        deadline = time.monotonic() + self.timeout_s
        while True:
            while len(replies) < count and (end := reply_end(self.received, at)) is not None:
                replies.append(self.received[at:end])
                at = end
            if len(replies) == count:
                self.received = self.received[at:]
                return replies
            if self.ended:
                raise Closed(self.received)
            self._step([], deadline)

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

    def _send(self, data, deadline):
        try:
            return data[self.socket.send(data):]
        except BlockingIOError:
            return b"".join(self._step([data], deadline))
        except OSError:
            return b""  # what it had sent before is still to be read

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
