"""Starts the servers that clients are tried against, each with a folder and a port of its own.

Invariants:
1. A server ends when its object is closed, by its own process id; a folder it was given goes too.
2. kill() is SIGKILL: nothing is flushed by the server itself. start() after it uses the same port
   and the same data, so a client's reconnect and the server's recovery are both real.
3. A server that does not answer PING in time is an error that shows the end of its log.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from support.certificates import Certificates
from support.processes import free_port
from support.servers import Server as AnyServer


class Server(AnyServer):
    """One server process. `name` is what tables call it, `durable` whether data survives kill()."""

    start_s = 20

    def __init__(self, name, program, arguments, durable):
        folder, port = Path(tempfile.mkdtemp(prefix=f"weir-clients-{name}-")), free_port()
        data = folder / "data"
        data.mkdir()
        super().__init__(name, [program, *arguments, "--bind", "127.0.0.1", "--port", port, "--dir", data], folder, port)
        self.durable = durable
        self.tls = None  # (port, file of the authority) when it speaks TLS besides

    def speak_tls(self):
        """From the next start() on; it asks for no certificate of its clients."""
        certificates = Certificates(self.folder / "tls")
        port = free_port()
        self.tls = (port, certificates.path("ca.crt"))
        for name, value in {"tls_port": port, **certificates.options()}.items():
            self.command += ["--" + name.replace("_", "-"), str(value)]

    def is_running(self):
        return self.is_ready()

    def close(self):
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
