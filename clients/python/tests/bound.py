"""How much more than the limit passes over an outage, in all windows and all processes together.

    python -m tests.bound        a table: each mode and fault for 20 s, even and skewed load, a wrong number of processes
"""

import contextlib
import signal
import subprocess
import sys
import time

from .weirs import WeirServer

RATE, BURST, PROCESSES = 10, 10, 4
LIMITS = f"TOKENBUCKET {RATE}/1s CAPACITY {BURST}"
WARM_S = 2.0
AFTER_S = 4.0


def work(url, away, processes, pause_s, seconds):
    """In a process: takes until time is over, and prints the instant of each grant."""
    from weir import Limiter, Weir
    limiter = Limiter(Weir(url), LIMITS, away=away, processes=processes)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if limiter.take("k"):
            print(time.monotonic(), flush=True)
        time.sleep(pause_s)


def excess(grants):
    """The most that passed in any window beyond BURST and RATE in its length."""
    worst, owed, last = 0.0, 0.0, None
    for instant in grants:
        owed = max(0.0, owed - (instant - last) * RATE) + 1 if last is not None else 1.0
        worst, last = max(worst, owed), instant
    return worst - BURST


@contextlib.contextmanager
def fault(server, name):
    if name == "kill":
        server.kill()
    else:
        server.send_signal(signal.SIGSTOP)
    yield
    if name == "kill":
        server.start()
    else:
        server.send_signal(signal.SIGCONT)


def measure(away="local", name="kill", outage_s=20.0, pauses_s=(0.02,) * PROCESSES, processes=PROCESSES):
    """(permits beyond the limit, grants a second while weir was away)"""
    with WeirServer() as server:
        seconds = WARM_S + outage_s + AFTER_S
        workers = [subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.bound", "work", server.url, away, str(processes), str(pause), str(seconds)],
            stdout=subprocess.PIPE, text=True) for pause in pauses_s]
        time.sleep(WARM_S)
        begin = time.monotonic()
        with fault(server, name):
            time.sleep(outage_s)
        end = time.monotonic()
        grants = sorted(float(line) for worker in workers for line in worker.communicate()[0].split())
    return excess(grants), sum(begin < grant < end for grant in grants) / (end - begin)


def table():
    even, skewed = (0.02,) * 4, (0.01, 0.2, 0.2, 0.2)
    rows = [("local", "kill", even, 4), ("local", "kill", skewed, 4), ("local", "stop", even, 4),
            ("strict", "kill", even, 4), ("strict", "stop", even, 4), ("local", "kill", even, 2), ("local", "kill", even, 8)]
    print("away    fault  load    processes  beyond the limit  a second while away")
    for away, name, pauses, processes in rows:
        beyond, rate = measure(away, name, pauses_s=pauses, processes=processes)
        print(f"{away:7} {name:6} {'even' if pauses == even else 'skewed':7} {processes:9} {beyond:17.1f} {rate:20.1f}",
              flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]))
    else:
        table()
