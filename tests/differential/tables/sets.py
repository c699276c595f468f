"""Sets: of integers, of words, and some of hundreds of members."""

import pools
from grammar import Row, choose, mostly

NUMBERS = [b"0", b"1", b"2", b"3", b"-1", b"-2", b"10", b"127", b"128", b"-129", b"32767", b"32768",
           b"2147483647", b"2147483648", b"-2147483649", b"9223372036854775807",
           b"-9223372036854775808"]
WORDS = [b"a", b"b", b"c", b"", b"\x00", b"\xff", b"01", b"+1", b"-0", b"1.0", b" 1",
         b"9223372036854775808", b"new\r\nline", b"w" * 100]
MANY_NUMBERS = [b"%d" % (number * 7 - 900) for number in range(800)]
MANY_WORDS = [b"member:%d" % number for number in range(400)]

OWN = {
    "set": mostly(choose([b"s", b"s2", b"s3", b"i", b"i2"]), choose(pools.KEYS), 0.92),
    "ints": mostly(choose([b"i", b"i2", b"i3"]), choose(pools.KEYS), 0.98),
    "member": mostly(mostly(choose(WORDS), choose(NUMBERS), 0.6), choose(MANY_WORDS), 0.8),
    "int": mostly(choose(NUMBERS), choose(MANY_NUMBERS), 0.7),
    "tiny": choose([b"tiny"]),
    "few": choose([b"f", b"7"]),
    "many-int": choose(MANY_NUMBERS),
    "many": choose(MANY_WORDS),
    "no-count": choose([b"abc", b"", b"1.5", b"9223372036854775808", b"-9223372036854775808"]),
    "picks": choose([b"0", b"1", b"2", b"5", b"2000", b"-1", b"-3", b"-20", b"9223372036854775807",
                     b"-9223372036854775808", b"abc", b""]),
    "pops": choose([b"0", b"1", b"2", b"2000", b"-1", b"9223372036854775807", b"abc", b""]),
    "numkeys": mostly(choose([b"1", b"2", b"2", b"3"]),
                      choose([b"0", b"-1", b"abc", b"", b"4", b"9223372036854775807"]), 0.9),
    "limit": choose([b"0", b"1", b"2", b"100", b"-1", b"abc", b"9223372036854775808"]),
    "protocol": choose([b"2", b"3"]),
}


def row(usage, weight=4, compare="exact", **more):
    return Row(usage, weight, compare, kinds=OWN, **more)


ROWS = [
    row("SADD set member [member ...]", 14),
    row("SADD ints int [int ...]", 12),
    row("SADD set" + " many" * 60, 2),
    row("SADD ints" + " many-int" * 99, 3),
    row("SADD ints" + " many-int" * 400, 2, "special:as-is"),
    row("SREM set member [member ...]", 8),
    row("SADD tiny few", 3),
    row("SREM tiny few [few]", 4),
    row("EXISTS tiny", 1),
    row("SREM ints int [int ...]", 5),
    row("SREM ints" + " many-int" * 99, 1),
    row("SISMEMBER set member"),
    row("SISMEMBER ints int"),
    row("SMISMEMBER set member [member ...]"),
    row("SCARD set", 3),
    row("SCARD ints", 2),
    row("SMEMBERS set", 4, "special:ordered"),
    row("SMEMBERS ints", 4, "special:ordered"),
    row("SMEMBERS set", 2, "unordered"),
    row("SMOVE set set member", 6),
    row("SMOVE ints set int", 3),
    row("SMOVE ints ints int", 3),
    row("SPOP set [pops]", 2, "special:pop"),
    row("SPOP ints [pops]", 2, "special:pop"),
    row("SPOP set no-count [junk]", 2, "special:as-is"),
    row("SRANDMEMBER set [picks]", 4, "special:random"),
    row("SRANDMEMBER set no-count [junk]", 2, "special:as-is"),
    row("SSCAN set [MATCH pattern] [COUNT count]", 4, "special:collection-scan"),
    row("SSCAN ints [MATCH pattern] [COUNT count]", 2, "special:collection-scan"),
    row("SSCAN set cursor [MATCH pattern] [COUNT bad-count] [TYPE] [junk]", 2, "scan-page"),
    row("SINTER set [set ...]", 5, "unordered"),
    row("SUNION set [set ...]", 5, "unordered"),
    row("SDIFF set [set ...]", 5, "unordered"),
    row("SINTER ints ints", 3, "unordered"),
    row("SINTERCARD numkeys set [set] [set] [LIMIT limit]", 5),
    row("SINTERCARD 2 ints ints [LIMIT limit]", 3),
    row("SINTERSTORE set set [set ...]", 4),
    row("SUNIONSTORE set set [set ...]", 4),
    row("SDIFFSTORE set set [set ...]", 4),
    row("SUNIONSTORE ints ints [ints ...]", 3),
    row("SDIFFSTORE ints ints ints", 2),
    row("SINTERSTORE ints ints ints", 2),
    row("OBJECT ENCODING set", 3, "encoding"),
    row("OBJECT ENCODING ints", 4, "encoding"),
    row("TYPE set", 2),
    row("APPEND set member", 1),
    row("GETSET set member", 1),
    row("DEL set", 2),
    row("DEL ints", 2),
    row("RENAME set set", 2),
    row("COPY set set [DB db] [REPLACE]", 3),
    row("COPY ints ints [REPLACE]", 1),
    row("MOVE set db", 1),
    row("PEXPIREAT set unix-milliseconds [NX | XX | GT | LT]", 2),
    row("REDUMP ints ints [REPLACE]", 3, "special:redump"),
    row("PEXPIRETIME set", 2, "instant-ms"),
    row("SELECT db", 1),
    row("HELLO protocol", 1, "hello"),
    row("RESTART", 0.3, "special:restart"),
]
