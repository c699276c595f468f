"""Hashes: small ones, long values, and some of hundreds of fields."""

import pools
from grammar import Row, choose, mostly

FIELDS = [b"f", b"g", b"count", b"0", b"1", b"-7", b"", b"\x00", b"caf\xc3\xa9", b"new\r\nline"]
LONG = [b"f" * 64, b"f" * 65, b"g" * 300]
VALUES = [b"", b"v", b"0", b"10", b"-1", b"v" * 64, b"v" * 65, b"1.5", b"9223372036854775807",
          b"-9223372036854775808", b"\x00\r\n"]
MANY = [b"field:%d" % number for number in range(800)]

OWN = {
    "hash": mostly(choose([b"h", b"h2", b"h3"]), choose(pools.KEYS), 0.9),
    "field": mostly(mostly(choose(FIELDS), choose(MANY), 0.8), choose(LONG), 0.98),
    "tiny": choose([b"tiny"]),
    "few": choose([b"f", b"g"]),
    "number": choose([b"i1", b"i2"]),  # fields that mostly hold numbers
    "many": choose(MANY),
    "short": mostly(choose(VALUES), lambda maker: pools.value(maker.rng), 0.9),
    "no-count": choose([b"abc", b"", b"1.5", b"9223372036854775808", b"-9223372036854775808"]),
    "restored": choose([b"0", b"1000000", b"-1", b"abc", b"9223372036854775807"]),
    "picks": choose([b"0", b"1", b"2", b"5", b"2000", b"-1", b"-3", b"-20", b"9223372036854775807",
                     b"-9223372036854775808", b"4611686018427387904", b"abc", b""]),
}


def row(usage, weight=4, compare="exact", **more):
    return Row(usage, weight, compare, kinds=OWN, **more)


ROWS = [
    row("HSET hash field short [field short ...]", 16),
    row("HSET hash" + " many short" * 60, 3),
    row("HSET hash" + " many number" * 99, 1),
    row("HSET hash" + " many number" * 400, 2, "special:as-is"),
    row("HMSET hash field short [field short ...]", 4),
    row("HSETNX hash field short", 5),
    row("HSET hash number integer", 5),
    row("HSET hash number float", 4),
    row("HGET hash field", 6),
    row("HGET hash number", 3),
    row("HMGET hash field [field ...]", 5),
    row("HGETALL hash", 4, "special:ordered"),
    row("HKEYS hash", 4, "special:ordered"),
    row("HVALS hash", 4, "special:ordered"),
    row("HGETALL hash", 2, "unordered"),
    row("HKEYS hash", 1, "unordered"),
    row("HVALS hash", 1, "unordered"),
    row("HLEN hash"),
    row("HSTRLEN hash field"),
    row("HEXISTS hash field"),
    row("HDEL hash field [field ...]", 10),
    row("HSET tiny few short", 3),
    row("HDEL tiny few [few]", 4),
    row("EXISTS tiny", 1),
    row("HDEL hash many [many ...]", 5),
    row("HINCRBY hash number integer", 8),
    row("HINCRBY hash field small", 4),
    row("HINCRBY hash field integer", 3),
    row("HINCRBYFLOAT hash number float", 8),
    row("HINCRBYFLOAT hash field float", 4),
    row("HRANDFIELD hash [picks [WITHVALUES]]", 5, "special:random"),
    row("HRANDFIELD hash no-count [WITHVALUES] [junk]", 2, "special:as-is"),
    row("HSCAN hash [MATCH pattern] [COUNT count]", 4, "special:collection-scan"),
    row("HSCAN hash cursor [MATCH pattern] [COUNT bad-count] [TYPE] [junk]", 2, "scan-page"),
    row("OBJECT ENCODING hash", 4, "encoding"),
    row("TYPE hash", 2),
    row("STRLEN hash", 1),
    row("INCR hash", 1),
    row("SET hash short", 1),
    row("DEL hash", 2),
    row("RENAME hash hash", 2),
    row("RENAMENX hash hash", 1),
    row("COPY hash hash [DB db] [REPLACE]", 3),
    row("MOVE hash db", 1),
    row("PEXPIREAT hash unix-milliseconds [NX | XX | GT | LT]", 3),
    row("REDUMP hash hash [REPLACE]", 3, "special:redump"),
    row("RESTORE hash restored short [REPLACE] [ABSTTL] [IDLETIME integer | FREQ integer]", 3),
    row("PERSIST hash", 1),
    row("PEXPIRETIME hash", 2, "instant-ms"),
    row("SELECT db", 1),
    row("HELLO protocol", 1, "hello"),
    row("RESTART", 0.3, "special:restart"),
]
OWN["protocol"] = choose([b"2", b"3"])
