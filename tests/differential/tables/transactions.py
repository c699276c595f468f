"""Transactions over two connections. These rows are played alone: every reply has to be the same to
the byte, because it may be a part of what EXEC answers."""

from dataclasses import replace

from grammar import Row
from tables import scripts

RARELY, AT_LEAST = 0.1, 0.3  # weights of what is taken over from other tables

ROWS = [
    Row("MULTI", 12),
    Row("EXEC", 12, "hello"),
    Row("EXEC junk", 1, kinds={"junk": lambda maker: b"x"}),
    Row("DISCARD", 1),
    Row("WATCH key [key ...]", 10),
    Row("UNWATCH", 1),
    Row("SELECT database", 3, kinds={"database": lambda maker: maker.rng.choice((b"0", b"1"))}),
    Row("SWAPDB first second", 1, kinds={
        "first": lambda maker: maker.rng.choice((b"0", b"1")), "second": lambda maker: b"0"}),
    Row("FLUSHDB", 1),
    Row("FLUSHALL", 1),
    Row("RESET", 1),
    Row("HELLO protocol", 1, "hello", kinds={
        "protocol": lambda maker: maker.rng.choice((b"2", b"3", b"3", b"4", b"x"))}),
    Row("PING", 2),
    Row("GET key", 6),
    Row("SET key value [NX | XX] [GET]", 8),
    Row("SETNX key value", 3),
    Row("MSETNX key value [key value ...]", 2),
    Row("GETSET key value", 2),
    Row("GETDEL key", 2),
    Row("APPEND key value", 3),
    Row("SETRANGE key small value", 2),
    Row("INCR key", 3),
    Row("DEL key [key ...]", 4),
    Row("RENAME key key", 2),
    Row("RENAMENX key key", 2),
    Row("COPY key key [REPLACE]", 2),
    Row("PERSIST key", 2),
    Row("PEXPIREAT key instant [NX | XX | GT | LT]", 3, kinds={
        "instant": lambda maker: maker.rng.choice((b"4102444800000", b"4102444900000", b"1000"))}),
    Row("EXISTS key [key ...]", 2),
    Row("TYPE key", 2),
    Row("HSET key field value", 5, kinds={"field": lambda maker: maker.rng.choice((b"f", b"g"))}),
    Row("HSETNX key field value", 2, kinds={"field": lambda maker: maker.rng.choice((b"f", b"g"))}),
    Row("HDEL key field", 3, kinds={"field": lambda maker: maker.rng.choice((b"f", b"g"))}),
    Row("HINCRBY key field small", 2, kinds={"field": lambda maker: b"n"}),
    Row("SADD key member", 5, kinds={"member": lambda maker: maker.rng.choice((b"1", b"2"))}),
    Row("SREM key member", 3, kinds={"member": lambda maker: maker.rng.choice((b"1", b"2"))}),
    Row("SMOVE key key member", 2, kinds={"member": lambda maker: maker.rng.choice((b"1", b"2"))}),
    Row("SINTERSTORE key key [key]", 2),
    Row("ZADD key [NX | XX] [GT | LT] score member", 5, kinds={
        "score": lambda maker: maker.rng.choice((b"1", b"2", b"3.5")),
        "member": lambda maker: maker.rng.choice((b"1", b"2"))}),
    Row("ZREM key member", 3, kinds={"member": lambda maker: maker.rng.choice((b"1", b"2"))}),
    Row("ZPOPMIN key", 2),
    Row("ZUNIONSTORE key two key key", 2, kinds={"two": lambda maker: b"2"}),
    Row("ZRANGESTORE key key zero last", 2, kinds={
        "zero": lambda maker: b"0", "last": lambda maker: maker.rng.choice((b"0", b"-9"))}),
    Row("LPUSH key member", 3, kinds={"member": lambda maker: b"x"}),
    Row("LPOP key", 3),
    Row("LREM key zero member", 2, kinds={"zero": lambda maker: b"0", "member": lambda maker: b"x"}),
    Row("LTRIM key zero last", 2, kinds={
        "zero": lambda maker: b"0", "last": lambda maker: maker.rng.choice((b"0", b"-1"))}),
    Row("RPOPLPUSH key key", 2),
    Row("PUBLISH channel message", 1, kinds={"channel": lambda maker: b"c"}),
]
ROWS += [replace(row, weight=row.weight / 3) for row in scripts.ROWS if row.usage.startswith("EVAL")]
# Whatever else answers the same bytes; what waits does not inside a transaction.
ROWS += [replace(row, weight=max(row.weight * RARELY, AT_LEAST)) for row in scripts.TIMELESS
         if row.compare == "exact"]
