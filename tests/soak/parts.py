"""The parts of a long run: what each starts, and what its output counts.

A piece of a part takes about a minute on two idle cores when `share` is 1, and so much less when it is
smaller. Every piece has a seed of its own; what it did is read from what it prints, and a piece that
prints nothing to count has failed, whatever its exit status.
"""

import re
from dataclasses import dataclass, field
from typing import Callable

SERVER = "build/release/weir-server"
STORAGE_TESTS = "build/release/tests/storage_tests"
SIMULATION = "build/release/tests/simulation/simulation"
SHARDS = "build/release/tests/replication/shard_simulation"
FUZZ = "build/sanitize/tests/fuzz/"
PYTHON = ["/usr/bin/python3", "-B"]

CRASH_OPTIONS = [[], ["--durability", "always"], ["--loads", "limiters,mixed,queues"],
                 ["--durability", "everysec", "--loads", "containers,scripting,expiries"],
                 ["--durability", "no", "--loads", "generations,limiters"]]
DIFFERENTIAL_OPTIONS = [[], ["--tables", "transactions"], ["--storage", "rocksdb"]]


@dataclass
class Piece:
    command: list
    environment: dict = field(default_factory=dict)


@dataclass
class Part:
    name: str
    needs: list
    # piece(seed, share, turn): turn counts the pieces of this part, for those that vary.
    piece: Callable
    # count(output): a dict of what was done; empty if the output does not say.
    count: Callable


def numbers(pattern, output):
    """All that a pattern's only group finds, as integers."""
    return [int(text) for text in re.findall(pattern, output, re.MULTILINE)]


def counted(**sums):
    return {name.replace("_", " "): sum(found) for name, found in sums.items() if found}


def size(share, full):
    return max(1, round(share * full))


def crash(seed, share, turn):
    return Piece([*PYTHON, "tests/crash/crash.py", SERVER, "--cycles", str(size(share, 40)), "--seed", str(seed),
                  *CRASH_OPTIONS[turn % len(CRASH_OPTIONS)]])


def count_crash(output):
    """Every tenth cycle ends with SIGTERM, and a killed start is a kill, too."""
    cycles = numbers(r"^crash: (\d+) cycles", output)
    kills = [count - count // 10 for count in cycles] + numbers(r"cycles, (\d+) starts killed", output)
    return counted(kills=kills) if cycles else {}


def power(seed, share, _turn):
    return Piece([STORAGE_TESTS, "--gtest_filter=*PowerLoss*"],
                 {"WEIR_SEED": str(seed), "WEIR_POWER_LIVES": str(size(share, 60))})


def follow(seed, share, _turn):
    return Piece([STORAGE_TESTS, "--gtest_filter=Seeds/FollowRandomTest.*/0"],
                 {"WEIR_SEED": str(seed), "WEIR_FOLLOW_TURNS": str(size(share, 40_000))})


def differential(seed, share, turn):
    return Piece([*PYTHON, "tests/differential/differential.py", SERVER, "--seed", str(seed),
                  "--commands", str(size(share, 100_000)), *DIFFERENTIAL_OPTIONS[turn % len(DIFFERENTIAL_OPTIONS)]])


def simulation(seed, share, _turn):
    return Piece([SIMULATION, "--first", str(seed), "--seeds", str(size(share, 100))])


def shards(seed, share, _turn):
    return Piece([SHARDS, "--first", str(seed), "--seeds", str(size(share, 3_000))])


def hostile(seed, share, _turn):
    sample = [] if share >= 1 else ["--sample", str(size(share, 30)), "--seed", str(seed)]
    return Piece([*PYTHON, "tests/hostile/run.py", SERVER, "--short", *sample])


def hostile_long(_seed, _share, _turn):
    return Piece([*PYTHON, "tests/hostile/run.py", SERVER, "--long"])


def fuzz(seed, share, _turn):
    return Piece([".ci/run", "fuzz"], {"WEIR_FUZZ_SEED": str(seed), "WEIR_FUZZ_SECONDS": str(size(share, 10))})


ALL = [
    Part("crash", [SERVER], crash, count_crash),
    Part("power", [STORAGE_TESTS], power, lambda output: counted(power_cuts=numbers(r"^power cuts: (\d+)$", output))),
    Part("differential", [SERVER], differential,
         lambda output: counted(commands_alike=numbers(r"(\d+) commands alike", output))),
    Part("simulation", [SIMULATION], simulation,
         lambda output: counted(simulated_commands=numbers(r"\.\.\. (\d+) requests,", output),
                                simulated_crashes=numbers(r"requests, (\d+) crashes", output))),
    Part("hostile", [SERVER], hostile, lambda output: counted(attacks=numbers(r"^(\d+) attacks in", output))),
    Part("follow", [STORAGE_TESTS], follow,
         lambda output: counted(turns_followed=numbers(r"^turns followed: (\d+)$", output))),
    Part("shards", [SHARDS], shards, lambda output: counted(shard_worlds=numbers(r"^(\d+) seeds,", output))),
    Part("fuzz", [FUZZ + name for name in ("limiters_fuzz", "session_fuzz", "log_fuzz")], fuzz,
         lambda output: counted(fuzz_inputs=numbers(r"^stat::number_of_executed_units: (\d+)", output))),
]
LONG_ATTACKS = Part("long attacks", [SERVER], hostile_long, ALL[4].count)
