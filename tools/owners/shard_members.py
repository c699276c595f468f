"""The members of all shards of a cluster, as one member of each shard tells of them (WEIR FACTS)."""

from dataclasses import dataclass, field

from resp import Client, Refused, text

SLOTS = 16384
TIMEOUT_S = 5
FAILURES = (OSError, Refused, KeyError, ValueError, TypeError, AttributeError, IndexError)


def paired(flat):
    """A map of the protocol as RESP2 has it: names and values in turn."""
    if not isinstance(flat, list) or len(flat) % 2:
        raise ValueError("it does not answer facts")
    return {name.decode(): value for name, value in zip(flat[::2], flat[1::2])}


def host_and_port(address):
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port)


def ask(address, *words):
    client = Client(*host_and_port(address), timeout_s=TIMEOUT_S)
    try:
        return client.ask(*words)
    finally:
        client.close()


@dataclass
class Member:
    address: str
    state: str
    is_primary: bool
    lag_turns: int
    age_ms: int
    options: str
    users: str

    def shown(self):
        age = f", told {self.age_ms / 1000:.1f} s ago" if self.age_ms > 3000 else ""
        state = "was the primary" if self.state == "primary" else self.state
        return f"{self.address} ({state}, lacks {self.lag_turns} turns{age})"


@dataclass
class Shard:
    name: str
    serves: bool = False
    slots: list = field(default_factory=list)  # (first, last)
    members: list = field(default_factory=list)
    decisions_per_s: int = 0
    busy_permille: int = 0
    keys: int = 0
    failure: str = ""  # why nobody of it told anything; "": somebody did

    @property
    def primary(self):
        return next((member for member in self.members if member.is_primary), None)

    @property
    def slots_count(self):
        return sum(last - first + 1 for first, last in self.slots)


def member_of(flat):
    told = paired(flat)
    host, port = told["host"].decode(), told["port"]
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return Member(address if host else "", told["state"].decode(), told["primary"] == 1, told["lag_turns"],
                  told["age_ms"], told["configuration"].decode(), told["acl"].decode())


def range_of(word):
    first, last = word.split(":")[0].split("-")
    return int(first), int(last)


def shard_of(told):
    return Shard(told["shard"].decode(), told["serves"] == 1,
                 [range_of(word) for word in told["slots"].decode().split()],
                 [member_of(flat) for flat in told["members"]],
                 told["decisions_per_s"], told["busy_permille"], told["keys"])


def heard_of(name, addresses):
    """What a shard's members tell: of who serves, or else of the first that answers."""
    best, failures, addresses = None, [], list(addresses)
    for address in addresses:
        try:
            shard = shard_of(paired(ask(address, "WEIR", "FACTS")))
        except FAILURES as why:
            failures.append(f"{address}: {why}")
            continue
        if shard.name != name:
            failures.append(f"{address}: it is of shard {shard.name}")
            continue
        if shard.serves:
            return shard
        best = best or shard
        addresses += [member.address for member in shard.members if member.address and member.address not in addresses]
    return best or Shard(name, failure="; ".join(failures) or "nobody knows an address")


def cluster_of(address):
    """(id, shards by their names), as a member at this address and one of each shard tell."""
    told = paired(ask(address, "WEIR", "FACTS"))
    own = shard_of(told)
    shards = [heard_of(own.name, [address])]
    for name, addresses in told["shards"]:
        shards.append(heard_of(name.decode(), [one.decode() for one in addresses]))
    return told["cluster"].decode(), sorted(shards, key=lambda shard: shard.name)


def differing(shards):
    """Lines that name the members whose options or users are not those of most."""
    lines = []
    members = [member for shard in shards for member in shard.members]
    for what in ("options", "users"):
        told = [getattr(member, what) for member in members if getattr(member, what)]
        usual = max(sorted(set(told)), key=told.count, default="")
        others = [member.address for member in members if getattr(member, what) not in ("", usual)]
        if others:
            lines.append(f"other {what} than most have: {', '.join(others)}")
    return lines


def status_line(shard):
    if shard.failure:
        return f"{shard.name}: CANNOT BE ASKED: {shard.failure}"
    ranges = " ".join(f"{first}-{last}" for first, last in shard.slots) or "none"
    primary = shard.primary.address if shard.primary else "none"
    standbys = [member.shown() for member in shard.members if not member.is_primary]
    return (f"{shard.name}: slots {ranges} ({shard.slots_count}); primary {primary}"
            f"{'' if shard.serves else ', WHICH DOES NOT SERVE'}; standbys {', '.join(standbys) or 'none'}; "
            f"{shard.decisions_per_s} decisions/s, {shard.busy_permille / 10:.1f} % busy, {shard.keys} keys")


def status(address):
    """Prints a line a shard, and what is wrong. Answers 1 if anything is."""
    cluster, shards = cluster_of(address)
    owned = sum(shard.slots_count for shard in shards)
    print(f"cluster {cluster}: {len(shards)} shards, {owned} of {SLOTS} slots")
    for shard in shards:
        print(status_line(shard))
    for line in differing(shards):
        print(line)
    return 0 if owned == SLOTS and all(shard.serves for shard in shards) else 1


def told_in(shard, primaries):
    """(the members of a shard that are to be told, why nobody is)"""
    if shard.failure:
        return [], f"NOT REACHED: {shard.failure}"
    if not primaries:
        return shard.members, ""
    if not shard.serves or not shard.primary:
        return [], "NOT TOLD: nobody serves"
    return [shard.primary], ""


def each(address, words, primaries=False):
    """Sends a command to all members that the facts name, or to the primaries alone. Answers 1 if some were not
    reached, or refuse."""
    failed = []
    _, shards = cluster_of(address)
    for shard in shards:
        members, failure = told_in(shard, primaries)
        if failure:
            failed.append(f"all of {shard.name}")
            print(f"{shard.name}: {failure}")
        for member in members:
            try:
                said = ask(member.address, *words)
            except FAILURES as why:
                failed.append(member.address)
                said = f"{'REFUSED' if isinstance(why, Refused) else 'NOT REACHED'}: {why}"
            print(f"{shard.name} {member.address}: {text(said)}")
    if failed:
        print(f"not done at {len(failed)}: {', '.join(failed)}")
    return 1 if failed else 0
