"""The laws, from the clients' journals and from what the log gives: nothing else.

`counts` is what a member answers that began with an empty directory and has read the log: for each key
how often it was counted up.

1. Nothing acknowledged is forgotten: acknowledged <= counted.
2. Nothing is counted that nobody asked for: counted <= acknowledged + unknown.
3. No two requests are told the same count: never do two primaries serve different histories.
4. Counts never run back: who asks after another was answered is told no older count, of whichever primary;
   a read may be told the same one.
5. No count is told before as many were asked for.

A log that loses what it acknowledged (an asynchronous standby was promoted) breaks 1, 3 and 4: how often
is counted. 2 and 5 hold all the same.
"""

import bisect
import collections
import dataclasses

SHOWN = 5


@dataclasses.dataclass
class Verdict:
    breaches: list = dataclasses.field(default_factory=list)  # of laws that hold whatever the log loses
    losses: list = dataclasses.field(default_factory=list)    # of those that hold if it loses nothing
    acknowledged: int = 0
    unknown: int = 0
    refused: int = 0
    reads: int = 0
    forgotten: int = 0      # permits and counts acknowledged that the log does not have
    ran_back: int = 0       # replies that were older than one before, or told twice

    def failures(self, may_lose):
        return self.breaches if may_lose else self.losses + self.breaches

    def line(self):
        return (f"{self.acknowledged} granted, {self.reads} read, {self.refused} refused, {self.unknown} unknown; "
                f"forgotten {self.forgotten}, ran back {self.ran_back}, laws broken {len(self.failures(False))}")


def check(entries, counts):
    verdict = Verdict()
    by_key = collections.defaultdict(list)
    for entry in entries:
        by_key[entry.key].append(entry)
    for key in sorted(set(by_key) | set(counts)):
        judge(verdict, key, by_key[key], counts.get(key, 0))
    return verdict


def judge(verdict, key, entries, counted):
    asked = [entry for entry in entries if entry.charges()]
    told = [entry for entry in asked if entry.is_acknowledged()]
    unknown = sum(1 for entry in asked if entry.is_unknown())
    verdict.acknowledged += len(told)
    verdict.unknown += unknown
    verdict.reads += sum(1 for entry in entries if not entry.charges() and entry.is_acknowledged())
    verdict.refused += sum(1 for entry in entries if entry.refusal is not None)
    if counted < len(told):
        verdict.forgotten += len(told) - counted
        verdict.losses.append(f"{key}: {len(told)} acknowledged and {counted} counted: {len(told) - counted} forgotten")
    if counted > len(told) + unknown:
        verdict.breaches.append(f"{key}: {counted} counted, and no more than {len(told)} + {unknown} unknown were asked for")
    look_for_twins(verdict, key, told)
    look_for_steps_back(verdict, key, entries, asked, counted)


def look_for_twins(verdict, key, told):
    seen = collections.Counter(entry.value for entry in told)
    twins = sorted(value for value, times in seen.items() if times > 1)
    verdict.ran_back += len(twins)
    for value in twins[:SHOWN]:
        verdict.losses.append(f"{key}: the count {value} was told {seen[value]} times")


def look_for_steps_back(verdict, key, entries, asked, counted):
    answered = sorted((entry for entry in entries if entry.is_acknowledged()), key=lambda entry: entry.ended)
    sent = sorted(entry.sent for entry in asked if entry.refusal is None)
    newest, at, found, early = 0, 0, [], []
    for entry in sorted(answered, key=lambda entry: entry.sent):
        while answered[at].ended < entry.sent:
            newest = max(newest, answered[at].value)
            at += 1
        if entry.value < newest + (1 if entry.charges() else 0):
            found.append(f"{key}: {entry.verb} was told {entry.value} when {newest} had been told before it was sent")
        if entry.value > bisect.bisect_left(sent, entry.ended):
            early.append(f"{key}: {entry.verb} was told {entry.value}, and so many had not been asked for")
    if any(entry.value > counted for entry in answered):
        found.append(f"{key}: {max(entry.value for entry in answered)} was told, and the log has {counted}")
    verdict.ran_back += len(found)
    verdict.losses += found[:SHOWN]
    verdict.breaches += early[:SHOWN]
