"""The connection itself, requests that no server knows, and bytes that are no request."""

import pools
from grammar import Row


def unknown_name(maker):
    while True:
        name = maker.rng.choice((b"NOSUCH", b"get ", b"ge", b"foo|bar", b"config|get", b"x" * 130,
                                 pools.random_bytes(maker.rng, 12)))
        # Names that Redis has and weir has not are no business of this stream.
        if name.lower() not in maker.known_names:
            return name


BYTES = [b"\r\n", b"\n", b"\r\n\r\n", b"*0\r\n", b"*-1\r\n", b"*-2147483648\r\n", b"*\r\n", b"*abc\r\n",
         b"* 1\r\n", b"*+1\r\n$4\r\nPING\r\n", b"*01\r\n$4\r\nPING\r\n", b"*1.0\r\n",
         b"*1048577\r\n", b"*2147483647\r\n", b"*2147483648\r\n", b"*9223372036854775808\r\n",
         b"*1\r\nPING\r\n", b"*1\r\n:1\r\n", b"*1\r\n\r\n", b"*1\r\n$\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$abc\r\n",
         b"*1\r\n$ 4\r\nPING\r\n", b"*1\r\n$+4\r\nPING\r\n", b"*1\r\n$04\r\nPING\r\n",
         b"*1\r\n$536870913\r\n", b"*1\r\n$9223372036854775807\r\n", b"*1\r\n$4\r\nPINGxy",
         b"*2\r\n$4\r\nECHO\r\n$1\r\nab\r\n", b"*2\r\n$4\r\nECHO\r\n*1\r\n", b"*1\r\n$4\nPING\n",
         b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$x\r\n", b"PING\n", b"ping\r\n", b"  PING  \r\n", b"\tPING\r\n",
         b"PING \x00\r\n", b"\x00\r\n", b"ECHO 'it''s'\r\n", b'ECHO "a"b\r\n', b'ECHO "open\r\n',
         b"ECHO 'open\r\n", b'ECHO "\\x41\\n\\q"\r\n', b"ECHO '\\''\r\n", b'ECHO ""\r\n', b'""\r\n', b"$4\r\n",
         b"+OK\r\n", b"GET\r\n", b"a" * 60000 + b"\r\n", b"a" * 200000, b"*" + b"1" * 200000,
         b"*1\r\n$" + b"1" * 200000, b"\xff\xfe\r\n", b"\r", b"\r\r\n"]


def no_request(maker):
    if maker.rng.random() < 0.8:
        return maker.rng.choice(BYTES)
    return bytes(maker.rng.choice(b"*$\r\n0123 \"'\\aG-") for _ in range(maker.rng.randint(1, 12)))


ROWS = [
    Row("PING [message]", 2),
    Row("ECHO message", 2),
    Row("SELECT db", 14),
    Row("HELLO [protocol]", 2, "hello", kinds={
        "protocol": lambda maker: maker.rng.choice((b"2", b"3", b"2", b"3", b"4", b"1", b"abc", b""))}),
    Row("HELLO 3 [AUTH user password] [SETNAME name]", 1, "hello", kinds={
        "user": lambda maker: maker.rng.choice((b"default", b"nosuch")),
        "password": lambda maker: maker.rng.choice((b"", b"x")),
        "name": lambda maker: maker.rng.choice((b"name", b"with space", b"", b"\x00"))}),
    Row("AUTH junk [junk]", 1),
    Row("RESET", 1),
    Row("QUIT", 1, ends=True),
    Row("unknown [value ...]", 3, kinds={"unknown": unknown_name}),
    Row("unknown [long ...]", 1, kinds={
        "unknown": unknown_name, "long": lambda maker: b"x" * maker.rng.randint(0, 200)}),
    Row("BYTES no-request", 1, "special:bytes", kinds={"no-request": no_request}),
]
