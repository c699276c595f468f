"""What is read of a running process: its INFO, its processor time, and a load's own report."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "build/release/tools/weir-bench"


def info(member):
    lines = member.ask("INFO", "replication").decode().split("\r\n")
    return dict(line.split(":", 1) for line in lines if ":" in line)


def loop_s(pid):
    """Processor seconds of the thread that runs the event loop."""
    with open(f"/proc/{pid}/task/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def process_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family(pids):
    """These processes and all that they have started."""
    known = list(pids)
    for pid in known:
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                known += map(int, file.read().split())
        except FileNotFoundError:
            pass  # it has ended
    return known


class Use:
    """What processes use from now on: those that there are now."""

    def __init__(self, pids):
        self.begin_s = time.monotonic()
        self.before = self.used(family(pids))

    @staticmethod
    def used(pids):
        """Of those that have not ended."""
        found = {}
        for pid in pids:
            try:
                found[pid] = process_s(pid)
            except (FileNotFoundError, ProcessLookupError):
                continue
        return found

    def per_second(self):
        """Processor seconds of each second since then."""
        took_s = time.monotonic() - self.begin_s
        return sum(now - self.before[pid] for pid, now in self.used(self.before).items()) / took_s


def start_load(port, *options):
    """CL.THROTTLE that never denies."""
    return subprocess.Popen([BENCH, "--port", str(port), "--command", "throttle", "--json", *map(str, options)],
                            stdout=subprocess.PIPE, text=True)


def report(load):
    out, _ = load.communicate(timeout=300)
    if load.returncode != 0:
        sys.exit(f"bench_shard: the load failed: {out}")
    return json.loads(out.strip().splitlines()[-1])


def run_load(port, *options):
    return report(start_load(port, *options))
