"""Starts several servers that are one keyspace, weir's owners or Redis' nodes, in a server's place.

Invariants:
1. Both have the same slots: even shares, in the order of the owners.
2. kill() ends the first owner, which is the one that clients are told of, or all of them.
3. move() returns when every owner says that the slot is the other's.
"""

import binascii
import signal

from support.resp import Refused, ask
from support.waiting import wait_until

from . import servers

SLOTS = 16384
PATIENCE_S = 75  # a Redis Sentinel that lacked the processor for two seconds does nothing for 30 (TILT)
TRIES = 5


def slot_of(key):
    return binascii.crc_hqx(key.encode(), 0) % SLOTS


def key_of_each_slot():
    """A key without a tag for each slot, in order."""
    found = {}
    for number in range(1 << 30):
        found.setdefault(slot_of(f"k{number}"), f"k{number}")
        if len(found) == SLOTS:
            return [found[slot] for slot in range(SLOTS)]


def write_keys(folder):
    """The file of those."""
    keys = folder / "keys"
    keys.write_text("\n".join(key_of_each_slot()) + "\n")
    return keys


class Cluster:
    """As servers.Server, for the programs of the part `cluster`."""

    def __init__(self, name, owners, kills_all):
        self.name = name
        self.owners = owners
        self.kills_all = kills_all
        self.durable = owners[0].durable
        self.port = owners[0].port
        self.tls = None
        self.of_slot = [slot * len(owners) // SLOTS for slot in range(SLOTS)]
        self.folder = owners[0].folder
        self.keys = write_keys(self.folder)
        self.is_new = True

    def start(self):
        for owner in self.owners:
            if owner.process is None or owner.process.poll() is not None:
                self.start_owner(owner)
        if self.is_new:
            self.join()
        self.is_new = False
        wait_until(lambda: all(b"cluster_state:ok" in ask(owner.port, "CLUSTER", "INFO")
                               for owner in self.owners), "the cluster serves", PATIENCE_S)
        return self

    def start_owner(self, owner):
        owner.start()

    def shares(self):
        """(owner, first, last) in order."""
        begins = [slot for slot in range(SLOTS)
                  if slot == 0 or self.of_slot[slot] != self.of_slot[slot - 1]]
        for first, after in zip(begins, [*begins[1:], SLOTS]):
            yield self.owners[self.of_slot[first]], first, after - 1

    def shows(self, owner, slot):
        """Whether an owner says that it has a slot that it has."""
        has = self.owners[self.of_slot[slot]]
        reply = ask(owner.port, "GET", self.keys.read_text().splitlines()[slot])
        if owner is has:
            return not isinstance(reply, Refused)
        return str(reply).startswith("MOVED ") and str(reply).endswith(f":{has.port}")

    def move(self, slot):
        """Gives a slot, which has no keys, to the next owner."""
        self.of_slot[slot] = (self.of_slot[slot] + 1) % len(self.owners)
        self.tell(slot)
        wait_until(lambda: all(self.shows(owner, slot) for owner in self.owners),
                   f"slot {slot} has moved", PATIENCE_S)

    def is_running(self):
        return all(owner.is_running() for owner in self.owners)

    def kill(self):
        for owner in self.owners if self.kills_all else self.owners[:1]:
            owner.kill()

    def close(self):
        for owner in self.owners:
            owner.close()


class WeirCluster(Cluster):
    epoch = 0

    def write(self):
        self.epoch += 1
        lines = [f"epoch {self.epoch}"]
        for owner, first, last in self.shares():
            lines.append(f"n{owner.port} 127.0.0.1:{owner.port} {first}-{last}")
        (self.folder / "topology").write_text("\n".join(lines) + "\n")

    def tell(self, _):
        self.write()
        for owner in self.owners:
            owner.process.send_signal(signal.SIGHUP)

    def join(self):
        """The file was there before they were started."""


class RedisCluster(Cluster):
    def start_owner(self, owner):
        """Somebody may have taken the port of the bus meanwhile."""
        for left in reversed(range(TRIES)):
            owner.bus_port = owner.bus_port or servers.free_port()
            bus = ["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1",
                   "--cluster-port", str(owner.bus_port)]
            plain, owner.command = owner.command, [*owner.command, *bus]
            try:
                return owner.start()
            except RuntimeError as error:
                if not left or not self.is_new or "already in use" not in str(error):
                    raise
                owner.bus_port = 0
            finally:
                owner.command = plain

    def join(self):
        first = self.owners[0]
        for number, (owner, begin, end) in enumerate(self.shares(), 1):
            ask(owner.port, "CLUSTER", "ADDSLOTSRANGE", begin, end)
            ask(owner.port, "CLUSTER", "SET-CONFIG-EPOCH", number)
            if owner is not first:
                ask(owner.port, "CLUSTER", "MEET", "127.0.0.1", first.port, first.bus_port)
        known = b"cluster_size:%d\r\n" % len(self.owners)
        wait_until(lambda: all(known in ask(owner.port, "CLUSTER", "INFO")
                               for owner in self.owners), "the nodes know one another", PATIENCE_S)

    def tell(self, slot):
        to = self.owners[self.of_slot[slot]]
        node = ask(to.port, "CLUSTER", "MYID")
        for owner in [to, *self.owners]:
            ask(owner.port, "CLUSTER", "SETSLOT", slot, "NODE", node)


def weir(program, storage, count, kills_all):
    owners = [servers.weir(program, storage) for _ in range(count)]
    cluster = WeirCluster("weir", owners, kills_all)
    cluster.write()
    for owner in owners:
        owner.command += ["--cluster-enabled", "yes", "--cluster-topology",
                          str(cluster.folder / "topology")]
    return cluster


def redis(program, count, kills_all):
    owners = [servers.redis(program) for _ in range(count)]
    for owner in owners:
        owner.bus_port = 0
    return RedisCluster("redis", owners, kills_all)
