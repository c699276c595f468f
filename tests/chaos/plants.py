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
    world.database.primary.ask(
        "delete from weir_log where at > (select last / 2 from weir_head); "
        "update weir_head set last = l.at, crc = l.crc from weir_log l where l.at = (select max(at) from weir_log)")
    for member in world.members:
        member.start()
    world.settle()
    time.sleep(1)
    return []


def hole(world):
    """A record in the middle of the log is gone."""
    world.database.primary.ask("delete from weir_log where at = (select max(at) / 2 from weir_log)")
    return []


def emptied_state(world):
    """The log is emptied, and members with empty directories go on as if nothing had been."""
    for member in world.members:
        member.kill()
        member.forget_all()
    world.database.primary.ask("delete from weir_log; delete from weir_head; delete from weir_board")
    world.members[0].make_shard(world.log)
    for member in world.members:
        member.start()
    world.settle()
    time.sleep(1)
    return []


# What is done to the journal or to the log at the end; the others go on with clients.
AT_REST = ("forged-grant", "stale-read", "hole")
PLANTS = {"forged-grant": forged_grant, "stale-read": stale_read, "lost-records": lost_records, "hole": hole,
          "emptied-state": emptied_state}
