#!/usr/bin/env python3
"""Attacks on a running weir-server, each on a fresh one, and a table of what came of them.

    tests/hostile/run.py SERVER [--short | --long] [--sample N [--seed S]] [CASE...]

The short form takes two minutes; the long form has sizes that hurt, and a few gigabytes of memory.
Asserted: the server lives, nobody but the attacker loses a connection, memory stays below its
bound, and what the attack itself looks at. Printed and not asserted: how long the PING of somebody
else waited at most, what held the loop longest over 10 ms in the last server of the attack, and how
long the attack took. Known failures stand in known.py.
"""

import argparse
import importlib
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from arena import GONE, Arena, Form, Skipped, harness  # noqa: E402
from attacks import ATTACKS  # noqa: E402
from known import KNOWN, KNOWN_LONG  # noqa: E402

MODULES = ("deaths", "replies", "values", "floods", "limiters", "words", "keepers", "sessions", "messages",
           "scripts", "rights", "disk", "encrypted", "shared_log")
ROW = "%-24s %10s %-26s %8s %8s %7s  %s"


def run_attack(name, executable, form):
    arena = Arena(executable, form)
    begin = time.monotonic()
    try:
        try:
            ATTACKS[name](arena)
        except (*GONE, harness.Refused, AssertionError) as error:
            if arena.server is None or arena.lives():
                arena.fault(f"the attack could not go on: {type(error).__name__} {error}"[:150])
        if arena.server is not None:
            judge(arena)
    finally:
        arena.close()
    return arena, time.monotonic() - begin


def judge(arena):
    time.sleep(0.05)
    arena.held = arena.longest_hold()
    if not arena.lives():
        arena.faults.insert(0, f"the server died ({arena.server.process.returncode})")
        arena.notes += [line[-120:] for line in arena.server.log().splitlines()[-1:]
                        if "critical" in line]
    arena.peak_mb = max(arena.peak_mb, arena.memory("VmHWM"))
    if arena.peak_mb > arena.memory_mb:
        arena.fault(f"memory rose to {arena.peak_mb} MB")


def outcome_of(name, arena):
    """The word for the table, and whether it makes the suite fail."""
    known = KNOWN | KNOWN_LONG if arena.form.is_long else KNOWN
    if name in known and arena.faults:
        return "known " + known[name], False
    if name in known:
        return f"withstood: delete {known[name]} from known.py", True
    return ("FAILED", True) if arena.faults else ("withstood", False)


def run_all(names, executable, form):
    print(ROW % ("attack", "worst PING", "longest hold", "peak RSS", "bound", "time", "outcome"),
          flush=True)
    failed = []
    for name in names:
        try:
            arena, seconds = run_attack(name, executable, form)
        except Skipped as reason:
            print(ROW % (name, "-", "-", "-", "-", "-", f"not run: {reason}"), flush=True)
            continue
        outcome, fails = outcome_of(name, arena)
        worst = ("-" if arena.worst_ms is None else
                 "lost" if arena.bystander_lost else f"{arena.worst_ms:.0f} ms")
        text = "; ".join([outcome, *arena.faults, *arena.notes])
        print(ROW % (name, worst, arena.held, f"{arena.peak_mb} MB", f"{arena.memory_mb} MB",
                     f"{seconds:.1f} s", text), flush=True)
        failed += [name] if fails else []
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--sample", type=int, help="only so many of them, as the seed says")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_intermixed_args()
    for module in MODULES:
        importlib.import_module(module)
    unknown = [name for name in [*options.cases, *KNOWN, *KNOWN_LONG] if name not in ATTACKS]
    if unknown:
        sys.exit(f"no such attack: {', '.join(unknown)}\nthere are: {' '.join(ATTACKS)}")
    begin = time.monotonic()
    names = options.cases or list(ATTACKS)
    if options.sample is not None:
        names = random.Random(options.seed).sample(names, min(options.sample, len(names)))
    failed = run_all(names, os.path.abspath(options.server), Form(options.long))
    print(f"{len(names)} attacks in {time.monotonic() - begin:.0f} s, {len(failed)} unexpected:"
          f" {' '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
