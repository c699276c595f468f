"""Faults that are planted to see the checker find them. Each is done to a run that was clean until then."""

import time

from journal import Writer


def forged_grant(world):
    """A grant in a journal that nobody gave."""
    forged = Writer(f"{world.folder}/client-forged.journal")
    for _ in range(50):  # more than are unknown
        forged.send("take", "l0")
        forged.reply(1)
    return [forged.file.name]


def stale_read(world):
    """A reply that is older than others before it."""
    forged = Writer(f"{world.folder}/client-forged.journal")
    forged.send("get", "c0")
    forged.reply(1)
    return [forged.file.name]


def lost_records(world):
    """The log's last records are gone while no member is there that has them."""
    for member in world.members:
        member.kill()
        member.forget_all()
    world.engine.lose_second_half()
    for member in world.members:
        member.start()
    world.settle()
    time.sleep(1)
    return []


def hole(world):
    """A record in the middle of the log is gone."""
    world.engine.lose_one_in_the_middle()
    return []


def emptied_state(world):
    """The log is emptied, and members with empty directories go on as if nothing had been."""
    for member in world.members:
        member.kill()
        member.forget_all()
    world.engine.empty()
    world.make_shard()
    for member in world.members:
        member.start()
    world.settle()
    time.sleep(1)
    return []


def lazy_sync(world):
    """NATS syncs every two minutes, as it does by default, and its power is cut while no member has the log."""
    for server in world.engine.servers:
        server.kill()
        server.sync = "2m"
        server.start()
    world.engine.wait_whole()
    world.settle()
    time.sleep(3)
    for member in world.members:
        member.kill()
        member.forget_all()
    world.engine.cut_power(world.engine.servers)
    for server in world.engine.servers:
        server.start()
    for member in world.members:
        member.start()
    world.settle()
    time.sleep(1)
    return []


# What is done to the journal or to the log at the end; the others go on with clients.
AT_REST = ("forged-grant", "stale-read", "hole")
PLANTS = {"forged-grant": forged_grant, "stale-read": stale_read, "lost-records": lost_records, "hole": hole,
          "emptied-state": emptied_state, "lazy-sync": lazy_sync}
OF_NATS = ("lazy-sync",)
