"""Strings, hashes, scripts, transactions and limiters, in one pipeline.

- Limiters that never refill during the run, shared by all clients:
  acknowledged <= charged <= acknowledged + in flight.
- Strings, each written by one client: all keys of a client are as some prefix of its commands left them, and that
  prefix holds everything acknowledged. So nothing is lost, torn or out of order.
- A script, or a function of a library, that writes several keys is one command among these: its writes are there whole or
  not at all. The script is loaded once, in the first cycle, and called by its name ever after.
- So is a transaction: what EXEC runs is there whole or not at all.
- Hashes, each written by one client, among the same commands: HSET, HDEL, HINCRBY, DEL, COPY, so that they come, grow and go.
  Their fields come back in the order in which they came.
- DBSIZE is the number of keys that exist.
"""

import hashlib
import random
import threading

LIMITERS = 2000
LIMIT = ("20000", "1", "100000")  # a permit every 27 hours
STRINGS_PER_CLIENT = 40
HASHES_PER_CLIENT = 12
FIELDS = 200
CLIENTS = 4
PIPELINE = 24
SCRIPT = "for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1] .. i) end return #KEYS"
SCRIPT_NAME = hashlib.sha1(SCRIPT.encode()).hexdigest()
FUNCTION = ("redis.register_function('put', function(keys, args) for i, key in ipairs(keys) do "
            "redis.call('SET', key, args[1] .. i) end return #keys end)")


def apply(state, op):
    """What one command does to a client's strings and hashes; a hash is its fields in order."""
    name, key, value = op
    if name == "SET":
        state[key] = value
    elif name == "APPEND":
        state[key] = state.get(key, b"") + value
    elif name == "DEL":
        state.pop(key, None)
    elif name in ("SCRIPT", "MULTI"):
        for number, one_key in enumerate(key, 1):
            state[one_key] = value + b"%d" % number
    elif name == "HSET":
        state.setdefault(key, {}).update(zip(value[::2], value[1::2]))
    elif name == "HINCRBY":
        fields = state.setdefault(key, {})
        fields[value[0]] = b"%d" % (int(fields.get(value[0], b"0")) + int(value[1]))
    elif name == "HDEL":
        for field in value:
            state.get(key, {}).pop(field, None)
        if not state.get(key):
            state.pop(key, None)
    elif name == "COPY" and key in state:
        state[value[0].decode()] = dict(state[key])


def same(found, state):
    """Whether the order of fields is the same, too."""
    return found == state and all(list(found[key]) == list(state[key])
                                  for key in state if isinstance(state[key], dict))


