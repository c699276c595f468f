"""Kills weir-server with SIGKILL at random moments under load, and counts.

    crash.py SERVER [--cycles N] [--seed S] [--durability always|everysec|no|alternate]

Each cycle starts the server on the data of the one before, checks that what it holds is what clients were told, lets
several clients work on it, and kills it. The working set is tiny and write-back never rests, so that the kill falls
between write-back slices, around W, into truncation of the log and into eviction. Every tenth cycle ends with SIGTERM
instead: then nothing may be in doubt.

What is checked
- Limiters that never refill during the run, shared by all clients:
  acknowledged <= charged <= acknowledged + in flight.
- Strings, each written by one client: all keys of a client are as some prefix of its commands left them, and that
  prefix holds everything acknowledged. So nothing is lost, torn or out of order.
- A script, or a function of a library, that writes several keys is one command among these: its writes are there whole or
  not at all. The script is loaded once, in the first cycle, and called by its name ever after; the library is another one
  in each cycle.
- So is a transaction: what EXEC runs is there whole or not at all.
- Hashes, each written by one client, among the same commands: HSET, HDEL, HINCRBY, DEL, COPY, so that they come, grow and go.
  Their fields come back in the order in which they came.
- What limiters.py checks of RL.*.
- DBSIZE is the number of keys that exist.
- The server comes up by itself, in bounded time.
"""

import argparse
import hashlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import limiters

LIMITERS = 2000
LIMIT = ("20000", "1", "100000")  # a permit every 27 hours
STRINGS_PER_CLIENT = 40
HASHES_PER_CLIENT = 12
FIELDS = 200
CLIENTS = 4
PIPELINE = 24
STARTS_WITHIN_S = 20
SCRIPT = "for i, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1] .. i) end return #KEYS"
SCRIPT_NAME = hashlib.sha1(SCRIPT.encode()).hexdigest()
LIBRARY = ("#!lua name=crash\nredis.register_function('put', function(keys, args) for i, key in ipairs(keys) do "
           "redis.call('SET', key, args[1] .. i) end return #keys end) -- cycle %d")


def encode(args):
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        arg = arg if isinstance(arg, bytes) else str(arg).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(arg), arg))
    return b"".join(parts)


