"""Starts the real weir-server for a test, talks to it, and stops it again by its process id.

Every server gets a free port on 127.0.0.1 and a folder of its own that goes when the test ends.
The executable is the program's first argument: test_x.py path/to/weir-server [unittest options].
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE_S = 60  # far beyond what anything here takes, also under sanitizers

executable = None


def free_port():
    """Not one of those that Linux gives to connections on their way out, as those of other tests are."""
    while True:
        port = random.SystemRandom().randrange(10000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def wait_until(condition, what):
    """Polls; sanitizers and a busy machine are slow, so there are no fixed sleeps."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE_S} s in vain: {what}")
        time.sleep(0.01)


def encode(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words)


class Refused(Exception):
    """An error reply."""


class Client:
    """One connection; speaks RESP2."""

    def __init__(self, address):
        family = socket.AF_UNIX if isinstance(address, str) else (
            socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_S)
        try:
            self.socket.connect(address)
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

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the connection was closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise Refused(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        raise AssertionError(f"no reply begins like {line!r}")

    def call(self, *words):
        self.send(encode(*words))
        return self.read()

    def rest(self):
        """Everything up to the end of the connection."""
        data = b""
        while True:
            try:
                piece = self.file.read(65536)
            except ConnectionResetError:
                return data
            if not piece:
                return data
            data += piece


class Server:
    """One weir-server process. Options are those of its command line."""

    def __init__(self, folder, *options, config_file=None, port=None, **named):
        self.folder = folder
        self.port = free_port() if port is None else port
        self.data = os.path.join(folder, "data")
        self.log_path = os.path.join(folder, "log")
        named = {"port": self.port, "dir": self.data, "logfile": self.log_path, "disk_reserve": 0,
                 **named}
        self.command = [executable] + ([config_file] if config_file else [])
        for name, value in named.items():
            if value is not None:
                self.command += ["--" + name.replace("_", "-"), str(value)]
        self.command += options
        self.environment = None
        self.process = None
        self.log_begin = 0

    def spawn(self):
        self.log_begin = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                        env=self.environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return self

    def start(self):
        self.spawn()
        wait_until(lambda: "ready to accept" in self.log() or self.process.poll() is not None,
                   "the server is ready")
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended at once: {self.process.communicate()}"
                                 f" {self.log()}")
        return self

    def log(self):
        """What it has logged since it was started."""
        try:
            with open(self.log_path, encoding="utf-8") as file:
                file.seek(self.log_begin)
                return file.read()
        except FileNotFoundError:
            return ""

    def connect(self, host="127.0.0.1"):
        return Client((host, self.port))

    def call(self, *words):
        with self.connect() as client:
            return client.call(*words)

    def send_signal(self, number):
        os.kill(self.process.pid, number)

    def wait(self):
        """The exit code, and what it wrote to stdout and stderr."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out.decode(), err.decode()

    def stop(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.wait()[0]


class ServerTest(unittest.TestCase):
    """Gives tests a folder and servers, and leaves nothing behind."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="weir-integration-")
        self.servers = []

    def tearDown(self):
        for server in self.servers:
            if server.process is not None and server.process.poll() is None:
                server.process.kill()
                server.process.communicate()
        shutil.rmtree(self.folder)

    def server(self, *options, **named):
        server = Server(self.folder, *options, **named)
        self.servers.append(server)
        return server

    def memory_server(self, *options, **named):
        return self.server(*options, storage="memory", **named).start()

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def assert_refused(self, start, client, *words):
        with self.assertRaises(Refused) as caught:
            client.call(*words)
        self.assertTrue(str(caught.exception).startswith(start), str(caught.exception))

    def assert_closed(self, client):
        self.assertEqual(client.rest(), b"")

    def assert_start_fails(self, server, text):
        """Ends with code 1 and one line, on stderr, that holds `text`."""
        code, out, err = server.spawn().wait()
        self.assertEqual((code, out), (1, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(text, err)


def main():
    global executable
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} path/to/weir-server [unittest options]")
    # As "harness": the tests import this file under that name, whichever program runs.
    executable = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
