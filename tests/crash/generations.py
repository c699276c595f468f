"""Several keys of several types that are always written together: by MULTI, by a script, by a function.

Every element of every key of a group carries the number of the write that put it there. After each kill, and at any moment
to whoever reads the group in one transaction, all of them carry the same number: the last that was acknowledged, or one in
flight. Groups are small and large: a write to the largest changes thousands of elements, in a record of the log of
hundreds of kilobytes. A script that fails at its end keeps its writes, as in Redis: they, too, whole or not at all.

Many keys are also overwritten by copies of others, which costs the clients nothing, so that the server is busy with writing
down large turns for most of the time, and many kills fall there.
"""

import random
import threading

DATABASE = 6
SIZES = [3, 60, 1500]  # elements of each collection
COPIED = 100  # likewise, of what is copied; and so many strings
COPIED_BYTES = 8000  # of each string
KINDS = ["string", "hash", "list", "set", "zset"]

# Half of the writes make all keys anew. The others overwrite elements in place, save in the set, whose members must change.
WRITE = """
local g, size, anew, fails = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', ARGV[4] == '1'
if anew then redis.call('DEL', unpack(KEYS)) end
redis.call('SET', KEYS[1], g)
for i = 1, size do
  redis.call('HSET', KEYS[2], i, g)
  if anew or redis.call('LLEN', KEYS[3]) < size then redis.call('RPUSH', KEYS[3], g)
  else redis.call('LSET', KEYS[3], i - 1, g) end
end
redis.call('DEL', KEYS[4])
for i = 1, size do
  redis.call('SADD', KEYS[4], i .. ':' .. g)
  redis.call('ZADD', KEYS[5], g, i)
end
if fails then error('on purpose') end
return g
"""
COPY = """
for i = 1, #KEYS, 2 do redis.call('COPY', KEYS[i], KEYS[i + 1], 'REPLACE') end
redis.call('INCR', 'copies')
"""
FUNCTION = "redis.register_function('write', function(KEYS, ARGV) " + WRITE + " end)"


class Writer:
    def __init__(self, size, rng):
        self.size = size
        self.rng = rng
        self.keys = ["%s%d" % (kind, size) for kind in KINDS]
        self.known = 0
        self.sent = 0

    def run(self, connect):
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                if self.rng.random() < 0.2:
                    self.fail(connection)
                else:
                    self.write(connection)
        except ConnectionError:
            return

    def fail(self, connection):
        self.sent += 1
        connection.send_all([["EVAL", WRITE, 5, *self.keys, self.sent, self.size, self.rng.randrange(2), 1]])
        error = str(connection.reply())
        assert "on purpose" in error, error
        self.known += 1

    def write(self, connection):
        writes = [self.write_requests() for _ in range(self.rng.randrange(1, 4) if self.size < 1000 else 1)]
        connection.send_all([request for requests in writes for request in requests])
        for requests in writes:
            for _ in requests:
                connection.read()
            self.known += 1

    def write_requests(self):
        self.sent += 1
        g, size, anew = b"%d" % self.sent, self.size, self.rng.randrange(2)
        how = self.rng.choice(["EVAL", "FCALL", "MULTI"])
        if how != "MULTI":
            return [[how, WRITE if how == "EVAL" else "write", 5, *self.keys, g, size, anew, 0]]
        string, hash_key, list_key, set_key, zset = self.keys
        lists = [["DEL", list_key], ["RPUSH", list_key, *[g] * size]]
        if not anew and self.sent > 1:
            lists = [["RPUSH", list_key, *[g] * size], ["LTRIM", list_key, -size, -1]]
        return [["MULTI"], ["SET", string, g], *([["DEL", hash_key, zset]] if anew else []),
                ["HSET", hash_key, *[part for i in range(1, size + 1) for part in (i, g)]], *lists,
                ["DEL", set_key], ["SADD", set_key, *["%d:%s" % (i, g.decode()) for i in range(1, size + 1)]],
                ["ZADD", zset, *[part for i in range(1, size + 1) for part in (g, i)]], ["EXEC"]]

    def read(self, connection):
        """The one number that all of the group carries."""
        return read_group(connection, self.keys, self.size)


