"""A client whose data nobody else writes: after a kill they are as some prefix of its commands left them.

That prefix holds every command that was acknowledged, so nothing is lost, torn or out of order. A load derives from
Client, makes its commands (op) and reads back what the server has (read); the rest is here.
"""

import copy


class Client:
    PIPELINE = 16

    def __init__(self, name, rng, values):
        self.name = name
        self.rng = rng
        self.values = values  # as acknowledged
        self.ahead = None  # with what was sent since
        self.pending = []  # how that changes the values, in order
        self.done = 0

    def op(self):
        """The requests of one command or transaction, and how it changes the values. It has done so to `ahead`."""
        raise NotImplementedError

    def read(self, connection):
        """What the server has, in the form of the values."""
        raise NotImplementedError

    def run(self, connect):
        self.ahead = copy.deepcopy(self.values)
        try:
            connection = connect()
            while True:
                self.one_pipeline(connection)
        except ConnectionError:
            return

    def one_pipeline(self, connection):
        ops = [self.op() for _ in range(self.rng.randrange(1, self.PIPELINE + 1))]
        self.pending = [change for _, change in ops]
        connection.send_all([request for requests, _ in ops for request in requests])
        for requests, change in ops:
            for _ in requests:
                connection.read()
            change(self.values)
            self.pending.pop(0)
            self.done += 1

    def check(self, connection):
        found = self.read(connection)
        while found != self.values:
            assert self.pending, "%s: no prefix of its commands explains what is there: %s" % (
                self.name, difference(found, self.values))
            self.pending.pop(0)(self.values)
        self.pending = []


def difference(found, expected):
    """In short, compared with the last of the prefixes."""
    if not isinstance(found, dict) or not isinstance(expected, dict):
        return "%.200r for %.200r" % (found, expected)
    for key in sorted(set(found) | set(expected)):
        if found.get(key) != expected.get(key):
            return "%r: " % key + difference(found.get(key), expected.get(key))
    return "nothing"
