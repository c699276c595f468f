"""Plays a stream on both servers and stops at the first difference."""

from compare import COMPARE, is_cut_error
from grammar import Special
from specials import SPECIALS, Difference
from state import read_state
from wire import Closed, Silent, reply_end


class Mismatch(Exception):
    """`at` counts requests from the stream's first; it is their number if the end state differs."""

    def __init__(self, at, op, ours, theirs):
        super().__init__("mismatch")
        self.at, self.op, self.ours, self.theirs = at, op, ours, theirs


class Player:
    """`servers` are weir and Redis, in this order."""

    def __init__(self, servers):
        self.servers = servers
        self.timeout_s = 60
        self.control = None
        self.pairs = []

    def play(self, stream):
        for server in self.servers:
            server.restart_if_dead()
        self.profile = stream.profile
        self.at, self.op = 0, None
        try:
            self.begin()
            for batch in stream.batches:
                self.play_batch(batch)
            self.compare_metrics()
            self.compare_state()
        except (Closed, Silent, OSError) as gone:
            note = f"{gone}, after {getattr(gone, 'got', b'')[:200]!r}".encode()
            raise Mismatch(self.at, self.op, note, b"(it was one of the two)") from None
        finally:
            for pair in self.pairs + [self.control]:
                for connection in pair or []:
                    connection.close()
            self.pairs, self.control = [], None

    def connect(self):
        return [server.connect(self.timeout_s) for server in self.servers]

    def reconnect(self, pair):
        for connection in pair:
            connection.close()
        pair[:] = self.connect()

    def begin(self):
        self.control = self.connect()
        for connection in [node for spread in self.control for node in spread.each]:
            connection.command("FLUSHALL")
            connection.command("FUNCTION", "FLUSH")
            connection.command("SCRIPT", "FLUSH")
        self.metrics = self.read_metrics()

    def play_batch(self, batch):
        while len(self.pairs) <= batch.connection:
            self.pairs.append(self.connect())
        pair = self.pairs[batch.connection]
        for connection in pair:
            connection.turn_to(batch.ops[0].node)
        if isinstance(batch.ops[0], Special):
            return self.play_special(pair, batch.ops[0])
        for connection in pair:  # both work at the same time
            self.send(connection, batch)
        replies = [self.replies(connection, batch) for connection in pair]
        for op, ours, theirs in zip(batch.ops, *replies):
            if not COMPARE[op.compare](self.profile, ours, theirs) and not is_cut_error(ours, theirs):
                raise Mismatch(self.at, op, ours, theirs)
            self.at += 1
        if batch.ops[-1].ends:
            self.expect_end(pair, batch.ops[-1])

    @staticmethod
    def send(connection, batch):
        try:
            connection.send(batch.chunks(connection), batch.pauses)
        except Silent:
            pass  # it answers nothing either

    def replies(self, connection, batch):
        """Of each request; a connection that ends too early leaves a note instead."""
        try:
            return connection.replies(len(batch.ops))
        except Closed as closed:
            return self.fill_up(batch, closed.got, b"the connection was closed")
        except Silent as silent:
            return self.fill_up(batch, silent.got, b"no reply came")

    @staticmethod
    def fill_up(batch, got, note):
        replies, at = [], 0
        while (end := reply_end(got, at)) is not None and len(replies) < len(batch.ops):
            replies.append(got[at:end])
            at = end
        return replies + [note + b", after " + got[at:at + 200]] * (len(batch.ops) - len(replies))

    def play_special(self, pair, op):
        self.op = op
        try:
            SPECIALS[op.compare](self, pair, op)
        except Difference as difference:
            raise Mismatch(self.at, op, difference.ours, difference.theirs) from None
        self.at += 1
        self.op = None

    def restart_ours(self):
        self.compare_metrics()
        for pair in self.pairs + [self.control]:
            for connection in pair:
                connection.close()
        self.pairs = []
        self.servers[0].restart()
        self.control = self.connect()
        self.metrics = self.read_metrics()

    def expect_end(self, pair, op):
        ours, theirs = [connection.transcript(b"", b"\0never\0", 5) for connection in pair]
        if ours != theirs:
            raise Mismatch(self.at - 1, op, repr(ours).encode(), repr(theirs).encode())
        self.reconnect(pair)

    def read_metrics(self):
        """Hits and misses of INFO from each server; None from one that has no INFO."""
        metrics = []
        for spread in self.control:
            infos = [node.command("INFO", "stats") for node in spread.each]
            lines = [line.split(b":", 1) for info in infos for line in info.split(b"\r\n")]
            counts = [[int(line[1]) for line in lines if line[0] == name]
                      for name in (b"keyspace_hits", b"keyspace_misses")]
            metrics.append([sum(count) for count in counts] if all(counts) else None)
        return metrics

    def compare_metrics(self):
        after = self.read_metrics()
        if self.metrics[0] is None or not self.profile.counted:
            return
        ours, theirs = [[new - old for new, old in zip(after[i], self.metrics[i])]
                        for i in range(2)]
        if ours != theirs:
            raise Mismatch(self.at, None, f"hits, misses: {ours}".encode(),
                           f"hits, misses: {theirs}".encode())

    def compare_state(self):
        """All that both hold in the end, so that no request has to stumble over it."""
        for nodes in zip(*(connection.each for connection in self.control)):
            self.compare_states(*[read_state(node) for node in nodes])

    def compare_states(self, ours, theirs):
        for place in sorted(set(ours) | set(theirs)):
            first, second = ours.get(place), theirs.get(place)
            if not self.same_record(first, second):
                raise Mismatch(self.at, None, f"{place}: {first}".encode(),
                               f"{place}: {second}".encode())

    def same_record(self, first, second):
        if first is None or second is None or first[0] != second[0]:
            return False
        ends = [b":%d\r\n" % record[1] for record in (first, second)]
        return COMPARE["instant-ms"](self.profile, *ends)
