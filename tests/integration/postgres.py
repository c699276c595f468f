"""A PostgreSQL of a test's own: on a free port of 127.0.0.1, in a folder that goes, as a user without
rights, since PostgreSQL serves no root. As a program it prints the address and ends with its input."""

import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile

import harness


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


class Postgres:
    """With a database `weir` of its user `weir`, who needs no password; or, bare, with neither: others than its
    user `postgres` on its socket then need a password."""

    def __init__(self, bare=False):
        self.admin = "postgres" if bare else "weir"
        self.folder = tempfile.mkdtemp(prefix="weir-postgres-")
        self.port = harness.free_port()
        self.data = os.path.join(self.folder, "data")
        self.process = None
        self.user = None
        if os.getuid() == 0:
            self.user = pwd.getpwnam("nobody")
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "-D", self.data, "-U", self.admin, "--auth-local=trust", "--no-sync", "-E", "UTF8",
                 "--auth-host=" + ("scram-sha-256" if bare else "trust"))
        self.start()
        if not bare:
            self.ask("create database weir", "postgres")

    def how(self):
        rights = {} if self.user is None else {"user": self.user.pw_uid, "group": self.user.pw_gid,
                                               "extra_groups": []}
        return {**rights, "cwd": self.folder, "stdin": subprocess.DEVNULL,
                "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.folder}}

    def run(self, program, *words):
        done = subprocess.run([os.path.join(programs(), program), *map(str, words)], **self.how(),
                              capture_output=True, text=True, timeout=harness.PATIENCE_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{program}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        with open(os.path.join(self.folder, "log"), "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(programs(), "postgres"), "-D", self.data, "-p", str(self.port), "-h", "127.0.0.1",
                 "-k", self.folder], stdout=log, stderr=log, **self.how())
        harness.wait_until(self.is_ready, "PostgreSQL is ready")

    def is_ready(self):
        try:
            return self.ask("select 1", "postgres") == "1"
        except AssertionError:
            return False

    def kill(self):
        """At once, as a machine's death would be; its processes notice by themselves."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder)

    def address(self):
        return f"postgres://weir@127.0.0.1:{self.port}/weir"

    def ask(self, words, database="weir"):
        return self.run("psql", "-h", self.folder, "-p", self.port, "-U", self.admin, "-d", database, "-At", "-c",
                        words).strip()


if __name__ == "__main__":
    made = Postgres()
    print(made.address(), flush=True)
    try:
        sys.stdin.read()
    finally:
        made.close()
