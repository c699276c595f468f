"""What can go wrong with PostgreSQL, and with the way weir speaks to it.

Beside one of these only a member's fault is made, since two of the database at once could take both copies
of what was acknowledged.
"""

import os
import signal
import time

import isolation
from faults import fault, long_or_short

LONG_AWAY_S = int(os.environ.get("WEIR_LONG_AWAY_S", "120"))


def wait_for_appends(world, seconds):
    """So long is the database looked at: weir never has more than two connections a member."""
    for _ in range(int(seconds * 4) + 1):
        try:
            world.count_backends()
        except RuntimeError:
            pass
        yield 0.25


def log_is_back(world):
    world.engine.wait_synchronous()
    world.log_back.append(time.monotonic_ns())


def cut_off_weir(world):
    world.engine.primary.ask("select pg_terminate_backend(pid) from pg_stat_activity "
                               "where application_name = 'weir'")


@fault("pg-restart", 3, needs="postgres")
def pg_restart(world):
    """kill -9 of the database's primary, and its restart."""
    server = world.engine.primary
    server.kill()
    yield long_or_short(world.rng, 0.1, 4)
    server.start(wait=False)
    server.wait_ready()
    log_is_back(world)


@fault("pg-stop", 2, needs="postgres")
def pg_stop(world):
    """SIGSTOP of all processes of the database's primary."""
    server = world.engine.primary
    server.signal_all(signal.SIGSTOP)
    yield long_or_short(world.rng, 0.2, 5)
    server.signal_all(signal.SIGCONT)


@fault("pg-link-down", 2, needs="postgres")
def pg_link_down(world):
    """Nobody reaches the database's primary, its standby included."""
    server = world.engine.primary
    server.machine.cut()
    yield long_or_short(world.rng, 0.3, 5)
    server.machine.mend()
    log_is_back(world)


@fault("pg-promote", 2, needs="postgres")
def pg_promote(world):
    """The database's primary dies; the synchronous standby has all that was acknowledged, and is promoted. Sometimes the
    primary dies with it."""
    primary = world.primary(1)
    world.engine.primary.kill()
    if world.rng.random() < 0.3:
        primary.kill()
    yield long_or_short(world.rng, 0.1, 3)
    world.engine.promote()
    yield world.rng.uniform(0, 1)
    world.engine.rejoin()
    log_is_back(world)


@fault("pg-promote-unfenced", 2, needs="postgres", rewinds=True)
def pg_promote_unfenced(world):
    """The standby is promoted while the database's old primary lives and is reachable: it acknowledges nothing more."""
    world.engine.promote()
    yield long_or_short(world.rng, 0.5, 6)
    world.engine.standby.kill()
    yield world.rng.uniform(0, 1)
    world.engine.rejoin()
    log_is_back(world)


@fault("pg-visible-row", 3, needs="postgres", rewinds=True)
def pg_visible_row(world):
    """Rows that are visible and that no replica has, since their server was killed while it waited for one;
    then the replica is promoted, and they are gone. Sometimes all members begin anew on what is left, or only
    the primary has read them and dies."""
    database, ending = world.engine, world.rng.choice(("all live", "all live", "all begin anew", "the primary dies"))
    primary = world.primary(2)
    others = [member for member in world.members if member is not primary]
    database.standby.kill()
    yield world.rng.choice((0.25, 0.7))  # replies are held for two seconds and then given up
    database.primary.kill()
    if ending == "the primary dies":
        for member in others:
            member.stop_running()
    database.primary.start()
    yield world.rng.uniform(1.2, 2.5)
    database.primary.kill()
    for member in {"all live": [], "all begin anew": world.members, "the primary dies": [primary]}[ending]:
        member.kill()
    database.standby.start()
    database.promote()
    for member in world.members if ending == "all begin anew" else others:
        member.go_on()
        member.start()
    yield 3.5 if ending == "the primary dies" else 0.3
    primary.start()
    database.rejoin()
    log_is_back(world)