class Copier:
    """What is named "copy" is as what is named "odd" or "even", which a number beside it tells."""

    def __init__(self, rng):
        self.rng = rng
        self.keys, *self.sources = [["%s:%s" % (name, kind) for kind in KINDS] for name in ("copy", "even", "odd")]
        self.strings, *self.string_sources = [["%s:%d" % (name, i) for i in range(COPIED)]
                                              for name in ("copy", "even", "odd")]
        self.is_prepared = False
        self.known = 0
        self.sent = 0

    def prepare(self, connection):
        for number in range(2):
            connection.call("EVAL", WRITE, 5, *self.sources[number], number, COPIED, 1, 0)
            connection.call_all([["SET", string, b"%d" % number * COPIED_BYTES]
                                 for string in self.string_sources[number]])
        self.is_prepared = True

    def run(self, connect):
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            if not self.is_prepared:
                self.prepare(connection)
            while True:
                sizes = [self.send(connection) for _ in range(4)]
                for size in sizes:
                    for _ in range(size):
                        connection.read()
                    self.known += 1
        except ConnectionError:
            return

    def send(self, connection):
        """Answers the number of replies."""
        self.sent += 1
        sources = self.sources[self.sent % 2] + self.string_sources[self.sent % 2]
        copies = list(zip(sources, self.keys + self.strings))
        if self.rng.random() < 0.2:
            requests = [["MULTI"], *[["COPY", *pair, "REPLACE"] for pair in copies], ["INCR", "copies"], ["EXEC"]]
        else:
            requests = [["EVAL", COPY, 2 * len(copies), *[key for pair in copies for key in pair]]]
        connection.send_all(requests)
        return len(requests)

    def read(self, connection):
        """How many copies were made."""
        count = int(connection.call("GET", "copies") or 0)
        if count == 0:
            return 0
        found = {b"%d" % read_group(connection, self.keys, COPIED)}
        for value in connection.call("MGET", *self.strings):
            assert len(value) == COPIED_BYTES and len(set(value)) == 1, "a string is torn: %.100r" % value
            found.add(value[:1])
        assert found == {b"%d" % (count % 2)}, "%d copies were made, but what is there is of %r" % (count, found)
        return count


def read_group(connection, keys, size):
    """The one number that all of a group carries; 0 where there is nothing."""
    string, hash_key, list_key, set_key, zset = keys
    requests = [["MULTI"], ["GET", string], ["HGETALL", hash_key], ["LRANGE", list_key, 0, -1],
                ["SMEMBERS", set_key], ["ZRANGE", zset, 0, -1, "WITHSCORES"], ["EXEC"]]
    found, *collections = connection.call_all(requests)[-1]
    if found is None:
        assert not any(collections), "%s: elements without the string" % string
        return 0
    names = [b"%d" % i for i in range(1, size + 1)]
    pairs = [part for name in names for part in (name, found)]
    expected = [pairs, [found] * size, [b"%s:%s" % (name, found) for name in names], pairs]
    for kind, one, other in zip(KINDS[1:], collections, expected):
        assert sorted(one) == sorted(other), "%s is of write %s, but the %s has %s" % (
            string, found.decode(), kind, summary_of(one))
    return int(found)


def summary_of(elements):
    """How often each number is there."""
    counts = {}
    for element in elements:
        counts[element] = counts.get(element, 0) + 1
    return "%d elements, of them most often %s" % (len(elements), sorted(
        counts.items(), key=lambda pair: -pair[1])[:3])


class Load:
    def __init__(self, rng):
        self.rng = rng
        self.writers = [Writer(size, random.Random(rng.random())) for size in SIZES]
        self.copier = Copier(random.Random(rng.random()))

    def threads(self, connect):
        works = [writer.run for writer in self.writers] + [self.copier.run, self.read]
        return [threading.Thread(target=work, args=(connect,)) for work in works]

    def read(self, connect):
        rng = random.Random(self.rng.random())
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                rng.choice(self.writers).read(connection)
        except ConnectionError:
            return

    def summary(self):
        return "%d writes together, %d copies" % (sum(writer.known for writer in self.writers), self.copier.known)

    def check(self, connection):
        connection.call("SELECT", DATABASE)
        for writer in [*self.writers, self.copier]:
            found = writer.read(connection)
            assert writer.known <= found <= writer.sent, "write %d was acknowledged, %d sent, %d is there" % (
                writer.known, writer.sent, found)
            writer.known = writer.sent = found
        connection.call("SELECT", 0)
