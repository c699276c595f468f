"""What the long commands of docs/TESTING.md cost: measure_long_commands.py path/to/weir-server

Each command has 100,000 elements before it (or bytes, turns of a loop, patterns, as the table says),
and is measured by the processor time of the loop's thread, so that others on the machine do not
count. The least of three runs is shown, as nanoseconds for each element.
"""

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "integration"))

import harness  # noqa: E402

N = 100_000
BYTES = 10_000_000
LOOPS = 1_000_000
PATTERNS = 10_000
BOOKINGS = 60_000
RUNS = 3
LOOP = f"for i = 1, {LOOPS} do end"
LIBRARY = (f"#!lua name=lib\nredis.register_function{{function_name='f', flags={{'no-writes'}},"
           f" callback=function() {LOOP} end}}")
LAST = f"m{N - 1:05d}"


def cpu_ns(server):
    """Of the main thread, which runs the loop."""
    pid = server.process.pid
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[0])


class Measured:
    """A server with large keys, and what one request costs it."""

    def __init__(self, server):
        self.server = server
        self.client = server.connect()
        self.listener = server.connect()
        self.fill()

    def fill(self):
        names = [f"m{i:05d}" for i in range(N)]
        for begin in range(0, N, 10_000):
            some = names[begin:begin + 10_000]
            self.call("RPUSH", "list", *some)
            self.call("SADD", "set", *some)
            self.call("HSET", "hash", *[word for name in some for word in (name, "value")])
            self.call("ZADD", "zset", *[word for i, name in enumerate(some, begin)
                                        for word in (i, name)])
            self.call("ZADD", "same", *[word for name in some for word in (0, name)])
        # Half of it is in the first one.
        self.call("SUNIONSTORE", "other", "set")
        self.call("SPOP", "other", N // 2)
        self.call("ZUNIONSTORE", "zother", 1, "zset")
        self.call("ZREMRANGEBYRANK", "zother", 0, N // 2 - 1)
        self.call("SELECT", 1)
        for begin in range(0, N, 10_000):
            self.call("MSET", *[word for name in names[begin:begin + 10_000]
                                for word in (name, "value")])
        self.call("SELECT", 0)
        self.call("FUNCTION", "LOAD", "REPLACE", LIBRARY)
        for begin in range(0, PATTERNS, 1000):
            self.listener.send(harness.encode(
                "PSUBSCRIBE", *[f"news.{i:05d}.*" for i in range(begin, begin + 1000)]))
            for _ in range(1000):
                self.listener.read()

    def call(self, *words):
        return self.client.call(*words)

    def run(self, command, request):
        """Takes the reply as it comes: to make sense of so many elements takes its time."""
        self.client.send(request)
        reply = bytearray()
        while not reply.endswith(b"+PONG\r\n"):
            reply += self.client.socket.recv(1 << 20)
        if reply.startswith(b"-"):
            raise harness.Refused(f"{command}: {reply[:100]}")

    def measure(self, command, *words, before=(), after=(), unit="element", count=N):
        """`before` and `after` are requests around each run; `words` may be made by a function."""
        costs = []
        for _ in range(RUNS):
            for request in before:
                self.call(*request)
            made = words[0]() if callable(words[0]) else words
            request = harness.encode(command, *made) + harness.encode("PING")
            begin = cpu_ns(self.server)
            self.run(command, request)
            costs.append(cpu_ns(self.server) - begin)
            for request in after:
                self.call(*request)
        each = min(costs) / count
        shown = f"{each:.0f}" if each >= 10 else f"{each:.1f}"
        print(f"| `{command}` | {shown} ns a {unit} | median {statistics.median(costs) / count:.1f},"
              f" {min(costs) / 1e6:.1f} ms in all", flush=True)

    def copied(self, command, source, *words, **more):
        """A command that changes its key `t`: each run has a fresh copy."""
        self.measure(command, *words, before=[("COPY", source, "t", "REPLACE")], **more)


def measure_lists(m):
    m.copied("BLMPOP", "list", 1, 1, "t", "LEFT", "COUNT", N)
    m.copied("LINSERT", "list", "t", "AFTER", LAST, "x")
    m.copied("LMPOP", "list", 1, "t", "LEFT", "COUNT", N)
    m.copied("LPOP", "list", "t", N)
    m.measure("LPOS", "list", LAST)
    m.measure("LRANGE", "list", 0, -1)
    m.copied("LREM", "list", "t", 0, "nosuch")
    m.copied("LTRIM", "list", "t", N, -1)
    m.copied("RPOP", "list", "t", N)
    m.measure("SORT", "list", "ALPHA")
    m.measure("SORT_RO", "list", "ALPHA")


def measure_sets(m):
    for command in ("SDIFF", "SINTER", "SUNION"):
        m.measure(command, "set", "other")
        m.measure(command + "STORE", "t", "set", "other")
    m.measure("SINTERCARD", 2, "set", "other")
    m.measure("SMEMBERS", "set")
    m.copied("SPOP", "set", "t", N - 1)
    m.measure("SRANDMEMBER", "set", N - 1)


def measure_hashes(m):
    for command in ("HGETALL", "HKEYS", "HVALS"):
        m.measure(command, "hash")
    m.measure("HRANDFIELD", "hash", N - 1)


def measure_sorted_sets(m):
    m.copied("BZMPOP", "zset", 1, 1, "t", "MIN", "COUNT", N)
    m.copied("ZMPOP", "zset", 1, "t", "MIN", "COUNT", N)
    m.copied("ZPOPMAX", "zset", "t", N)
    m.copied("ZPOPMIN", "zset", "t", N)
    for command in ("ZDIFF", "ZINTER", "ZUNION"):
        m.measure(command, 2, "zset", "zother")
        m.measure(command + "STORE", "t", 2, "zset", "zother")
    m.measure("ZINTERCARD", 2, "zset", "zother")
    m.measure("ZRANDMEMBER", "zset", N - 1)
    m.measure("ZRANGE", "zset", 0, -1)
    m.measure("ZRANGEBYLEX", "same", "-", "+")
    m.measure("ZRANGEBYSCORE", "zset", "-inf", "+inf")
    m.measure("ZRANGESTORE", "t", "zset", 0, -1)
    m.copied("ZREMRANGEBYLEX", "same", "t", "-", "+")
    m.copied("ZREMRANGEBYRANK", "zset", "t", 0, -1)
    m.copied("ZREMRANGEBYSCORE", "zset", "t", "-inf", "+inf")
    m.measure("ZREVRANGE", "zset", 0, -1)
    m.measure("ZREVRANGEBYLEX", "same", "+", "-")
    m.measure("ZREVRANGEBYSCORE", "zset", "+inf", "-inf")


def measure_keys(m):
    m.measure("COPY", "list", "t", before=[("DEL", "t")])
    m.measure("DUMP", "list")
    dump = m.call("DUMP", "list")
    m.measure("RESTORE", "t", 0, dump, before=[("DEL", "t")])
    m.copied("MOVE", "list", "t", 2, after=[("SELECT", 2), ("DEL", "t"),
                                         ("SELECT", 0)])
    m.call("SELECT", 1)
    m.measure("KEYS", "*")
    m.measure("MGET", *[f"m{i:05d}" for i in range(N)])
    m.call("SELECT", 0)
    value = [("SET", "t", b"x" * BYTES)]
    m.measure("APPEND", "t", "x", before=value, unit="byte", count=BYTES)
    m.measure("SETRANGE", "t", BYTES - 1, "y", before=value, unit="byte", count=BYTES)


def measure_others(m):
    for command in ("EVAL", "EVAL_RO"):
        m.measure(command, LOOP, 0, unit="turn of an empty loop", count=LOOPS)
    sha = m.call("SCRIPT", "LOAD", LOOP)
    for command in ("EVALSHA", "EVALSHA_RO"):
        m.measure(command, sha, 0, unit="turn of an empty loop", count=LOOPS)
    for command in ("FCALL", "FCALL_RO"):
        m.measure(command, "f", 0, unit="turn of an empty loop", count=LOOPS)
    m.measure("PUBLISH", "news.x", "hello", unit="pattern", count=PATTERNS)

    def large_booking():
        m.call("RL.RESET", "k")
        limit = ("TOKENBUCKET", "1/1s", "CAPACITY", 100_000, "COST")
        m.call("RL.RESERVE", "k", *limit, 100_000)
        ids = [m.call("RL.RESERVE", "k", *limit, 100_000)[2] for _ in range(2)]
        m.client.send(b"".join(harness.encode("RL.RESERVE", "k", *limit, 1)
                               for _ in range(BOOKINGS)))
        for _ in range(BOOKINGS):
            m.client.read()
        return "k", ids[0]

    m.measure("RL.CANCEL", large_booking, unit="booking", count=BOOKINGS)


def main():
    harness.executable = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="weir-long-") as folder:
        options = {"script_time_limit_ms": 0, "policies_max": 100_000}
        server = harness.Server(folder, **options).start()
        try:
            measured = Measured(server)
            for measure in (measure_lists, measure_sets, measure_hashes, measure_sorted_sets,
                            measure_keys, measure_others):
                measure(measured)
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
