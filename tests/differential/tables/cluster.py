"""What clients of a cluster ask about slots, and what goes by the slot of a channel."""

from grammar import Row


def slot(maker):
    # Of keys that the tables use, and ones without keys or that are none.
    return maker.rng.choice((b"15495", b"3300", b"8338", b"8338", b"0", b"16383", b"16384", b"-1",
                             b"abc", b""))


SLOT = {"slot": slot}

ROWS = [
    Row("CLUSTER KEYSLOT key", 4),
    Row("CLUSTER COUNTKEYSINSLOT slot", 2, "dbsize", kinds=SLOT),
    Row("CLUSTER MYID", 1, "shape"),
    Row("CLUSTER COUNT-FAILURE-REPORTS key", 1),
    Row("CLUSTER REPLICAS key", 1),
    Row("CLUSTER GETKEYSINSLOT slot [integer]", 1, "shape", kinds=SLOT),
    Row("READONLY", 1),
    Row("READWRITE", 1),
    Row("ASKING", 1),
    Row("SPUBLISH key value", 4),
    Row("PUBSUB SHARDCHANNELS", 1),
    Row("PUBSUB SHARDNUMSUB [key ...]", 1),
]
