"""Requests that ended the server: a defect in a decision must cost the request, not the process."""

import time

from attacks import attack


@attack
def foreign_lease_ids(arena):
    """A limiter's dump of one server is restored on another, where its lease ids are given out
    again."""
    arena.start()
    pool = ("RL.TAKE", "pool", "CONCURRENCY", 50, "LEASE", "1h")
    first = arena.connect()
    taken = [first.call(*pool)[-1] for _ in range(20)]
    dump = first.call("DUMP", "pool")
    arena.stop()
    arena.forget_data()
    arena.server.start()
    client = arena.connect()
    with arena.bystander():
        client.call("RESTORE", "pool", 0, dump)
        fresh = [client.call(*pool)[-1] for _ in range(20)]
        arena.expect(len(set(taken + fresh)) == 40, "one id was given to two leases")
        arena.expect(all(client.call("RL.RELEASE", "pool", lease) == 1 for lease in taken + fresh),
                     "a lease could not be given back")


@attack
def equal_limits_and_a_queue(arena):
    """Two equal CONCURRENCY limits in one request, and somebody who waits for them."""
    arena.start()
    clients = [arena.connect("shop") for _ in range(3)]
    limits = ("CONCURRENCY", 2, "LEASE", "10s") * 2
    with arena.bystander():
        clients[0].call("RL.TAKE", "shop:1", *limits, "COST", 2)
        clients[1].request("RL.ACQUIRE", "shop:1", *limits, "TIMEOUT", 0)
        time.sleep(0.2)
        clients[2].ask("RL.TAKE", "shop:1", *limits)
        arena.settle()


@attack
def string_for_a_funnel(arena):
    """A string stands in the place of a funnel when somebody is to leave it."""
    arena.start()
    clients = [arena.connect("shop") for _ in range(3)]
    limits = ("LEAKY", "2/1s", "CAPACITY", 5)
    with arena.bystander():
        clients[0].call("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0)
        clients[1].request("RL.ACQUIRE", "shop:q", *limits, "TIMEOUT", 0)
        time.sleep(0.1)
        arena.connect("limits").call("RL.RESET", "shop:q")
        clients[2].call("INCREX", "shop:q", "BYINT", time.time_ns())
        clients[1].ask("PING")
        arena.settle()
