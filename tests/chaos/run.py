#!/usr/bin/env python3
"""Chaos: members of a shard as real processes, a real engine of the log, and real faults.

    tests/chaos/run.py SERVER [--takeovers N] [--seed S] [--fault NAME]... [--engine postgres|nats|file]
    tests/chaos/run.py SERVER --ci             some 30 takeovers, in less than five minutes
    tests/chaos/run.py SERVER --shards 3 --members 2 [--engine mixed]     shards of one cluster, over one engine or both
    tests/chaos/run.py SERVER --plant NAME     a fault that the checker has to find: it fails if it does not
    tests/chaos/run.py --list                  the faults

Members are on machines of their own, network namespaces on a bridge, and so are PostgreSQL's primary and its
synchronous standby, or the three servers of a NATS cluster. That needs root. Clients write journals; in the end a member with an empty directory reads the
log, and what it answers is held against the journals (checker.py has the laws). Callers of several shards go where
they are led, and all members are asked for their maps every 10 ms (shard_laws.py has the laws). A seed gives the same
faults in the same order, not at the same instants. What a run that failed has written is kept in
build/chaos/SEED.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path[:0] = map(str, Path(__file__).resolve().parents[:2])  # of what is here, and of tests/support

import checker  # noqa: E402
import clients  # noqa: E402
import database_faults  # noqa: E402, F401: it registers them
import isolation  # noqa: E402
import journal  # noqa: E402
import measure  # noqa: E402
import nats  # noqa: E402
import nats_faults  # noqa: E402, F401: it registers them
import steps  # noqa: E402
from faults import FAULTS, left_out  # noqa: E402
from members import Away, Refused  # noqa: E402
import shard_faults  # noqa: E402, F401: it registers them
from plants import AT_REST, OF_NATS, PLANTS  # noqa: E402
from sharded import ShardedWorld  # noqa: E402
from world import World  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
CI_TAKEOVERS, CI_SECONDS = 30, 210


def say(text):
    print(text, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", nargs="?", default=str(ROOT / "build/release/weir-server"))
    parser.add_argument("--ci", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--takeovers", type=int, default=30, help="how many there are to be")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new fault after so many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fault", action="append", default=[], help="only this one; may be given again")
    parser.add_argument("--engine", "--log", choices=("postgres", "nats", "mixed", "file"), default="postgres",
                        help="what keeps the log; mixed: of one shard after the other PostgreSQL and NATS")
    parser.add_argument("--shards", type=int, default=1, choices=range(1, 6), help="of one cluster, whose callers are led")
    parser.add_argument("--members", type=int, choices=(2, 3), default=3)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--pace-ms", type=float, default=6, help="between two requests, of all clients together")
    parser.add_argument("--failover-after-ms", type=int, default=1000)
    parser.add_argument("--option", action="append", default=[], help="of each member: --option=--name=value")
    parser.add_argument("--plant", choices=sorted(PLANTS))
    parser.add_argument("--figures", metavar="FILE", help="append the figures, for measure.py")
    parser.add_argument("--keep", action="store_true", help="what a clean run has written, too")
    args = parser.parse_args()
    args.server = os.path.abspath(args.server)
    if not args.list and not os.access(args.server, os.X_OK):
        parser.error(f"{args.server} is no program: build it by tools/build release, or name another")
    args.option = [word for option in args.option for word in option.split("=", 1)]
    unknown = [name for name in args.fault if name not in FAULTS]
    if unknown:
        parser.error(f"no such fault: {unknown[0]}; there are {', '.join(sorted(FAULTS))}")
    if args.ci:
        args.takeovers, args.seconds = CI_TAKEOVERS, CI_SECONDS
    if args.shards == 1 and args.engine == "mixed" or args.shards > 1 and (args.plant or args.engine == "file"):
        parser.error("several shards are over postgres, nats or mixed, without --plant; one is not mixed")
    if args.plant in OF_NATS and args.engine != "nats":
        parser.error(f"{args.plant} is of --engine nats")
    if args.plant:
        args.takeovers, args.fault = 2, ["kill"]
    return args


def judge(world, args, done):
    """The failures of a run, after its last fault."""
    for one in world.worlds():
        one.watcher.running = False  # what the judge moves is no takeover
    if not args.plant or args.plant in AT_REST:
        world.callers.end()
    more = PLANTS[args.plant](world) if args.plant else []
    world.callers.end()
    entries = journal.read(world.callers.paths() + more)
    broken, lines = world.judge_shards(done, entries)
    counts = [one.counts(clients.all_keys(one.tag), clients.read_count) for one in world.worlds()]
    if args.ci and world.takeovers() < CI_TAKEOVERS // 2:
        world.breach(f"{world.takeovers()} takeovers in {args.seconds} s are too few to tell anything")
    deaths = [f"{member.name} died with {code}" for member in world.members for code in member.deaths if code < 0]
    if None in counts:
        return broken + world.breaches + deaths
    verdict = checker.check(entries, {key: count for of_shard in counts for key, count in of_shard.items()})
    report(world, args, done, entries, verdict)
    for line in lines:
        say(line)
    return verdict.failures(world.may_lose) + broken + world.breaches + deaths


def report(world, args, done, entries, verdict):
    ends = [code for member in world.members for code in member.deaths]
    worlds = world.worlds()
    takeovers, renewals = sum(step.takeovers for step in done), sum(one.watcher.renewals for one in worlds)
    rewinds, stopped = sum(one.rewinds() for one in worlds), sum(one.stopped for one in worlds)
    say(f"\nseed {args.seed}, {args.shards} shards of {args.members} members, failover-after {args.failover_after_ms} ms: "
        f"{takeovers} takeovers and {renewals} claims anew of primaries in {len(done)} steps; {verdict.line()}")
    for line in world.engine_lines():
        say(f"{line}, which {rewinds} times was found to have lost its end")
    given_up = sum(member.given_up for member in [*world.members, *[one.fresh for one in worlds]])
    say(f"members that ended by themselves: {len(ends)}; that could not start without data and log: {given_up}; that stopped and had to begin anew: {stopped}")
    for note in sorted({note for one in worlds for note in one.notes}):
        say("note: " + note)
    if world.may_lose:
        say(f"what this log may lose, and lost: {verdict.forgotten} grants")
        for loss in verdict.losses:
            say("lost: " + loss)
    for one in worlds:
        measure.measure([step for step in done if one.place.shard in step.hit],
                        [entry for entry in entries if entry.key.endswith(one.tag)], one.log_back, one.elections)
    for line in measure.table(done):
        say(line)
    if args.figures:
        totals = {"takeovers": takeovers, "renewals": renewals, "faults": len(done),
                  "granted": verdict.acknowledged, "read": verdict.reads, "refused": verdict.refused,
                  "unknown": verdict.unknown, "forgotten": verdict.forgotten, "ran back": verdict.ran_back,
                  "laws broken": len(verdict.failures(False)), "rewinds": rewinds, "members stopped": stopped}
        measure.save(args.figures, done, totals)


def run(args):
    begin = time.monotonic()
    folder = isolation.make_folder()
    world = ShardedWorld(args, folder) if args.shards > 1 else World.of_one(args, folder)
    world.start()
    try:
        done = steps.run(world, args, say)
        failures = judge(world, args, done)
    except (AssertionError, RuntimeError, OSError, subprocess.SubprocessError, Refused, Away):
        failures = ["the run could not go on: " + traceback.format_exc()]
    name = f"{args.plant or args.seed}"
    if failures or args.keep:
        kept = str(ROOT / "build/chaos" / name)
        world.keep(kept)
        say(f"kept: {kept}")
    for failure in failures:
        say("BROKEN: " + failure)
    say(f"{time.monotonic() - begin:.0f} s in all, {time.process_time():.0f} s of processor time in this program")
    if args.plant:
        say("the planted fault was found" if failures else "NOBODY HAS FOUND the planted fault")
        return 0 if failures else 1
    if not failures and args.takeovers > world.takeovers() and not args.ci:
        say("the time was over before there were as many takeovers")
    return 1 if failures else 0


def main():
    args = arguments()
    if args.list:
        for name in sorted(FAULTS):
            missing = "  (not on this machine)" if name in left_out(args) else ""
            print(f"{name:28} {' '.join(FAULTS[name].run.__doc__.split())}{missing}")
        return 0
    has_nats = args.engine in ("nats", "mixed")
    if has_nats:
        nats.find_program()
    isolation.enter(nats.PROGRAMS if has_nats else {})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if left_out(args):
        say(f"not here: {', '.join(left_out(args))}")
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
