"""Sorted sets: small ones and some of hundreds of members, scores at every corner."""

import pools
from grammar import Row, choose, mostly

LETTERS = [b"a", b"b", b"c", b"d", b"e", b"aa", b"ab", b"b\x00", b"", b"\xff", b"Z", b"10", b"9"]
LENGTHS = [b"m" * 64, b"m" * 65, b"n" * 300]
MANY = [b"member:%d" % number for number in range(400)]

SCORES = [b"0", b"1", b"1", b"2", b"3", b"-1", b"-0", b"0.1", b"0.5", b"1.5", b"-2.25", b"1e308",
          b"-1e308", b"inf", b"-inf", b"+inf", b"Infinity", b"1e-300", b"5e-324", b"0x10",
          b"1795227160663.3306", b"1759000000000001", b"9007199254740993", b"1e17", b"1e15",
          b"4611686018427387904", b"-4611686018427387905", b"9223372036854775807", b"3.0", b".5",
          b"0.30000000000000004", b"123456789012345678", b"1e22"]
NOT_SCORES = [b"nan", b"-nan", b"", b" 1", b"1 ", b"abc", b"1e400", b"-1e400", b"1e-400", b"(1",
              b"1\x00", b"--1", b"1,5"]

ENDS = [b"-inf", b"+inf", b"inf", b"0", b"1", b"2", b"3", b"(1", b"(2", b"(0", b"(-inf", b"(inf",
        b"-1", b"0.5", b"(0.5", b"1e308", b"-0", b"(-0", b"1795227160663.3306",
        b"(1795227160663.3306", b"", b"(", b" 1", b"1e400", b"0x1"]
NOT_ENDS = [b"nan", b"((1", b"1)", b"abc", b"1 ", b"[1", b"(nan", b"-"]

LEX_ENDS = [b"-", b"+", b"-", b"+", b"[a", b"(a", b"[b", b"(b", b"[", b"(", b"[member:2",
            b"(member:31", b"[c", b"[\xff", b"(\xff\xff", b"[zz", b"+\x00", b"(aa", b"[ab"]
NOT_LEX_ENDS = [b"", b"a", b"1", b"+inf", b"-inf", b"--", b"\x00", b"*"]

WEIGHTS = [b"1", b"2", b"0", b"-1", b"0.5", b"inf", b"-inf", b"1e308", b"3"]

OWN = {
    "zset": mostly(choose([b"z", b"y", b"x"]), choose(pools.KEYS), 0.85),
    "lex": choose([b"l1", b"l2"]),
    "member": mostly(mostly(choose(LETTERS), choose(MANY), 0.75), choose(LENGTHS), 0.98),
    "many": choose(MANY),
    "score": mostly(choose(SCORES), choose(NOT_SCORES), 0.97),
    "good-score": choose(SCORES),
    "zero": choose([b"0"]),
    "min": mostly(choose(ENDS), choose(NOT_ENDS), 0.97),
    "max": mostly(choose(ENDS), choose(NOT_ENDS), 0.97),
    "lex-min": choose(LEX_ENDS),
    "lex-max": choose(LEX_ENDS),
    "bad-lex": choose(NOT_LEX_ENDS),
    "any-lex": choose(NOT_LEX_ENDS, LEX_ENDS),
    "rank": mostly(choose([b"0", b"0", b"1", b"2", b"5", b"-1", b"-1", b"-2", b"-3", b"100", b"-100",
                           b"130"]), choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.95),
    "offset": mostly(choose([b"0", b"0", b"1", b"2", b"10", b"-1"]),
                     choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.95),
    "take": mostly(choose([b"1", b"2", b"3", b"10", b"0", b"-1"]),
                   choose(pools.INTEGERS, pools.NOT_INTEGERS), 0.95),
    "picks": choose([b"0", b"1", b"2", b"5", b"1000", b"-1", b"-3", b"-20", b"9223372036854775807",
                     b"-9223372036854775808", b"abc"]),
    "numkeys": mostly(choose([b"1", b"2", b"2", b"3"]),
                      choose([b"0", b"-1", b"abc", b"", b"4", b"9223372036854775807"]), 0.95),
    "weight": mostly(choose(WEIGHTS), choose(NOT_SCORES), 0.97),
}


def row(usage, weight=4, compare="exact"):
    return Row(usage, weight, compare, kinds=OWN)


RANGE = "zset rank rank [WITHSCORES]"
BY_SCORE = "zset min max [WITHSCORES] [LIMIT offset take]"
OPTIONS = "[WEIGHTS weight weight] [AGGREGATE SUM | AGGREGATE MIN | AGGREGATE MAX]"
THREE = "[WEIGHTS weight weight weight] [AGGREGATE SUM | AGGREGATE MIN | AGGREGATE MAX]"


