"""The protocol as a client speaks it."""

import socket


class ErrorReply(AssertionError):
    pass


def encode(args):
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        arg = arg if isinstance(arg, bytes) else str(arg).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(arg), arg))
    return b"".join(parts)


class Connection:
    def __init__(self, port, timeout=30.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")

    def send(self, requests):
        self.socket.sendall(b"".join(encode(args) for args in requests))

    def read(self):
        """Raises an error reply, also one inside an array; a ConnectionError where the server has gone."""
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if kind == b"-":
            raise ErrorReply("unexpected error reply: " + rest.decode())
        if kind == b"$":
            size = int(rest)
            if size < 0:
                return None
            body = self.file.read(size + 2)
            if len(body) != size + 2:
                raise ConnectionError("closed")
            return body[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.read() for _ in range(int(rest))]
        raise AssertionError("unexpected reply: %r" % line)

    def call(self, *args):
        self.send([args])
        return self.read()

    def call_all(self, requests):
        replies = []
        for begin in range(0, len(requests), 200):
            batch = requests[begin:begin + 200]
            self.send(batch)
            replies += [self.read() for _ in batch]
        return replies

    def error(self):
        """The next reply, which must be one."""
        try:
            reply = self.read()
        except ErrorReply as error:
            return error
        raise AssertionError("an error was expected, not %r" % (reply,))

    def close(self):
        self.file.close()
        self.socket.close()
