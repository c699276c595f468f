"""Several shards on one engine, each with an owner and a standby: what a grant costs, and how long it takes."""

import time

import figures
from members import Member, NotServed

LATENCY_RATE, COST_RATE = 1000, 20000  # grants a second, of all shards together
SERVED_S = 30


class Shard:
    def __init__(self, number, folder, log):
        self.members = [Member(f"shard-{number}-{name}", folder, log, ("--commit-wait-ms", "-1"), f"bench-{number}")
                        for name in ("one", "two")]
        self.members[0].make_shard()

    def start(self):
        for member in self.members:
            member.start()
        end = time.monotonic() + SERVED_S
        while self.owner() is None:
            if time.monotonic() > end:
                raise NotServed(self.members[0].shard)
            time.sleep(0.05)

    def owner(self):
        return next((member for member in self.members if member.serves()), None)

    def kill(self):
        for member in self.members:
            member.kill()


def loads(shards, rate, pipeline, seconds):
    """The load generators, each with its part of the rate."""
    return [figures.start_load(shard.owner().port, "--seconds", seconds, "--rate", rate // len(shards), "--pipeline",
                               pipeline) for shard in shards]


def latency_us(shards, seconds, percentile):
    """The worst shard's."""
    reports = [figures.report(load) for load in loads(shards, LATENCY_RATE, 1, seconds)]
    return max(report[percentile] for report in reports)


def costs_us(shards, engine, seconds):
    """Processor time of a grant: (owners, standbys, engine)."""
    running = loads(shards, COST_RATE, 16, seconds + 1.5)
    time.sleep(1)
    owners = [shard.owner().process.pid for shard in shards]
    others = [member.process.pid for shard in shards for member in shard.members if member.process.pid not in owners]
    uses = [figures.Use(pids) for pids in (owners, others, engine.processes())]
    time.sleep(seconds)
    used = [use.per_second()[0] for use in uses]
    for load in running:
        figures.report(load)
    return [seconds_of_one / COST_RATE * 1e6 for seconds_of_one in used]


def run(options, folder, engine):
    print(f"| shards | a grant takes at {LATENCY_RATE}/s, p50 | p99 | processor time of a grant at {COST_RATE}/s: owners | "
          "standbys | engine |\n|---|---|---|---|---|---|", flush=True)
    made = 0
    for count in map(int, options.shards.split(",")):
        shards = [Shard(made + number, folder, engine.address()) for number in range(count)]
        made += count
        try:
            for shard in shards:
                shard.start()
            p50, p99 = (latency_us(shards, options.seconds, name) / 1000 for name in ("p50_us", "p99_us"))
            owners, standbys, engines = costs_us(shards, engine, options.seconds)
            print(f"| {count} | {p50:.2f} ms | {p99:.2f} ms | {owners:.1f} us | {standbys:.1f} us | {engines:.1f} us |",
                  flush=True)
        finally:
            for shard in shards:
                shard.kill()
