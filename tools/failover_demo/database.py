"""Where the shared log is: a PostgreSQL of its own, three servers of NATS, or a file."""

import glob
import os
import pwd
import signal
import subprocess
import sys
import tempfile
import time

from members import HOST, free_port

USER = "weir"


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        raise RuntimeError("there is no PostgreSQL under /usr/lib/postgresql: apt install postgresql "
                           "(weir-failover-demo does without by --file)")
    return os.path.dirname(found[-1])


def size_of(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0  # it went meanwhile


class FileLog:
    def __init__(self, folder):
        self.path = os.path.join(folder, "shared-log")

    def address(self):
        return "file:" + self.path

    def close(self):
        pass


class NatsServers:
    """A cluster of three, which is that of the tests: nats-server is built if it is not there."""

    PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/integration/nats.py")

    def __init__(self, folder):
        del folder  # they have one of their own
        self.process = subprocess.Popen([sys.executable, "-B", self.PROGRAM, "3"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.place = self.process.stdout.readline().strip()
        if not self.place:
            raise RuntimeError("no servers of NATS")

    def address(self):
        return self.place

    def processes(self):
        """The first of each server."""
        pid = self.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def log_bytes(self):
        """Of all files of all servers: what a record takes, in all its copies."""
        with open(f"/proc/{self.processes()[0]}/cmdline", encoding="utf-8") as file:
            folder = os.path.dirname(file.read().rstrip("\0").split("\0")[-1])
        return sum(size_of(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Database:
    """On a free port of this machine, in a folder that goes; root's is run by nobody, since PostgreSQL
    refuses to be root's."""

    def __init__(self, folder):
        del folder  # which its user may not enter
        self.folder = tempfile.mkdtemp(prefix="weir-failover-demo-database-")
        self.port = free_port()
        self.rights = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.rights = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        data = os.path.join(self.folder, "data")
        self.run("initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8")
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(programs(), "postgres"), "-D", data, "-p", str(self.port), "-h", HOST, "-k",
                 self.folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.how())
        self.make_database()

    def how(self):
        return {**self.rights, "cwd": self.folder,
                "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.folder}}

    def run(self, program, *words):
        done = subprocess.run([os.path.join(programs(), program), *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False, **self.how())
        if done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    def make_database(self):
        end = time.monotonic() + 30
        while True:
            try:
                return self.run("createdb", "-h", HOST, "-p", self.port, "-U", USER, "weir")
            except RuntimeError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
            time.sleep(0.1)

    def address(self):
        return f"postgres://{USER}@{HOST}:{self.port}/weir"

    def processes(self):
        return [self.process.pid]

    def close(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()
        subprocess.run(["rm", "-rf", self.folder], check=False)
