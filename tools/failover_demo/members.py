"""Members of a shard: weir-server processes on ports of this machine."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from resp import Client, Refused

HOST = "127.0.0.1"
START_S = 60


class NotServed(Exception):
    """This member serves no data now."""


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def program():
    built = Path(__file__).resolve().parents[2] / "build/release/weir-server"
    found = os.environ.get("WEIR_SERVER") or (str(built) if built.exists() else shutil.which("weir-server"))
    if found is None:
        raise RuntimeError("there is no weir-server: build it, or name it by WEIR_SERVER")
    return found


class Member:
    def __init__(self, name, folder, log, options=(), shard="main", port=None):
        self.name = name
        self.shard = shard
        self.options = options
        self.port = port or free_port()
        self.data = os.path.join(folder, name)
        self.log = log
        self.output = os.path.join(folder, name + ".log")
        self.process = None

    def make_shard(self, *founding):
        done = subprocess.run([program(), "--new-shard", self.log, self.shard, *founding, "--dir", self.data],
                              capture_output=True, text=True, timeout=START_S, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"--new-shard: {done.stdout}{done.stderr}")

    def start(self):
        with open(self.output, "ab") as output:
            self.process = subprocess.Popen(
                [program(), "--port", str(self.port), "--dir", self.data, "--log", self.log, "--shard", self.shard,
                 "--disk-reserve", "0", *self.options], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        end = time.monotonic() + START_S
        while True:
            try:
                self.ask("PING")
                return
            except Refused:
                return  # it asks for a password, so it is there
            except (NotServed, OSError) as failure:
                if self.process.poll() is not None or time.monotonic() > end:
                    told = Path(self.output).read_text(encoding="utf-8", errors="replace")
                    raise RuntimeError(f"{self.name} does not start: {told[-1000:]}") from failure
            time.sleep(0.02)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
        if self.process:
            self.process.wait()

    def ask(self, *words):
        if self.process is None or self.process.poll() is not None:
            raise NotServed(self.name)
        client = Client(HOST, self.port, timeout_s=5)
        try:
            return client.ask(*words)
        finally:
            client.close()

    def serves(self):
        try:
            return self.ask("ROLE")[0] in (b"master", "master")
        except (NotServed, Refused, OSError):
            return False
