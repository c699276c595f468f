"""Holds and bans under kill -9, of one client each.

- A hold that was told of is there; one that was settled is not, and its permits are those that were used. A settlement
  in flight is sent again, and gets the answer that it had or would have had: it counts once.
- What is charged is what some prefix of the takes in flight charged, beyond all that is known.
- A ban that was told of goes on, and no key is banned that was denied too seldom.
"""

CAPACITY = 1000000
LIMITS = ["FIXED", "%d/3650d" % CAPACITY, "SLIDINGLOG", "%d/3650d" % CAPACITY]
DENIALS = 3
BANNED = ["FIXED", "1/3650d", "BAN", "3650d", "AFTER", DENIALS, "WITHIN", "3650d"]


class Holds:
    """On one key."""

    def __init__(self, number, rng):
        self.key = "held:%d" % number
        self.rng = rng
        self.charged = 0
        self.open = {}  # id -> what it was charged
        self.takes = []  # in flight: what each charges
        self.settling = {}  # in flight: id -> what was used
        self.strangers = 0  # holds that were made in flight, whose ids nobody knows

    def request(self):
        free = [hold for hold in self.open if hold not in self.settling]
        return self.settle(self.rng.choice(free)) if free and self.rng.random() < 0.5 else self.take()

    def take(self):
        estimate = self.rng.randrange(1, 20)
        self.takes.append(estimate)

        def done(reply):
            assert reply[0] == 1 and len(reply) == 7, "%s: %r" % (self.key, reply)
            assert self.takes.pop(0) == estimate
            self.charged += estimate
            self.open[reply[6]] = estimate
        return ["RL.TAKE", self.key, *LIMITS, "COST", estimate, "HOLD", "1d"], done

    def settle(self, hold):
        used = self.rng.randrange(0, 30)
        self.settling[hold] = used

        def done(reply):
            self.settled(hold, reply)
        return ["RL.SETTLE", self.key, hold, used], done

    def settled(self, hold, reply):
        assert reply is not None and reply[0] == 1, "%s: hold %d is gone: %r" % (self.key, hold, reply)
        self.charged += self.settling.pop(hold) - self.open.pop(hold)

    def check(self, connection):
        for hold, used in list(self.settling.items()):
            self.settled(hold, connection.call("RL.SETTLE", self.key, hold, used))
        info = connection.call("RL.INFO", self.key)
        held = 0 if info is None else info[info.index(b"holds") + 1]
        extra = held - len(self.open) - self.strangers
        assert 0 <= extra <= len(self.takes), "%s: %d holds, known %d and %d strangers" % (
            self.key, held, len(self.open), self.strangers)
        found = 0
        for limits in (LIMITS[:2], LIMITS[2:]):
            found = CAPACITY - connection.call("RL.PEEK", self.key, *limits, "COST", 0)[2]
            expected = self.charged + sum(self.takes[:extra])
            assert found == expected, "%s: charged %d, expected %d" % (self.key, found, expected)
        self.charged = found
        self.strangers += extra
        self.takes.clear()


class Bans:
    """On one key after another: each is asked until it is banned."""

    def __init__(self, number):
        self.number = number
        self.at = 0
        self.answered = self.sent = 0

    def key(self):
        return "ban:%d:%d" % (self.number, self.at)

    def request(self):
        if self.sent > DENIALS and self.answered == self.sent:
            self.at += 1
            self.answered = self.sent = 0
        self.sent += 1

        def done(reply):
            self.answered += 1
            assert reply[0] == (1 if self.answered == 1 else 0), "%s: %r" % (self.key(), reply)
        return ["RL.TAKE", self.key(), *BANNED], done

    def check(self, connection):
        info = connection.call("RL.INFO", self.key())
        banned = info is not None and info[info.index(b"banned_ms") + 1] > 0
        assert not banned or self.sent > DENIALS, "%s is banned after %d requests" % (self.key(), self.sent)
        assert banned or self.answered <= DENIALS, "%s is not banned after %d" % (self.key(), self.answered)
        self.at += 1
        self.answered = self.sent = 0
