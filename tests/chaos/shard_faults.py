"""What can go wrong with several shards at once, and between them. `world` is all of them (sharded.py)."""

import os
import shutil
import time

from faults import fault, long_or_short
from members import Away, Refused

BETWEEN_RESTARTS_S = 1.5


def start_all(members):
    for member in members:
        member.start()


@fault("kill-each", 6, needs="shards")
def kill_each(world):
    """kill -9 of each shard's primary in turn, sometimes of all at the same instant."""
    pause_s = world.rng.choice((0, 0, 0.3, 1.5))
    dead = []
    for shard in world.shuffled():
        dead.append(shard.primary(2))
        dead[-1].kill()
        yield pause_s
    yield world.rng.uniform(0.05, 3)
    start_all(dead)


@fault("shards-apart", 3, needs="shards", cuts=True)
def shards_apart(world):
    """Members of different shards do not hear of one another; callers and the log reach all of them."""
    alone = world.rng.choice(world.shards)
    others = [member.host for member in world.members if member not in alone.members]
    ways = world.rng.choice((("in",), ("out",), ("in", "out")))
    for member in alone.members:
        for way in ways:
            member.machine.drop(way, others)
    yield long_or_short(world.rng, 0.5, 8)
    for member in alone.members:
        member.machine.pass_all()


@fault("apart-and-kill", 2, needs="shards", cuts=True)
def apart_and_kill(world):
    """The same, and meanwhile a primary dies on each side: the others hear of it when the links are whole."""
    alone, other = world.rng.sample(world.shards, 2)
    others = [member.host for member in world.members if member not in alone.members]
    for member in alone.members:
        member.machine.drop("in", others)
    dead = [alone.primary(2), other.primary(2)]
    for member in dead:
        member.kill()
    yield world.rng.uniform(1, 5)
    for member in alone.members:
        member.machine.pass_all()
    yield world.rng.uniform(0, 1)
    start_all(dead)


@fault("old-maps", 4, needs="shards")
def old_maps(world):
    """Members begin with the file CLUSTER of before some promotions, with the others or without."""
    kept = {member: member.data() + "/CLUSTER.before" for member in world.members}
    for member, path in kept.items():
        shutil.copy(member.data() + "/CLUSTER", path)
        shutil.copy(path, f"{world.folder}/{member.name}-CLUSTER-{time.monotonic_ns()}.log")  # kept with the others
    for shard in world.shuffled():
        primary = shard.primary(2)
        others = [member for member in shard.members if member is not primary]
        try:
            primary.ask("WEIR", "SWITCHOVER", world.rng.choice(others).status()["node"])
        except (Away, Refused):
            pass
        yield 0.3
    chosen = world.rng.choice((world.members, world.rng.sample(world.members, 2), world.rng.choice(world.shards).members))
    for member in chosen:
        member.kill()
        os.replace(kept[member], member.data() + "/CLUSTER")
    yield world.rng.uniform(0, 0.5)
    start_all(chosen)


@fault("rolling", 3, needs="shards")
def rolling(world):
    """Every member of every shard is told to end, one after the other, and starts again."""
    for member in world.rng.sample(world.members, len(world.members)):
        member.end_well()
        member.start()
        yield BETWEEN_RESTARTS_S


@fault("pg-promote-and-primaries", 3, needs="shards postgres")
def pg_promote_and_primaries(world):
    """The database's primary and every shard's die at the same instant; the database's standby is promoted."""
    engine, victims = world.engines["postgres"], world.on("postgres")
    dead = [shard.primary(2) for shard in victims]
    engine.primary.kill()
    for member in dead:
        member.kill()
    yield long_or_short(world.rng, 0.1, 3)
    engine.promote()
    yield world.rng.uniform(0, 2)
    start_all(dead)
    engine.rejoin()
    world.log_is_back(victims)


@fault("nats-kill-and-primaries", 3, needs="shards nats")
def nats_kill_and_primaries(world):
    """A server of NATS that leads a shard's stream and every shard's primary die at the same instant."""
    victims = world.on("nats")
    leader = world.rng.choice(victims).engine.await_leader()
    dead = [shard.primary(2) for shard in victims]
    leader.kill()
    for member in dead:
        member.kill()
    yield world.rng.uniform(0.5, 8)
    start_all(dead)
    leader.start()
    for shard in victims:
        shard.engine.await_leader()
    world.log_is_back(victims)
    victims[0].engine.wait_whole()
