"""How long clients were not served after each fault, from their journals."""

import bisect
import collections
import dataclasses


@dataclasses.dataclass
class Step:
    names: list
    began: int  # CLOCK_MONOTONIC, ns
    ended: int
    takeovers: int


def silences(steps, entries):
    """Of each step: the longest time between two grants that were told one after the other, in seconds."""
    told = grants(entries)
    found = []
    for step in steps:
        first = max(0, bisect.bisect_left(told, step.began) - 1)
        window = told[first:bisect.bisect_right(told, step.ended) + 1]
        found.append(max((later - one for one, later in zip(window, window[1:])), default=0) / 1e9)
    return found


def grants(entries):
    return sorted(entry.ended for entry in entries if entry.charges() and entry.is_acknowledged())


def after(instants, entries):
    """How long after each the first grant is told, of a request sent at whatever time."""
    told = grants(entries)
    waits = [(told[at] - instant) / 1e9 for instant in instants for at in [bisect.bisect_left(told, instant)]
             if at < len(told)]
    if not waits:
        return "never looked at"
    return f"{len(waits)} times, p50 {share(waits, 50):.2f} s, p99 {share(waits, 99):.2f} s, longest {max(waits):.2f} s"


def share(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def table(steps, entries):
    rows = collections.defaultdict(list)
    takeovers = collections.Counter()
    for step, silence in zip(steps, silences(steps, entries)):
        name = step.names[0] if len(step.names) == 1 else "two at once"
        rows[name].append(silence)
        takeovers[name] += step.takeovers
    lines = ["| fault | times | takeovers | without a grant: p50 | p99 | longest |", "|---|---|---|---|---|---|"]
    for name in sorted(rows):
        of = rows[name]
        lines.append(f"| {name} | {len(of)} | {takeovers[name]} | {share(of, 50):.2f} s | {share(of, 99):.2f} s | "
                     f"{max(of):.2f} s |")
    return lines
