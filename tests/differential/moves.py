#!/usr/bin/env python3
"""Values on the move between weir-server and redis-server 7.0: DUMP here, RESTORE there, both ways;
MIGRATE from Redis to weir; dumps in forms of long ago; dumps that somebody has bent.

    tests/differential/moves.py WEIR_SERVER [--values N] [--seed N]

What is compared is the whole value, its OBJECT ENCODING, its order where it has one, its expiry;
and the bytes of the dump themselves where both servers keep a value in the same form.
"""

import argparse
import random
import sys

import rdb_forms
from servers import redis_server, weir_server

PASSWORD = b"secret"
# A hash table's order is its own.
UNORDERED = b"hashtable"
BENT_BYTES_MAX = 1000


class Difference(Exception):
    pass


class Values:
    """Random values as the commands that make them."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        pick = self.random
        kind = pick.randrange(10)
        if kind < 3:
            return str(pick.choice([pick.randrange(-20, 200), pick.randrange(-5000, 5000),
                                    pick.randrange(-1 << 31, 1 << 31),
                                    pick.randrange(-1 << 63, 1 << 63)])).encode()
        if kind == 3:
            return pick.choice([b"", b"0", b"-0", b"007", b"+1", b" 1", b"1.5", b"127", b"128", b"-4096",
                                b"-4097", b"4095", b"4096", b"8388607", b"-8388609", b"2147483648",
                                b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808",
                                b"y" * 16378])
        length = pick.choice([pick.randrange(70), pick.randrange(300), 63, 64, 65,
                              pick.randrange(5000) if kind == 4 else 5])
        if kind < 6:
            return bytes([pick.randrange(256)]) * length
        return pick.randbytes(length)

    def short_text(self):
        return self.text()[:64]

    def score(self):
        pick = self.random
        return pick.choice([0.0, -0.0, 1.0, float(pick.randrange(-100, 100)), pick.uniform(-2, 2), 1e17, -3e18,
                            5e18, 1e300, 5e-324, 0.1, float("inf"), float("-inf"), 2.0 ** 62,
                            pick.uniform(-1e20, 1e20)])

    def count(self):
        return self.random.choice([1, 2, 5, 20, 127, 128, 129, 200, 511, 512, 513, 600])

    def texts(self, few=None):
        of = self.random.choice([self.text, self.short_text, self.short_text])
        return list(dict.fromkeys(of() for _ in range(few or self.count())))

    def integers(self):
        bits = self.random.choice([8, 15, 16, 31, 32, 63])
        return [str(self.random.randrange(-1 << bits, 1 << bits)).encode() for _ in range(self.count())]

    def commands(self, key):
        pick = self.random
        kind = pick.randrange(6)
        if kind == 0:
            return [[b"SET", key, self.text()]]
        if kind == 1:
            push = pick.choice([b"RPUSH", b"RPUSH", b"LPUSH"])
            return [[push, key, data] for data in self.texts() + self.texts(10)]
        if kind == 2:
            return [[b"SADD", key, *pick.choice([self.texts, self.integers])()]]
        if kind == 3:
            return [[b"HSET", key, data, self.short_text()] for data in self.texts()]
        if kind == 4:
            pairs = [part for data in self.texts() for part in (b"%.17g" % self.score(), data)]
            return [[b"ZADD", key, *pairs]]
        members = self.texts()  # large once, small now
        return [[b"HSET", key, *[part for data in members for part in (data, b"v" * 65)]],
                [b"HDEL", key, *members[3:]]]


def state_of(connection, key):
    """Type, form and all elements."""
    kind = connection.command(b"TYPE", key)
    form = connection.command(b"OBJECT", b"ENCODING", key)
    asks = {b"+string": (b"GET", key), b"+list": (b"LRANGE", key, b"0", b"-1"),
            b"+hash": (b"HGETALL", key), b"+set": (b"SMEMBERS", key),
            b"+zset": (b"ZRANGE", key, b"0", b"-1", b"WITHSCORES")}
    found = connection.command(*asks[kind]) if kind in asks else None
    if form == UNORDERED:
        step = 2 if kind == b"+hash" else 1
        found = sorted(zip(*[iter(found)] * step))
    return kind, form if kind != b"+string" else None, found


class Mover:
    def __init__(self, weir, redis, values):
        self.servers = weir, redis
        self.weir, self.redis = weir.connect(), redis.connect()
        self.values = values
        self.done = {}

    def count(self, what):
        self.done[what] = self.done.get(what, 0) + 1

    def expect(self, got, wanted, what):
        if got != wanted:
            raise Difference(f"{what}\n    got      {got!r:.700}\n    expected {wanted!r:.700}")

    def restore_on_both(self, key, dump, *options):
        """Redis' own answer, and what it then holds, is what is expected."""
        restore = [b"RESTORE", key, b"0", dump, b"REPLACE", *options]
        wanted = self.redis.command(*restore)
        self.expect(self.weir.command(*restore), wanted, f"RESTORE of {dump!r}")
        wanted_state = state_of(self.redis, key)
        self.expect(state_of(self.weir, key), wanted_state, f"what became of {dump!r:.300}")
        return wanted, wanted_state

    def journey(self):
        """From Redis to weir, and back."""
        compressed = self.values.random.random() < 0.5
        self.redis.command(b"CONFIG", b"SET", b"rdbcompression", b"yes" if compressed else b"no")
        commands = self.values.commands(b"begin")
        for command in commands:
            self.redis.command(*command)
        dump = self.redis.command(b"DUMP", b"begin")
        _, state = self.restore_on_both(b"moved", dump)
        back = self.weir.command(b"DUMP", b"moved")
        if not compressed and state[1] != UNORDERED and commands[0][0] != b"LPUSH":
            self.expect(back, self.redis.command(b"DUMP", b"moved"), f"the dumps of {state!r:.500}")
            self.count("equal dumps")
        self.expect(self.redis.command(b"RESTORE", b"moved", b"0", back, b"REPLACE"), b"+OK",
                    f"RESTORE on Redis of {back!r}")
        self.expect(state_of(self.redis, b"moved"), state, "a value moved back")
        self.redis.command(b"DEL", b"begin")
        self.count(f"moved as {state[0].decode()[1:]} {(state[1] or b'').decode()}".strip())

    def old_forms(self):
        """What no server at hand writes."""
        values = self.values
        kind = values.random.randrange(5)
        if kind == 0:
            bodies = list(rdb_forms.strings(values.text()))
        elif kind == 1:
            bodies = list(rdb_forms.lists(values.texts(values.random.randrange(1, 40))))
        elif kind == 2:
            members = values.integers() if values.random.random() < 0.6 else values.texts()
            bodies = list(rdb_forms.sets(list(dict.fromkeys(members))))
        else:
            members = list(dict.fromkeys(values.short_text() for _ in range(values.random.randrange(1, 140))))
            pairs = [(member, values.short_text()) for member in members]
            scored = sorted(((values.score() + 0.0, member) for member in members))
            bodies = list(rdb_forms.hashes(pairs) if kind == 3 else
                          rdb_forms.zsets([(member, score) for score, member in scored]))
        self.bodies = bodies
        for body in bodies:
            version = values.random.choice([1, 6, 9, 10])
            answer, _ = self.restore_on_both(b"old", rdb_forms.sealed(body, version))
            self.expect(answer, b"+OK", f"RESTORE of {body!r}")
            self.count(f"read type {body[0]}")

    def forms_of_redis_72(self):
        """Which 7.0 does not read; it is given the members in another way."""
        members = self.values.texts(self.values.random.randrange(1, 130))
        body = rdb_forms.listpack_set(members)
        self.expect(self.weir.command(b"RESTORE", b"set", b"0", rdb_forms.sealed(body, 11), b"REPLACE"), b"+OK",
                    f"RESTORE of {body!r:.500}")
        self.redis.command(b"DEL", b"set")
        self.redis.command(b"SADD", b"set", *members)
        self.expect(state_of(self.weir, b"set"), state_of(self.redis, b"set"), "a set of Redis 7.2")
        self.count("read type 20")

    def bent(self):
        """A byte or two of a dump that is changed, with its checksum set right. Redis told to look
        closely refuses; weir does where Redis does, and in a few more cases."""
        body = self.bend(self.values.random.choice(self.bodies))
        if body is None:
            return
        payload = rdb_forms.sealed(body)
        for connection in (self.redis, self.weir):
            connection.command(b"DEL", b"bent")
        restore = [b"RESTORE", b"bent", b"0", payload]
        wanted, got = self.redis.command(*restore), self.weir.command(*restore)
        if wanted == got == b"+OK":
            self.expect(state_of(self.weir, b"bent"), state_of(self.redis, b"bent"), f"what became of {body!r}")
            self.count("bent, read by both")
        elif wanted == got or got.endswith(b" is not supported"):
            self.count("bent, refused by both")
        elif got == b"-ERR Bad data format" and wanted == b"+OK" and self.is_stricter(body):
            self.count("bent, refused by weir alone")
        else:
            raise Difference(f"a bent dump: weir {got}, Redis {wanted}: {body!r} "
                             f"{state_of(self.redis, b'bent')!r:.300}")

    def bend(self, body):
        pick, body = self.values.random, bytearray(body)
        if len(body) > BENT_BYTES_MAX:
            return None
        for _ in range(pick.randrange(1, 3)):
            at = pick.choice([0, 1, -1, pick.randrange(len(body)), pick.randrange(min(len(body), 30))])
            body[at] = pick.choice([0, 255, 1, 2, body[at] ^ 1 << pick.randrange(8), pick.randrange(256)])
        if pick.random() < 0.2:
            del body[pick.randrange(len(body)):]
        return bytes(body)

    def is_stricter(self, body):
        """Redis looks neither at what is left behind a value, nor at where the payload's end begins,
        nor at the order of a packed sorted set, nor behind a number that is a score, nor at the
        marks that say that a size is none."""
        state = state_of(self.redis, b"bent")
        whole = rdb_forms.sealed(body)
        for end in range(1, len(whole) + 1):
            payload = rdb_forms.sealed(whole[:end])
            if self.weir.command(b"RESTORE", b"bent", b"0", payload, b"REPLACE") == b"+OK":
                return state_of(self.weir, b"bent") == state
        encoded_size = len(body) > 1 and body[1] >> 6 == 3 and body[0] in (1, 2, 3, 4, 5, 14, 18)
        has_score_text = body[0] in (3, 12, 17)
        return has_score_text or encoded_size or state[2] == b""  # compressed, to nothing


