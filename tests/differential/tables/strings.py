"""Strings."""

from grammar import Row

SET_TIMES = {"relative_after": ("EX", "PX"), "lingers_after": ("EXAT", "PXAT")}

ROWS = [
    Row("GET key", 8),
    Row("SET key value", 10, **SET_TIMES),
    Row("SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-seconds"
        " | PXAT unix-milliseconds | KEEPTTL]", 12, **SET_TIMES),
    Row("SET key value [GET] [KEEPTTL | EX seconds | PXAT unix-milliseconds] [XX | NX]", 6,
        **SET_TIMES),
    Row("SET key integer", 6, **SET_TIMES),
    Row("SETNX key value"),
    Row("SETEX key seconds value", relative_at=(2,)),
    Row("PSETEX key milliseconds value", relative_at=(2,)),
    Row("GETSET key value"),
    Row("GETDEL key", 2),
    Row("GETEX key [EX seconds | PX milliseconds | EXAT unix-seconds | PXAT unix-milliseconds"
        " | PERSIST]", 6, relative_after=("EX", "PX")),
    Row("MGET key [key ...]"),
    Row("MSET key value [key value ...]"),
    Row("MSETNX key value [key value ...]", 3),
    Row("INCR key"),
    Row("DECR key"),
    Row("INCRBY key integer", 6),
    Row("DECRBY key integer"),
    Row("INCRBY key small", 6),
    Row("INCRBYFLOAT key float", 6),
    Row("APPEND key value", 6),
    Row("STRLEN key"),
    Row("GETRANGE key integer integer"),
    Row("GETRANGE key small small", 5),
    Row("SUBSTR key small small", 1),
    Row("SETRANGE key offset value", 5),
]
