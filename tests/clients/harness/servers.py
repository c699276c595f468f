"""Starts the servers that clients are tried against, each with a folder and a port of its own.

Invariants:
1. A server ends when its object is closed, by its own process id; a folder it was given goes too.
2. kill() is SIGKILL: nothing is flushed by the server itself. start() after it uses the same port
   and the same data, so a client's reconnect and the server's recovery are both real.
3. A server that does not answer PING in time is an error that shows the end of its log.
"""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "integration"))

from certificates import Certificates  # noqa: E402

START_SECONDS_MAX = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


class Server:
    """One server process. `name` is what tables call it, `durable` whether data survives kill()."""

    def __init__(self, name, program, arguments, durable):
        self.name = name
        self.durable = durable
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"weir-clients-{name}-"))
        self.log = self.folder / "log"
        data = self.folder / "data"
        data.mkdir()
        self.command = [program, *arguments, "--bind", "127.0.0.1", "--port", str(self.port),
                        "--dir", str(data)]
        self.process = None
        self.tls = None  # (port, file of the authority) when it speaks TLS besides

    def speak_tls(self):
        """From the next start() on; it asks for no certificate of its clients."""
        certificates = Certificates(self.folder / "tls")
        port = free_port()
        self.tls = (port, certificates.path("ca.crt"))
        for name, value in {"tls_port": port, **certificates.options()}.items():
            self.command += ["--" + name.replace("_", "-"), str(value)]

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not answers(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                tail = self.log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{self.name} does not answer on {self.port}:\n{tail}")
            time.sleep(0.02)
        return self

    def is_running(self):
        return answers(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def weir(program, storage):
    return Server("weir", program, ["--storage", storage], durable=storage != "memory")


def redis(program):
    """Every write is forced to disk before its reply, so that both servers make one promise."""
    return Server("redis", program, ["--save", "", "--appendonly", "yes", "--appendfsync",
                                     "always"], durable=True)


def version(program):
    """The version that `PROGRAM --version` prints; nothing when there is no such program."""
    try:
        text = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10,
                              check=False)
    except OSError:
        return ""
    match = re.search(r"\d+\.\d+\.\d+", text.stdout + text.stderr)
    return match[0] if match else ""
