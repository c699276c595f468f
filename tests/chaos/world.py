"""Machines, members, a log and clients: what a run breaks and what it measures."""

import dataclasses
import os
import random
import threading
import time

import database
import isolation
import nats
import network
from clients import callers_of_one
from faults import FAULTS
from members import Away, Member, Refused

SETTLE_S = 90
BACKENDS_MAX, BACKENDS_EVER = 2, 4  # of each member: for longer than the next, and at any time
CUT_OFF_S = 10
ENGINES = {"postgres": (database.Pair, ("pg1", "pg2")), "nats": (nats.Cluster, ("nats1", "nats2", "nats3"))}
CLAIM, PART = 2, 4  # kinds of records
OTHER_TURNS = "the shared log has other turns than this member's directory"


@dataclasses.dataclass
class Place:
    """Where a shard has its members, and what they are told."""
    shard: str = "main"
    names: tuple = ("weir1", "weir2", "weir3", "fresh")  # the last one is empty until the end
    numbers: tuple = (11, 12, 13, 19)  # of their machines
    options: tuple = ()
    founding: tuple = ()  # words of --new-shard


def make_engine(name, folder, first_number=21):
    """None where the log is a file."""
    if name not in ENGINES:
        return None
    make, names = ENGINES[name]
    return make([network.Machine(name, first_number + number) for number, name in enumerate(names)], folder)


def strict_options(server, failover_after_ms):
    """All replies wait for their commit, also in a weir that can do otherwise."""
    options = ["--failover-after-ms", str(failover_after_ms)]
    if "--commit-wait-ms" in isolation.run(server, "--help"):
        options += ["--commit-wait-ms", "-1"]
    return options


class Watcher(threading.Thread):
    """Who serves, seen every few hundredths of a second."""

    def __init__(self, members):
        super().__init__(daemon=True)
        self.members = members
        self.serving = None   # (name, process, epoch)
        self.takeovers = 0    # another process than before is the primary
        self.renewals = 0     # the same has claimed it again, since the log was rewound
        self.running = True

    def run(self):
        while self.running:
            for member in self.members:
                self.look(member)
            time.sleep(0.05)

    def look(self, member):
        running = member.process  # which another thread may end at any time
        if running is None or running.poll() is not None or member.is_stopped:
            return
        try:
            seen = member.status(timeout_s=0.2)
        except (Away, Refused):
            return
        # Who has been deposed may not know it yet.
        if not seen["serves"] or (self.serving and seen["epoch"] <= self.serving[2]):
            return
        found = (member.name, running.pid, seen["epoch"])
        if self.serving and found[:2] == self.serving[:2]:
            self.renewals += 1
        elif self.serving:
            self.takeovers += 1
        self.serving = found


