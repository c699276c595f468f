"""Lists: short ones with many values alike, and some of hundreds of elements. What waits does so for
a few milliseconds; who serves whom is compared in waits.py."""

import pools
from grammar import Row, choose, mostly

VALUES = [b"a", b"b", b"c", b"a", b"b", b"", b"0", b"10", b"-1", b"\x00", b"new\r\nline", b"v" * 70]
MANY = [b"element:%d" % number for number in range(40)]

OWN = {
    "list": mostly(choose([b"l", b"l2", b"l3"]), choose(pools.KEYS), 0.9),
    "element": mostly(mostly(choose(VALUES), choose(MANY), 0.8),
                      lambda maker: pools.value(maker.rng), 0.97),
    "many": choose(MANY),
    "index": mostly(choose([b"0", b"0", b"1", b"2", b"5", b"-1", b"-1", b"-2", b"-3", b"100",
                            b"-100", b"130"]), choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.93),
    "start": choose([b"0", b"0", b"0", b"1", b"2", b"-100"]),
    "stop": choose([b"-1", b"-1", b"-1", b"-2", b"-3", b"60", b"5"]),
    "times": mostly(choose([b"0", b"1", b"2", b"-1", b"-2", b"50", b"-50"]),
                    choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.9),
    "take": mostly(choose([b"1", b"2", b"3", b"10", b"0", b"-1"]),
                   choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.93),
    "side": mostly(choose([b"LEFT", b"RIGHT", b"left", b"Right"]),
                   choose([b"MIN", b"", b"LEFTS", b"BEFORE"]), 0.96),
    "beside": mostly(choose([b"BEFORE", b"AFTER", b"after"]), choose([b"", b"LEFT"]), 0.97),
    "numkeys": mostly(choose([b"1", b"2", b"2", b"3"]),
                      choose([b"0", b"-1", b"abc", b"", b"4", b"9223372036854775807"]), 0.95),
    "short-while": choose(pools.TIMEOUTS),
    "restored": choose([b"0", b"-1", b"abc"]),
    "number": mostly(choose([b"1", b"2", b"10", b"-3", b"2.5", b"0x10", b" 7", b"1e3", b"-0", b"01"]),
                     choose([b"x", b"", b"1e400", b"nan", b"inf", b"1 ", b"5\x00"]), 0.97),
    "long": choose([b"0" * 70 + b"4"]),
    "texts": choose([b"t1", b"t2"]),
    "sorted": choose([b"n1", b"n2"]),
    "sorted-set": choose([b"s1"]),
    "sorted-zset": choose([b"z1"]),
    "sortable": mostly(choose([b"n1", b"n2", b"s1", b"z1"]), choose([b"w1", b"nosuch"]), 0.9),
    "weight": choose([b"w1", b"w2", b"w10", b"w-3", b"w2.5"]),
    "hash-weight": choose([b"h1", b"h2", b"h10"]),
    "field": choose([b"f", b"g"]),
    "score": mostly(choose([b"1", b"2", b"3", b"-7.5", b"100"]), choose([b"x", b""]), 0.95),
    "by": mostly(choose([b"w*", b"h*->f", b"w*"]), choose([b"*", b"h*->", b"*->f"]), 0.9),
    "get": choose([b"#", b"w*", b"h*->g", b"nosuch*", b"w1", b"h*->", b"*"]),
    "protocol": choose([b"2", b"3"]),
}


def row(usage, weight=4, compare="exact", **more):
    return Row(usage, weight, compare, kinds=OWN, **more)


def sort_row(usage, weight, compare):
    """Redis' SORT makes a sorted set's form large, so it is not for those of other rows."""
    return row(usage, weight, compare, only_keys=(b"n1", b"n2", b"s1", b"z1", b"w1", b"t1", b"t2", b"nosuch"))


