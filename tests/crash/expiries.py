"""Keys of all types that live for a moment: what has expired never returns, and nothing goes before its time.

A key is made anew again and again, each time under a new number, with an expiry a little ahead. Whatever is found of it is
of one number. The server's own clock is read around each command, so that a slow machine widens what is possible and fails
nothing.
"""

import random
import threading

DATABASE = 8
KINDS = ["string", "hash", "list", "set", "zset"]
CLIENTS = 4
KEYS = 60
SIZE = 40  # elements
LIVES_MS = [1, 20, 100, 400, 2000]
GRAIN_MS = 1  # of expiries
EVER = float("inf")


def milliseconds(time):
    return int(time[0]) * 1000 + int(time[1]) / 1000


class Key:
    def __init__(self, number):
        self.kind = KINDS[number % len(KINDS)]
        self.name = "%s:%d" % (self.kind, number)
        self.possible = [(0, None, None)]  # what may be there: number, and between which instants it expires (0: nothing)
        self.newest = 0

    def request(self, number):
        name, word = self.name, b"%d" % number
        places = range(SIZE)
        return {"string": lambda: ["SET", name, word],
                "hash": lambda: ["HSET", name, *[part for i in places for part in (i, word)]],
                "list": lambda: ["RPUSH", name, *[word] * SIZE],
                "set": lambda: ["SADD", name, *["%d:%d" % (i, number) for i in places]],
                "zset": lambda: ["ZADD", name, *[part for i in places for part in (number, i)]]}[self.kind]()

    def read_request(self):
        return {"string": ["GET"], "hash": ["HVALS"], "list": ["LRANGE", 0, -1], "set": ["SMEMBERS"],
                "zset": ["ZRANGE", 0, -1, "WITHSCORES"]}[self.kind]

    def number_in(self, reply):
        """0: absent. Checks that all is of one number."""
        if not reply:
            return 0
        if self.kind == "string":
            return int(reply)
        words = {"hash": lambda: reply, "list": lambda: reply, "set": lambda: [e.split(b":")[1] for e in reply],
                 "zset": lambda: reply[1::2]}[self.kind]()
        assert len(words) == SIZE and len(set(words)) == 1, "%s holds %d elements of %r" % (
            self.name, len(words), set(words))
        return int(words[0])

    def seen(self, reply, began_ms, ended_ms):
        """A reply to a request that was sent and answered at these instants."""
        number = self.number_in(reply)
        fitting = []
        for life in self.possible:
            may_be_gone = life[0] == 0 or ended_ms + GRAIN_MS >= life[1]
            may_be_there = life[0] != 0 and began_ms - GRAIN_MS <= life[2]
            if (number == 0 and may_be_gone) or (number == life[0] and may_be_there):
                fitting.append(life)
        assert fitting, "%s: number %d was found from %.1f to %.1f, possible (number, expiry from, to): %r" % (
            self.name, number, began_ms, ended_ms, self.possible)
        self.possible = fitting if number else [(0, None, None)]


class Load:
    def __init__(self, rng):
        self.rng = random.Random(rng.random())
        self.keys = [Key(number) for number in range(KEYS)]
        self.lives = 0
        self.clock_ms = 0

    def threads(self, connect):
        return [threading.Thread(target=self.run, args=(connect, self.keys[i::CLIENTS], self.rng.random()))
                for i in range(CLIENTS)]

    def run(self, connect, keys, seed):
        rng = random.Random(seed)
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                key = rng.choice(keys)
                if rng.random() < 0.5:
                    self.look(connection, key)
                else:
                    self.make(connection, key, rng.choice(LIVES_MS))
        except ConnectionError:
            return

    def timed(self, connection, *requests):
        """The last reply, and the instants between which all requests ran."""
        began, *_, reply, ended = connection.call_all([["TIME"], *requests, ["TIME"]])
        self.clock_ms = milliseconds(ended)
        return reply, milliseconds(began), self.clock_ms

    def look(self, connection, key):
        command, *rest = key.read_request()
        key.seen(*self.timed(connection, [command, key.name, *rest]))

    def make(self, connection, key, life_ms):
        """In one transaction, of which anything may be true until it is answered."""
        key.newest += 1
        key.possible.append((key.newest, self.clock_ms + life_ms, EVER))
        _, began_ms, ended_ms = self.timed(connection, ["MULTI"], ["DEL", key.name], key.request(key.newest),
                                           ["PEXPIRE", key.name, life_ms], ["EXEC"])
        key.possible = [(key.newest, began_ms + life_ms, ended_ms + life_ms)]
        self.lives += 1

    def summary(self):
        return "%d short lives" % self.lives

    def check(self, connection):
        """Whatever was in flight ran before now."""
        connection.call("SELECT", DATABASE)
        latest_ms = milliseconds(connection.call("TIME")) + max(LIVES_MS)
        for key in self.keys:
            key.possible = [(number, first, latest_ms if last == EVER else last) for number, first, last in key.possible]
            self.look(connection, key)
        connection.call("SELECT", 0)
