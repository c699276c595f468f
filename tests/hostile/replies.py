"""Replies that are far larger than the request, and readers that are slower than the server."""

import threading
import time

from arena import GONE
from attacks import attack, filled
from harness import encode

MB = 1 << 20


def ask_for_too_much(arena, prepare, request, user="reader"):
    """`request` as bytes, sent by somebody who reads nothing."""
    arena.start()
    owner = arena.connect()
    for words in prepare:
        owner.call(*words)
    client = arena.connect(user)
    with arena.bystander():
        client.send(request)
        arena.watch()
        arena.settle()


@attack
def get_pipeline(arena):
    """A pipeline of GETs of one large string: 22 KB ask for gigabytes."""
    value = b"x" * arena.size(4 * MB, 16 * MB)
    ask_for_too_much(arena, [("SET", "k", value)], encode("GET", "k") * 1000)


@attack
def mget_same(arena):
    """One MGET that names one large string again and again."""
    ask_for_too_much(arena, [("SET", "k", b"x" * MB)],
                     encode("MGET", *["k"] * arena.size(5000, 20000)))


@attack
def hrandfield(arena):
    """HRANDFIELD with a negative count: sixty bytes ask for a terabyte."""
    ask_for_too_much(arena, [("HSET", "h", "f", b"x" * MB)],
                     encode("HRANDFIELD", "h", -MB, "WITHVALUES"))


@attack
def eval_hrandfield(arena):
    """The same from inside a script."""
    script = f"return #redis.call('HRANDFIELD', 'h', -{MB}, 'WITHVALUES')"
    ask_for_too_much(arena, [("HSET", "h", "f", b"x" * MB)], encode("EVAL", script, 0), None)


@attack
def exec_get(arena):
    """A transaction of GETs of one large string."""
    request = encode("MULTI") + encode("GET", "k") * arena.size(5000, 12000) + encode("EXEC")
    ask_for_too_much(arena, [("SET", "k", b"x" * MB)], request, None)


@attack
def command_docs(arena):
    """Twenty clients ask for the longest reply that needs no data, and read nothing."""
    arena.start()
    clients = [arena.connect() for _ in range(20)]
    with arena.bystander():
        for client in clients:
            client.send(encode("COMMAND", "DOCS") * arena.size(50, 1000))
        arena.watch(arena.size(1.5, 15))
        arena.settle()
    arena.memory_mb = 20 * 256 + 200  # each client's own bound; the sum has none yet


@attack
def client_list_pipeline(arena):
    """A pipeline of CLIENT LIST while many are connected."""
    arena.start()
    others = [arena.connect() for _ in range(arena.size(300, 1000))]
    with arena.bystander():
        others[0].send(encode("CLIENT", "LIST") * arena.size(300, 1000))
        arena.watch(arena.size(1.5, 12))
        arena.settle()


@attack
def policy_list_pipeline(arena):
    """A pipeline of RL.POLICY LIST, whose reply grows with what +@ratelimitadmin may set."""
    arena.start()
    client = arena.connect("limits")
    count = arena.size(3000, 20000)
    for requests in filled(count, 1000, lambda begin, end: [
            ("RL.POLICY", "SET", "%0120d" % i, "GCRA", "1/1s") for i in range(begin, end)]):
        client.pipeline(requests)
    with arena.bystander():
        client.send(encode("RL.POLICY", "LIST") * arena.size(500, 3000))
        arena.watch(arena.size(1.5, 25))
        arena.settle()


@attack
def slow_readers(arena):
    """Clients have much to read, and then read as fast as they can, all at once."""
    arena.start()
    arena.connect().call("SET", "k", b"x" * MB)
    count = arena.size(50, 200)
    clients = [arena.connect() for _ in range(arena.size(4, 10))]
    arena.memory_mb += len(clients) * count

    def read(client):
        try:
            client.swallow(count * MB, arena.ends_at)
        except GONE:
            pass

    with arena.bystander():
        for client in clients:
            client.send(encode("GET", "k") * count)
        arena.watch(1.0)
        readers = [threading.Thread(target=read, args=(client,)) for client in clients]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(max(1.0, arena.ends_at - time.monotonic()))


@attack
def one_large_reply(arena):
    """One client reads one large value, as fast as it can."""
    arena.start("--client-output-buffer-limit", "normal", "0", "0", "0", maxmemory="2gb")
    size = arena.size(50, 400) * MB
    client = arena.connect()
    client.call("SET", "k", b"x" * size)
    arena.memory_mb += 5 * size // MB  # sent, stored, logged, written back, answered
    with arena.bystander():
        client.request("GET", "k")
        client.swallow(size, arena.ends_at)
