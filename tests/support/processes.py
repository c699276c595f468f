"""Programs that a test starts, each with a log, and ends by their process ids; and ports for them."""

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess

from .waiting import PATIENCE_S, wait_until

PR_SET_PDEATHSIG = 1
LOG_TAIL_LINES = 30
CRASH_S = 2


class CannotStart(RuntimeError):
    """A program has ended at once, or was not ready in time; with the end of its log."""


def free_port(count=1):
    """The first of so many in a row. None is one of those that Linux gives to connections on their way out,
    as those of other tests are."""
    while True:
        first = random.SystemRandom().randrange(10000, 32000 - count)
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            for port in range(first, first + count):
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first


def end_with_parent():
    """For a child, as its preexec_fn: it ends when the thread that started it does, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """A program, of which one process runs at a time. What the process says is added to the file `log_path`;
    `how` is what else subprocess.Popen is told. A subclass says in is_ready() when the program has started."""

    start_s = PATIENCE_S

    def __init__(self, name, command, log_path, **how):
        self.name = name
        self.command = command
        self.log_path = str(log_path)
        self.how = how
        self.process = None

    def is_ready(self):
        return True

    def spawn(self):
        """Starts a process, and does not wait until it is ready."""
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(list(map(str, self.command)),
                                            **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, **self.how})
        return self

    def start(self):
        self.spawn()
        try:
            wait_until(lambda: not self.lives() or self.is_ready(), f"{self.name} is ready", self.start_s)
        except BaseException as error:
            self.kill()
            if isinstance(error, AssertionError):
                raise CannotStart(f"{error}\n{self.log_tail()}") from None
            raise
        if not self.lives():
            raise CannotStart(f"{self.how_it_ended()}\n{' '.join(map(str, self.command))}")
        return self

    def lives(self):
        return self.process is not None and self.process.poll() is None

    def send_signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        """kill -9; nothing if it has ended already."""
        if self.lives():
            self.process.kill()
        if self.process is not None:
            self.process.wait()

    def stop(self, number=signal.SIGTERM):
        """The exit code of a process that is told to end."""
        self.send_signal(number)
        return self.process.wait(PATIENCE_S)

    def cpu_seconds(self):
        """What all its threads have run, kernel included."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log_tail(self, lines=LOG_TAIL_LINES):
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-lines:]).rstrip()

    def how_it_ended(self):
        """A crash takes its time, and is waited for."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(CRASH_S)
        if self.lives():
            return f"{self.name} is still running"
        code = self.process.returncode
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{self.name} ended by {cause}; the end of its log:\n{self.log_tail()}"