class World:
    """A shard."""

    def __init__(self, args, folder, engine, place, seed):
        self.args = args
        self.folder = folder
        self.place = place
        self.rng = random.Random(seed)
        self.engine = engine
        self.log = engine.address() if engine else f"file:{folder}/shared-log"
        options = ["--log", self.log, "--shard", place.shard, *strict_options(args.server, args.failover_after_ms),
                   *place.options, *args.option]
        self.members = [self.machine(name, number, options) for name, number in
                        list(zip(place.names, place.numbers))[:args.members]]
        self.fresh = self.machine(place.names[-1], place.numbers[-1], options)
        self.callers = None
        self.tag = ""  # of all keys
        self.watcher = Watcher(self.members)
        self.breaches = []
        self.notes = []
        self.stopped = 0      # members that had to begin anew
        self.emptied = []     # (CLOCK_MONOTONIC in ns, host) of each
        self.may_rewind = False
        self.log_back = []    # when the engine was whole again, CLOCK_MONOTONIC in ns
        self.elections = []   # of the engine: since when it had no leader, and when it had one again
        self.rewinds_of = {}  # by process
        # Whether faults are asked for that may lose what was acknowledged.
        self.may_lose = any(FAULTS[name].is_lossy for name in args.fault)

    @classmethod
    def of_one(cls, args, folder):
        """A shard that is alone, with its engine."""
        network.make_bridge()
        return cls(args, folder, make_engine(args.engine, folder), Place(), args.seed)

    def machine(self, name, number, options):
        return Member(self.args.server, network.Machine(name, number), self.folder, options)

    def start(self, callers=None):
        self.callers = callers or callers_of_one([member.host for member in self.members], self.folder, self.args.clients,
                                                 self.args.pace_ms / 1000, self.args.seed)
        self.make_shard()
        for member in self.members:
            member.start()
        self.primary(patience_s=SETTLE_S)
        self.watcher.start()
        self.callers.start()
        self.callers.wait_served(SETTLE_S)

    def make_shard(self):
        self.members[0].make_shard(self.log, self.place.shard, self.place.founding)

    # What a run asks of the whole world, which may be one of several shards.

    def takeovers(self):
        return self.watcher.takeovers

    def draw(self, name):
        """The world that a fault is done to, and the names of the shards that it is about."""
        del name
        return self, [self.place.shard]

    def let_rewind(self, whether):
        self.may_rewind = whether

    def worlds(self):
        """Of one shard each."""
        return [self]

    def engine_lines(self):
        if not self.engine:
            return []
        return [f"{self.engine.count(CLAIM)} CLAIMs and {self.engine.count(PART)} PARTs in the log"]

    def judge_shards(self, done, entries):
        """There is one."""
        del done, entries
        return [], []

    def primary(self, patience_s=20):
        """Who serves, or after that time anybody who lives."""
        end = time.monotonic() + patience_s
        while True:
            for member in self.members:
                if member.lives() and not member.is_stopped and member.state()[1]:
                    return member
            if time.monotonic() > end:
                return self.rng.choice(self.members)
            time.sleep(0.05)

    def breach(self, text):
        self.breaches.append(text)

    def settle(self):
        """All that was broken is whole again: everybody runs, somebody serves, clients are served, and the
        others follow."""
        end = time.monotonic() + SETTLE_S
        while True:
            for member in self.members:
                self.revive(member)
            seen = self.statuses()
            primary = next((each for each in seen if each.get("serves")), None)
            if primary and self.callers.wait_served(1) and all(
                    each.get("epoch") == primary["epoch"] and each["turn"] >= primary["turn"]
                    and each["state"] in ("following", "primary") for each in self.statuses()):
                self.note_rewinds()
                self.wait_for_few_backends()
                return True
            if time.monotonic() > end:
                self.breach(f"no service, or somebody does not follow, {SETTLE_S} s after the last fault: {seen}")
                return False
            time.sleep(0.05)

    def statuses(self):
        found = []
        for member in self.members:
            try:
                found.append(member.status())
            except (Away, Refused):
                found.append({})
        return found

    def note_rewinds(self):
        for member in self.members:
            try:
                info = member.ask("INFO").decode()
            except (Away, Refused):
                continue
            for line in info.splitlines():
                if line.startswith("shard_log_rewinds:"):
                    self.rewinds_of[member.process.pid] = int(line.split(":")[1])

    def count_backends(self):
        """weir has few connections to the database, whatever that does; true if there are no more than there may
        be for long. The database takes seconds to see that the network has cut one off."""
        many = {host: count for host, count in self.engine.backends().items() if count > BACKENDS_MAX}
        for host, count in many.items():
            if count > BACKENDS_EVER:
                self.breach(f"{host} has {count} connections to the database")
        return not many

    def wait_for_few_backends(self):
        end = time.monotonic() + CUT_OFF_S
        while self.engine and not self.count_backends():
            if time.monotonic() > end:
                return self.breach(f"more than {BACKENDS_MAX} connections to the database: {self.engine.backends()}")
            time.sleep(0.2)

    def rewinds(self):
        return sum(self.rewinds_of.values())

    def revive(self, member):
        member.note_end()
        if not member.lives():
            member.start()
            time.sleep(0.2)
            return
        if member.state()[0] == "stopped":
            self.rejoin(member)

    def rejoin(self, member):
        """What a person does with a member that has stopped. One that had read what vanished from the log, and
        whose next primary had not, is one of them; nobody was told of what only it has."""
        why = member.status()["stopped_because"]
        self.stopped += 1
        self.notes.append(f"{member.name} stopped and began anew: {why}")
        if not (self.may_rewind and why == OTHER_TURNS):
            self.breach(f"{member.name} has stopped: {why}")
        member.kill()
        member.forget_all()
        self.emptied.append((time.monotonic_ns(), member.host))
        member.start()
        time.sleep(0.2)

    def counts(self, keys, read_count):
        """What a member that has nothing but the log knows, and whether the others know the same; None if it
        cannot read the log."""
        try:
            turn = self.primary().status()["turn"]
            self.fresh.start()
            self.fresh.wait_for(lambda seen: seen["turn"] >= turn, "it has read the log")
        except (AssertionError, Away) as failure:
            self.breach(f"a new member cannot read the log: {failure}")
            return None
        counts = self.answers_of(self.fresh, keys, read_count)
        for member in self.members:
            if self.answers_of(member, keys, read_count) != counts:
                self.breach(f"{member.name} answers other counts than a member that read the log")
        return counts

    def answers_of(self, member, keys, read_count):
        """Asked again if it is demoted meanwhile, which a slow machine may bring about."""
        end = time.monotonic() + SETTLE_S
        while True:
            try:
                return self.answers(member, keys, read_count)
            except (Away, Refused):
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def answers(self, member, keys, read_count):
        """Of a member that becomes the primary for it."""
        if not member.state()[1]:
            member.ask("WEIR", "TAKEOVER", timeout_s=10)
            member.wait_for(lambda seen: seen["serves"] == 1, "it is the primary")
        return {key: read_count(lambda *words: member.ask(*words, timeout_s=10), key) for key in keys}

    def keep(self, path):
        """Journals, logs and the log's records, to look at."""
        os.makedirs(path, exist_ok=True)
        isolation.run("sh", "-c", f"cp {self.folder}/*.journal {self.folder}/*.log {path}/", check=False)
        rows = self.engine.rows() if self.engine else ""  # of PostgreSQL those of all shards
        if rows:
            with open(os.path.join(path, "weir_log_" + self.place.shard), "w", encoding="ascii") as file:
                file.write(rows + "\n")
