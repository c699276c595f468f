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
    """In a process: takes until time is over, and prints the instants before and after each grant, and its source."""
    from weir import Limiter, Weir
    limiter = Limiter(Weir(url), LIMITS, away=away, processes=processes)
    while limiter.take("k").source != "weir":
        time.sleep(0.05)
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.monotonic()
        if verdict := limiter.take("k"):
            print(before, time.monotonic(), verdict.source, flush=True)
        time.sleep(pause_s)


def excess(grants):
    """The most that passed in any window beyond BURST and RATE in its length. A grant is two instants, between which
    it was made; windows are as long as they may have been, so this is what passed for certain."""
    grants = sorted(grants, key=lambda grant: grant[1])
    return max((last - first + 1 - BURST - RATE * max(0.0, grants[last][1] - grants[first][0])
                for first in range(len(grants)) for last in range(first, len(grants))), default=0.0)


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
    """(permits beyond the limit, grants a second while weir was away, seconds for which processes have decided)"""
    with WeirServer() as server:
        seconds = WARM_S + outage_s + AFTER_S
        workers = [subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.bound", "work", server.url, away, str(processes), str(pause), str(seconds)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for pause in pauses_s]
        for worker in workers:
            worker.stdout.readline()
        for worker in workers:
            worker.stdin.write("go\n")
            worker.stdin.flush()
        time.sleep(WARM_S)
        begin = time.monotonic()
        with fault(server, name):
            time.sleep(outage_s)
        end = time.monotonic()
        lines = [line.split() for worker in workers for line in worker.communicate()[0].splitlines()]
    grants = [(float(before), float(after)) for before, after, _ in lines]
    local = [float(instant) for *instants, source in lines if source == "local" for instant in instants]
    rate = sum(begin < after < end for _, after in grants) / (end - begin)
    return excess(grants), rate, max(local, default=0.0) - min(local, default=0.0)


EVEN, SKEWED = (0.02,) * 4, (0.01, 0.2, 0.2, 0.2)
ROWS = [("local", "kill", EVEN, 4), ("local", "kill", SKEWED, 4), ("local", "stop", EVEN, 4),
        ("strict", "kill", EVEN, 4), ("strict", "stop", EVEN, 4), ("local", "kill", EVEN, 2), ("local", "kill", EVEN, 8)]


def table():
    print("away    fault  load    processes  beyond the limit  a second while away")
    for away, name, pauses, processes in ROWS:
        beyond, rate, _ = measure(away, name, pauses_s=pauses, processes=processes)
        print(f"{away:7} {name:6} {'even' if pauses == EVEN else 'skewed':7} {processes:9} {beyond:17.1f} {rate:20.1f}",
              flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["work"]:
        work(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]))
    else:
        table()