@fault("pg-cancel", 2, needs="postgres", rewinds=True)
def pg_cancel(world):
    """An append that waits for the standby is cancelled: it stands in the database's primary, and is not acknowledged.
    Then the standby comes back, or takes over without it."""
    database = world.engine
    database.standby.kill()
    for _ in range(world.rng.randrange(2, 8)):
        yield 0.3
        database.primary.ask("select pg_cancel_backend(pid) from pg_stat_activity "
                             "where application_name = 'weir' and wait_event = 'SyncRep'")
    if world.rng.random() < 0.5:
        database.standby.start()
        log_is_back(world)
        return
    database.primary.kill()
    database.standby.start()
    database.promote()
    database.rejoin()
    log_is_back(world)


@fault("pg-terminate", 2, needs="postgres")
def pg_terminate(world):
    """weir's connections are ended, again and again."""
    for _ in range(world.rng.randrange(1, 6)):
        cut_off_weir(world)
        yield world.rng.uniform(0.05, 0.5)


@fault("pg-standby-away", 2, needs="postgres")
def pg_standby_away(world):
    """Appends wait for it, which is dead or out of reach; sometimes the primary dies meanwhile."""
    database = world.engine
    if world.rng.random() < 0.5:
        database.standby.kill()
    else:
        database.standby.machine.drop("in", [database.primary.host])
    yield from wait_for_appends(world, world.rng.uniform(1, 4))
    if world.rng.random() < 0.5:
        primary = world.primary(1)
        primary.kill()
        yield from wait_for_appends(world, world.rng.uniform(1, 3))
        primary.start()
    database.standby.machine.pass_all()
    database.standby.start()
    log_is_back(world)


@fault("pg-standby-long-away", 0, needs="postgres")
def pg_standby_long_away(world):
    """For minutes; and another application of the same server goes on reading all the time."""
    database = world.engine
    database.standby.kill()
    for _ in range(LONG_AWAY_S // 12):
        yield from wait_for_appends(world, 12)
        if database.primary.ask("select count(*) > 0 from weir_log") != "t":
            world.breach("another application is not served while the standby is away")
    database.standby.start()
    log_is_back(world)


@fault("pg-read-only", 2, needs="postgres")
def pg_read_only(world):
    """Every session of weir's is one that may not write."""
    primary = world.engine.primary
    primary.ask("alter database weir set default_transaction_read_only = on", database="postgres", writes=True)
    cut_off_weir(world)
    yield world.rng.uniform(0.5, 4)
    primary.ask("alter database weir reset default_transaction_read_only", database="postgres", writes=True)
    cut_off_weir(world)


@fault("pg-disk-full", 2, needs="postgres")
def pg_disk_full(world):
    """Of the database's primary: appends fail, or it ends."""
    server = world.engine.primary
    ballast = isolation.fill_disk(server.folder)
    yield world.rng.uniform(1, 5)
    os.remove(ballast)
    if not server.lives():
        server.start(wait=False)
    server.wait_ready()
    log_is_back(world)


def promote_behind(world, primary_dies):
    """The standby is asynchronous and behind when the server that it follows dies, and it is promoted."""
    database = world.engine
    database.set("synchronous_standby_names", "")
    yield 0.3
    database.standby.machine.drop("in", [database.primary.host])
    yield long_or_short(world.rng, 0.1, 1.5)
    primary = world.primary(1)
    if primary_dies:
        primary.kill()
    database.primary.kill()
    database.standby.machine.pass_all()
    yield world.rng.uniform(0, 1)
    database.promote()
    database.set("synchronous_standby_names", "")
    yield 2.0
    if primary_dies:
        primary.start()
    database.rejoin()
    log_is_back(world)


@fault("pg-promote-async", 0, needs="postgres", is_lossy=True, rewinds=True)
def pg_promote_async(world):
    """What the log has lost is put back by the primary, which lives."""
    yield from promote_behind(world, primary_dies=False)


@fault("pg-promote-async-primary-dies", 0, needs="postgres", is_lossy=True, rewinds=True)
def pg_promote_async_primary_dies(world):
    """What the log has lost is put back by the next primary, as far as it had read it."""
    yield from promote_behind(world, primary_dies=True)
