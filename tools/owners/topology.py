"""The file of cluster-topology, as the tools need it. weir-server checks it; these only read it."""

from dataclasses import dataclass, field

SLOTS = 16384
POLYNOMIAL = 0xc96c5795d7870f42  # CRC-64/XZ, mirrored
ALL = (1 << 64) - 1


class BadFile(Exception):
    pass


@dataclass
class Owner:
    name: str
    host: str
    port: int
    tls_port: int  # 0: none of its own
    slots: set = field(default_factory=set)

    def ranges(self):
        begins = sorted(slot for slot in self.slots if slot - 1 not in self.slots)
        ends = sorted(slot for slot in self.slots if slot + 1 not in self.slots)
        return list(zip(begins, ends))


@dataclass
class Topology:
    epoch: int
    owners: list  # in the order of their first slots

    def digest(self):
        """What CLUSTER INFO calls cluster_topology_digest."""
        text = f"epoch {self.epoch}\n"
        for owner in self.owners:
            words = [owner.name, owner.host, str(owner.port)]
            words += [f"tls-port={owner.tls_port}"] if owner.tls_port else []
            words += [f"{first}-{last}" for first, last in owner.ranges()]
            text += " ".join(words) + "\n"
        total = ALL
        for byte in text.encode():
            total ^= byte
            for _ in range(8):
                total = total >> 1 ^ (POLYNOMIAL if total & 1 else 0)
        return f"{total ^ ALL:016x}"


def read(path):
    epoch, owners = None, {}
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            try:
                if words[0] == "epoch" and (len(words) == 2 or words[2:] == ["jump"]):
                    epoch = int(words[1])
                    continue
                name, address, slots, *more = words
                host, port = address.rsplit(":", 1)
                first, last = slots.split("-")
                tls_port = int(" ".join(more).removeprefix("tls-port=") or 0)
                owner = owners.setdefault(name, Owner(name, host.strip("[]"), int(port), tls_port))
                owner.slots.update(range(int(first), int(last) + 1))
            except ValueError:
                raise BadFile(f"{path}:{number}: expected 'name host:port first-last' or "
                              f"'epoch N'") from None
    if epoch is None or not owners:
        raise BadFile(f"{path}: there is no line 'epoch N', or nobody has slots")
    return Topology(epoch, sorted(owners.values(), key=lambda owner: min(owner.slots)))


def even(count, host, first_port):
    """The text of a file with `count` owners of as many slots each."""
    lines = ["# Written by weir-cluster.", "epoch 1"]
    for at in range(count):
        first, last = SLOTS * at // count, SLOTS * (at + 1) // count - 1
        lines.append(f"owner-{at + 1} {host}:{first_port + at} {first}-{last}")
    return "\n".join(lines) + "\n"
