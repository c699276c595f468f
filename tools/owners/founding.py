"""The text that founds a cluster of shards. weir-server checks it; these only write it."""

import re

from topology import SLOTS, BadFile

SHARDS_MAX = 64
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def shares_of(names, shares):
    """[(name, [(first, last)])]: even, or in the proportion of the numbers in "N,N,..."."""
    weights = [1] * len(names) if shares is None else shares.split(",")
    if not names or len(names) > SHARDS_MAX:
        raise BadFile(f"a cluster has 1 to {SHARDS_MAX} shards, got {len(names)}")
    if len(weights) != len(names) or not all(str(weight).isdigit() and 0 < int(weight) <= SLOTS for weight in weights):
        raise BadFile(f"--shares takes a whole number from 1 to {SLOTS} for each of the {len(names)} shards, "
                      f"with commas between, got '{shares}'")
    weights = [int(weight) for weight in weights]
    begins = [SLOTS * sum(weights[:at]) // sum(weights) for at in range(len(weights) + 1)]
    for name, first, end in zip(names, begins, begins[1:]):
        if first == end:
            raise BadFile(f"the share of '{name}' is less than one slot")
    return [(name, [(first, end - 1)]) for name, first, end in zip(names, begins, begins[1:])]


def slots_of(topology):
    return [(owner.name, owner.ranges()) for owner in topology.owners]


def founding_text(cluster, random, shards):
    """The canonical form, of which the cluster's id is made, if the shards are in the order of their slots."""
    names = [name for name, _ in shards]
    for name in [cluster, *names]:
        if not NAME.fullmatch(name):
            raise BadFile(f"a name is 1 to 64 letters, digits, '-', '_' and '.', got '{name}'")
    for name in names:
        if names.count(name) > 1:
            raise BadFile(f"there are two shards '{name}'")
    if len(names) > SHARDS_MAX:
        raise BadFile(f"a cluster has 1 to {SHARDS_MAX} shards, got {len(names)}")
    lines = [f"cluster {cluster} {random}"]
    for name, ranges in shards:
        lines.append(" ".join(["shard", name, *(f"{first}-{last}" for first, last in ranges)]))
    return "\n".join(lines) + "\n"
