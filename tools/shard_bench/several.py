"""Several shards on one engine, each with a primary and a standby: what a grant costs, and how long it takes."""

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
        while self.primary() is None:
            if time.monotonic() > end:
                raise NotServed(self.members[0].shard)
            time.sleep(0.05)

    def primary(self):
        return next((member for member in self.members if member.serves()), None)

    def kill(self):
        for member in self.members:
            member.kill()


def loads(shards, seconds, *options, rate=None):
    """The load generators, each with its part of the rate; None: as fast as they can."""
    paced = ("--rate", rate // len(shards)) if rate else ()
    return [figures.start_load(shard.primary().port, "--seconds", seconds, *paced, *options) for shard in shards]


def latency_us(shards, seconds, percentile):
    """The worst shard's."""
    reports = [figures.report(load) for load in loads(shards, seconds, rate=LATENCY_RATE)]
    return max(report[percentile] for report in reports)


def costs_us(shards, engine, seconds, *options, rate=None):
    """Grants a second, and processor time of each: (primaries, standbys, engine)."""
    running = loads(shards, seconds + 1.5, *options, rate=rate)
    time.sleep(1)
    primaries = [shard.primary().process.pid for shard in shards]
    others = [member.process.pid for shard in shards for member in shard.members if member.process.pid not in primaries]
    uses = [figures.Use(pids) for pids in (primaries, others, engine.processes())]
    time.sleep(seconds)
    used = [use.per_second() for use in uses]
    per_second = sum(figures.report(load)["per_second"] for load in running)
    return per_second, [seconds_of_one / per_second * 1e6 for seconds_of_one in used]


def run(options, folder, engine):
    print("Processor time of a grant: primaries + standbys + engine.\n\n"
          f"| shards | a grant takes at {LATENCY_RATE}/s, p50 | p99 | processor time at {COST_RATE}/s | grants/s as fast as it goes | "
          "processor time then |\n|---|---|---|---|---|---|", flush=True)
    made = 0
    for count in map(int, options.shards.split(",")):
        shards = [Shard(made + number, folder, engine.address()) for number in range(count)]
        made += count
        try:
            for shard in shards:
                shard.start()
            p50, p99 = (latency_us(shards, options.seconds, name) / 1000 for name in ("p50_us", "p99_us"))
            costs = [costs_us(shards, engine, options.seconds, "--pipeline", 16, rate=COST_RATE),
                     costs_us(shards, engine, options.seconds, "--pipeline", 64)]
            paced, full = (" + ".join(f"{us:.1f}" for us in of) + " us" for _, of in costs)
            print(f"| {count} | {p50:.2f} ms | {p99:.2f} ms | {paced} | {costs[1][0]:.0f} | {full} |", flush=True)
        finally:
            for shard in shards:
                shard.kill()
