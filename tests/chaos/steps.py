"""Runs faults one after the other, two at once now and then, and waits for everything to be whole again."""

import heapq
import time

import measure
from faults import FAULTS, available, is_of_engine

TWO_AT_ONCE = 0.2


# What --ci has time for over NATS, whose elections take seconds: these once, then those that take few.
CI_OF_NATS = ("nats-leader-and-primary", "nats-leader-kill", "nats-leader-deaf", "nats-two-restart", "nats-all-restart",
              "nats-power-cut", "nats-server-emptied", "kill", "stop", "link-down", "to-log-lost", "from-log-lost",
              "quiet-primary", "switchover", "takeover")
QUICK = ("kill", "switchover", "takeover")
# Of several shards: what one cannot have, each once, and then much of what takes little time.
CI_OF_SHARDS = ("kill-each", "shards-apart", "apart-and-kill", "old-maps", "rolling", "pg-promote-and-primaries",
                "nats-kill-and-primaries", "kill", "to-log-lost", "clock", "quiet-primary")
QUICK_OF_SHARDS = (*QUICK, "kill-each")


def names_for(args, done):
    here = available(args)
    if args.fault or not args.ci or (args.engine != "nats" and args.shards == 1):
        return args.fault or here
    first, quick = (CI_OF_SHARDS, QUICK_OF_SHARDS) if args.shards > 1 else (CI_OF_NATS, QUICK)
    first = [name for name in first if name in here]
    return quick if done.issuperset(first) else first


def choose(world, args, done):
    """Each fault once, and then by their weights."""
    names = names_for(args, done)
    todo = [name for name in names if name not in done and (FAULTS[name].weight or args.fault)]
    if todo:
        first = world.rng.choice(todo)
    else:
        weights = [FAULTS[name].weight or (1 if args.fault else 0) for name in names]
        first = world.rng.choices(names, weights)[0]
    # At most one of the engine: what it breaks, a second could not ask about.
    # A cold start with a clock of another hour forgets IDs, and may.
    others = [name for name in names if name != first and FAULTS[name].weight and {name, first} != {"clock", "kill-all"}
              and not (is_of_engine(name) and is_of_engine(first))]
    if others and world.rng.random() < TWO_AT_ONCE:
        return [first, world.rng.choice(others)]
    return [first]


def run_together(world, drawn):
    """Each goes its own way; what one has to wait for, the others wait for as well."""
    now = time.monotonic()
    due = [(now + number * world.rng.uniform(0, 1), number, FAULTS[name].run(target))
           for number, (name, target) in enumerate(drawn)]
    heapq.heapify(due)
    while due:
        at, number, running = heapq.heappop(due)
        time.sleep(max(0, at - time.monotonic()))
        wait_s = next(running, None)
        if wait_s is not None:
            heapq.heappush(due, (time.monotonic() + wait_s, number, running))


def run(world, args, say):
    steps, done = [], set()
    begin = time.monotonic()
    while world.takeovers() < args.takeovers and time.monotonic() < begin + args.seconds and not world.breaches:
        names = choose(world, args, done)
        done.update(names)
        ended = sum(len(member.deaths) for member in world.members)
        before, sent = world.takeovers(), time.monotonic_ns()
        world.let_rewind(any(FAULTS[name].rewinds for name in names))
        drawn = [(name, *world.draw(name)) for name in names]
        run_together(world, [(name, target) for name, target, _ in drawn])
        whole = world.settle()
        hit = sorted({shard for *_, shards in drawn for shard in shards})
        step = measure.Step(names, sent, time.monotonic_ns(), world.takeovers() - before, hit)
        steps.append(step)
        say(f"{time.monotonic() - begin:6.1f} s  {'+'.join(names):32} {(step.ended - step.began) / 1e9:5.1f} s, "
            f"{step.takeovers} takeovers, {world.callers.acknowledged()} acknowledged")
        if sum(len(member.deaths) for member in world.members) > ended and "disk-full" not in names:
            world.breach("a member ended by itself: " + str({member.name: member.deaths for member in world.members}))
        if world.callers.failures():
            world.breach(f"a client was told what it did not expect: {world.callers.failures()[0]}")
        if not whole:
            break
        time.sleep(world.rng.uniform(0.1, 0.6))
    return steps
