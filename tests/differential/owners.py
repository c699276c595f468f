"""Several owners of one keyspace in the place of one server, weir's and Redis': owners of a topology file, or the only
members of shards.

A connection is one to each owner; a request goes to the owner that it names by its place. So a key
may be another owner's, and the error that leads there is compared: with that place in it, for the
ports are not the same.
"""

import re
import subprocess

from servers import REDIS, Server, redis_command, weir_command
from wire import Connection
from support.processes import free_port
from support.waiting import wait_until

SLOTS = 16384
ADDRESS = re.compile(rb"127\.0\.0\.1:(\d+)")


class OwnerConnection(Connection):
    def __init__(self, port, timeout_s, ports):
        super().__init__(port, timeout_s)
        self.ports = ports

    def replies(self, count):
        return [self.named(raw) for raw in super().replies(count)]

    def named(self, raw):
        if not raw.startswith(b"-MOVED "):
            return raw
        return ADDRESS.sub(lambda match: b"owner-%d" % self.ports.index(match[1]), raw)


class Spread:
    """A connection to each owner; what is sent goes to the one that was turned to last."""

    def __init__(self, owners, timeout_s):
        ports = [b"%d" % owner.port for owner in owners]
        self.each = [OwnerConnection(owner.port, timeout_s, ports) for owner in owners]
        self.current = self.each[0]

    def turn_to(self, node):
        self.current = self.each[node]

    def close(self):
        for connection in self.each:
            connection.close()

    @property
    def received(self):
        return self.current.received

    @received.setter
    def received(self, data):
        self.current.received = data

    def __getattr__(self, name):
        return getattr(self.current, name)


class Owners:
    """Servers that share the slots evenly, in the order of their slots."""

    is_lasting = False

    def __init__(self, name, servers):
        self.name = name
        self.servers = servers

    def connect(self, timeout_s=60):
        return Spread(self.servers, timeout_s)

    def restart_if_dead(self):
        for server in self.servers:
            server.restart_if_dead()

    def lives(self):
        return all(server.lives() for server in self.servers)

    def how_it_ended(self):
        return "\n".join(server.how_it_ended() for server in self.servers)

    def metric(self, name):
        return sum(server.metric(name) for server in self.servers)

    def start(self):
        for server in self.servers:
            server.start()

    def stop(self):
        return all([server.stop() for server in self.servers])


def shares(count):
    """(first, last) of each owner."""
    return [(SLOTS * at // count, SLOTS * (at + 1) // count - 1) for at in range(count)]


class RedisOwners(Owners):
    def start(self):
        super().start()
        connections = [server.connect() for server in self.servers]
        for number, (connection, share) in enumerate(zip(connections, shares(len(connections))), 1):
            connection.command("CLUSTER", "ADDSLOTSRANGE", *share)
            connection.command("CLUSTER", "SET-CONFIG-EPOCH", number)
        first = self.servers[0]
        for connection in connections[1:]:
            connection.command("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus_port)
        wait_until(lambda: all(self.is_whole(connection) for connection in connections), "the cluster comes up")
        for connection in connections:
            connection.close()

    def is_whole(self, connection):
        info = connection.command("CLUSTER", "INFO")
        return (b"cluster_state:ok" in info and
                b"cluster_size:%d" % len(self.servers) in info and
                len(connection.command("CLUSTER", "SLOTS")) == len(self.servers))


class WeirShards(Owners):
    """Shards of one member each, with their logs in files, which begin anew with each start."""

    def __init__(self, name, servers, program):
        super().__init__(name, servers)
        self.program = program

    def start(self):
        text = "cluster differential " + "d1" * 16 + "\n"
        for number, share in enumerate(shares(len(self.servers)), 1):
            text += f"shard shard-{number} {share[0]}-{share[1]}\n"
        for number, server in enumerate(self.servers, 1):
            founding = server.directory / "founding"
            founding.write_text(text)
            subprocess.run([self.program, "--new-shard", f"file:{server.directory}/shared-log", f"shard-{number}", "--founding",
                            founding, "--dir", server.directory / "data"], check=True, stdout=subprocess.DEVNULL)
        super().start()
        connections = [server.connect() for server in self.servers]
        wait_until(lambda: all(self.is_whole(connection) for connection in connections), "each shard serves, and knows all")
        for connection in connections:
            connection.close()

    def is_whole(self, connection):
        status = connection.command("WEIR", "STATUS")
        return (status[status.index(b"serves") + 1] == 1 and
                len(connection.command("CLUSTER", "SLOTS")) == len(self.servers))


def redis_owners(count):
    servers = []
    for _ in range(count):
        bus_port = free_port()
        server = Server(REDIS, [*redis_command(), "--cluster-enabled", "yes", "--cluster-port",
                                str(bus_port)])
        server.bus_port = bus_port
        servers.append(server)
    return RedisOwners(REDIS, servers)


def weir_owners(program, options, count):
    servers = [Server("weir-server", [*weir_command(program, options), "--cluster-enabled", "yes",
                                      "--cluster-topology", "DIRECTORY/topology"])
               for _ in range(count)]
    lines = ["epoch 1"]
    for number, (server, share) in enumerate(zip(servers, shares(count)), 1):
        lines.append(f"owner-{number} 127.0.0.1:{server.port} {share[0]}-{share[1]}")
    for server in servers:
        (server.directory / "topology").write_text("\n".join(lines) + "\n")
    return Owners("weir-server", servers)


def weir_shards(program, options, count):
    servers = [Server("weir-server", [*weir_command(program, options), "--cluster-enabled", "yes", "--shard", f"shard-{number}",
                                      "--log", "file:DIRECTORY/shared-log"])
               for number in range(1, count + 1)]
    seeds = " ".join(f"127.0.0.1:{server.port}" for server in servers)
    for server in servers:
        server.command += ["--cluster-seeds", seeds]
    return WeirShards("weir-server", servers, program)
