"""Starts the real weir-server for a test, talks to it, and stops it again by its process id.

Every server gets a free port on 127.0.0.1 and a folder of its own that goes when the test ends.
The executable is the program's first argument: test_x.py path/to/weir-server [unittest options].
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import servers  # noqa: E402
from support.processes import free_port  # noqa: E402
from support.resp import Client, Refused, encode  # noqa: E402
from support.waiting import PATIENCE_S, wait_until  # noqa: E402

__all__ = ["PATIENCE_S", "Client", "Refused", "Server", "ServerTest", "encode", "free_port", "main", "wait_until"]

executable = None


class Server(servers.Server):
    """One weir-server process. Options are those of its command line."""

    def __init__(self, folder, *options, config_file=None, port=None, **named):
        super().__init__("weir-server", [executable] + ([config_file] if config_file else []), folder,
                         free_port() if port is None else port, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.data = os.path.join(folder, "data")
        named = {"port": self.port, "dir": self.data, "logfile": self.log_path, "disk_reserve": 0,
                 **named}
        for name, value in named.items():
            if value is not None:
                self.command += ["--" + name.replace("_", "-"), str(value)]
        self.command += options
        self.log_begin = 0

    def spawn(self):
        self.log_begin = os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0
        return super().spawn()

    def is_ready(self):
        """By its log: not every server here has a port, or lets everybody in."""
        return "ready to accept" in self.log()

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

    def wait(self):
        """The exit code, and what it wrote to stdout and stderr."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out.decode(), err.decode()

    def stop(self, number=signal.SIGTERM):
        self.send_signal(number)
        return self.wait()[0]

    def how_it_ended(self):
        return f"{super().how_it_ended()}\n{self.wait()}"


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
