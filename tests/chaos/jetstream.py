"""What the suite asks of NATS: a small client of its text protocol."""

import base64
import json
import secrets
import socket
import time

PORT = 4222
AT_ONCE = 64


class NoAnswer(Exception):
    """Nobody answers, or says that nobody can."""


class Connection:
    def __init__(self, host, timeout_s=1.0, user=""):
        self.timeout_s = timeout_s
        self.inbox = "_INBOX." + secrets.token_hex(8)
        self.serial = 0
        try:
            self.socket = socket.create_connection((host, PORT), timeout=timeout_s)
            self.reader = self.socket.makefile("rb")
            self.line()  # INFO
            login = {"verbose": False, "headers": True, "no_responders": True}
            login.update({"user": user, "pass": user} if user else {})
            self.socket.sendall(f"CONNECT {json.dumps(login)}\r\nSUB {self.inbox}.* 1\r\n".encode())
        except OSError as failure:
            raise NoAnswer(f"{host}: {failure}") from failure

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    def line(self):
        line = self.reader.readline()
        if not line.endswith(b"\n"):
            raise NoAnswer("the connection was closed")
        return line.decode("latin-1").split()

    def ask_all(self, requests):
        """The answers, in the order of the requests: (subject, payload, headers) each."""
        first, answers = self.serial, {}
        self.serial += len(requests)
        end = time.monotonic() + self.timeout_s
        try:
            self.socket.sendall(b"".join(written(subject, f"{self.inbox}.{first + number}", payload, headers)
                                         for number, (subject, payload, headers) in enumerate(requests)))
            while len(answers) < len(requests):
                if time.monotonic() > end:
                    raise NoAnswer("no answer in time")
                self.hear(first, answers)
        except (OSError, ValueError) as failure:
            raise NoAnswer(str(failure)) from failure
        return [answers[number] for number in range(len(requests))]

    def hear(self, first, answers):
        words = self.line()
        if words[0] == "PING":
            self.socket.sendall(b"PONG\r\n")
        elif words[0] == "-ERR":
            raise NoAnswer(" ".join(words))
        elif words[0] in ("MSG", "HMSG"):
            body = self.reader.read(int(words[-1]) + 2)[:-2]
            body = body[int(words[-2]):] if words[0] == "HMSG" else body
            if not body:
                raise NoAnswer("nobody is there to answer")
            number = int(words[1].rsplit(".", 1)[1]) - first
            if number >= 0:
                answers[number] = json.loads(body)

    def ask(self, name, request=None):
        """A request to JetStream's API."""
        return self.ask_all([("$JS.API." + name, json.dumps(request) if request else "", b"")])[0]

    def messages(self, stream, first, last):
        """Of the stream: (sequence, subject, headers, data) each."""
        while first <= last:
            asked = range(first, min(first + AT_ONCE, last + 1))
            for answer in self.ask_all([("$JS.API.STREAM.MSG.GET." + stream, json.dumps({"seq": sequence}), b"")
                                        for sequence in asked]):
                if "message" in answer:
                    found = answer["message"]
                    yield (found["seq"], found["subject"], base64.b64decode(found.get("hdrs", "")),
                           base64.b64decode(found.get("data", "")))
            first = asked[-1] + 1


def written(subject, inbox, payload, headers):
    body = payload.encode() if isinstance(payload, str) else payload
    if headers:
        return f"HPUB {subject} {inbox} {len(headers)} {len(headers) + len(body)}\r\n".encode() + headers + body + b"\r\n"
    return f"PUB {subject} {inbox} {len(body)}\r\n".encode() + body + b"\r\n"
