"""Keys of every type in two databases of each client's own: elements come and go, keys change their names and types,
databases change places and are emptied. After a kill both databases are as one and the same prefix of the client's commands
left them (prefix.py): every element, every expiry, and DBSIZE.
"""

import random
import threading

import prefix

CLIENTS = 2
FIRST_DATABASE = 2  # two for each client
KEYS = ["k%d" % i for i in range(9)]
MEMBERS = 400
FAR_MS = 4 * 10**12  # nothing expires during a run

# A key is [type, content, expire_at_ms]: bytes, {field: value}, a list, a set, {member: integer score}.
EMPTY = {"hash": dict, "list": list, "set": set, "zset": dict}


def edit(database, key, kind, change):
    """change(content) edits or answers a new one. What is left empty is gone."""
    def run(state):
        keys = state[database]
        held = keys.get(key) or [kind, EMPTY[kind](), 0]
        content = change(held[1])
        held[1] = held[1] if content is None else content
        if held[1]:
            keys[key] = held
        else:
            keys.pop(key, None)
    return run


def duplicate(held):
    return [held[0], held[1] if isinstance(held[1], bytes) else held[1].copy(), held[2]]


class Client(prefix.Client):
    def __init__(self, number, rng):
        self.databases = [FIRST_DATABASE + 2 * number, FIRST_DATABASE + 2 * number + 1]
        super().__init__("containers %d" % number, rng, {database: {} for database in self.databases})

    def op(self):
        database = self.rng.choice(self.databases)
        if self.rng.random() < 0.8:
            request, change = self.single(database)
            change(self.ahead)
            return [["SELECT", database], request], change
        requests, changes = [], []
        for _ in range(self.rng.randrange(2, 7)):
            request, change = self.single(database)
            change(self.ahead)
            requests.append(request)
            changes.append(change)

        def run(state):
            for change in changes:
                change(state)
        return [["SELECT", database], ["MULTI"], *requests, ["EXEC"]], run

    def single(self, database):
        keys, key = self.ahead[database], self.rng.choice(KEYS)
        if self.rng.random() < 0.15:
            return self.whole_key(database, keys, key)
        kind = keys[key][0] if key in keys else self.rng.choice(["string", "hash", "list", "set", "zset"])
        return {"string": self.string, "hash": self.hash, "list": self.list, "set": self.set,
                "zset": self.zset}[kind](database, key)

    def members(self):
        """Sometimes so many that what they change is many records of the log's blocks."""
        most = self.rng.choice([1, 3, 20, 20, MEMBERS])
        return [b"m%d" % member for member in self.rng.sample(range(MEMBERS), self.rng.randint(1, most))]

    def partner(self, database, kind):
        """A key that has this type, or none."""
        keys = self.ahead[database]
        return self.rng.choice([key for key in KEYS if key not in keys or keys[key][0] == kind] or [None])

    # Each answers a request and how it changes the state.

    def string(self, database, key):
        value = b"%d." % self.rng.randrange(10**6) * self.rng.choice([1, 1, 10, 500])

        def run(state):
            held = state[database].setdefault(key, ["string", b"", 0])
            held[1] += value
        return ["APPEND", key, value], run

    def hash(self, database, key):
        members = self.members()
        if self.rng.random() < 0.35:
            return ["HDEL", key, *members], edit(database, key, "hash", lambda content: [
                content.pop(member, None) for member in members] and None)
        value = b"%d" % self.rng.randrange(10**6)
        if self.rng.random() < 0.2:
            field = self.rng.choice([b"count1", b"count2"])
            return ["HINCRBY", key, field, value], edit(database, key, "hash", lambda content: content.update(
                {field: b"%d" % (int(content.get(field, 0)) + int(value))}))
        pairs = [part for member in members for part in (member, value)]
        return ["HSET", key, *pairs], edit(database, key, "hash", lambda content: content.update(
            dict.fromkeys(members, value)))

    def list(self, database, key):
        members, rng = self.members(), self.rng
        held = self.ahead[database].get(key)
        size = len(held[1]) if held else 0
        what = rng.choice(["RPUSH", "LPUSH", "POP", "LSET", "LTRIM", "LREM", "LINSERT", "LMOVE"])
        if what == "POP" and size > 0:
            count = rng.choice([1, 5, 100])
            return ["LPOP", key, count], edit(database, key, "list", lambda content: content[count:])
        if what == "LSET" and size > 0:
            at = rng.randrange(size)
            return ["LSET", key, at, members[0]], edit(database, key, "list", lambda content: content.__setitem__(
                at, members[0]))
        if what == "LTRIM":
            first, last = rng.randrange(4), rng.randrange(300)
            return ["LTRIM", key, first, last], edit(database, key, "list", lambda content: content[first:last + 1])
        if what == "LREM":
            return ["LREM", key, 0, members[0]], edit(database, key, "list", lambda content: [
                member for member in content if member != members[0]])
        if what == "LINSERT" and size > 0:
            pivot = rng.choice(held[1])
            return ["LINSERT", key, "BEFORE", pivot, members[0]], edit(
                database, key, "list", lambda content: content.insert(content.index(pivot), members[0]))
        other = self.partner(database, "list")
        if what == "LMOVE" and size > 0 and other:
            def run(state):
                if key == other:
                    return edit(database, key, "list", lambda content: content[1:] + content[:1])(state)
                moved = []
                edit(database, key, "list", lambda content: moved.append(content.pop(0)))(state)
                edit(database, other, "list", lambda content: content.append(moved[0]))(state)
            return ["LMOVE", key, other, "LEFT", "RIGHT"], run
        if what == "LPUSH":
            return ["LPUSH", key, *members], edit(database, key, "list", lambda content: members[::-1] + content)
        return ["RPUSH", key, *members], edit(database, key, "list", lambda content: content.extend(members))

    def set(self, database, key):
        members, other = self.members(), self.partner(database, "set")
        what = self.rng.choice(["SADD", "SADD", "SREM", "SMOVE", "SUNIONSTORE", "SDIFFSTORE"])
        if what == "SREM":
            return ["SREM", key, *members], edit(database, key, "set", lambda content: content.difference_update(members))
        if what == "SMOVE" and other and other != key:
            def run(state):
                if members[0] not in state[database].get(key, ["set", set()])[1]:
                    return
                edit(database, key, "set", lambda content: content.discard(members[0]))(state)
                edit(database, other, "set", lambda content: content.add(members[0]))(state)
            return ["SMOVE", key, other, members[0]], run
        if what in ("SUNIONSTORE", "SDIFFSTORE") and other:
            def run(state):
                one, two = [state[database].get(each, ["set", set()])[1] for each in (key, other)]
                made = one | two if what == "SUNIONSTORE" else one - two
                state[database].pop(key, None)
                edit(database, key, "set", lambda content: made)(state)
            return [what, key, key, other], run
        return ["SADD", key, *members], edit(database, key, "set", lambda content: content.update(members))

    def zset(self, database, key):
        members, rng = self.members(), self.rng
        what = rng.choice(["ZADD", "ZADD", "ZREM", "ZINCRBY", "ZPOPMIN", "ZREMRANGEBYSCORE", "ZUNIONSTORE"])
        score = rng.randrange(1000)
        if what == "ZREM":
            return ["ZREM", key, *members], edit(database, key, "zset", lambda content: [
                content.pop(member, None) for member in members] and None)
        if what == "ZINCRBY":
            return ["ZINCRBY", key, score, members[0]], edit(database, key, "zset", lambda content: content.update(
                {members[0]: content.get(members[0], 0) + score}))
        if what == "ZPOPMIN":
            count = rng.choice([1, 5, 100])
            return ["ZPOPMIN", key, count], edit(database, key, "zset", lambda content: dict(
                sorted(content.items(), key=lambda pair: pair[::-1])[count:]))
        if what == "ZREMRANGEBYSCORE":
            return ["ZREMRANGEBYSCORE", key, score, score + 100], edit(database, key, "zset", lambda content: {
                member: each for member, each in content.items() if not score <= each <= score + 100})
        other = self.partner(database, "zset")
        if what == "ZUNIONSTORE" and other:
            def run(state):
                one, two = [state[database].get(each, ["zset", {}])[1] for each in (key, other)]
                made = {member: max(one.get(member, 0), two.get(member, 0)) for member in one.keys() | two.keys()}
                state[database].pop(key, None)
                edit(database, key, "zset", lambda content: made)(state)
            return ["ZUNIONSTORE", key, 2, key, other, "AGGREGATE", "MAX"], run
        pairs = [part for member in members for part in (score, member)]
        return ["ZADD", key, *pairs], edit(database, key, "zset", lambda content: content.update(
            dict.fromkeys(members, score)))

    def whole_key(self, database, keys, key):
        rng, other = self.rng, self.rng.choice(KEYS)
        there = self.databases[database == self.databases[0]]
        what = rng.choice(["RENAME", "RENAME", "COPY", "COPY", "MOVE", "MOVE", "DEL", "PEXPIREAT", "PERSIST", "SET"]
                          + (["SWAPDB"] * 2 + ["FLUSHDB"] if rng.random() < 0.3 else []))
        if what == "SWAPDB":
            def run(state):
                state[database], state[there] = state[there], state[database]
            return ["SWAPDB", database, there], run
        if what == "FLUSHDB":
            return ["FLUSHDB"], lambda state: state[database].clear()
        if what == "SET":  # over whatever there is
            return ["SET", key, "new"], lambda state: state[database].update({key: ["string", b"new", 0]})
        if key not in keys or what == "DEL":
            return ["DEL", key, other], lambda state: [state[database].pop(each, None) for each in (key, other)]
        if what in ("PEXPIREAT", "PERSIST"):
            at = FAR_MS + rng.randrange(10**6) if what == "PEXPIREAT" else 0

            def expire(state):
                state[database][key][2] = at
            return [what, key, *([at] if at else [])], expire
        if what == "RENAME":
            return ["RENAME", key, other], lambda state: state[database].update({other: state[database].pop(key)})
        if what == "MOVE":
            def move(state):
                if key not in state[there]:
                    state[there][key] = state[database].pop(key)
            return ["MOVE", key, there], move
        to = database if other != key and rng.random() < 0.5 else there
        return ["COPY", key, other, "DB", to, "REPLACE"], lambda state: state[to].update(
            {other: duplicate(state[database][key])})

    def read(self, connection):
        return {database: self.read_database(connection, database) for database in self.databases}

    def read_database(self, connection, database):
        connection.call("SELECT", database)
        names = [name.decode() for name in connection.call("KEYS", "*")]
        size = connection.call("DBSIZE")
        assert size == len(names), "%s: DBSIZE %d, but %d keys exist" % (self.name, size, len(names))
        found = {}
        for name in names:
            kind, expire_at_ms = connection.call_all([["TYPE", name], ["PEXPIRETIME", name]])
            found[name] = [kind, read_content(connection, kind, name), max(0, expire_at_ms)]
        connection.call("SELECT", 0)
        return found


def read_content(connection, kind, name):
    if kind == "string":
        return connection.call("GET", name)
    if kind == "list":
        return connection.call("LRANGE", name, 0, -1)
    if kind == "set":
        return set(connection.call("SMEMBERS", name))
    if kind == "hash":
        flat = connection.call("HGETALL", name)
        return dict(zip(flat[::2], flat[1::2]))
    flat = connection.call("ZRANGE", name, 0, -1, "WITHSCORES")
    return dict(zip(flat[::2], map(int, flat[1::2])))


class Load:
    def __init__(self, rng):
        self.clients = [Client(i, random.Random(rng.random())) for i in range(CLIENTS)]

    def threads(self, connect):
        return [threading.Thread(target=client.run, args=(connect,)) for client in self.clients]

    def summary(self):
        return "%d changes of containers" % sum(client.done for client in self.clients)

    def check(self, connection):
        for client in self.clients:
            client.check(connection)