class Client:
    """Its strings and hashes as acknowledged, and the commands sent since."""

    def __init__(self, number, rng):
        self.number = number
        self.rng = rng
        self.values = {}
        self.pending = []  # sent, not acknowledged
        self.limiters_acknowledged = {}
        self.limiters_pending = {}

    def requests(self):
        for _ in range(PIPELINE):
            if self.rng.random() < 0.5:
                yield ("THROTTLE", "lim:%d" % self.rng.randrange(LIMITERS), None)
                continue
            if self.rng.random() < 0.5:
                yield self.hash_op()
                continue
            key = "str:%d:%d" % (self.number, self.rng.randrange(STRINGS_PER_CLIENT))
            name = self.rng.choice(["SET", "SET", "APPEND", "DEL", "SCRIPT", "MULTI"])
            if name in ("SCRIPT", "MULTI"):
                places = self.rng.sample(range(STRINGS_PER_CLIENT), 5)
                key = ["str:%d:%d" % (self.number, place) for place in places]
            size = 2000 if self.rng.random() < 0.05 else self.rng.randrange(40)
            value = b"%d." % self.rng.randrange(10**6) * (1 + size // 7)
            yield (name, key, None if name == "DEL" else value)

    def hash_op(self):
        """Fields with an odd number hold integers."""
        rng = self.rng
        key, other = ["hash:%d:%d" % (self.number, rng.randrange(HASHES_PER_CLIENT)) for _ in range(2)]
        name = rng.choice(["HSET", "HSET", "HINCRBY", "HINCRBY", "HDEL"] * 8 + ["DEL", "COPY"])
        field = b"f%d" % (rng.randrange(FIELDS // 2) * 2)
        if name == "COPY" and key != other:
            return (name, key, [other.encode(), b"REPLACE"])
        if name == "HINCRBY":
            return (name, key, [b"f%d" % (rng.randrange(FIELDS // 2) * 2 + 1), b"%d" % rng.randrange(-9, 100)])
        if name == "HSET":
            return (name, key, [field, b"%d" % rng.randrange(10**9) * rng.choice([1, 1, 1, 20])])
        return (name, key, None) if name == "DEL" else ("HDEL", key, [field, b"f%d" % rng.randrange(FIELDS)])

    def run(self, connect):
        try:
            connection = connect()
            while True:
                self.one_pipeline(connection)
        except ConnectionError:
            return

    def one_pipeline(self, connection):
        ops = list(self.requests())
        wire = []
        for op in ops:
            name, key, value = op
            if name == "THROTTLE":
                self.limiters_pending[key] = self.limiters_pending.get(key, 0) + 1
                wire.append(("CL.THROTTLE", key) + LIMIT)
            else:
                self.pending.append(op)
                if name == "SCRIPT":
                    command = self.rng.choice([("EVALSHA", SCRIPT_NAME), ("FCALL", "put")])
                    wire.append((*command, str(len(key)), *key, value))
                    continue
                if name == "MULTI":
                    sets = [("SET", one, value + b"%d" % number) for number, one in enumerate(key, 1)]
                    wire += [("MULTI",), *sets, ("EXEC",)]
                    continue
                wire.append((name, key, *([] if value is None else value if isinstance(value, list) else [value])))
        connection.send_all(wire)
        for op in ops:
            if op[0] == "MULTI":
                for _ in range(1 + len(op[1])):  # OK, and QUEUED for each
                    connection.read()
            reply = connection.read()
            if op[0] == "THROTTLE":
                assert reply[0] == 0, "a limiter that has room denied: %r" % (reply,)
                self.limiters_pending[op[1]] -= 1
                self.limiters_acknowledged[op[1]] = self.limiters_acknowledged.get(op[1], 0) + 1
            else:
                assert self.pending[0] is op
                apply(self.values, self.pending.pop(0))

    def settle(self, found):
        """Takes over what the server has, if some prefix of the pending commands explains it."""
        if same(found, self.values):
            self.pending.clear()
            return True
        while self.pending:
            apply(self.values, self.pending.pop(0))
            if same(found, self.values):
                self.pending.clear()
                return True
        return False


class Load:
    def __init__(self, rng):
        self.clients = [Client(i, random.Random(rng.random())) for i in range(CLIENTS)]
        self.charged = {}
        self.acknowledged = 0

    def threads(self, connect):
        return [threading.Thread(target=client.run, args=(connect,)) for client in self.clients]

    def summary(self):
        return "%d takes" % self.acknowledged

    def check(self, connection):
        existing = 0
        for client in self.clients:
            keys = ["str:%d:%d" % (client.number, i) for i in range(STRINGS_PER_CLIENT)]
            replies = connection.call_all([("GET", key) for key in keys])
            found = {key: value for key, value in zip(keys, replies) if value is not None}
            keys = ["hash:%d:%d" % (client.number, i) for i in range(HASHES_PER_CLIENT)]
            replies = connection.call_all([("HGETALL", key) for key in keys])
            found |= {key: dict(zip(flat[::2], flat[1::2])) for key, flat in zip(keys, replies) if flat}
            existing += len(found)
            assert client.settle(found), "client %d: no prefix of its commands explains its values" % client.number
        existing += self.check_limiters(connection)
        size = connection.call("DBSIZE")
        assert size == existing, "DBSIZE %d, but %d keys exist" % (size, existing)

    def check_limiters(self, connection):
        names = ["lim:%d" % i for i in range(LIMITERS)]
        replies = connection.call_all([("CL.THROTTLE", name) + LIMIT + ("0",) for name in names])
        for name, reply in zip(names, replies):
            charged = reply[1] - reply[2]
            known = self.charged.get(name, 0) + sum(c.limiters_acknowledged.get(name, 0) for c in self.clients)
            most = known + sum(c.limiters_pending.get(name, 0) for c in self.clients)
            assert known <= charged <= most, "%s: acknowledged %d, charged %d, possible %d" % (name, known, charged, most)
            self.charged[name] = charged
        for client in self.clients:
            self.acknowledged += sum(client.limiters_acknowledged.values())
            client.limiters_acknowledged.clear()
            client.limiters_pending.clear()
        return sum(charged > 0 for charged in self.charged.values())
