"""Queues that blocked clients pop from: lists and sorted sets of items, each of which is pushed once.

- What was popped and acknowledged never comes back, and nobody else gets it.
- What was pushed and acknowledged is there, or was popped. What one pop in flight takes at most may be gone, for each
  consumer; nothing else.
- What one command or transaction pushed is there whole or not at all.
- An item that was moved is in one of the two lists.
"""

import random
import threading

DATABASE = 7
LISTS = ["list0", "list1", "list2"]
ZSETS = ["zset0", "zset1"]
MOVED = "moved"
CONSUMERS = 4
PRODUCERS = 2
ITEMS_MAX = 3000  # in the queues, before the producers rest


class Consumer:
    def __init__(self, rng, load):
        self.rng = rng
        self.load = load
        self.in_flight = 0  # items that the command without an answer may take

    def run(self, connect):
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                self.pop(connection)
        except ConnectionError:
            return

    def pop(self, connection):
        rng = self.rng
        what = rng.choice(["BLPOP", "BRPOP", "BLMPOP", "BLMOVE", "BZPOPMIN", "BZMPOP", "MOVED"])
        self.in_flight = 1
        if what in ("BLPOP", "BRPOP"):
            items = connection.call(what, *rng.sample(LISTS, len(LISTS)), 0.2)
            items = items[1:] if items else []
        elif what == "BZPOPMIN":
            items = connection.call(what, *rng.sample(ZSETS, len(ZSETS)), 0.2)
            items = items[1:2] if items else []
        elif what == "BLMPOP":
            self.in_flight = 7
            items = connection.call(what, 0.2, len(LISTS), *LISTS, "LEFT", "COUNT", 7)
            items = items[1] if items else []
        elif what == "BZMPOP":
            self.in_flight = 7
            items = connection.call(what, 0.2, len(ZSETS), *ZSETS, "MAX", "COUNT", 7)
            items = [item for item, _ in items[1]] if items else []
        elif what == "BLMOVE":
            self.in_flight = 0  # it takes nothing away
            item = connection.call(what, rng.choice(LISTS), MOVED, "LEFT", "RIGHT", 0.2)
            if item is not None:
                self.load.took_over(item)
            return
        else:
            items = connection.call("BLPOP", MOVED, 0.05)
            items = items[1:] if items else []
        self.load.popped(items)
        self.in_flight = 0


class Load:
    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()
        self.consumers = [Consumer(random.Random(rng.random()), self) for _ in range(CONSUMERS)]
        self.next_item = 0
        self.batches = []  # of this cycle: items and whether they were acknowledged
        self.here = set()  # items that were there after the last kill
        self.gone = set()  # items that were popped or lost in flight
        self.moved = set()  # of this cycle, acknowledged

    def threads(self, connect):
        works = [consumer.run for consumer in self.consumers] + [self.produce] * PRODUCERS
        return [threading.Thread(target=work, args=(connect,)) for work in works]

    def popped(self, items):
        with self.lock:
            for item in items:
                assert item not in self.gone, "item %s was popped twice" % item.decode()
                self.gone.add(item)

    def took_over(self, item):
        with self.lock:
            self.moved.add(item)

    def new_batch(self, size):
        with self.lock:
            items = [b"%d" % (self.next_item + i) for i in range(size)]
            self.next_item += size
            self.batches.append([items, False])
            return self.batches[-1]

    def produce(self, connect):
        rng = random.Random(self.rng.random())
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                if sum(connection.call_all([["LLEN", key] for key in LISTS])) > ITEMS_MAX:
                    connection.call("PING")
                    continue
                batch = self.new_batch(rng.choice([1, 1, 2, 5]))
                for requests in self.push(rng, batch[0]):
                    connection.call_all(requests)
                batch[1] = True
        except ConnectionError:
            return

    def push(self, rng, items):
        what = rng.choice(["RPUSH", "LPUSH", "ZADD", "MULTI", "EVAL"])
        if what == "ZADD":
            yield [["ZADD", rng.choice(ZSETS), *[part for item in items for part in (item, item)]]]
        elif what == "MULTI":
            yield [["MULTI"], *[["RPUSH", rng.choice(LISTS), item] for item in items[1:]],
                   ["ZADD", rng.choice(ZSETS), items[0], items[0]], ["EXEC"]]
        elif what == "EVAL":
            yield [["EVAL", "for i, item in ipairs(ARGV) do redis.call('LPUSH', KEYS[1 + i % 2], item) end", 2,
                    *rng.sample(LISTS, 2), *items]]
        else:
            yield [[what, rng.choice(LISTS), *items]]

    def summary(self):
        return "%d items popped" % len(self.gone)

    def check(self, connection):
        connection.call("SELECT", DATABASE)
        replies = connection.call_all([["LRANGE", key, 0, -1] for key in [MOVED, *LISTS]]
                                      + [["ZRANGE", key, 0, -1] for key in ZSETS])
        there = [item for items in replies for item in items]
        found = set(there)
        assert len(found) == len(there), "%d items are in two places" % (len(there) - len(found))
        assert not found & self.gone, "popped, and there again: %r" % sorted(found & self.gone)[:5]
        self.check_moved(set(replies[0]), found)
        lost = (self.here | self.pushed(found)) - found - self.gone
        most = sum(consumer.in_flight for consumer in self.consumers)
        assert len(lost) <= most, "%d items are lost, and %d may have been taken in flight: %r" % (
            len(lost), most, sorted(lost)[:10])
        self.gone |= lost
        self.here = found
        self.batches, self.moved = [], set()
        for consumer in self.consumers:
            consumer.in_flight = 0
        connection.call("SELECT", 0)

    def pushed(self, found):
        """Items of the batches that are there; of those in flight, any of which was seen."""
        known = set()
        seen = found | self.gone
        for items, is_known in self.batches:
            if is_known or any(item in seen for item in items):
                known.update(items)
        return known

    def check_moved(self, moved, found):
        left = (self.moved & found) - moved
        assert not left, "moved, and there where they were before: %r" % sorted(left)[:5]