class Connection:
    def __init__(self, port, timeout=10.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.file = self.socket.makefile("rb")

    def send(self, requests):
        self.socket.sendall(b"".join(encode(args) for args in requests))

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b":":
            return int(rest)
        if kind in b"+":
            return rest
        if kind == b"-":
            raise AssertionError("unexpected error reply: " + rest.decode())
        if kind == b"$":
            size = int(rest)
            if size < 0:
                return None
            body = self.file.read(size + 2)
            if len(body) != size + 2:
                raise ConnectionError("closed")
            return body[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        raise AssertionError("unexpected reply: %r" % line)

    def call(self, *args):
        self.send([args])
        return self.read()

    def call_all(self, requests):
        replies = []
        for begin in range(0, len(requests), 200):
            batch = requests[begin:begin + 200]
            self.send(batch)
            replies += [self.read() for _ in batch]
        return replies

    def close(self):
        self.file.close()
        self.socket.close()


def apply(state, op):
    """What one command does to a client's strings and hashes; a hash is its fields in order."""
    name, key, value = op
    if name == "SET":
        state[key] = value
    elif name == "APPEND":
        state[key] = state.get(key, b"") + value
    elif name == "DEL":
        state.pop(key, None)
    elif name in ("SCRIPT", "MULTI"):
        for number, one_key in enumerate(key, 1):
            state[one_key] = value + b"%d" % number
    elif name == "HSET":
        state.setdefault(key, {}).update(zip(value[::2], value[1::2]))
    elif name == "HINCRBY":
        fields = state.setdefault(key, {})
        fields[value[0]] = b"%d" % (int(fields.get(value[0], b"0")) + int(value[1]))
    elif name == "HDEL":
        for field in value:
            state.get(key, {}).pop(field, None)
        if not state.get(key):
            state.pop(key, None)
    elif name == "COPY" and key in state:
        state[value[0].decode()] = dict(state[key])


def same(found, state):
    """Whether the order of fields is the same, too."""
    return found == state and all(list(found[key]) == list(state[key])
                                  for key in state if isinstance(state[key], dict))


class Client:
    """Its strings and hashes as acknowledged, and the commands sent since."""

    def __init__(self, number, rng):
        self.number = number
        self.rng = rng
        self.values = {}
        self.pending = []  # sent, not acknowledged
        self.limiters_acknowledged = {}
        self.limiters_pending = {}

    def requests(self):
        for _ in range(PIPELINE):
            if self.rng.random() < 0.5:
                yield ("THROTTLE", "lim:%d" % self.rng.randrange(LIMITERS), None)
                continue
            if self.rng.random() < 0.5:
                yield self.hash_op()
                continue
            key = "str:%d:%d" % (self.number, self.rng.randrange(STRINGS_PER_CLIENT))
            name = self.rng.choice(["SET", "SET", "APPEND", "DEL", "SCRIPT", "MULTI"])
            if name in ("SCRIPT", "MULTI"):
                places = self.rng.sample(range(STRINGS_PER_CLIENT), 5)
                key = ["str:%d:%d" % (self.number, place) for place in places]
            size = 2000 if self.rng.random() < 0.05 else self.rng.randrange(40)
            value = b"%d." % self.rng.randrange(10**6) * (1 + size // 7)
            yield (name, key, None if name == "DEL" else value)

    def hash_op(self):
        """Fields with an odd number hold integers."""
        rng = self.rng
        key, other = ["hash:%d:%d" % (self.number, rng.randrange(HASHES_PER_CLIENT)) for _ in range(2)]
        name = rng.choice(["HSET", "HSET", "HINCRBY", "HINCRBY", "HDEL"] * 8 + ["DEL", "COPY"])
        field = b"f%d" % (rng.randrange(FIELDS // 2) * 2)
        if name == "COPY" and key != other:
            return (name, key, [other.encode(), b"REPLACE"])
        if name == "HINCRBY":
            return (name, key, [b"f%d" % (rng.randrange(FIELDS // 2) * 2 + 1), b"%d" % rng.randrange(-9, 100)])
        if name == "HSET":
            return (name, key, [field, b"%d" % rng.randrange(10**9) * rng.choice([1, 1, 1, 20])])
        return (name, key, None) if name == "DEL" else ("HDEL", key, [field, b"f%d" % rng.randrange(FIELDS)])

    def run(self, port):
        try:
            connection = Connection(port)
            while True:
                self.one_pipeline(connection)
        except (ConnectionError, OSError):
            return

    def one_pipeline(self, connection):
        ops = list(self.requests())
        wire = []
        for op in ops:
            name, key, value = op
            if name == "THROTTLE":
                self.limiters_pending[key] = self.limiters_pending.get(key, 0) + 1
                wire.append(("CL.THROTTLE", key) + LIMIT)
            else:
                self.pending.append(op)
                if name == "SCRIPT":
                    command = self.rng.choice([("EVALSHA", SCRIPT_NAME), ("FCALL", "put")])
                    wire.append((*command, str(len(key)), *key, value))
                    continue
                if name == "MULTI":
                    sets = [("SET", one, value + b"%d" % number) for number, one in enumerate(key, 1)]
                    wire += [("MULTI",), *sets, ("EXEC",)]
                    continue
                wire.append((name, key, *([] if value is None else value if isinstance(value, list) else [value])))
        connection.send(wire)
        for op in ops:
            if op[0] == "MULTI":
                for _ in range(1 + len(op[1])):  # OK, and QUEUED for each
                    connection.read()
            reply = connection.read()
            if op[0] == "THROTTLE":
                assert reply[0] == 0, "a limiter that has room denied: %r" % (reply,)
                self.limiters_pending[op[1]] -= 1
                self.limiters_acknowledged[op[1]] = self.limiters_acknowledged.get(op[1], 0) + 1
            else:
                assert self.pending[0] is op
                apply(self.values, self.pending.pop(0))

    def settle(self, found):
        """Takes over what the server has, if some prefix of the pending commands explains it."""
        if same(found, self.values):
            self.pending.clear()
            return True
        while self.pending:
            apply(self.values, self.pending.pop(0))
            if same(found, self.values):
                self.pending.clear()
                return True
        return False


class Harness:
    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.directory = tempfile.mkdtemp(prefix="weir-crash-")
        self.clients = [Client(i, random.Random(self.rng.random())) for i in range(CLIENTS)]
        self.limiters = limiters.Load(random.Random(self.rng.random()))
        self.charged = {}
        self.slowest_start_s = 0.0
        self.acknowledged = 0

    def durability(self, cycle):
        if self.options.durability == "alternate":
            return "always" if cycle % 3 == 2 else "everysec"
        return self.options.durability

    def start(self, cycle):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [self.options.server, "--port", str(self.port), "--dir", self.directory + "/data",
                   "--maxmemory", "150kb", "--write-back-interval-ms", "10", "--wal-bytes-max", "1mb",
                   "--write-back-entries-max", "1000", "--durability", self.durability(cycle),
                   "--logfile", self.directory + "/log"]
        begin = time.monotonic()
        self.process = subprocess.Popen(command)
        while True:
            try:
                connection = Connection(self.port)
                assert connection.call("PING") == b"PONG"
                break
            except OSError:
                assert self.process.poll() is None, "the server did not start, see its log"
                assert time.monotonic() - begin < STARTS_WITHIN_S, "the server did not start in time"
                time.sleep(0.005)
        self.slowest_start_s = max(self.slowest_start_s, time.monotonic() - begin)
        return connection

    def check(self, connection):
        existing = 0
        for client in self.clients:
            keys = ["str:%d:%d" % (client.number, i) for i in range(STRINGS_PER_CLIENT)]
            replies = connection.call_all([("GET", key) for key in keys])
            found = {key: value for key, value in zip(keys, replies) if value is not None}
            keys = ["hash:%d:%d" % (client.number, i) for i in range(HASHES_PER_CLIENT)]
            replies = connection.call_all([("HGETALL", key) for key in keys])
            found |= {key: dict(zip(flat[::2], flat[1::2])) for key, flat in zip(keys, replies) if flat}
            existing += len(found)
            assert client.settle(found), "client %d: no prefix of its commands explains its values" % client.number
        names = ["lim:%d" % i for i in range(LIMITERS)]
        replies = connection.call_all([("CL.THROTTLE", name) + LIMIT + ("0",) for name in names])
        for name, reply in zip(names, replies):
            charged = reply[1] - reply[2]
            existing += charged > 0
            known = self.charged.get(name, 0) + sum(c.limiters_acknowledged.get(name, 0) for c in self.clients)
            most = known + sum(c.limiters_pending.get(name, 0) for c in self.clients)
            assert known <= charged <= most, "%s: acknowledged %d, charged %d, possible %d" % (name, known, charged, most)
            self.charged[name] = charged
        for client in self.clients:
            self.acknowledged += sum(client.limiters_acknowledged.values())
            client.limiters_acknowledged.clear()
            client.limiters_pending.clear()
        self.limiters.check(connection)
        size = connection.call("DBSIZE")
        assert size == existing, "DBSIZE %d, but %d keys exist" % (size, existing)

    def check_library(self, connection, cycle):
        """The one loaded last is there, and another one takes its place."""
        listed = connection.call("FUNCTION", "LIST", "WITHCODE")
        codes = [library[-1].decode() for library in listed]
        assert codes == ([LIBRARY % (cycle - 1)] if cycle > 0 else []), "libraries: %r" % codes
        assert connection.call("FUNCTION", "LOAD", "REPLACE", LIBRARY % cycle) == b"crash"

    def work_and_kill(self, orderly):
        threads = [threading.Thread(target=client.run, args=(self.port,)) for client in self.clients]
        threads += self.limiters.threads(lambda: Connection(self.port))
        for thread in threads:
            thread.start()
        time.sleep(self.rng.uniform(0.02, 0.5))
        self.process.send_signal(signal.SIGTERM if orderly else signal.SIGKILL)
        code = self.process.wait(timeout=30)
        for thread in threads:
            thread.join(timeout=30)
            assert not thread.is_alive(), "a client hangs"
        assert not orderly or code == 0, "SIGTERM ended in exit code %d" % code

    def run(self):
        try:
            for cycle in range(self.options.cycles):
                connection = self.start(cycle)
                if cycle == 0:
                    connection.call("SCRIPT", "LOAD", SCRIPT)
                self.check_library(connection, cycle)
                self.check(connection)
                connection.close()
                self.work_and_kill(orderly=cycle % 10 == 9)
            connection = self.start(self.options.cycles)
            self.check(connection)
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(timeout=30) == 0
        except BaseException:
            print("crash: failed with --seed %d; the data is kept in %s" % (self.options.seed, self.directory), flush=True)
            if self.process.poll() is None:
                self.process.kill()
            raise
        shutil.rmtree(self.directory)
        print("crash: %d cycles, %d takes, %s, slowest start %.3f s, seed %d" %
              (self.options.cycles, self.acknowledged, self.limiters.summary(), self.slowest_start_s,
               self.options.seed))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", type=os.path.abspath)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--durability", default="alternate", choices=["always", "everysec", "no", "alternate"])
    options = parser.parse_args()
    print("crash: seed %d" % options.seed, flush=True)
    failures = []
    threading.excepthook = lambda args: failures.append(args.exc_value)
    Harness(options).run()
    if failures:
        sys.exit("crash: a client saw: %s" % failures[0])


if __name__ == "__main__":
    main()
