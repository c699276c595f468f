"""Tickets (RL.ACQUIRE with ID) and overrides of policies under kill -9, of one client each.

- Who stood in a queue when the server said so has that place after the kill: two ask again, the later one first, and the
  earlier one is granted first. Nothing was taken for either meanwhile.
- An override is the one last set, or one in flight; a policy that was set again kept it.
"""

import time

from support.resp import Client

FULL = ["FIXED", "1/3650d"]
KEPT_S = 45  # a place is kept for a minute after its connection is lost
STANDS_WITHIN_S = 20


def waiting(connection, key):
    info = connection.call("RL.INFO", key)
    return 0 if info is None else info[info.index(b"waiting") + 1]


def stand(connection, watcher, key, token, until):
    """Begins to wait; answers whether the server says that so many stand there."""
    connection.send_all([("RL.ACQUIRE", key, *FULL, "TIMEOUT", 0, "ID", token)])
    give_up = time.monotonic() + STANDS_WITHIN_S
    while waiting(watcher, key) < until:
        if time.monotonic() > give_up:
            return False
        time.sleep(0.001)
    return True


class Tickets:
    """A new queue in each cycle."""

    def __init__(self, database):
        self.database = database
        self.at = 0
        self.known = 0
        self.stood_s = 0.0
        self.kept = self.too_late = 0

    def key(self):
        return "ticket:%d" % self.at

    def open(self, connect):
        connection = connect()
        connection.call("SELECT", self.database)
        return connection

    def run(self, connect):
        try:
            self.at += 1
            self.known = 0
            watcher, first, second = (self.open(connect) for _ in range(3))
            assert watcher.call("RL.TAKE", self.key(), *FULL)[0] == 1
            for number, (connection, token) in enumerate([(first, "first"), (second, "second")], 1):
                if stand(connection, watcher, self.key(), token, number):
                    self.stood_s = time.monotonic()
                    self.known = number
            first.read()  # the kill
            raise AssertionError("%s: granted though nobody gave anything back" % self.key())
        except (ConnectionError, OSError):
            return

    def check(self, connection):
        if self.known < 2:
            return
        self.known = 0
        port = connection.socket.getpeername()[1]

        def connect():
            return Client(port, 30)
        watcher, first, second = (self.open(connect) for _ in range(3))
        stood = stand(second, watcher, self.key(), "second", 1) and stand(first, watcher, self.key(), "first", 2)
        if not stood or time.monotonic() - self.stood_s > KEPT_S:
            self.too_late += 1
        else:
            for connection, name in ((first, "first"), (second, "second")):
                assert watcher.call("RL.REFUND", self.key(), 1) is not None
                connection.socket.settimeout(STANDS_WITHIN_S)
                reply = connection.read()
                assert reply[0] == 1, "%s: the %s is told %r" % (self.key(), name, reply)
            self.kept += 1
        watcher.call("DEL", self.key())
        for connection in (watcher, first, second):
            connection.close()


class Overrides:
    """Of a policy of its own."""

    def __init__(self, number):
        self.name = "o%d" % number
        self.numbers = {}  # key -> [acknowledged, sent]
        self.exists = False

    def request(self, rng):
        if not self.exists or rng.random() < 0.1:
            def made(reply):
                assert reply == "OK", reply
                self.exists = True
            return ["RL.POLICY", "SET", self.name, "GCRA", "1/1h"], made
        key = "k%d" % rng.randrange(40)
        number = self.numbers.setdefault(key, [0, 0])
        number[1] += 1
        sent = number[1]

        def done(reply):
            assert reply == "OK", reply
            number[0] = sent
        return ["RL.POLICY", "OVERRIDE", self.name, "KEY", key, "GCRA", "%d/1h" % sent], done

    def check(self, connection):
        found = {}
        cursor = b"0"
        while self.exists:
            cursor, rows = connection.call("RL.POLICY", "OVERRIDES", self.name, cursor)
            for _, key, effect in rows:
                found[key.decode()] = int(effect.split(b" ")[1].split(b"/")[0])
            if cursor == b"0":
                break
        for key, (acknowledged, sent) in self.numbers.items():
            number = found.pop(key, 0)
            assert acknowledged <= number <= sent, "override %s of %s: acknowledged %d, sent %d, found %d" % (
                key, self.name, acknowledged, sent, number)
            self.numbers[key] = [number, number]
        assert not found, "overrides that nobody set: %r" % found
