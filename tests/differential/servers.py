"""The two servers that are compared: started on free ports, in directories that go away again."""

import ctypes
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from wire import Connection

REDIS = "redis-server"


class CannotStart(Exception):
    pass


def end_with_parent():
    """For the child: however this program ends, its servers end too."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server."""

    def __init__(self, name, command):
        self.name = name
        self.directory = Path(tempfile.mkdtemp(prefix=f"differential-{name}-"))
        self.command = [part.replace("DIRECTORY", str(self.directory)) for part in command]
        self.process = None
        self.fixed_port = 0  # 0: another one with each start
        self.is_lasting = "rocksdb" in command  # what it holds outlives its process
        self.restarts = 0
        self.figures_before = []  # INFO of the processes before

    def start(self):
        self.port = self.fixed_port or free_port()
        command = [part.replace("PORT", str(self.port)) for part in self.command]
        self.log = open(self.directory / "log", "ab")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log,
                                        cwd=self.directory, preexec_fn=end_with_parent)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.connect().close()
                return
            except OSError:
                time.sleep(0.02)
        raise CannotStart(f"{self.name} does not start: {' '.join(command)}\n{self.log_tail()}")

    def connect(self, timeout_s=60):
        return Connection(self.port, timeout_s)

    def figure(self, name):
        """A number of its INFO, over all its restarts."""
        pattern = re.compile(rb"(?m)^%b:(\d+)\r$" % name.encode())
        return sum(int(pattern.search(info)[1]) for info in [*self.figures_before, self.info()])

    def info(self):
        connection = self.connect()
        info = connection.command("INFO", "everything")
        connection.close()
        return info

    def restart(self):
        """Every other time it is killed."""
        self.figures_before.append(self.info())
        self.restarts += 1
        self.process.send_signal(signal.SIGKILL if self.restarts % 2 else signal.SIGTERM)
        self.process.wait(timeout=60)
        self.log.close()
        self.start()

    def is_alive(self):
        return self.process.poll() is None

    def restart_if_dead(self):
        """A crash takes its time: who refuses a connection is waited for."""
        try:
            self.connect().close()
        except OSError:
            self.process.wait(timeout=60)
            self.log.close()
            self.start()

    def log_tail(self, lines=30):
        text = (self.directory / "log").read_bytes().decode(errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    def how_it_ended(self):
        try:
            code = self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return f"{self.name} is still running"
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{self.name} ended by {cause}; the end of its log:\n{self.log_tail()}"

    def stop(self):
        """Whether it ended as it should when told to; then its directory goes."""
        clean = False
        if self.process is not None:
            self.process.terminate()
            try:
                clean = self.process.wait(timeout=60) == 0
            except subprocess.TimeoutExpired:
                self.process.kill()
            if not clean:
                print(self.how_it_ended())
            self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        return clean


def redis_command():
    if shutil.which(REDIS) is None:
        sys.exit("redis-server is missing, and it is what weir is compared with: "
                 "install the Debian package redis-server")
    # It looks at the timeouts of who waits as often as at everything else it does by the clock.
    return [REDIS, "--port", "PORT", "--bind", "127.0.0.1", "--dir", "DIRECTORY", "--save", "",
            "--appendonly", "no", "--hz", "500"]


def redis_server():
    return Server("redis-server", redis_command())


def weir_command(program, options):
    # Redis has no limit of time, and a build with sanitizers is slow.
    return [program, "--port", "PORT", "--bind", "127.0.0.1", "--dir", "DIRECTORY/data",
            "--loglevel", "warning", "--disk-reserve", "0", "--script-time-limit-ms", "5000",
            "--multibulk-count-max", "2147483647", "--key-bytes-max", "512mb", *options]


def weir_server(program, options):
    return Server("weir-server", weir_command(program, options))
