"""Kills weir-server with SIGKILL at random moments under load, and looks at what is left.

    crash.py SERVER [--cycles N] [--seed S] [--durability always|everysec|no|alternate] [--loads NAME,NAME...]

Each cycle starts the server on the data of the one before, checks that what it holds is what clients were told, lets
several clients work on it, and kills it. Each load is a file of its own, which says what it checks:

    mixed        strings, hashes, scripts, transactions, CL.THROTTLE
    containers   every type, renamed, copied, moved; databases swapped and emptied
    generations  large transactions and scripts that write keys of all types together
    queues       items that blocked clients pop
    expiries     keys that live for a moment
    scripting    bodies of scripts, libraries of functions, scripts that are ended
    limiters     RL.*

A cycle runs some of the loads, and checks all. The ways of a cycle take turns:

- The working set is tiny and write-back never rests, so that the kill falls between slices of write-backs, around their ends, into
  truncation of the log and into eviction; or nothing is ever written back, and all is replayed.
- The kill comes while clients work, or inside a script that has written; every tenth cycle ends with SIGTERM instead: then
  nothing may be in doubt.
- The start is killed, too, up to three times, so that a replay follows upon a replay.
- The server comes up by itself, in bounded time.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import containers  # noqa: E402
import expiries  # noqa: E402
import generations  # noqa: E402
import limiters  # noqa: E402
import mixed  # noqa: E402
import queues  # noqa: E402
import scripting  # noqa: E402
from support.processes import free_port  # noqa: E402
from support.servers import Server  # noqa: E402

LOADS = {"mixed": mixed, "containers": containers, "generations": generations, "queues": queues, "expiries": expiries,
         "scripting": scripting, "limiters": limiters}
LOADS_AT_ONCE = 3
RESTLESS = ["--maxmemory", "150kb", "--write-back-interval-ms", "10", "--wal-bytes-max", "1mb",
            "--write-back-entries-max", "1000"]
LAZY = ["--maxmemory", "64mb", "--write-back-interval-ms", "3600000"]


class Harness:
    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.directory = tempfile.mkdtemp(prefix="weir-crash-")
        self.loads = {name: module.Load(random.Random(self.rng.random())) for name, module in LOADS.items()}
        self.server = None
        self.slowest_start_s = 0.0
        self.starts_killed = 0
        self.failures = []
        threading.excepthook = lambda args: self.failures.append(args.exc_value)

    def durability(self, cycle):
        if self.options.durability == "alternate":
            return "always" if cycle % 3 == 2 else "everysec"
        return self.options.durability

    def next_server(self, cycle):
        port = free_port()
        command = [self.options.server, "--port", port, "--dir", self.directory + "/data",
                   *(LAZY if cycle % 2 == 1 else RESTLESS), "--durability", self.durability(cycle),
                   "--disk-reserve", "0"]
        self.server = Server("weir-server", command, self.directory, port)
        return self.server

    def start(self, cycle):
        for _ in range(self.rng.randrange(4) if cycle % 3 == 2 else 0):
            self.next_server(cycle).spawn()
            time.sleep(self.rng.uniform(0, 0.04))
            self.server.kill()
            self.starts_killed += 1
        begin = time.monotonic()
        self.next_server(cycle).start()
        self.slowest_start_s = max(self.slowest_start_s, time.monotonic() - begin)
        return self.connect()

    def connect(self, timeout_s=30):
        return self.server.connect(timeout_s=timeout_s)

    def check(self, connection):
        for load in self.loads.values():
            load.check(connection)

    def busy_s(self):
        """How long the server's loop has run."""
        with open("/proc/%d/schedstat" % self.server.process.pid) as file:
            return int(file.read().split()[0]) / 1e9

    def wait_for_work(self):
        """Measured by what the server has done, so that the kill meets it at work; but not for long."""
        until = time.monotonic() + self.rng.uniform(0.02, 1.2)
        busy_s = self.busy_s() + self.rng.uniform(0.005, 0.25)
        while time.monotonic() < until and self.busy_s() < busy_s:
            time.sleep(0.001)

    def loads_of(self, cycle):
        """Large turns, where nothing is written back and they are the most of what a kill may meet."""
        if cycle % 2 == 0:
            return self.rng.sample(list(LOADS), LOADS_AT_ONCE)
        return ["generations", *self.rng.sample([name for name in LOADS if name != "generations"], LOADS_AT_ONCE - 1)]

    def work_and_kill(self, cycle):
        names = self.options.loads or self.loads_of(cycle)
        threads = [thread for name in names for thread in self.loads[name].threads(self.connect)]
        for thread in threads:
            thread.start()
        self.wait_for_work()
        if cycle % 10 == 4:
            self.loads["scripting"].run_endless(self.connect)
        self.end(signal.SIGTERM if cycle % 10 == 9 else signal.SIGKILL)
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive(), "a client hangs"
        if self.failures:
            raise self.failures[0]

    def end(self, how):
        code = self.server.stop(how)
        assert how == signal.SIGKILL or code == 0, "SIGTERM ended in exit code %d" % code

    def cycle(self, cycle):
        connection = self.start(cycle)
        self.check(connection)
        self.loads["scripting"].prepare(connection)
        if cycle % 5 == 3:
            self.loads["scripting"].kill_script(connection, self.connect)
            self.loads["mixed"].check(connection)
        connection.close()
        self.work_and_kill(cycle)

    def run(self):
        try:
            for cycle in range(self.options.cycles):
                self.cycle(cycle)
            self.check(self.start(self.options.cycles))
            self.end(signal.SIGTERM)
        except BaseException:
            print("crash: failed with --seed %d; the data is kept in %s" % (self.options.seed, self.directory), flush=True)
            self.server.kill()
            raise
        shutil.rmtree(self.directory)
        print("crash: %d cycles, %d starts killed, slowest start %.3f s; %s" % (
            self.options.cycles, self.starts_killed, self.slowest_start_s,
            ", ".join(load.summary() for load in self.loads.values())))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", type=os.path.abspath)
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--durability", default="alternate", choices=["always", "everysec", "no", "alternate"])
    parser.add_argument("--loads", type=lambda names: names.split(","), default=[])
    options = parser.parse_args()
    print("crash: seed %d" % options.seed, flush=True)
    Harness(options).run()


if __name__ == "__main__":
    sys.exit(main())
