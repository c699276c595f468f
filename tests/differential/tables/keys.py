"""Keys of any type, their expiry, and databases."""

from grammar import Row, choose

# Two keys and instants a millisecond apart, so that conditions on expiries meet their borders.
CLOSE = {"kinds": {
    "hot": choose([b"a", b"b"]), "second": choose([b"4102444800"]),
    "millisecond": choose([b"4102444799999", b"4102444800000", b"4102444800001"])}}

ROWS = [
    Row("DEL key [key ...]", 3),
    Row("UNLINK key [key ...]", 2),
    Row("EXISTS key [key ...]"),
    Row("TOUCH key [key ...]", 2),
    Row("TYPE key", 4),
    Row("RENAME key key"),
    Row("RENAMENX key key"),
    Row("COPY key key [DB db] [REPLACE]", 6),
    Row("MOVE key db"),
    Row("EXPIRE key seconds [NX | XX | GT | LT]", 6, relative_at=(2,)),
    Row("PEXPIRE key milliseconds [NX | XX | GT | LT]", 6, relative_at=(2,)),
    Row("EXPIREAT key unix-seconds [NX | XX | GT | LT]", 6),
    Row("PEXPIREAT key unix-milliseconds [NX] [XX] [GT] [LT]", 6),
    Row("PEXPIREAT hot millisecond [GT | LT]", 6, **CLOSE),
    Row("EXPIREAT hot second [GT | LT]", 3, **CLOSE),
    Row("SETNX hot value", 3, **CLOSE),
    Row("TTL key", 4, "seconds"),
    Row("PTTL key", 4, "milliseconds"),
    Row("EXPIRETIME key", 4, "instant-s"),
    Row("PEXPIRETIME key", 4, "instant-ms"),
    Row("PERSIST key"),
    Row("OBJECT ENCODING key", 1, "shape"),
    Row("OBJECT REFCOUNT key", 1, "shape"),
    Row("OBJECT junk [key]", 1),
    Row("RANDOMKEY", 1, "special:randomkey"),
    Row("KEYS pattern", 4, "unordered"),
    Row("SCAN [MATCH pattern] [COUNT count] [TYPE type]", 2, "special:scan"),
    Row("SCAN junk [bad-count] [COUNT bad-count] [TYPE] [MATCH]", 2, "scan-page"),
    Row("SCAN cursor [MATCH pattern] [COUNT bad-count] [TYPE type]", 3, "scan-page"),
    Row("DBSIZE", 4, "dbsize"),
    Row("FLUSHDB [ASYNC | SYNC]", 1),
    Row("FLUSHALL [ASYNC | SYNC | junk]", 1),
    Row("SWAPDB db db", 2),
    # A key that holds no string.
    Row("FOREIGN key", 4, "special:foreign"),
]
