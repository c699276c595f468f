#!/usr/bin/env python3
"""How long clients were not served after each fault, from their journals.

    tests/chaos/measure.py FILE...      the table of several runs, which run.py --figures FILE has written
"""

import bisect
import collections
import dataclasses
import json
import sys


@dataclasses.dataclass
class Step:
    names: list
    began: int           # CLOCK_MONOTONIC, ns
    ended: int
    takeovers: int
    hit: list = dataclasses.field(default_factory=list)  # names of the shards that it was done to
    silence_s: float = 0
    after_log_s: list = dataclasses.field(default_factory=list)
    elections: list = dataclasses.field(default_factory=list)  # of the engine: (seconds, and until the first grant after it)

    def kind(self):
        return self.names[0] if len(self.names) == 1 else "two at once"


def measure(steps, entries, log_back, elections=()):
    """Of each step: the longest time between two grants that were told one after the other, and the first one
    after each instant at which the engine was whole again, or had elected a leader."""
    told = sorted(entry.ended for entry in entries if entry.charges() and entry.is_acknowledged())
    for step in steps:
        first = max(0, bisect.bisect_left(told, step.began) - 1)
        window = told[first:bisect.bisect_right(told, step.ended) + 1]
        longest = max((later - one for one, later in zip(window, window[1:])), default=0) / 1e9
        step.silence_s = max(step.silence_s, longest)
        for instant in log_back:
            at = bisect.bisect_left(told, instant)
            if step.began < instant <= step.ended and at < len(told):
                step.after_log_s.append((told[at] - instant) / 1e9)
        for since, instant in elections:
            at = bisect.bisect_left(told, instant)
            if step.began < instant <= step.ended and at < len(told):
                step.elections.append(((instant - since) / 1e9, (told[at] - instant) / 1e9))


def share(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def shares(values):
    return [f"{value:.2f} s" for value in (share(values, 50), share(values, 99), max(values))]


def table(steps):
    rows = collections.defaultdict(list)
    for step in steps:
        rows[step.kind()].append(step)
    lines = ["| fault | times | takeovers | no grant: p50 | p99 | longest |", "|---|---|---|---|---|---|"]
    for name, of in sorted(rows.items()):
        cells = [name, len(of), sum(step.takeovers for step in of), *shares([step.silence_s for step in of])]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    waits = [wait for step in steps if len(step.names) == 1 for wait in step.after_log_s]
    if waits:
        lines.append(f"first grant after the engine was whole again, {len(waits)} times: p50, p99, longest "
                     + ", ".join(shares(waits)))
    return lines + table_of_elections(rows)


def table_of_elections(rows):
    lines = []
    for name, of in sorted(rows.items()):
        found = [election for step in of for election in step.elections]
        if found:
            own, ours = zip(*found)
            lines.append("| " + " | ".join([name, str(len(found)), *shares(own), *shares(ours)]) + " |")
    head = ["| fault | elections of the engine | p50 | p99 | longest | then to the first grant: p50 | p99 | longest |",
            "|---|---|---|---|---|---|---|---|"]
    return head + lines if lines else []


def save(path, steps, totals):
    """Appends a run."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"totals": totals, "steps": [dataclasses.asdict(step) for step in steps]}) + "\n")


def main():
    runs = [json.loads(line) for path in sys.argv[1:] for line in open(path, encoding="utf-8")]
    totals = collections.Counter()
    for run in runs:
        totals.update(run["totals"])
    print(f"{len(runs)} runs: " + ", ".join(f"{name} {count}" for name, count in totals.items()))
    print("\n".join(table([Step(**step) for run in runs for step in run["steps"]])))


if __name__ == "__main__":
    main()
