"""Members of the shard: weir-server processes, each on a machine of its own."""

import glob
import os
import shutil
import signal
import time
from pathlib import Path

import isolation
from support.processes import Program
from support.resp import Client, Refused, pairs

PORT = 6379
DISK_MB = 512
START_S = 60
END_S = 60
CANNOT_READ = "the shared log cannot be read"
FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), "")


class Away(Exception):
    """It does not answer."""


class Member(Program):
    def __init__(self, server, machine, folder, options):
        super().__init__(machine.name, None, os.path.join(folder, machine.name + ".log"))
        self.server = server
        self.machine = machine
        self.host = machine.host
        self.disk = os.path.join(folder, self.name)
        self.clock = os.path.join(folder, self.name + ".clock")
        self.options = options
        self.is_stopped = False
        self.deaths = []  # codes of ends that nobody here asked for
        self.given_up = 0  # times that it could not start
        isolation.small_disk(self.disk, DISK_MB)
        self.set_clock(0)

    def set_clock(self, seconds):
        """By how much its wall clock is wrong, where libfaketime is installed; it looks once a second."""
        Path(self.clock).write_text(f"{seconds:+d}\n", encoding="ascii")

    def environment(self):
        if not os.path.exists(FAKETIME):
            return dict(os.environ)
        return {**os.environ, "LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": self.clock,
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_CACHE_DURATION": "1", "NO_FAKE_STAT": "1"}

    def data(self):
        return os.path.join(self.disk, "data")

    def make_command(self):
        # Each machine has been up for another time than the others.
        boottime = int(self.host.rsplit(".", 1)[1]) * 1000
        return [*self.machine.inside(), "unshare", "--time", "--boottime", str(boottime), "--", self.server,
                "--bind", self.host, "--port", str(PORT), "--protected-mode", "no", "--dir", self.data(),
                "--disk-reserve", "0", *self.options]

    def make_shard(self, log, name="main", founding=(), tries=10):
        """Tried again while the log does not answer, as an operator would."""
        try:
            isolation.run(*self.machine.inside(), self.server, "--new-shard", log, name, *founding, "--dir", self.data())
        except RuntimeError as failure:
            if tries == 1 or "the shared log" not in str(failure):
                raise
            self.make_shard(log, name, founding, tries - 1)

    def start(self):
        if self.lives():
            return
        self.note_end()
        self.command = self.make_command()
        self.how["env"] = self.environment()
        self.spawn()
        self.is_stopped = False

    def note_end(self):
        """Whether it has ended, and nobody here has killed it."""
        if self.process is not None and self.process.poll() is not None:
            if self.process.returncode == 1 and self.gave_up():
                self.given_up += 1
            else:
                self.deaths.append(self.process.returncode)
            self.process = None

    def gave_up(self):
        """Without data it cannot start while the log does not answer, and says so."""
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            last = (file.readlines() or [""])[-1]
        return "cannot start: " + CANNOT_READ in last

    def kill(self):
        if self.lives():
            self.process.kill()
            self.process.wait()
            self.process = None
        self.note_end()

    def end_well(self):
        """By SIGTERM: a primary hands over before it ends."""
        if self.lives():
            self.go_on()
            self.process.terminate()
            self.process.wait(END_S)
            self.process = None
        self.note_end()

    def stop_running(self):
        if self.lives():
            self.process.send_signal(signal.SIGSTOP)
            self.is_stopped = True

    def go_on(self):
        if self.is_stopped and self.lives():
            self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def forget_all(self):
        """An empty directory."""
        shutil.rmtree(self.data(), ignore_errors=True)

    def ask(self, *words, timeout_s=1.0):
        try:
            with Client((self.host, PORT), timeout_s) as client:
                return client.call(*words)
        except OSError as failure:
            raise Away(f"{self.name}: {failure}") from failure

    def status(self, timeout_s=1.0):
        return pairs(self.ask("WEIR", "STATUS", timeout_s=timeout_s))

    def state(self):
        """(state, whether it serves), or (None, False) of one that does not answer."""
        try:
            seen = self.status()
            return seen["state"], seen["serves"] == 1
        except (Away, Refused):
            return None, False

    def wait_for(self, condition, what, patience_s=START_S):
        end = time.monotonic() + patience_s
        while True:
            try:
                seen = self.status()
                if condition(seen):
                    return
                if seen["state"] == "stopped":
                    raise AssertionError(f"{self.name} has stopped: {seen['stopped_because']}")
            except (Away, Refused):
                pass
            if not self.lives():
                self.note_end()
                if self.given_up and time.monotonic() < end:
                    self.start()
                    continue
                raise AssertionError(f"{self.name} has ended, {self.log_path} says why")
            if time.monotonic() > end:
                raise AssertionError(f"{self.name}: waited {patience_s} s in vain: {what}")
            time.sleep(0.05)
