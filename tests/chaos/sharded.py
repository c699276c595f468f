"""Several shards of one cluster, over one engine or over both: what a run breaks and what it measures."""

import binascii
import os
import random
import string
import subprocess
import sys
import time

import network
import shard_laws
from cluster_clients import LED_PATIENCE, callers_of_shard
from faults import ENGINES_OF, FAULTS, is_of_engine
from members import PORT, Away, Refused
from world import SETTLE_S, Place, World, make_engine

SAMPLED_MS = 10
QUIET_S = 8           # before the first fault
FIRST_MACHINES = {"postgres": 21, "nats": 24}


def slot_of(text):
    return binascii.crc_hqx(text.encode(), 0) % shard_laws.SLOTS


class Tags:
    """The shares of the slots, even, and a tag with keys of each."""

    def __init__(self, count):
        ends = [shard_laws.SLOTS * at // count for at in range(count + 1)]
        self.shares = [(first, end - 1) for first, end in zip(ends, ends[1:])]
        self.tags = [next(tag for tag in string.ascii_lowercase if first <= slot_of(tag) <= last)
                     for first, last in self.shares]

    def founding(self, names):
        lines = [f"shard {name} {first}-{last}\n" for name, (first, last) in zip(names, self.shares)]
        return f"cluster chaos {'c0' * 16}\n" + "".join(lines)


class Callers:
    """Those of all shards, as a run asks of them."""

    def __init__(self, shards):
        self.shards = shards

    def acknowledged(self):
        return sum(shard.callers.acknowledged() for shard in self.shards)

    def failures(self):
        return [failure for shard in self.shards for failure in shard.callers.failures()]

    def end(self):
        for shard in self.shards:
            shard.callers.end()

    def paths(self):
        return [path for shard in self.shards for path in shard.callers.paths()]

    def long_ways(self):
        return [way for shard in self.shards for caller in shard.callers.callers for way in caller.long_ways]

    def led_times(self):
        return [led for shard in self.shards for caller in shard.callers.callers for led in caller.led_times]


class ShardedWorld:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder
        self.rng = random.Random(args.seed)
        network.make_bridge()
        names = string.ascii_lowercase[:args.shards]
        self.tags = Tags(args.shards)
        kinds = ENGINES_OF.get(args.engine, [args.engine])
        self.engines = {kind: make_engine(kind, folder, FIRST_MACHINES.get(kind, 0)) for kind in kinds}
        founding = os.path.join(folder, "founding")
        with open(founding, "w", encoding="ascii") as file:
            file.write(self.tags.founding(names))
        hosts = [f"10.77.0.{31 + 10 * number}" for number in range(args.shards)]
        seeds = " ".join(f"{host}:{PORT}" for host in hosts)
        self.shards = []
        for number, name in enumerate(names):
            first = 31 + 10 * number
            place = Place(name, (name + "1", name + "2", name + "3", name + "-fresh"), (first, first + 1, first + 2, first + 8),
                          ("--cluster-enabled", "yes", "--cluster-seeds", seeds), ("--founding", founding))
            kind = kinds[number % len(kinds)]
            self.shards.append(World(args, folder, self.engine_of(kind, name), place, args.seed * 10 + number))
            self.shards[-1].kind = kind
        self.members = [member for shard in self.shards for member in shard.members]
        self.callers = Callers(self.shards)
        self.may_lose = self.shards[0].may_lose
        self.quiet = (0, 0)
        self.sampler = None
        self.samples_path = os.path.join(folder, "samples.log")

    def engine_of(self, kind, shard):
        engine = self.engines[kind]
        return engine.of_shard(shard) if kind == "nats" else engine

    def start(self):
        hosts = [member.host for member in self.members]
        for number, shard in enumerate(self.shards):
            tag = self.tags.tags[number]
            shard.tag = f"{{{tag}}}"
            shard.start(callers_of_shard(hosts, [member.host for member in shard.members], self.folder, self.args, number, shard.tag,
                                         slot_of(tag)))
        self.settle()
        self.sampler = subprocess.Popen([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "sampler.py"),
                                         self.samples_path, str(SAMPLED_MS), *hosts])
        begin = time.monotonic_ns()
        time.sleep(QUIET_S)
        self.quiet = begin, time.monotonic_ns()

    # What a run asks of its world, see world.py.

    def takeovers(self):
        return sum(shard.watcher.takeovers for shard in self.shards)

    @property
    def breaches(self):
        return [breach for shard in self.shards for breach in shard.breaches]

    def breach(self, text):
        self.shards[0].breach(text)

    def draw(self, name):
        """The world that a fault is done to, and the names of the shards that it is about."""
        words = FAULTS[name].words()
        kind = next(iter(words & {"postgres", "nats"}), None)
        if "shards" in words:
            if name == "shards-apart":
                return self, []  # nobody is to see it
            return self, [shard.place.shard for shard in (self.on(kind) if kind else self.shards)]
        shard = self.rng.choice(self.on(kind) if kind else self.shards)
        return shard, [one.place.shard for one in (self.on(kind) if is_of_engine(name) else [shard])]

    def let_rewind(self, whether):
        for shard in self.shards:
            shard.let_rewind(whether)

    def settle(self):
        """Each shard is whole, and every member shows for each of them who serves."""
        if not all(shard.settle() for shard in self.shards):
            return False
        end = time.monotonic() + SETTLE_S
        while True:
            serving = [next((member.host for member in shard.members if member.state()[1]), None) for shard in self.shards]
            shown = {member.name: self.shown_by(member) for member in self.members}
            if all(each == serving for each in shown.values()):
                return True
            if time.monotonic() > end:
                self.breach(f"{SETTLE_S} s after the last fault {serving} serve, and members show {shown}")
                return False
            time.sleep(0.05)

    def shown_by(self, member):
        """The primary of each shard."""
        try:
            rows = {first: primary[0].decode() for first, _, primary, *_ in member.ask("CLUSTER", "SLOTS")}
        except (Away, Refused):
            return []
        return [rows.get(first) for first, _ in self.tags.shares]

    # For faults.

    def shuffled(self):
        return self.rng.sample(self.shards, len(self.shards))

    def on(self, kind):
        """The shards whose log is kept by that engine."""
        return [shard for shard in self.shards if shard.kind == kind]

    def log_is_back(self, shards):
        if shards[0].kind == "postgres":
            shards[0].engine.wait_synchronous()
        for shard in shards:
            shard.log_back.append(time.monotonic_ns())

    # In the end.

    def worlds(self):
        return self.shards

    def engine_lines(self):
        return [line for shard in self.shards[:1] + ([] if len(self.engines) == 1 else self.shards[1:2])
                for line in shard.engine_lines()]

    def judge_shards(self, done, entries):
        """(what breaks the laws of shard_laws.py, lines with what was measured)."""
        self.sampler.terminate()
        self.sampler.wait(10)
        samples, taken = shard_laws.read_samples(self.samples_path)
        shard_of_host = {member.host: shard.place.shard for shard in self.shards for member in [*shard.members, shard.fresh]}
        by_tag = {shard.tag: shard.place.shard for shard in self.shards}

        def shard_of_key(key):
            return by_tag[key[key.index("{"):]]

        entries_of = {name: [entry for entry in entries if shard_of_key(entry.key) == name and "/client-" in entry.journal]
                      for name in by_tag.values()}
        promotions = shard_laws.promotions(samples, shard_of_host)
        cut = [(step.began, step.ended) for step in done if any(FAULTS[name].cuts for name in step.names)]
        heard = [one for one in promotions if not any(began <= one.at <= ended for began, ended in cut)]
        quiet = max(gap for own in entries_of.values() for gap in shard_laws.gaps(own, *self.quiet))
        untouched = shard_laws.gaps_of_untouched(done, entries_of)
        led_times = self.callers.led_times()
        failures = (shard_laws.granted_by_one(entries, shard_of_host, shard_of_key)
                    + shard_laws.every_slot(samples, [one for shard in self.shards for one in shard.emptied])
                    + shard_laws.judge_shown(heard) + shard_laws.judge_gaps(quiet, untouched)
                    + shard_laws.judge_led(led_times))
        delays = [delay for one in heard for delay in one.delays_s.values()]
        lines = [f"{taken} samples of {len(self.members)} members; {len(promotions)} promotions were seen, {len(heard)} of them "
                 f"while all could hear of one another: shown by {len(delays)} others after " + shares(delays),
                 f"longest time between two answers of a caller: {quiet:.3f} s when nothing was done to any shard, "
                 + shares([gap for gap, *_ in untouched]) + f" in {len(untouched)} steps that did something to others only",
                 *[f"    {gap:.3f} s, shard {shard}, {names}" for gap, shard, names in sorted(untouched, reverse=True)[:5]],
                 f"{len(led_times)} requests answered, {sum(map(bool, led_times))} of them led on; the 99th of 100 "
                 f"{percentile(led_times, 99)} times, one {max(led_times, default=0)} times; {len(self.callers.long_ways())} of them "
                 f"more than {LED_PATIENCE} times", *["    " + way for way in self.callers.long_ways()[:5]]]
        return failures, lines

    def keep(self, path):
        for shard in self.shards:
            shard.keep(path)


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)] if values else 0


def shares(values):
    if not values:
        return "nothing"
    return (f"p50 {percentile(values, 50):.3f} s, p99 {percentile(values, 99):.3f} s, {max(values):.3f} s at the longest")