def combinations(name, weight):
    """With and without a destination; the number of keys right, and now and then wrong."""
    rows = []
    for destination, scores in (("", " [WITHSCORES]"), ("STORE zset", "")):
        command = f"{name}{destination}"
        options = ("", "") if name == "ZDIFF" else (OPTIONS, THREE)
        rows += [row(f"{command} 2 zset zset {options[0]}{scores}", weight),
                 row(f"{command} 3 zset zset zset {options[1]}{scores}", weight),
                 row(f"{command} numkeys zset [zset] {options[0]}{scores}", 1)]
    return rows


ROWS = [
    row("ZADD zset good-score member [good-score member ...]", 20),
    row("ZADD zset [NX | XX] [GT | LT] [CH] [INCR] score member", 12),
    row("ZADD zset [CH] [NX] [XX] [GT] [LT] score member [score member ...]", 6),
    row("ZADD zset" + " good-score many" * 80, 3),
    row("ZADD lex zero member [zero member ...]", 6),
    row("ZADD lex" + " zero many" * 80, 1),
    row("ZINCRBY zset score member", 6),
    row("ZREM zset member [member ...]", 6),
    row("ZREM lex member [member ...]", 1),
    row("ZCARD zset"),
    row("ZSCORE zset member", 6),
    row("ZMSCORE zset member [member ...]"),
    row("ZCOUNT zset min max", 5),
    row("ZRANK zset member", 5, "before-7.2"),
    row("ZREVRANK zset member", 5, "before-7.2"),
    row(f"ZRANGE {RANGE}", 6),
    row(f"ZRANGE {RANGE} [REV] [LIMIT offset take] [BYSCORE]", 3),
    row("ZRANGE zset min max BYSCORE [REV] [LIMIT offset take] [WITHSCORES]", 6),
    row(f"ZREVRANGE {RANGE} [REV]"),
    row(f"ZRANGEBYSCORE {BY_SCORE}", 8),
    row(f"ZREVRANGEBYSCORE {BY_SCORE}", 6),
    row("ZRANGESTORE zset zset rank rank [REV]", 3),
    row("ZRANGESTORE zset zset min max BYSCORE [REV] [LIMIT offset take]", 3),
    row("ZREMRANGEBYRANK zset rank rank", 2),
    row("ZREMRANGEBYSCORE zset min max", 3),
    row("ZPOPMIN zset [take]", 3),
    row("ZPOPMAX zset [take]", 3),
    row("ZMPOP 1 zset [MIN | MAX] [COUNT take]", 2),
    row("ZMPOP 2 zset zset MIN [COUNT take]", 2),
    row("ZMPOP numkeys zset zset MAX [COUNT take]", 1),
    *combinations("ZUNION", 2),
    *combinations("ZINTER", 2),
    *combinations("ZDIFF", 1),
    row("ZINTERCARD 2 zset zset [LIMIT take]", 3),
    row("ZINTERCARD numkeys zset [zset] [LIMIT take]", 1),
    row("ZRANDMEMBER zset [picks [WITHSCORES]]", 3, "special:random-members"),
    row("ZSCAN zset [MATCH pattern] [COUNT count]", 3, "special:collection-scan"),
    row("ZSCAN zset cursor [MATCH pattern] [COUNT bad-count] [TYPE] [junk]", 2, "scan-page"),
    # Where members have different scores, and there are many, what comes is anybody's guess.
    row("ZRANGEBYLEX lex lex-min lex-max [LIMIT offset take]", 3, "special:lex"),
    row("ZREVRANGEBYLEX lex lex-max lex-min [LIMIT offset take]", 3, "special:lex"),
    row("ZRANGEBYLEX zset lex-min lex-max [LIMIT offset take]", 1, "special:lex"),
    row("ZREVRANGEBYLEX zset lex-max lex-min [LIMIT offset take]", 1, "special:lex"),
    row("ZRANGE lex any-lex lex-max BYLEX [REV] [LIMIT offset take]", 2, "special:lex"),
    row("ZLEXCOUNT lex lex-min lex-max", 2, "special:lex"),
    row("ZLEXCOUNT zset lex-min any-lex", 1, "special:lex"),
    row("ZREMRANGEBYLEX lex lex-min lex-max", 1, "special:lex"),
    row("ZREMRANGEBYLEX zset lex-min lex-max", 1, "special:lex"),
    row("ZRANGESTORE lex lex lex-min lex-max BYLEX [LIMIT offset take]", 1, "special:lex"),
    row("ZRANGEBYLEX zset bad-lex bad-lex [WITHSCORES] [LIMIT offset take]", 1),
    row("ZREMRANGEBYLEX zset bad-lex bad-lex", 1),
    row("OBJECT ENCODING zset", 3, "encoding"),
    row("TYPE zset", 1),
    row("DEL zset", 1),
    row("DEL lex", 1),
    row("SADD zset member [member ...]", 2),
    row("SET zset good-score", 1),
    row("FOREIGN zset", 1, "special:foreign"),
    row("RESTART", 1, "special:restart"),
]
