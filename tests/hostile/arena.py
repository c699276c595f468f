"""One attack, one fresh server: what an attack may use, and what is found out meanwhile.

The server runs with a bound on its address space, so that what would be the death of the machine is
the death of this server alone. Load is bounded: an attack ends when its time is over.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

import harness  # noqa: E402
from support.resp import metrics  # noqa: E402

# The role that the README recommends.
SHOP = ("+@ratelimit", "+ping", "+select", "+client|setinfo", "+client|setname", "~shop:*")
# One with a choice of policies that takes long to compare, and long names beside short ones.
POLICIES = (*SHOP, *(f"policy~{'a' * i}-*" for i in range(1, 40)))
USERS = {"shop": SHOP, "policies": POLICIES, "limits": ("+@ratelimit", "+@ratelimitadmin", "~*"), "reader": ("+@read", "+@connection", "~*")}
PASSWORD = "word"
GONE = (ConnectionError, TimeoutError, BrokenPipeError, EOFError, OSError)


class Form:
    """Short for every build, long by hand: sizes, and bounds that follow from them."""

    def __init__(self, is_long):
        self.is_long = is_long
        self.maxmemory_mb = 512 if is_long else 64
        self.address_space = (8 if is_long else 3) << 30
        # maxmemory, as much for what is being written back, and one client's replies (256 MB).
        self.memory_mb = 2 * self.maxmemory_mb + 256 + 200
        self.attack_s = 100 if is_long else 12
        self.wait_s = 8 if is_long else 1.0


class Skipped(Exception):
    """This machine has not what the attack needs."""


class Client(harness.Client):
    """A connection of an attacker; replies are read as slowly or as fast as it wants."""

    def __init__(self, port, timeout_s):
        super().__init__(port, timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self):
        """An error inside a reply is a part of it."""
        reply = self.reply()
        if isinstance(reply, harness.Refused):
            raise reply
        return reply

    def request(self, *words):
        self.send(harness.encode(*words))

    def ask(self, *words):
        """The reply, or the error as text."""
        return self.pipeline([words])[0]

    def pipeline(self, requests):
        self.send_all(requests)
        replies = [self.reply() for _ in requests]
        return [str(reply) if isinstance(reply, harness.Refused) else reply for reply in replies]

    def swallow(self, size, until):
        """Reads up to so many bytes and throws them away."""
        while size > 0 and time.monotonic() < until:
            data = self.socket.recv(1 << 20)
            if not data:
                return
            size -= len(data)


class Arena:
    def __init__(self, executable, form):
        self.form = form
        self.executable = executable
        self.folder = tempfile.mkdtemp(prefix="weir-hostile-")
        self.server = None
        self.clients = []
        self.faults = []    # what must not be; empty: the server withstood
        self.notes = []
        self.peak_mb = 0
        self.worst_ms = None
        self.held = "-"     # what held the loop longest
        self.bystander_lost = False
        self.memory_mb = form.memory_mb
        self.ends_at = time.monotonic() + form.attack_s
        self.watching = threading.Event()
        self.watcher = None
        self.cleanups = []

    def size(self, short, long):
        return long if self.form.is_long else short

    # The server

    def start(self, *options, prefix=(), env=None, data=None, bare=False, **named):
        harness.executable = self.executable
        if not bare:
            named.setdefault("maxmemory", f"{self.form.maxmemory_mb}mb")
        if data:
            named["dir"] = data
        self.server = harness.Server(self.folder, *options, **named)
        self.server.command = ["prlimit", f"--as={self.form.address_space}", *prefix,
                               *(["env", *env] if env else []), *self.server.command]
        self.server.start()
        self.watcher = threading.Thread(target=self._watch_memory, daemon=True)
        self.watcher.start()
        return self

    def restart(self):
        self.stop()
        self.server.start()

    def stop(self, number=signal.SIGKILL):
        for client in self.clients:
            with contextlib.suppress(OSError):
                client.close()
        self.clients = []
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop(number)

    def forget_data(self):
        shutil.rmtree(self.server.data)

    def close(self):
        self.watching.set()
        self.stop()
        if self.server is not None:
            self.server.process.communicate()
        for cleanup in reversed(self.cleanups):
            cleanup()
        shutil.rmtree(self.folder, ignore_errors=True)

    def lives(self):
        return self.server is not None and self.server.process.poll() is None

    def memory(self, field="VmRSS"):
        with contextlib.suppress(OSError, StopIteration, ValueError):
            with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(field)) >> 10
        return 0

    def longest_hold(self):
        """What the server says that held its loop longest, if that was over 10 ms."""
        try:
            with contextlib.closing(Client(self.server.port, 2)) as probe:
                shown = metrics(probe.call("INFO"))
        except (*GONE, harness.Refused):
            return "-"
        name = shown.get("loop_held_longest", "")
        return f"{shown['loop_held_longest_ms']} ms {name}"[:26] if name else "-"

    def _watch_memory(self):
        while not self.watching.wait(0.02):
            self.peak_mb = max(self.peak_mb, self.memory("VmHWM"))

    # Clients

    def connect(self, user=None, timeout_s=None):
        left_s = max(1.0, self.ends_at - time.monotonic())
        client = Client(self.server.port, timeout_s or left_s)
        self.clients.append(client)
        if user is not None:
            self.make_user(user)
            client.call("AUTH", user, PASSWORD)
        return client

    def make_user(self, user):
        with contextlib.closing(Client(self.server.port, 10)) as admin:
            admin.call("ACL", "SETUSER", user, "reset", "on", ">" + PASSWORD, *USERS[user])

    def settle(self, most_s=None):
        """Returns when the server answers a new client, however long that takes. A long request is
        read in several turns, so the new client comes a little later."""
        self.watch(0.3)
        begin = time.monotonic()
        left_s = max(0.5, min(most_s or self.form.attack_s, self.ends_at - begin))
        with contextlib.closing(Client(self.server.port, left_s)) as probe:
            probe.call("PING")

    def watch(self, seconds=None):
        """Lets the attack work; returns early when the server has died."""
        end = min(time.monotonic() + (seconds or self.form.wait_s), self.ends_at)
        while time.monotonic() < end and self.lives():
            time.sleep(0.02)

    @contextlib.contextmanager
    def bystander(self, password=None):
        """The attack runs in here. What becomes of the attacker's own connection is no fault."""
        words = [sys.executable, "-B", str(HERE / "bystander.py"), str(self.server.port)]
        process = subprocess.Popen(words + ([password] if password else []),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdout.readline()
        began = time.monotonic()
        try:
            yield
        except (*GONE, harness.Refused) as error:
            self.note(f"the attacker got {str(error)[:90] or type(error).__name__}")
        finally:
            self.seconds = time.monotonic() - began
            out = process.communicate()[0].split()
        self.worst_ms = max(self.worst_ms or 0.0, float(out[0]))
        self.bystander_lost = out[2] == b"1"
        if self.bystander_lost and self.lives():
            self.fault("a bystander lost its connection")

    def fault(self, text):
        self.faults.append(text)

    def note(self, text):
        self.notes.append(text)

    def expect(self, condition, text):
        if not condition:
            self.fault(text)

    def small_disk(self, megabytes):
        """A file system of its own that is really full when it is full."""
        path = os.path.join(self.folder, "disk")
        os.makedirs(path)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", path],
                              capture_output=True, check=False)
        if made.returncode != 0:
            raise Skipped("no file system can be mounted here")
        self.cleanups.append(lambda: subprocess.run(["umount", "-l", path], check=False))
        return path
