"""Redis' protocol as a client speaks it: requests as bytes, replies of RESP2 and RESP3 as values.

    status                   str
    bulk string              bytes; a verbatim string with its format before it, txt:
    integer, big number      int
    double, boolean          float, bool
    null, of every kind      None
    array, set, push         list
    map                      list, names and values in turn, as in RESP2
    error                    Refused
    attribute                passed over
"""

import io
import socket

from .waiting import PATIENCE_S

TEXTS = (b"$", b"=", b"!")
LISTS = {b"*": 1, b"~": 1, b">": 1, b"%": 2, b"|": 2}  # how many values an element of it is
BATCH = 200  # requests that are sent together


class Refused(Exception):
    """An error reply, and its text."""


def encode(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def value_of_line(kind, text):
    """What a reply means that has a text, and is neither a number nor a bulk string."""
    if kind == b"+":
        return text.decode(errors="replace")
    if kind in b"-!":
        return Refused(text.decode(errors="replace"))
    if kind == b"#":
        return text == b"t"
    if kind in b",(":
        return float(text) if kind == b"," else int(text)
    raise AssertionError(f"no reply begins like {kind + text!r}")


def read_reply(file, of_line=value_of_line):
    """The next reply in a file, of any depth; a ConnectionError where the file ends within it."""
    unfinished = []  # (kind, elements, how many there will be), the innermost last
    while True:
        kind, value = _read_part(file, of_line)
        if kind in LISTS and value is not None:
            unfinished.append((kind, [], value * LISTS[kind]))
        elif not unfinished:
            return value
        else:
            unfinished[-1][1].append(value)
        while unfinished and len(unfinished[-1][1]) == unfinished[-1][2]:
            kind, elements, _ = unfinished.pop()
            if kind == b"|":
                break  # it tells of the value that follows
            if not unfinished:
                return elements
            unfinished[-1][1].append(elements)


def _read_part(file, of_line):
    """(kind, value); of a list the value is how many elements follow."""
    line = file.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the connection was closed")
    kind, text = line[:1], line[1:-2]
    if kind == b":":
        return kind, int(text)
    if kind == b"_" or (text == b"-1" and (kind in TEXTS or kind in LISTS)):
        return kind, None
    if kind in LISTS:
        return kind, int(text)
    if kind not in TEXTS:
        return kind, of_line(kind, text)
    size = int(text) + 2
    body = file.read(size)
    if len(body) != size:
        raise ConnectionError("the connection was closed")
    return kind, of_line(kind, body[:-2]) if kind == b"!" else body[:-2]


def decode(data, of_line=value_of_line):
    """The reply that `data` begins with."""
    return read_reply(io.BytesIO(data), of_line)


def pairs(flat):
    """A flat list of names and values as a dict; names and texts are str."""
    words = [word.decode() if isinstance(word, bytes) else word for word in flat]
    return dict(zip(words[::2], words[1::2]))


def metrics(info):
    """INFO's reply as a dict."""
    return dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line)


def _connect(address, timeout_s):
    if not isinstance(address, str):
        return socket.create_connection(address if isinstance(address, tuple) else ("127.0.0.1", address), timeout_s)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(timeout_s)
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


class Client:
    """One connection, which waits for what it reads. `address` is a port of 127.0.0.1, (host, port), or the
    path of a socket; with a `context` of ssl the connection is encrypted."""

    def __init__(self, address, timeout_s=PATIENCE_S, context=None):
        self.socket = _connect(address, timeout_s)
        if context is not None:
            try:
                self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
            except OSError:
                self.socket.close()
                raise
        self.file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        self.file.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_all(self, requests):
        self.send(b"".join(encode(*words) for words in requests))

    def reply(self):
        """The next reply. An error is a value, too."""
        return read_reply(self.file)

    def read(self):
        """The next reply. An error, also one within it, is raised when all of it is read."""
        errors = []

        def of_line(kind, text):
            value = value_of_line(kind, text)
            if isinstance(value, Refused):
                errors.append(value)
            return value

        reply = read_reply(self.file, of_line)
        if errors:
            raise errors[0]
        return reply

    def call(self, *words):
        self.send(encode(*words))
        return self.read()

    def ask(self, *words):
        """As call(), but an error is a value."""
        self.send(encode(*words))
        return self.reply()

    def call_all(self, requests):
        """Replies to requests that are sent many at a time."""
        replies = []
        for begin in range(0, len(requests), BATCH):
            batch = requests[begin:begin + BATCH]
            self.send_all(batch)
            replies += [self.read() for _ in batch]
        return replies

    def rest(self):
        """All bytes up to the end of the connection."""
        data = b""
        while True:
            try:
                piece = self.file.read(65536)
            except ConnectionResetError:
                return data
            if not piece:
                return data
            data += piece


def ask(address, *words, timeout_s=PATIENCE_S):
    """The reply to one request on a connection of its own; an error is a value."""
    with Client(address, timeout_s) as client:
        return client.ask(*words)
