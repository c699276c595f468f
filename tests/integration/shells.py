"""redis-cli as people use it: with arguments, and typed at in a terminal; redis-server beside weir.

Nothing here sleeps: a typed line has ended when the next prompt stands, and a program when it ends.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from support.servers import Redis, need_redis

CLI = "redis-cli"
PROMPT = re.compile(rb"(?:\n|\A|\^C)(?:127\.0\.0\.1:\d+|not connected)(?:\[\d+\])?(?:\(TX\))?> $")
TOOK = re.compile(rb"\(\d+\.\d\ds\)\r?\n")  # shown of what took half a second or more
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


def environment(folder):
    """Nothing of the user's own: neither history nor preferences."""
    return {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "xterm", "LC_ALL": "C",
            "REDISCLI_HISTFILE": "/dev/null"}


class Output(str):
    """What a program wrote, stderr in between, and its exit code."""

    code = 0


def same_port(data, port):
    return data.replace(str(port).encode(), b"PORT")


def run(server, folder, *words, stdin=b""):
    """redis-cli with these arguments, {port} being the server's; to its end."""
    words = [word.format(port=server.port) for word in words]
    port = [] if "-u" in words else ["-p", str(server.port)]
    done = subprocess.run([CLI, *port, *words], input=stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment(folder), cwd=folder,
                          timeout=harness.PATIENCE_S, check=False)
    output = Output(same_port(done.stdout, server.port).decode("latin-1"))
    output.code = done.returncode
    return output


class Listener:
    """redis-cli that goes on until it is stopped: SUBSCRIBE, MONITOR, --stat."""

    def __init__(self, server, folder, *words):
        self.server = server
        self.path = os.path.join(folder, f"listener-{server.port}")
        with open(self.path, "wb") as file:
            # In a terminal it would colour; into a file it may keep what it has to say.
            self.process = subprocess.Popen(
                [CLI, "-p", str(server.port), *words], stdin=subprocess.DEVNULL, stdout=file,
                stderr=subprocess.STDOUT, env=environment(folder))

    def text(self):
        with open(self.path, "rb") as file:
            return same_port(file.read(), self.server.port).decode("latin-1")

    def wait_for(self, words):
        harness.wait_until(lambda: words in self.text(), f"{words!r} from redis-cli")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Shell:
    """redis-cli in a terminal of 300 columns."""

    def __init__(self, server, folder, *words):
        self.server = server
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 300, 0, 0))
            os.execvpe(CLI, [CLI, "-p", str(server.port), *words], environment(folder))

    def keys(self, text):
        os.write(self.terminal, text.encode())

    def read(self, fits):
        """What it shows until that fits a pattern; the port as PORT, and no durations."""
        shown = b""
        end = time.monotonic() + harness.PATIENCE_S
        while not fits.search(shown):
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"waited in vain for {fits.pattern!r} behind {shown!r}")
            try:
                shown += os.read(self.terminal, 65536)
            except OSError as gone:
                raise AssertionError(f"redis-cli has ended: {shown!r}") from gone
        return same_port(TOOK.sub(b"", shown), self.server.port)

    def prompt(self):
        return self.read(PROMPT)

    def type(self, line):
        """All that is drawn on the way to the next prompt, hints and all."""
        self.keys(line + "\r")
        return self.prompt()

    def answer(self, line):
        """What stands between the line typed and the next prompt."""
        lines = COLOUR.sub(b"", self.type(line)).replace(b"\r\n", b"\n").split(b"\n")
        return b"\n".join(lines[1:-1]).decode("latin-1").strip("\r\n")

    def stop(self):
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


class ShellTest(harness.ServerTest):
    """weir in memory, and on request a redis-server; both are empty."""

    def setUp(self):
        super().setUp()
        self.stops = []
        self.weir = self.memory_server(enable_debug_command="local")

    def tearDown(self):
        for stop in reversed(self.stops):
            stop()
        super().tearDown()

    def redis(self):
        need_redis()
        redis = Redis(self.path("redis")).start()
        self.stops.append(redis.kill)
        return redis

    def run_cli(self, server, *words, **options):
        return run(server, self.folder, *words, **options)

    def shell(self, server, *words):
        shell = Shell(server, self.folder, *words)
        self.stops.append(shell.stop)
        return shell

    def listener(self, server, *words):
        listener = Listener(server, self.folder, *words)
        self.stops.append(listener.stop)
        return listener
