"""Clients that write a journal: they take permits, count up, and read, at whichever member serves. Now and then
one counts up and sets a large value in one EXEC, whose turn is longer than what NATS takes in one message.

What they ask for `once` has an ID, and is asked for until it is answered: it is charged once, however often
that was. Every value in the journal is how often the key was counted up: for a limit that never refills that is
its permits less what remains.
"""

import itertools
import random
import threading
import time

import journal
from members import PORT, Client, Refused

PERMITS = 100_000_000
LIMIT = ("FIXED", f"{PERMITS}/3650d")
KEYS = 6
READER_PACE_S = 0.02
KEEPS_ASKING_S = 40  # weir knows an ID for 60
BALLAST_BYTES = 1_300_000
BALLAST_SHARE = 0.01  # of what counts up
# The kinds of requests, and of their keys: limits, limits asked with an ID, counters.
KINDS = {"take": "l", "peek": "l", "once": "i", "incr": "c", "get": "c"}
# Errors that say that nothing was done.
REFUSALS = ("READONLY", "MASTERDOWN", "CLUSTERDOWN", "LOADING", "MISCONF", "TRYAGAIN", "MOVED")


def count_of_limit(reply):
    return PERMITS - reply[2]


def read_count(ask, key):
    """What is charged at a key, whoever asks."""
    if key[0] in "li":
        return count_of_limit(ask("RL.PEEK", key, *LIMIT, "COST", 0))
    return int(ask("GET", key) or 0)


def all_keys(tag=""):
    return [f"{kind}{number}{tag}" for kind in "lic" for number in range(KEYS)]


class Caller(threading.Thread):
    def __init__(self, hosts, path, number, pace_s, seed, tag=""):
        super().__init__(daemon=True)
        self.path = path
        self.number = number
        self.tag = tag  # of all its keys: a shard's, as {b}
        self.again = None  # the request whose outcome is not known, and until when it is asked for
        self.journal = journal.Writer(path)
        self.hosts = itertools.cycle(hosts[number % len(hosts):] + hosts[:number % len(hosts)])
        self.host = next(self.hosts)
        # Some wait for a database that fails over, others soon look for another member.
        self.timeout_s = 1.0 if number % 2 else 5.0
        self.pace_s = pace_s
        self.rng = random.Random(seed)
        self.acknowledged = 0
        self.ended = threading.Event()
        self.failure = None
        self.client = None
        self.kinds = list(KINDS)
        self.rests = threading.Event()
        self.avoids = None  # a host

    def run(self):
        try:
            while not self.ended.wait(self.pace_s * self.rng.uniform(0.5, 1.5)):
                if not self.rests.is_set():
                    self.turn()
        except Exception as failure:  # pylint: disable=broad-except
            self.failure = repr(failure)

    def turn(self):
        if self.client is None and not self.connect():
            return
        kind, key, token = self.next_request()
        try:
            value = self.request(kind, key, token)
        except Refused as refused:
            if not str(refused).startswith(REFUSALS):
                raise
            if kind != "once":
                self.journal.refused(str(refused))
            return self.go_on(refused=True)
        except OSError:
            return self.go_on()
        self.journal.reply(value, self.host)
        self.acknowledged += 1
        self.again = None

    def next_request(self):
        """(kind, key, ID): a new one in the journal, or that of `once` whose outcome is not known yet."""
        if self.again and time.monotonic() < self.again[1]:
            return self.again[0]
        kind = self.rng.choice(self.kinds)
        key = f"{KINDS[kind]}{self.rng.randrange(KEYS)}{self.tag}"
        self.journal.send(kind, key)
        request = kind, key, f"{self.number}-{self.journal.number}"
        self.again = (request, time.monotonic() + KEEPS_ASKING_S) if kind == "once" else None
        return request

    def request(self, kind, key, token):
        if kind in ("take", "once"):
            reply = self.client.call("RL.TAKE", key, *LIMIT, *(("ID", token) if kind == "once" else ()))
            if reply[0] != 1:
                raise AssertionError(f"a limit with room denies: {reply}")
            return count_of_limit(reply)
        if kind == "incr":
            return self.count_with_ballast(key) if self.rng.random() < BALLAST_SHARE else self.client.call("INCR", key)
        return read_count(self.client.call, key)

    def count_with_ballast(self, key):
        self.client.call("MULTI")
        self.client.call("INCR", key)
        self.client.call("SET", f"ballast{self.number}{self.tag}", self.rng.randbytes(BALLAST_BYTES))
        replies = self.client.ask("EXEC")
        if isinstance(replies, Refused):
            raise replies
        return replies[0]

    def connect(self):
        if self.host == self.avoids:
            self.host = next(self.hosts)
        try:
            self.client = Client((self.host, PORT), 0.5)
            self.client.socket.settimeout(self.timeout_s)
            return True
        except OSError:
            self.host = next(self.hosts)
            return False

    def go_on(self, refused=False):
        """At the next member."""
        del refused
        self.client.close()
        self.client = None
        self.host = next(self.hosts)

    def end(self):
        self.ended.set()
        self.join(20)


class Reader(Caller):
    """Asks one member only, whoever serves: a primary that was deposed would tell it an old count."""

    def run(self):
        self.kinds = [kind for kind in KINDS if kind in ("peek", "get")]
        self.timeout_s = 1.0
        super().run()

    def go_on(self, refused=False):
        if not refused:
            super().go_on()


def callers_of_one(hosts, folder, count, pace_s, seed):
    """Of a shard that is alone."""
    return Callers([Caller(hosts, f"{folder}/client-{number}.journal", number, pace_s * count, seed * 100 + number)
                    for number in range(count)],
                   [Reader([host], f"{folder}/reader-{number}.journal", number, READER_PACE_S, seed * 100 + 50 + number)
                    for number, host in enumerate(hosts)])


class Callers:
    def __init__(self, callers, readers):
        self.callers = callers
        self.all = callers + readers

    def start(self):
        for caller in self.all:
            caller.start()

    def acknowledged(self):
        return sum(caller.acknowledged for caller in self.callers)

    def rest(self):
        """Nothing of theirs is under way any more."""
        for caller in self.callers:
            caller.rests.set()
        time.sleep(0.3)

    def go_on(self, avoiding=None):
        """At another member than that host, if it is named."""
        for caller in self.callers:
            if caller.avoids != avoiding and caller.client and caller.rests.is_set():
                caller.go_on()
            caller.avoids = avoiding
            caller.rests.clear()

    def failures(self):
        return [caller.failure for caller in self.all if caller.failure]

    def end(self):
        for caller in self.all:
            caller.ended.set()
        for caller in self.all:
            caller.end()

    def paths(self):
        return [caller.path for caller in self.all]

    def wait_served(self, patience_s, count=10):
        """So many more are acknowledged."""
        begin, end = self.acknowledged(), time.monotonic() + patience_s
        while self.acknowledged() < begin + count:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True
