"""What can go wrong with a cluster of NATS. Nothing that it has acknowledged may be lost by these.

Beside one of these only a member's fault is made, since two of the cluster at once could take two copies of
what was acknowledged. Each ends when all servers have caught up.
"""

import os
import signal
import time

import isolation
from faults import fault, long_or_short
from jetstream import NoAnswer

ELECTION_S = 45


def elect(world, gone, patience_s=None):
    """So long as nobody but that server leads the stream, or no longer than that; how long it was is noted."""
    since, looked = time.monotonic_ns(), 0
    while (time.monotonic_ns() - since) / 1e9 < (patience_s or ELECTION_S):
        if world.engine.leader(without=gone):
            if looked:  # else it did not lead
                world.elections.append((since, time.monotonic_ns()))
            return
        looked += 1
        yield 0.03
    if patience_s is None:
        world.breach(f"NATS has elected no leader in {ELECTION_S} s")


def log_is_back(world):
    """The stream has a leader; then the servers catch up."""
    world.engine.await_leader()
    world.log_back.append(time.monotonic_ns())
    world.engine.wait_whole()


def patience(rng):
    """Mostly until another server leads."""
    return long_or_short(rng, 0.2, 10) if rng.random() < 0.3 else None


def start_in_turn(world, servers):
    world.rng.shuffle(servers)
    for server in servers:
        server.start()
        yield world.rng.choice((0, 0, world.rng.uniform(0, 3)))


@fault("nats-leader-kill", 4, needs="nats")
def nats_leader_kill(world):
    """kill -9 of the server that leads the stream; it comes back soon, or after another one leads."""
    leader = world.engine.await_leader()
    leader.kill()
    if world.rng.random() < 0.2:
        yield world.rng.uniform(0, 1)
    else:
        yield from elect(world, leader)
        yield long_or_short(world.rng, 0.1, 4)
    leader.start()
    log_is_back(world)


@fault("nats-leader-and-primary", 4, needs="nats")
def nats_leader_and_primary(world):
    """The server that leads the stream and the primary die at the same instant."""
    primary, leader = world.primary(2), world.engine.await_leader()
    leader.kill()
    primary.kill()
    yield from elect(world, leader)
    yield world.rng.uniform(3, 6)
    primary.start()
    leader.start()
    log_is_back(world)


@fault("nats-leader-stop", 3, needs="nats")
def nats_leader_stop(world):
    """SIGSTOP of the stream's leader: it wakes, and does not know that another one leads."""
    leader = world.engine.await_leader()
    leader.signal(signal.SIGSTOP)
    yield from elect(world, leader, patience(world.rng))
    yield world.rng.uniform(0, 1)
    leader.signal(signal.SIGCONT)
    log_is_back(world)


@fault("nats-leader-cut", 3, needs="nats")
def nats_leader_cut(world):
    """Nobody reaches the stream's leader, and it reaches nobody."""
    leader = world.engine.await_leader()
    leader.machine.cut()
    yield from elect(world, leader, patience(world.rng))
    yield world.rng.uniform(0, 2)
    leader.machine.mend()
    log_is_back(world)


@fault("nats-leader-deaf", 3, needs="nats")
def nats_leader_deaf(world):
    """Members reach the stream's leader, but between it and the other servers packets of one direction vanish,
    or of both."""
    leader = world.engine.await_leader()
    others = [server.host for server in world.engine.others(leader)]
    for way in world.rng.choice((("in",), ("out",), ("in", "out"))):
        leader.machine.drop(way, others)
    yield long_or_short(world.rng, 0.5, 15)
    leader.machine.pass_all()
    log_is_back(world)


@fault("nats-leader-slow", 2, needs="nats")
def nats_leader_slow(world):
    """50 ms more each way to and from the stream's leader, and every twentieth packet lost."""
    leader = world.engine.await_leader()
    leader.machine.slow(delay_ms=50, loss_percent=5, seed=world.rng.randrange(1 << 30))
    yield world.rng.uniform(2, 5)
    leader.machine.quick()
    log_is_back(world)


