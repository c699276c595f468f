"""A weir-server for tests, on a free port and a directory of its own."""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from support.processes import free_port  # noqa: E402
from support.servers import Server  # noqa: E402
from support.waiting import wait_until  # noqa: E402, F401

PROGRAM = os.environ.get("WEIR_SERVER", str(ROOT / "build/release/weir-server"))


class WeirServer(Server):
    """With its end: `with WeirServer() as server`."""

    def __init__(self, *options):
        self.directory = tempfile.mkdtemp(prefix="weir-client-")
        port = free_port()
        super().__init__("weir-server", [PROGRAM, "--port", port, "--dir", os.path.join(self.directory, "data"),
                                         *options],
                         self.directory, port)

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


def calls_of(server, command):
    """How often it was called."""
    stats = server.call("INFO", "commandstats").decode()
    found = re.search(rf"cmdstat_{command}:calls=(\d+)", stats)
    return int(found[1]) if found else 0


def renewals(server):
    """How many leases were renewed."""
    return calls_of(server, "rl.renew")
