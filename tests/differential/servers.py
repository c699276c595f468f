"""The two servers that are compared: started on free ports, in directories that go away again."""

import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from wire import Connection
from support.processes import Program, end_with_parent, free_port
from support.servers import REDIS, answers, need_redis


class Server(Program):
    """A server on a port of its own. In `command` the words PORT and DIRECTORY stand for what it gets."""

    start_s = 30

    def __init__(self, name, command):
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix=f"differential-{name}-"))
        command = [part.replace("DIRECTORY", str(self.directory)).replace("PORT", str(self.port)) for part in command]
        super().__init__(name, command, self.directory / "log", cwd=self.directory, preexec_fn=end_with_parent)
        self.is_lasting = "rocksdb" in command  # what it holds outlives its process
        self.restarts = 0
        self.metrics_before = []  # INFO of the processes before

    def is_ready(self):
        return answers(self.port)

    def connect(self, timeout_s=60):
        return Connection(self.port, timeout_s)

    def metric(self, name):
        """A number of its INFO, over all its restarts."""
        pattern = re.compile(rb"(?m)^%b:(\d+)\r$" % name.encode())
        return sum(int(pattern.search(info)[1]) for info in [*self.metrics_before, self.info()])

    def info(self):
        connection = self.connect()
        info = connection.command("INFO", "everything")
        connection.close()
        return info

    def restart(self):
        """Every other time it is killed."""
        self.metrics_before.append(self.info())
        self.restarts += 1
        super().stop(signal.SIGKILL if self.restarts % 2 else signal.SIGTERM)
        self.start()

    def restart_if_dead(self):
        """A crash takes its time: who refuses a connection is waited for."""
        try:
            self.connect().close()
        except OSError:
            self.process.wait(timeout=60)
            self.start()

    def stop(self):
        """Whether it ended as it should when told to; then its directory goes."""
        clean = False
        if self.process is not None:
            try:
                clean = super().stop() == 0
            except subprocess.TimeoutExpired:
                self.kill()
            if not clean:
                print(self.how_it_ended())
        shutil.rmtree(self.directory, ignore_errors=True)
        return clean


def redis_command():
    need_redis()
    # It looks at the timeouts of who waits as often as at everything else it does by the clock.
    return [REDIS, "--port", "PORT", "--bind", "127.0.0.1", "--dir", "DIRECTORY", "--save", "",
            "--appendonly", "no", "--hz", "500", "--enable-debug-command", "yes"]


def redis_server():
    return Server("redis-server", redis_command())


def weir_command(program, options):
    # Redis has no limit of time, and a build with sanitizers is slow.
    return [program, "--port", "PORT", "--bind", "127.0.0.1", "--dir", "DIRECTORY/data",
            "--loglevel", "warning", "--disk-reserve", "0", "--script-time-limit-ms", "5000",
            "--multibulk-count-max", "2147483647", "--key-bytes-max", "512mb",
            "--enable-debug-command", "yes", *options]


def weir_server(program, options):
    return Server("weir-server", weir_command(program, options))
