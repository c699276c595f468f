"""What can go wrong with members. Each fault is a generator: it breaks something, yields for how many seconds
that lasts (or for how long to wait for the next step), and mends it when it is gone on with.
"""

import dataclasses
import os
import typing

import isolation
import network
from members import FAKETIME, Away, Refused


@dataclasses.dataclass
class Fault:
    name: str
    run: typing.Callable
    weight: int
    needs: str = ""        # "postgres", "nats", "engine" (either of them), "faketime", or "shards": words of them
    is_lossy: bool = False  # what was acknowledged may be lost: only where it is asked for by name
    rewinds: bool = False   # what members have read, and nobody was told of, may vanish from the log
    cuts: bool = False      # members cannot hear of one another meanwhile

    def words(self):
        return set(self.needs.split())


FAULTS = {}
ENGINES_OF = {"mixed": ["postgres", "nats"]}


def fault(name, weight, **more):
    def add(run):
        FAULTS[name] = Fault(name, run, weight, **more)
        return run
    return add


def long_or_short(rng, least, most):
    """As many of a tenth of a second as of several."""
    return least * (most / least) ** rng.random()


def victim(world):
    """Mostly the primary."""
    return world.primary(2) if world.rng.random() < 0.8 else world.rng.choice(world.members)


@fault("kill", 6)
def kill(world):
    """kill -9 of a member, mostly of the primary, and its restart a while later."""
    member = victim(world)
    member.kill()
    yield world.rng.uniform(0.05, 3)
    member.start()


@fault("kill-all", 1)
def kill_all(world):
    """kill -9 of all members; each replays its log, and one claims."""
    for member in world.members:
        member.kill()
    yield 0.2
    for member in world.members:
        member.start()
        yield world.rng.uniform(0, 0.5)


@fault("stop", 4, cuts=True)
def stop(world):
    """SIGSTOP for a tenth of a second to ten seconds: it wakes and does not know."""
    member = victim(world)
    member.stop_running()
    yield long_or_short(world.rng, 0.1, 10)
    member.go_on()


@fault("link-down", 3, cuts=True)
def link_down(world):
    """Nobody reaches the member, and it reaches nobody."""
    member = victim(world)
    member.machine.cut()
    yield long_or_short(world.rng, 0.3, 6)
    member.machine.mend()


@fault("to-log-lost", 2, needs="engine")
def to_log_lost(world):
    """What it sends to the log vanishes; clients reach it all the time."""
    yield from one_way(world, "out", world.engine.hosts())


@fault("from-log-lost", 2, needs="engine")
def from_log_lost(world):
    """What it appends arrives, and it is not told so."""
    yield from one_way(world, "in", world.engine.hosts())


@fault("to-clients-lost", 1)
def to_clients_lost(world):
    """Requests arrive, replies do not; it stays the primary."""
    yield from one_way(world, "out", [network.CLIENTS])


def one_way(world, way, hosts):
    member = victim(world)
    member.machine.drop(way, hosts)
    yield long_or_short(world.rng, 0.5, 6)
    member.machine.pass_all()


@fault("slow-link", 2, cuts=True)
def slow_link(world):
    """50 ms more each way, and every twentieth packet lost."""
    member = victim(world)
    member.machine.slow(delay_ms=50, loss_percent=5, seed=world.rng.randrange(1 << 30))
    yield world.rng.uniform(2, 5)
    member.machine.quick()


@fault("clock", 2, needs="faketime")
def clock(world):
    """Its wall clock steps, and then it is demoted with that clock, or does not."""
    member = victim(world)
    member.set_clock(world.rng.choice((-3600, 3600, -1, 1)))
    yield 1.5
    if world.rng.random() < 0.5:
        member.kill()
        yield 1.5
        member.start()
    member.set_clock(0)
    yield 1.2


@fault("disk-full", 2)
def disk_full(world):
    """No byte more has room beside its data. A member whose disk fails ends by itself."""
    member = victim(world)
    ballast = isolation.fill_disk(member.disk)
    yield world.rng.uniform(1, 5)
    os.remove(ballast)


@fault("switchover", 2)
def switchover(world):
    """Ordered: a switchover."""
    primary = world.primary(2)
    to = world.rng.choice([member for member in world.members if member is not primary])
    try:
        primary.ask("WEIR", "SWITCHOVER", to.status()["node"])
    except (Away, Refused):
        pass
    yield 0.5


@fault("takeover", 1)
def takeover(world):
    """An operator's, at a standby."""
    primary = world.primary(2)
    try:
        world.rng.choice([member for member in world.members if member is not primary]).ask("WEIR", "TAKEOVER")
    except (Away, Refused):
        pass
    yield 1.0


@fault("quiet-primary", 3, needs="engine")
def quiet_primary(world):
    """It is demoted while nobody writes at it, so that no reply waits for a commit; others write at its
    successor at once. Those who go on reading at it must not be told old counts."""
    primary = world.primary(2)
    others = [member for member in world.members if member is not primary]
    way = world.rng.choice(("out", "in", "stop", "takeover", "switchover"))
    world.callers.rest()
    try:
        if way == "stop":
            primary.stop_running()
        elif way == "takeover":
            world.rng.choice(others).ask("WEIR", "TAKEOVER")
        elif way == "switchover":
            primary.ask("WEIR", "SWITCHOVER", world.rng.choice(others).status()["node"])
        else:
            primary.machine.drop(way, world.engine.hosts())
    except (Away, Refused):
        pass
    world.callers.go_on(avoiding=primary.host)
    yield world.rng.uniform(1.5, 4)
    primary.go_on()
    primary.machine.pass_all()
    yield 0.3
    world.callers.go_on()


def available(args):
    """Names of those that this machine and this log can have, but the lossy ones."""
    here = {*ENGINES_OF.get(args.engine, [args.engine]), *(["engine"] if args.engine != "file" else []),
            *(["faketime"] if os.path.exists(FAKETIME) else []), *(["shards"] if args.shards > 1 else [])}
    return [name for name, each in FAULTS.items() if each.words() <= here and not each.is_lossy]


def left_out(args):
    """Names of those that this machine cannot have."""
    return [name for name, each in FAULTS.items()
            if each.words() <= {"faketime"} and not each.is_lossy and name not in available(args)]


def is_of_engine(name):
    return bool(FAULTS[name].words() & {"postgres", "nats"})
