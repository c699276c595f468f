"""What the server keeps for clients that wait, watch, listen or queue: with names as long as they may
be, on many connections, or very many of them on one.

Each attack has the server keep several times what maxmemory-clients allows. Memory may grow by that
bound and a rest; whoever keeps the most is disconnected.
"""

import contextlib
import time

from arena import GONE, Client, metrics, harness
from attacks import attack

NAME_BYTES = 60_000  # below the longest key by default, 64 kb
BOUND_MB = 16
REST_MB = 100  # a turn's requests, what the store has in hand, what the allocator keeps
SENT_BYTES = 60_000_000  # of names, in the short form


def name_of(number, size=NAME_BYTES):
    return b"shop:%08d" % number + b"x" * (size - 13)


def told_by(arena):
    with contextlib.closing(Client(arena.server.port, 30)) as admin:
        return metrics(admin.call("INFO"))


def keep(arena, requests_of, connections, user=None, writes=False, leaves=lambda i: False):
    """requests_of(i): the requests of connection i, as words or as bytes. Who is disconnected for it
    is no fault. `writes`: they make keys, too, which maxmemory bounds."""
    arena.start(maxmemory_clients=f"{BOUND_MB}mb", key_bytes_max="512mb")
    if user is not None:
        arena.make_user(user)
    before_mb = arena.memory()
    with arena.bystander():
        for i in range(connections):
            if time.monotonic() > arena.ends_at or not arena.lives():
                break
            with contextlib.suppress(*GONE, harness.Refused):
                client = Client(arena.server.port, 20)
                arena.clients.append(client)
                if user is not None:
                    client.call("AUTH", user, "word")
                for words in requests_of(i):
                    client.send(words if isinstance(words, bytes) else harness.encode(*words))
                if leaves(i):
                    client.call("PING")
                    client.close()
        arena.settle()
    if not arena.lives():
        return
    told = told_by(arena)
    counted_mb = int(told["mem_clients_normal"]) + int(told.get("mem_tracking_table", 0)) >> 20
    grown_mb = arena.memory("VmHWM") - before_mb
    arena.note(f"{before_mb} -> {before_mb + grown_mb} MB, counted {counted_mb} MB,"
               f" {told['evicted_clients']} evicted")
    arena.expect(counted_mb <= BOUND_MB, f"clients are counted with {counted_mb} MB")
    data_mb = arena.form.maxmemory_mb * 3 // 2 if writes else 0  # with what is being written back
    arena.expect(grown_mb <= BOUND_MB + REST_MB + data_mb, f"memory grew by {grown_mb} MB")


def count(arena, names_each=1):
    """So many connections that the names are several times the bound."""
    return arena.size(SENT_BYTES, 10 * SENT_BYTES) // NAME_BYTES // names_each


@attack
def waiters_of_long_keys(arena):
    """The README's user waits on many connections, each for a key of its own with a long name."""
    limits = ("GCRA", "1/1d", "BURST", 0)
    keep(arena, lambda i: [("RL.TAKE", name_of(i), *limits),
                           ("RL.ACQUIRE", name_of(i), *limits, "TIMEOUT", 0)],
         count(arena), user="shop", writes=True)


@attack
def waiters_of_one_long_key(arena):
    """The README's user waits on many connections for one key with a long name."""
    limits = ("GCRA", "1/1d", "BURST", 0)
    keep(arena, lambda i: [("RL.ACQUIRE", name_of(0), *limits, "TIMEOUT", 0)] * (1 + (i == 0)),
         count(arena), user="shop", writes=True)


@attack
def departures_of_long_keys(arena):
    """The README's user is let into funnels, and waits to leave them, under long names."""
    limits = ("LEAKY", "1/1d", "CAPACITY", 10)
    keep(arena, lambda i: [("RL.TAKE", name_of(i), *limits),
                           ("RL.ACQUIRE", name_of(i), *limits, "TIMEOUT", 0)],
         count(arena), user="shop", writes=True)


@attack
def blocked_on_long_keys(arena):
    """BLPOP, BLMOVE and BZPOPMIN of keys with long names, on many connections."""
    forms = (lambda key: ("BLPOP", key, 0), lambda key: ("BLMOVE", key, key, "LEFT", "LEFT", 0),
             lambda key: ("BZPOPMIN", key, 0))
    keep(arena, lambda i: [forms[i % 3](name_of(i))], count(arena))


@attack
def blocked_on_many_keys(arena):
    """BLPOP of very many keys with short names: each stands in a queue of its own."""
    names = arena.size(20_000, 100_000)
    keep(arena, lambda i: [("BLPOP", *[name_of(i * names + n, 20) for n in range(names)], 0)],
         arena.size(6, 12))


@attack
def watched_keys(arena):
    """WATCH of long names, and of very many short ones."""
    keep(arena, lambda i: [("WATCH", name_of(i * 10 + n)) for n in range(10)] if i % 2 else
         [("WATCH", *[name_of(i * 5000 + n, 20) for n in range(5000)])], count(arena, 10))


@attack
def listened_names(arena):
    """SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE to long names, and patterns as long as they may be."""
    keep(arena, lambda i: [("SUBSCRIBE", name_of(i * 9 + n)) for n in range(3)]
         + [("SSUBSCRIBE", name_of(i * 9 + n)) for n in range(3)]
         + [("PSUBSCRIBE", *[name_of(i * 900 + n, 4000) for n in range(40)])],
         count(arena, 3))


@attack
def broadcast_prefixes(arena):
    """CLIENT TRACKING ON BCAST with long prefixes."""
    keep(arena, lambda i: [("HELLO", 3)] + [
        ("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", name_of(i * 10 + n)) for n in range(10)],
        count(arena, 5))


@attack
def tracked_names(arena):
    """Clients that track read keys with long names. Half of them leave, and the names stay."""
    keep(arena, lambda i: [("HELLO", 3), ("CLIENT", "TRACKING", "ON")] + [
        ("GET", name_of(i * 10 + n)) for n in range(10)], count(arena, 4), leaves=lambda i: i % 2)


@attack
def queued_words(arena):
    """MULTI with commands of long words and of very many short ones, on many connections."""
    keep(arena, lambda i: [("MULTI",), ("GET", name_of(i)), ("MGET", *["k"] * 10_000)] * 2,
         count(arena, 2))


@attack
def announced_words(arena):
    """Requests of very many empty words that never end: what is noted of each word is larger than
    the word."""
    words = b"*1000000\r\n" + b"$0\r\n\r\n" * arena.size(100_000, 900_000)
    keep(arena, lambda i: [words], arena.size(40, 100))