@fault("nats-leader-moves", 2, needs="nats")
def nats_leader_moves(world):
    """Ordered: another server leads the stream, again and again."""
    for _ in range(world.rng.randrange(1, 5)):
        try:
            world.engine.ask("STREAM.LEADER.STEPDOWN." + world.engine.stream)
        except NoAnswer:
            pass
        yield world.rng.uniform(0.05, 2)
    log_is_back(world)


@fault("nats-follower-kill", 2, needs="nats")
def nats_follower_kill(world):
    """kill -9 of a server that does not lead the stream; members may be connected to it."""
    server = world.rng.choice(world.engine.others(world.engine.await_leader()))
    server.kill()
    yield long_or_short(world.rng, 0.1, 5)
    server.start()
    log_is_back(world)


@fault("nats-two-restart", 3, needs="nats")
def nats_two_restart(world):
    """kill -9 of two of three servers, and their restart. Sometimes the primary dies meanwhile."""
    primary, victims = world.primary(1), world.rng.sample(world.engine.servers, 2)
    for server in victims:
        server.kill()
        yield world.rng.choice((0, 0.5))
    if world.rng.random() < 0.3:
        primary.kill()
    yield long_or_short(world.rng, 0.1, 5)
    yield from start_in_turn(world, victims)
    log_is_back(world)


@fault("nats-all-restart", 2, needs="nats")
def nats_all_restart(world):
    """kill -9 of all three servers, and their restart."""
    for server in world.engine.servers:
        server.kill()
    yield long_or_short(world.rng, 0.1, 4)
    yield from start_in_turn(world, list(world.engine.servers))
    log_is_back(world)


@fault("nats-power-cut", 3, needs="nats")
def nats_power_cut(world):
    """The power of the leader, of two servers or of all three is cut: what they have not synced is gone. Sometimes
    the primary dies with them."""
    leader, primary = world.engine.await_leader(), world.primary(1)
    victims = [leader, *world.engine.others(leader)][:world.rng.choice((1, 2, 3, 3))]
    if world.rng.random() < 0.3:
        primary.kill()
    world.engine.cut_power(victims)
    yield long_or_short(world.rng, 0.1, 4)
    yield from start_in_turn(world, victims)
    log_is_back(world)


@fault("nats-disk-full", 2, needs="nats")
def nats_disk_full(world):
    """Of the stream's leader. Whatever it does then, it is restarted when there is room again."""
    leader = world.engine.await_leader()
    ballast = isolation.fill_disk(leader.folder)
    yield world.rng.uniform(1, 6)
    os.remove(ballast)
    yield world.rng.uniform(0, 1)
    leader.kill()
    leader.start()
    log_is_back(world)


@fault("nats-server-emptied", 2, needs="nats")
def nats_server_emptied(world):
    """A server, mostly the leader, is replaced by one of its name with an empty disk, while the others live and
    have everything."""
    leader = world.engine.await_leader()
    server = leader if world.rng.random() < 0.6 else world.rng.choice(world.engine.others(leader))
    server.kill()
    server.forget_all()
    if world.rng.random() < 0.5:
        yield from elect(world, server)
        yield world.rng.uniform(0, 3)
    server.start()
    log_is_back(world)


@fault("nats-server-replaced", 2, needs="nats")
def nats_server_replaced(world):
    """A server dies, the operator removes it from the cluster, and one of another name takes its place."""
    server = world.rng.choice(world.engine.servers)
    server.kill()
    server.forget_all()
    yield from elect(world, server)
    yield from world.engine.remove(server)
    yield world.rng.uniform(0, 2)
    server.rename()
    server.start()
    log_is_back(world)


@fault("nats-emptied-behind", 0, needs="nats", is_lossy=True, rewinds=True)
def nats_emptied_behind(world):
    """A server is out of reach; one of the two that go on is replaced by an empty one of its name, and the other
    dies with the primary when the first is back. The two that are left could forget what the third one has."""
    engine, primary = world.engine, world.primary(2)
    leader = engine.await_leader()
    behind, emptied = engine.others(leader)
    behind.machine.cut()
    yield world.rng.uniform(1, 3)
    for server in (leader, emptied):
        server.kill()
    primary.kill()
    emptied.forget_all()
    behind.machine.mend()
    emptied.start()
    yield from elect(world, leader, patience_s=20)
    yield 4
    primary.start()
    leader.start()
    log_is_back(world)
