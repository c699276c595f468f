"""Runs one client program against one server and keeps what it said.

A program reads its orders from the environment:
    CLIENTS_SERVER     redis or weir         CLIENTS_PROTOCOL   2 or 3
    CLIENTS_PORT       on 127.0.0.1          CLIENTS_DURABLE    1 when data survives the restart
    CLIENTS_PROGRAM    the server's, for who starts more of them
    CLIENTS_OWNERS     of how many owners a cluster is, where it is one; then the port is the first's
    CLIENTS_KEYS       a file with a key of each of its slots, in order
    CLIENTS_SENTINELS  ports of those who know who serves, CLIENTS_MASTER the name to ask them by, and
    CLIENTS_MEMBERS    ports of those who may serve, all divided by commas
    CLIENTS_TLS_PORT   where to connect over TLS instead, if it is there, and
    CLIENTS_TLS_CA     the file of the authority that the server's certificate is from
and writes lines (what else it writes is shown only if it fails):
    version TEXT       of the library, once
    ok NAME            a check that held
    not ok NAME: WHY   one that did not
    skip NAME: WHY     one that this server or library cannot be asked
    restart            kill the server, start it again; the program waits for a line on its input
    move SLOT          give the slot, which has no keys, to another owner; it waits likewise
    figure NAME TEXT   what was measured
    done               the last line
Invariants:
1. A program that dies, hangs or stops before `done` has a failed check, however much passed before.
2. A program without any passed check has failed.
3. What a program did not say by itself is a failed check of one of the names in HARNESS_CHECKS.
"""

import contextlib
import os
import signal
import subprocess
import threading
import time

PROGRAM_SECONDS_MAX = 90
HARNESS_CHECKS = ("ends", "server")
# Long enough that a limiter's seconds show whether time went on while the server was away.
AWAY_SECONDS = 1.1
TLS_WANTED = "CLIENTS_TLS"  # an entry's environment has it if its program is to come over TLS


class Outcome:
    """What one run said: passed, failed and skipped checks, the library's version, seconds."""

    def __init__(self):
        self.version = ""
        self.passed = []
        self.failed = []
        self.skipped = []
        self.figures = {}
        self.seconds = 0.0
        self.noise = []
        self.is_done = False

    def summary(self):
        total = len(self.passed) + len(self.failed)
        return f"{len(self.passed)}/{total}"


def split_reason(text):
    name, _, why = text.partition(": ")
    return name, why or "no reason given"


def obey(line, outcome, process, server):
    word, _, rest = line.partition(" ")
    if word == "version":
        outcome.version = rest
    elif word == "ok":
        outcome.passed.append(rest)
    elif line.startswith("not ok "):
        outcome.failed.append(split_reason(line[len("not ok "):]))
    elif word == "skip":
        outcome.skipped.append(split_reason(rest))
    elif line == "restart":
        server.kill()
        time.sleep(AWAY_SECONDS)
        server.start()
        process.stdin.write("up\n")
        process.stdin.flush()
    elif word == "move":
        server.move(int(rest))
        process.stdin.write("moved\n")
        process.stdin.flush()
    elif word == "figure":
        name, _, text = rest.partition(" ")
        outcome.figures[name] = text
    elif line == "done":
        outcome.is_done = True
    else:
        outcome.noise.append(line)


def environment(server, protocol, extra):
    if server.tls:
        extra = {**extra, "CLIENTS_TLS_PORT": str(server.tls[0]), "CLIENTS_TLS_CA": server.tls[1]}
    if hasattr(server, "keys"):
        extra = {**extra, "CLIENTS_KEYS": str(server.keys)}
    extra = {**getattr(server, "environment", {}), **extra}
    if hasattr(server, "command"):
        extra = {**extra, "CLIENTS_PROGRAM": str(server.command[0])}
    return {**os.environ, "CLIENTS_SERVER": server.name, "CLIENTS_PORT": str(server.port),
            "CLIENTS_PROTOCOL": str(protocol), "CLIENTS_DURABLE": str(int(server.durable)),
            "PYTHONDONTWRITEBYTECODE": "1", **extra}


def end_group(process):
    """Ends the program and all that it started: it leads a process group of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def judge(outcome, code, late_seconds):
    if late_seconds:
        outcome.failed.append(("ends", f"still running after {late_seconds} s"))
    elif code != 0:
        outcome.failed.append(("ends", f"exit status {code}"))
    elif not outcome.is_done:
        outcome.failed.append(("ends", "stopped before its last check"))
    elif not outcome.passed:
        outcome.failed.append(("ends", "checked nothing"))


def run(command, server, protocol, extra=None, seconds_max=None):
    """Starts the server anew on empty data, runs the program, and says how it went."""
    outcome = Outcome()
    seconds_max = seconds_max or PROGRAM_SECONDS_MAX
    begin = time.monotonic()
    if extra and extra.get(TLS_WANTED):
        server.speak_tls()
    server.start()
    process = subprocess.Popen(
        command, env=environment(server, protocol, extra or {}), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True)
    timer = threading.Timer(seconds_max, end_group, [process])
    timer.start()
    try:
        for line in process.stdout:
            obey(line.rstrip("\n"), outcome, process, server)
        code = process.wait()
    except (AssertionError, RuntimeError, OSError) as error:
        outcome.failed.append(("server", str(error)))
        code = 0
    finally:
        late_seconds = 0 if timer.is_alive() else seconds_max
        timer.cancel()
        end_group(process)
        process.wait()
        process.stdout.close()
        with contextlib.suppress(OSError):  # a program that died did not read its last line
            process.stdin.close()
    judge(outcome, code, late_seconds)
    if not server.is_running():
        outcome.failed.append(("server", "it is not running at the end"))
    outcome.seconds = time.monotonic() - begin
    return outcome
