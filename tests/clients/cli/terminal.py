"""A program on a terminal of its own, as a person at a keyboard sees it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

SECONDS_MAX = 10
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """Starts the program at once; seen() is all that it showed since the last wait."""

    def __init__(self, command, env):
        self.screen, theirs = pty.openpty()
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                                        env={**os.environ, "TERM": "xterm", **env},
                                        start_new_session=True)
        os.close(theirs)
        self.bytes = b""

    def seen(self):
        return ESCAPES.sub("", self.bytes.decode(errors="replace")).replace("\r", "\n")

    def type(self, keys):
        """Forgets what was on the screen and types; a line ends with \\r."""
        self.bytes = b""
        os.write(self.screen, keys.encode())

    def wait_for(self, pattern):
        """The match of the pattern in what is shown, as soon as it is there."""
        deadline = time.monotonic() + SECONDS_MAX
        while not (match := re.search(pattern, self.seen())):
            left = deadline - time.monotonic()
            if left <= 0 or not self.read(left):
                raise AssertionError(f"no {pattern!r} on the screen: {self.seen()[-400:]!r}")
        return match

    def read(self, seconds):
        if not select.select([self.screen], [], [], seconds)[0]:
            return False
        try:
            self.bytes += os.read(self.screen, 65536)
        except OSError:  # how Linux tells that the other end has gone
            return False
        return True

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)
