"""A bare Debian 12, and what runs inside it. Needs root; the network is the host's."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2]
PATIENCE_S = 60


class Failed(Exception):
    """What was to be proved is not so, in words."""


class Started:
    """A program that was started inside. It is the first process of a namespace of its own, so that
    nothing of it stays when it ends."""

    def __init__(self, command, log):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def stop(self, number=signal.SIGTERM):
        """Answers the exit status."""
        if self.process.poll() is None:
            entrance = self.process.pid
            with open(f"/proc/{entrance}/task/{entrance}/children", encoding="ascii") as children:
                for child in children.read().split():
                    os.kill(int(child), number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()  # and the namespace with it
            return self.process.wait()


class Root:
    def __init__(self, base, folder):
        """`base` is made if it is not there."""
        self.folder = Path(folder)
        self.log = open(self.folder / "log", "w", encoding="utf-8")
        if not os.path.isdir(base):
            subprocess.run([TOOLS / "prove-clean-root", "--base", base, TOOLS.parent, "base"], check=True,
                           stdout=self.log, stderr=self.log)
        self.top = self.folder / "root"
        subprocess.run(["cp", "-a", base, self.top], check=True)
        self.started = []

    def path(self, name):
        return self.top / name.lstrip("/")

    def command(self, words, user, place):
        return [TOOLS / "prove/in-root", "--user", user, "--dir", place, self.top, *map(str, words)]

    def ask(self, *words, user="root", place="/"):
        """(exit status, what it has said)"""
        done = subprocess.run(self.command(words, user, place), stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.log.write(f"+ {' '.join(map(str, words))}\n{done.stdout}")
        self.log.flush()
        return done.returncode, done.stdout

    def run(self, *words, **how):
        """What it has said; it must succeed."""
        status, said = self.ask(*words, **how)
        if status != 0:
            raise Failed(f"{' '.join(map(str, words))} ends with {status}: {last_line(said)}")
        return said

    def start(self, *words, user="root", place="/"):
        self.started.append(Started(self.command(words, user, place), self.log))
        return self.started[-1]

    def install(self, *packages):
        """What is only used by the proof. Its services stay away, as nobody has started the system."""
        policy = self.path("/usr/sbin/policy-rc.d")
        policy.write_text("#!/bin/sh\nexit 101\n", encoding="ascii")
        policy.chmod(0o755)
        self.run("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "install",
                 "--no-install-recommends", *packages)

    def end(self):
        for program in reversed(self.started):
            program.stop(signal.SIGKILL)
        self.log.close()

    def remove(self):
        shutil.rmtree(self.folder)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "nothing was said"