class Migrations:
    """Redis' own MIGRATE, to weir."""

    def __init__(self, mover):
        self.weir_server = mover.servers[0]
        self.weir, self.redis, self.expect = mover.weir, mover.redis, mover.expect
        self.values = mover.values

    def migrate(self, key, *options, database=0):
        return self.redis.command(b"MIGRATE", b"127.0.0.1", self.weir_server.port, key, database, 5000, *options)

    def run(self):
        for connection in (self.weir, self.redis):
            connection.command(b"FLUSHALL")
        self.one_by_one()
        self.many()
        self.with_passwords()

    def one_by_one(self):
        self.redis.command(b"RPUSH", b"k", b"a", b"b")
        self.redis.command(b"PEXPIREAT", b"k", 4102444800000)
        self.expect(self.migrate(b"k", b"COPY"), b"+OK", "MIGRATE COPY")
        self.expect(self.redis.command(b"EXISTS", b"k"), 1, "the key is still there")
        self.expect(state_of(self.weir, b"k"), state_of(self.redis, b"k"), "what MIGRATE brought")
        left_ms = 4102444800000 - self.weir.command(b"PEXPIRETIME", b"k")
        self.expect(abs(left_ms) < 60_000, True, f"the expiry, {left_ms} ms off")
        self.expect(self.migrate(b"k"), b"-ERR Target instance replied with error: "
                    b"BUSYKEY Target key name already exists.", "MIGRATE to a key that is there")
        self.redis.command(b"RPUSH", b"k", b"c")
        self.expect(self.migrate(b"k", b"REPLACE", database=3), b"+OK", "MIGRATE REPLACE")
        self.expect(self.redis.command(b"EXISTS", b"k"), 0, "the key is gone")
        self.weir.command(b"SELECT", 3)
        self.expect(self.weir.command(b"LRANGE", b"k", 0, -1), [b"a", b"b", b"c"], "the list in database 3")
        self.weir.command(b"SELECT", 0)
        self.expect(self.migrate(b"k"), b"+NOKEY", "MIGRATE of nothing")
        self.redis.command(b"XADD", b"stream", b"*", b"f", b"v")
        self.expect(self.migrate(b"stream"), b"-ERR Target instance replied with error: "
                    b"ERR RESTORE of a stream is not supported", "MIGRATE of a stream")

    def many(self):
        keys = [b"many:%d" % number for number in range(40)]
        for key in keys:
            for command in self.values.commands(key):
                self.redis.command(*command)
        states = [state_of(self.redis, key) for key in keys]
        self.expect(self.migrate(b"", b"REPLACE", b"KEYS", *keys), b"+OK", "MIGRATE KEYS")
        self.expect(self.redis.command(b"EXISTS", *keys), 0, "the keys are gone")
        self.expect([state_of(self.weir, key) for key in keys], states, "what MIGRATE KEYS brought")

    def with_passwords(self):
        self.redis.command(b"SET", b"k", b"v")
        self.weir.command(b"ACL", b"SETUSER", b"mover", b"on", b">" + PASSWORD, b"~*", b"+restore", b"+select")
        self.weir.command(b"CONFIG", b"SET", b"requirepass", PASSWORD)
        refused = self.migrate(b"k", b"COPY", b"AUTH", b"wrong")
        self.expect(refused[:44], b"-ERR Target instance replied with error: WRO", "MIGRATE with a wrong password")
        for login in ((b"AUTH", PASSWORD), (b"AUTH2", b"mover", PASSWORD)):
            self.expect(self.migrate(b"k", b"COPY", b"REPLACE", *login), b"+OK", f"MIGRATE {login[0]}")
        self.weir.command(b"AUTH", PASSWORD)
        self.weir.command(b"CONFIG", b"SET", b"requirepass", b"")
        self.expect(self.weir.command(b"GET", b"k"), b"v", "what came with a password")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--values", type=int, default=600)
    parser.add_argument("--seed", type=int)
    return parser.parse_args()


def play(mover, values):
    for _ in range(values):
        mover.journey()
        mover.old_forms()
        mover.forms_of_redis_72()
        mover.bent()
    Migrations(mover).run()


def main():
    arguments = parse_arguments()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    print(f"seed {seed}")
    weir, redis = weir_server(arguments.program, ["--storage", "memory"]), redis_server()
    redis.command += ["--sanitize-dump-payload", "yes"]
    clean = True
    try:
        weir.start()
        redis.start()
        mover = Mover(weir, redis, Values(seed))
        play(mover, arguments.values)
        for what, count in sorted(mover.done.items()):
            print(f"{count:6} {what}")
    finally:
        clean = all([server.stop() for server in (weir, redis)])
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
