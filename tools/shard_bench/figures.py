"""What is read of a running process: its INFO, its processor time, and a load's own report."""

import json
import os
import subprocess
import sys
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
