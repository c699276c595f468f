"""The laws of several shards: from the callers' journals, and from what members showed every 10 ms. Nothing else.

1. A key is granted by members of one shard only.
2. Who has shown every slot shows every slot, for as long as it answers and keeps its data.
3. A new primary is shown by all members within a second of its promotion.
4. A shard that nothing is done to serves on: between two answers that a caller gets there is no more time than when
   nothing is done to any, and 200 ms.
5. A request is led on three times at most, of 99 in 100.

3 to 5 are times on a machine that does other work as well: they are reported, and fail only where they are so long that
no load explains them.
"""

import bisect
import collections
import dataclasses

SLOTS = 16384
SHOWN_S_MAX = 10.0
GAP_S_MAX = 2.0       # beyond the longest of the quiet time
LED_P99_MAX = 3
SHOWN = 5


@dataclasses.dataclass
class Sample:
    at: int       # CLOCK_MONOTONIC, ns: since then
    host: str
    map: dict     # (first, last): host of the primary; None: it does not answer


def read_samples(path):
    """(samples, how many were taken)."""
    samples, taken = [], 0
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] == "END":
                taken = int(words[1])
            elif len(words) == 3:
                samples.append(Sample(int(words[0]), words[1], parsed(words[2])))
    return samples, taken


def parsed(text):
    if text == "-":
        return None
    ranges = [part.split("=") for part in text.split(",") if "=" in part]
    return {tuple(map(int, slots.split("-"))): host for slots, host in ranges}


def slots_of(shown):
    """How many are shown, each once."""
    count, reached = 0, -1
    for first, last in sorted(shown):
        count += max(0, last - max(first - 1, reached))
        reached = max(reached, last)
    return count


def granted_by_one(entries, shard_of_host, shard_of_key):
    """Law 1: what breaks it."""
    found = []
    for entry in entries:
        if entry.is_acknowledged() and shard_of_host.get(entry.host) != shard_of_key(entry.key):
            found.append(f"{entry.key} of shard {shard_of_key(entry.key)} was answered {entry.verb} by {entry.host}, "
                         f"which is of shard {shard_of_host.get(entry.host)}")
    return found[:SHOWN]


def every_slot(samples, emptied=()):
    """Law 2. `emptied` has (time, host) of each member that began anew without data."""
    found, whole = [], {}
    emptied = sorted(emptied)
    for sample in sorted(samples, key=lambda sample: sample.at):
        while emptied and emptied[0][0] <= sample.at:
            whole.pop(emptied.pop(0)[1], None)
        if sample.map is None:
            continue
        count = slots_of(sample.map)
        if count == SLOTS:
            whole[sample.host] = True
        elif sample.host in whole:
            found.append(f"{sample.host} showed {count} slots after it had shown all")
    return found[:SHOWN]


@dataclasses.dataclass
class Promotion:
    at: int
    host: str
    slots: tuple
    delays_s: dict = dataclasses.field(default_factory=dict)  # by host: until it showed the new primary


def promotions(samples, shard_of_host):
    """Each time that a member began to show itself, with how long the others took to show it, too. Who did not answer all
    the time is left out, and so is what was followed by another promotion before it was shown. What a member shows when
    it begins to answer may be what it remembers."""
    by_host = collections.defaultdict(list)
    for sample in sorted(samples, key=lambda sample: sample.at):
        by_host[sample.host].append(sample)
    found = []
    for host, own in by_host.items():
        showed = None
        for sample in own:
            if sample.map is None:
                showed = None
                continue
            now = {slots for slots, primary in sample.map.items() if primary == host}
            found += [Promotion(sample.at, host, slots) for slots in now - (now if showed is None else showed)]
            showed = now
    found.sort(key=lambda promotion: promotion.at)
    for number, promotion in enumerate(found):
        shard = shard_of_host[promotion.host]
        until = min((later.at for later in found[number + 1:] if shard_of_host[later.host] == shard), default=None)
        for host, own in by_host.items():
            delay_s = delay_of(promotion, own, until) if host != promotion.host else None
            if delay_s is not None:
                promotion.delays_s[host] = delay_s
    return found


def delay_of(promotion, samples, until):
    at = bisect.bisect_right([sample.at for sample in samples], promotion.at) - 1
    if at < 0:
        return None
    for sample in samples[at:]:
        if sample.map is None or (until is not None and sample.at > until):
            return None
        if sample.map.get(promotion.slots) == promotion.host:
            return max(0, sample.at - promotion.at) / 1e9
    return None


def gaps(entries, begin, end):
    """Of each caller that counts up: the longest time between two answers, within that time, in seconds."""
    by_caller = collections.defaultdict(list)
    for entry in entries:
        if entry.is_acknowledged() and begin <= entry.ended <= end:
            by_caller[entry.journal].append(entry.ended)
    found = []
    for told in by_caller.values():
        told = sorted([begin, *told, end])
        found.append(max(later - one for one, later in zip(told, told[1:])) / 1e9)
    return found


def gaps_of_untouched(steps, entries_of):
    """Of each step, and each shard that nothing was done to: its longest gap. `entries_of` has the callers' by shard."""
    found = []
    for step in steps:
        for shard, entries in entries_of.items():
            if shard not in step.hit:
                longest = max(gaps(entries, step.began, step.ended), default=(step.ended - step.began) / 1e9)
                found.append((longest, shard, "+".join(step.names)))
    return found


def judge_gaps(quiet_s, untouched):
    """Law 4: what is so long that no load explains it."""
    return [f"shard {shard} had nothing done to it in {names}, and a caller of it had no answer for {gap:.2f} s, "
            f"{quiet_s:.2f} s at the longest when nothing was done to any"
            for gap, shard, names in sorted(untouched, reverse=True) if gap > quiet_s + GAP_S_MAX][:SHOWN]


def judge_shown(found):
    """Law 3."""
    return [f"{host} showed {promotion.host} as the primary {delay:.2f} s after its promotion"
            for promotion in found for host, delay in promotion.delays_s.items() if delay > SHOWN_S_MAX][:SHOWN]


def judge_led(led_times):
    """Law 5."""
    if not led_times:
        return []
    p99 = sorted(led_times)[min(len(led_times) - 1, len(led_times) * 99 // 100)]
    return [f"one in a hundred requests was led on {p99} times"] if p99 > LED_P99_MAX else []