ROWS = [
    row("RPUSH list element [element ...]", 14),
    row("LPUSH list element [element ...]", 14),
    row("RPUSH list" + " many" * 60, 3),
    row("LPUSH list" + " many" * 99, 1),
    row("LPUSHX list element [element ...]"),
    row("RPUSHX list element [element ...]"),
    row("LPOP list [take]", 6),
    row("RPOP list [take]", 6),
    row("LLEN list", 3),
    row("LINDEX list index", 8),
    row("LRANGE list index index", 8),
    row("LRANGE list start stop", 6),
    row("LSET list index element", 8),
    row("LINSERT list beside element element", 16),
    row("LINSERT list beside many many", 12),
    row("LREM list times element", 6),
    row("LREM list times many", 3),
    row("LTRIM list start stop", 5),
    row("LTRIM list index index", 2),
    row("LPOS list element [RANK times] [COUNT take] [MAXLEN take]", 10),
    row("LPOS list many [COUNT take] [MAXLEN take] [RANK index]", 4),
    row("LMOVE list list side side", 8),
    row("RPOPLPUSH list list", 4),
    row("LMPOP 1 list side [COUNT take]", 3),
    row("LMPOP 2 list list side [COUNT take]", 3),
    row("LMPOP numkeys list [list] side [COUNT take] [junk]", 2),
    row("BLPOP list [list ...] short-while", 3, waits_at=-1),
    row("BRPOP list [list ...] short-while", 3, waits_at=-1),
    row("BLMOVE list list side side short-while", 3, waits_at=5),
    row("BRPOPLPUSH list list short-while", 3, waits_at=3),
    row("BLMPOP short-while 2 list list side [COUNT take]", 2, waits_at=1),
    row("BLMPOP short-while numkeys list [list] side [COUNT take] [junk]", 2, waits_at=1),
    row("BZPOPMIN list [list ...] short-while", 1, waits_at=-1),
    row("BZPOPMAX list [list ...] short-while", 1, waits_at=-1),
    row("BZMPOP short-while 2 list list MIN [COUNT take]", 1, waits_at=1),
    row("BZMPOP short-while numkeys list [list] MAX [COUNT take] [junk]", 1, waits_at=1),
    row("ZADD list 1 element 2 element 3 many", 2),
    row("RPUSH sorted number [number ...]", 5),
    row("SADD sorted-set number [number ...]", 2),
    # Large from the start, see sort_row().
    row("ZADD sorted-zset 4 long 3 number 1 number 2 number", 2, "special:as-is"),
    row("SET weight score", 4),
    row("HSET hash-weight field score", 4),
    sort_row("SORT sortable [ALPHA] [DESC | ASC] [LIMIT index index]", 5, "sorted"),
    sort_row("SORT sortable [BY by] [LIMIT index take] [GET get] [GET get] [DESC]", 6, "special:sort"),
    row("RPUSH texts element [element ...]", 3),
    sort_row("SORT texts [ALPHA]", 2, "sorted"),
    sort_row("SORT sortable ALPHA [LIMIT index take] [GET get] [GET get] [DESC] STORE list", 3,
        "special:as-is"),
    sort_row("SORT sortable BY by ALPHA LIMIT 0 0 [STORE list]", 1, "special:as-is"),
    sort_row("SORT texts ALPHA STORE texts", 2, "special:as-is"),
    sort_row("SORT_RO sortable [BY by] [GET get] [DESC] [STORE list]", 2, "special:sort"),
    row("OBJECT ENCODING list", 2, "encoding"),
    row("TYPE list", 2),
    row("STRLEN list", 1),
    row("SET list element", 1),
    row("DEL list", 2),
    row("RENAME list list", 2),
    row("COPY list list [DB db] [REPLACE]", 3),
    row("MOVE list db", 1),
    row("REDUMP list list [REPLACE]", 3, "special:redump"),
    row("PEXPIREAT list unix-milliseconds [NX | XX | GT | LT]", 2),
    row("PERSIST list", 1),
    row("PEXPIRETIME list", 2, "instant-ms"),
    row("SELECT db", 1),
    row("HELLO protocol", 1, "hello"),
    row("RESTART", 0.3, "special:restart"),
]
