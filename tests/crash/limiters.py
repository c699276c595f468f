"""RL.* under kill -9: a load of its own beside that of crash.py, in database 1, and what must be found after each kill.

- Every algorithm, limits that do not refill during the run, shared by all clients:
  acknowledged <= charged <= acknowledged + in flight.
- Leases: whatever was lent and not given back is there, and nothing else but what was in flight.
- Bookings of one client each: what is booked is what some prefix of its commands booked, and that prefix holds
  everything acknowledged; a booking is returned once.
- A retry with the same ID takes nothing and gets the first answer, over the kill.
- A policy is the one last set, or one in flight.
- Ids and versions are never given out twice.
- Holds and bans: see holds.py. Tickets and overrides: see tickets.py.
- Who stood in a queue at the moment of the kill has taken nothing.
"""

import threading
import time

import holds
import tickets

DATABASE = "1"
CLIENTS = 3
WAITERS = 6
CAPACITY = 100000
HOURS_PER_PERMIT = 8  # 91 years in all; the run is over long before one comes back
HOUR_MS = 3600000
PIPELINE = 12
KEYS = 6  # of each algorithm
SLOW = "1/%dh" % HOURS_PER_PERMIT

COUNTED = {
    "gcra": ["GCRA", SLOW, "BURST", CAPACITY - 1],
    "token": ["TOKENBUCKET", SLOW, "CAPACITY", CAPACITY],
    "low": ["TOKENBUCKET", SLOW, "CAPACITY", CAPACITY, "INITIAL", CAPACITY // 2],
    "interval": ["TOKENBUCKET", "%d/3650d" % CAPACITY, "REFILL", "INTERVAL"],
    "leaky": ["LEAKY", SLOW, "CAPACITY", CAPACITY],
    "fixed": ["FIXED", "%d/3650d" % CAPACITY],
    "epoch": ["FIXED", "%d/3650d" % CAPACITY, "ALIGN", "EPOCH"],
    "log": ["SLIDINGLOG", "%d/3650d" % CAPACITY],
    "window": ["SLIDINGWINDOW", "%d/3650d" % CAPACITY],
    "counter": ["SLIDINGCOUNTER", "%d/3650d" % CAPACITY],
    "two": ["GCRA", SLOW, "BURST", CAPACITY - 1, "SLIDINGLOG", "%d/3650d" % CAPACITY],
    # Debt: each permit moves next_free by its hours; of the colder one the first costs half as many more, so the run must
    # not last as long as that.
    "bursty": ["BURSTY", SLOW, "MAXBURST", "1s"],
    "warmup": ["WARMUP", SLOW, "OVER", "%dh" % HOURS_PER_PERMIT],
}
DEBT = ("bursty", "warmup")
LEASES = ["CONCURRENCY", CAPACITY, "LEASE", "3650d"]
BOOKED_AT_ONCE = 5  # permits
BOOKED = ["GCRA", SLOW, "BURST", BOOKED_AT_ONCE - 1]
WAITED = ["FIXED", "1000/3650d"]


def charged(kind, reply):
    """From the verdict on cost 0, or for the pair with debt on cost 1."""
    if kind == "warmup":
        return reply[3] // (HOURS_PER_PERMIT * HOUR_MS)
    if kind == "bursty":
        return -(-reply[3] // (HOURS_PER_PERMIT * HOUR_MS))
    return (CAPACITY // 2 if kind == "low" else CAPACITY) - reply[2]


REMEMBERED_S = 55  # the server keeps an ID for a minute


class Account:
    """Permits of one key, counted by those who took them."""

    def __init__(self):
        self.lock = threading.Lock()
        self.known = 0
        self.in_flight = 0

    def sent(self, permits):
        with self.lock:
            self.in_flight += permits

    def acknowledged(self, permits):
        with self.lock:
            self.in_flight -= permits
            self.known += permits

    def check(self, name, found):
        assert self.known <= found <= self.known + self.in_flight, \
            "%s: acknowledged %d, in flight %d, charged %d" % (name, self.known, self.in_flight, found)
        self.known, self.in_flight = found, 0


class Bookings:
    """What one client has booked on its key, and the commands sent since the last reply."""

    def __init__(self, key):
        self.key = key
        self.permits = 0
        self.live = []  # [cost, id or None], in order
        self.pending = []

    def apply(self, op):
        """Answers what the reply must be; a granted booking's id is filled in by the caller."""
        cost, booking = op
        if booking is None:
            self.permits += cost
            if self.permits > BOOKED_AT_ONCE:  # else it is due, and there is nothing to cancel
                self.live.append([cost, None])
            return None
        if booking not in self.live:
            return 0
        at = self.live.index(booking)
        back = max(0, cost - sum(each[0] for each in self.live[at + 1:]))
        del self.live[at]
        self.permits -= back
        return back

    def settle(self, found):
        while (self.permits, len(self.live)) != found:
            assert self.pending, "%s: booked %r, found %r" % (self.key, (self.permits, len(self.live)), found)
            self.apply(self.pending.pop(0))
        self.pending.clear()


class Client:
    def __init__(self, number, rng, load):
        self.number = number
        self.rng = rng
        self.load = load
        self.leases = {}  # id -> sent to be released
        self.bookings = [Bookings("book:%d:%d" % (number, i)) for i in range(3)]
        self.holds = holds.Holds(number, rng)
        self.bans = holds.Bans(number)
        self.overrides = tickets.Overrides(number)
        self.tokens = 0
        self.answers = {}  # of this cycle's tokens, and when; None: in flight
        self.charged_again = [0, 0, 0]
        self.policy = [0, 0]  # acknowledged, sent

    def requests(self):
        for _ in range(PIPELINE):
            what = self.rng.random()
            if what < 0.3:
                yield self.take()
            elif what < 0.45:
                yield self.holds.request()
            elif what < 0.5:
                yield self.bans.request()
            elif what < 0.65:
                yield self.lease()
            elif what < 0.8:
                yield self.book()
            elif what < 0.93:
                yield self.token()
            elif what < 0.96:
                yield self.overrides.request(self.rng)
            else:
                yield self.set_policy()

    # Each answers the request and what to do with its reply.

    def take(self):
        kind = self.rng.choice(list(COUNTED))
        key = "%s:%d" % (kind, self.rng.randrange(KEYS))
        cost = self.rng.choice([1, 1, 2, 5])
        account = self.load.accounts[key]
        account.sent(cost)

        def done(reply):
            assert reply[0] == 1, "%s denied: %r" % (key, reply)
            account.acknowledged(cost)
        return ["RL.TAKE", key, *COUNTED[kind], "COST", cost] + (["FORCE"] if kind in DEBT else []), done

    def lease(self):
        free = [lease for lease, released in self.leases.items() if not released]
        if free and self.rng.random() < 0.45:
            lease = self.rng.choice(free)
            self.leases[lease] = True
            with self.load.lock:
                self.load.releases += 1

            def released(reply):
                assert reply == 1, "lease %d: released %r permits" % (lease, reply)
                del self.leases[lease]
                with self.load.lock:
                    self.load.releases -= 1
            return ["RL.RELEASE", "leases", lease], released
        self.load.lends.sent(1)

        def lent(reply):
            self.load.never_seen(reply[6])
            self.leases[reply[6]] = False
            self.load.lends.acknowledged(1)
        return ["RL.TAKE", "leases", *LEASES], lent

    def book(self):
        bookings = self.rng.choice(self.bookings)
        named = [each for each in bookings.live if each[1] is not None
                 and all(op[1] is not each for op in bookings.pending)]
        # Of one kind until they are answered: then every prefix leaves something else behind.
        cancels = bookings.pending[0][1] is not None if bookings.pending else self.rng.random() < 0.5
        if bookings.pending and cancels and not named:
            return self.take()
        if named and cancels:
            booking = named[-1] if self.rng.random() < 0.5 else self.rng.choice(named)
            op = (booking[0], booking)
            request = ["RL.CANCEL", bookings.key, booking[1]]
        else:
            op = (self.rng.choice([1, 1, 2, 5]), None)
            request = ["RL.RESERVE", bookings.key, *BOOKED, "COST", op[0]]
        bookings.pending.append(op)

        def done(reply):
            assert bookings.pending.pop(0) is op
            expected = bookings.apply(op)
            if op[1] is not None:
                assert reply == expected, "%s: %r returned %r, expected %r" % (bookings.key, op, reply, expected)
                return
            assert reply[0] == 1, "%s: no booking: %r" % (bookings.key, reply)
            self.load.never_seen(reply[2])
            assert (reply[1] > 0) == (bookings.permits > BOOKED_AT_ONCE), reply
            if reply[1] > 0:
                bookings.live[-1][1] = reply[2]
        return request, done

    def token_request(self, token):
        kind = ("gcra", "log", "fixed")[token % 3]
        name = ("RL.TAKE", "RL.ACQUIRE")[token // 3 % 2]
        wait = ["TIMEOUT", 0] if name == "RL.ACQUIRE" else []
        return [name, "id:%d:%s" % (self.number, kind), *COUNTED[kind], *wait, "ID", "token%d" % token]

    def token(self):
        self.tokens += 1
        token = self.tokens
        self.answers[token] = None

        def done(reply):
            assert reply[0] == 1, "token %d: %r" % (token, reply)
            self.answers[token] = (reply, time.monotonic())
        return self.token_request(token), done

    def set_policy(self):
        self.policy[1] += 1
        number = self.policy[1]

        def done(reply):
            assert reply == "OK", reply
            self.policy[0] = number
        return ["RL.POLICY", "SET", "p%d" % self.number, "GCRA", "%d/1h" % number], done

    def run(self, connect):
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                work = list(self.requests())
                connection.send_all([request for request, _ in work])
                for _, done in work:
                    done(connection.read())
        except (ConnectionError, OSError):
            return

    # What is found after the kill.

    def check(self, connection):
        for bookings in self.bookings:
            verdict, info = connection.call_all([("RL.PEEK", bookings.key, *BOOKED, "COST", 0),
                                                 ("RL.INFO", bookings.key)])
            permits = -(-verdict[4] // (HOURS_PER_PERMIT * HOUR_MS))
            bookings.settle((permits, 0 if info is None else info[info.index(b"bookings") + 1]))
        for lease, released in list(self.leases.items()):
            permits = connection.call("RL.RENEW", "leases", lease)
            assert permits == 1 or released, "lease %d is gone" % lease
            if permits == 0:
                del self.leases[lease]
            else:
                self.leases[lease] = False
        self.holds.check(connection)
        self.bans.check(connection)
        self.overrides.check(connection)
        self.check_tokens(connection)
        found = connection.call("RL.POLICY", "GET", "p%d" % self.number)
        number = 0 if found is None else int(found[1].split(b" ")[1].split(b"/")[0])
        assert self.policy[0] <= number <= self.policy[1], "policy %r: found %d" % (self.policy, number)
        self.policy = [number, number]

    def check_tokens(self, connection):
        for token, answered in self.answers.items():
            again = connection.call(*self.token_request(token))
            if answered is None:
                continue
            answer, at_s = answered
            if answer != again and time.monotonic() - at_s > REMEMBERED_S:
                self.charged_again[token % 3] += 1  # a machine so slow that the server had to forget it
                continue
            assert answer == again, "token %d: %r, then %r" % (token, answer, again)
        self.answers.clear()
        charges = [charged(kind, connection.call("RL.PEEK", "id:%d:%s" % (self.number, kind), *COUNTED[kind],
                                                 "COST", 0)) for kind in ("gcra", "log", "fixed")]
        expected = [sum(token % 3 == i for token in range(1, self.tokens + 1)) + self.charged_again[i]
                    for i in range(3)]
        assert charges == expected, "client %d: tokens charged %r times, expected %r" % (self.number, charges, expected)


class Load:
    def __init__(self, rng):
        self.rng = rng
        self.lock = threading.Lock()
        self.accounts = {"%s:%d" % (kind, i): Account() for kind in COUNTED for i in range(KEYS)}
        self.lends = Account()
        self.releases = 0  # in flight
        self.strangers = 0  # leases that were lent in flight
        self.ids = set()
        self.clients = [Client(i, rng, self) for i in range(CLIENTS)]
        self.tickets = tickets.Tickets(DATABASE)
        self.refunds = Account()
        self.waiters_granted = 0
        self.is_shut = False

    def never_seen(self, number):
        with self.lock:
            assert number not in self.ids, "%d was given out twice" % number
            self.ids.add(number)

    def threads(self, connect):
        works = [client.run for client in self.clients] + [self.wait] * WAITERS + [self.refund, self.tickets.run]
        return [threading.Thread(target=work, args=(connect,)) for work in works]

    def wait(self, connect):
        """Half of them stand where nobody ever gives anything back."""
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            key = self.rng.choice(["shut", "open"])
            while True:
                reply = connection.call("RL.ACQUIRE", key, *WAITED, "TIMEOUT", 0)
                assert key == "open" and reply[0] == 1, "a waiter on %s is told %r" % (key, reply)
                with self.lock:
                    self.waiters_granted += 1
        except (ConnectionError, OSError):
            return

    def refund(self, connect):
        try:
            connection = connect()
            connection.call("SELECT", DATABASE)
            while True:
                self.refunds.sent(1)
                connection.call("RL.REFUND", "open", 1)
                self.refunds.acknowledged(1)
        except (ConnectionError, OSError):
            return

    def summary(self):
        return "%d permits, %d leases and bookings, %d tokens, %d queues of tickets" % (
            sum(account.known for account in self.accounts.values()), len(self.ids),
            sum(client.tokens for client in self.clients), self.tickets.kept)

    def check(self, connection):
        connection.call("SELECT", DATABASE)
        names = list(self.accounts)
        kinds = [name.split(":")[0] for name in names]
        replies = connection.call_all([("RL.PEEK", name, *COUNTED[kind], "COST", 1 if kind in DEBT else 0)
                                       for name, kind in zip(names, kinds)])
        for name, kind, reply in zip(names, kinds, replies):
            self.accounts[name].check(name, charged(kind, reply))
        self.check_leases(connection)
        for client in self.clients:
            client.check(connection)
        self.check_waited(connection)
        self.tickets.check(connection)
        connection.call("SELECT", "0")

    def check_leases(self, connection):
        live = CAPACITY - connection.call("RL.PEEK", "leases", *LEASES, "COST", 0)[2]
        known = sum(len(client.leases) for client in self.clients) + self.strangers
        assert known - self.releases <= live <= known + self.lends.in_flight, \
            "leases: known %d, being released %d, in flight %d, found %d" % (
                known, self.releases, self.lends.in_flight, live)
        for client in self.clients:
            found = connection.call_all([("RL.RENEW", "leases", lease) for lease in client.leases])
            known -= found.count(0)
        self.strangers += live - known
        self.lends.in_flight = self.releases = 0

    def check_waited(self, connection):
        if not self.is_shut:
            self.is_shut = True
            connection.call_all([("RL.TAKE", key, *WAITED, "COST", 1000) for key in ("shut", "open")])
        left = connection.call("RL.PEEK", "shut", *WAITED, "COST", 0)[2]
        assert left == 0, "%d came back where nobody gave any" % left
        # Whoever was granted took what was given back; a grant may be in flight, up to one a waiter.
        left = connection.call("RL.PEEK", "open", *WAITED, "COST", 0)[2]
        given = self.refunds.known - self.waiters_granted
        assert given - WAITERS <= left <= given + self.refunds.in_flight, \
            "open: given back %d and %d in flight, granted to waiters %d, left %d" % (
                self.refunds.known, self.refunds.in_flight, self.waiters_granted, left)
        connection.call("RL.TAKE", "open", *WAITED, "COST", left)
        self.refunds.known = self.refunds.in_flight = self.waiters_granted = 0
