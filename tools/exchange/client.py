"""A client of weir for programs of an operator: options, a connection, requests in a row."""

import argparse
import os
import re
import socket
import ssl
import sys
import time


LINE_BYTES = 64 << 10  # of what is no bulk string
BULK_BYTES_MAX = 1 << 30
DEPTH_MAX = 32
NUMBER = re.compile(rb"-?[0-9]{1,18}")


class Failure(Exception):
    """What ends the program, in one line."""


class Refused(Exception):
    """An error reply."""


def plain(text):
    """For a terminal: what a server or a file says may hold characters that would steer it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
                   for c in str(text))


class Client:
    """Requests in a row, then their replies. An error reply is a value."""

    def __init__(self, options):
        try:
            connection = socket.create_connection((options.host, options.port), 60)
            if options.tls:
                context = ssl.create_default_context(cafile=options.cacert)
                if options.cert:
                    context.load_cert_chain(options.cert, options.key)
                connection = context.wrap_socket(connection, server_hostname=options.host)
        except OSError as error:
            raise Failure(f"cannot connect to {options.host}:{options.port}: {error}") from None
        self.socket, self.file = connection, connection.makefile("rb")
        password = os.environ.get("REDISCLI_AUTH")
        if options.password_file:
            with open(options.password_file, encoding="utf-8") as file:
                password = file.readline().rstrip("\r\n")
        if password:
            self.must("AUTH", *([options.user] if options.user else []), password)

    def ask(self, requests):
        if not requests:
            return []
        pieces = []
        for words in requests:
            words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
            pieces.append(b"*%d\r\n" % len(words))
            pieces += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"".join(pieces))
        return [self.read() for _ in requests]

    def must(self, *words):
        [reply] = self.ask([words])
        if isinstance(reply, Refused):
            raise Failure(f"{words[0]}: {reply}")
        return reply

    def read(self, depth=0):
        line = self.file.readline(LINE_BYTES)
        if not line.endswith(b"\r\n"):
            raise Failure("the server closed the connection, or it is no weir")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            return Refused(rest.decode(errors="replace"))
        if kind == b"+":
            return rest.decode(errors="replace")
        if kind not in (b":", b"$", b"*") or depth > DEPTH_MAX or not NUMBER.fullmatch(rest):
            raise Failure(f"the server answers what no weir does: {line[:40]!r}")
        number = int(rest)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self.read(depth + 1) for _ in range(number)]
        if number > BULK_BYTES_MAX:
            raise Failure(f"the server announces a text of {number} bytes")
        text = self.file.read(number + 2)
        if len(text) != number + 2:
            raise Failure("the server closed the connection")
        return text[:-2]


class Progress:
    """One line on a terminal, twice a second."""

    def __init__(self, word):
        self.word, self.begun, self.shown = word, time.monotonic(), 0
        self.is_on = sys.stderr.isatty()

    def show(self, done, whole):
        now = time.monotonic()
        if not self.is_on or now - self.shown < 0.5:
            return
        self.shown = now
        share = f" [{'#' * (24 * done // whole):.<24}] {100 * done // whole} %" if whole else ""
        rate = done / (now - self.begun + 0.001)
        print(f"\r\x1b[K{self.word}{share} {done}, {rate:.0f}/s", end="", file=sys.stderr)
        sys.stderr.flush()

    def clear(self):
        if self.is_on and self.shown:
            print("\r\x1b[K", end="", file=sys.stderr)


def connecting(usage):
    """A parser of the options by which a program finds its weir."""
    parser = argparse.ArgumentParser(usage=usage)
    for name in ("host", "cacert", "cert", "key", "user", "password-file"):
        parser.add_argument("--" + name, default="127.0.0.1" if name == "host" else None)
    parser.add_argument("--port", type=int, default=6379)
    parser.add_argument("--tls", action="store_true")
    return parser


def parser_of(usage, *flags):
    """The options that weir-export and weir-import share."""
    parser = connecting(usage)
    parser.add_argument("--match")
    parser.add_argument("--database", type=int)
    for name in ("no-keys", "no-policies", *flags):
        parser.add_argument("--" + name, action="store_true")
    parser.add_argument("file")
    return parser


def run(usage, flag, work):
    """The exit code of work(options, client). What goes wrong is one line."""
    return run_with(parser_of(usage, flag), work)


def run_with(parser, work):
    options = parser.parse_args()
    try:
        return work(options, Client(options))
    except (Failure, OSError) as failure:
        print(f"{os.path.basename(sys.argv[0])}: {plain(failure)}", file=sys.stderr)
    return 1
