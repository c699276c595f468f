"""Streams of requests: made from a seed, cut into pipelines, shown to people."""

import random
from dataclasses import dataclass, field

import wire
from compare import Profile
from grammar import Maker, Special

STREAM_COMMANDS = 1000
CONNECTIONS = 2
SHOWN_MAX = 100
TAGGED_SHARE = 0  # of the requests: in a cluster most name keys that share a slot
TAGS = (b"{tag}",)  # a tag for each of several owners, in the order of their slots
HOME_SHARE = 0.85  # of the requests of a batch: their tag is of the owner that they are sent to
NAMES = {b"a", b"b", b"k1", b"k2", b"k3", b"h", b"h2", b"h3", b"l", b"l2", b"l3", b"s", b"s2", b"s3",
         b"i", b"i2", b"i3", b"x", b"y", b"z", b"\x00"}


@dataclass
class Batch:
    """Requests sent together over one connection, the bytes cut at `cuts`."""

    connection: int
    ops: list = field(default_factory=list)
    cuts: list = field(default_factory=list)
    pauses: list = field(default_factory=list)  # after which pieces, so that they are read apart

    def chunks(self, connection):
        data = b"".join(connection.encode(op.args, op.inline) for op in self.ops)
        edges = [0] + sorted(int(cut * len(data)) for cut in self.cuts) + [len(data)]
        return [data[begin:end] for begin, end in zip(edges, edges[1:]) if end > begin]


@dataclass
class Stream:
    profile: Profile
    batches: list

    def steps(self):
        return [(batch.connection, op) for batch in self.batches for op in batch.ops]


def stream_of_steps(profile, steps):
    """Each request alone: what shrinking works on."""
    return Stream(profile, [Batch(connection, [op]) for connection, op in steps])


def make_stream(seed, number, rows, known_names, coverage):
    rng = random.Random(f"{seed}/{number}")
    profile = Profile(relative_times=rng.random() < 0.5, lingering=rng.random() < 0.3,
                      counted=rng.random() < 0.5)
    maker = Maker(rng, rows, profile, known_names, coverage)
    batches, made, node = [], 0, 0
    while made < STREAM_COMMANDS:
        size = min(STREAM_COMMANDS - made, rng.choice((1, 2, 5, 20, 60, 200)))
        if len(TAGS) > 1 and rng.random() < 0.3:
            node = rng.randrange(len(TAGS))
        batch = make_batch(rng, maker, size, node)
        batches += batch
        made += sum(len(part.ops) for part in batch)
    return Stream(profile, batches)


def make_batch(rng, maker, size, node):
    """Up to `size` requests; one that needs the connection to itself gets a batch to itself."""
    batch = Batch(rng.randrange(CONNECTIONS))
    after = []
    for _ in range(size):
        op = maker.op()
        op.node = node
        if isinstance(op, Special):
            after = [Batch(batch.connection, [op])]
            break
        if TAGGED_SHARE and rng.random() < TAGGED_SHARE:
            tag = TAGS[node] if len(TAGS) == 1 or rng.random() < HOME_SHARE else rng.choice(TAGS)
            op.args = [tag + arg if arg in NAMES else arg for arg in op.args]
        batch.ops.append(op)
        if op.ends:
            break
    if rng.random() < 0.3:
        batch.cuts = [rng.random() for _ in range(rng.choice((1, 2, 5, 30)))]
        batch.pauses = [rng.randint(1, 30) for _ in range(2)]
    return ([batch] if batch.ops else []) + after


def shown(op):
    """As one would type it at redis-cli, but for what is too long to type."""
    def shown_argument(arg):
        text = wire.quoted(arg[:SHOWN_MAX])
        return text if len(arg) <= SHOWN_MAX else f"{text}...({len(arg)} bytes)"
    return " ".join(shown_argument(arg) for arg in op.args)


def shown_replies(ours, theirs):
    """Both, or of long ones the surroundings of the first byte that differs."""
    differ = next((at for at, (first, second) in enumerate(zip(ours, theirs)) if first != second),
                  min(len(ours), len(theirs)))
    begin = max(differ - SHOWN_MAX, 0)
    for name, raw in (("weir: ", ours), ("redis:", theirs)):
        text = repr(raw[begin:differ + 2 * SHOWN_MAX])[2:-1]
        yield (f"{name} {'... ' if begin else ''}{text}"
               f"{f' ... ({len(raw)} bytes)' if len(raw) > differ + 2 * SHOWN_MAX else ''}")
